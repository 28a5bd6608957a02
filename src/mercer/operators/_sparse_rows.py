"""Sparse rows: columns far from zero and more than half full are shifted where stored."""

from collections.abc import Callable
from typing import Any, final

import numpy as np
import scipy.sparse

from mercer.arrays import EPS, Array, binary_exponent
from mercer.operators._centring import Moments
from mercer.operators._rows import Rows
from mercer.sources import Source, SparseSource

_FAR = 10.0  # mean/std from which the two digits that float64 sums lose are worth a shift


def _column_sums(csr: Any, weights: Array | None) -> tuple[Array, Array, Array]:
    """Return Σw, Σwx and Σwx² per column over the stored cells, float64, a block at a time."""
    n, p = csr.shape
    count, first, second = np.zeros(p), np.zeros(p), np.zeros(p)
    step = max(1, int(4e6 * n / max(1, csr.nnz)))
    for start in range(0, n, step):
        cells = slice(csr.indptr[start], csr.indptr[min(start + step, n)])
        columns, x = csr.indices[cells], csr.data[cells].astype(np.float64)
        if weights is None:
            w = np.ones_like(x)
        else:
            lengths = np.diff(csr.indptr[start : min(start + step, n) + 1])
            w = np.repeat(weights[start : start + step], lengths)
        count += np.bincount(columns, w, p)
        first += np.bincount(columns, w * x, p)
        second += np.bincount(columns, w * x * x, p)
    return count, first, second


def _shift_full_columns(csr: Any, origin: Array) -> Any:
    """Return X - 1·originᵀ with the absent cells of the shifted columns filled in.

    Each shifted column is more than half full, so at most one cell is added per stored one.
    """
    shifted = csr.copy()
    shifted.data = shifted.data - origin[shifted.indices].astype(shifted.dtype)
    columns = np.flatnonzero(origin)
    stored = csr[:, columns]
    stored = scipy.sparse.csc_array(stored)
    rows, cols = [], []
    everything = np.arange(csr.shape[0])
    for place, column in enumerate(columns):
        held = stored.indices[stored.indptr[place] : stored.indptr[place + 1]]
        absent = np.setdiff1d(everything, held)
        rows.append(absent)
        cols.append(np.full(absent.size, column))
    i, j = np.concatenate(rows), np.concatenate(cols)
    fill = scipy.sparse.csr_array((-origin[j].astype(csr.dtype), (i, j)), shape=csr.shape)
    return scipy.sparse.csr_array(shifted) + fill


@final
class SparseRows(Rows):
    """Rows of a CSR matrix. Sums run over stored cells; nothing is densified whole.

    A column with mean/std above 10 is more than half full; its stored values are shifted
    and its absent cells become explicit. For the others float64 sums lose at most two of
    sixteen digits.
    """

    csr: Any

    def __init__(
        self,
        source: Source,
        weights: Array | None = None,
        products: Any = None,
        exponent: int | None = None,
        origin: Array | None = None,
    ) -> None:
        csr = source.array
        if not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
        source = SparseSource(csr)
        if exponent is None:
            exponent = binary_exponent(float(np.max(np.abs(csr.data), initial=0.0)))
        self.csr = csr
        self._weights = None if weights is None else np.asarray(weights, np.float64)
        super().__init__(source, weights, products, exponent, origin)
        if self.exponent:
            self.csr = self.csr.astype(np.float64)
            self.csr.data = np.ldexp(self.csr.data, -self.exponent)
            self.origin = np.ldexp(self.origin, -self.exponent)
        if np.any(self.origin):
            self.csr = _shift_full_columns(self.csr, self.origin)
        if self.exponent:
            self.origin = np.ldexp(self.origin, self.exponent)
        if self.csr.dtype != self.products:
            self.csr = self.csr.astype(self.products)

    def _provisional_origin(self, sample: Array) -> Array:
        del sample  # one reading of the stored cells tells exactly
        count, first, second = _column_sums(self.csr, self._weights)
        mean = first / self.total
        # Spread of the stored values alone would be lost in their squares: two readings.
        full = count > self.total / 2
        spread = np.sqrt(np.maximum(second / self.total - mean**2, 0.0))
        far = full & (np.abs(mean) > _FAR * np.maximum(spread, 0.0))
        stored_mean = np.where(count > 0, first / np.maximum(count, EPS), 0.0)
        return np.where(far, stored_mean, 0.0).astype(self.source.products)

    def block(self, rows: slice, buffer: Array | None) -> Array:
        """See `Rows.block`."""
        part = self.csr[rows]
        if buffer is None or buffer.dtype != part.dtype or not buffer.flags.c_contiguous:
            y = part.toarray().astype(self.products if buffer is None else buffer.dtype)
        else:
            y = part.toarray(out=buffer[: part.shape[0]])
        if self.root is not None:
            y *= self.root[rows, None]
        return np.asarray(y)

    def moments(self) -> Moments:
        """See `Rows.moments`: one reading of the stored cells."""
        _, first, second = _column_sums(self.csr, self._weights)
        raw = float(second.sum())
        scatter = second - first * (first / self.total)
        return self._finish(first, scatter, raw, self.tiles(), 0.0)

    def outer(
        self, factor_of: Callable[[Array], Array | None]
    ) -> tuple[Array, Moments, Array | None]:
        """See `Rows.outer`: X̃X̃ᵀ = (X - 1mᵀ)F²(X - 1mᵀ)ᵀ from the sparse product XF²Xᵀ."""
        moments = self.moments()
        factor = factor_of(moments.variances)
        wide = self.csr.astype(np.float64)
        if factor is not None:
            wide = wide @ scipy.sparse.diags_array(factor)
        level = moments.offset if factor is None else moments.offset * factor
        gram = np.asarray((wide @ wide.T).toarray(), dtype=np.float64)
        along = wide @ level
        gram -= along[:, None] + along[None, :]
        gram += float(level @ level)
        if self.root is not None:
            gram *= self.root[:, None] * self.root[None, :]
        raw = float(np.sum(wide.data**2)) + self.total * float(level @ level)
        grow = EPS * (4 + np.sqrt(self.shape[1]))
        found = Moments(self.total, moments.offset, moments.scatter, raw, grow * raw)
        return gram, found, factor
