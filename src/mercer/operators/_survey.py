"""Survey: which cells are missing, and the scale of those that are not; one pass."""

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import Array, binary_exponent, is_sparse
from mercer.operators._completion import lanes_of, tiles_of
from mercer.operators._rows import SAFE

_BYTE = 255  # rows whose truth values a byte can count
_FEW = 32  # rows of a tile that show whether a column varies
_TINY = 2.0**-200  # size below which every cell is looked at


@final
class Survey:
    """Counts of missing cells, the range of the others, and evenly spaced rows.

    Parameters
    ----------
    columns : int
        p.
    most : int
        Rows of the sample, at most; every s-th row is kept, s a power of two, so that the
        sample does not depend on the blocks.

    Attributes
    ----------
    rows : int
        Rows seen.
    counts : ndarray of shape (p,)
        Missing cells per column.
    weighed : ndarray of shape (p,)
        Σw over the observed cells of each column.
    low, high : ndarray of shape (p,)
        Least and largest of the observed cells; low > high where there is none. The range
        is that of some rows of every tile, and of all where they do not vary.
    empty : list of int
        Numbers of the rows with nothing observed.
    finite : bool
        Whether no cell is infinite.
    """

    def __init__(self, columns: int, most: int) -> None:
        self.rows, self.most, self.step = 0, most, 1
        self.counts = np.zeros(columns, np.int64)
        self.weighed = np.zeros(columns)
        self.low, self.high = np.full(columns, np.inf), np.full(columns, -np.inf)
        self.empty: list[int] = []
        self._sample: list[tuple[int, Array]] = []

    def add(self, block: Any, weights: Array | None = None) -> None:
        """Take in rows (r, p)."""
        cut = tiles_of(block)
        lanes = lanes_of(block)
        found: list[Any] = [None] * len(cut)

        def work(_lane: int, numbers: Iterator[int]) -> None:
            for number in numbers:
                part = cut[number]
                tile = block[part].toarray() if is_sparse(block) else block[part]
                own = None if weights is None else weights[part]
                found[number] = _looked_at(tile, own)

        with np.errstate(over="ignore", invalid="ignore"):
            lanes.run(work, len(cut))
            for part, (counts, weighed, low, high, empty) in zip(cut, found, strict=True):
                self.counts += counts
                self.weighed += weighed
                self.low, self.high = np.minimum(self.low, low), np.maximum(self.high, high)
                self.empty += (empty + (self.rows + part.start)).tolist()
        self._keep_rows(block)
        self.rows += block.shape[0]

    def _keep_rows(self, block: Any) -> None:
        first = -self.rows % self.step
        some = block[first :: self.step]
        some = some.toarray() if is_sparse(some) else np.array(some)
        self._sample += [(self.rows + first, some)]
        while sum(len(part) for _, part in self._sample) > self.most:
            self.step *= 2
            halves = list[tuple[int, Array]]()
            for start, part in self._sample:
                skip = 0 if start % self.step == 0 else 1
                halves.append((start + skip * self.step // 2, part[skip::2]))
            self._sample = halves

    @property
    def sample(self) -> tuple[Array, Array]:
        """Row numbers (m,) and rows (m, p)."""
        at = [start + self.step * np.arange(len(part)) for start, part in self._sample]
        return np.concatenate(at), np.concatenate([part for _, part in self._sample])

    @property
    def finite(self) -> bool:
        """See the attributes."""
        seen = self.counts < self.rows
        return bool(
            np.all(np.isfinite(self.low[seen])) and np.all(np.isfinite(self.high[seen]))
        )

    @property
    def constant(self) -> Array:
        """Which columns (p,) have observed cells that are all equal, or one alone."""
        return np.asarray(self.low == self.high)

    def origin(self, dtype: Any) -> tuple[Array, int]:
        """Return the means of the observed cells of the sample, as `dtype`, and the unit.

        A constant column gets its value exactly; the unit is 0 where squares need none.
        """
        rows = np.asarray(self.sample[1], np.float64)
        seen = ~np.isnan(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            middle = self.low * 0.5 + self.high * 0.5
            mean = np.sum(rows, axis=0, where=seen) / np.maximum(seen.sum(axis=0), 1)
            mean = np.where(np.isfinite(mean) & seen.any(axis=0), mean, middle)
            mean = np.where(self.low == self.high, self.low, mean)
            mean = np.where(self.counts < self.rows, mean, 0.0)
            if np.dtype(dtype).kind == "f":
                mean = mean.astype(dtype).astype(np.float64)
        far = np.maximum(self.high * 0.5 - mean * 0.5, mean * 0.5 - self.low * 0.5)
        largest = float(np.max(far[np.isfinite(far)], initial=0.0))
        unit = binary_exponent(largest) + 1
        return mean, unit if abs(unit) > SAFE[8] else 0

    def keep(self) -> dict[str, Array]:
        """See `Sums.keep`."""
        at, rows = self.sample
        return {
            "seen": np.array([self.rows, self.step]),
            "counts": self.counts,
            "numbers": np.stack([self.weighed, self.low, self.high]),
            "empty": np.array(self.empty, np.int64),
            "at": at,
            "sample": rows,
        }

    def restore(self, kept: dict[str, Array], *, ended: bool = False) -> bool:
        """See `Sums.restore`."""
        self.rows, self.step = (int(n) for n in kept["seen"])
        self.counts = kept["counts"].copy()
        self.weighed, self.low, self.high = (row.copy() for row in kept["numbers"])
        self.empty = kept["empty"].tolist()
        first = int(kept["at"][0]) if len(kept["at"]) else 0
        self._sample = [(first, kept["sample"])]
        return True


def _looked_at(tile: Array, weights: Array | None) -> tuple[Any, ...]:
    """Return counts, weights and range per column, and the rows without a cell."""
    tile = np.asarray(tile, np.float64)
    missing = np.isnan(tile)
    counts = np.zeros(tile.shape[1], np.int64)
    for start in range(0, len(tile), _BYTE):  # sums of bytes, while they fit one
        counts += np.add.reduce(missing[start : start + _BYTE].view(np.uint8), dtype=np.uint8)
    seen = len(tile) - counts if weights is None else weights @ ~missing
    empty = np.flatnonzero(missing.all(axis=1))
    low, high = _range(tile)
    finite = np.count_nonzero(np.isfinite(tile.astype(np.float32)))
    tiny = max(np.max(high, initial=0.0), -np.min(low, initial=0.0)) < _TINY
    if tiny or finite + int(counts.sum()) < tile.size:  # infinite, or in need of a unit
        low, high = _range(tile, len(tile))
    return counts, np.asarray(seen, np.float64), low, high, empty


def _range(tile: Array, rows: int = _FEW) -> tuple[Array, Array]:
    """Return least and largest cell per column: of `rows` rows, of all where those agree."""
    low = np.fmin.reduce(tile[:rows], axis=0, initial=np.inf)
    high = np.fmax.reduce(tile[:rows], axis=0, initial=-np.inf)
    same = np.flatnonzero(low >= high)
    if len(same) and rows < len(tile):
        low[same] = np.fmin.reduce(tile[:, same], axis=0, initial=np.inf)
        high[same] = np.fmax.reduce(tile[:, same], axis=0, initial=-np.inf)
    return low, high
