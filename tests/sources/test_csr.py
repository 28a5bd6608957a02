"""Row pointers and column numbers are checked before they are used."""

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import BudgetError, InputError
from mercer.sources.files._sparse_file import (
    HeldRows,
    cell_dtype,
    check_cells,
    check_indices,
    check_indptr,
    refuse_what_does_not_fit,
)


@pytest.mark.parametrize("dtype", ["<i4", "<i8", ">i4", "u4", "u8"])
def test_good_pointers(dtype):
    found = check_indptr(np.array([0, 2, 2, 5], dtype), 3, 5, "x")
    assert found.dtype == np.int64
    assert found.tolist() == [0, 2, 2, 5]


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


def test_types_of_cells():
    for stored, dtype in (("f2", "f4"), (">f4", "f4"), ("i8", "f8"), ("?", "f8"), ("f8", "f8")):
        assert cell_dtype(np.dtype(stored), "x") == np.dtype(dtype)


def test_held_rows_sum_what_stands_twice(tmp_path):
    twice = scipy.sparse.coo_array(([1.0, 2.0, 4.0], ([0, 0, 2], [1, 1, 0])), shape=(3, 2))
    (tmp_path / "x").touch()
    source = HeldRows(tmp_path / "x", "x", twice)
    assert source.nnz == 2
    first, last = source.blocks(2)
    np.testing.assert_array_equal(first.toarray(), [[0, 3], [0, 0]])
    last.data[:] = -1  # the reader's own
    assert next(source.blocks(3)).toarray()[2, 0] == 4


def test_what_does_not_fit_is_refused():
    refuse_what_does_not_fit(1000, "x", "CSC")
    with pytest.raises(BudgetError, match="CSC"):
        refuse_what_does_not_fit(1 << 60, "x", "CSC")
