"""Products of a stored matrix with a thin block, on the threads of a pass."""

from collections.abc import Iterator

import numpy as np

from mercer.arrays._lanes import Lanes, thread_count
from mercer.arrays._namespace import Array, is_numpy
from mercer.arrays._tiles import Tiles

_WORTH_LANES = 2e7  # flops below which starting threads costs more than it saves
_BLOCKS = 16  # of rows, whatever the number of threads: that settles every bit of the result


def rows_times(a: Array, v: Array) -> Array:
    """Return A V (m, b) for A (m, n) and V (n, b): blocks of rows, one thread each."""
    m, n, b = a.shape[0], a.shape[1], v.shape[1]
    if not is_numpy(a) or 2.0 * m * n * b < _WORTH_LANES:
        return a @ v
    tiles = Tiles(m, -(-m // _BLOCKS))
    out = np.empty((m, b), np.result_type(a, v))
    v = np.ascontiguousarray(v)

    def work(_lane: int, numbers: Iterator[int]) -> None:
        for number in numbers:
            np.matmul(a[tiles[number]], v, out=out[tiles[number]])

    Lanes(min(thread_count(), len(tiles))).run(work, len(tiles))
    return out


def symmetric_times(a: Array, v: Array) -> Array:
    """Return A V (n, b) in float64 for symmetric A (n, n), as Σ over row blocks V_Iᵀ A_I.

    The wide side last is what BLAS does best, and the sums of the blocks are float64 where
    the products are float32.
    """
    n, b = v.shape
    tiles = Tiles(n, -(-n // _BLOCKS))
    lanes = Lanes(min(thread_count(), len(tiles)) if 2.0 * n * n * b > _WORTH_LANES else 1)
    thin = np.ascontiguousarray(v.T, a.dtype)
    sums = [np.zeros((b, n)) for _ in range(lanes.count)]

    def work(lane: int, numbers: Iterator[int]) -> None:
        for number in numbers:
            part = tiles[number]
            sums[lane] += thin[:, part] @ a[part]

    lanes.run(work, len(tiles))
    return sum(sums[1:], sums[0]).T
