"""Sparse counts like a cell-by-gene table, made block by block.

Entry (i, j) is Poisson with rate c * size_i * gene_j * effect_{cluster(i), j}: log-normal
gene rates, log-normal row depths, and clusters in which a tenth of the genes is raised.
The constant c is set so that the expected share of non-zeros is the density asked for.
Logged counts are log(1 + x·level/total) with the total of the row, as cells are prepared for
PCA: fractions, of which float32 keeps no product exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

CLUSTERS = 12
GENE_SPREAD = 1.5  # sd of the log rate of a column
DEPTH_SPREAD = 0.4  # sd of the log depth of a row
MARKER_SHARE = 0.1  # share of the columns that a cluster raises
MARKER_SPREAD = 1.2  # sd of the log factor by which it raises them
BLOCK_ROWS = 2_000  # part of the definition of the data


@dataclass(frozen=True)
class Counts:
    """Poisson counts in CSR form with a stated density.

    Parameters
    ----------
    rows, columns : int
        Shape (n, p).
    density : float
        Expected share of stored entries.
    dtype : str
        dtype of the stored values.
    seed : int
        Every block has its own generator, seeded by (seed, block number).
    logged : bool
        Whether counts are divided by the depth of their row and logged.
    """

    rows: int
    columns: int
    density: float = 0.05
    dtype: str = "float64"
    seed: int = 0
    logged: bool = False

    def rates(self) -> NDArray[np.float64]:
        """Rates at depth 1 of every cluster and column, shape (clusters, p)."""
        rng = np.random.default_rng([self.seed, self.columns])
        log_gene = GENE_SPREAD * rng.standard_normal(self.columns)
        raised = rng.random((CLUSTERS, self.columns)) < MARKER_SHARE
        log_effect = MARKER_SPREAD * np.abs(rng.standard_normal((CLUSTERS, self.columns)))
        rates = np.exp(log_gene + raised * log_effect)
        return rates * self._level(rates)

    def _level(self, rates: NDArray[np.float64]) -> float:
        """Solve for the constant c with mean(1 - exp(-c size rate)) = density."""
        # Bisection on log c. Depths enter through 33 quantiles of their log-normal law.
        levels = (np.arange(33) + 0.5) / 33
        depths = np.exp(DEPTH_SPREAD * special.ndtri(levels))
        low, high = -30.0, 30.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            filled = np.mean([np.mean(-np.expm1(-np.exp(middle) * d * rates)) for d in depths])
            low, high = (middle, high) if filled < self.density else (low, middle)
        return float(np.exp(0.5 * (low + high)))

    def load(self) -> sparse.csr_matrix:
        """Draw the counts as a CSR matrix, shape (n, p); one dense block lives at a time."""
        rates = self.rates()
        blocks = []
        for number, start in enumerate(range(0, self.rows, BLOCK_ROWS)):
            count = min(BLOCK_ROWS, self.rows - start)
            rng = np.random.default_rng([self.seed, self.rows, self.columns, number])
            cluster = rng.integers(CLUSTERS, size=count)
            depth = np.exp(DEPTH_SPREAD * rng.standard_normal(count))
            dense = rng.poisson(rates[cluster] * depth[:, None])
            block = sparse.csr_matrix(dense, dtype=np.float64)
            if self.logged:
                _log(block, float(rates.mean(axis=0).sum()))
            blocks.append(block.astype(self.dtype))
        return sparse.vstack(blocks, format="csr")


def _log(block: sparse.csr_matrix, level: float) -> None:
    """Put log(1 + x·level/total) for every stored count x, in place."""
    total = np.asarray(block.sum(axis=1)).ravel()
    share = level / np.maximum(total, 1.0)
    block.data = np.log1p(block.data * np.repeat(share, np.diff(block.indptr)))
