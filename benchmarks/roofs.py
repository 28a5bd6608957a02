"""Roofs of kernel tiles: what the parts of a walk cost at their own shapes, all cores busy."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

import numpy as np
from scipy.linalg import blas
from threadpoolctl import threadpool_limits

_SECONDS = 0.4  # of each measurement
_BYTES = 4e6  # of a tile


@dataclass(frozen=True)
class Roofs:
    """Seconds of one tile (side x side) on each of `threads` threads at once.

    Attributes
    ----------
    side, threads : int
        Rows of a tile; threads.
    product : float
        X_I·X_Jᵀ with p columns.
    exponential : float
        exp of a tile.
    thin : float
        A tile times a block, once.
    solve, gram : float
        A triangular solve with and a symmetric product of (side, width) features.
    """

    side: int
    threads: int
    product: float
    exponential: float
    thin: float
    solve: float
    gram: float

    @classmethod
    def measured(cls, dtype: str, p: int, width: int, threads: int) -> Roofs:
        """Measure on this machine, now."""
        side = int((_BYTES / np.dtype(dtype).itemsize) ** 0.5)
        rng = np.random.default_rng(0)

        def tiles(make: Callable[[], Callable[[], object]]) -> float:
            with threadpool_limits(1), ThreadPoolExecutor(threads) as pool:
                return max(pool.map(lambda _: _each(make()), range(threads)))

        x = rng.standard_normal((side, p)).astype(dtype)
        t = -np.abs(rng.standard_normal((side, side))).astype(dtype)
        v = rng.standard_normal((width, side)).astype(dtype)
        f = rng.standard_normal((side, width)).astype(np.float64)
        low = np.asfortranarray(
            np.tril(rng.standard_normal((width, width))) + width * np.eye(width)
        )

        def product() -> Callable[[], object]:
            out = np.empty((side, side), dtype)
            return lambda: np.matmul(x, x.T, out=out)

        def exponential() -> Callable[[], object]:
            out = np.empty((side, side), dtype)
            return lambda: np.exp(t, out=out)

        def thin() -> Callable[[], object]:
            return lambda: v @ t

        def solve() -> Callable[[], object]:
            mine = f.copy()
            return lambda: blas.dtrsm(1.0, low, mine.T, lower=1)

        def gram() -> Callable[[], object]:
            return lambda: blas.dsyrk(1.0, f.T, lower=1)

        return cls(
            side, threads, *(tiles(make) for make in (product, exponential, thin, solve, gram))
        )

    def walk(self, n: int) -> float:
        """Return the seconds of one walk over the tiles I ≤ J of n rows, at these rates."""
        pairs = 0.5 * (n / self.side) * (n / self.side + 1)
        each = self.product + self.exponential + 2 * self.thin
        return pairs * each / self.threads

    def landmarks(self, n: int, m: int) -> float:
        """Return the seconds of n rows against m landmarks: tile, exp, solve, Gram matrix."""
        blocks = n / self.side
        share = m / self.side
        each = share * (self.product + self.exponential) + self.solve + self.gram
        return blocks * each / self.threads

    def facts(self) -> dict[str, float]:
        """Return the numbers."""
        return asdict(self)


def _each(call: Callable[[], object]) -> float:
    """Return the seconds of one call, over many."""
    call()
    start, count = time.perf_counter(), 0
    while (spent := time.perf_counter() - start) < _SECONDS:
        call()
        count += 1
    return spent / count
