"""Blocks have the length asked for, whatever the layout of the file."""

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.sources import ArrayBlocks, BlockSource, bad_cell, scan
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


def test_a_walk_is_counted_once_it_ends():
    source = Pieces(X, [22])
    next(source.blocks(4))
    assert not source.counted
    assert "about 10 x 3" in repr(source)
    source = Pieces(X, [22], passes=1)
    list(source.blocks(5))
    with pytest.raises(InputError, match="only once"):
        list(source.blocks(5))
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


def test_wide_rows_are_looked_at_a_few_at_a_time():
    asked = []

    class Wide(Pieces):
        def _read(self, rows, start):
            asked.append(rows)
            return super()._read(rows, start)

    for n, p, nnz in ((10_000, 1_000_000, None), (10_000, 1_000_000, 50_000), (10, 3, None)):
        source = Wide(X, [22])
        source.shape, source.nnz = (n, p), nnz
        source.first_bad_cell()
    assert asked == [1, 4096, 10]
    found = list(Pieces(X, [5] * 5).blocks(16))
    assert [len(block) for block in found] == [16, 6]
    assert found[1].base is None  # not a view of space for 16 rows
    huge = list(Pieces(X, [5] * 5).blocks(10**12))
    assert np.array_equal(huge[0], X)
    table = X.copy()
    assert all(np.shares_memory(block, table) for block in Pieces(table, [11, 11]).blocks(11))


@pytest.mark.parametrize("limit", [0, 1 << 29], ids=["kept", "filled"])
def test_pieces_make_blocks_that_own_their_rows(limit, monkeypatch):
    monkeypatch.setattr("mercer.sources._block_source._FILLED", limit)
    table = X.astype(np.float32)
    found = list(Pieces(table, [3] * 8).blocks(8))
    assert [len(block) for block in found] == [8, 8, 6]
    assert all(block.dtype == np.float32 for block in found)
    assert np.array_equal(np.concatenate(found), table)
    assert not any(np.shares_memory(block, table) for block in found)


# An array in memory, walked like a file: views, not copies; changed cells change its print.


TABLE = np.arange(60.0).reshape(20, 3)


def test_an_array_is_walked_in_views():
    source = ArrayBlocks(scan(TABLE))
    parts = list(source.blocks(6))
    assert [len(part) for part in parts] == [6, 6, 6, 2]
    assert all(np.shares_memory(part, TABLE) for part in parts[:-1])
    assert np.array_equal(np.concatenate(parts), TABLE)
    assert (source.shape, source.counted, source.nbytes) == ((20, 3), True, TABLE.nbytes)
    assert np.array_equal(np.concatenate(list(source.blocks(6, 12))), TABLE[12:])
    assert list(source.blocks(6, 20)) == []
    assert ArrayBlocks(scan(TABLE)).place(3, 1) == "row 3, column 1"
    assert ArrayBlocks(scan(TABLE), ["a", "b", "c"]).place(3, 1) == "row 3, column 1 ('b')"
    Y = scipy.sparse.csr_array(np.where(TABLE % 3 == 0, TABLE, 0))
    source = ArrayBlocks(scan(Y))
    assert source.nnz == Y.nnz
    parts = list(source.blocks(7))
    assert np.array_equal(np.concatenate([part.toarray() for part in parts]), Y.toarray())


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.bool_])
def test_types_stay(dtype):
    source = ArrayBlocks(scan(TABLE.astype(dtype)))
    assert source.dtype == dtype
    assert next(source.blocks(5)).dtype == dtype
    assert source.products == (np.float32 if dtype == np.float32 else np.float64)


def prints(*tables):
    return [ArrayBlocks(scan(table)).fingerprint() for table in tables]


def test_the_print_follows_the_rows():
    other = TABLE.copy()
    other[13, 2] += 1e-9
    found = prints(
        TABLE,
        TABLE.copy(),
        other,
        TABLE[:-1],
        TABLE.astype(np.float32),
        np.asfortranarray(TABLE),
    )
    assert found[0] == found[1] == found[5]
    assert len(set(found)) == 4
    tables = [
        np.array([[1.0, 0, 2], [0, 0, 0]]),
        np.array([[1.0, 0, 0], [0, 0, 2]]),  # the same cells in the same columns, a row lower
        np.array([[1.0, 2, 0], [0, 0, 0]]),  # the same cells in another column
        np.array([[1.0, 0, 3], [0, 0, 0]]),
    ]
    assert len(set(prints(*map(scipy.sparse.csr_array, tables)))) == 4


@pytest.mark.parametrize("row", [0, 5001, 19_999])
def test_one_cell_of_a_long_table_is_seen(row):
    long = np.zeros((20_000, 2))
    other = long.copy()
    other[row, 1] = 1e-300
    first, second = prints(long, other)
    assert first != second
