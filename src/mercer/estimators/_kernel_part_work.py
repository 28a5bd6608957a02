"""The work of kernel PCA on rows in parts: a sample that settles the landmarks, then sums."""

import copy
import dataclasses
import math
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators._kernel_landmarks import stacked
from mercer.estimators._kernel_rows import KernelRows
from mercer.estimators._kernel_sample import OTHERS
from mercer.kernels import Kernel
from mercer.operators import Landmarks, LandmarkSums
from mercer.sources import (
    PartBlocks,
    bad_cell,
    bad_cell_error,
    in_memory,
    refuse_sum,
    sum_of,
)

_BLOCK_BYTES = 16e6  # of rows that are standardised at a time


@dataclasses.dataclass(frozen=True)
class Sample:
    """Rows that stand for all rows of some parts.

    Attributes
    ----------
    rows : array or CSR array of shape (r, p), or None
        As they lie in the parts, in their order; None where there are none.
    weights : ndarray of shape (r,)
        How many rows, repeats counted, each stands for.
    count : int
        Rows of the parts.
    whole : bool
        Whether the rows are all of them, with their own repeat counts.
    """

    rows: Any
    weights: Array
    count: int
    whole: bool = True

    def thinned(self, most: int) -> "Sample":
        """Return at most `most` rows, evenly spaced among rows repeated w times.

        They stand at jW/most, j = 0, 1, …, with W = Σw, so that a repeat count does what
        repeats do; each stands for W/most rows, as often as it was met. A row that would be
        met nearly always has one place and its own weight: else hardly another were seen.
        """
        if len(self.weights) <= most:
            return self
        ends = np.cumsum(self.weights)
        step = float(ends[-1]) / most
        if step == 0.0:
            return dataclasses.replace(self, rows=self.rows[:most], weights=np.zeros(most))
        last = int(np.flatnonzero(self.weights)[-1])
        met = np.searchsorted(ends, step * np.arange(most), side="right")
        at, times = np.unique(np.minimum(met, last), return_counts=True)
        if most > 1 and times.max() > (1 - OTHERS) * most:
            return self._beside(int(at[np.argmax(times)]), most)
        return Sample(self.rows[at], step * times, self.count, whole=False)

    def _beside(self, heavy: int, most: int) -> "Sample":
        """Return a sample of a row that would take nearly all places, and of the others."""
        rest = np.delete(np.arange(len(self.weights)), heavy)
        others = Sample(rest, self.weights[rest], self.count).thinned(most - 1)
        at = np.append(others.rows, heavy)
        weights, order = np.append(others.weights, self.weights[heavy]), np.argsort(at)
        return Sample(self.rows[at[order]], weights[order], self.count, whole=False)

    def joined(self, other: "Sample", most: int) -> "Sample":
        """Return the sample of two neighbouring parts."""
        count, whole = self.count + other.count, self.whole and other.whole
        if self.rows is None or other.rows is None:
            found = other if self.rows is None else self
            return dataclasses.replace(found, count=count, whole=whole)
        rows = stacked((self.rows, other.rows))
        weights = np.concatenate([self.weights, other.weights])
        return Sample(rows, weights, count, whole).thinned(most)


@dataclasses.dataclass(frozen=True)
class Settled:
    """What a sample settles: m×p and m×m numbers, no other row.

    `alignment` is that of the kernel with the linear one, `count` the number of all rows,
    `choice` how many axes are beyond noise, where that is asked.
    """

    kernel: Kernel
    frame: KernelRows
    landmarks: Landmarks
    alignment: float | None
    count: int
    choice: Any = None


@dataclasses.dataclass(frozen=True)
class LandmarksOfParts:
    """Rows of every part, merged; on all of them together the landmarks are chosen.

    Parameters
    ----------
    model : KernelPCA
        Parameters and no data; its seed is a number.
    most : int
        Rows of the sample.
    total : int or None
        All rows, where they are counted: then the sample of rows without weights does not
        depend on how they are cut into parts.
    """

    model: Any
    most: int
    total: int | None

    def part(self, rows: PartBlocks, weights: Array | None) -> Sample:
        """Return evenly spaced rows of one part, all cells of which are looked at."""
        refuse_cells(rows)
        n = rows.shape[0]
        if n == 0:
            return Sample(None, np.zeros(0), 0)
        counts = np.ones(n) if weights is None else weights
        found = Sample(_read(rows), counts, n)
        if self.total is None or self.total <= self.most:
            return found.thinned(self.most)
        if weights is not None or rows.first is None:
            return found.thinned(math.ceil(self.most * n / self.total))
        numbers = np.arange(self.most) * self.total // self.most - rows.first
        at = numbers[(numbers >= 0) & (numbers < n)]
        each = np.full(len(at), self.total / self.most)
        return Sample(found.rows[at] if len(at) else None, each, n, whole=False)

    def merge(self, one: Sample, other: Sample) -> Sample:
        """Return the sample of both, no longer than one."""
        return one.joined(other, self.most)

    def finish(self, sample: Sample) -> Settled:
        """Settle kernel and landmarks on the sample."""
        refuse_few(sample)
        weights = sample.weights
        alike = 1.0 if sample.whole else weights[0]
        weighted = None if np.all(weights == alike) else weights
        model = copy.copy(self.model)
        marks = model._marked(in_memory(sample.rows), weighted)
        frame = dataclasses.replace(model._frame, weights=None)
        alignment = model._alignment(model.X_fit_)
        choice = None
        if model._auto:
            choice = model._chosen(model.X_fit_, weighted, sample.count)
        return Settled(model._seen, frame, marks, alignment, sample.count, choice)


@dataclasses.dataclass(frozen=True)
class SumsOfParts:
    """Sums over the landmark features of every part: m×m numbers."""

    landmarks: Landmarks
    frame: KernelRows

    def part(self, rows: PartBlocks, weights: Array | None) -> dict[str, Any]:
        """Return the sums of one part, without the landmarks."""
        sums = LandmarkSums(self.landmarks)
        length = max(1, int(_BLOCK_BYTES // (8 * max(1, rows.shape[1]))))
        for number, block in enumerate(rows.blocks(length)):
            here = slice(number * length, (number + 1) * length)
            counts = None if weights is None else weights[here]
            sums.add(self.frame.ready(in_memory(block)), counts)
        return sums.bare()

    def merge(self, one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        """Return the sums of both."""
        left = LandmarkSums.through(self.landmarks, one)
        return left.merge(LandmarkSums.through(self.landmarks, other)).bare()


@dataclasses.dataclass(frozen=True)
class Together:
    """A sample and sums in one pass, where the landmarks are known before it."""

    sample: LandmarksOfParts
    sums: SumsOfParts

    def part(self, rows: PartBlocks, weights: Array | None) -> tuple[Sample, dict[str, Any]]:
        """Return both of one part; the sample looks at its cells first."""
        return self.sample.part(rows, weights), self.sums.part(rows, weights)

    def merge(self, one: Any, other: Any) -> tuple[Sample, dict[str, Any]]:
        """Return both of both."""
        return self.sample.merge(one[0], other[0]), self.sums.merge(one[1], other[1])

    def finish(self, both: Any) -> tuple[Settled, dict[str, Any]]:
        """Settle what is left to settle."""
        return self.sample.finish(both[0]), both[1]


def _read(rows: PartBlocks) -> Any:
    """Return the rows of a part as its blocks are."""
    dense = rows.nnz is None and hasattr(rows.held, "toarray")
    return rows.held.toarray() if dense else rows.held


def refuse_cells(rows: PartBlocks) -> None:
    """Name the first cell of a part that is no finite number."""
    found = bad_cell(rows.held)
    if found is not None:
        raise bad_cell_error(rows.place(found[0], found[1]), found[2])


def refuse_few(sample: Sample) -> None:
    """Refuse rows that have no variance because there is one, or nothing counts."""
    if sample.count < 2:
        raise InputError(
            "one row has no variance" if sample.count else "there are no rows to fit",
            got=f"{sample.count} rows in all parts together",
            fix="pass at least two rows",
        )
    refuse_sum(sum_of(sample.weights)[0], f"{sample.count} rows")
