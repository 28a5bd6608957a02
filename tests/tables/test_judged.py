"""What a table is taken for, unasked: the method that fits, and the columns that measure."""

import numpy as np
import polars as pl
import pytest

from mercer.tables import Asked, look, prepared

RNG = np.random.default_rng(7)
N = 120


def judged(tmp_path, cells, /, **asked):
    path = tmp_path / "t.csv"
    pl.DataFrame(cells).write_csv(path)
    return look(path, Asked(table="auto", **asked))


def numbers(count, rows=N):
    return {
        f"{'abcdefgh'[i]}{'xyz'[i % 3]}": RNG.normal(size=rows) * 3**i for i in range(count)
    }


def words(count, rows=N, levels=3):
    return {
        f"w{'abcdefgh'[i]}": [f"l{k}" for k in RNG.integers(0, levels, rows)]
        for i in range(count)
    }


def cross():
    rows, columns = [f"r{i}" for i in range(6)], "uvwxy"
    counts = RNG.multinomial(900, RNG.dirichlet(np.ones(30))).reshape(6, 5)
    return {"row": rows} | {c: counts[:, j] for j, c in enumerate(columns)}


def matrix(kind):
    X = RNG.normal(size=(40, 6))
    if kind == "correlations":
        M = np.corrcoef(X.T)
    else:
        M = np.linalg.norm(X[:6, None] - X[None, :6], axis=2)
    return {"": [f"p{i}" for i in range(6)]} | {f"p{i}": M[:, i] for i in range(6)}


def long(categories):
    grid = np.array(np.meshgrid(*[range(3)] * categories)).reshape(categories, -1)
    columns = {f"f{i}": [f"l{k}" for k in part] for i, part in enumerate(grid)}
    return columns | {"Freq": RNG.poisson(20, grid.shape[1])}


TABLES = {
    "numbers": (lambda: numbers(4), "pca"),
    "numbers and few categories": (lambda: numbers(4) | words(3), "pca"),
    "more categories than numbers": (lambda: numbers(3) | words(4), "famd"),
    "one number among categories": (lambda: numbers(1) | words(5), "famd"),
    "categories": (lambda: words(4), "mca"),
    "yes and no": (lambda: {f"q{i}": RNG.integers(0, 2, N) for i in "abcde"}, "mca"),
    "a cross table": (cross, "ca"),
    "a long table of two": (lambda: long(2), "ca"),
    "a long table of three": (lambda: long(3), "mca"),
    "distances": (lambda: matrix("distances"), "mds"),
    "correlations": (lambda: matrix("correlations"), "mds"),
    "answers": (lambda: {"who": [f"p{i}" for i in range(N)]} | {
        f"q{i}": RNG.integers(1, 6, N) for i in range(6)}, "pca"),
    "measures in whole numbers": (lambda: {"who": [f"p{i}" for i in range(N)]} | {
        "age": RNG.integers(20, 80, N), "height": RNG.integers(150, 199, N)}, "pca"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_the_method_fits_the_table(tmp_path, name):
    make, method = TABLES[name]
    seen = judged(tmp_path, make())
    assert seen.judged.method == method
    assert seen.said()[1] == seen.judged.why
    assert prepared(seen, fills=("em", "fill", "passive")).shape[0] > 0


def test_options_choose_the_method(tmp_path):
    columns = numbers(3) | words(3)
    for asked, method in (
        ({"target": "wa"}, "lda"),
        ({"rows_by": "wa", "columns_by": "wb"}, "ca"),
        ({"columns": ("ax", "by")}, "pca"),
        ({"categorical": "encode"}, "pca"),
    ):
        assert judged(tmp_path, columns, **asked).judged.method == method


def test_a_matrix_that_is_almost_one_is_none(tmp_path):
    columns = matrix("distances")
    columns["p3"][0] *= 1.01
    assert judged(tmp_path, columns).judged.method == "pca"


def test_correlations_become_distances(tmp_path):
    columns = matrix("correlations")
    made = prepared(judged(tmp_path, columns))
    r = np.array([columns[f"p{i}"] for i in range(6)])
    assert np.allclose(made.rows.to_numpy(), np.sqrt(np.maximum(2 - 2 * r, 0)))


ASIDE = {
    "year": ("year", RNG.integers(1990, 2010, N), "color"),
    "a month": ("Month", RNG.integers(1, 13, N), "color"),
    "years that measure": ("years_married", RNG.integers(1, 40, N), "active"),
    "a year no year": ("year", RNG.integers(0, 90000, N), "active"),
    "a serial number": ("anything", np.arange(N) + 7, "out"),
    "one that begins again": ("nr", np.tile(np.arange(1, 41), 3), "out"),
    "runs of a person": ("person", np.repeat(np.arange(1, 31), 4), "out"),
    "a number of rooms": ("number_of_rooms", RNG.integers(1, 30, N), "active"),
    "a stratum": ("stratum", RNG.integers(1, 60, N), "out"),
    "a zip code": ("zip_code", RNG.integers(10000, 99999, N), "out"),
    "two values": ("smokes", RNG.integers(0, 2, N), "color"),
    "one or two": ("gender", RNG.integers(1, 3, N), "color"),
    "three values": ("gears", RNG.integers(3, 6, N), "active"),
    "a measure": ("weight", RNG.integers(50, 99, N), "active"),
}


@pytest.mark.parametrize("name", ASIDE)
def test_what_measures_nothing_is_set_aside_and_told(tmp_path, name):
    column, cells, role = ASIDE[name]
    seen = judged(tmp_path, numbers(4) | {column: cells})
    found = next(one for one in seen.columns if one.name == column)
    assert found.role == role
    assert found.why or role == "active"
    # A column that is named is analysed.
    asked = judged(tmp_path, numbers(4) | {column: cells}, columns=("ax", column))
    assert asked.named("active") == ("ax", column)


def test_coordinates_stand_beside_where_enough_is_left(tmp_path):
    place = {"lat": RNG.uniform(40, 50, N), "lon": RNG.uniform(0, 9, N)}
    assert len(judged(tmp_path, numbers(4) | place).named("active")) == 4
    assert len(judged(tmp_path, numbers(2) | place).named("active")) == 4


def test_nothing_is_set_aside_where_nothing_else_is_there(tmp_path):
    flags = {f"q{i}": RNG.integers(0, 2, N) for i in "abc"}
    path = tmp_path / "t.csv"
    pl.DataFrame(flags).write_csv(path)
    assert len(look(path, Asked()).named("active")) == 3


def test_columns_and_rows_that_lack_most_are_left_out_and_the_rest_is_filled(tmp_path):
    columns = numbers(4)
    columns["ax"] = [None if i % 4 else float(v) for i, v in enumerate(columns["ax"])]
    for name in ("by", "cz", "dx"):
        columns[name] = [
            None if i % 13 == 1 or i == 5 else float(v) for i, v in enumerate(columns[name])
        ]
        columns[name][26] = 1.0
    made = prepared(judged(tmp_path, columns))
    assert made.recipe.names == ("by", "cz", "dx")
    assert "ax (73 %)" in made.said[0]
    assert made.missing in ("em", "raise")
