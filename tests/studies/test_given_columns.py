import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer.errors import InputError
from mercer.studies._given_columns import coded, columns_of

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


def test_codes_are_in_the_order_of_the_alphabet():
    at, kinds = coded(["b", "a", float("nan"), "b"])
    assert (at.tolist(), kinds) == ([1, 0, -1, 1], ["a", "b"])
