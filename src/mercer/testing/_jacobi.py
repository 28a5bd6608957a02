"""Singular values to extra digits, by Jacobi's rotations in extended precision."""

from typing import Any

import numpy as np

LongArray = np.ndarray[Any, np.dtype[np.longdouble]]
_MOST_SWEEPS = 40


def singular_values(a: Any) -> LongArray:
    """Return the singular values (min(n, p),) of a small matrix, descending, as longdouble.

    One-sided Jacobi [Demmel1992]_: columns are rotated in pairs until all are orthogonal; their
    norms are the singular values, each with a small relative error where the columns are
    graded. Eighteen digits where longdouble has 80 bits; cost about 6·n·p² per sweep.

    Parameters
    ----------
    a : array of shape (n, p)
        The matrix, of any precision; it is taken as exact.

    Examples
    --------
    >>> [float(s) for s in singular_values(np.diag([1e-30, 3.0, 2.0]))]
    [3.0, 2.0, 1e-30]
    """
    work = np.array(a, dtype=np.longdouble)
    work = work.T.copy() if work.shape[0] < work.shape[1] else work
    largest = np.max(np.abs(work), initial=0.0)
    if largest == 0:
        return np.zeros(work.shape[1], np.longdouble)
    unit = np.frexp(largest)[1]
    work = _nearly_orthogonal(np.ldexp(work, -unit))
    for _ in range(_MOST_SWEEPS):
        if _sweep(work) <= 4 * np.finfo(np.longdouble).eps * work.shape[1] ** 0.5:
            break
    norms = np.sqrt(np.sum(work**2, axis=1))
    return np.asarray(np.ldexp(np.sort(norms)[::-1], unit))


def eigenvalues(a: Any) -> LongArray:
    """Return the eigenvalues (p,) of a small symmetric matrix, descending, as longdouble.

    They are the singular values of A + cI less c, with c ≥ ‖A‖: accurate to about
    eps·‖A‖ of the longdouble type.

    Parameters
    ----------
    a : array of shape (p, p)
        A symmetric matrix.

    Examples
    --------
    >>> [float(x) for x in eigenvalues([[0.0, 2.0], [2.0, 0.0]])]
    [2.0, -2.0]
    """
    a = np.array(a, dtype=np.longdouble)
    unit = np.frexp(np.max(np.abs(a), initial=0.0))[1]
    a = np.ldexp(a, -unit)
    shift = np.max(np.sum(np.abs(a), axis=1), initial=0.0)
    shifted = a + shift * np.eye(len(a), dtype=np.longdouble)
    return np.asarray(np.ldexp(singular_values(shifted) - shift, unit))


def _nearly_orthogonal(work: LongArray) -> LongArray:
    """Return (AV)ᵀ with V from float64: a rotation that saves most of the sweeps."""
    _, _, vt = np.linalg.svd(work.astype(np.float64), full_matrices=False)
    v = vt.T.astype(np.longdouble)
    for _ in range(3):  # Newton and Schulz: orthogonal to the last bit of longdouble
        v = v @ (3 * np.eye(v.shape[1], dtype=np.longdouble) - v.T @ v) / 2
    return np.ascontiguousarray((work @ v).T)


def _sweep(rows: LongArray) -> float:
    """Rotate every pair of rows once, in place; return the largest cosine met."""
    p = len(rows)
    seats = list(range(p + p % 2))  # a seat equal to p is empty
    half, worst = len(seats) // 2, 0.0
    for _ in range(len(seats) - 1):
        pairs = zip(seats[:half], reversed(seats[half:]), strict=True)
        played = np.array([pair for pair in pairs if max(pair) < p])
        if played.size:
            worst = max(worst, _rotate(rows, played[:, 0], played[:, 1]))
        seats = [seats[0], seats[-1], *seats[1:-1]]  # a round-robin tournament
    return worst


def _rotate(rows: LongArray, left: Any, right: Any) -> float:
    """Make the two rows of each pair orthogonal; return the largest cosine before."""
    x, y = rows[left], rows[right]
    a, b, g = np.sum(x * x, axis=1), np.sum(y * y, axis=1), np.sum(x * y, axis=1)
    size = np.sqrt(a) * np.sqrt(b)
    cosine = np.abs(g) / np.where(size > 0, size, 1)
    turn = cosine > np.finfo(np.longdouble).eps
    if turn.any():
        x, y, a, b, g = x[turn], y[turn], a[turn], b[turn], g[turn]
        zeta = (b - a) / (2 * g)
        t = np.where(zeta < 0, -1, 1) / (np.abs(zeta) + np.sqrt(1 + zeta**2))
        t = t[:, None]
        c = 1 / np.sqrt(1 + t**2)
        rows[left[turn]], rows[right[turn]] = c * (x - t * y), c * (y + t * x)
    return float(np.max(cosine))
