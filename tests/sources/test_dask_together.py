"""Rows and weights of the same blocks: one graph, in which a block is read once."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from mercer.errors import InputError
from mercer.sources import scan

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytestmark = pytest.mark.usefixtures("every_chunk")
X = np.arange(1.0, 81.0).reshape(20, 4)


@pytest.fixture
def reads():
    return Counter()


@pytest.fixture
def blocks(reads):
    def read(block, block_info=None):
        if block_info:
            reads[block_info[0]["chunk-location"]] += 1
        return block

    return da.from_array(X, chunks=(6, 2)).map_blocks(
        read, dtype=float, meta=np.empty((0, 0)), name="read"
    )


@pytest.fixture
def frame(reads):
    def load(start):
        reads[start] += 1
        return pd.DataFrame(X[start : start + 5], columns=list("abcw"))

    return dd.from_map(load, [0, 5, 10, 15], meta=pd.DataFrame(X[:0], columns=list("abcw")))


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
        np.testing.assert_allclose(source.reduce(Weighed(), parted), (X[:, 0] + 1) @ X)
        assert set(reads.values()) == {passes}
        assert len(reads) == 8


def test_partitions_of_a_frame_are_read_once_a_pass(frame, reads):
    source = scan(frame[["a", "b", "c"]])
    parted = source.weights_of(frame["w"] * 2)
    assert not reads
    np.testing.assert_allclose(source.reduce(Weighed(), parted), 2 * X[:, 3] @ X[:, :3])
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


def test_files_that_are_read_at_once_are_all_read(files):
    wide, frame = files

    class Sum(Weighed):
        def part(self, rows, weights):
            return rows.held.sum(axis=0)

    source = scan(frame[["c1", "c2"]] + 1)
    np.testing.assert_allclose(source.reduce(Sum()), wide[:, 1:3].sum(axis=0) + 400)
    assert source.shape == (400, 2)


def test_files_that_are_read_at_once_do_not_go_with_other_parts(files):
    _, frame = files
    source = scan(frame[["c1", "c2"]] + 1)
    parted = source.weights_of(da.ones(400, chunks=50))
    with pytest.raises(InputError, match=r"8 parts of weights, \d of rows"):
        source.reduce(Weighed(), parted)


@pytest.mark.parametrize("kind", ["frame", "array"])
def test_an_array_goes_with_a_frame(kind):
    table = pd.DataFrame(X, columns=list("abcw"))
    frame = dd.from_pandas(table, npartitions=3)
    counts = frame["w"].to_dask_array()
    rows = frame[["a", "b", "c"]]
    if kind == "array":
        rows, counts = rows.to_dask_array(), frame["w"]
    source = scan(rows)
    found = source.reduce(Weighed(), source.weights_of(counts))
    np.testing.assert_allclose(found, X[:, 3] @ X[:, :3])


def test_rows_and_weights_that_a_cluster_holds(cluster):
    import dask

    with dask.config.set(scheduler=cluster):
        held = da.from_array(X, chunks=(6, 2)).persist()
        source = scan(held)
        parted = source.weights_of(held[:, 0] + 1)
        np.testing.assert_allclose(source.reduce(Weighed(), parted), (X[:, 0] + 1) @ X)
