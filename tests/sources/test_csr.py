"""Row pointers and column numbers are checked before they are used."""

import numpy as np
import pytest

from mercer.errors import BudgetError, InputError
from mercer.sources.files._sparse_file import (
    check_cells,
    check_indices,
    check_indptr,
    refuse_what_does_not_fit,
)


@pytest.mark.parametrize(
    ("indptr", "words"),
    [
        ([0, 3, 2, 5], "3 then 2 at row 1"),
        ([0, 2, 2, 6], "to 6"),
        ([1, 2, 2, 5], "from 1"),
        ([0, 2, 5], "for 3 rows"),
        ([0.0, 2, 2, 5], "float64"),
        ([[0, 2, 2, 5]], "shape"),
        ([0, 2**62, -(2**62), 5], "at row 1"),
    ],
    ids=["back", "beyond", "late", "short", "floats", "flat", "far"],
)
def test_bad_pointers(indptr, words):
    with pytest.raises(InputError, match=words):
        check_indptr(np.array(indptr), 3, 5, "x")


def test_positions_outside_name_their_row():
    ends = np.array([10, 12, 12, 15])
    for bad, row in ((0, 7), (2, 9), (4, 9)):
        indices = np.zeros(5, np.int32)
        indices[bad] = 4
        with pytest.raises(InputError, match=f"row {row}: position 4 of 4"):
            check_indices(indices, 4, ends, "x, row", 7)
    check_indices(np.array([3, 0]), 4, np.array([0, 2]), "x, row", 0)


def test_values_and_numbers_pair():
    assert check_cells((5,), (5,), np.dtype("i4"), "x") == 5
    for data, indices, kind in (((5,), (4,), "i4"), ((5, 1), (5, 1), "i4"), ((5,), (5,), "f4")):
        with pytest.raises(InputError, match="one length"):
            check_cells(data, indices, np.dtype(kind), "x")


def test_what_does_not_fit_is_refused():
    refuse_what_does_not_fit(1000, "x", "CSC")
    with pytest.raises(BudgetError, match="CSC"):
        refuse_what_does_not_fit(1 << 60, "x", "CSC")
