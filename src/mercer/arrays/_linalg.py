"""Small dense factorisations, in float64, on whichever library holds the array.

A LAPACK routine of SciPy, called so that other threads of Python go on.
"""

import contextvars
import ctypes
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, TypeVar

import numpy as np
import scipy.linalg

from mercer.arrays._memory import give_back
from mercer.arrays._namespace import EPS, Array, is_numpy, namespace
from mercer.arrays.threads._thread_lanes import (
    begin_aside,
    end_aside,
    is_aside,
    single_threaded_blas,
)

_PREFIX = "__pyx_t_5scipy_6linalg_13cython_lapack_"
_INT, _REAL = "int *", "d *"
_DSYEVD = ("char *", "char *", _INT, _REAL, _INT, _REAL, _REAL, *[_INT] * 4)
_DSYEVR = (
    *["char *"] * 3, _INT, _REAL, _INT, _REAL, _REAL, _INT, _INT, _REAL, _INT, _REAL, _REAL,
    _INT, _INT, _REAL, *[_INT] * 4,
)  # fmt: skip


def eigh_over(a: Array, half: bytes = b"L") -> tuple[Array, Array]:
    """Return ascending eigenvalues and eigenvectors (n, n) of a symmetric `a`, in its place.

    dsyevd, as ``scipy.linalg.eigh(a, overwrite_a=True, driver="evd")`` calls it. That call
    keeps Python's lock: for seconds or minutes no other thread would run, nor Ctrl-C be seen.

    Parameters
    ----------
    a : ndarray of shape (n, n)
        float64, in the order of Fortran; destroyed.
    half : {b"L", b"U"}
        Which triangle is read.
    """
    routine = _routine("dsyevd", _DSYEVD)
    if routine is None:
        found: tuple[Array, Array] = scipy.linalg.eigh(
            a, lower=half == b"L", overwrite_a=True, check_finite=False, driver="evd"
        )
        return found
    n, values = len(a), np.empty(len(a))
    given = (b"V", half, _int(n), a.ctypes.data, _int(max(1, n)), values.ctypes.data)
    _call("dsyevd", routine, n, given)
    return values, a


def some_eigh_over(a: Array, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenvalues, ascending, and vectors (n, k); `a` is destroyed.

    dsyevr, as ``scipy.linalg.eigh(a, subset_by_index=[n - k, n - 1], driver="evr")``, but
    without Python's lock; see `eigh_over`.
    """
    n, routine, diagonal = len(a), _routine("dsyevr", _DSYEVR), np.diagonal(a).copy()
    if routine is None:
        found: tuple[Array, Array] = scipy.linalg.eigh(
            a, subset_by_index=[n - k, n - 1], check_finite=False, driver="evx"
        )
        return found
    values, vectors = np.empty(n), np.empty((n, k), order="F")
    support, any_number, count = (
        np.empty(2 * n, np.int32),
        ctypes.c_double(0.0),
        ctypes.c_int(0),
    )
    size, unused, many = _int(max(1, n)), ctypes.byref(any_number), ctypes.byref(count)
    given = (
        b"V", b"I", b"L", _int(n), a.ctypes.data, size, unused, unused, _int(n - k + 1),
        _int(n), unused, many, values.ctypes.data, vectors.ctypes.data, size,
        support.ctypes.data,
    )  # fmt: skip
    _call("dsyevr", routine, n, given)
    if count.value == k:
        return values[:k], vectors
    # Near a multiple of the identity it loses pairs, and only their number says so. It has
    # left the other half of the matrix as it was.
    np.fill_diagonal(a, diagonal)
    values, vectors = eigh_over(a, b"U")
    return values[n - k :], vectors[:, n - k :]


def _call(name: str, routine: Callable[..., None], order: int, given: tuple[Any, ...]) -> None:
    """Call a routine that ends with its workspaces, after asking it for their sizes."""
    failed, size, length = ctypes.c_int(0), ctypes.c_int(-1), ctypes.c_int(-1)
    at, lengths, code = ctypes.byref(size), ctypes.byref(length), ctypes.byref(failed)
    work, whole = np.ones(1), np.ones(1, np.int32)
    routine(*given, work.ctypes.data, at, whole.ctypes.data, lengths, code)
    size.value, length.value = max(1, int(work[0])), max(1, int(whole[0]))
    if size.value > _LARGE**2:
        give_back()  # the space is that of two matrices more
    work, whole = np.empty(size.value), np.empty(length.value, np.int32)
    routine(*given, work.ctypes.data, at, whole.ctypes.data, lengths, code)
    if failed.value:
        said = f"{name} has failed with code {failed.value} at order {order}"
        raise np.linalg.LinAlgError(said)


def _int(number: int) -> Any:
    return ctypes.byref(ctypes.c_int(number))


@cache
def _routine(name: str, arguments: tuple[str, ...]) -> Callable[..., None] | None:
    """Return a routine of LAPACK, or None where SciPy's is of another form than is known."""
    import scipy.linalg.cython_lapack as routines

    capsule, python = routines.__pyx_capi__[name], ctypes.pythonapi
    text, place, thing = ctypes.c_char_p, ctypes.c_void_p, ctypes.py_object
    name_of = ctypes.PYFUNCTYPE(text, thing)(("PyCapsule_GetName", python))
    address_of = ctypes.PYFUNCTYPE(place, thing, text)(("PyCapsule_GetPointer", python))
    form = name_of(capsule)
    if form.decode().replace(_PREFIX, "") != f"void ({', '.join(arguments)})":
        return None
    letters = arguments.count("char *")
    kinds = [text] * letters + [place] * (len(arguments) - letters)
    made = ctypes.CFUNCTYPE(None, *kinds)  # which gives the lock away
    return made(address_of(capsule, form))


_Result = TypeVar("_Result")
_LONG = 400  # order from which a LAPACK call may keep Ctrl-C waiting
_WORTH = 64  # and from which it leaves this processor to what was begun before it
_LP64 = 20_000  # order from which the workspace does not fit SciPy's 32-bit numbers
_TINY = 16  # order up to which BLAS asks no other thread
_FEW = 3  # of so many pairs one is few: finding them alone is quicker
_SMALL = 32  # order up to which all pairs cost no more than some
_LARGE = 1000  # order whose workspace is worth asking the allocator for what is free
_CROWD = 600  # order up to which several BLAS threads mostly wait for each other


def interruptible(call: Callable[[], _Result], order: int) -> _Result:
    """Return ``call()``; for a large `order` run it aside so that Ctrl-C acts at once.

    LAPACK cannot be stopped. Interrupted, the call goes on in its own thread, its result
    is dropped, and the process can end only after it.
    """
    short = order < (_WORTH if is_aside() else _LONG)
    if short or threading.current_thread() is not threading.main_thread():
        return call()
    return beside(call)()


def beside(call: Callable[[], _Result]) -> Callable[[], _Result]:
    """Start ``call()`` in a thread of its own; return what waits for its result.

    The number of BLAS threads stays as it is until the call has ended.
    """
    results: list[_Result] = []
    failures: list[BaseException] = []
    ended = threading.Event()

    context = contextvars.copy_context()  # such as what NumPy is told to ignore

    def aside() -> None:
        try:
            results.append(context.run(call))
        except BaseException as failure:
            failures.append(failure)
        finally:
            end_aside()
            ended.set()

    begin_aside()
    # Not a daemon: at exit BLAS would wait for ever for the work of a thread cut short.
    threading.Thread(target=aside).start()

    def result() -> _Result:
        while not ended.wait(0.05):  # an interrupted join() would forget the running thread
            pass
        if failures:
            raise failures[0]
        return results[0]

    return result


def eigh(a: Array) -> tuple[Array, Array]:
    """Return eigenvalues in descending order and eigenvectors of a symmetric matrix (p, p)."""
    if is_numpy(a) and len(a) <= _TINY:  # it takes less than what is asked around it
        values, vectors = np.linalg.eigh(a)
        return values[::-1], vectors[:, ::-1]
    xp = namespace(a)
    with quiet_blas(a.shape[0]):
        values, vectors = interruptible(lambda: xp.linalg.eigh(a), a.shape[0])
    return xp.flip(values, axis=0), xp.flip(vectors, axis=1)


def eigh_in_place(a: Array) -> tuple[Array, Array]:
    """Return the same as `eigh`, destroying `a`: 24 bytes per entry in all instead of 48.

    Up to 600 rows it is `eigh`: some megabytes more.
    """
    n = a.shape[0]
    plain = is_numpy(a) and a.dtype == np.float64 and a.flags.c_contiguous
    if not plain or n > _LP64 or n <= _CROWD:
        return eigh(a)
    with quiet_blas(n):
        # The transpose of a symmetric matrix is itself, and the order LAPACK writes in.
        values, vectors = interruptible(lambda: eigh_over(a.T), n)
    return values[::-1], vectors[:, ::-1]


def eigvalsh(a: Array) -> Array:
    """Return the eigenvalues of a symmetric matrix (p, p) in descending order."""
    xp = namespace(a)
    with quiet_blas(a.shape[0]):
        return xp.flip(interruptible(lambda: xp.linalg.eigvalsh(a), a.shape[0]), axis=0)


def leading_eigh(a: Array, k: int, *, destroy: bool = False) -> tuple[Array, Array]:
    """Return the k largest eigenvalues, descending, and vectors (p, k) of an array of NumPy.

    A half to a quarter of the time of `eigh` where k is small. BLAS has the threads that it
    has. With `destroy` the matrix, in the order of C or Fortran, is written over.
    """
    order = len(a)
    if k == 0:
        return np.zeros(0), np.zeros((order, 0))
    if not is_few(k, order):
        values, vectors = np.linalg.eigh(a)
        return values[::-1][:k], vectors[:, ::-1][:, :k]
    plain = destroy and a.dtype == np.float64 and (a.flags.c_contiguous or a.flags.f_contiguous)
    matrix = a if plain else np.array(a, np.float64, order="F")
    # The transpose of a symmetric matrix is itself, and the order LAPACK writes in.
    values, vectors = some_eigh_over(matrix if matrix.flags.f_contiguous else matrix.T, k)
    return values[::-1], vectors[:, ::-1]


def is_few(k: int, order: int) -> bool:
    """Tell whether k pairs of a matrix of this order are found sooner than all of them.

    Of a small one LAPACK has all before it has been asked for some.
    """
    return order > _SMALL and _FEW * k <= order


def quiet_blas(order: int) -> AbstractContextManager[None]:
    """Return a context with one BLAS thread where more would only wait for each other."""
    return single_threaded_blas() if _TINY < order <= _CROWD else nullcontext()


def svd(a: Array) -> tuple[Array, Array, Array]:
    """Return U, s, Vᵀ of the thin singular value decomposition of `a` (n, p)."""
    xp = namespace(a)
    m, n = a.shape
    order = round((m * n * min(m, n)) ** (1 / 3))
    try:
        with quiet_blas(order):
            result = interruptible(lambda: xp.linalg.svd(a, full_matrices=False), order)
    except np.linalg.LinAlgError:  # ?gesdd gives up on rare matrices; ?gesvd does not
        result = scipy.linalg.svd(a, full_matrices=False, lapack_driver="gesvd")
    return result[0], result[1], result[2]


def qr(a: Array) -> tuple[Array, Array]:
    """Return Q (n, p) and R (p, p) of a tall A = QR."""
    xp = namespace(a)
    with quiet_blas(a.shape[1]):
        found = interruptible(lambda: xp.linalg.qr(a, mode="reduced"), a.shape[1])
    return found[0], found[1]


def triangle(a: Array) -> Array:
    """Return R (min(n, p), p) of A = QR: RᵀR = AᵀA without squaring the condition number."""
    if is_numpy(a):
        return np.asarray(np.linalg.qr(a, mode="r"))
    return namespace(a).linalg.qr(a, mode="reduced")[1]


def orthonormal(
    block: Array, basis: Array | None, floor: float, *, projected: bool = False
) -> tuple[Array, Array]:
    """Return an orthonormal basis of `block` outside `basis`, and the coefficients.

    With B = `block` (p, b) and V = `basis` (p, m) orthonormal, returns Q (p, r) and
    T (r, b) with B - V(VᵀB) = QT and r ≤ b: directions of norm ≤ `floor` are dropped.
    Only products of tall blocks are used (eigenpairs of BᵀB [Stathopoulos2002]_), because
    Householder QR of a tall thin block runs at the speed of memory. Squaring hides what is
    1e-6 below the largest direction, so that is taken in a second round. `projected` says that
    V(VᵀB) was taken from B already.
    """
    xp = namespace(block)
    held = [] if basis is None or basis.shape[1] == 0 else [basis]
    rounding = 4 * EPS * float(xp.linalg.vector_norm(block)) * block.shape[0] ** 0.5
    floor = max(floor, rounding)  # what is smaller may lie in the span of what was taken
    rest = block if projected else _without(block, held)
    wanted = rest
    found: list[Array] = []
    for _ in range(4):
        w, u = eigh(rest.T @ rest)
        s = xp.sqrt(xp.where(w > 0, w, xp.zeros_like(w)))
        top = float(s[0]) if s.shape[0] else 0.0
        keep = int(xp.sum(xp.astype(s > max(floor, 1e-6 * top), xp.int64)))
        if top <= floor or keep == 0:
            break
        q = _without(rest @ (u[:, :keep] / s[None, :keep]), held + found)
        w, u = eigh(q.T @ q)  # near one: a second look makes it orthonormal to rounding
        sound = int(xp.sum(xp.astype(w > 0.25, xp.int64)))
        if sound == 0:
            break
        found.append(q @ (u[:, :sound] / xp.sqrt(w[:sound])[None, :]))
        if keep == s.shape[0]:
            break
        rest = rest - found[-1] @ (found[-1].T @ rest)
    if not found:
        return block[:, :0], xp.zeros((0, block.shape[1]), dtype=block.dtype)
    q = xp.concat(found, axis=1)
    q = q[:, : min(q.shape[1], block.shape[1])]
    return q, q.T @ wanted


def _without(block: Array, bases: list[Array]) -> Array:
    """Return the block minus its projections on orthonormal bases."""
    for basis in bases:
        block = block - basis @ (basis.T @ block)
    return block
