"""Sparse matrices as people bring them: their row pointers and column numbers, looked at once.

SciPy's products follow both without a look, into memory that belongs to somebody else.
"""

from typing import Any

import numpy as np

from mercer.arrays._namespace import Array
from mercer.errors import InputError

_PART = 2**20  # pointers that are compared in one go
_AGAIN = "make the matrix again from its cells; X.check_format() finds what is wrong"
_DAMAGED = "the file is damaged: write it again"
_COMPRESSED = {"csr", "csc", "bsr"}


def as_csr(matrix: Any, place: str = "") -> Any:
    """Return a sparse matrix (n, p) as CSR, every row in order and every cell once.

    Where its cells stand is looked at first, in one pass, and what SciPy has noted of their
    order is not believed: it stays when cells are moved. Cells that stand twice are summed, in
    a copy. A CSR matrix in order is returned as it is.

    Parameters
    ----------
    matrix : sparse matrix or array of SciPy
        Of any format; nothing is copied before it is known to be sound.
    place : str
        Where it was found, for refusals.
    """
    kind = getattr(matrix, "format", "")
    where = f"{place}{type(matrix).__name__} of shape {matrix.shape}"
    if len(matrix.shape) != 2:
        raise InputError(
            f"Expected 2D array, got {len(matrix.shape)}D array instead",
            got=where,
            fix="reshape your data: pass a matrix of rows and columns",
        )
    if kind in _COMPRESSED:
        _refuse_unsound(matrix, kind, where)
    elif kind == "coo":
        _refuse_outside(matrix, where)
    elif kind == "lil":
        _refuse_uneven(matrix, where)
    made = matrix.tocsr()
    if kind not in {*_COMPRESSED, "coo"}:  # such as lists of rows
        _refuse_unsound(made, "csr", where)
    stored = int(made.indptr[-1])
    if not stored == len(made.data) == len(made.indices):  # there is room behind the last
        parts = made.data[:stored], made.indices[:stored], made.indptr
        made = type(made)(parts, shape=made.shape)
    if _in_order(made.indices, made.indptr):
        made.has_canonical_format = True  # so that nobody looks again
        return made
    made = made.copy()
    made.has_sorted_indices = False
    made.sum_duplicates()
    return made


def _in_order(indices: Array, ends: Array) -> bool:
    """Tell whether the columns of every row only go up."""
    for start in range(0, len(indices), _PART):
        part = indices[start : start + _PART + 1]
        up = part[1:] > part[:-1]
        begin, end = np.searchsorted(ends, (start + 1, start + len(up) + 1))
        up[ends[begin:end] - start - 1] = True  # where another row begins
        if not up.all():
            return False
    return True


def _refuse_unsound(matrix: Any, kind: str, where: str) -> None:
    """Refuse compressed rows, columns or blocks whose cells stand outside the matrix."""
    n, p = matrix.shape
    row, column = "row", "column"
    if kind == "csc":
        n, p, row, column = p, n, column, row
    elif kind == "bsr":
        high, wide = matrix.data.shape[1:]
        n, p, row, column = n // high, p // wide, "block row", "block column"
    stored = min(len(matrix.data), len(matrix.indices))
    ends = matrix.indptr
    check_pointers(ends, n, stored, where, row, fix=_AGAIN)
    places = matrix.indices[: int(ends[-1])]
    _refuse_fractions(places, where)
    check_places(places, p, ends, f"{where}, {row}", column, fix=_AGAIN)


def _refuse_uneven(lil: Any, where: str) -> None:
    """Refuse lists of columns that are not as long as the lists of their values."""
    for row, (columns, values) in enumerate(zip(lil.rows, lil.data, strict=True)):
        if len(columns) != len(values):
            raise InputError(
                "every stored cell needs a column and a value",
                got=f"{where}, row {row}: {len(columns):,} columns, {len(values):,} values",
                fix=_AGAIN,
            )


def _refuse_outside(coo: Any, where: str) -> None:
    """Refuse single cells outside the matrix, or without a row, a column or a value."""
    row, column = coo.coords if hasattr(coo, "coords") else (coo.row, coo.col)
    if not len(row) == len(column) == len(coo.data):
        raise InputError(
            "every stored cell needs a row, a column and a value",
            got=f"{where}: {len(row):,}, {len(column):,} and {len(coo.data):,} of them",
            fix=_AGAIN,
        )
    for places, size, name in ((row, coo.shape[0], "row"), (column, coo.shape[1], "column")):
        _refuse_fractions(places, where)
        if _outside(places, size):
            bad = int(np.flatnonzero((places < 0) | (places >= size))[0])
            raise InputError(
                "a stored cell lies outside the table",
                got=f"{where}, cell {bad} at row {row[bad]}, column {column[bad]}: {name}"
                f" {places[bad]} of {size:,} (the first is 0)",
                fix=_AGAIN,
            )


def _refuse_fractions(places: Array, where: str) -> None:
    if places.dtype.kind not in "iu":
        raise InputError(
            "rows and columns of stored cells must be whole numbers",
            got=f"{where}: numbers of type {places.dtype}",
            fix=_AGAIN,
        )


def check_pointers(
    indptr: Array,
    n: int,
    most: int,
    where: str,
    row: str = "row",
    *,
    exact: bool = False,
    fix: str = _DAMAGED,
) -> None:
    """Refuse row pointers that do not cut cells into n rows.

    Parameters
    ----------
    indptr : array of int, shape (n + 1,)
        Row i holds the cells indptr[i] to indptr[i + 1] - 1.
    n : int
        Rows.
    most : int
        Cells that are stored; `exact` if all of them must belong to rows.
    where, row, fix : str
        Whose they are, what a row is called, and what to do about it.
    """
    if indptr.dtype.kind not in "iu" or indptr.shape != (n + 1,):
        raise InputError(
            f"{row} pointers must be one whole number for each {row}, and one more",
            got=f"{where}, indptr: {indptr.dtype} of shape {indptr.shape} for {n:,} {row}s",
            fix=fix,
        )
    for start in range(0, n, _PART):
        part = indptr[start : start + _PART + 1]
        back = part[1:] < part[:-1]
        if back.any():
            at = int(np.argmax(back))
            raise InputError(
                f"{row} pointers must not go back",
                got=f"{where}, indptr: {part[at]} then {part[at + 1]} at {row} {start + at}",
                fix=fix,
            )
    first, last = int(indptr[0]), int(indptr[-1])
    if first != 0 or last > most or (exact and last != most):
        at = 0 if first != 0 else min(int(np.searchsorted(indptr, most, "right")), n) - 1
        raise InputError(
            f"{row} pointers must begin at 0 and end at the number of stored cells",
            got=f"{where}, indptr: from {first} to {last}, {most:,} cells are stored"
            f" ({row} {at}: {indptr[at]} to {indptr[at + 1]})",
            fix=fix,
        )


def check_places(
    indices: Array,
    p: int,
    ends: Array,
    where: str,
    column: str = "position",
    *,
    first: int = 0,
    fix: str = _DAMAGED,
) -> None:
    """Refuse positions outside [0, p), naming the row.

    Parameters
    ----------
    indices : array of int, shape (nnz,)
        Columns of the cells, row by row.
    p : int
        Columns.
    ends : array of int, shape (n + 1,)
        The pointers of these rows.
    where, column, fix : str
        What a row and a column are called, and what to do about it.
    first : int
        The number of the first of the rows.
    """
    if not _outside(indices, p):
        return
    bad = int(np.flatnonzero((indices < 0) | (indices >= p))[0])
    row = first + int(np.searchsorted(ends - ends[0], bad, side="right")) - 1
    raise InputError(
        "a stored cell lies outside the table",
        got=f"{where} {row}: {column} {indices[bad]} of {p:,} (the first is 0)",
        fix=fix,
    )


def _outside(places: Array, size: int) -> bool:
    """Tell whether a number is not in [0, size): read without their sign, one pass tells."""
    plain = places.view(places.dtype.str.replace("i", "u"))
    return bool(plain.size) and int(plain.max()) >= size
