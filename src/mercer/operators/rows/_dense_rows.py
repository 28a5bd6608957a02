"""Rows: data about a provisional origin, and the sums that one pass over them gives."""

import abc
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, final

import numpy as np

from mercer.arrays import (
    EPS,
    Array,
    Lanes,
    Tiles,
    add_gram,
    advance,
    as_numpy,
    asarray_like,
    binary_exponent,
    column_ends,
    column_squares,
    column_sums,
    eps_of,
    in_units,
    interruptible,
    is_numpy,
    namespace,
    quiet_blas,
    scratch,
    shifted,
    task,
    thread_count,
    triangle,
)
from mercer.operators._centring import Centring, Moments
from mercer.operators._rounding import Rounding, gram_error
from mercer.operators._scaling import LEAST_SPREAD, Scaling
from mercer.sources import Source

LONGEST = 4000  # rows of float32 products that may be summed before they go to float64
_SAMPLE = 256  # rows, and
_SAMPLE_CELLS = 100_000  # cells, that give the provisional origin
_LANE_COLUMNS = 1000  # above this a lane's own (p, p) sums cost more than they save
_WORTH_LANES = 2e7  # flops below which starting threads costs more than it saves
_PROBED_ROWS = 128  # rows of a block that are repeated in float64 in one go
_HUGE = 100  # exponent of float32, or beyond, near which a difference may overflow
SAFE = {8: 240, 4: 28}  # item size: exponents whose squares and sums stay in range


class Rows(abc.ABC):
    """Rows y = (x - origin)·2^-exponent·√w of a source, handed out in dense blocks.

    Parameters
    ----------
    source : Source
        Where the rows are.
    weights : ndarray of shape (n,) or None
        Repeat counts.
    products : dtype or None
        Precision of products; None takes the precision of the data. Sums are float64.
    exponent : int or None
        Power of two taken out of the data; None finds it on a sample.
    origin : ndarray of shape (p,) or None
        Origin that was settled before, for new rows of a fitted model.
    """

    order = "C"
    tile_share = 0.04  # of the data's memory that a tile may take
    scaling: Scaling | None = None  # of the columns of a scatter, after it: errors grow with it

    def __init__(
        self,
        source: Source,
        weights: Array | None = None,
        products: Any = None,
        exponent: int | None = None,
        origin: Array | None = None,
    ) -> None:
        self.source = source
        self.shape = source.shape
        if is_numpy(source.array):
            flags = source.array.flags
            self.order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
        self.products = np.dtype(source.products if products is None else products)
        self.rounding = Rounding(self.products)
        count = max(16, min(_SAMPLE, _SAMPLE_CELLS // self.shape[1]))
        count = 1 if origin is not None and exponent is not None else count
        # A row that weighs next to nothing must not move the unit.
        among = None
        if weights is not None:
            among = np.flatnonzero(weights > 1e-3 * np.mean(weights))
        sample = source.sample(count, among)
        xp = namespace(sample)
        self.like = sample[:0, :]
        self.dtype = xp.float32 if self.products.itemsize == 4 else xp.float64
        self.weights = None if weights is None else asarray_like(weights, sample, xp.float64)
        self.total = float(self.shape[0] if weights is None else np.sum(weights))
        self.root = None if self.weights is None else xp.sqrt(self.weights)
        if origin is not None and exponent is not None:
            self.origin, self.exponent = asarray_like(origin, sample, xp.float64), exponent
            return
        middle = sample
        if weights is not None:  # the mean may be that of few rows, which hold all the weight
            middle = source.sample(count, _by_weight(as_numpy(weights), count))
        low, high = column_ends(sample)
        ends = (low, high) if middle is sample else None
        self.origin = self._provisional_origin(middle, ends)
        if exponent is None:
            # Halves: the difference of two huge numbers may be larger than the largest number.
            half = self.origin * 0.5
            largest = max(float(xp.max(high * 0.5 - half)), float(xp.max(half - low * 0.5)))
            exponent = binary_exponent(largest) + 1
        found = exponent
        self.exponent = found if abs(found) > SAFE[self.products.itemsize] else 0

    @abc.abstractmethod
    def _provisional_origin(
        self, sample: Array, ends: tuple[Array, Array] | None = None
    ) -> Array:
        """Return the origin (p,), representable in the precision of the data.

        `ends` are the least and the largest cells (p,) of the sample, where they are known.
        """

    @abc.abstractmethod
    def block(self, rows: slice, buffer: Array | None) -> Array:
        """Return the block (r, p) of y in `products` precision, written into `buffer`."""

    @abc.abstractmethod
    def outer(
        self, factor_of: Callable[[Array, Array], Array | None]
    ) -> tuple[Array, Moments, Array | None]:
        """Return X̃X̃ᵀ (n, n), the moments and the column factors, from one pass.

        `factor_of` maps variances and offsets (c,) of the next columns to their multipliers
        (c,), or None.
        """

    def tiles(self, most_bytes: float = 16e6) -> Tiles:
        """Return row blocks that fit the cache and take a small part of the data's memory."""
        n, p = self.shape
        most = min(most_bytes, max(4e5, self.tile_share * n * p * self.products.itemsize))
        return Tiles.of(n, p, self.products.itemsize, most_bytes=most, longest=LONGEST)

    def lanes(self, flops: float, width: int, blocks: int) -> Lanes:
        """Return the threads worth using for `flops` of work with sums `width` columns wide."""
        if flops < _WORTH_LANES or width > _LANE_COLUMNS or not is_numpy(self.like):
            return Lanes(1)
        return Lanes(min(thread_count(), blocks))

    def moments(self) -> Moments:
        """Return total, offset and the diagonal of the scatter: one pass, 3np flops.

        In float64 where columns are divided by it: what is wrong with a deviation is wrong
        with every eigenvalue.
        """
        n, p = self.shape
        xp = namespace(self.like)
        exact = self.scaling is not None and self.scaling.standardize
        products = np.dtype(np.float64) if exact else self.products
        tiles = self.tiles(1e6 if exact else 2e6)
        lanes = self.lanes(10.0 * n * p, 1, len(tiles))
        first = [xp.zeros((p,), dtype=xp.float64) for _ in range(lanes.count)]
        second = [xp.zeros((p,), dtype=xp.float64) for _ in range(lanes.count)]

        def work(lane: int, parts: Iterator[slice]) -> None:
            buffer = scratch((tiles.rows, p), products, self.like, self.order)
            for part in parts:
                y = self.block(part, buffer)
                first[lane] += column_sums(y, self._root_of(part, y.dtype))
                second[lane] += column_squares(y)

        lanes.over(tiles, work)
        sums, squares = sum(first[1:], first[0]), sum(second[1:], second[0])
        raw = float(xp.sum(squares))
        squares = squares - sums * (sums / self.total)
        # Equal terms round the same way, so that plain sums may err by half a unit each.
        worst = 0.5 * tiles.rows * EPS
        worst += 128 * eps_of(products) if products.itemsize == 4 else 0.0
        return self._finish(sums, squares, raw, tiles, worst)

    def vanished(self, squares: Array) -> Array:
        """Tell which columns (p,) vary although their sums of squares (p,) are next to nothing.

        Beside a column of 1e200 the squares of one of 1 are zero, as those of a constant one
        are. Only columns with such sums are looked at.
        """
        found = np.zeros(self.shape[1], bool)
        few = np.flatnonzero(as_numpy(squares) < LEAST_SPREAD**2 * max(self.total, 1.0))
        if few.size:
            low, high = self._range(few)
            found[few] = low < high
        return found

    def _range(self, columns: Array) -> tuple[Array, Array]:
        """Return the least and the largest cells (c,) of some columns in rows that count."""
        low, high = np.full(len(columns), np.inf), np.full(len(columns), -np.inf)
        for part in self.tiles():
            block = as_numpy(self.source.array[part, :])[:, columns]
            if self.weights is not None:
                block = block[as_numpy(self.weights)[part] > 0]
            if len(block):
                low = np.minimum(low, block.min(axis=0))
                high = np.maximum(high, block.max(axis=0))
        return low, high

    def weight_of(self, parts: Sequence[slice]) -> float:
        """Return Σw of some rows."""
        if self.weights is None:
            return float(sum(part.stop - part.start for part in parts))
        return float(sum(as_numpy(self.weights)[part].sum() for part in parts))

    def scatter(self, parts: Sequence[slice] | None = None) -> Moments:
        """Return the moments with the whole scatter matrix: one pass, np² flops.

        Of all rows, or of those in `parts`, slices that do not overlap.

        Blocks of at most 4,000 rows are multiplied in `products` precision and summed in
        float64. Where that is float32, its error is measured: the products of some blocks
        are compared with float64 ones of the stored values, and twice the worst ratio of
        error to trace is charged to every block.
        """
        return self.scatters([parts])[0]

    def scatters(self, groups: Sequence[Sequence[slice] | None]) -> list[Moments]:
        """Return the moments of several groups of rows, as `scatter` does, from one pass.

        Lanes are shared out among the groups, so that each has one sum to write to.
        """
        n, p = self.shape
        xp = namespace(self.like)
        tiles, many = self.tiles(), len(groups)
        if len(tiles) == 1 and [*groups] == [None] and self.products == np.float64:
            buffer = scratch((n, p), self.products, self.like, self.order)
            with task("rows"):
                y = self.block(slice(0, n), buffer)
                found = y.T @ y, column_sums(y, self.root)
                advance(1, 1)
            return [self._joined([found], None, tiles)]
        # The first block of every group, then the second of every group, …
        turns = itertools.zip_longest(*(_cut(tiles, parts) for parts in groups))
        blocks = list(itertools.chain.from_iterable(turns))
        lanes = self.lanes(float(n) * p * p, p, len(blocks))
        lanes = Lanes(lanes.count // many * many)
        sums = {
            (number % lanes.count, number % many): (
                xp.zeros((p, p), dtype=xp.float64),
                xp.zeros((p,), dtype=xp.float64),
            )
            for number in range(lanes.count * many)
        }

        def work(lane: int, numbers: Iterator[int]) -> None:
            buffer = scratch((tiles.rows, p), self.products, self.like, self.order)
            space = scratch((p, p), self.products, self.like)
            for number in numbers:
                part = blocks[number]
                if part is None:  # this group has fewer
                    continue
                gram, first = sums[lane, number % many]
                y = self.block(part, buffer)
                product = add_gram(gram, y, space)
                first += column_sums(y, self._root_of(part, y.dtype))
                if self.rounding.due(lane, float(xp.sum(xp.linalg.diagonal(product)))):
                    self.rounding.take(self._product_error(part, product))

        lanes.over(range(len(blocks)), work)
        return [
            self._joined([sums.pop(key) for key in list(sums) if key[1] == group], parts, tiles)
            for group, parts in enumerate(groups)
        ]

    def _joined(
        self, found: list[tuple[Array, Array]], parts: Sequence[slice] | None, tiles: Tiles
    ) -> Moments:
        """Return the moments of one group from the sums of its lanes."""
        xp = namespace(self.like)
        total = self.total if parts is None else self.weight_of(parts)
        scatter, sums = found.pop(0)
        while found:
            gram, first = found.pop(0)
            scatter += gram
            sums += first
        squares = as_numpy(xp.linalg.diagonal(scatter) * 1.0)  # old DLPack takes no views
        raw, blocks = float(squares.sum()), len(tiles) * total / self.total
        ratio = self.rounding.about(as_numpy(sums), squares, total, max(blocks, 1.0))
        scatter -= sums[:, None] * (sums[None, :] / total)
        return self._finish(sums, scatter, raw, tiles, ratio, total)

    def _product_error(self, rows: slice, product: Array) -> float:
        """Return ‖fl(YᵀY) - YᵀY‖ / ‖Y‖²_F of one block, from the stored values.

        Y has the factors that its columns will have: errors of small ones may be larger.
        """

        def exact(z: Array) -> Array:
            total = np.zeros_like(z)
            for start in range(rows.start, rows.stop, _PROBED_ROWS):
                part = slice(start, min(start + _PROBED_ROWS, rows.stop))
                buffer = scratch((_PROBED_ROWS, self.shape[1]), np.float64, self.like)
                y = as_numpy(self.block(part, buffer)).astype(np.float64, copy=False)
                total += y.T @ (y @ z)
            return total

        found = as_numpy(product)
        variances = np.diagonal(found).astype(np.float64) / (rows.stop - rows.start)
        factor = None if self.scaling is None else self.scaling.factor_of(variances, 0.0)
        return gram_error(found, exact, factor)

    def triangle(self, centring: Centring) -> Array:
        """Return R (≤ p, p) with RᵀR the scatter of x̃: blockwise QR in float64, 2np² flops."""
        n, p = self.shape
        xp = namespace(self.like)
        tiles = Tiles(n, min(n, max(256, 2 * p)))
        r = xp.zeros((0, p), dtype=xp.float64)
        buffer = scratch((tiles.rows, p), np.float64, self.like)
        with quiet_blas(p):
            for part in tiles:
                y = self.centred_block(part, buffer, centring)
                stacked = xp.concat([r, xp.astype(y, xp.float64, copy=False)], axis=0)
                r = interruptible(partial(triangle, stacked), p)
        return r

    def centred_block(self, rows: slice, buffer: Array | None, centring: Centring) -> Array:
        """Return a block (r, p) of x̃, the mean taken out and the columns scaled."""
        y = self.block(rows, buffer)
        xp = namespace(y)
        offset = xp.astype(centring.offset, y.dtype)
        root = self._root_of(rows, y.dtype)
        y -= offset if root is None else root[:, None] * offset[None, :]
        if centring.factor is not None:
            y *= xp.astype(centring.factor, y.dtype)
        return y

    def _root_of(self, rows: slice, dtype: Any) -> Array | None:
        """Return √w of some rows, rounded to the precision of a product."""
        xp = namespace(self.like)
        return None if self.root is None else xp.astype(self.root[rows], dtype, copy=False)

    def _finish(
        self,
        sums: Array,
        scatter: Array,
        raw: float,
        tiles: Tiles,
        ratio: float,
        total: float | None = None,
    ) -> Moments:
        total = self.total if total is None else total
        # Sums of independent roundings grow like the square root of their number.
        # Equal terms round the same way; BLAS sums them in sixteen or more parts.
        grow = EPS * (4 + math.sqrt(tiles.rows) + tiles.rows / 16 + len(tiles) / 2)
        return Moments(total, sums / total, scatter, raw, (grow + ratio) * raw)


def _by_weight(weights: Array, count: int) -> Array:
    """Return `count` row numbers, each row as often as its share of Σw: evenly spaced in it."""
    with np.errstate(over="ignore", under="ignore"):
        ends = np.cumsum(weights / np.max(weights, initial=1e-300))
    at = np.searchsorted(ends, (np.arange(count) + 0.5) / count * ends[-1])
    return np.minimum(at, len(weights) - 1)


def _cut(tiles: Tiles, parts: Sequence[slice] | None) -> list[slice]:
    """Return all blocks, or those of some rows, each no longer than a tile."""
    if parts is None:
        return [*tiles]
    return [
        slice(start, min(start + tiles.rows, part.stop))
        for part in parts
        for start in range(part.start, part.stop, tiles.rows)
    ]


@final
class DenseRows(Rows):
    """Rows of an array in memory; integers are turned into float64 block by block."""

    def _provisional_origin(
        self, sample: Array, ends: tuple[Array, Array] | None = None
    ) -> Array:
        xp = namespace(sample)
        low, high = column_ends(sample) if ends is None else ends
        with np.errstate(over="ignore", invalid="ignore"):
            mean = xp.sum(sample, axis=0, dtype=xp.float64) / sample.shape[0]
            whole = math.isfinite(float(xp.sum(mean)))
        if not whole:
            # Made small by 2^-12 first, so that a sum of huge values stays finite.
            mean = xp.mean(xp.astype(sample, xp.float64) * 2.0**-12, axis=0) * 2.0**12
        # A constant column must become exactly zero; its mean may be off by a rounding.
        return xp.where(low == high, low, xp.astype(mean, sample.dtype))

    def block(self, rows: slice, buffer: Array | None) -> Array:
        """See `Rows.block`."""
        y = self.about_origin(self.source.array[rows, :], self.origin, buffer)
        root = self._root_of(rows, y.dtype)
        if root is not None:
            y *= root[:, None]
        return y

    def about_origin(self, block: Array, origin: Array, buffer: Array | None) -> Array:
        """Return (block - origin)·2^-exponent; quarters where the difference would overflow."""
        huge = 2 if self.exponent > _HUGE else 0
        if huge:
            block, origin = block * 0.25, origin * 0.25
        y = shifted(block, origin, buffer)
        return in_units(y, self.exponent - huge) if self.exponent else y

    def outer(
        self, factor_of: Callable[[Array, Array], Array | None]
    ) -> tuple[Array, Moments, Array | None]:
        """See `Rows.outer`: columns are whole inside a block, so each is centred exactly."""
        n, p = self.shape
        xp = namespace(self.like)
        most = min(8e6, max(4e5, 0.04 * n * p * self.products.itemsize))
        tiles = Tiles.of(p, n, self.products.itemsize, most_bytes=most, longest=LONGEST)
        gram = xp.zeros((n, n), dtype=xp.float64)
        space = scratch((n, n), self.products, self.like)
        buffer = scratch((n, tiles.rows), self.products, self.like, self.order)
        offsets, scatters, factors = [], [], []
        for part in tiles:
            y, offset = self._whole_columns(part, buffer)
            offsets.append(offset)
            scatters.append(column_squares(y))
            factor = factor_of(scatters[-1] / (self.total - 1), offset)
            if factor is not None:
                y *= xp.astype(factor, y.dtype)
                factors.append(factor)
            product = add_gram(gram, y.T, space)
            if self.rounding.due(0, float(xp.sum(xp.linalg.diagonal(product)))):
                self.rounding.take(self._outer_error(part, factor, product))
        raw = float(xp.sum(xp.linalg.diagonal(gram)))
        sums = xp.concat(offsets, axis=0) * self.total
        ratio = self.rounding.charged
        found = self._finish(sums, xp.concat(scatters, axis=0), raw, tiles, ratio)
        return gram, found, xp.concat(factors, axis=0) if factors else None

    def _outer_error(self, part: slice, factor: Array | None, product: Array) -> float:
        """See `Rows._product_error`; here the blocks are columns and YYᵀ is probed."""
        buffer = scratch((self.shape[0], part.stop - part.start), np.float64, self.like)
        wide = as_numpy(self._whole_columns(part, buffer)[0]).astype(np.float64, copy=False)
        wide = wide if factor is None else wide * as_numpy(factor)
        return gram_error(as_numpy(product), lambda z: wide @ (wide.T @ z))

    def _whole_columns(self, part: slice, buffer: Array | None) -> tuple[Array, Array]:
        """Return columns (n, c) centred to rounding and weighted, and their offsets (c,)."""
        xp = namespace(self.like)
        y = self.about_origin(self.source.array[:, part], self.origin[part], buffer)
        if self.weights is None:
            offset = xp.sum(y, axis=0, dtype=xp.float64) / self.total
        else:
            offset = column_sums(y, xp.astype(self.weights, y.dtype)) / self.total
        y -= xp.astype(offset, y.dtype)
        root = self._root_of(slice(None), y.dtype)
        if root is not None:
            y *= root[:, None]
        return y, offset
