"""How many axes kernel PCA keeps by itself: some rows beside shuffled ones, before the fit."""

import dataclasses
import warnings

import numpy as np

from mercer.arrays import Array, is_objects
from mercer.errors import DataWarning, MercerError
from mercer.estimators.kernel._row_samples import stand_ins
from mercer.estimators.linear.pca import PCA
from mercer.kernels import Kernel, Linear, Precomputed
from mercer.planning import shuffled_rows
from mercer.selection import (
    Choice,
    beyond_shuffled,
    choice_by_matrix,
    choice_by_shuffling,
    kernel_shares,
)

_DRAWS = (9, 30)  # shuffled tables; the second part only if the first leaves a doubt
_LINEAR = 2000  # rows of a part of a table, for the linear kernel
_MATRIX = 1000  # rows and columns of a part of a given matrix


def quiet_choice(
    kernel: Kernel, rows: Array, weights: Array | None, count: int, seed: int
) -> Choice:
    """Return `choice_on` these rows; what is odd about them is said when a model is made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return choice_on(kernel, rows, weights, count, seed)


def choice_on(
    kernel: Kernel, rows: Array, weights: Array | None, count: int, seed: int
) -> Choice:
    """Return how many axes of a kernel are beyond noise, from some rows.

    Tables with shuffled columns decide: 9 at first, 30 more if the rows stand out from those.
    One column has nothing to be shuffled against: normal columns take its place. A matrix
    that is given, and a kernel that shuffled rows are not made for, have the edge of white
    noise; the linear kernel has the stepwise edge.

    Parameters
    ----------
    kernel : Kernel
        With numbers for parameters.
    rows : array or CSR array of shape (n, p)
        Rows as the kernel sees them.
    weights : ndarray of shape (n,) or None
        Repeat counts: rows are chosen by them.
    count : int
        How many rows these stand for.
    seed : int
        Of the shuffles.
    """
    if is_objects(rows):  # they have no columns that could be shuffled
        at = _some(rows, weights, _MATRIX)
        return choice_by_matrix(kernel_shares(kernel.block(rows[at])), _seen(len(at), count))
    n, p = rows.shape
    if isinstance(kernel, Precomputed):
        at = _some(rows, weights, _MATRIX)
        block = rows[at][:, at]
        block = block.toarray() if hasattr(block, "toarray") else block
        return choice_by_matrix(kernel_shares(block), _seen(len(at), count))
    if isinstance(kernel, Linear):
        at = _some(rows, weights, _LINEAR)
        found: Choice = PCA("auto", random_state=seed).fit(rows[at]).choice_
        return dataclasses.replace(found, seen=_seen(len(at), count))
    at = _some(rows, weights, shuffled_rows(n, p))
    table = _wide(rows[at])
    own = kernel_shares(kernel.block(table))
    seen, rng = _seen(len(at), count), np.random.default_rng([seed, 9])
    drawn: list[Array] = []
    try:
        for draws in _DRAWS:
            drawn += [kernel_shares(kernel.block(_null(table, rng))) for _ in range(draws)]
            found_k = beyond_shuffled(own, np.array(drawn))
            if found_k.k == 0:
                break
    except MercerError:  # such as rows that must add up to one
        return choice_by_matrix(own, seen)
    how = "shuffled columns" if p > 1 else "normal values"
    return choice_by_shuffling(own, found_k, how, seen)


def _null(table: Array, rng: np.random.Generator) -> Array:
    """Return a table with every column shuffled on its own, or one normal column."""
    if table.shape[1] == 1:
        column = np.asarray(table.toarray() if hasattr(table, "toarray") else table)
        return column.mean() + column.std(ddof=1) * rng.standard_normal(column.shape)
    if not hasattr(table, "tocsc"):
        return rng.permuted(table, axis=0)
    found = table.tocsc(copy=True)
    ends = found.indptr
    for j in np.flatnonzero(np.diff(ends)):
        stored = slice(ends[j], ends[j + 1])
        found.indices[stored] = rng.permutation(table.shape[0])[: ends[j + 1] - ends[j]]
    found.has_sorted_indices = False
    return found.tocsr()


def _some(rows: Array, weights: Array | None, most: int) -> Array:
    """Return row numbers, evenly spread among rows repeated w times, none of them twice."""
    if weights is not None:
        return np.unique(stand_ins(rows, weights, most)[0])
    n = int(rows.shape[0])
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.int64)


def _wide(rows: Array) -> Array:
    return rows.astype(np.float64) if rows.dtype == np.float32 else rows


def _seen(some: int, count: int) -> str:
    return f"all {count:,} rows" if some == count else f"{some:,} of {count:,} rows"
