"""Results of rows in parts are lazy, and keep chunks, index and names."""

import numpy as np
import pandas as pd
import pytest

from mercer.sources import scan

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytestmark = pytest.mark.usefixtures("every_chunk")
X = np.arange(60.0).reshape(20, 3)


def doubled(rows):
    return 2 * rows.held[:, :2]


def first(rows):
    return rows.held[:, 0]


def refused(_):
    raise AssertionError("nothing may be computed")


@pytest.mark.parametrize("chunks", [(7, 3), (7, 2), ((0, 5, 15, 0), 3)])
def test_an_array_keeps_its_chunks(chunks):
    source = scan(da.from_array(X, chunks=chunks))
    found = source.mapped(doubled, 2, np.float64)
    assert found.chunks[0] == source.collection.chunks[0]
    np.testing.assert_array_equal(found.compute(), 2 * X[:, :2])
    np.testing.assert_array_equal(source.mapped(first, None, np.float64).compute(), X[:, 0])
    assert source.walks == 0


def test_unknown_lengths_stay_unknown():
    data = da.from_array(X, chunks=(7, 2))
    found = scan(data[data[:, 0] > 10]).mapped(doubled, 2, np.float32)
    assert np.isnan(found.shape[0])
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.compute(), 2 * X[X[:, 0] > 10, :2])


def test_a_frame_keeps_its_index_and_partitions():
    frame = pd.DataFrame(X, columns=list("abc"), index=np.arange(20) * 3)
    data = dd.from_pandas(frame, npartitions=3)
    found = scan(data).mapped(doubled, 2, np.float64, ["u", "v"])
    assert found.divisions == data.divisions
    made = found.compute()
    assert list(made.columns) == ["u", "v"]
    pd.testing.assert_index_equal(made.index, frame.index)
    np.testing.assert_array_equal(made.to_numpy(), 2 * X[:, :2])


def test_a_frame_gives_an_array_where_no_names_are_asked_for():
    source = scan(dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=3))
    found = source.mapped(doubled, 2, np.float64)
    assert isinstance(found, da.Array)
    np.testing.assert_array_equal(found.compute(), 2 * X[:, :2])
    np.testing.assert_array_equal(source.mapped(first, None, np.float64).compute(), X[:, 0])


def test_an_array_with_names_is_a_frame():
    found = scan(da.from_array(X, chunks=(7, 3))).mapped(doubled, 2, np.float64, ["u", "v"])
    assert list(found.columns) == ["u", "v"]
    pd.testing.assert_index_equal(found.compute().index, pd.RangeIndex(20))


@pytest.mark.parametrize("names", [None, ["u", "v"]])
def test_nothing_is_computed_before_it_is_asked_for(names):
    data = da.from_array(X, chunks=(7, 3)).map_blocks(refused, dtype=float, meta=X[:0])
    scan(data).mapped(refused, 2, np.float64, names)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=3)
    scan(frame).mapped(refused, 2, np.float64, names)
