import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer.errors import InputError
from mercer.studies._descriptor_columns import coded, columns_of

CELLS = {"a": [1, 2, None], "b": ["x", None, "y"], "c": [True, False, True]}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_give_numbers_and_levels(kind):
    found = columns_of(kind(CELLS), 3)
    np.testing.assert_array_equal(found.numbers["a"], [1, 2, np.nan])
    at, kinds = found.levels["b"]
    assert (at.tolist(), kinds) == ([0, -1, 1], ["x", "y"])
    assert found.levels["c"][1] == ["False", "True"]


def test_mappings_and_arrays_and_nothing():
    assert columns_of(None, 3).numbers == {}
    assert list(columns_of(np.ones((3, 2)), 3, ["p", "q"]).numbers) == ["p", "q"]
    assert columns_of({"g": ["a", "b", "a"]}, 3).levels["g"][1] == ["a", "b"]


def test_text_that_looks_like_numbers_is_text_and_names_of_rows_are_skipped():
    found = columns_of(
        {"t": np.array(["1", "2"] * 20, object), "id": np.arange(40).astype(str)}, 40
    )
    assert list(found.levels) == ["t"]
    assert found.skipped == ("id",)


def test_columns_of_other_lengths_are_refused():
    with pytest.raises(InputError, match="one cell per row"):
        columns_of({"a": [1.0, 2.0]}, 3)
    with pytest.raises(InputError, match="frame, a table or a mapping"):
        columns_of(np.ones(3), 3)


def test_gaps_of_pandas_are_missing_in_every_type():
    frame = pd.DataFrame(
        {
            "object": pd.Series(["a", pd.NA, "b"], dtype=object),
            "string": pd.Series(["a", None, "b"], dtype="string"),
            "flag": pd.Series([True, None, False], dtype="boolean"),
            "date": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
        }
    )
    for at, kinds in columns_of(frame, 3).levels.values():
        assert len(kinds) == 2
        assert at.tolist().index(-1) == 1
    assert coded([pd.NA, "x", pd.NaT])[0].tolist() == [-1, 0, -1]


def test_names_of_any_kind_and_levels_in_their_order():
    table = np.arange(6.0).reshape(3, 2)
    for labels, names in (
        ([10, 5], ["10", "5"]),
        (pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]), ["a 1", "a 2"]),
    ):
        assert list(columns_of(pd.DataFrame(table, columns=labels), 3).numbers) == names
    with pytest.raises(InputError, match="called 'a'"):
        columns_of(pd.DataFrame(table, columns=["a", "a"]), 3)
    with pytest.raises(InputError, match="1 names, 2 columns"):
        columns_of(table, 3, ["a"])
    assert coded([10, 2, 10])[1] == ["2", "10"]
    assert coded(pd.cut([-5.0, 3.0], [-6, 0, 4]))[1] == ["(-6, 0]", "(0, 4]"]
