"""Products of a stored matrix with a thin block, on the threads of a pass."""

from collections.abc import Iterator

import numpy as np

from mercer.arrays._lanes import Lanes, thread_count
from mercer.arrays._namespace import Array
from mercer.arrays._tiles import Tiles

_WORTH_LANES = 2e7  # flops below which starting threads costs more than it saves
_BLOCKS = 16  # of rows


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
