"""Every refusal is three lines: what is impossible, the place, and what to do instead."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from mercer import PCA
from mercer.errors import InputError, MercerError

X = np.arange(12.0).reshape(6, 2) + np.eye(6, 2)


def with_cell(row, column, value, dtype=np.float64):
    table = X.astype(dtype)
    table[row, column] = value
    return table


def frame(**columns):
    return pd.DataFrame({"height": [1.0, 2.0, 4.0], **columns})


NUMBERS = "every column must hold numbers"
CELL = "every cell must be a number"
FINITE = "every cell must be a finite number"
GAPS = "X contains NaN; 1 of "
TABLE = "X must be a table of numbers"
GAP, ENDLESS = with_cell(2, 1, np.nan), with_cell(3, 0, np.inf)
HOLE = {"a": [1.0, 2, 3], "b": [1, None, 2]}
MASKED = np.ma.masked_array(X, mask=np.eye(6, 2))
LARGE = np.longdouble("1e4000")
DATES = [dt.date(2020, 1, day) for day in (1, 2, 3)]

# name: (input, words of the first line, words of the line that names the place)
BAD = {
    "NaN": (
        GAP,
        "X contains NaN; 1 of 12 cells are missing, in 1 of 2 columns",
        "row 2, column 1",
    ),
    "infinity": (ENDLESS, f"X contains inf; {FINITE}", "infinity at row 3, column 0"),
    "-infinity": (with_cell(5, 1, -np.inf), FINITE, "-infinity at row 5, column 1"),
    "NaN float32": (with_cell(3, 0, np.nan, np.float32), GAPS, "NaN at row 3, column 0"),
    "float16": (with_cell(1, 1, np.inf, np.float16), FINITE, "infinity at row 1, column 1"),
    "all NaN": (np.full((6, 2), np.nan), "12 of 12 cells are missing", "row 0, column 0"),
    "sparse NaN": (scipy.sparse.csr_array(GAP), GAPS, "row 2, column 1"),
    "NaN in a list": ([[1.0, 2.0], [3.0, float("nan")], [4.0, 4.0]], GAPS, "row 1, column 1"),
    "None in objects": (with_cell(2, 0, None, object), GAPS, "NaN at row 2, column 0"),
    "NaN in a frame": (frame(city=[1, np.nan, 3]), GAPS, "NaN at row 1, column 1 ('city')"),
    "NA in a frame": (frame(n=pd.array([1, None], "Int64")[[0, 1, 0]]), GAPS, "column 1 ('n')"),
    "polars null": (pl.DataFrame(HOLE), GAPS, "row 1, column 1 ('b')"),
    "arrow null": (pa.table(HOLE), GAPS, "row 1, column 1 ('b')"),
    "masked": (MASKED, "masked cells have no value", "2 masked cells"),
    "masked line": (MASKED[:, 0], "masked", "1 masked"),
    "text": (np.array([["1", "2"], ["3", "4"]]), CELL, "text '1' at row 0, column 0"),
    "text in objects": (with_cell(3, 1, "x", object), CELL, "text 'x' at row 3, column 1"),
    "text in a list": ([[1.0, 2.0], [3.0, "x"]], CELL, "text 'x' at row 1, column 1"),
    "bytes": (np.array([[b"1", b"2"], [b"3", b"4"]]), CELL, "row 0, column 0"),
    "dict in objects": (with_cell(3, 1, {}, object), "number", "row 3, column 1"),
    "date in objects": (with_cell(2, 0, DATES[0], object), "number", "row 2, column 0"),
    "text column": (
        frame(name=["x", "y", "z"]),
        NUMBERS,
        "1 of 2 columns do not: 'name' (String)",
    ),
    "numbers as text": (frame(n=["1", "2", "3"]), NUMBERS, "'n' (String)"),
    "date column": (frame(day=pd.to_datetime(DATES)), NUMBERS, "'day' (Datetime"),
    "object dates": (frame(day=pd.Series(DATES, dtype=object)), "number", "'day'"),
    "categories": (
        frame(kind=pd.Categorical(["x", "y", "z"])),
        NUMBERS,
        "'kind' (Categorical)",
    ),
    "polars text": (pl.DataFrame({"a": [1.0, 2], "b": ["x", "y"]}), NUMBERS, "'b' (String)"),
    "polars date": (pl.DataFrame({"a": [1.0, 2, 3], "b": DATES}), NUMBERS, "'b' (Date)"),
    "arrow text": (pa.table({"a": [1.0, 2], "b": ["x", "y"]}), NUMBERS, "'b' (String)"),
    "lazy": (pl.DataFrame({"a": ["x", "y"]}).lazy(), "no column of numbers", "'a'"),
    "twins": (pd.DataFrame([[1, 2], [3, 5]], columns=["a", "a"]), "unique", "'a'"),
    "arrow twins": (pa.table([[1.0, 2], [3.0, 5]], names=["a", "a"]), "unique", "'a'"),
    "mixed names": (pd.DataFrame([[1, 2], [3, 5]], columns=["a", 3]), "string names", "int"),
    "dates": (X.astype("datetime64[s]"), CELL, "datetime64[s]"),
    "durations": (X.astype("timedelta64[s]"), CELL, "timedelta64[s]"),
    "records": (np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), CELL, "('a', '<i8')"),
    "complex": (X + 1j, "Complex data not supported", "complex128"),
    "sparse complex": (scipy.sparse.csr_array(X + 1j), "Complex data not", "complex128"),
    "complex column": (frame(z=[1j, 2, 3]), "", "'z'"),
    "1-D": (X[:, 0], "Expected 2D array, got 1D array", "shape (6,)"),
    "3-D": (X[None], "dim 3", "shape (1, 6, 2)"),
    "0-D": (np.float64(3), "Expected 2D array, got scalar", "()"),
    "series": (pd.Series([1.0, 2.0]), "Expected 2D array", "Series"),
    "no rows": (X[:0], "0 sample(s)", "(0, 2)"),
    "no columns": (X[:, :0], "0 feature(s)", "(6, 0)"),
    "no cells": (pd.DataFrame(), "0 ", "(0, 0)"),
    "empty list": ([], "", "length 0"),
    "ragged": ([[1.0, 2.0], [3.0]], "same number", "row 1 has one cell, row 0 has 2 cells"),
    "None": (None, TABLE, "NoneType"),
    "file name": ("data.csv", "there is no such file", "data.csv"),
    "dict": ({"a": [1, 2]}, TABLE, "dict"),
    "set": ({1, 2}, TABLE, "set"),
    "one row": (X[:1], "one row has no variance", "n_samples = 1"),
    "constant": (np.full((5, 3), 3.7), "the data has no variance", "5 rows, all equal"),
    "too large": (with_cell(1, 0, LARGE, np.longdouble), FINITE, "row 1, column 0"),
}


def three_lines(error):
    lines = str(error).split("\n")
    assert len(lines) == 3, str(error)
    assert lines[1].startswith("  got: ")
    assert lines[2].startswith("  fix: ")
    assert all(len(line) < 300 for line in lines)
    assert lines[2] != "  fix: "
    return lines


@pytest.mark.parametrize("name", BAD)
def test_bad_tables(name):
    table, what, place = BAD[name]
    with pytest.raises(MercerError) as caught:
        PCA(1).fit(table)
    lines = three_lines(caught.value)
    assert what in lines[0]
    assert place in lines[1]
    assert isinstance(caught.value, ValueError | TypeError)


@pytest.mark.parametrize("path", ["svd", "gram", "dual", "krylov"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_path_names_the_cell(path, value, sparse):
    from forced import FORCED

    table = np.random.default_rng(0).standard_normal((70, 30) if path != "dual" else (30, 70))
    table[17, 23] = value
    with pytest.raises(InputError) as caught:
        FORCED[path](2).fit(scipy.sparse.csr_array(table) if sparse else table)
    assert "row 17, column 23" in three_lines(caught.value)[1]


def test_a_cell_far_down_a_long_table():
    table = np.random.default_rng(0).standard_normal((30_001, 5)).astype(np.float32)
    table[29_998, 3] = np.nan
    with pytest.raises(InputError, match="row 29998, column 3"):
        PCA(2).fit(table)


WRONG = [
    ("n_components", (0, -1, 3, 1.5, True)),
    ("whiten", ("pca", 2)),
    ("standardize", (2, "yes")),
    ("tol", (0, -1e-6, float("nan"), "small")),
    ("memory", ("lots", "-4GB", 0, -5, [])),
    ("time", (-1, 0, "soon")),
    ("device", ("cuda", 3)),
    ("random_state", ("x",)),
    ("feature_weight", ("none",)),
    ("forget", (0.0, 1.0, "much")),
]


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in WRONG for v in values])
def test_bad_parameters(name, value):
    with pytest.raises(MercerError) as caught:
        PCA(**{name: value}).fit(X)
    assert name in str(caught.value) or repr(value) in str(caught.value)
    three_lines(caught.value)
    assert isinstance(caught.value, ValueError)


NEW_ROWS = {
    "columns": (np.ones((3, 3)), "3"),
    "NaN": (GAP, "row 2, column 1"),
    "infinity": (ENDLESS, "row 3, column 0"),
    "sparse NaN": (scipy.sparse.csr_array(GAP), "row 2, column 1"),
    "text": (np.array([["1", "2"]]), "row 0, column 0"),
    "1-D": (X[:, 0], "(6,)"),
    "complex": (X + 1j, "complex128"),
}
COORDINATES = {
    "width": (np.ones((3, 2)), "(3, 2)"),
    "NaN": (np.array([[1.0], [np.nan]]), "row 1, column 0"),
    "infinity": (np.array([[np.inf], [1.0]]), "row 0, column 0"),
    "1-D": (np.ones(3), "(3,)"),
    "text": (np.array([["a"]]), "row 0, column 0"),
    "complex": (np.ones((3, 1)) + 1j, "complex128"),
}
ASKED = [
    (method, *one)
    for method in ("transform", "score_samples", "score")
    for one in NEW_ROWS.values()
]
ASKED += [("inverse_transform", *one) for one in COORDINATES.values()]


@pytest.mark.parametrize(("method", "table", "place"), ASKED, ids=range(len(ASKED)))
def test_bad_rows_and_coordinates_of_a_model(method, table, place):
    with pytest.raises(MercerError) as caught:
        getattr(PCA(1).fit(X), method)(table)
    assert place in three_lines(caught.value)[1]


ZERO = np.zeros(2)
MOMENTS = {
    "not square": ((np.eye(3)[:2], np.zeros(3), 9), "(2, 3)"),
    "not symmetric": ((np.array([[1.0, 0.5], [0.0, 1.0]]), ZERO, 9), "row 0, column 1"),
    "negative": ((np.diag([1.0, -0.5]), ZERO, 9), "-0.5"),
    "NaN": ((np.diag([1.0, np.nan]), ZERO, 9), "row 1, column 1"),
    "indefinite": ((np.array([[1.0, 2.0], [2.0, 1.0]]), ZERO, 9), "-1"),
    "mean": ((np.eye(2), np.zeros(3), 9), "(3,)"),
    "mean of two axes": ((np.eye(2), [[0, 0]], 9), "(1, 2)"),
    "infinite mean": ((np.eye(2), [0, np.inf], 9), "inf"),
    "n": ((np.eye(2), ZERO, 1), "n=1"),
    "zero": ((np.zeros((2, 2)), ZERO, 9), "0"),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_bad_moments(name):
    arguments, place = MOMENTS[name]
    with pytest.raises(InputError) as caught:
        PCA.from_covariance(*arguments)
    assert place in three_lines(caught.value)[1]


def test_numbers_in_object_columns_are_numbers():
    numbers = frame(b=pd.Series([1, 2, 5], dtype=object))
    exact = frame(b=[decimal.Decimal(1), decimal.Decimal(2), decimal.Decimal(5)])
    plain = PCA(1).fit(frame(b=[1.0, 2.0, 5.0])).explained_variance_
    np.testing.assert_array_equal(PCA(1).fit(numbers).explained_variance_, plain)
    np.testing.assert_array_equal(PCA(1).fit(exact).explained_variance_, plain)


def test_a_wide_frame_passes_the_door_quickly():
    import time

    wide = pd.DataFrame(np.random.default_rng(0).standard_normal((5, 20_000)))
    wide.columns = [f"c{i}" for i in range(20_000)]
    start = time.perf_counter()
    PCA(2).fit(wide)
    assert time.perf_counter() - start < 3
