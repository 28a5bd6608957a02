"""The rows that settle a kernel: drawn by weight, or one row and a sample of the others."""

from typing import Any

import numpy as np

from mercer.arrays import Array, Tiles, is_sparse
from mercer.estimators.kernel._kernel_rows import spread_evenly
from mercer.estimators.kernel._row_weights import twins

OTHERS = 0.03  # share of a sample below which other rows than its commonest are too few
_CELLS = 1e6  # that are compared at a time


def stand_ins(rows: Any, weights: Array | None, most: int) -> tuple[Array, Array | None]:
    """Return the numbers (m,) of rows that stand for all, m ≤ `most`, and their weights.

    They are evenly spaced among rows repeated w times, and count alike (None). Where nearly
    all of those are one row, too few others would be left, or none: then that row is taken
    once, with the weight of all rows equal to it, and the other places go to rows that differ
    from it. Repeats and weights give the same.

    Parameters
    ----------
    rows : array or CSR matrix of shape (n, p)
        All rows.
    weights : ndarray of shape (n,) or None
        Repeat counts.
    most : int
        Places.
    """
    n = int(rows.shape[0])
    at = spread_evenly(n, weights, most)
    alike = None if weights is None and len(at) == n else twins(rows[at])
    if alike is None:
        return at, None
    first, sets = alike
    sizes = np.bincount(sets)
    if len(at) - sizes.max() >= OTHERS * len(at):
        return at, None
    one = int(at[first[np.argmax(sizes)]])
    counts, apart = np.ones(n) if weights is None else weights, _unlike(rows, one)
    others = np.where(apart, counts, 0.0)
    total = float(others.sum())
    if total == 0:
        return at, None
    drawn = spread_evenly(n, others, most - 1)
    heavy = float(counts[~apart].sum()) * (len(drawn) / total)
    return np.append(one, drawn), np.append(heavy, np.ones(len(drawn)))


def _unlike(rows: Any, one: int) -> Array:
    """Return which rows (n,) differ from row `one`."""
    n, p = rows.shape
    if is_sparse(rows):
        return _unlike_stored(rows, one)
    found, tiles = np.empty(n, bool), Tiles(n, max(1, int(_CELLS // max(p, 1))))
    for number in range(len(tiles)):
        found[tiles[number]] = np.any(rows[tiles[number]] != rows[one], axis=1)
    return found


def _unlike_stored(rows: Any, one: int) -> Array:
    """Return the same of CSR rows from what is stored: those that store other cells differ."""
    kept = slice(rows.indptr[one], rows.indptr[one + 1])
    width = kept.stop - kept.start
    found = np.diff(rows.indptr) != width
    same = np.flatnonzero(~found)
    cells = rows.indptr[same, None] + np.arange(width)
    found[same] = np.any(
        (rows.indices[cells] != rows.indices[kept]) | (rows.data[cells] != rows.data[kept]),
        axis=1,
    )
    return found
