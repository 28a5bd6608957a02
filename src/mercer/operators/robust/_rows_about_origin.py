"""Placed rows: float64 blocks about an origin in their midst, whatever lies far out."""

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import EPS, Array, Tiles, binary_exponent, eps_of
from mercer.errors import InputError
from mercer.operators._centring import Centring
from mercer.operators.rows._block_rows import block_length
from mercer.operators.rows._dense_rows import SAFE
from mercer.operators.rows._source_walk import fetched
from mercer.sources import BlockSource, Source, in_memory

_SAMPLE, _SAMPLE_CELLS = 4096, 100_000  # rows, and cells, that give the origin
_TILE = 5e5  # bytes of a block of rows: some ten arrays of its size are made of it
_LONGEST = 4000  # rows of a block
_FAR = 1e100  # a cell so many units out is as far as one can be: its square is still finite


@final
class RowsAboutOrigin:
    """Rows y = (x - origin)·2^-exponent of any source, in dense float64 blocks.

    The origin is the column medians of a sample, and the unit is the size of the middle row:
    a row of 1e200 among rows of 1 must not cost these their digits. Cells beyond 1e100 units
    are taken as 1e100.

    Parameters
    ----------
    source : Source
        Where the rows are; a file is walked once by every method.
    origin : ndarray of shape (p,)
        In the units of the data, float64.
    exponent : int
        Power of two that is taken out.
    block_bytes : float
        Size of a block that is read, for files.
    """

    def __init__(
        self, source: Source, origin: Array, exponent: int = 0, block_bytes: float = 16e6
    ) -> None:
        self.source, self.origin, self.exponent = source, origin, exponent
        self.block_bytes = block_bytes

    @classmethod
    def of(cls, source: Source, counts: Array | None, block_bytes: float) -> "RowsAboutOrigin":
        """Return the rows of a source about the medians of a sample: one walk of a file."""
        among = None if counts is None else np.flatnonzero(counts > 0)
        most = max(16, min(_SAMPLE, _SAMPLE_CELLS // source.shape[1]))
        sample = np.asarray(source.sample(most, among))
        if counts is not None and len(counts) != source.shape[0]:
            raise InputError(
                "sample_weight must hold one number per row",
                got=f"{len(counts)} weights, {source.shape[0]} rows",
                fix="pass one weight for every row",
            )
        with np.errstate(all="ignore"):
            # Quarters: the mean of two middle values must not overflow.
            origin = np.median(sample * 0.25, axis=0).astype(sample.dtype) * 4
            half = np.max(np.abs(sample * 0.5 - origin * 0.5), axis=1)
        spread = half[half > 0]  # a row at the origin has no size
        middle = float(np.median(spread)) if spread.size and np.isfinite(half).all() else 0.0
        unit = binary_exponent(middle) + 1
        return cls(
            source, origin.astype(np.float64), unit if abs(unit) > SAFE[8] else 0, block_bytes
        )

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p)."""
        return self.source.shape

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield row numbers and rows y (r, p), each in memory of its own: one walk."""
        if not isinstance(self.source, BlockSource):
            yield from self._tiles(self.source, 0)
            return
        done = 0
        for block in fetched(self.source, block_length(self.source, self.block_bytes)):
            yield from self._tiles(in_memory(block), done)
            done += block.shape[0]

    def _tiles(self, source: Source, start: int) -> Iterator[tuple[slice, Array]]:
        n, p = source.shape
        tiles = Tiles.of(n, p, 8, most_bytes=_TILE, longest=_LONGEST)
        for part in tiles:
            yield (
                slice(start + part.start, start + part.stop),
                self.about_origin(source.array[part, :]),
            )

    def about_origin(self, block: Any) -> Array:
        """Return the rows y of a block as stored, dense or sparse."""
        x = np.asarray(block.toarray() if hasattr(block, "toarray") else block)
        with np.errstate(all="ignore"):
            if self.exponent > 0:  # smaller first: the difference might overflow
                y = np.ldexp(x.astype(np.float64), -self.exponent)
                y -= np.ldexp(self.origin, -self.exponent)
            else:
                y = np.subtract(x, self.origin, dtype=np.float64)
                y = np.ldexp(y, -self.exponent) if self.exponent else y
            if not np.isfinite(np.vdot(y, y)):
                np.clip(y, -_FAR, _FAR, out=y)  # NaN stays
        return y

    def varying(self, counts: Array) -> Array:
        """Tell which columns (p,) vary over the rows that count, as stored: one walk."""
        low, high = np.full(self.shape[1], np.inf), np.full(self.shape[1], -np.inf)
        as_stored = RowsAboutOrigin(self.source, np.zeros(self.shape[1]), 0, self.block_bytes)
        for part, block in as_stored.blocks():
            x = block[counts[part] > 0]
            low = np.minimum(low, x.min(axis=0, initial=np.inf))
            high = np.maximum(high, x.max(axis=0, initial=-np.inf))
        return low < high

    def coordinates(self, centring: Centring, axes: Array) -> Array:
        """Return X̃V (n, b) for axes V (p, b): one walk."""
        out = np.empty((self.shape[0], axes.shape[1]))
        for part, y in self.blocks():
            out[part] = deviations(y, centring) @ axes
        return out

    def distances(
        self, centring: Centring, axes: Array, deviation: Array, level: Array | None = None
    ) -> tuple[Array, Array]:
        """Return ‖diag(1/deviation)(Vᵀx̃ - level)‖ and ‖x̃ - VVᵀx̃‖ (n,) of every row: one walk.

        The second is the norm of the residual itself; ‖x̃‖² - ‖Vᵀx̃‖² would have no digits
        left for rows close to the axes.
        """
        score, orthogonal = [np.empty(0)], [np.empty(0)]  # the rows may not be counted yet
        for _, y in self.blocks():
            d = deviations(y, centring)
            t = d @ axes
            orthogonal.append(norms(d - t @ axes.T))
            score.append(norms((t if level is None else t - level) / deviation))
        return np.concatenate(score), np.concatenate(orthogonal)

    def rounding(self, centring: Centring, radius: float) -> float:
        """Return the length below which an orthogonal distance may be rounding alone.

        Stored numbers are off by half a unit, and so are the differences; `radius` is the
        size of a middle row x̃.
        """
        level = np.ldexp(self.origin, -self.exponent) + centring.offset
        level = level if centring.factor is None else level * centring.factor
        unit = max(eps_of(self.source.dtype), EPS)
        return float(4 * unit * np.linalg.norm(level) + 16 * EPS * radius)


def deviations(y: Array, centring: Centring) -> Array:
    """Return x̃ = (y - offset)·factor, in place of y."""
    y -= centring.offset
    if centring.factor is not None:
        y *= centring.factor
    return y


def rounding_of(offset: Array, factor: Array | None) -> float:
    """Return the distance from a point below which a row is on it but for rounding.

    A direction without digits tells nothing.
    """
    return float(4 * EPS * np.linalg.norm(offset if factor is None else offset * factor))


def norms(rows: Array) -> Array:
    """Return ‖row‖ (n,)."""
    with np.errstate(over="ignore", under="ignore"):
        return np.sqrt(np.einsum("ij,ij->i", rows, rows))
