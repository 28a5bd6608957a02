"""Matrices whose spectrum is known: exactly, as prescribed, or to extra digits.

`dyadic_symmetric` and `dyadic_rows` have eigenvalues known without any error, because every
entry is an exact sum of ±λ_i/n with n a power of two. `symmetric` and `rectangular` are turned
by random rotations and rounded. `lapack` gives the 21 symmetric types of LAPACK's own tests.
`singular_values` and `eigenvalues` find the truth of any small matrix in extended precision.

Singular values to extra digits, by Jacobi's rotations in extended precision.

The 21 types of symmetric matrices on which LAPACK tests its own eigensolvers (sep.in).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.errors import InputError

__all__ = [
    "LAPACK_TYPES",
    "dyadic_rows",
    "dyadic_symmetric",
    "eigenvalues",
    "lapack",
    "rectangular",
    "rotation",
    "singular_values",
    "spectra",
    "symmetric",
]


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


SymmetricMatrix = np.ndarray[Any, np.dtype[np.float64]]

_ULP = float(np.finfo(np.float64).eps)
_HUGE = 2.0**511  # √(overflow threshold), as a power of two so that scaling is exact
_TINY = 2.0**-511  # √(underflow threshold)


def _even(order: int) -> SymmetricMatrix:
    """1 … ULP, evenly spaced."""
    return np.linspace(1.0, _ULP, order)


def _geometric(order: int) -> SymmetricMatrix:
    """1 … ULP, geometrically spaced."""
    return np.geomspace(1.0, _ULP, order) if order > 1 else np.ones(1)


def _clustered(order: int) -> SymmetricMatrix:
    """1, ULP, …, ULP."""
    return np.where(np.arange(order) == 0, 1.0, _ULP)


_Spacing = Callable[[int], SymmetricMatrix]
# number: (words, spacing or None, how it is turned, signs drawn, scale)
_RECIPES: dict[int, tuple[str, _Spacing | None, str, bool, float]] = {
    1: ("zero", None, "zero", False, 1.0),
    2: ("identity", None, "identity", False, 1.0),
    3: ("diagonal, even", _even, "diagonal", True, 1.0),
    4: ("diagonal, geometric", _geometric, "diagonal", True, 1.0),
    5: ("diagonal, clustered", _clustered, "diagonal", True, 1.0),
    6: ("diagonal, geometric, near overflow", _geometric, "diagonal", True, _HUGE),
    7: ("diagonal, geometric, near underflow", _geometric, "diagonal", True, _TINY),
    8: ("turned, even", _even, "turned", True, 1.0),
    9: ("turned, geometric", _geometric, "turned", True, 1.0),
    10: ("turned, clustered", _clustered, "turned", True, 1.0),
    11: ("turned, even, near overflow", _even, "turned", True, _HUGE),
    12: ("turned, even, near underflow", _even, "turned", True, _TINY),
    13: ("random entries", None, "random", False, 1.0),
    14: ("random entries, near overflow", None, "random", False, _HUGE),
    15: ("random entries, near underflow", None, "random", False, _TINY),
    16: ("turned, even, positive", _even, "turned", False, 1.0),
    17: ("turned, geometric, positive", _geometric, "turned", False, 1.0),
    18: ("turned, clustered, positive", _clustered, "turned", False, 1.0),
    19: ("turned, even, positive, near overflow", _even, "turned", False, _HUGE),
    20: ("turned, even, positive, near underflow", _even, "turned", False, _TINY),
    21: ("tridiagonal, dominant geometric diagonal", _geometric, "tridiagonal", False, 1.0),
}

LAPACK_TYPES: dict[int, str] = {number: recipe[0] for number, recipe in _RECIPES.items()}


def lapack(number: int, order: int, seed: int = 0) -> SymmetricMatrix:
    """Return the symmetric matrix (order, order) of one of LAPACK's 21 types.

    Spectra run from 1 to ULP = 2^-52: evenly, geometrically or clustered at ULP; diagonal
    or turned by a random rotation; with random signs or positive; some multiplied by the
    square root of the overflow or underflow threshold. `LAPACK_TYPES` names them.

    Parameters
    ----------
    number : int
        1 to 21, the numbering of LAPACK's test program.
    order : int
        Rows and columns, at least 1.
    seed : int
        Start of the random numbers.

    Examples
    --------
    >>> LAPACK_TYPES[5], lapack(5, 3).shape
    ('diagonal, clustered', (3, 3))
    """
    if number not in _RECIPES or order < 1:
        raise InputError(
            "there is no such matrix",
            got=f"number={number!r}, order={order!r}",
            fix="pass a number from 1 to 21 and an order of at least 1",
        )
    _, spacing, way, signed, scale = _RECIPES[number]
    rng = np.random.default_rng([seed, number, order])
    values = np.ones(order) if spacing is None else spacing(order)
    if signed:
        values = values * rng.choice([-1.0, 1.0], order)
    return np.asarray(_MAKERS[way](values, rng) * scale)


def _turned(values: SymmetricMatrix, rng: np.random.Generator) -> SymmetricMatrix:
    q, r = np.linalg.qr(rng.standard_normal((len(values), len(values))))
    q = q * np.where(np.diagonal(r) < 0, -1.0, 1.0)
    a = (q * values) @ q.T
    return np.asarray((a + a.T) / 2)


def _random(values: SymmetricMatrix, rng: np.random.Generator) -> SymmetricMatrix:
    upper = np.triu(rng.uniform(-1.0, 1.0, (len(values), len(values))))
    return np.asarray(upper + np.triu(upper, 1).T)


def _tridiagonal(values: SymmetricMatrix, rng: np.random.Generator) -> SymmetricMatrix:
    """Geometric diagonal; off-diagonals below half the mean of their two neighbours."""
    beside = rng.uniform(-1.0, 1.0, len(values) - 1)
    beside *= 0.5 * np.sqrt(values[:-1] * values[1:])
    return np.asarray(np.diag(values) + np.diag(beside, 1) + np.diag(beside, -1))


_MAKERS: dict[str, Callable[[SymmetricMatrix, np.random.Generator], SymmetricMatrix]] = {
    "zero": lambda values, _: np.zeros((len(values), len(values))),
    "identity": lambda values, _: np.eye(len(values)),
    "diagonal": lambda values, _: np.diag(values),
    "turned": _turned,
    "random": _random,
    "tridiagonal": _tridiagonal,
}


FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def rotation(order: int, seed: int = 0) -> FloatArray:
    """Return a random orthogonal matrix (order, order), uniform over all of them.

    Examples
    --------
    >>> q = rotation(5)
    >>> bool(np.allclose(q.T @ q, np.eye(5), atol=1e-14))
    True
    """
    gaussian = np.random.default_rng([seed, order]).standard_normal((order, order))
    q, r = np.linalg.qr(gaussian)
    return np.asarray(q * np.where(np.diagonal(r) < 0, -1.0, 1.0))


def symmetric(values: Any, seed: int = 0) -> FloatArray:
    """Return A = Q diag(values) Qᵀ (p, p) with random Q; rounding moves λ by about eps·‖A‖.

    Parameters
    ----------
    values : array of shape (p,)
        The eigenvalues, in any order.
    seed : int
        Start of the random numbers.

    Examples
    --------
    >>> np.linalg.eigvalsh(symmetric([3.0, 2.0, 1.0])).round(12)
    array([1., 2., 3.])
    """
    values = np.asarray(values, np.float64)
    q = rotation(len(values), seed)
    a = (q * values) @ q.T
    return np.asarray((a + a.T) / 2)


def rectangular(values: Any, shape: tuple[int, int], seed: int = 0) -> FloatArray:
    """Return A = U diag(values) Vᵀ of `shape` with random orthonormal U and V.

    Parameters
    ----------
    values : array of shape (r,)
        The singular values, r ≤ min(shape); the others are zero.
    shape : tuple of int
        Rows and columns.
    seed : int
        Start of the random numbers.

    Examples
    --------
    >>> a = rectangular([2.0, 1.0], (4, 3))
    >>> a.shape, np.linalg.svd(a, compute_uv=False)[:2].round(12).tolist()
    ((4, 3), [2.0, 1.0])
    """
    values = np.asarray(values, np.float64)
    r = len(values)
    left, right = rotation(shape[0], seed), rotation(shape[1], seed + 1)
    return np.asarray((left[:, :r] * values) @ right[:, :r].T)


def dyadic_symmetric(values: Any, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return A (p, p) with exactly these eigenvalues, and signs S with A = S diag(values) Sᵀ/p.

    S/√p is orthogonal and S holds ±1 only (a Hadamard matrix), so A is written without
    rounding: a certified interval can be compared with the truth itself.

    Parameters
    ----------
    values : array of shape (p,)
        Eigenvalues with few bits, p a power of two. On a common grid of 2^-s the sum of
        their moduli must have fewer than 53 bits.
    seed : int
        Start of the random numbers that permute and flip S.

    Examples
    --------
    >>> a, s = dyadic_symmetric([4.0, 1.0])
    >>> (s @ np.diag([4.0, 1.0]) @ s.T / 2 == a).all()
    np.True_
    """
    values = _on_a_grid(values)
    p = len(values)
    signs = _signs(p, p, seed)
    return np.asarray((signs * values) @ signs.T / p), signs


def dyadic_rows(
    values: Any, shape: tuple[int, int], seed: int = 0, *, centred: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return A (n, p) with exactly these singular values, and S (p, r): V = S/√p.

    Parameters
    ----------
    values : array of shape (r,)
        Singular values with few bits, as for `dyadic_symmetric`; the others are zero.
    shape : tuple of int
        Powers of two whose product is a power of four.
    seed : int
        Start of the random numbers.
    centred : bool
        Whether every column must sum to zero exactly; then r < n.

    Examples
    --------
    >>> a, s = dyadic_rows([6.0, 2.0], (8, 2), centred=True)
    >>> a.sum(axis=0).tolist(), np.linalg.svd(a, compute_uv=False).round(12).tolist()
    ([0.0, 0.0], [6.0, 2.0])
    """
    values = _on_a_grid(values)
    (n, p), r = shape, len(values)
    size = round(np.sqrt(n * p))
    if size * size != n * p or r > min(n - centred, p):
        raise InputError(
            "this shape cannot hold these singular values exactly",
            got=f"shape={shape}, {r} values, centred={centred}",
            fix="take powers of two whose product is a power of four, and fewer values",
        )
    # The column of ones is left out of the left factor: all its others sum to zero.
    left = _signs(n, n, seed, flip_rows=not centred)
    constant = int(np.argmax(np.abs(left.sum(axis=0))))
    left = np.delete(left, constant, axis=1) if centred else left
    right = _signs(p, p, seed + 1)
    return np.asarray((left[:, :r] * values) @ right[:, :r].T / size), right[:, :r]


def spectra(order: int) -> dict[str, FloatArray]:
    """Return spectra (order,) that try a solver, by name; all are exact on a dyadic grid.

    Examples
    --------
    >>> sorted(spectra(8))
    ['clustered', 'even', 'flat', 'graded', 'low rank', 'pairs', 'repeated', 'zero']
    """
    i = np.arange(order)
    half = order // 2
    return {
        "even": (order - i).astype(np.float64),
        "graded": 2.0 ** -np.minimum(i, 40),
        "clustered": np.where(i < half, 1.0 - i * 2.0**-30, 2.0**-10),
        "repeated": np.where(i < max(1, order // 4), 3.0, 1.0),
        "pairs": (order - i // 2 * 2).astype(np.float64),
        "low rank": np.where(i < max(1, order // 4), (order - i).astype(np.float64), 0.0),
        "flat": np.ones(order),
        "zero": np.zeros(order),
    }


def _signs(rows: int, columns: int, seed: int, *, flip_rows: bool = True) -> FloatArray:
    """Return columns of a Hadamard matrix of order `rows`, permuted and flipped."""
    if rows < 1 or rows & (rows - 1):
        raise InputError(
            "an exact matrix has orders that are powers of two",
            got=f"order {rows}",
            fix="take 1, 2, 4, 8, …; or `symmetric` or `rectangular`, which are rounded",
        )
    h = np.ones((1, 1))
    while len(h) < rows:
        h = np.block([[h, h], [h, -h]])
    rng = np.random.default_rng([seed, rows])
    h = h[rng.permutation(rows)][:, rng.permutation(rows)[:columns]]
    if flip_rows:
        h = h * rng.choice([-1.0, 1.0], rows)[:, None]
    return np.asarray(h * rng.choice([-1.0, 1.0], columns)[None, :])


def _on_a_grid(values: Any) -> FloatArray:
    """Return the values if all sums of ±values are exact in float64, else refuse them."""
    values = np.array(values, np.float64)
    mantissa, exponent = np.frexp(values[values != 0])
    bits = np.ldexp(mantissa, 53).astype(np.int64)
    trailing = np.log2((bits & -bits).astype(np.float64)) if bits.size else np.zeros(0)
    step = float(np.min(exponent - 53 + trailing, initial=0.0)) if bits.size else 0.0
    if np.sum(np.abs(np.ldexp(values, -int(step)))) >= 2.0**53:
        raise InputError(
            "these values cannot be summed without rounding",
            got=f"{values.tolist() if values.size <= 8 else f'{values.size} values'}",
            fix="round them to fewer bits, or use `symmetric` or `rectangular`",
        )
    return np.asarray(values)
