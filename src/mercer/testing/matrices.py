"""Matrices whose spectrum is known: exactly, as prescribed, or to extra digits.

`dyadic_symmetric` and `dyadic_rows` have eigenvalues known without any error, because every
entry is an exact sum of ±λ_i/n with n a power of two. `symmetric` and `rectangular` are turned
by random rotations and rounded. `lapack` and `lapack_rectangular` give the 21 symmetric and the
16 rectangular types on which LAPACK tests its own solvers (dchkst, dchkbd).
`singular_values` and `eigenvalues` find the truth of any small matrix in extended precision.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mercer.errors import InputError

__all__ = [
    "LAPACK_RECTANGULAR_TYPES",
    "LAPACK_TYPES",
    "dyadic_rows",
    "dyadic_symmetric",
    "eigenvalues",
    "lapack",
    "lapack_rectangular",
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


FloatArray = np.ndarray[Any, np.dtype[np.float64]]
Shape = tuple[int, int]


def _even(count: int, ulp: float) -> FloatArray:
    """1 … ULP, evenly spaced."""
    return np.linspace(1.0, ulp, count)


def _geometric(count: int, ulp: float) -> FloatArray:
    """1 … ULP, geometrically spaced."""
    return np.geomspace(1.0, ulp, count) if count > 1 else np.ones(count)


def _clustered(count: int, ulp: float) -> FloatArray:
    """1, ULP, …, ULP."""
    return np.where(np.arange(count) == 0, 1.0, ulp)


class _MatrixRecipe(NamedTuple):
    words: str
    way: str
    spacing: Callable[[int, float], FloatArray] | None = None
    signed: bool = False
    end: int = 0  # of the range: 1 near overflow, -1 near underflow


_SYMMETRIC = {
    1: _MatrixRecipe("zero", "zero"),
    2: _MatrixRecipe("identity", "identity"),
    3: _MatrixRecipe("diagonal, even", "diagonal", _even, True),
    4: _MatrixRecipe("diagonal, geometric", "diagonal", _geometric, True),
    5: _MatrixRecipe("diagonal, clustered", "diagonal", _clustered, True),
    6: _MatrixRecipe("diagonal, geometric, near overflow", "diagonal", _geometric, True, 1),
    7: _MatrixRecipe("diagonal, geometric, near underflow", "diagonal", _geometric, True, -1),
    8: _MatrixRecipe("turned, even", "turned", _even, True),
    9: _MatrixRecipe("turned, geometric", "turned", _geometric, True),
    10: _MatrixRecipe("turned, clustered", "turned", _clustered, True),
    11: _MatrixRecipe("turned, even, near overflow", "turned", _even, True, 1),
    12: _MatrixRecipe("turned, even, near underflow", "turned", _even, True, -1),
    13: _MatrixRecipe("random entries", "random"),
    14: _MatrixRecipe("random entries, near overflow", "random", end=1),
    15: _MatrixRecipe("random entries, near underflow", "random", end=-1),
    16: _MatrixRecipe("turned, even, positive", "turned", _even),
    17: _MatrixRecipe("turned, geometric, positive", "turned", _geometric),
    18: _MatrixRecipe("turned, clustered, positive", "turned", _clustered),
    19: _MatrixRecipe("turned, even, positive, near overflow", "turned", _even, end=1),
    20: _MatrixRecipe("turned, even, positive, near underflow", "turned", _even, end=-1),
    21: _MatrixRecipe("tridiagonal, dominant geometric diagonal", "tridiagonal", _geometric),
}
_RECTANGULAR = {number: _SYMMETRIC[number] for number in range(1, 16)} | {
    6: _MatrixRecipe("diagonal, even, near overflow", "diagonal", _even, True, 1),
    7: _MatrixRecipe("diagonal, even, near underflow", "diagonal", _even, True, -1),
    16: _MatrixRecipe("bidiagonal, logarithmic entries", "bidiagonal"),
}

LAPACK_TYPES: dict[int, str] = {n: recipe.words for n, recipe in _SYMMETRIC.items()}
LAPACK_RECTANGULAR_TYPES: dict[int, str] = {n: r.words for n, r in _RECTANGULAR.items()}


def lapack(number: int, order: int, seed: int = 0, dtype: Any = np.float64) -> Any:
    """Return the symmetric matrix (order, order) of one of LAPACK's 21 types.

    Spectra run from 1 to ULP, 2^-52 in float64 and 2^-23 in float32: evenly, geometrically or
    clustered at ULP; diagonal or turned by a random rotation; with random signs or positive;
    some multiplied by the square root of the overflow or underflow threshold. `LAPACK_TYPES`
    names them.

    Parameters
    ----------
    number : int
        1 to 21, the numbering of LAPACK's test program.
    order : int
        Rows and columns, at least 1.
    seed : int
        Start of the random numbers.
    dtype : {float64, float32}
        The type of the entries.

    Examples
    --------
    >>> LAPACK_TYPES[5], lapack(5, 3).shape
    ('diagonal, clustered', (3, 3))
    """
    recipe = _recipe(_SYMMETRIC, number, (order, order))
    rng = np.random.default_rng([seed, number, order])
    made = _made(recipe, (order, order), rng, dtype)
    return np.asarray((np.triu(made) + np.triu(made, 1).T), dtype)


def lapack_rectangular(
    number: int, shape: Shape, seed: int = 0, dtype: Any = np.float64
) -> Any:
    """Return the matrix (n, p) of one of LAPACK's 16 types for singular values.

    As `lapack`, with two rotations: A = U diag(s) Vᵀ. The last type is bidiagonal, its entries
    even in logarithm from ULP² to ULP⁻². `LAPACK_RECTANGULAR_TYPES` names them.

    Parameters
    ----------
    number : int
        1 to 16, the numbering of LAPACK's test program.
    shape : tuple of int
        Rows and columns, at least 1.
    seed : int
        Start of the random numbers.
    dtype : {float64, float32}
        The type of the entries.

    Examples
    --------
    >>> a = lapack_rectangular(8, (5, 3))
    >>> np.linalg.svd(a, compute_uv=False).round(12)
    array([1. , 0.5, 0. ])
    """
    recipe = _recipe(_RECTANGULAR, number, shape)
    if recipe.way == "turned":
        recipe = recipe._replace(way="turned twice")
    return np.asarray(
        _made(recipe, shape, np.random.default_rng([seed, number, *shape]), dtype)
    )


def _recipe(recipes: dict[int, _MatrixRecipe], number: int, shape: Shape) -> _MatrixRecipe:
    if number not in recipes or min(shape) < 1:
        raise InputError(
            "there is no such matrix",
            got=f"number={number!r}, shape={shape!r}",
            fix=f"pass a number from 1 to {len(recipes)} and at least one row and column",
        )
    return recipes[number]


def _made(recipe: _MatrixRecipe, shape: Shape, rng: np.random.Generator, dtype: Any) -> Any:
    bounds, short = np.finfo(dtype), min(shape)
    ulp = float(bounds.eps)
    values = np.ones(short) if recipe.spacing is None else recipe.spacing(short, ulp)
    if recipe.signed:
        values = values * rng.choice([-1.0, 1.0], short)
    made = _WAYS[recipe.way](values, shape, rng, ulp)
    # The root of a threshold, as a power of two, so that scaling is exact.
    return (made * 2.0 ** (recipe.end * (bounds.maxexp // 2 - 1))).astype(dtype)


def _diagonal(values: FloatArray, shape: Shape, *_: Any) -> FloatArray:
    made = np.zeros(shape)
    np.fill_diagonal(made, values)
    return made


def _turned(values: FloatArray, shape: Shape, rng: np.random.Generator, _: float) -> FloatArray:
    q = _drawn(shape[0], rng)
    return np.asarray((q * values) @ q.T)


def _turned_twice(
    values: FloatArray, shape: Shape, rng: np.random.Generator, _: float
) -> FloatArray:
    left, right = _drawn(shape[0], rng), _drawn(shape[1], rng)
    return np.asarray((left[:, : len(values)] * values) @ right[:, : len(values)].T)


def _random(_: FloatArray, shape: Shape, rng: np.random.Generator, __: float) -> FloatArray:
    return rng.uniform(-1.0, 1.0, shape)


def _tridiagonal(
    values: FloatArray, _: Shape, rng: np.random.Generator, __: float
) -> FloatArray:
    """Geometric diagonal; off-diagonals below half the mean of their two neighbours."""
    beside = rng.uniform(-1.0, 1.0, len(values) - 1)
    beside *= 0.5 * np.sqrt(values[:-1] * values[1:])
    return np.asarray(np.diag(values) + np.diag(beside, 1) + np.diag(beside, -1))


def _bidiagonal(
    values: FloatArray, shape: Shape, rng: np.random.Generator, ulp: float
) -> FloatArray:
    """Two diagonals of entries between ULP² and ULP⁻², even in logarithm; lower where n < p."""
    entries = ulp ** rng.uniform(-2.0, 2.0, (2, len(values)))
    made = _diagonal(entries[0], shape)
    at = np.arange(len(values) - 1)
    made[(at + 1, at) if shape[0] < shape[1] else (at, at + 1)] = entries[1, :-1]
    return made


_WAYS: dict[str, Callable[[FloatArray, Shape, np.random.Generator, float], FloatArray]] = {
    "zero": lambda _, shape, *__: np.zeros(shape),
    "identity": _diagonal,
    "diagonal": _diagonal,
    "turned": _turned,
    "turned twice": _turned_twice,
    "random": _random,
    "tridiagonal": _tridiagonal,
    "bidiagonal": _bidiagonal,
}


def rotation(order: int, seed: int = 0) -> FloatArray:
    """Return a random orthogonal matrix (order, order), uniform over all of them.

    Examples
    --------
    >>> q = rotation(5)
    >>> bool(np.allclose(q.T @ q, np.eye(5), atol=1e-14))
    True
    """
    return _drawn(order, np.random.default_rng([seed, order]))


def _drawn(order: int, rng: np.random.Generator) -> FloatArray:
    q, r = np.linalg.qr(rng.standard_normal((order, order)))
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
