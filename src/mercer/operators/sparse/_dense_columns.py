"""Which sparse columns are multiplied as dense ones, and what their Gram matrix costs."""

import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import Array, can_compile, loading_bytes
from mercer.operators.sparse._csr_blocks import LONGEST
from mercer.sources import BlockSource, Source, SparseSource, SpreadSource

# What a step costs in flops of a dense symmetric float64 product, measured on one core. The
# first number is for float32, the second for float64.
_DENSE = (0.5, 1.0)  # an entry of HᵀH, for each row
_FILL = (35.0, 70.0)  # a cell of H, written and added up
_THIN = (12.0, 25.0)  # a multiply-add of LᵀH
_PAIR = 170.0  # a pair of light cells, half of them being left out
_CELL = 450.0  # a light cell that is moved and turned
_COMPILED = 45.0  # a pair of any cells in a compiled loop
_WORTH_LOADING = 4e8  # pairs, below which loading the loop takes longer than it saves
_CHOICES = 64  # numbers of heavy columns that are compared
_SAMPLED = 4000  # rows
_HELD = (250_000, 2_000_000)  # light cells that are multiplied in one go, least and most
_TILE_BYTES = (1e6, 16e6)  # of the dense block of the heavy columns, least and most
_WIDEST = 9e6  # entries of HᵀX above which a lane's own sums cost too much memory
_LANE_WORK = 2e7  # flops below which starting threads costs more than it saves
EXACT = 2.0**24  # up to here float32 holds every whole number


@dataclasses.dataclass(frozen=True)
class SparseSample:
    """What evenly spaced rows tell of sparse data.

    Parameters
    ----------
    shares : ndarray of shape (p,)
        Share of stored cells of each column.
    square : float
        Largest mean square of a column.
    whole : bool
        Whether all values are whole numbers.
    """

    shares: Array
    square: float
    whole: bool

    @classmethod
    def of(cls, csr: Any) -> "SparseSample":
        """Return what about 4,000 rows tell."""
        n, p = csr.shape
        rows = csr[:: max(1, n // _SAMPLED)]
        count, data = max(1, rows.shape[0]), rows.data.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # cells may be of any size
            squares = np.bincount(rows.indices, data**2, minlength=p)
        shares = np.bincount(rows.indices, minlength=p) / count
        return cls(shares, float(np.max(squares, initial=0.0)) / count, is_whole(data))

    @property
    def exact_rows(self) -> int:
        """Rows whose sums of squares are likely to stay below 2^24; 0 for fractions."""
        return int(min(LONGEST, 0.5 * EXACT / max(self.square, 1e-9))) if self.whole else 0


def is_whole(data: Array) -> bool:
    """Tell whether all values are whole numbers."""
    return data.dtype.kind in "biu" or bool(np.array_equal(np.rint(data), data))


@dataclasses.dataclass(frozen=True)
class Split:
    """Which columns are multiplied as dense ones, and what the product costs.

    Parameters
    ----------
    order : ndarray of shape (p,)
        Columns by falling number of stored cells.
    heavy : int
        How many of the first of them are dense.
    flops : float
        Cost of the Gram matrix, in flops of a dense symmetric float64 product.
    light : float
        Stored cells of a row in the other columns.
    exact_rows : int
        Rows of a block whose float32 products are likely to be exact; 0 for float64.
    compiled : bool
        Whether a compiled loop over all pairs of cells is cheaper than any split.
    """

    order: Array
    heavy: int
    flops: float
    light: float = 0.0
    exact_rows: int = 0
    compiled: bool = False

    @classmethod
    def of(cls, sample: SparseSample, n: int, weighted: bool = False) -> "Split":
        """Return the cheapest split of n rows like those of the sample.

        Cells of different columns are taken as independent: a row then meets μ² + μ pairs
        of light cells, μ being the sum of the light shares. Blocks of a few hundred rows
        would spend their time on adding up, so that these are multiplied in float64.
        """
        shares = sample.shares
        exact = sample.exact_rows if sample.exact_rows >= 500 and not weighted else 0
        kind = 0 if exact else 1
        order = np.argsort(-shares, kind="stable")
        left = np.append(np.cumsum(shares[order][::-1])[::-1], 0.0)  # light cells per row
        heavy = np.unique(np.linspace(0, len(shares), _CHOICES + 1).astype(int))
        mu = np.maximum(left[heavy], 0.0)
        dense = _DENSE[kind] * heavy.astype(np.float64) ** 2 + _FILL[kind] * heavy
        flops = n * (dense + (_THIN[kind] * heavy + _CELL) * mu + _PAIR * (mu**2 + mu))
        best = int(np.argmin(flops))
        cost = _COMPILED * 0.5 * n * float(left[0] ** 2 + left[0])
        if cost < flops[best] and is_worth_loading(n * float(left[0]), n):
            return cls(order, 0, cost, float(left[0]), compiled=True)
        return cls(order, int(heavy[best]), float(flops[best]), float(mu[best]), exact)

    def lanes(self, threads: int) -> int:
        """Return the threads worth using: each keeps its own sums HᵀX (h, p)."""
        fits = self.heavy * len(self.order) <= _WIDEST
        return threads if fits and self.flops > _LANE_WORK else 1

    def block_rows(self, n: int, nnz: int, lanes: int) -> int:
        """Return the rows of a block, so that every lane has equally many blocks."""
        fit = int(_tile_bytes(nnz) // ((4 if self.exact_rows else 8) * max(self.heavy, 1)))
        rows = max(1, min(n, self.exact_rows or LONGEST, LONGEST, max(64, fit)))
        turns = -(-n // (rows * lanes))
        return max(1, -(-n // (turns * lanes)))


def is_worth_loading(cells: float, rows: int) -> bool:
    """Tell whether rows with so many cells in all have enough pairs for compiled loops."""
    return 0.5 * cells * cells > _WORTH_LOADING * max(rows, 1) and can_compile()


def gram_flops(source: Source, weighted: bool = False) -> float | None:
    """Return the cost of the Gram matrix of sparse data, None for dense data (np²)."""
    n, p = source.shape
    if (
        isinstance(source, BlockSource | SpreadSource) and source.nnz is not None
    ):  # as if evenly filled
        even = np.full(p, source.nnz / max(n * p, 1))
        return Split.of(SparseSample(even, 1.0, whole=False), n).flops
    if not isinstance(source, SparseSource):
        return None
    return Split.of(SparseSample.of(source.array), source.shape[0], weighted).flops


def sparse_loading(source: Source, block: int | None = None) -> float:
    """Return what loading compiled loops takes, where rows are sparse and worth it.

    `block` rows of a file are worked on at a time.
    """
    if source.nnz is None:
        return 0.0
    n = source.shape[0]
    rows = n if block is None else min(block, n)
    worth = is_worth_loading(source.nnz * rows / max(n, 1), rows)
    return loading_bytes() if worth else 0.0


def gram_bytes(nnz: int, p: int, threads: int) -> float:
    """Return the most that `sparse_gram` takes, whatever the split."""
    # A lane holds XᵀH and the product that is added to it.
    sums = 16.0 * max(min(p * p, _WIDEST) * threads, p * p)
    return 8.0 * p * p + sums + 50.0 * held_cells(nnz) + threads * _tile_bytes(nnz)


def held_cells(nnz: int) -> int:
    """Return how many light cells are multiplied in one go."""
    return min(nnz, max(_HELD[0], min(nnz // 16, _HELD[1])))


def _tile_bytes(nnz: int) -> float:
    return min(max(0.5 * nnz, _TILE_BYTES[0]), _TILE_BYTES[1])
