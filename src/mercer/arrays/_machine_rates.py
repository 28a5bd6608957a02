"""What this machine does per second: a self-test of about a second, made once per process."""

import dataclasses
import threading
import time
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from mercer.arrays._linalg import eigh_in_place
from mercer.arrays._memory import give_back
from mercer.arrays._namespace import Array
from mercer.arrays.threads._listeners import task
from mercer.arrays.threads._thread_lanes import Lanes, single_threaded_blas, thread_count

_SLOT = 0.06  # seconds that each rate is measured for
_ROWS, _COLUMNS = 1024, 384  # of the block whose Gram matrix is made
_WIDE, _THIN = 1024, 36  # order of the tile, and the columns that it is multiplied with
_CELLS = 32_768  # whose exponentials are taken at once: they stay in the second cache
_REFLECTED = (1024, 192)  # shape of the block that Householder QR takes
_ORDER = 448  # of the eigenproblem; below 600, where threads do not yet help
_CROWD = 8  # lanes at most that solve one each, for the sake of their workspace
_GROWTH = 1.4  # by which n³ per second of orders in the thousands is above that of `_ORDER`
_LEAST, _MOST = 32e6, 256e6  # bytes touched and read: more than the caches, less than matters

_Step = Callable[[], object]
_Kind = Callable[[type], tuple[Callable[[], _Step], float]]  # how a lane gets ready, and work
_one_at_a_time = threading.Lock()


@dataclasses.dataclass(frozen=True)
class Rates:
    """Operations or bytes per second of one thread while `threads` of them work.

    The pairs are for float32 and float64. Two threads that share a memory or a cache have
    less each than one alone: a pass of t threads makes t times what is written here.
    """

    threads: int
    symmetric: tuple[float, float]  # n·p² per second of the Gram matrix of (n, p) blocks
    thin: tuple[float, float]  # flops of a tile times 36 columns
    exponentials: tuple[float, float]  # entries of a tile in the cache
    reflect: float  # flops of Householder QR, float64
    eigen: float  # n³ of a full symmetric eigenproblem with n in the thousands
    stream: float  # bytes read from memory
    touch: float  # bytes written to memory that was never used before


def rates(threads: int | None = None) -> Rates:
    """Return what this machine does, measured as the passes work; later calls cost nothing.

    Parameters
    ----------
    threads : int or None
        Lanes, each with single-threaded BLAS; None takes those that BLAS has.

    Examples
    --------
    >>> rates(1).threads, rates(1) is rates(1)
    (1, True)
    """
    with _one_at_a_time:  # two tests at once would measure each other
        return _measured(max(1, thread_count() if threads is None else threads))


@lru_cache(maxsize=8)
def _measured(threads: int) -> Rates:
    with task("measuring this machine"), single_threaded_blas():
        touch, stream = _memory(threads)
        found = Rates(
            threads=threads,
            symmetric=_pair(_symmetric, threads),
            thin=_pair(_thin, threads),
            exponentials=_pair(_exponentials, threads),
            reflect=_rate(_reflect, threads, np.float64),
            eigen=_GROWTH * _rate(_eigen, min(threads, _CROWD), np.float64),
            stream=stream,
            touch=touch,
        )
    give_back()  # no plan counts what such a test would leave behind
    return found


def _pair(kind: _Kind, threads: int) -> tuple[float, float]:
    return _rate(kind, threads, np.float32), _rate(kind, threads, np.float64)


def _rate(kind: _Kind, threads: int, dtype: type) -> float:
    """Return what one of `threads` lanes does per second, each repeating one step."""
    made = [0.0] * threads
    prepare, amount = kind(dtype)  # what is read is shared, as in a pass

    def work(lane: int, numbers: Iterator[int]) -> None:
        for _ in numbers:
            step = prepare()
            step()  # its memory is touched, and BLAS has its buffers
            steps, start = 0, time.perf_counter()
            while (spent := time.perf_counter() - start) < _SLOT:
                step()
                steps += 1
            made[lane] = steps * amount / spent

    Lanes(threads).run(work, threads)
    return sum(made) / threads


def _symmetric(dtype: type) -> tuple[Callable[[], _Step], float]:
    y = _numbers(_ROWS, _COLUMNS, dtype)

    def prepare() -> _Step:
        out: Array = np.empty((_COLUMNS, _COLUMNS), dtype)
        return lambda: np.matmul(y.T, y, out=out)

    # What a Gram matrix of this order loses against a large one is put back (as planned).
    return prepare, float(_ROWS) * _COLUMNS * (_COLUMNS + 64)


def _thin(dtype: type) -> tuple[Callable[[], _Step], float]:
    tile, thin = _numbers(_WIDE, _WIDE, dtype), _numbers(_THIN, _WIDE, dtype)

    def prepare() -> _Step:
        out: Array = np.empty((_THIN, _WIDE), dtype)
        return lambda: np.matmul(thin, tile, out=out)

    return prepare, 2.0 * _WIDE * _WIDE * _THIN


def _exponentials(dtype: type) -> tuple[Callable[[], _Step], float]:
    x = _numbers(1, _CELLS, dtype)

    def prepare() -> _Step:
        mine, out = x.copy(), np.empty_like(x)
        return lambda: np.exp(mine, out=out)

    return prepare, float(_CELLS)


def _reflect(dtype: type) -> tuple[Callable[[], _Step], float]:
    n, p = _REFLECTED
    y = _numbers(n, p, dtype)
    return lambda: lambda: np.linalg.qr(y, mode="r"), 2.0 * n * p * p


def _eigen(dtype: type) -> tuple[Callable[[], _Step], float]:
    y = _numbers(_ORDER, _ORDER, dtype)
    a = y + y.T
    return lambda: lambda: eigh_in_place(a.copy()), float(_ORDER) ** 3


def _numbers(rows: int, columns: int, dtype: type) -> Array:
    """Return numbers between -1 and 0 without a pattern that a product could profit from."""
    parts, _ = np.modf(0.6180339887 * np.arange(1.0, rows * columns + 1))
    return -parts.reshape(rows, columns).astype(dtype)


def _memory(threads: int) -> tuple[float, float]:
    """Return bytes per second and thread of a first touch, and of reading once more."""
    size = int(min(_MOST, max(_LEAST, 4e6 * threads))) // (8 * threads)
    space = [np.empty(size) for _ in range(threads)]  # not yet backed by any memory

    def seconds(act: Callable[[Array], object]) -> float:
        spent = [0.0] * threads

        def work(lane: int, numbers: Iterator[int]) -> None:
            for _ in numbers:
                start = time.perf_counter()
                act(space[lane])
                spent[lane] = time.perf_counter() - start

        Lanes(threads).run(work, threads)
        return max(sum(spent), 1e-6)

    touched, read = seconds(lambda part: part.fill(1.0)), seconds(lambda part: part @ part)
    return 8.0 * size * threads / touched, 8.0 * size * threads / read
