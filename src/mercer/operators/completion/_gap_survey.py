"""Survey: which cells are missing, and the scale of those that are not; one pass.

A survey of rows in parts: what every part tells of its missing cells, joined.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import Array, binary_exponent, compiled, is_sparse
from mercer.operators.completion._compiled_expectation import (
    cells_of,
    is_worth_compiling,
    look_at,
)
from mercer.operators.completion._completion_model import empty_rows, lanes_of, tiles_of
from mercer.operators.rows._block_rows import block_length
from mercer.operators.rows._dense_rows import SAFE
from mercer.sources import PartBlocks, refuse_infinite

_BYTE = 255  # truth values that a byte can count
_FEW = 32  # rows of a tile that show whether a column varies
_ENOUGH = 1024  # rows whose means are near those of all
_LEAST = 1e-150  # deviation, and its inverse, that can be squared
_TINY = 2.0**-200  # size below which every cell is looked at


@final
class Survey:
    """Counts of missing cells, the range of the others, and evenly spaced rows.

    Parameters
    ----------
    columns : int
        p.
    most : int
        Rows of the sample, at most; every s-th row that counts is kept, s a power of two, so
        that the sample does not depend on the blocks.
    lasting : bool
        Whether blocks outlive the walk, so that the sample needs no copy of its rows.
    first : int
        Rows that stand before them elsewhere, and are counted.

    Attributes
    ----------
    rows : int
        Rows seen.
    counts : ndarray of shape (p,)
        Missing cells per column.
    weighed : ndarray of shape (p,)
        Σw over the observed cells of each column.
    low, high : ndarray of shape (p,)
        Least and largest of the observed cells of rows that count, those of weight 0 do
        not; low > high where there is none. The range is that of some rows of every tile,
        and of all where they do not vary.
    empty : list of int
        Numbers of the rows with nothing observed.
    finite : bool
        Whether no cell is infinite, in rows of weight 0 neither.
    """

    def __init__(
        self, columns: int, most: int, *, lasting: bool = False, first: int = 0
    ) -> None:
        self._lasting = lasting
        self.rows, self.most, self.step, self.finite = 0, most, 1, True
        self._counted = first  # rows of a weight above 0
        self.counts = np.zeros(columns, np.int64)
        self.weighed = np.zeros(columns)
        self.low, self.high = np.full(columns, np.inf), np.full(columns, -np.inf)
        self.empty: list[int] = []
        self._sample: list[tuple[int, Array, Array]] = []  # first of those, numbers, rows

    def add(self, block: Any, weights: Array | None = None) -> None:
        """Take in rows (r, p)."""
        cut = tiles_of(block)
        lanes = lanes_of(block)
        found: list[Any] = [None] * len(cut)
        plain = weights is None and not is_sparse(block)
        fast = plain and is_worth_compiling(block.size)

        def work(_lane: int, numbers: Iterator[int]) -> None:
            for number in numbers:
                part = cut[number]
                tile = block[part].toarray() if is_sparse(block) else block[part]
                own = None if weights is None else weights[part]
                found[number] = _looked_at_in_loops(tile) if fast else _looked_at(tile, own)

        with np.errstate(over="ignore", invalid="ignore"):
            lanes.run(work, len(cut))
            for part, (counts, weighed, low, high, empty, finite) in zip(
                cut, found, strict=True
            ):
                self.counts += counts
                self.finite = self.finite and finite
                self.weighed += weighed
                self.low, self.high = np.minimum(self.low, low), np.maximum(self.high, high)
                self.empty += (empty + (self.rows + part.start)).tolist()
        self._keep_rows(block, weights)
        self.rows += block.shape[0]

    def _keep_rows(self, block: Any, weights: Array | None) -> None:
        if weights is None or np.all(weights):
            numbers = np.arange(block.shape[0])
        else:
            numbers = np.flatnonzero(weights)
        held = sum(len(part) for _, part, _ in self._sample)
        first = -self._counted % self.step
        while held + len(range(first, len(numbers), self.step)) > self.most:
            self.step *= 2
            halves = list[tuple[int, Array, Array]]()
            for start, places, part in self._sample:
                skip = 0 if start % self.step == 0 else 1
                halves.append((start + skip * self.step // 2, places[skip::2], part[skip::2]))
            self._sample = halves
            held = sum(len(part) for _, part, _ in halves)
            first = -self._counted % self.step
        at = slice(first, None, self.step)
        some = block[at if len(numbers) == block.shape[0] else numbers[at]]
        if is_sparse(some) or not self._lasting:
            some = some.toarray() if is_sparse(some) else np.array(some)
        self._sample += [(self._counted + first, self.rows + numbers[at], some)]
        self._counted += len(numbers)

    @property
    def sample(self) -> tuple[Array, Array]:
        """Row numbers (m,) and rows (m, p)."""
        _, at, rows = zip(*self._sample, strict=True)
        return np.concatenate(at), rows[0] if len(rows) == 1 else np.concatenate(rows)

    @property
    def left_out(self) -> int:
        """How many rows have nothing observed."""
        return len(self.empty)

    @property
    def constant(self) -> Array:
        """Which columns (p,) have observed cells that are all equal, or one alone."""
        return np.asarray(self.low == self.high)

    def origin(self, dtype: Any) -> tuple[Array, int]:
        """Return means of observed cells, of some rows of the sample, as `dtype`, and the unit.

        A constant column gets its value exactly; the unit is 0 where squares need none.
        """
        rows = self.sample[1]
        rows = np.asarray(rows[:: len(rows) // _ENOUGH + 1], np.float64)
        seen = ~np.isnan(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            middle = self.low * 0.5 + self.high * 0.5
            mean = np.sum(rows, axis=0, where=seen) / np.maximum(seen.sum(axis=0), 1)
            mean = np.where(np.isfinite(mean) & seen.any(axis=0), mean, middle)
            mean = np.where(self.low == self.high, self.low, mean)
            mean = np.where(self.low <= self.high, mean, 0.0)
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
            "seen": np.array([self.rows, self.step, self._counted, self.finite]),
            "counts": self.counts,
            "numbers": np.stack([self.weighed, self.low, self.high]),
            "empty": np.array(self.empty, np.int64),
            "at": at,
            "sample": rows,
        }

    def restore(self, kept: dict[str, Array], *, ended: bool = False) -> bool:
        """See `Sums.restore`."""
        self.rows, self.step, self._counted, finite = (int(n) for n in kept["seen"])
        self.finite = bool(finite)
        self.counts = kept["counts"].copy()
        self.weighed, self.low, self.high = (row.copy() for row in kept["numbers"])
        self.empty = kept["empty"].tolist()
        self._sample = [(0, kept["at"], kept["sample"])]  # the first that counts is kept
        return True


def _looked_at(tile: Array, weights: Array | None) -> tuple[Any, ...]:
    """Return counts, weights and range per column, rows without a cell, and if all is finite.

    Rows of weight 0 have no part in the range: they may hold anything.
    """
    tile = np.asarray(tile, np.float64)
    missing = np.isnan(tile)
    counts = _counted(missing)
    seen = len(tile) - counts if weights is None else weights @ ~missing
    # Three columns rule out most rows: a walk along all of them costs as much as the rest.
    empty = np.flatnonzero(missing[:, 0] & missing[:, -1] & missing[:, tile.shape[1] // 2])
    empty = empty[missing[empty].all(axis=1)]
    held = tile if weights is None or np.all(weights) else tile[weights > 0]
    low, high = _range(held)
    plain = np.count_nonzero(np.isfinite(tile.astype(np.float32)))
    huge = plain + int(counts.sum()) < tile.size
    if huge or max(np.max(high, initial=0.0), -np.min(low, initial=0.0)) < _TINY:
        low, high = _range(held, len(held))  # infinite, or in need of a unit
    finite = not (huge and np.any(np.isinf(tile)))
    return counts, np.asarray(seen, np.float64), low, high, empty, finite


def _looked_at_in_loops(tile: Array) -> tuple[Any, ...]:
    """Return the same by a compiled loop: the range is that of all rows."""
    rows, columns = tile.shape
    counts, empty = np.zeros(columns, np.int64), np.zeros(rows, np.int64)
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    found = compiled(look_at)(cells_of(tile), counts, low, high, empty)
    finite = bool(np.all(low > -np.inf) and np.all(high < np.inf))
    return counts, (rows - counts).astype(np.float64), low, high, empty[:found], finite


def _counted(missing: Array) -> Array:
    """Return how many are true per column (p,): eight rows at a time, a byte for each.

    Eight rows of p bytes are p words; 255 words can be added before a byte overflows.
    """
    r, p = missing.shape
    counts = np.add.reduce(missing[r - r % 8 :], axis=0, dtype=np.int64)
    words = missing[: r - r % 8].reshape(-1).view(np.uint64).reshape(-1, p)
    for start in range(0, len(words), _BYTE):
        bytes_ = np.add.reduce(words[start : start + _BYTE], axis=0).view(np.uint8)
        counts += np.add.reduce(bytes_.reshape(8, p), axis=0, dtype=np.int64)
    return np.asarray(counts)


def _range(tile: Array, rows: int = _FEW) -> tuple[Array, Array]:
    """Return least and largest cell per column: of `rows` rows, of all where those agree."""
    low = np.fmin.reduce(tile[:rows], axis=0, initial=np.inf)
    high = np.fmax.reduce(tile[:rows], axis=0, initial=-np.inf)
    same = np.flatnonzero(low >= high)
    if len(same) and rows < len(tile):
        low[same] = np.fmin.reduce(tile[:, same], axis=0, initial=np.inf)
        high[same] = np.fmax.reduce(tile[:, same], axis=0, initial=-np.inf)
    return low, high


NAMED = 5  # rows with nothing observed that are named


@final
@dataclasses.dataclass(frozen=True)
class PartsSurvey:
    """What parts tell: see `Survey`; of rows with nothing observed the first few are named.

    Attributes
    ----------
    rows, counts, weighed, low, high
        See `Survey`.
    total : float
        Σw over the rows that have a cell.
    left_out : int
        Rows with nothing observed.
    named : tuple of str
        Where the first of them stand.
    at : ndarray of shape (m,)
        Numbers of the rows that are kept, the first of every `step` rows.
    kept : ndarray of shape (m, p)
        These rows.
    kept_weights : ndarray of shape (m,)
        Their weights; zero where nothing is observed.
    step : int
        A power of two.
    first : int
        Rows that stand before them, where that is known: then the rows that are kept do not
        depend on the parts.
    """

    rows: int
    counts: Array
    weighed: Array
    low: Array
    high: Array
    total: float
    left_out: int
    named: tuple[str, ...]
    at: Array
    kept: Array
    kept_weights: Array
    step: int
    first: int = 0

    @property
    def constant(self) -> Array:
        """See `Survey.constant`."""
        return np.asarray(self.low == self.high)

    @property
    def sample(self) -> tuple[Array, Array]:
        """Row numbers (m,) and rows (m, p)."""
        return self.at, self.kept

    def origin(self, dtype: Any) -> tuple[Array, int]:
        """See `Survey.origin`."""
        made = Survey(len(self.counts), max(len(self.kept), 1))
        made.add(self.kept, self.kept_weights if self.kept_weights.any() else None)
        made.rows, made.counts = self.rows, self.counts
        made.low, made.high = self.low, self.high
        return made.origin(dtype)

    def without_rows(self) -> "PartsSurvey":
        """Return the survey with one row, the means, in the place of all that were kept.

        Its origin is the same.
        """
        mean, _ = self.origin(self.kept.dtype)
        one = mean.astype(self.kept.dtype)[None, :]
        return dataclasses.replace(self, at=self.at[:1], kept=one, kept_weights=np.ones(1))

    def joined(self, other: "PartsSurvey", most: int) -> "PartsSurvey":
        """Return what these rows and those behind them tell, with at most `most` rows kept."""
        at = np.concatenate([self.at, self.rows + other.at])
        step = max(self.step, other.step)
        chosen = _first_of_each((self.first + at) // step)
        while len(chosen) > most:
            step *= 2
            chosen = _first_of_each((self.first + at) // step)
        names = ("rows", "counts", "weighed", "total", "left_out")
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return dataclasses.replace(
            self,
            **sums,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            named=(self.named + other.named)[:NAMED],
            at=at[chosen],
            kept=np.concatenate([self.kept, other.kept])[chosen],
            kept_weights=np.concatenate([self.kept_weights, other.kept_weights])[chosen],
            step=step,
        )


@final
@dataclasses.dataclass(frozen=True)
class SurveyOfParts:
    """The survey as work on parts; an infinite cell is refused where it lies.

    Parameters
    ----------
    most : int
        Rows of the sample, at most.
    block_bytes : float
        Size of the blocks in which a part is walked.
    """

    most: int
    block_bytes: float

    def part(self, rows: PartBlocks, weights: Array | None) -> PartsSurvey:
        """Return what one part tells."""
        first = rows.first or 0
        survey = Survey(rows.shape[1], self.most, first=first)
        for here, block in parted(rows, self.block_bytes):
            survey.add(block, None if weights is None else weights[here])
        if not survey.finite:
            refuse_infinite(rows)
        empty = survey.empty
        counts = np.ones(rows.shape[0]) if weights is None else weights.copy()
        counts[empty] = 0.0
        at, kept = _kept(survey, rows)
        told = survey.rows, survey.counts, survey.weighed, survey.low, survey.high
        named = tuple(place_of_row(rows, row) for row in empty[:NAMED])
        sample = at, kept, counts[at], survey.step, first
        return PartsSurvey(*told, float(np.sum(counts)), len(empty), named, *sample)

    def merge(self, one: PartsSurvey, other: PartsSurvey) -> PartsSurvey:
        """Return what two neighbouring parts tell."""
        return one.joined(other, self.most)


def _kept(survey: Survey, rows: PartBlocks) -> tuple[Array, Array]:
    if rows.shape[0] == 0:
        return np.zeros(0, np.int64), np.empty(rows.shape, rows.dtype)
    return survey.sample


def _first_of_each(cells: Array) -> Array:
    """Return where numbers that never fall change, the first included."""
    return np.flatnonzero(np.diff(cells, prepend=-1))


def parted(rows: PartBlocks, block_bytes: float) -> Iterator[tuple[slice, Any]]:
    """Yield the blocks of a part, and which of its rows they are."""
    start = 0
    for block in rows.blocks(block_length(rows, block_bytes)) if rows.shape[0] else ():
        stop = start + block.shape[0]
        yield slice(start, stop), block
        start = stop


def observed_weights(block: Any, weights: Array | None) -> Array | None:
    """Return the weights of rows (r, p), zero where nothing is observed."""
    empty = empty_rows(block)
    if empty.size == 0:
        return weights
    counts = np.ones(block.shape[0]) if weights is None else weights.copy()
    counts[empty] = 0.0
    return counts


def place_of_row(rows: PartBlocks, row: int) -> str:
    """Return where a row stands: its number, or part and number where that is not known."""
    return rows.place(row, 0).rsplit(", column", 1)[0]
