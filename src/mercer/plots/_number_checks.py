"""Numbers as they come in: finite, of one length, or refused."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError


def column(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return numbers as a vector of float64, none of them missing."""
    found = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if found.ndim != 1 or found.size == 0 or not np.isfinite(found).all():
        raise InputError(
            f"{name} must be a non-empty list of finite numbers",
            got=f"shape {found.shape}, {int((~np.isfinite(found)).sum())} not finite",
            fix="pass the numbers of a fitted model",
        )
    return found


def same_length(what: str, **vectors: NDArray[np.float64]) -> None:
    """Refuse vectors of different lengths, each named."""
    lengths = {name: len(vector) for name, vector in vectors.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(
            f"{what} needs one number of each kind per item",
            got=", ".join(f"{length} {name}" for name, length in lengths.items()),
            fix="pass arrays of one length",
        )


def floats(values: NDArray[np.float64]) -> tuple[float, ...]:
    """Return numbers as the plain tuple that marks are made of."""
    return tuple(map(float, values))
