import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from mercer.sources import like_given

ROWS = np.array([[1.5, 1.0, 7.0], [2.5, 2.0, 8.0], [3.5, 3.0, 9.0]])


def test_pandas_keeps_index_order_and_whole_columns():
    given = pd.DataFrame(
        {"b": np.array([1.5, np.nan, 3.5], "float32"), "n": [1, 2, 3], "a": [7.0, 8.0, 9.0]},
        index=["x", "y", "z"],
    )
    found = like_given(given, ROWS)
    expected = given.copy()
    expected["b"] = np.array([1.5, 2.5, 3.5], "float32")
    pd.testing.assert_frame_equal(found, expected)
    assert given["b"].isna().sum() == 1


def test_nullable_whole_numbers_become_floats():
    given = pd.DataFrame(
        {"b": [1.5, 2.5, 3.5], "n": pd.array([1, None, 3], "Int64"), "a": [7.0, 8.0, 9.0]}
    )
    found = like_given(given, ROWS + 0.25)
    assert found["n"].tolist() == [1.25, 2.25, 3.25]
    assert found["b"].tolist() == [1.5, 2.5, 3.5]


@pytest.mark.parametrize("gap", [None, float("nan")])
def test_polars_and_arrow_fill_null_and_nan(gap):
    given = pl.DataFrame({"b": [1.5, gap, 3.5], "n": [1, None, 3], "a": [7.0, 8.0, 9.0]})
    found = like_given(given, ROWS)
    assert found.columns == ["b", "n", "a"]
    np.testing.assert_array_equal(found.to_numpy(), ROWS)
    assert found.schema["b"] == pl.Float64
    table = like_given(given.to_arrow(), ROWS)
    assert isinstance(table, pa.Table)
    assert table["b"].to_pylist() == [1.5, 2.5, 3.5]
    assert table["a"].type == pa.float64()


def test_what_is_no_frame_comes_back_as_the_rows():
    assert like_given([[1.0, 2.0]], ROWS) is ROWS
    assert like_given(np.zeros((3, 3)), ROWS) is ROWS
    sparse = scipy.sparse.csr_matrix(ROWS)
    assert like_given(sparse, sparse) is sparse
    whole = pl.DataFrame({"a": [1.0]})
    assert like_given(whole, np.zeros((1, 1))) is whole
