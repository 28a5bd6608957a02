"""From a table as people have it to rows that can be fitted."""

import dataclasses
import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from tests.tables.table_files import rows_of

from mercer import PCA
from mercer.errors import BudgetError, InputError
from mercer.sources import ArrayBlocks, BlockSource, DenseSource
from mercer.tables import Asked, Column, Recipe, in_memory, look, prepared, prepared_again
from mercer.tables.preparing._prepared_rows import pixels_of
from mercer.tables.preparing._shared_units import parts_of_a_whole, shared_unit
from mercer.tables.preparing._table_scales import (
    deviations_of,
    deviations_walked,
    divided,
    scaled,
    standardized,
)

PENGUINS = Path(__file__).parents[1] / "data" / "penguins.csv"
BODY = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")


@pytest.fixture
def small(monkeypatch):
    """Let nothing be held."""
    monkeypatch.setattr("mercer.tables._table_reading.HELD", 8)


def mixed(rows=60, seed=0):
    """A table with a name, numbers, a date, text and gaps; an empty row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4)).round(3)
    X[rng.random(X.shape) < 0.02] = np.nan
    X[7] = np.nan
    start = dt.date(2021, 3, 4)
    texts = [
        None if i == 7 or i % 13 == 12 else ["red", "green", "blue"][i % 3] for i in range(rows)
    ]
    dates = [None if i == 7 else start + dt.timedelta(days=int(i * i)) for i in range(rows)]
    return pl.DataFrame(
        {
            "name": [f"r{i}" for i in range(rows)],
            "colour": texts,
            **{f"x{j}": pl.Series(X[:, j]).fill_nan(None) for j in range(4)},
            "when": dates,
            "n": rng.integers(0, 4, rows),
        }
    )


def written(frame, tmp_path, kind):
    path = tmp_path / f"table.{kind}"
    if kind == "csv":
        frame.write_csv(path, null_value="NA")
    else:
        frame.write_parquet(path)
    return path


def test_penguins_lose_two_empty_rows():
    made = prepared(look(PENGUINS, Asked(columns=BODY)))
    assert made.shape == (342, 4) == made.rows.shape
    assert (made.missing, made.n_missing, made.standardize) == ("raise", 0, True)
    assert made.said == (
        "2 of 344 rows hold nothing in the columns analysed and are left out:"
        " rows 4, 272 (counted from 1)",
        "nothing says that columns share a unit (sd of bill_depth_mm 1.97, of body_mass_g 802):"
        " standardised (--standardize no to keep units)",
    )
    assert sorted(set(range(344)) - set(made.kept.tolist())) == [3, 271]
    assert made.labels("species").shape == (342,)
    PCA(2, standardize=made.standardize, missing=made.missing).fit(made.rows)


ASKED = {
    "plain": Asked(),
    "rows": Asked(missing="rows"),
    "columns": Asked(missing="columns", columns=("x0", "x1", "n")),
    "encoded": Asked(categorical="encode", dates="number"),
    "whole rows": Asked(categorical="encode", dates="number", missing="rows"),
    "whole columns": Asked(categorical="encode", dates="number", missing="columns"),
    "first": Asked(rows=20, dates="number", missing="rows"),
    "weights": Asked(weights="n", drop=("x0",), standardize="yes"),
    "names": Asked(id="name", sup=("x3", "colour"), missing="ppca"),
}


@pytest.mark.parametrize("name", ASKED)
def test_text_is_parquet_and_held_is_read(name, tmp_path, monkeypatch):
    found = []
    for kind in ("csv", "parquet"):
        path = written(mixed(), tmp_path, kind)
        for held in (256e6, 8):
            monkeypatch.setattr("mercer.tables._table_reading.HELD", held)
            made = prepared(look(path, ASKED[name]))
            assert isinstance(made.rows, BlockSource) is (held == 8)
            found.append(made)
    first = found[0]
    for other in found[1:]:
        assert np.array_equal(rows_of(first), rows_of(other), equal_nan=True)
        assert first.shape == other.shape == rows_of(other).shape
        assert (first.said, first.missing, first.standardize, first.n_missing) == (
            other.said, other.missing, other.standardize, other.n_missing,
        )  # fmt: skip
        assert first.recipe.names == other.recipe.names
        assert (first.kept is None) is (other.kept is None)
        assert first.kept is None or np.array_equal(first.kept, other.kept)
        assert first.labels("name").tolist() == other.labels("name").tolist()
        if first.weights is not None:
            assert np.array_equal(first.weights, other.weights)
    assert len(first.labels("name")) == first.shape[0]


def test_the_rows_are_what_polars_would_make(tmp_path):
    frame = mixed()
    made = prepared(look(written(frame, tmp_path, "csv"), ASKED["encoded"]))
    frame = frame.filter(pl.Series(range(60)) != 7) if made.shape[0] == 59 else frame
    plain = frame.select("x0", "x1", "x2", "x3", "n").to_numpy()
    days = frame["when"].to_physical().cast(pl.Float64).fill_null(np.nan).to_numpy()
    codes = [
        (frame["colour"] == c).fill_null(False).to_numpy() for c in ("blue", "green", "red")
    ]
    expected = np.column_stack([plain, days, *codes])
    assert made.recipe.names[-4:] == ("when", "colour=blue", "colour=green", "colour=red")
    assert np.array_equal(rows_of(made), expected.astype(float), equal_nan=True)
    assert made.standardize


def test_methods_that_cannot_fill_and_tables_encoded_twice(tmp_path):
    made = prepared(look(written(mixed(), tmp_path, "csv"), ASKED["encoded"]))
    path = tmp_path / "encoded.csv"
    made.rows.fill_nan(None).write_csv(path, null_value="NA")
    # Columns of 0 and 1 that were made of categories are analysed where they are named.
    every = dataclasses.replace(ASKED["encoded"], columns=("x*", "n", "when", "colour=*"))
    again = prepared(look(path, every))
    assert again.recipe.names == made.recipe.names
    assert np.array_equal(rows_of(again), rows_of(made), equal_nan=True)
    seen = look(PENGUINS, Asked(columns=(*BODY, "year")))
    with pytest.raises(InputError, match="does not fill"):
        prepared(seen, fills=False)
    assert prepared(look(PENGUINS, Asked(missing="rows")), fills=False).shape == (342, 4)
    assert prepared(look(PENGUINS, Asked(columns=BODY)), fills=False).shape == (342, 4)


@pytest.mark.usefixtures("small")
def test_the_fit_is_the_same(tmp_path):
    path = written(mixed().drop_nulls(), tmp_path, "parquet")
    read = prepared(look(path, Asked(columns=("x*",))))
    assert isinstance(read.rows, BlockSource)
    fit = PCA(2, standardize=read.standardize).fit(read.rows)
    direct = PCA(2, standardize=read.standardize).fit(pl.read_parquet(path).select("^x.*$"))
    assert np.allclose(fit.explained_variance_, direct.explained_variance_, rtol=1e-10)
    assert list(fit.feature_names_in_) == ["x0", "x1", "x2", "x3"]


@pytest.mark.usefixtures("small")
def test_a_missing_cell_is_named_by_its_line_in_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\nNA,NA\n1,2\n3,4\n5,NA\n7,9\n")
    made = prepared(look(path, Asked(missing="em")))
    assert made.rows.place(2, 1) == "a.csv, line 5, column 'b'"
    with pytest.raises(InputError, match="line 5, column 'b'"):
        PCA(1).fit(made.rows)


def test_labels_and_weights_stay_beside_the_rows(tmp_path):
    frame = mixed()
    made = prepared(look(written(frame, tmp_path, "csv"), Asked(missing="rows", drop=("n",))))
    names = frame["name"].to_list()
    assert made.id == "name"
    assert made.labels().tolist() == [names[i] for i in made.kept]
    frames = list(made.beside(("colour", "name"), 7))
    assert [frame.height for frame in frames[:-1]] == [7] * (len(frames) - 1)
    assert pl.concat(frames)["name"].to_list() == made.labels().tolist()
    frame = mixed()
    asked = Asked(weights="n", missing="rows")
    made = prepared(look(written(frame, tmp_path, "csv"), asked))
    assert made.weights.tolist() == frame["n"].gather(made.kept).to_list()
    assert "n" not in made.recipe.names
    zeros = int((made.weights == 0).sum())
    assert any(
        line.startswith(f"{zeros} of {made.shape[0]} rows weigh 0") for line in made.said
    )


def test_files_without_names(tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=(9, 3)))
    made = prepared(look(tmp_path / "a.npy"))
    assert made.labels() is None
    assert made.recipe.names == ("0", "1", "2")
    assert made.said == (made.said[0],)
    assert "share a unit" in made.said[0]
    X = np.random.default_rng(0).normal(size=(6, 3))
    X[:, 0] = np.arange(6)
    np.save(tmp_path / "a.npy", X)
    made = prepared(look(tmp_path / "a.npy"))
    assert (made.id, made.recipe.names) == ("0", ("1", "2"))
    assert made.labels().tolist() == ["0", "1", "2", "3", "4", "5"]


BAD = {
    "not one gap": (Asked(missing="error"), "x,y\n1,2\n3,\n4,9\n", "cells are missing"),
    "no row left": (Asked(missing="rows"), "x,y\n1,\n,2\n3,4\n", "too few rows"),
    "no column left": (Asked(missing="columns"), "x,y\n1,\n,2\n3,4\n", "too few columns"),
    "negative weight": (Asked(weights="w"), "x,w\n1,2\n3,-1\n4,1\n", "--weights"),
    "text for weights": (Asked(weights="w"), "x,w\n1,a\n3,b\n4,a\n", "--weights"),
    "dates refused": (
        Asked(dates="error"),
        "x,d\n1,2020-01-01\n2,2020-01-03\n",
        "--dates",
    ),
    "text refused": (Asked(categorical="error"), "x,t\n1,a\n2,a\n4,b\n", "--categorical"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("held", [True, False])
def test_bad_tables_are_refused_in_three_lines(name, held, tmp_path, monkeypatch):
    asked, text, what = BAD[name]
    path = tmp_path / "bad.csv"
    path.write_text(text)
    if not held:
        monkeypatch.setattr("mercer.tables._table_reading.HELD", 8)
    with pytest.raises(InputError, match=what) as caught:
        prepared(look(path, asked))
    assert len(str(caught.value).splitlines()) == 3
    assert "bad.csv" in str(caught.value)


def test_sparse_rows_stay_sparse(tmp_path):
    dense = np.random.default_rng(0).poisson(0.3, size=(80, 12)).astype(float)
    dense[:, 3] = 0
    X = scipy.sparse.csr_array(dense)
    path = tmp_path / "a.npz"
    scipy.sparse.save_npz(path, X)
    made = prepared(look(path))
    assert (made.shape, made.rows.nnz is None, made.missing) == ((80, 11), False, "raise")
    again = prepared_again(path, made.recipe)
    found = [np.vstack([b.toarray() for b in m.rows.blocks(9)]) for m in (made, again)]
    assert np.array_equal(found[0], np.delete(dense, 3, axis=1))
    assert np.array_equal(found[0], found[1])


@pytest.mark.parametrize("held", [256e6, 8])
def test_missing_text_is_missing_where_cells_must_be_there(tmp_path, monkeypatch, held):
    monkeypatch.setattr("mercer.tables._table_reading.HELD", held)
    path = tmp_path / "a.csv"
    path.write_text("x,t,u\n" + "1,a,c\n2,b,c\n4,NA,d\nNA,NA,NA\n7,a,d\n8,b,c\n")

    def made(missing):
        return prepared(look(path, Asked(categorical="encode", missing=missing)))

    auto = made("auto")
    assert (auto.shape, auto.kept.tolist()) == ((5, 5), [0, 1, 2, 4, 5])
    assert "2 missing cells are 0 in all of them" in auto.said[0]
    rows = made("rows")
    assert rows.kept.tolist() == [0, 1, 4, 5]
    assert rows.said[3] == (
        "1 of 6 rows has missing cells and is left out (--missing rows): row 3 (counted from 1)"
    )
    columns = made("columns")
    assert columns.recipe.names == ("x", "u=c", "u=d")
    assert rows_of(columns).tolist() == [[1, 1, 0], [2, 1, 0], [4, 0, 1], [7, 0, 1], [8, 1, 0]]
    assert [line[:3] for line in columns.said[:1]] == ["'u'"]
    assert columns.said[2].endswith("is left out (--missing columns): 't'")
    with pytest.raises(InputError, match="cells are missing") as caught:
        made("error")
    assert caught.value.got == "a.csv: 1 cell is missing, most in 't' 1"


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("why", ["weight 0", "left out"])
def test_rows_that_do_not_count_have_no_say_in_the_scale(why, held, tmp_path, monkeypatch):
    if not held:
        monkeypatch.setattr("mercer.tables._table_reading.HELD", 8)
    X = np.random.default_rng(5).normal(size=(60, 3))
    X[:10, 0] *= 1e5
    frame = pl.DataFrame(X, schema=["a_mm", "b_mm", "c_mm"])
    asked = Asked(missing="rows")
    if why == "weight 0":
        frame = frame.with_columns(w=pl.Series([0] * 10 + [2] * 50))
        asked = Asked(weights="w")
    else:
        frame = frame.with_columns(b_mm=pl.Series([None] * 10 + X[10:, 1].tolist()))
    made = prepared(look(written(frame, tmp_path, "csv"), asked))
    assert made.standardize is False
    line = next(line for line in made.said if line.startswith("columns share a unit"))
    assert float(line.partition(" to ")[2].partition(")")[0]) < 2  # sd of the rows that count


X = np.random.default_rng(0).normal(size=(40, 3)) * [1.0, 50.0, 1e4]
RECIPE = Recipe(("a", "b", "c"), ("a", "b", "c"))


def file_of(tmp_path, rows=X, name="t.csv"):
    head = "a,b,c"
    np.savetxt(tmp_path / name, rows, delimiter=",", header=head, comments="", fmt="%.17g")
    return tmp_path / name


def test_new_turned_and_undivided_rows(tmp_path):
    seen = look(file_of(tmp_path), Asked())
    made = prepared(seen, scales="table")
    assert not made.standardize
    assert np.allclose(made.rows.to_numpy().std(axis=0, ddof=1), 1.0)
    assert np.allclose(list(made.recipe.scales.values()), X.std(axis=0, ddof=1))
    assert "standardised" in "\n".join(made.said)
    assert prepared(seen, scales="method").standardize
    free = prepared(seen, scales="none")
    assert not free.standardize
    assert not free.recipe.scales
    assert "scale" not in "\n".join(free.said)
    recipe = prepared(look(file_of(tmp_path), Asked()), scales="table").recipe
    new = file_of(tmp_path, X[:5] * 3, "new.csv")
    again = prepared_again(new, Recipe.of(recipe.plain()))
    assert np.allclose(again.rows.to_numpy(), X[:5] * 3 / X.std(axis=0, ddof=1))
    lines = ["gene,s1,s2,s3,s4", "a,1,2,3,4", "b,100,900,300,500"]
    (tmp_path / "g.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    asked = Asked(transpose=True)
    made = prepared(look(tmp_path / "g.csv", asked), scales="table")
    assert np.allclose(made.rows.to_numpy().std(axis=0, ddof=1), 1.0)
    again = prepared_again(tmp_path / "g.csv", Recipe.of(made.recipe.plain()))
    assert again.rows.equals(made.rows)


def test_constant_columns_and_rows_in_memory():
    import polars as pl

    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [3.0, 3.0], "c": [0.0, 4.0]})
    rows, recipe = scaled(frame, RECIPE, None)
    assert rows["b"].to_list() == [3.0, 3.0]
    assert recipe.scales["b"] == 1.0
    assert divided(frame, RECIPE, None) is frame
    source = ArrayBlocks(DenseSource(X))
    assert np.array_equal(in_memory(source, RECIPE, None).to_numpy(), X)
    with pytest.raises(BudgetError, match="needs all rows in memory"):
        in_memory(source, RECIPE, 100.0)


# One unit or several: the columns say so, or are standardised.


@pytest.mark.parametrize(
    ("names", "shared"),
    [
        (["bill_length_mm", "bill_depth_mm"], "mm"),
        (["sepal length (cm)", "petal width (cm)"], "cm"),
        (["length (cm)", "weight (g)"], ""),
        (["temp_max", "temp_min"], "temp"),
        (["temp_max", "temp_min", "wind"], ""),
        (["Jan", "Feb", "Mar", "Apr"], "month by month"),
        (["1999", "2000", "2001"], "measured again"),
        (["q1", "q2", "q3"], "measured again"),
        (["x1", "x2", "x3"], "measured again"),
        (["mpg", "hp", "wt"], ""),
        (["height", "weight"], ""),
    ],
)
def test_columns_that_share_a_unit_say_so(names, shared):
    columns = [
        Column(name, "number", "active", low=0.0, high=9.0, deviation=2.0) for name in names
    ]
    assert shared in shared_unit(columns)
    assert bool(shared) == bool(shared_unit(columns))
    wide = [dataclasses.replace(one, deviation=2.0 * 50**i) for i, one in enumerate(columns)]
    if names[0] == "x1":  # so is any column without a name of its own
        assert not shared_unit(wide)


def test_answers_and_parts_share_a_unit():
    ends = [("open", 1.0, 5.0), ("kind", 1.0, 5.0), ("calm", 1.0, 5.0)]
    asked = [Column(n, "integer", "active", low=low, high=high) for n, low, high in ends]
    assert "1 to 5" in shared_unit(asked)
    assert not shared_unit([*asked, Column("age", "integer", "active", low=18.0, high=90.0)])
    parts = np.random.default_rng(0).dirichlet([1, 2, 3], 20)
    assert "sum to 1" in parts_of_a_whole(parts)
    assert "sum to 100" in parts_of_a_whole(100 * parts)
    assert parts_of_a_whole(2 * parts) == parts_of_a_whole(None) == ""


@pytest.mark.parametrize(
    ("deviations", "unit", "divided"),
    [
        ([1.0, 1.1], "", True),
        ([1.0, 1000.0], "all in mm", False),
        ([0.0, 5.0], "", False),
        ([3.0], "", False),
        ([0.0, 0.0], "", False),
        ([None], "", False),
        ([np.nan, 1.0, 99.0], "", True),
    ],
)
def test_what_shares_no_unit_is_standardised(deviations, unit, divided):
    names = [f"c{i}" for i in range(len(deviations))]
    found, line = standardized("auto", names, deviations, False, unit)
    assert found is divided
    assert ("standardised" in line, "only centred" in line) == (divided, not divided)


def test_deviations_of_hard_and_weighed_columns():
    X = np.array([[1e300, np.nan, 0.1], [-1e300, np.nan, 0.1], [0, 1.0, 0.1]])
    large, single, constant = deviations_of(X)
    assert large == pytest.approx(1e300)
    assert (single, constant) == (None, 0.0)
    rng = np.random.default_rng(3)
    X, w = rng.normal(size=(40, 3)) * [1, 20, 1e-3], rng.integers(0, 4, 40)
    X[rng.random(X.shape) < 0.1] = np.nan
    w[:3], X[:3] = 0, [[1e300, -1e300, np.nan]] * 3
    expected = np.nanstd(np.repeat(X, w, axis=0), axis=0, ddof=1)
    np.testing.assert_allclose(deviations_of(X, w), expected, rtol=1e-12)
    blocks = [X[i : i + 7] for i in range(0, 40, 7)]
    np.testing.assert_allclose(deviations_walked(blocks, w), expected, rtol=1e-12)


def columns(names, blank=(), low=0.0):
    return [
        Column(
            name,
            "integer",
            "out" if i in blank else "active",
            "constant 0" if i in blank else "",
            low=low,
            high=low if i in blank else 200.0 + i,
        )
        for i, name in enumerate(names)
    ]


def active(found):
    return [c.name for c in found if c.role == "active"]


@pytest.mark.parametrize(
    "names",
    [
        [f"x{i}" for i in range(64)],
        [f"pixel{i}" for i in range(1, 65)],
        [f"{i}x{j}" for i in range(1, 9) for j in range(1, 9)],
        [f"p{i:02d}_{j:02d}" for i in range(8) for j in range(8)],
    ],
)
def test_names_that_count_are_pixels_and_blank_ones_keep_their_place(names):
    found = columns(names, blank=(0, 63))
    made = pixels_of(found, active(found))
    assert made is not None
    assert made.side == 8
    assert made.places == tuple(range(1, 63))
    assert (made.low, made.high) == (0.0, 262.0)
    assert made.line().startswith("columns are the pixels of pictures, 8 x 8, 0 to 262")


@pytest.mark.parametrize(
    "found",
    [
        columns([f"x{i}" for i in range(63)]),  # no square
        columns([f"x{i}" for i in range(49)]),  # small
        columns([f"x{i}" for i in range(63)] + ["y63"]),  # two stems
        columns([f"x{2 * i}" for i in range(64)]),  # numbers left out
        columns([f"x{i}" for i in range(63)]) + columns(["x63"], low=-1.0),  # another least
        columns([f"x{i}" for i in range(64)], blank=range(10, 64)),  # mostly blank
        columns([f"{j}x{i}" for i in range(1, 9) for j in range(1, 9)]),  # by columns
        columns(["a", *[f"x{i}" for i in range(63)]]),
    ],
)
def test_other_columns_are_not(found):
    assert pixels_of(found, active(found)) is None


def test_pictures_in_a_file_are_not_standardised(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (40, 64))
    X[0] = 0
    X[:, [0, 7]] = 0
    X[:, 5] = rng.integers(0, 2, 40)  # varies a hundred times less than the others
    path = tmp_path / "digits.csv"
    pl.from_numpy(X, [f"x{i}" for i in range(64)]).write_csv(path)
    made = prepared(look(path, Asked()))
    assert made.shape == (40, 62)
    assert not made.standardize
    assert made.pixels is not None
    assert any("pixels of pictures, 8 x 8" in line for line in made.said)
    asked = prepared(look(path, Asked(standardize="yes")))
    assert asked.standardize
    assert not any("pixels of pictures" in line for line in asked.said)
