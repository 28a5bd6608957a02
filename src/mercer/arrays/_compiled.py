"""Loops that NumPy has no word for, as machine code where Numba is installed."""

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def can_compile() -> bool:
    """Tell whether Numba is there and works with this NumPy; the first call imports it."""
    try:
        importlib.import_module("numba")
    except ImportError:  # not installed, or older than the NumPy that is
        return False
    return True


@cache
def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return `loop` as machine code that runs without Python's lock.

    The code is kept beside the source, or in the user's cache, for the next process.
    """
    numba = importlib.import_module("numba")
    try:
        made = numba.njit(nogil=True, cache=True)(loop)
    except RuntimeError:  # no folder to keep it in
        made = numba.njit(nogil=True)(loop)
    return made  # type: ignore[no-any-return]
