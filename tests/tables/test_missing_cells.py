"""What is done about missing cells unasked, and that it is always said."""

import numpy as np
import pytest
import scipy.sparse
from pieces import Pieces

from mercer.errors import InputError
from mercer.tables._table_gaps import (
    gaps_of,
    lacking_columns,
    left_out,
    numbered,
    refuse_missing,
    settled,
)

NAMES = ("a", "b", "c", "d")


def table(*cells, rows=50, empty=()):
    X = np.arange(float(rows * 4)).reshape(rows, 4)
    for row, column in cells:
        X[row, column] = np.nan
    X[list(empty)] = np.nan
    return gaps_of(X)


FEW = table((1, 0), (1, 1), (7, 1))


def test_what_is_done_unasked():
    assert settled("em", table(), NAMES, "t", True).missing == "em"
    assert settled("em", table(), NAMES, "t", False).missing == "raise"
    ten = table(*((row, 2) for row in range(10)))
    assert settled("auto", ten, NAMES, "t", True).missing == "em"
    eleven = table(*((row, 2) for row in range(11)))
    found = settled("auto", eleven, NAMES, "t", True)
    assert found.missing == "em"
    assert "too large" in found.said[0]
    assert lacking_columns("auto", eleven, True).tolist() == []
    most = table(*((row, 2) for row in range(30)))
    assert lacking_columns("auto", most, True).tolist() == [2]
    assert lacking_columns("em", most, True).tolist() == []
    assert (
        settled("auto", table((0, 0)), NAMES, "t", True)
        .said[0]
        .startswith("1 of 200 cells is missing (0.5 %)")
    )
    assert (
        "(under 0.1 %)" in settled("auto", table((0, 0), rows=5000), NAMES, "t", True).said[0]
    )
    assert numbered(np.arange(1200)) == "rows 1, 2, 3, 4, 5 and 1,195 more (counted from 1)"
    assert numbered(np.array([1233])) == "row 1,234 (counted from 1)"


def test_new_rows_and_rows_of_categories():
    line = "3 of 200 cells are missing (1.5 %): filled by the model"
    assert left_out(FEW, "t", "em")[1] == [line]
    assert "count nowhere" in left_out(FEW, "t", "passive")[1][0]
    out, said = left_out(FEW, "t", "rows")
    assert np.array_equal(out, FEW.partial)
    assert "(--missing rows)" in said[0]
    with pytest.raises(InputError, match="no row has a cell"):
        left_out(table(empty=range(50)), "t", "em")
    assert "the model fills none" in str(refuse_missing(FEW, NAMES, "t", ""))
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


# Missing cells counted; a row without a cell is no row with gaps.
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


def test_gaps_of_many_blocks_and_of_whole_numbers():
    gaps = gaps_of(np.zeros((4, 2), np.int8))
    assert (gaps.total, gaps.empty.size, gaps.rows) == (0, 0, 4)
    source = Pieces(np.zeros((4, 2), np.int8))
    assert (gaps_of(source).rows, source.walks) == (4, 0)
    assert gaps_of(Pieces(np.zeros((4, 2), np.int8), forecast=9)).rows == 4
    rows = np.array([[1, 0, NAN], [NAN, NAN, NAN], [0, 0, 0], [0, NAN, 5]])
    gaps = gaps_of(Pieces(scipy.sparse.csr_array(rows), 3))
    assert (gaps.rows, gaps.counts.tolist()) == (4, [0, 1, 1])
    assert (gaps.empty.tolist(), gaps.some.tolist()) == ([1], [0, 3])
    assert gaps_of(Pieces(scipy.sparse.csr_array(np.eye(3)))).total == 0
    rng = np.random.default_rng(3)
    Y = rng.random((9000, 3))
    Y[Y < 0.3] = NAN
    gaps = gaps_of(Pieces(Y, 1000))
    gone = np.isnan(Y)
    assert gaps.empty.tolist() == np.flatnonzero(gone.all(axis=1)).tolist()
    assert gaps.some.tolist() == np.flatnonzero(gone.any(axis=1) & ~gone.all(axis=1)).tolist()
    assert gaps.counts.tolist() == gone[~gone.all(axis=1)].sum(axis=0).tolist()
