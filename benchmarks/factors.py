"""Dense factor data X = F diag(sigma) L^T + noise + offset, made block by block.

The population covariance is L diag(sigma^2) L^T + noise^2 I with sigma_i = i^(-1/2):
a slow spectrum, where a method that stops too early is seen to be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_FACTORS = 100
NOISE_SD = 0.01
# Part of the definition of the data: another value gives other numbers.
BLOCK_BYTES = 16_000_000


@dataclass(frozen=True)
class Factors:
    """A factor model with r = min(100, n, p) factors and noise of sd 0.01 per entry.

    Parameters
    ----------
    rows, columns : int
        Shape (n, p) of the data.
    offset : float
        Mean of each column in units of that column's population standard deviation.
    dtype : str
        "float32" or "float64"; values are drawn in float64 and rounded once.
    seed : int
        Every block has its own generator, seeded by (seed, block number).
    """

    rows: int
    columns: int
    offset: float
    dtype: str = "float64"
    seed: int = 0

    @property
    def rank(self) -> int:
        """Number of factors r."""
        return min(MOST_FACTORS, self.rows, self.columns)

    @property
    def sigma(self) -> NDArray[np.float64]:
        """Standard deviations of the factors, sigma_i = i^(-1/2), shape (r,)."""
        return 1.0 / np.sqrt(np.arange(1, self.rank + 1, dtype=np.float64))

    def loadings(self) -> NDArray[np.float64]:
        """Orthonormal loadings L, shape (p, r)."""
        rng = np.random.default_rng([self.seed, self.columns, self.rank])
        q, r = np.linalg.qr(rng.standard_normal((self.columns, self.rank)))
        # QR leaves the signs to LAPACK; fixing them makes L a function of the seed alone.
        return np.asarray(q * np.sign(np.diag(r)), dtype=np.float64)

    def column_std(self, loadings: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the population standard deviation of every column, shape (p,)."""
        return np.asarray(
            np.sqrt((loadings * self.sigma) ** 2 @ np.ones(self.rank) + NOISE_SD**2)
        )

    def block_rows(self) -> int:
        """Rows per block: 16 MB of float64."""
        return max(1, BLOCK_BYTES // (8 * self.columns))

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Yield (rows, float64 block) in order."""
        loadings = self.loadings()
        mean = self.offset * self.column_std(loadings)
        mixing = (loadings * self.sigma).T
        step = self.block_rows()
        for number, start in enumerate(range(0, self.rows, step)):
            stop = min(start + step, self.rows)
            rng = np.random.default_rng([self.seed, self.rows, self.columns, number])
            block = rng.standard_normal((stop - start, self.columns))
            block *= NOISE_SD
            block += rng.standard_normal((stop - start, self.rank)) @ mixing
            block += mean
            yield slice(start, stop), block

    def load(self) -> NDArray[np.floating]:
        """Make the data, shape (n, p), C order; needs one block beside the result."""
        out = np.empty((self.rows, self.columns), dtype=self.dtype)
        for rows, block in self.blocks():
            out[rows] = block
        return out
