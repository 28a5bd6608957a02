"""Loops over rows with missing cells, in the form that Numba compiles.

Rows are taken a group at a time: their small systems are solved side by side, each entry a
vector over the rows of the group. Arrays are indexed, never cut: a slice costs as much as a
dozen cells. Places of cells are unsigned: machine code need not ask if they count from the
end.
"""

import numpy as np

from mercer.arrays import Array

_GROUP = 32  # rows: few enough to stay in the nearest cache


def complete_rows(
    block: Array,
    shift: Array,
    factor: Array,
    loadings: Array,
    pairs: Array,
    whole: Array,
    back: bool,
    out: Array,
) -> None:
    """Write rows (r, p) to `out` with their missing cells filled by what is expected of them.

    With y = (x - mean)·f, a row solves (s²I + W_oᵀW_o) u = W_oᵀy_o, where W_oᵀW_o is WᵀW
    less the products of its missing cells; these are Wu, or mean + Wu/f.

    Parameters
    ----------
    block : ndarray of shape (r, p)
        x, NaN where a cell is missing.
    shift, factor : ndarray of shape (p,)
        Mean and f.
    loadings : ndarray of shape (p, k)
        W.
    pairs : ndarray of shape (p + 1, q)
        W_a∘W_b, a ≤ b, and a row of zeros; q ≥ k(k+1)/2, what is beyond is not used.
    whole : ndarray of shape (q,)
        s²I + WᵀW.
    back : bool
        Whether rows are written as x, in the bits they have, and not as y.
    out : ndarray of shape (r, p)
        What is written.
    """
    r, p = block.shape
    k, q = loadings.shape[1], pairs.shape[1]
    across = loadings.T.copy()
    y, flags = np.zeros(p), np.zeros(p, np.int32)
    gaps, count = np.zeros((_GROUP, p + 4), np.uint32), np.zeros(_GROUP, np.int64)
    matrix, inner = np.zeros((q, _GROUP)), np.zeros((k, _GROUP))
    left, u = np.zeros(q), np.zeros(k)
    for start in range(0, r, _GROUP):
        rows = min(_GROUP, r - start)
        for i in range(rows):
            count[i] = _analyse(block, start + i, shift, factor, y, flags, gaps, i)
            if back:
                for j in range(p):
                    out[start + i, j] = block[start + i, j]
            else:
                for j in range(p):
                    out[start + i, j] = y[j]
            _take_away(whole, pairs, gaps, i, count[i], left)
            for a in range(q):
                matrix[a, i] = left[a]
            for a in range(k):
                total = 0.0
                for j in range(p):
                    total += across[a, j] * y[j]
                inner[a, i] = total
        _solve(matrix, inner, rows)
        for i in range(rows):
            _put(out, start + i, gaps, i, count[i], loadings, inner, shift, factor, back, u)


def _analyse(
    block: Array,
    row: int,
    shift: Array,
    factor: Array,
    y: Array,
    flags: Array,
    gaps: Array,
    i: int,
) -> int:
    """Write y, zero where a cell is missing, and the places of those; return how many.

    Four places p follow them: a cell that is nothing.
    """
    for j in range(len(y)):
        value = (block[row, j] - shift[j]) * factor[j]
        seen = value == value
        y[j] = value if seen else 0.0
        flags[j] = 0 if seen else 1
    found = np.uint32(0)
    for j in range(len(y)):  # no branch: on random gaps it would be guessed wrongly
        gaps[i, found] = j
        found += np.uint32(flags[j])
    for t in range(4):
        gaps[i, found + np.uint32(t)] = len(y)
    return int(found)


def _take_away(
    whole: Array, pairs: Array, gaps: Array, i: int, count: int, left: Array
) -> None:
    """Write `whole` less the pairs of the missing cells, four at a time: each waits less."""
    for a in range(len(left)):
        left[a] = whole[a]
    for t in range(0, count, 4):
        c, d = np.uint64(gaps[i, t]), np.uint64(gaps[i, t + 1])
        e, f = np.uint64(gaps[i, t + 2]), np.uint64(gaps[i, t + 3])
        for a in range(len(left)):
            left[a] -= (pairs[c, a] + pairs[d, a]) + (pairs[e, a] + pairs[f, a])


def _solve(matrix: Array, u: Array, group: int) -> None:
    """Solve for u (k, g) in its place; `matrix` (k(k+1)/2, g) becomes its Cholesky factors.

    The first `group` of g systems are solved. Packed by columns of the lower triangle, as in
    `_cholesky`; 1/L_jj on the diagonal.
    """
    k, at = len(u), 0
    for j in range(k):
        for g in range(group):
            matrix[at, g] = 1.0 / np.sqrt(matrix[at, g])
            u[j, g] *= matrix[at, g]
        below = at + k - j
        for i in range(at + 1, at + k - j):
            for g in range(group):
                matrix[i, g] *= matrix[at, g]
                u[j + i - at, g] -= matrix[i, g] * u[j, g]
        for i in range(at + 1, at + k - j):
            for h in range(i, at + k - j):
                for g in range(group):
                    matrix[below, g] -= matrix[h, g] * matrix[i, g]
                below += 1
        at += k - j
    for j in range(k - 1, -1, -1):
        at -= k - j
        for i in range(1, k - j):
            for g in range(group):
                u[j, g] -= matrix[at + i, g] * u[j + i, g]
        for g in range(group):
            u[j, g] *= matrix[at, g]


def _put(
    out: Array,
    row: int,
    gaps: Array,
    i: int,
    count: int,
    loadings: Array,
    inner: Array,
    shift: Array,
    factor: Array,
    back: bool,
    u: Array,
) -> None:
    """Write Wu, or mean + Wu/f, to the missing cells of one row; an infinite cell tells 0."""
    total = 0.0
    for a in range(len(u)):
        u[a] = inner[a, i]
        total += u[a]
    if not np.isfinite(total):
        u[:] = 0.0
    for t in range(count):
        j = np.uint64(gaps[i, t])
        value = 0.0
        for a in range(len(u)):
            value += loadings[j, a] * u[a]
        out[row, j] = value / factor[j] + shift[j] if back else value


def look_at(block: Array, counts: Array, low: Array, high: Array, empty: Array) -> int:
    """Count missing cells per column and find the range of the others; look for empty rows.

    Parameters
    ----------
    block : ndarray of shape (r, p)
        Rows, NaN where a cell is missing.
    counts : ndarray of int of shape (p,)
        Added to.
    low, high : ndarray of shape (p,)
        Least and largest cell so far.
    empty : ndarray of int of shape (r,)
        Begins with the numbers of the rows without a cell, of which the count is returned.
    """
    r, p = block.shape
    found = 0
    for i in range(r):
        gaps = 0
        for j in range(p):
            x = block[i, j]
            gap = 0 if x == x else 1
            counts[j] += gap
            gaps += gap
            low[j] = x if x < low[j] else low[j]
            high[j] = x if x > high[j] else high[j]
        if gaps == p:
            empty[found] = i
            found += 1
    return found
