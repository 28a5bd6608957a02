"""Frames in memory: blocks from slices, whatever library holds them."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.sources import like_given, scan
from mercer.sources.frames._frame_sources import is_lazy, open_frame


# Frames in memory: blocks from slices, whatever library holds them.
@pytest.fixture(name="X")
def numbers(rng):
    X = rng.standard_normal((31, 3))
    X[4, 1] = np.nan
    return X


NAMES = ["a", "b", "c"]


MAKERS = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas, odd index": lambda X: pd.DataFrame(X, columns=NAMES, index=[5] * len(X)),
    "pandas, nullable": lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(),
    "pandas, arrow": lambda X: pd.DataFrame(X, columns=NAMES).astype("float64[pyarrow]"),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
    "pyarrow batch": lambda X: pa.record_batch(dict(zip(NAMES, X.T, strict=True))),
}


def walk(source, rows, start=0):
    return np.concatenate(list(source.blocks(rows, start)))


@pytest.mark.parametrize("maker", list(MAKERS))
@pytest.mark.parametrize("rows", [1, 10, 31, 50])
def test_rows_of_every_library(X, maker, rows):
    source = scan(MAKERS[maker](X))
    assert source.shape == X.shape
    assert source.names == tuple(NAMES)
    assert source.dtype == np.float64
    assert np.array_equal(walk(source, rows), X, equal_nan=True)
    late = rows * (30 // rows)
    assert np.array_equal(walk(source, rows, late), X[late:], equal_nan=True)


@pytest.mark.parametrize("maker", list(MAKERS))
def test_columns_and_fingerprints(X, maker):
    frame = MAKERS[maker](X)
    source = scan(frame, columns=["c", 0])
    assert np.array_equal(walk(source, 8), X[:, [2, 0]], equal_nan=True)
    assert source.fingerprint() == scan(frame, columns=["c", "a"]).fingerprint()
    assert source.fingerprint() != scan(frame, columns=["a", "c"]).fingerprint()
    for row in (0, 17, 30):
        Y = X.copy()
        Y[row, 0] += 1e-9
        assert scan(MAKERS[maker](Y), columns=["c", 0]).fingerprint() != source.fingerprint()


def test_names_that_are_numbers(X):
    source = scan(pd.DataFrame(X), columns=[2, 1])
    assert source.names == ("2", "1")
    assert source.place(4, 1) == "pandas frame, row 4, column 1 ('1')"


def test_frames_without_rows_or_numbers():
    assert scan(pd.DataFrame({"a": np.zeros(0)})).shape == (0, 1)
    assert scan(pd.DataFrame({"a": np.zeros(0)})).fingerprint()
    with pytest.raises(InputError, match="no column of numbers"):
        scan(pd.DataFrame({"a": ["x"]}))
    with pytest.raises(InputError, match="no column of numbers"):
        scan(pl.DataFrame())


def test_twins_are_refused():
    twins = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert not is_lazy(twins)
    with pytest.raises(InputError, match="names must be unique"):
        scan(twins)
    pair = pa.table([[1], [2]], names=["a", "a"])
    with pytest.raises(InputError, match="names must be unique"):
        scan(pair)


def test_what_is_no_frame():
    for data in (np.eye(2), [[1, 2]], iter([]), pd.Series([1]), None):
        assert open_frame(data) is None
        assert not is_lazy(data)


def test_lazy_frames_are_known():
    frame = pl.DataFrame({"a": [1.0, 2.0]})
    assert is_lazy(frame.lazy())
    assert not is_lazy(frame)


@pytest.mark.parametrize("maker", ["pandas", "polars", "pyarrow"])
def test_the_frame_is_not_copied(rng, maker):
    source = scan(MAKERS[maker](rng.standard_normal((100_000, 3))))
    ours = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    tracemalloc.start()
    for number, _ in enumerate(source.blocks(1000)):
        if number % 20 == 0:  # arrays alone: threads of other tests may be at work as well
            traces = tracemalloc.take_snapshot().filter_traces([ours]).traces
            assert sum(trace.size for trace in traces) < 300_000  # the frame holds 2,400,000
    source.fingerprint()
    assert tracemalloc.get_traced_memory()[1] < 1_200_000
    tracemalloc.stop()


def test_blocks_are_by_rows(X):
    for maker in MAKERS.values():
        assert next(scan(maker(X)).blocks(31)).flags.c_contiguous


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
