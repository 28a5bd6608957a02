"""Missing cells counted; a row without a cell is no row with gaps."""

import numpy as np
import pytest
import scipy.sparse
from pieces import Pieces

from mercer.tables._table_gaps import gaps_of, known_gaps

NAN = np.nan
X = np.array([[1, 2, NAN], [NAN, NAN, NAN], [4, 5, 6], [NAN, 8, NAN], [NAN, NAN, NAN]])


@pytest.mark.parametrize(
    "rows", [X, Pieces(X, 2), X.astype(np.float32)], ids=["held", "read", "short"]
)
def test_counts_and_rows(rows):
    gaps = gaps_of(rows)
    assert gaps.rows == 5
    assert gaps.counts.tolist() == [1, 0, 2]
    assert gaps.empty.tolist() == [1, 4]
    assert gaps.some.tolist() == [0, 3]
    assert (gaps.total, gaps.cells) == (3, 9)


LEVELS = {"t": ("a", "b"), "u": ("c",)}


def test_a_category_makes_a_row_that_is_not_empty():
    codes = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0.0]])
    gaps = gaps_of(np.hstack([X, codes]), LEVELS)
    assert gaps.empty.tolist() == [4]
    assert gaps.counts.tolist() == [2, 1, 3, 2, 3]
    assert (gaps.total, gaps.cells, gaps.texts) == (6, 4 * 3, 2)
    assert gaps.some.tolist() == [0, 1, 3]
    assert gaps.blank.tolist() == gaps.partial.tolist() == [0, 1, 2, 3]
    alone = gaps_of(codes, LEVELS)
    assert (alone.empty.tolist(), alone.total, alone.cells) == ([3, 4], 0, 0)
    assert alone.counts.tolist() == [1, 2]


def test_whole_numbers_have_none():
    gaps = gaps_of(np.zeros((4, 2), np.int8))
    assert (gaps.total, gaps.empty.size, gaps.rows) == (0, 0, 4)
    source = Pieces(np.zeros((4, 2), np.int8))
    assert (gaps_of(source).rows, source.walks) == (4, 0)
    assert gaps_of(Pieces(np.zeros((4, 2), np.int8), forecast=9)).rows == 4


def test_many_rows_in_many_blocks():
    rng = np.random.default_rng(3)
    Y = rng.random((9000, 3))
    Y[Y < 0.3] = NAN
    gaps = gaps_of(Pieces(Y, 1000))
    gone = np.isnan(Y)
    assert gaps.empty.tolist() == np.flatnonzero(gone.all(axis=1)).tolist()
    assert gaps.some.tolist() == np.flatnonzero(gone.any(axis=1) & ~gone.all(axis=1)).tolist()
    assert gaps.counts.tolist() == gone[~gone.all(axis=1)].sum(axis=0).tolist()


def test_what_others_counted():
    assert (known_gaps(7, [1, 2]).total, known_gaps(7, [1, 2]).cells) == (3, 14)


def test_sparse_rows_hold_zeros():
    rows = np.array([[1, 0, NAN], [NAN, NAN, NAN], [0, 0, 0], [0, NAN, 5]])
    gaps = gaps_of(Pieces(scipy.sparse.csr_array(rows), 3))
    assert (gaps.rows, gaps.counts.tolist()) == (4, [0, 1, 1])
    assert (gaps.empty.tolist(), gaps.some.tolist()) == ([1], [0, 3])
    assert gaps_of(Pieces(scipy.sparse.csr_array(np.eye(3)))).total == 0
