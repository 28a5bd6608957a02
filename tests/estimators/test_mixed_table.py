import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.estimators.mixed._mixed_table import (
    mixed,
    positions,
)

FRAME = pd.DataFrame(
    {
        "x": [1.5, 2.5, np.nan],
        "who": ["a", None, "b"],
        "n": [1, 2, 3],
        "yes": [True, False, True],
    }
)


@pytest.mark.parametrize(
    "given",
    [
        FRAME,
        pl.from_pandas(FRAME),
        pa.Table.from_pandas(FRAME),
        FRAME.astype(object).to_numpy(),
    ],
    ids=["pandas", "polars", "pyarrow", "objects"],
)
def test_columns_are_read_as_what_they_are(given):
    table = mixed(given)
    assert table.kinds.tolist() == [False, True, False, True]
    np.testing.assert_array_equal(table.numbers, [[1.5, 1], [2.5, 2], [np.nan, 3]])
    assert [column.values.tolist() for column in table.columns] == [["a", "b"], [False, True]]
    assert table.columns[0].codes.tolist() == [0, -1, 1]
    expected = np.zeros((3, 4), bool)
    expected[2, 0] = expected[1, 1] = True
    np.testing.assert_array_equal(table.gaps(), expected)


def test_an_array_of_numbers_is_not_copied():
    X = np.arange(6.0).reshape(3, 2)
    assert np.shares_memory(mixed(X).numbers, X)


def test_codes_are_categories_where_that_is_said():
    assert mixed(FRAME, ["n"]).kinds.tolist() == [False, True, True, True]
    table = mixed(np.array([[1.0, 2.0], [1.0, 3.0]]), [1])
    assert table.columns[0].values.tolist() == [2, 3]
    with pytest.raises(InputError, match="'z'; X has 'x', 'who'"):
        mixed(FRAME, ["z"])


def test_what_was_a_number_must_be_one_again():
    kinds = mixed(FRAME).kinds
    with pytest.raises(InputError, match=r"str 'oops' at row 1, column 0 \('x'\)"):
        mixed(FRAME.assign(x=["1", "oops", "2"]).replace({"x": {"1": 1.0}}), kinds=kinds)
    again = mixed(FRAME.assign(x=[None, None, None]), kinds=kinds)
    assert np.isnan(again.numbers[:, 0]).all()


def test_masked_cells_are_missing():
    X = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    assert mixed(X).gaps().tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (FRAME.assign(t=pd.Timestamp("2020-01-01")), r"dates or times in column 4 \('t'\)"),
        (np.array([["2020-01-01"]], "M8[D]"), "dates or times in column 0"),
        (scipy.sparse.eye_array(3).tocsr(), "[Ss]parse"),
        (pl.from_pandas(FRAME).lazy(), "collect"),
        (FRAME["x"], "1D|series|dim"),
        (pd.concat([FRAME, FRAME], axis=1), "unique"),
        (FRAME.iloc[:0], "0 sample"),
        ({"a": 1}, "table"),
    ],
    ids=["time", "dates", "sparse", "lazy", "series", "twins", "empty", "dict"],
)
def test_what_is_no_table_is_refused(given, said):
    with pytest.raises((InputError, TypeError), match=said):
        mixed(given)


def test_objects_that_are_no_cells_are_refused_by_place():
    given = np.array([[1, "a"], [2, dt.timedelta(1)]], dtype=object)
    with pytest.raises(InputError, match="row 1, column 1"):
        mixed(given)


def test_columns_by_name_or_position():
    assert positions(["b", 0], ["a", "b"], "groups") == {0, 1}
    assert positions("b", ["a", "b"], "groups") == {1}
    assert positions([1], ["1", "0"], "groups") == {0}  # a name comes first
    for bad in (2, -1, "c", True):
        with pytest.raises(InputError, match="`groups`"):
            positions([bad], ["a", "b"], "groups")
