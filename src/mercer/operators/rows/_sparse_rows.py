"""Sparse rows: columns far from zero and more than half full are shifted where stored."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import numpy as np
import scipy.sparse

from mercer.arrays import EPS, Array, Lanes, binary_exponent, thread_count
from mercer.operators._centring import Moments
from mercer.operators.rows._dense_rows import SAFE, Rows
from mercer.operators.sparse._csr_blocks import row_view, sparse_tiles
from mercer.operators.sparse._dense_columns import is_worth_loading
from mercer.operators.sparse._sparse_gram import compiled_sums, sparse_gram
from mercer.sources import Source, SparseSource

_FAR = 10.0  # mean/std from which the two digits that float64 sums lose are worth a shift
_STRIP = 256  # rows of the scatter that are centred at once


def _column_sums(csr: Any, weights: Array | None) -> tuple[Array, Array, Array]:
    """Return Σw, Σwx and Σwx² (p,) over the stored cells, float64, by products with weights."""
    p, tiles = csr.shape[1], sparse_tiles(csr)
    lanes = Lanes(min(thread_count(), len(tiles)) if csr.nnz > 1_000_000 else 1)
    if is_worth_loading(csr.nnz, csr.shape[0]):
        count, first, second = compiled_sums(csr, weights, tiles, lanes)
        return count, first, second
    sums = np.zeros((lanes.count, 3, p))

    def work(lane: int, parts: Iterator[slice]) -> None:
        for part in parts:
            block = row_view(csr, part).astype(np.float64)
            w = np.ones(block.shape[0]) if weights is None else weights[part]
            sums[lane, 1] += block.T @ w
            block.data **= 2
            sums[lane, 2] += block.T @ w
            block.data[:] = 1.0
            sums[lane, 0] += block.T @ w

    lanes.over(tiles, work)
    total = sums.sum(axis=0)
    return total[0], total[1], total[2]


def _without_light_rows(csr: Any, weights: Array) -> Any:
    """Return rows with zeros in place of the finite cells of rows of weight zero.

    Such a row may be as far away as it likes: it must not settle the unit of the others.
    Cells that are not finite stay, to be found and refused.
    """
    if np.all(weights):
        return csr
    light = np.repeat(weights == 0, np.diff(csr.indptr))
    data = np.where(light & np.isfinite(csr.data), csr.data.dtype.type(0), csr.data)
    return type(csr)((data, csr.indices, csr.indptr), shape=csr.shape)


def _shift_full_columns(csr: Any, origin: Array) -> Any:
    """Return X - 1·originᵀ with the absent cells of the shifted columns filled in.

    Each shifted column is more than half full, so at most one cell is added per stored one.
    """
    shifted = csr.astype(np.float64)  # a copy: float32 would round what is far from the origin
    shifted.data -= origin[shifted.indices]
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
    fill = scipy.sparse.csr_array((-origin[j].astype(np.float64), (i, j)), shape=csr.shape)
    return scipy.sparse.csr_array(shifted) + fill


@final
class SparseRows(Rows):
    """Rows of a CSR matrix. Sums run over stored cells; nothing is densified whole.

    A column with mean/std above 10 is more than half full; its stored values are shifted
    and its absent cells become explicit. For the others float64 sums lose at most two of
    sixteen digits. Products are float64 for float32 data too: sparse products are bound by
    the reading of indices, and float32 would not halve their time.
    """

    csr: Any
    _sums: tuple[Array, Array, Array] | None = None

    def __init__(
        self,
        source: Source,
        weights: Array | None = None,
        products: Any = None,
        exponent: int | None = None,
        origin: Array | None = None,
    ) -> None:
        del products
        csr = source.array
        if not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
        if weights is not None:
            csr = _without_light_rows(csr, np.asarray(weights))
        source = SparseSource(csr)
        if exponent is None:
            low, high = csr.data.min(initial=0), csr.data.max(initial=0)
            exponent = binary_exponent(max(-float(low), float(high)))
        exponent = exponent if abs(exponent) > SAFE[8] else 0
        self.csr = csr
        if exponent:  # before anything is squared
            self.csr = csr.astype(np.float64)
            self.csr.data = np.ldexp(self.csr.data, -exponent)
        self._weights = None if weights is None else np.asarray(weights, np.float64)
        super().__init__(source, weights, np.float64, exponent, origin)
        here = np.ldexp(self.origin, -exponent) if origin is not None else self.origin
        if np.any(here):
            self._sums = None
            self.csr = _shift_full_columns(self.csr, here)
        self.origin = np.ldexp(here, exponent)

    def _provisional_origin(
        self, sample: Array, ends: tuple[Array, Array] | None = None
    ) -> Array:
        del sample, ends  # one reading of the stored cells tells exactly
        self._sums = _column_sums(self.csr, self._weights)
        count, first, second = self._sums
        mean = first / self.total
        # Spread of the stored values alone would be lost in their squares: two readings.
        full = count > self.total / 2
        spread = np.sqrt(np.maximum(second / self.total - mean**2, 0.0))
        far = full & (np.abs(mean) > _FAR * np.maximum(spread, 0.0))
        stored_mean = np.where(count > 0, first / np.maximum(count, EPS), 0.0)
        return np.where(far, stored_mean, 0.0).astype(self.source.products)

    def block(self, rows: slice, buffer: Array | None) -> Array:
        """See `Rows.block`."""
        part = row_view(self.csr, rows).astype(np.float64)
        y = part.toarray(out=None if buffer is None else buffer[: part.shape[0]])
        if self.root is not None:
            y *= self.root[rows, None]
        return np.asarray(y)

    def _range(self, columns: Array) -> tuple[Array, Array]:
        csr = self.source.array[:, columns]
        csr = csr if self._weights is None else csr[self._weights > 0]
        low, high = (np.asarray(each(axis=0).todense()) for each in (csr.min, csr.max))
        return low.ravel(), high.ravel()

    def moments(self) -> Moments:
        """See `Rows.moments`: one reading of the stored cells."""
        _, first, second = self._sums or _column_sums(self.csr, self._weights)
        raw = float(second.sum())
        scatter = second - first * (first / self.total)
        return self._finish(first, scatter, raw, self.tiles(), 0.0)

    def scatter(self, parts: Sequence[slice] | None = None) -> Moments:
        """See `Rows.scatter`: full columns are multiplied as dense ones, the others sparse."""
        if parts is None:
            csr, root, total = self.csr, self.root, self.total
            _, first, _ = self._sums or _column_sums(csr, self._weights)
        else:
            some = np.concatenate([np.arange(part.start, part.stop) for part in parts])
            csr, total = self.csr[some], self.weight_of(parts)
            root = None if self.root is None else self.root[some]
            weights = None if self._weights is None else self._weights[some]
            _, first, _ = _column_sums(csr, weights)
        gram, tiles = sparse_gram(csr, root)
        raw = float(np.trace(gram))
        mean = first / total
        for low in range(0, len(first), _STRIP):  # an outer product of all would be as large
            gram[low : low + _STRIP] -= first[low : low + _STRIP, None] * mean[None, :]
        return self._finish(first, gram, raw, tiles, 0.0, total)

    def outer(
        self, factor_of: Callable[[Array, Array], Array | None]
    ) -> tuple[Array, Moments, Array | None]:
        """See `Rows.outer`: X̃X̃ᵀ = (X - 1mᵀ)F²(X - 1mᵀ)ᵀ from the sparse product XF²Xᵀ."""
        moments = self.moments()
        factor = factor_of(moments.variances, moments.offset)
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
