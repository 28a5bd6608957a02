"""Blocks have the length asked for, whatever the layout of the file."""

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.sources import BlockSource, bad_cell
from mercer.sources._block_source import skipped


class Pieces(BlockSource):
    """Rows in pieces of given lengths."""

    label = "pieces"

    def __init__(self, X, lengths, sparse=False, passes=float("inf")):
        self.X, self.lengths, self.sparse = X, lengths, sparse
        self.shape, self.dtype, self.counted = (10, X.shape[1]), X.dtype, False
        self.max_passes = passes

    @property
    def nbytes(self):
        return self.X.nbytes

    def fingerprint(self):
        return "pieces"

    def _read(self, rows, start):
        return skipped(self._pieces(), start)

    def _pieces(self):
        at = 0
        for length in self.lengths:
            piece = self.X[at : at + length]
            yield scipy.sparse.csr_array(piece) if self.sparse else piece
            at += length


X = np.arange(66.0).reshape(22, 3)


def dense(block):
    return block.toarray() if scipy.sparse.issparse(block) else block


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("lengths", [[22], [1] * 22, [5, 0, 7, 10], [8, 8, 6]])
@pytest.mark.parametrize("rows", [1, 4, 8, 22, 30])
def test_blocks_are_even(lengths, rows, sparse):
    source = Pieces(X, lengths, sparse)
    blocks = [dense(block) for block in source.blocks(rows)]
    assert [len(b) for b in blocks[:-1]] == [rows] * (len(blocks) - 1)
    assert np.array_equal(np.concatenate(blocks), X)
    assert source.counted
    assert source.shape == (22, 3)


@pytest.mark.parametrize("start", [0, 4, 20])
def test_a_walk_may_begin_later(start):
    source = Pieces(X, [5, 0, 7, 10])
    blocks = list(source.blocks(4, start))
    assert np.array_equal(np.concatenate(blocks), X[start:])
    assert source.shape == (22, 3)


def test_a_walk_cut_short_counts_nothing():
    source = Pieces(X, [22])
    next(source.blocks(4))
    assert not source.counted
    assert "about 10 x 3" in repr(source)


def test_rows_that_come_once():
    source = Pieces(X, [22], passes=1)
    list(source.blocks(5))
    with pytest.raises(InputError, match="only once"):
        list(source.blocks(5))


def test_a_sample_is_spread():
    source = Pieces(X, [5, 7, 10])
    list(source.blocks(22))
    assert np.array_equal(source.sample(11), X[::2])
    assert np.array_equal(source.sample(2, among=[1, 5, 9]), X[[1, 9]])


@pytest.mark.parametrize("sparse", [False, True])
def test_the_first_bad_cell(sparse):
    Y = X.copy()
    Y[9, 2], Y[15, 0] = np.inf, np.nan
    assert Pieces(Y, [5, 7, 10], sparse).first_bad_cell() == (9, 2, np.inf)
    assert Pieces(X, [5, 7, 10], sparse).first_bad_cell() is None
    assert bad_cell(np.array([[1, 2]])) is None


def test_a_place_has_names():
    source = Pieces(X, [22])
    source.names = ("a", "b", "c")
    assert source.place(3, 1) == "pieces, row 3, column 1 ('b')"


def test_wide_rows_are_looked_at_a_few_at_a_time():
    """4096 rows of a million columns would be 32 GB."""
    asked = []

    class Wide(Pieces):
        def _read(self, rows, start):
            asked.append(rows)
            return super()._read(rows, start)

    for n, p, nnz in ((10_000, 1_000_000, None), (10_000, 1_000_000, 50_000), (10, 3, None)):
        source = Wide(X, [22])
        source.shape, source.nnz = (n, p), nnz
        source.first_bad_cell()
    assert asked == [16, 4096, 10]


@pytest.mark.parametrize("limit", [0, 1 << 29], ids=["kept", "filled"])
def test_pieces_make_blocks_that_own_their_rows(limit, monkeypatch):
    monkeypatch.setattr("mercer.sources._block_source._FILLED", limit)
    table = X.astype(np.float32)
    found = list(Pieces(table, [3] * 8).blocks(8))
    assert [len(block) for block in found] == [8, 8, 6]
    assert all(block.dtype == np.float32 for block in found)
    assert np.array_equal(np.concatenate(found), table)
    assert not any(np.shares_memory(block, table) for block in found)


def test_space_is_set_aside_once_and_a_short_end_gives_it_back():
    found = list(Pieces(X, [5] * 5).blocks(16))
    assert [len(block) for block in found] == [16, 6]
    assert found[1].base is None  # not a view of space for 16 rows
    huge = list(Pieces(X, [5] * 5).blocks(10**12))
    assert np.array_equal(huge[0], X)


def test_pieces_of_the_right_length_are_not_copied():
    table = X.copy()
    assert all(np.shares_memory(block, table) for block in Pieces(table, [11, 11]).blocks(11))
