"""Matrices whose spectrum is known: exactly, as prescribed, or to extra digits.

`dyadic_symmetric` and `dyadic_rows` have eigenvalues known without any error, because every
entry is an exact sum of ±λ_i/n with n a power of two. `symmetric` and `rectangular` are turned
by random rotations and rounded. `lapack` gives the 21 symmetric types of LAPACK's own tests.
`singular_values` and `eigenvalues` find the truth of any small matrix in extended precision.
"""

from typing import Any

import numpy as np

from mercer.errors import InputError
from mercer.testing._jacobi import eigenvalues, singular_values
from mercer.testing._lapack import LAPACK_TYPES, lapack

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
