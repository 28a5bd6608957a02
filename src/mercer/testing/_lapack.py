"""The 21 types of symmetric matrices on which LAPACK tests its own eigensolvers (sep.in)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.errors import InputError

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

_ULP = float(np.finfo(np.float64).eps)
_HUGE = 2.0**511  # √(overflow threshold), as a power of two so that scaling is exact
_TINY = 2.0**-511  # √(underflow threshold)


def _even(order: int) -> FloatArray:
    """1 … ULP, evenly spaced."""
    return np.linspace(1.0, _ULP, order)


def _geometric(order: int) -> FloatArray:
    """1 … ULP, geometrically spaced."""
    return np.geomspace(1.0, _ULP, order) if order > 1 else np.ones(1)


def _clustered(order: int) -> FloatArray:
    """1, ULP, …, ULP."""
    return np.where(np.arange(order) == 0, 1.0, _ULP)


_Spacing = Callable[[int], FloatArray]
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


def lapack(number: int, order: int, seed: int = 0) -> FloatArray:
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


def _turned(values: FloatArray, rng: np.random.Generator) -> FloatArray:
    q, r = np.linalg.qr(rng.standard_normal((len(values), len(values))))
    q = q * np.where(np.diagonal(r) < 0, -1.0, 1.0)
    a = (q * values) @ q.T
    return np.asarray((a + a.T) / 2)


def _random(values: FloatArray, rng: np.random.Generator) -> FloatArray:
    upper = np.triu(rng.uniform(-1.0, 1.0, (len(values), len(values))))
    return np.asarray(upper + np.triu(upper, 1).T)


def _tridiagonal(values: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Geometric diagonal; off-diagonals below half the mean of their two neighbours."""
    beside = rng.uniform(-1.0, 1.0, len(values) - 1)
    beside *= 0.5 * np.sqrt(values[:-1] * values[1:])
    return np.asarray(np.diag(values) + np.diag(beside, 1) + np.diag(beside, -1))


_MAKERS: dict[str, Callable[[FloatArray, np.random.Generator], FloatArray]] = {
    "zero": lambda values, _: np.zeros((len(values), len(values))),
    "identity": lambda values, _: np.eye(len(values)),
    "diagonal": lambda values, _: np.diag(values),
    "turned": _turned,
    "random": _random,
    "tridiagonal": _tridiagonal,
}
