"""Scalar steps of tile programs: t → f(t), in place, on a tile or on a diagonal.

Every step owns the array it is given: leaves of a program make fresh ones, and on NumPy
they are the tile itself.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mercer.arrays._namespace import Array, is_numpy, itemsize, namespace
from mercer.errors import InputError

Step = Callable[..., Array]
_STRIP = 2**17  # numbers that stay in the cache between two steps


def apply_steps(steps: Sequence[tuple[str, tuple[float, ...]]], t: Array, space: Any) -> Array:
    """Return f_m(…f_1(t)), written into `t` where the library allows it.

    On NumPy a tile is taken in strips that stay in the cache: all steps are done to one
    strip before the next, so that the tile goes through memory once.

    Parameters
    ----------
    steps : sequence of (name, constants)
        Keys of `STEPS` and the numbers of each step, the first to be done first.
    t : Array of one or two dimensions
        Taken over: do not use it afterwards.
    space : Workspace
        Lends scratch to the steps that need some.
    """
    with np.errstate(over="ignore", under="ignore"):  # e⁻ᵗ may well be nothing
        if not is_numpy(t):
            for name, constants in steps:
                t = STEPS[name](t, space, *constants)
            return t
        for part in strips(t):
            for name, constants in steps:
                STEPS[name](t[part], space, *constants)
    return t


def strips(t: Array) -> list[slice]:
    """Return the rows of a NumPy array in pieces that stay in the cache."""
    width = int(t.shape[1]) if t.ndim == 2 else 1
    step = max(1, _STRIP // max(1, width))
    return [slice(s, s + step) for s in range(0, int(t.shape[0]), step)]


def in_place(name: str, t: Array, **options: Any) -> Array:
    """Return ``xp.name(t)``, written into `t` on NumPy."""
    if is_numpy(t):
        return getattr(np, name)(t, out=t, **options)
    return getattr(namespace(t), name)(t, **options)


def clamp(t: Array, least: float | None = None, most: float | None = None) -> Array:
    """Return t held between two bounds."""
    if not is_numpy(t):
        return namespace(t).clip(t, min=least, max=most)
    if least is not None:
        np.maximum(t, least, out=t)
    if most is not None:
        np.minimum(t, most, out=t)
    return t


def exp_floor(t: Array) -> float:
    """Return the exponent under which eᵗ leaves the normal numbers and turns slow."""
    return -87.0 if itemsize(t) == 4 else -700.0


def _affine(t: Array, _space: Any, a: float, b: float) -> Array:
    if a != 1:
        t *= a
    if b != 0:
        t += b
    return t


def _exp(t: Array, _space: Any) -> Array:
    # Below the floor np.exp is six times slower; e^-700 beside 1 is nothing.
    return in_place("exp", clamp(t, least=exp_floor(t)))


def _exp_near(t: Array, _space: Any) -> Array:
    return in_place("exp", t)


def _power(t: Array, space: Any, exponent: float) -> Array:
    if exponent == 0.5:
        return in_place("sqrt", t)
    if exponent == 2:
        return in_place("square", t)
    if exponent == -1:
        return in_place("reciprocal", t) if hasattr(namespace(t), "reciprocal") else 1 / t
    whole = exponent == math.floor(exponent)
    if not whole and 0 not in t.shape and float(namespace(t).min(t)) < 0:
        raise InputError(
            "a negative number has no power that is not whole",
            got=f"{float(namespace(t).min(t)):.6g} to the power {exponent}",
            fix="choose a whole power, or constants that keep the base positive",
        )
    if is_numpy(t):
        if whole and 0 < exponent <= 16:
            return _whole_power(t, space, int(exponent))
        return np.power(t, exponent, out=t)
    return t**exponent


def _whole_power(t: Array, space: Any, exponent: int) -> Array:
    """Multiply repeatedly: ten times quicker than np.power for small exponents."""
    with space.borrow(t.shape, t.dtype) as base:
        np.copyto(base, t)
        for digit in bin(exponent)[3:]:
            t *= t
            if digit == "1":
                t *= base
    return t


def _squared_sine(t: Array, _space: Any) -> Array:
    return in_place("square", in_place("sin", t))


def _decay(t: Array, space: Any, *coefficients: float) -> Array:
    """(c₀ + c₁t + …)·e⁻ᵗ by Horner's rule; one scratch tile holds the polynomial."""
    t = clamp(t, most=-exp_floor(t))  # ∞·0 is not a number
    if len(coefficients) == 1:
        t *= -1.0
        t = _exp(t, space)
        t *= coefficients[0]
        return t
    if not is_numpy(t):
        value = t * coefficients[-1] + coefficients[-2]
        for c in reversed(coefficients[:-2]):
            value = value * t + c
        return value * namespace(t).exp(-t)
    with space.borrow(t.shape, t.dtype) as value:
        np.multiply(t, coefficients[-1], out=value)
        value += coefficients[-2]
        for c in reversed(coefficients[:-2]):
            value *= t
            value += c
        np.negative(t, out=t)
        np.exp(t, out=t)
        t *= value
    return t


def _arc(t: Array, space: Any) -> Array:
    """(sin θ + (π - θ)·cos θ)/π for t = cos θ."""
    t = clamp(t, -1.0, 1.0)
    if not is_numpy(t):
        xp = namespace(t)
        return (xp.sqrt((1 - t) * (1 + t)) + (math.pi - xp.acos(t)) * t) / math.pi
    with space.borrow(t.shape, t.dtype) as angle, space.borrow(t.shape, t.dtype) as sine:
        np.acos(t, out=angle)
        np.sin(angle, out=sine)
        np.subtract(math.pi, angle, out=angle)
        t *= angle
        t += sine
        t /= math.pi
    return t


STEPS: dict[str, Step] = {
    "affine": _affine,
    "exp": _exp,
    "exp_near": _exp_near,  # of numbers that are known to be above the floor
    "power": _power,
    "tanh": lambda t, _space: in_place("tanh", t),
    "log1p": lambda t, _space: in_place("log1p", t),
    "squared_sine": _squared_sine,
    "decay": _decay,
    "arc": _arc,
}
