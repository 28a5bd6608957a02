"""Columns of categories as they are given: every container, every kind of gap."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from tests.claims import refuses

from mercer.estimators.categories._category_cells import (
    column_of,
    columns_of,
    row_names,
    table_of,
)

CELLS = {
    "text": ["b", None, "a", "b"],
    "flag": [True, None, False, True],
    "whole": [7, None, -1, 7],
    "number": [2.5, None, 0.5, 2.5],
}
FRAME = pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in CELLS.items()})
TYPED = pd.DataFrame(
    {
        "text": pd.Series(CELLS["text"], dtype="string"),
        "flag": pd.Series(CELLS["flag"], dtype="boolean"),
        "whole": pd.Series(CELLS["whole"], dtype="Int64"),
        "number": pd.Series(CELLS["number"], dtype="float64"),
    }
)
MASKED = np.ma.masked_array(
    FRAME.fillna("a").infer_objects().to_numpy(dtype=object), mask=FRAME.isna().to_numpy()
)


@pytest.mark.parametrize(
    "data",
    [
        FRAME, TYPED, pl.DataFrame(CELLS), pa.table(CELLS), FRAME.to_numpy(),
        [list(row) for row in zip(*CELLS.values(), strict=True)], MASKED,
    ],
    ids=["objects", "nullable", "polars", "pyarrow", "array", "lists", "masked"],
)  # fmt: skip
def test_every_container_gives_the_same_codes(data):
    columns, rows = columns_of(data)
    assert rows is None
    for column in columns:
        assert column.codes.tolist() == [1, -1, 0, 1]
        assert column.codes.dtype == np.int32
    assert [c.values.tolist() for c in columns] == [
        ["a", "b"],
        [False, True],
        [-1, 7],
        [0.5, 2.5],
    ]
    assert [np.count_nonzero(c.codes < 0) for c in columns] == [1] * len(columns)


@pytest.mark.parametrize("wrap", [lambda f: f, pa.Table.from_pandas])
def test_declared_levels_keep_their_order_and_the_unused_are_named(wrap):
    cells = pd.Categorical(["low", "high", None, "low"], ["never", "low", "mid", "high"])
    (column,), _ = columns_of(wrap(pd.DataFrame({"x": cells})))
    assert column.values.tolist() == ["low", "high"]
    assert column.codes.tolist() == [0, 1, -1, 0]
    assert column.unused == ("never", "mid")


def test_a_polars_enum_declares_and_a_categorical_does_not():
    kind = pl.Enum(["never", "low", "high"])
    frame = pl.DataFrame(
        {
            "e": pl.Series(["low", "high", "low"], dtype=kind),
            "c": pl.Series(["u", "t", "u"], dtype=pl.Categorical),
        }
    )
    (enum, plain), _ = columns_of(frame)
    assert enum.values.tolist() == ["low", "high"]
    assert enum.unused == ("never",)
    assert plain.values.tolist() == ["t", "u"]
    assert plain.unused == ()


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([3, 1, 3], np.int64),
        ([10**12, -5, 10**12], np.int64),
        ([2**63 - 1, 0, 2**63 - 1], np.int64),
        ([-128, 127, -128], np.int8),
    ],
)
def test_whole_numbers_near_and_far_apart(numbers, kind):
    column = column_of(np.array(numbers, kind), "x", 0)
    assert column.values.tolist() == sorted(set(numbers))
    assert column.values[column.codes].tolist() == numbers


def test_dates_are_text_and_numbers_of_any_kind_are_one_value():
    days = np.array(["2020-02-01", "NaT", "2020-01-01"], "datetime64[D]")
    column = column_of(days, "x", 0)
    assert column.values.tolist() == ["2020-01-01", "2020-02-01"]
    assert column.codes.tolist() == [1, -1, 0]
    objects = np.array([dt.date(2020, 2, 1), None, dt.date(2020, 1, 1)], object)
    assert column_of(objects, "x", 0).codes.tolist() == [1, -1, 0]
    cells = np.array([1, 1.0, Decimal(2), np.float32(2), np.int8(1), np.str_], object)[:-1]
    column = column_of(cells, "x", 0)
    assert column.values.tolist() == [1, 2]
    assert column.codes.tolist() == [0, 0, 1, 1, 0]
    odd = np.empty(2, object)
    odd[:] = [np.nan, float("nan")]
    assert column_of(odd, "x", 0).codes.tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([["a"], ["b"], [1]], "'a' at row 0 and 1 at row 2 of column 0"),
        ([["a", {}], ["b", 1]], "dict '{}' at row 0, column 1"),
        ([["a"], [float("inf")]], "infinity 'inf' at row 1, column 0"),
        (np.array([[1.0, 2], [3, -np.inf]]), "-inf at row 1, column 1"),
        (np.array([["a"]], "S1"), "at row 0, column 0"),
        (np.array([[1j]]), "Complex data"),
        (np.array(["a", "b"]), "1D array"),
        ([["a", "b"], ["c"]], "row 1 has one cell, row 0 has 2"),
        (scipy.sparse.eye_array(3), "[sS]parse"),
        (pl.LazyFrame({"a": ["x"]}), r"\.collect"),
        (pl.DataFrame({"a": [[1], [2]]}), "list '\\[1\\]' at row 0, column 0"),
        (pd.DataFrame([["x", "y"]], columns=["a", "a"]), "more than one column"),
        (pl.DataFrame(), "minimum of 1 is required"),
        (np.empty((0, 3)), "minimum of 1 is required"),
        ("table.csv", "table of categories"),
        (None, "table of categories"),
    ],
)
def test_what_holds_no_categories_is_refused_with_its_place(data, said):
    refuses(said, columns_of, data)


def test_names_of_rows_and_a_table_that_is_not_copied():
    frame = pd.DataFrame({"a": ["x", "y"]})
    assert row_names(frame) is None
    assert row_names(frame.set_axis(["r", "s"])) == ("r", "s")
    assert row_names(np.eye(2)) is None
    X = np.arange(6).reshape(3, 2)
    assert table_of(X) is X


@pytest.mark.parametrize("odd", [float("inf"), 7, {}])
def test_a_frame_names_the_row_of_an_odd_cell(odd):
    frame = pd.DataFrame({"a": pd.Series(["x", None, "y", odd], dtype=object)})
    refuses("row 3", columns_of, frame)


def _declared(cells, levels):
    frame = pd.DataFrame({"v": pd.Categorical(cells, categories=levels)})
    (column,), _ = columns_of(frame)
    return column


def test_declared_levels_keep_their_names_whatever_their_type():
    tenths = [Decimal("0.3"), Decimal("0.1"), Decimal("0.2")]  # equal to no float
    cells = [tenths[i] for i in (0, 1, 1, 2, 2, 2)]
    column = _declared(cells, tenths)
    np.testing.assert_allclose(column.values[column.codes], [float(c) for c in cells])
    assert column.values.tolist() == [0.3, 0.1, 0.2]
    same = _declared([1.5, Decimal("1.5"), 0.5], [1.5, 0.5])  # 1.5 is the same level
    assert same.values[same.codes].tolist() == [1.5, 1.5, 0.5]


def test_classes_that_pandas_cuts_are_categories_in_their_order():
    numbers = np.array([9.0, 0.0, 5.0, 1.0, -100.0])
    cut = pd.cut(numbers[:4], [-1, 2, 6, 10, 20])
    column = _declared(cut, cut.categories)
    assert column.values.tolist() == ["(-1, 2]", "(2, 6]", "(6, 10]"]
    assert column.codes.tolist() == [2, 0, 1, 0]
    assert column.unused == ("(10, 20]",)
    objects = pd.DataFrame({"v": pd.Series(cut).astype(object)})
    (plain,), _ = columns_of(objects)
    assert plain.values[plain.codes].tolist() == [str(c) for c in cut]


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        (pd.PeriodIndex(["2021-02", "2020-12"], freq="M"), ["2021-02", "2020-12"]),
        (pd.to_timedelta([2, 1], "D"), ["2 days 00:00:00", "1 days 00:00:00"]),
    ],
)
def test_calendar_values_of_pandas_are_read_as_text(cells, texts):
    for series in (pd.Series(cells), pd.Series(cells).astype("category")):
        (column,), _ = columns_of(pd.DataFrame({"v": series}))
        assert column.values[column.codes].tolist() == texts


@pytest.mark.parametrize("low", [2**53, 2**62, 2**63, -(2**63)])
def test_large_whole_numbers_stay_apart(low):
    cells = np.array([low + 1, low, low + 1], dtype=object)
    column = column_of(cells, "v", 0)
    assert column.values.tolist() == [low, low + 1]
    assert column.codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize("cells", [[2**53 + 1, 0.5, 2**53], [2**70 + 1, 1], [10**400, 1]])
def test_numbers_that_would_become_their_neighbours_are_refused(cells):
    refuses(r"at row 0, column 3 \('v'\)", column_of, np.array(cells, dtype=object), "v", 3)
