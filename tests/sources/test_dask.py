"""Dask collections are described without computing, and walked part by part."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from mercer.errors import DataWarning, InputError
from mercer.sources import scan
from mercer.sources.parts import _dask_chunks as _dask_layout
from mercer.sources.parts._dask_source import DaskSource

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytestmark = pytest.mark.usefixtures("every_chunk")
X = np.arange(80.0).reshape(20, 4)


class Rows:
    """Brings the rows themselves back; for tests only."""

    def part(self, rows, weights):
        dense = rows.held.toarray() if scipy.sparse.issparse(rows.held) else rows.held
        return [(rows.number, rows.first, np.array(dense))]

    def merge(self, one, other):
        return one + other


def gathered(source, weights=None):
    return np.concatenate([rows for _, _, rows in source.reduce(Rows(), weights)])


def unknown(data):
    return data[data[:, 0] > -1]


CHUNKS = [(20, 4), (6, 4), (6, 3), (1, 1), ((0, 5, 0, 15, 0), (4,)), (20, 1)]


@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_all_rows_come_in_order(chunks, known):
    data = da.from_array(X, chunks=chunks)
    source = scan(data if known else unknown(data))
    assert isinstance(source, DaskSource)
    assert source.counted is known
    assert source.shape == ((20, 4) if known else (100_000 * source.parts, 4))
    np.testing.assert_array_equal(gathered(source), X)
    assert source.shape == (20, 4)
    assert source.counted
    assert source.walks == 1


def test_parts_are_known_before_the_walk():
    found = scan(da.from_array(X, chunks=(6, 3))).reduce(Rows())
    assert [(number, first) for number, first, _ in found] == [(0, 0), (1, 6), (2, 12), (3, 18)]
    found = scan(unknown(da.from_array(X, chunks=(6, 3)))).reduce(Rows())
    assert [first for _, first, _ in found] == [None] * 4
    source = scan(da.from_array(X, chunks=(6, 4)))
    assert source.parts == 4
    assert source.part_bytes == 6 * 4 * 8
    assert source.nbytes == X.nbytes
    assert source.collection.chunks[0] == (6, 6, 6, 2)


def test_columns_that_span_all_rows_are_cut(monkeypatch):
    monkeypatch.setattr(_dask_layout, "_WIDE", 100.0)
    monkeypatch.setattr(_dask_layout, "_CUT", 6 * 4 * 8.0)
    source = scan(da.from_array(X, chunks=(20, 1)))
    assert source.lengths == (6, 6, 6, 2)
    np.testing.assert_array_equal(gathered(source), X)


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8", "i4", "u1", "?"])
def test_types_stay_as_they_are(dtype):
    source = scan(da.from_array(X.astype(dtype), chunks=(6, 3)))
    found = gathered(source)
    assert found.dtype == source.dtype == np.dtype(dtype).newbyteorder("=")
    np.testing.assert_array_equal(found, X.astype(dtype))


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_array"])
def test_sparse_chunks_are_counted_in_the_first_pass(kind):
    form = getattr(scipy.sparse, kind)
    data = da.from_array(X, chunks=(6, 3)).map_blocks(form)
    if not scipy.sparse.issparse(data._meta):
        pytest.skip("Dask cuts an example out, which COO matrices of SciPy 1.13 do not allow")
    source = scan(data)
    assert source.nnz == 4  # a twentieth, before anything is known
    np.testing.assert_array_equal(gathered(source), X)
    assert source.nnz == 79


def odd(meta):
    data = da.from_array(X, chunks=(6, 4))
    data._meta = meta
    return data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (da.ones(5), "Expected 2D array, got 1D array instead"),
        (da.ones((2, 2, 2)), "Expected 2D array, got 3D"),
        (da.ones((5, 2), dtype="f2"), "float16"),
        (da.ones((5, 2), dtype=np.longdouble), "float128|float96|longdouble"),
        (da.ones((5, 2), dtype=complex), "real and imaginary"),
        (da.ones((5, 2)).astype(object), "object"),
        (odd(object()), "chunks must be NumPy arrays"),
        (da.ones((5, 2))[:, da.ones(2) > 0], "number of columns must be known"),
    ],
    ids=["1d", "3d", "half", "long", "complex", "object", "foreign", "columns"],
)
def test_arrays_that_cannot_be_rows_are_refused(data, said):
    with pytest.raises(InputError, match=said):
        scan(data)


@pytest.mark.parametrize("rows", [(5, 5), (np.nan, np.nan)], ids=["known", "unknown"])
def test_an_array_without_columns_has_rows(rows):
    """Coordinates of a model without axes are such an array."""
    data = da.ones((10, 0), chunks=(5, 0))
    data._chunks = (rows, (0,))
    source = scan(data)
    assert source.shape[1] == 0
    assert source.parts <= 2
    assert gathered(source).shape == (10, 0)


def test_collections_that_cannot_be_chosen_from_or_computed():
    with pytest.raises(InputError, match="chosen by slices"):
        scan(da.ones((5, 2)), columns=[0])
    with pytest.raises(InputError, match=r"a Dask Delayed\n.*from_delayed"):
        scan(dask.delayed(np.eye)(3))
    data = da.from_array(X, chunks=(10, 4)).map_blocks(
        lambda block: block[1:], dtype=float, chunks=((10, 10), (4,)), meta=X[:0]
    )
    with pytest.raises(InputError, match="18 rows, 20 announced"):
        gathered(scan(data))


FRAME = pd.DataFrame({"a": [1.0, 2, 3, 4], "t": list("wxyz"), "b": [4, 3, 2, 1]})


def test_columns_of_a_frame_can_be_chosen():
    with pytest.warns(DataWarning, match=r"'t' \(text\)") as said:
        source = scan(dd.from_pandas(FRAME, npartitions=2))
    assert len(said) == 1
    found = gathered(source)
    assert source.names == ("a", "b")
    assert source.dropped == (("t", "holds text, not numbers"),)
    np.testing.assert_array_equal(found, FRAME[["a", "b"]])
    source = scan(dd.from_pandas(FRAME, npartitions=2), columns=["b", "a"])
    np.testing.assert_array_equal(gathered(source), FRAME[["b", "a"]])
    assert scan(dd.from_pandas(FRAME, npartitions=2), drop=["t"]).names == ("a", "b")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: dd.from_pandas(FRAME["a"], npartitions=1), "rows and columns"),
        (lambda: dd.from_pandas(FRAME[["t"]], npartitions=1), "no column of numbers"),
        (
            lambda: dd.from_pandas(
                FRAME[["a", "b"]].set_axis(["a", "a"], axis=1), npartitions=1
            ),
            "unique",
        ),
        (lambda: pytest.importorskip("dask.bag").from_sequence([1, 2]), "rows and columns"),
    ],
    ids=["series", "text", "twins", "bag"],
)
def test_other_collections_are_refused(make, said):
    with pytest.raises(InputError, match=said):
        scan(make())


def test_long_integers_are_said_once_by_the_client():
    frame = pd.DataFrame({"a": [2**60, 1, 2, 2**61], "b": [1, 2, 3, 4]})
    source = scan(dd.from_pandas(frame, npartitions=4))
    with pytest.warns(DataWarning, match=r"beyond 2\^53") as said:
        gathered(source)
    assert len(said) == 1
    gathered(source)  # a second warning would be an error


def test_weights_go_with_their_rows(monkeypatch):
    class Weighed(Rows):
        def part(self, rows, weights):
            return [(rows.number, weights, rows.held)]

    monkeypatch.setattr(_dask_layout, "_PARTS", 1)
    monkeypatch.setattr(_dask_layout, "_LEAST", 200.0)
    monkeypatch.setattr(_dask_layout, "_MOST", 200.0)
    source = scan(da.from_array(X, chunks=(2, 3)))
    assert source.parts == 4
    for given in (np.arange(20.0), da.arange(20, chunks=3)):
        found = source.reduce(Weighed(), source.weights_of(given))
        np.testing.assert_array_equal(np.concatenate([w for _, w, _ in found]), np.arange(20))
    assert source.weights_of(None) is None


@pytest.mark.parametrize(
    ("data", "known", "size"),
    [
        (lambda: da.from_array(X, chunks=(6, 4)), True, 6 * 4 * 8),
        (lambda: unknown(da.from_array(X, chunks=(6, 4))), False, 6 * 4 * 8),
        (lambda: dd.from_pandas(FRAME[["a", "b"]], npartitions=2), False, 2 * 2 * 8),
        (
            lambda: da.from_array(X, chunks=(6, 4)).map_blocks(scipy.sparse.csr_array),
            False,
            12 * 24 + 4 * 7,
        ),
    ],
    ids=["known", "filtered", "frame", "sparse"],
)
def test_sizes_that_nobody_knows_are_counted_by_a_pass(data, known, size):
    source = scan(data())
    assert source.sized is known
    assert (source.part_bytes == size) is known
    source.reduce(Rows())
    assert source.sized
    assert source.part_bytes == size


# Results of rows in parts are lazy, and keep chunks, index and names.


ROWS = np.arange(60.0).reshape(20, 3)


def doubled(rows):
    return 2 * rows.held[:, :2]


def first(rows):
    return rows.held[:, 0]


def refused(_):
    raise AssertionError("nothing may be computed")


@pytest.mark.parametrize("chunks", [(7, 3), (7, 2), ((0, 5, 15, 0), 3)])
def test_an_array_keeps_its_chunks(chunks):
    source = scan(da.from_array(ROWS, chunks=chunks))
    found = source.mapped(doubled, 2, np.float64)
    assert found.chunks[0] == source.collection.chunks[0]
    np.testing.assert_array_equal(found.compute(), 2 * ROWS[:, :2])
    np.testing.assert_array_equal(source.mapped(first, None, np.float64).compute(), ROWS[:, 0])
    assert source.walks == 0


def test_results_keep_lengths_index_and_names():
    data = da.from_array(ROWS, chunks=(7, 2))
    found = scan(data[data[:, 0] > 10]).mapped(doubled, 2, np.float32)
    assert np.isnan(found.shape[0])
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.compute(), 2 * ROWS[ROWS[:, 0] > 10, :2])
    frame = pd.DataFrame(ROWS, columns=list("abc"), index=np.arange(20) * 3)
    data = dd.from_pandas(frame, npartitions=3)
    found = scan(data).mapped(doubled, 2, np.float64, ["u", "v"])
    assert found.divisions == data.divisions
    made = found.compute()
    assert list(made.columns) == ["u", "v"]
    pd.testing.assert_index_equal(made.index, frame.index)
    np.testing.assert_array_equal(made.to_numpy(), 2 * ROWS[:, :2])
    source = scan(dd.from_pandas(pd.DataFrame(ROWS, columns=list("abc")), npartitions=3))
    found = source.mapped(doubled, 2, np.float64)
    assert isinstance(found, da.Array)
    np.testing.assert_array_equal(found.compute(), 2 * ROWS[:, :2])
    np.testing.assert_array_equal(source.mapped(first, None, np.float64).compute(), ROWS[:, 0])
    found = scan(da.from_array(ROWS, chunks=(7, 3))).mapped(doubled, 2, np.float64, ["u", "v"])
    assert list(found.columns) == ["u", "v"]
    pd.testing.assert_index_equal(found.compute().index, pd.RangeIndex(20))


@pytest.mark.parametrize("names", [None, ["u", "v"]])
def test_nothing_is_computed_before_it_is_asked_for(names):
    data = da.from_array(ROWS, chunks=(7, 3)).map_blocks(refused, dtype=float, meta=ROWS[:0])
    scan(data).mapped(refused, 2, np.float64, names)
    frame = dd.from_pandas(pd.DataFrame(ROWS, columns=list("abc")), npartitions=3)
    scan(frame).mapped(refused, 2, np.float64, names)


# Rows and weights of the same blocks: one graph, in which a block is read once.


X_dask_together = np.arange(1.0, 81.0).reshape(20, 4)


@pytest.fixture
def reads():
    return Counter()


@pytest.fixture
def blocks(reads):
    def read(block, block_info=None):
        if block_info:
            reads[block_info[0]["chunk-location"]] += 1
        return block

    return da.from_array(X_dask_together, chunks=(6, 2)).map_blocks(
        read, dtype=float, meta=np.empty((0, 0)), name="read"
    )


@pytest.fixture
def frame(reads):
    def load(start):
        reads[start] += 1
        return pd.DataFrame(X_dask_together[start : start + 5], columns=list("abcw"))

    return dd.from_map(
        load, [0, 5, 10, 15], meta=pd.DataFrame(X_dask_together[:0], columns=list("abcw"))
    )


class Weighed:
    """The weighted column sums."""

    def part(self, rows, weights):
        return weights @ rows.held

    def merge(self, one, other):
        return one + other


def known(blocks):
    return blocks, blocks[:, 0] + 1


def coarser(blocks):
    return blocks, (blocks[:, 0] + 1).rechunk(((12, 8),))


def filtered(blocks):
    keep = blocks[:, 0] > 0
    return blocks[keep], (blocks[:, 0] + 1)[keep]


@pytest.mark.parametrize("made", [known, coarser, filtered])
def test_blocks_of_an_array_are_read_once_a_pass(blocks, reads, made):
    rows, weights = made(blocks)
    source = scan(rows)
    parted = source.weights_of(weights)
    assert not reads
    for passes in (1, 2):
        np.testing.assert_allclose(
            source.reduce(Weighed(), parted), (X_dask_together[:, 0] + 1) @ X_dask_together
        )
        assert set(reads.values()) == {passes}
        assert len(reads) == 8


def test_partitions_of_a_frame_are_read_once_a_pass(frame, reads):
    source = scan(frame[["a", "b", "c"]])
    parted = source.weights_of(frame["w"] * 2)
    assert not reads
    np.testing.assert_allclose(
        source.reduce(Weighed(), parted), 2 * X_dask_together[:, 3] @ X_dask_together[:, :3]
    )
    assert set(reads.values()) == {1}


@pytest.fixture
def files(tmp_path):
    """Eight files of many columns: Dask reads several at once where few are used."""
    names = [f"c{i}" for i in range(24)]
    wide = np.arange(400.0 * 24).reshape(400, 24) % 17
    for i in range(8):
        part = pd.DataFrame(wide[50 * i : 50 * i + 50], columns=names)
        part.to_parquet(tmp_path / f"{i}.parquet")
    return wide, dd.read_parquet(tmp_path)


def test_files_that_are_read_at_once_go_with_their_weights(files):
    wide, frame = files
    for rows, wanted in ((frame[["c1", "c2"]], 0), (frame[["c1", "c2"]] + 1, 1)):
        source = scan(rows)
        found = source.reduce(Weighed(), source.weights_of(frame["c0"] * 2))
        np.testing.assert_allclose(found, 2 * wide[:, 0] @ (wide[:, 1:3] + wanted))
    _, frame = files
    source = scan(frame[["c1", "c2"]] + 1)
    parted = source.weights_of(da.ones(400, chunks=50))
    with pytest.raises(InputError, match=r"8 parts of weights, \d of rows"):
        source.reduce(Weighed(), parted)


def test_files_that_are_read_at_once_are_all_read(files):
    wide, frame = files

    class Sum(Weighed):
        def part(self, rows, weights):
            return rows.held.sum(axis=0)

    source = scan(frame[["c1", "c2"]] + 1)
    np.testing.assert_allclose(source.reduce(Sum()), wide[:, 1:3].sum(axis=0) + 400)
    assert source.shape == (400, 2)


@pytest.mark.parametrize("kind", ["frame", "array"])
def test_an_array_goes_with_a_frame(kind):
    table = pd.DataFrame(X_dask_together, columns=list("abcw"))
    frame = dd.from_pandas(table, npartitions=3)
    counts = frame["w"].to_dask_array()
    rows = frame[["a", "b", "c"]]
    if kind == "array":
        rows, counts = rows.to_dask_array(), frame["w"]
    source = scan(rows)
    found = source.reduce(Weighed(), source.weights_of(counts))
    np.testing.assert_allclose(found, X_dask_together[:, 3] @ X_dask_together[:, :3])


def test_rows_and_weights_that_a_cluster_holds(cluster):
    import dask

    with dask.config.set(scheduler=cluster):
        held = da.from_array(X_dask_together, chunks=(6, 2)).persist()
        source = scan(held)
        parted = source.weights_of(held[:, 0] + 1)
        np.testing.assert_allclose(
            source.reduce(Weighed(), parted), (X_dask_together[:, 0] + 1) @ X_dask_together
        )
