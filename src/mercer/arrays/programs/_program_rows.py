"""Rows of data as a tile program takes them: floating numbers, dense or in CSR form.

Rows that are no numbers are an array of objects of one dimension: texts, sets, graphs, series
of different lengths. A program passes them on to the user's functions, as a list.
"""

from collections.abc import Callable, Sequence
from typing import Any

import array_api_compat
import numpy as np

from mercer.arrays._namespace import (
    Array,
    asarray_like,
    binary_exponent,
    is_numpy,
    is_objects,
    is_sparse,
    namespace,
)
from mercer.arrays._sparse_cells import as_csr
from mercer.errors import REFUSALS, InputError, first_line


def count_rows(rows: Any) -> int:
    """Return how many rows there are, of an array, a sparse matrix or a sequence."""
    shape = getattr(rows, "shape", None)
    if shape or hasattr(rows, "__len__"):
        return int(shape[0]) if shape else len(rows)
    raise InputError(
        "a kernel compares rows, in an array or a sequence",
        got=type(rows).__name__,
        fix="pass a table, or a list of what the kernel takes",
    )


def rows_at(rows: Any, part: slice) -> Any:
    """Return some rows of an array, a sparse matrix or a sequence."""
    return rows[part, :] if len(getattr(rows, "shape", ())) == 2 else rows[part]


def given_to(function: Callable[..., Any], *rows: Any) -> Any:
    """Return what a function of the user's makes of rows; it sees objects as a list."""
    return function(*(part.tolist() if is_objects(part) else part for part in rows))


def kernel_rows(rows: Any) -> Array:
    """Return rows as `as_rows` does, and objects as they are."""
    return rows if is_objects(rows) else as_rows(rows)


def as_rows(rows: Any) -> Array:
    """Return rows (n, p) as float32 where they are, and as float64 otherwise.

    Sparse rows come back in CSR form. Nothing is copied that has the right type.
    """
    if is_sparse(rows):
        rows = as_csr(rows)
        return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    if not is_numpy(rows) and not array_api_compat.is_array_api_obj(rows):
        rows = _array_of(rows)
    if len(rows.shape) != 2 and is_numpy(rows) and rows.dtype.kind in "OUS":
        raise InputError(
            "a kernel of numbers needs rows of numbers",
            got=_first(rows),
            fix="turn the rows into numbers by FeatureMap or mapped",
        )
    if len(rows.shape) != 2:
        raise InputError(
            "a kernel of numbers needs a table with rows and columns",
            got=f"an array of shape {tuple(rows.shape)}",
            fix="pass a two-dimensional array; reshape(-1, 1) makes one column",
        )
    if is_numpy(rows):
        if rows.dtype.kind not in "fiub":
            raise InputError(
                "a kernel of numbers needs real numbers",
                got=f"an array of type {rows.dtype}",
                fix="pass numbers, or turn the rows into numbers by FeatureMap or mapped",
            )
        keep = rows.dtype in (np.float32, np.float64)
        return rows if keep else rows.astype(np.float64)
    xp = namespace(rows)
    return rows if rows.dtype in (xp.float32, xp.float64) else xp.astype(rows, xp.float64)


def _array_of(rows: Any) -> Array:
    try:
        return np.asarray(rows)
    except REFUSALS as error:
        raise InputError(
            "a kernel of numbers needs a table with rows and columns",
            got=f"{type(rows).__name__}: {first_line(error)}",
            fix="pass a two-dimensional array",
        ) from None


def _first(rows: Array) -> str:
    """Return the first of some things in words, or the one thing that is there."""
    if not rows.ndim:
        return type(rows.item()).__name__
    if not len(rows):
        return "no rows"
    return f"{type(rows[0]).__name__} {str(rows[0])[:40]!r} in row 0"


def columns_of(rows: Array, columns: tuple[int, ...] | None) -> Array:
    """Return the columns that count; the others are never looked at."""
    if columns is None:
        return rows
    if not hasattr(rows, "shape") or is_objects(rows):
        rows = as_rows(rows)
    width = int(rows.shape[1])
    wrong = [c for c in columns if not -width <= c < width]
    if wrong:
        raise InputError(
            "a kernel looks at a column that is not there",
            got=f"column {wrong[0]}, rows with {width} columns",
            fix="choose columns from 0 to one less than the number of columns",
        )
    places = [c % width for c in columns]
    if is_numpy(rows) or is_sparse(rows):
        return rows[:, places]
    xp = namespace(rows)
    return xp.take(rows, asarray_like(places, rows, xp.int64), axis=1)


def scaled(rows: Array, multipliers: tuple[float, ...] | None) -> Array:
    """Return the rows with every column times its multiplier."""
    if multipliers is None:
        return rows
    if len(multipliers) != int(rows.shape[1]):
        raise InputError(
            "there must be one scale for each column",
            got=f"{len(multipliers)} scales, rows with {int(rows.shape[1])} columns",
            fix="give as many lengthscales as columns, or one number for all",
        )
    if is_sparse(rows):
        from scipy.sparse import diags_array

        return (rows @ diags_array(np.asarray(multipliers, rows.dtype))).tocsr()
    return rows * asarray_like(multipliers, rows)[None, :]


def refuse_negative(rows: Array, kind: str) -> None:
    """Refuse the first number below zero, with its place."""
    xp = namespace(rows)
    if 0 in rows.shape or float(xp.min(rows)) >= 0:
        return
    flat = int(xp.argmax(xp.astype(xp.reshape(rows < 0, (-1,)), xp.int8)))
    row, column = divmod(flat, int(rows.shape[1]))
    raise InputError(
        f"the measure {kind} is defined for numbers that are not negative",
        got=f"{float(rows[row, column]):.6g} in row {row}, column {column}",
        fix="use it on counts, shares or histograms, or choose another kernel",
    )


def refuse_sparse(rows: Array, kind: str) -> None:
    """Refuse sparse rows where a measure would need all the zeros."""
    if is_sparse(rows):
        raise InputError(
            f"the measure {kind} is not defined on sparse rows",
            got=f"a sparse matrix of shape {rows.shape}",
            fix="pass X.toarray(), or a kernel of products or Euclidean distances",
        )


def products(x: Array, y: Array, out: Any) -> Array:
    """Return XYᵀ (r, c) as a dense array, written into `out` where there is one."""
    if is_sparse(x) or is_sparse(y):
        product = x @ y.T
        product = product.toarray() if is_sparse(product) else np.asarray(product)
        if out is None:
            return product
        np.copyto(out, product, casting="same_kind")
        return out
    return x @ y.T if out is None else np.matmul(x, y.T, out=out)


def squares(rows: Array) -> Array:
    """Return ‖x_i‖² of every row as float64 (n,)."""
    if is_sparse(rows):
        wide = rows.astype(np.float64)
        return np.asarray(wide.multiply(wide).sum(axis=1)).ravel()
    if is_numpy(rows):
        return np.asarray(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    xp = namespace(rows)
    wide = xp.astype(rows, xp.float64)
    return xp.sum(wide * wide, axis=1)


def row_sums(rows: Array) -> Array:
    """Return Σ_j x_ij of every row as float64 (n,)."""
    xp = namespace(rows)
    return xp.sum(xp.astype(rows, xp.float64), axis=1)


def unit_rows(rows: Any) -> Array:
    """Return x/‖x‖ for every row, and zero for a row of zeros; no square overflows."""
    rows = as_rows(rows)
    if is_sparse(rows):
        from scipy.sparse import diags_array

        wide = rows.astype(np.float64)
        largest = abs(wide).max(axis=1).toarray().ravel()
        unit = np.ldexp(1.0, -np.frexp(np.where(largest > 0, largest, 1.0))[1])
        wide = (diags_array(unit) @ wide).tocsr()
        norms = np.sqrt(squares(wide))
        inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
        return (diags_array(inverse) @ wide).tocsr().astype(rows.dtype)
    xp = namespace(rows)
    if 0 in rows.shape:
        return rows
    largest = xp.max(xp.abs(rows), axis=1, keepdims=True)
    rows = rows / xp.where(largest > 0, largest, xp.ones_like(largest))
    norms = xp.astype(xp.sqrt(squares(rows)), rows.dtype)[:, None]
    return rows / xp.where(norms > 0, norms, xp.ones_like(norms))


def row_norms(rows: Any) -> Array:
    """Return ‖x‖ for every row, float64 (n,)."""
    rows = as_rows(rows)
    xp = namespace(rows) if not is_sparse(rows) else np
    return xp.sqrt(squares(rows))


def not_zero(rows: Any) -> Array:
    """Return 1 for every row that has a direction and 0 for a row of zeros, (n,)."""
    rows = as_rows(rows)
    if is_sparse(rows):
        return np.asarray(abs(rows).sum(axis=1) > 0, dtype=rows.dtype).ravel()
    xp = namespace(rows)
    return xp.astype(xp.any(rows != 0, axis=1), rows.dtype)


def unit_exponent(rows: Array) -> int:
    """Return the binary exponent of the largest modulus; refuse what is not finite."""
    if is_sparse(rows):
        rows = rows.data[None, :]
    if 0 in rows.shape:
        return 0
    xp = namespace(rows)
    largest = max(float(xp.max(rows)), -float(xp.min(rows)))
    if not np.isfinite(largest):
        raise InputError(
            "distances between these rows are not finite numbers",
            got="a missing or infinite value, or differences past 1.8e308",
            fix="remove such rows, or divide the data by their largest value",
        )
    return binary_exponent(largest)


def stacked(parts: Sequence[Array]) -> Array:
    """Return rows, all dense or all sparse, one below the other; one part is itself."""
    if len(parts) == 1:
        return parts[0]
    if is_sparse(parts[0]):
        import scipy.sparse

        return scipy.sparse.vstack(parts, format="csr")
    return np.concatenate(parts)
