"""What the parameters of a kernel may be: checked when a kernel is made, not when it runs."""

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

from mercer.errors import InputError

Lengthscale = float | tuple[float, ...] | str


def number(owner: object, name: str, value: Any, *, least: float = -math.inf) -> float:
    """Return a finite number above `least`, as float."""
    if isinstance(value, Real) and not isinstance(value, bool):
        found = float(value)
        if math.isfinite(found) and found > least:
            return found
    bound = "" if least == -math.inf else f" above {least:g}"
    raise InputError(
        f"`{name}` of {_called(owner)} must be a finite number{bound}",
        got=f"{name}={_shown(value)}",
        fix=f"pass a number{bound}, for example {name}=1.0",
    )


def _called(owner: object) -> str:
    """Return the name of a kernel, or of a class that makes one."""
    return owner.__name__ if isinstance(owner, type) else type(owner).__name__


def whole(owner: object, name: str, value: Any, *, least: int = 0) -> int:
    """Return a whole number of at least `least`."""
    if isinstance(value, Real) and not isinstance(value, bool):
        found = float(value)
        if math.isfinite(found) and found == math.floor(found) and found >= least:
            return int(found)
    raise InputError(
        f"`{name}` of {type(owner).__name__} must be a whole number from {least} on",
        got=f"{name}={_shown(value)}",
        fix=f"pass a whole number, for example {name}={least + 1}",
    )


def lengths(owner: object, name: str, value: Any, *, median: bool = True) -> Lengthscale:
    """Return "median", one positive number, or a tuple of one for each column."""
    if isinstance(value, str):
        if median and value == "median":
            return value
    elif isinstance(value, Iterable) and getattr(value, "ndim", 1) == 1:
        return tuple(number(owner, name, v, least=0.0) for v in value)
    else:
        return number(owner, name, value, least=0.0)
    words = 'a positive number, one for each column, or "median"'
    raise InputError(
        f"`{name}` of {type(owner).__name__} must be {words if median else words[:41]}",
        got=f"{name}={_shown(value)}",
        fix=f"pass a number, for example {name}=1.0",
    )


def _shown(value: Any) -> str:
    """Return a value on one line."""
    return " ".join(repr(value).split())


def inverse(lengthscale: Lengthscale) -> float | tuple[float, ...]:
    """Return 1/ℓ, the multiplier of the columns."""
    assert not isinstance(lengthscale, str)
    if isinstance(lengthscale, tuple):
        return tuple(inverse(v) for v in lengthscale)  # type: ignore[misc]
    if math.isinf(1 / lengthscale):
        raise InputError(
            "the inverse of this lengthscale leaves the range of float64",
            got=f"lengthscale={lengthscale:.3g}",
            fix="multiply the rows, and the lengthscale, by a constant",
        )
    return 1 / lengthscale
