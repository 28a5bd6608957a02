"""A LAPACK routine of SciPy, called so that other threads of Python go on."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg

from mercer.arrays._namespace import Array

_PREFIX = "__pyx_t_5scipy_6linalg_13cython_lapack_"
_ARGUMENTS = "char *, char *, int *, d *, int *, d *, d *, int *, int *, int *, int *"


def eigh_over(a: Array) -> tuple[Array, Array]:
    """Return ascending eigenvalues and eigenvectors (n, n) of a symmetric `a`, in its place.

    dsyevd, as ``scipy.linalg.eigh(a, overwrite_a=True, driver="evd")`` calls it. That call
    keeps Python's lock: for seconds or minutes no other thread would run, nor Ctrl-C be seen.

    Parameters
    ----------
    a : ndarray of shape (n, n)
        float64, in the order of Fortran; destroyed.
    """
    routine = _dsyevd()
    if routine is None:
        found: tuple[Array, Array] = scipy.linalg.eigh(
            a, overwrite_a=True, check_finite=False, driver="evd"
        )
        return found
    n, values = len(a), np.empty(len(a))
    work, whole = np.ones(1), np.ones(1, np.int32)
    _call(routine, a, values, work, whole, ask=True)
    work, whole = np.empty(max(1, int(work[0]))), np.empty(max(1, int(whole[0])), np.int32)
    failed = _call(routine, a, values, work, whole)
    if failed:
        raise np.linalg.LinAlgError(f"dsyevd has failed with code {failed} at order {n}")
    return values, a


def _call(
    routine: Callable[..., None],
    a: Array,
    values: Array,
    work: Array,
    whole: Array,
    *,
    ask: bool = False,
) -> int:
    """Call dsyevd('V', 'L', …); `ask` only has it say how much space it needs."""
    n, failed = len(a), ctypes.c_int(0)
    sizes = (-1, -1) if ask else (len(work), len(whole))
    routine(
        b"V",
        b"L",
        _int(n),
        a.ctypes.data,
        _int(max(1, n)),
        values.ctypes.data,
        work.ctypes.data,
        _int(sizes[0]),
        whole.ctypes.data,
        _int(sizes[1]),
        ctypes.byref(failed),
    )
    return failed.value


def _int(number: int) -> Any:
    return ctypes.byref(ctypes.c_int(number))


@cache
def _dsyevd() -> Callable[..., None] | None:
    """Return the routine, or None where SciPy's is of another form than is known."""
    import scipy.linalg.cython_lapack as routines

    capsule, python = routines.__pyx_capi__["dsyevd"], ctypes.pythonapi
    text, place, thing = ctypes.c_char_p, ctypes.c_void_p, ctypes.py_object
    name_of = ctypes.PYFUNCTYPE(text, thing)(("PyCapsule_GetName", python))
    address_of = ctypes.PYFUNCTYPE(place, thing, text)(("PyCapsule_GetPointer", python))
    name = name_of(capsule)
    if name.decode().replace(_PREFIX, "") != f"void ({_ARGUMENTS})":
        return None
    form = ctypes.CFUNCTYPE(None, text, text, *[place] * 9)  # which gives the lock away
    return form(address_of(capsule, name))
