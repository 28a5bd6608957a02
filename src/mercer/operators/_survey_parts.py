"""A survey of rows in parts: what every part tells of its missing cells, joined."""

import dataclasses
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.operators._block_rows import block_length
from mercer.operators._completion import empty_rows
from mercer.operators._survey import Survey
from mercer.sources import PartBlocks, refuse_infinite

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
        kept = np.concatenate([self.kept, other.kept])[chosen]
        weights = np.concatenate([self.kept_weights, other.kept_weights])[chosen]
        return PartsSurvey(
            self.rows + other.rows,
            self.counts + other.counts,
            self.weighed + other.weighed,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.total + other.total,
            self.left_out + other.left_out,
            (self.named + other.named)[:NAMED],
            at[chosen],
            kept,
            weights,
            step,
            self.first,
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
        return PartsSurvey(
            survey.rows,
            survey.counts,
            survey.weighed,
            survey.low,
            survey.high,
            float(np.sum(counts)),
            len(empty),
            tuple(place_of_row(rows, row) for row in empty[:NAMED]),
            at,
            kept,
            counts[at],
            survey.step,
            first,
        )

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
