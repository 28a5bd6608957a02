"""Units of rounding, and exact powers of two."""

from typing import Any

import numpy as np

from mercer.arrays._namespace import Array, namespace

EPS = float(np.finfo(np.float64).eps)  # all sums are kept in float64


def eps_of(dtype: Any) -> float:
    """Return the spacing of floating numbers at 1 in `dtype`; 0 for integers (exact)."""
    dtype = np.dtype(dtype)
    return float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0


def wide_dtype(like: Array) -> Any:
    """Return float64 as the namespace of `like` spells it."""
    return namespace(like).float64


def binary_exponent(largest: float) -> int:
    """Return e with 2^(e-1) <= largest < 2^e, and 0 for zero.

    Multiplying by 2^-e is exact, so a unit taken from it costs no digits.
    """
    return int(np.frexp(largest)[1]) if largest > 0 else 0


def itemsize(t: Array) -> int:
    """Return the bytes of a number: 4 for float32, else 8."""
    size = getattr(t.dtype, "itemsize", None)  # a name takes time to write down
    narrow = str(t.dtype).endswith("float32") if size is None else size == 4
    return 4 if narrow else 8
