"""Centred sparse rows: the mean is taken out of every product, never out of the matrix."""

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import Array, Lanes, thread_count
from mercer.operators._centring import Centring
from mercer.operators._operator import CentredOperator, Transposed
from mercer.operators.rows._sparse_rows import SparseRows
from mercer.operators.sparse._csr_blocks import (
    add_product,
    add_transposed,
    in_dtype,
    row_view,
    sparse_tiles,
)


@final
class CentredSparse(CentredOperator):
    """The centred data X̃ = diag(√w)(X - 1·offsetᵀ)·diag(factor) of sparse X (n, p).

    X̃Q = XQ - 1(offsetᵀQ) and X̃ᵀY = XᵀY - offset(1ᵀY): two-sided, as for dense rows.

    Parameters
    ----------
    rows : SparseRows
        Sparse rows; columns far from zero are already shifted.
    centring : Centring
        The mean and the column factors.
    """

    rows: SparseRows

    def __init__(self, rows: SparseRows, centring: Centring) -> None:
        super().__init__(rows, centring)
        self.tiles = sparse_tiles(rows.csr)
        self.views: dict[int, Any] = {}

    def _block(self, part: slice) -> Any:
        """Return one CSR block in float64; float64 data is shared, and found once."""
        if part.start in self.views:
            return self.views[part.start]
        view = row_view(self.rows.csr, part)
        if view.dtype != np.float64:
            return in_dtype(view, np.float64)
        self.views[part.start] = view
        return view

    def _lanes(self, width: int) -> Lanes:
        flops = 4.0 * self.rows.csr.nnz * width
        return Lanes(min(thread_count(), len(self.tiles)) if flops > 2e7 else 1)

    def _thin(self, q: Array) -> tuple[Array, Array]:
        q = self.centring.thin(q)
        return np.ascontiguousarray(q, np.float64), self.centring.offset @ q

    def scores(self, v: Array) -> Array:
        """Return X̃V (n, b) in the precision of the data."""
        return self._product(v, self.rows.source.products)

    def _product(self, v: Array, dtype: Any) -> Array:
        thin, level = self._thin(v)
        out = np.empty((self.shape[0], v.shape[1]), dtype)

        def work(_lane: int, parts: Iterator[slice]) -> None:
            for part in parts:
                y = self._block(part) @ thin - level
                root = self.rows._root_of(part, y.dtype)
                out[part] = y if root is None else root[:, None] * y

        self._lanes(v.shape[1]).over(self.tiles, work)
        return out

    def matmat(self, v: Array, /) -> Array:
        """See `Operator.matmat`."""
        return self._product(v, np.float64)

    def rmatmat(self, u: Array, /) -> Array:
        """See `Operator.rmatmat`."""
        root = self.rows.root
        u = u if root is None else root[:, None] * u
        thin = np.ascontiguousarray(u, np.float64)
        lanes = self._lanes(u.shape[1])
        total = np.zeros((lanes.count, self.shape[1], u.shape[1]))

        def work(lane: int, parts: Iterator[slice]) -> None:
            for part in parts:
                add_transposed(self._block(part), thin[part], total[lane])

        lanes.over(self.tiles, work)
        return self.centring.unthin(total.sum(axis=0), u.sum(axis=0, dtype=np.float64))

    def gram_matmat(self, q: Array, /) -> Array:
        """See `Operator.gram_matmat`: one reading of the stored cells, 4·nnz·b flops."""
        thin, level = self._thin(q)
        lanes = self._lanes(q.shape[1])
        total = np.zeros((lanes.count, self.shape[1], q.shape[1]))
        sums = np.zeros((lanes.count, q.shape[1]))
        weights = self.rows.weights

        def work(lane: int, parts: Iterator[slice]) -> None:
            for part in parts:
                block = self._block(part)
                y = np.zeros((block.shape[0], thin.shape[1]))
                add_product(block, thin, y)
                y -= level
                if weights is not None:
                    y *= weights[part, None]
                add_transposed(block, y, total[lane])
                sums[lane] += y.sum(axis=0)

        lanes.over(self.tiles, work)
        return self.centring.unthin(total.sum(axis=0), sums.sum(axis=0))

    def dense(self) -> Array:
        """See `Operator.dense`: row blocks are densified in place."""
        out = np.empty(self.shape)
        for part in self.tiles:
            out[part] = self.rows.centred_block(part, None, self.centring)
        return out

    @property
    def T(self) -> Transposed:  # noqa: N802 - the array API's name
        """The transpose X̃ᵀ (p, n), iterated on the side of the samples."""
        return Transposed(self)
