"""An array in memory, walked like a file: views, not copies; changed cells change its print."""

import numpy as np
import pytest
import scipy.sparse

from mercer.sources import ArrayBlocks, scan

X = np.arange(60.0).reshape(20, 3)


def test_blocks_are_views():
    source = ArrayBlocks(scan(X))
    parts = list(source.blocks(6))
    assert [len(part) for part in parts] == [6, 6, 6, 2]
    assert all(np.shares_memory(part, X) for part in parts[:-1])
    assert np.array_equal(np.concatenate(parts), X)
    assert (source.shape, source.counted, source.nbytes) == ((20, 3), True, X.nbytes)
    assert np.array_equal(np.concatenate(list(source.blocks(6, 12))), X[12:])
    assert list(source.blocks(6, 20)) == []


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.bool_])
def test_types_stay(dtype):
    source = ArrayBlocks(scan(X.astype(dtype)))
    assert source.dtype == dtype
    assert next(source.blocks(5)).dtype == dtype
    assert source.products == (np.float32 if dtype == np.float32 else np.float64)


def test_sparse_rows():
    Y = scipy.sparse.csr_array(np.where(X % 3 == 0, X, 0))
    source = ArrayBlocks(scan(Y))
    assert source.nnz == Y.nnz
    parts = list(source.blocks(7))
    assert np.array_equal(np.concatenate([part.toarray() for part in parts]), Y.toarray())


def test_a_place_is_that_in_the_array():
    assert ArrayBlocks(scan(X)).place(3, 1) == "row 3, column 1"
    assert ArrayBlocks(scan(X), ["a", "b", "c"]).place(3, 1) == "row 3, column 1 ('b')"


def prints(*tables):
    return [ArrayBlocks(scan(table)).fingerprint() for table in tables]


def test_the_print_follows_the_rows():
    other = X.copy()
    other[13, 2] += 1e-9
    found = prints(X, X.copy(), other, X[:-1], X.astype(np.float32), np.asfortranarray(X))
    assert found[0] == found[1] == found[5]
    assert len(set(found)) == 4


def test_the_print_of_sparse_rows():
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
