"""A table in words, and what else is noticed in it."""

import numpy as np
import polars as pl
import pytest

from mercer.tables import Asked, Column, look
from mercer.tables.looking._table_notes import alike, said_lines, table_lines


# What else is noticed in a table, and what is no wonder.
def notes(tmp_path, frame, **asked):
    path = tmp_path / "t.parquet"
    pl.DataFrame(frame).write_parquet(path)
    return look(path, Asked(**asked)).notes


def test_nothing_to_say(tmp_path, rng):
    assert notes(tmp_path, {"a": rng.random(20), "b": rng.random(20)}) == ()


def test_rows_that_are_there_twice(tmp_path, rng):
    X = rng.random((30, 2))
    X[7], X[9] = X[3], X[3]
    X[12, 0] = X[3, 0]
    frame = {"id": np.arange(30), "a": X[:, 0], "b": X[:, 1], "k": [f"n{i}" for i in range(30)]}
    assert notes(tmp_path, frame) == ("2 rows with the same numbers as an earlier one",)
    assert notes(tmp_path, frame, columns=("a",)) == ()  # one column says little


def test_answers_that_are_equal_by_chance_are_no_wonder(tmp_path, rng):
    frame = {f"q{i}": rng.integers(1, 5, 500) for i in range(3)}
    assert notes(tmp_path, frame) == ()


def test_rows_without_a_number(tmp_path, rng):
    X = rng.random((30, 2))
    X[5] = np.nan
    frame = {"id": np.arange(30) + 1, "a": X[:, 0], "b": X[:, 1]}
    assert notes(tmp_path, frame) == ("1 row without a number",)


@pytest.mark.parametrize("gap", [False, True])
def test_copies_of_columns(tmp_path, rng, gap):
    x = rng.random(50)
    if gap:
        x[3] = np.nan
    frame = {"a": x, "b": rng.permutation(x), "c": x, "d": -x, "e": x, "f": np.ones(50)}
    found = [line for line in notes(tmp_path, frame) if "cop" in line]
    assert found == ["2 columns are copies of another: c of a, e of a"]


def test_numbers_in_disguise(tmp_path):
    frame = {
        "x": [1.5, 2.5, 4.0],
        "price": ["1,5", "2,5", "3,25"],
        "people": ["1,500", "2,500", "13,250"],
    }
    assert notes(tmp_path, frame) == (
        "people: numbers with commas between thousands, not read; write 1234 for 1,234",
        "price: numbers with decimal commas, not read; write 3.5 for 3,5",
    )


def test_few_rows_that_count_up_are_numbers_like_others(tmp_path):
    frame = {"x": [1, 2, 3, 4], "y": [None, 1.5, None, 2.5]}
    assert notes(tmp_path, frame) == ()


# A table in words.
def column(name, kind="number", role="active", why="", **more):
    return Column(name, kind, role, why, **more)


def lines(*columns, rows=100, notes=()):
    return said_lines("t.csv", rows, columns, notes)[1:]


def test_the_first_line_says_what_it_is():
    assert said_lines("t.csv", 12_345, [column("a")] * 2, ())[0] == (
        "t.csv: 12,345 rows, 2 columns"
    )


def test_neighbours_that_are_alike_share_a_line():
    many = [column(f"q{i}", "integer") for i in range(1, 26)]
    assert lines(column("name", "text", "id", "all different"), *many, column("x")) == (
        "name: text, names the rows (all different)",
        "q1..q25: 25 whole numbers, analysed",
        "x: number, analysed",
    )
    assert lines(column("a"), column("b")) == ("a, b: 2 numbers, analysed",)


def test_reasons_keep_neighbours_apart():
    groups = alike([column("a"), column("b", why="asked for"), column("c", why="asked for")])
    assert [[one.name for one in group] for group in groups] == [["a"], ["b", "c"]]


def test_notes_come_last():
    assert lines(column("a"), notes=("2 rows are odd",))[-1] == "2 rows are odd"


def test_a_table_is_aligned():
    columns = [
        column("name", "text", "id", "all different", missing=3),
        column("x", mean=1.23456, deviation=0.5, low=-1.0, high=1e9),
    ]
    assert table_lines(columns, 60) == (
        "column  kind    use     missing   mean   sd  least  largest",
        "name    text    id            3                              all different",
        "x       number  active           1.235  0.5     -1    1e+09",
    )


def test_many_columns_are_grouped():
    columns = [column(f"x{i}", missing=1, mean=2.0) for i in range(100)]
    assert len(table_lines(columns, 100)) == 101
    _, line = table_lines(columns, 99)
    assert line.startswith("x0..x99 (100 columns)  number  active      100")
