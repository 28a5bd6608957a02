"""Few rows for many: samples that stand for all, equal rows as one, rows of either kind."""

import hashlib
from collections.abc import Hashable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from mercer.arrays import Array, Tiles, is_objects, is_sparse

OTHERS = 0.03  # share of a sample below which other rows than its commonest are too few
_CELLS = 1e6  # that are compared at a time
_BLOCK = 2048  # rows that are looked at together


def spread_evenly(n: int, weights: Array | None, most: int) -> Array:
    """Return at most `most` row numbers, evenly spaced among rows repeated w times."""
    if weights is None:
        return np.arange(0, n, max(1, -(-n // most)))
    ends = np.cumsum(weights)
    step: float = max(1, -(-int(np.ceil(ends[-1])) // most))
    rows = int(np.count_nonzero(weights))
    if ends[-1] < rows:  # fractions: rows that count little are still rows to look at
        step = ends[-1] / min(rows, most)
    at = np.searchsorted(ends, np.arange(0.0, ends[-1], step), side="right")
    return at[at < n]


def stand_ins(rows: Array, weights: Array | None, most: int) -> tuple[Array, Array | None]:
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


def _unlike(rows: Array, one: int) -> Array:
    """Return which rows (n,) differ from row `one`."""
    if is_objects(rows):
        keys = [*_keys(rows)]
        return np.array([key != keys[one] for key in keys])
    n, p = rows.shape
    if is_sparse(rows):
        return _unlike_stored(rows, one)
    found = np.empty(n, bool)
    for part in Tiles(n, max(1, int(_CELLS // max(p, 1)))):
        found[part] = np.any(rows[part] != rows[one], axis=1)
    return found


def _unlike_stored(rows: Array, one: int) -> Array:
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


def twins(rows: Array) -> tuple[Array, Array] | None:
    """Return the first of each set of equal rows (m,) and the set of every row (n,).

    None where all rows differ. Sets are in the order of their first rows.
    """
    n = int(rows.shape[0])
    seen, sets, first = dict[Hashable, int](), np.empty(n, np.int64), list[int]()
    for row, key in enumerate(_keys(rows)):
        found = sets[row] = seen.setdefault(key, len(seen))
        if found == len(first):
            first.append(row)
    return None if len(first) == n else (np.array(first), sets)


def _keys(rows: Array) -> Iterator[Hashable]:
    """Yield what equal rows have in common; objects that are no keys equal themselves only."""
    if is_objects(rows):
        yield from (thing if _is_key(thing) else id(thing) for thing in rows)
        return
    if is_sparse(rows):
        rows = rows if rows.has_sorted_indices else rows.sorted_indices()
        for start, end in pairwise(rows.indptr.tolist()):
            cells, columns = rows.data[start:end], rows.indices[start:end]
            there = cells != 0  # a zero that is stored is no other zero
            yield _digest(columns[there].tobytes() + cells[there].tobytes())
        return
    for part in Tiles(int(rows.shape[0]), _BLOCK):
        block = np.ascontiguousarray(dense(rows[part])) + 0.0  # -0 is 0
        yield from map(_digest, block)


def _digest(cells: Any) -> bytes:
    return hashlib.blake2b(cells, digest_size=16).digest()


def _is_key(thing: Any) -> bool:
    try:
        hash(thing)
    except TypeError:
        return False
    return True


def added_up(values: Array, sets: Array, count: int) -> Array:
    """Return the sums (count, …) of `values` (n, …) over each set."""
    out = np.zeros((count, *values.shape[1:]))
    np.add.at(out, sets, values)
    return out


def dense(rows: Array) -> Array:
    """Return rows as a dense float64 array."""
    found = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.asarray(found, np.float64)
