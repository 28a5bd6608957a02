"""Kernel PCA of rows in parts: two passes where they lie.

One pass samples all parts and settles lengthscale and landmarks in a task of its own; one more,
before it, finds means and deviations where columns are standardised; the last one sums landmark
features. Results are merged where the rows lie, along a fixed tree: m×p and m×m numbers come
back.
"""

import dataclasses
import math
from typing import Any

import numpy as np

from mercer.arrays import Array, stacked
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.kernel._kernel_fit import Kept, KernelRequest, SeenRows, alignment
from mercer.estimators.kernel._kernel_rows import FIRST_GUESS, KernelRows
from mercer.estimators.kernel._landmark_model import LandmarkChoice
from mercer.estimators.kernel._row_samples import OTHERS
from mercer.estimators.kernel._row_stream import BUFFER, ENDLESS, Gathered, Stream, marked
from mercer.estimators.walk._rows_in_parts import reading_parts, refuse_bad_part
from mercer.kernels import Kernel, Precomputed
from mercer.operators import Landmarks, LandmarkSums
from mercer.planning import KernelCost, Problem, certifying_rows
from mercer.selection import Choice
from mercer.sources import PartBlocks, SpreadSource, in_memory, refuse_sum, scan, sum_of

_BLOCK_BYTES = 16e6  # of rows that are standardised at a time

Bare = dict[str, Array]  # sums of landmark features without the landmarks


@dataclasses.dataclass(frozen=True)
class ThinnedRows:
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

    rows: Array
    weights: Array
    count: int
    whole: bool = True

    def thinned(self, most: int) -> "ThinnedRows":
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
        return ThinnedRows(self.rows[at], step * times, self.count, whole=False)

    def _beside(self, heavy: int, most: int) -> "ThinnedRows":
        """Return a sample of a row that would take nearly all places, and of the others."""
        rest = np.delete(np.arange(len(self.weights)), heavy)
        others = ThinnedRows(rest, self.weights[rest], self.count).thinned(most - 1)
        at = np.append(others.rows, heavy)
        weights, order = np.append(others.weights, self.weights[heavy]), np.argsort(at)
        return ThinnedRows(self.rows[at[order]], weights[order], self.count, whole=False)

    def joined(self, other: "ThinnedRows", most: int) -> "ThinnedRows":
        """Return the sample of two neighbouring parts."""
        count, whole = self.count + other.count, self.whole and other.whole
        if self.rows is None or other.rows is None:
            found = other if self.rows is None else self
            return dataclasses.replace(found, count=count, whole=whole)
        rows = stacked((self.rows, other.rows))
        weights = np.concatenate([self.weights, other.weights])
        return ThinnedRows(rows, weights, count, whole).thinned(most)


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
    choice: Choice | None = None


@dataclasses.dataclass(frozen=True)
class LandmarksOfParts:
    """Rows of every part, merged; on all of them together the landmarks are chosen.

    Parameters
    ----------
    request : KernelRequest
        What is asked, and no data.
    landmarks : LandmarkChoice or None
        Which are asked for; rows as they came.
    seed : int
        Drawn once: a task may be done again elsewhere.
    most : int
        Rows of the sample.
    total : int or None
        All rows, where they are counted: then the sample of rows without weights does not
        depend on how they are cut into parts.
    """

    request: KernelRequest
    landmarks: LandmarkChoice | None
    seed: int
    most: int
    total: int | None

    def part(self, rows: PartBlocks, weights: Array | None) -> ThinnedRows:
        """Return evenly spaced rows of one part, all cells of which are looked at."""
        refuse_bad_part(rows)
        n = rows.shape[0]
        if n == 0:
            return ThinnedRows(None, np.zeros(0), 0)
        counts = np.ones(n) if weights is None else weights
        found = ThinnedRows(_read(rows), counts, n)
        if self.total is None or self.total <= self.most:
            return found.thinned(self.most)
        if weights is not None or rows.first is None:
            return found.thinned(math.ceil(self.most * n / self.total))
        numbers = np.arange(self.most) * self.total // self.most - rows.first
        at = numbers[(numbers >= 0) & (numbers < n)]
        each = np.full(len(at), self.total / self.most)
        return ThinnedRows(found.rows[at] if len(at) else None, each, n, whole=False)

    def merge(self, one: ThinnedRows, other: ThinnedRows) -> ThinnedRows:
        """Return the sample of both, no longer than one."""
        return one.joined(other, self.most)

    def finish(self, sample: ThinnedRows) -> Settled:
        """Settle kernel and landmarks on the sample."""
        refuse_few(sample)
        weights = sample.weights
        alike = 1.0 if sample.whole else weights[0]
        weighted = None if np.all(weights == alike) else weights
        seen = SeenRows.of(self.request, in_memory(sample.rows), weighted)
        asked = None if self.landmarks is None else self.landmarks.framed(seen.frame)
        seen = dataclasses.replace(seen, landmarks=asked)
        marks = marked(seen, self.seed)
        frame, choice = dataclasses.replace(seen.frame, weights=None), None
        if seen.request.auto:
            choice = seen.counted(self.seed, sample.count).choice
        return Settled(seen.kernel, frame, marks, alignment(seen), sample.count, choice)


@dataclasses.dataclass(frozen=True)
class SumsOfParts:
    """Sums over the landmark features of every part: m×m numbers, and some rows drawn."""

    landmarks: Landmarks
    frame: KernelRows
    draws: int
    seed: int

    def part(self, rows: PartBlocks, weights: Array | None) -> Bare:
        """Return the sums of one part, without the landmarks."""
        sums = LandmarkSums(self.landmarks, draws=self.draws, seed=self.seed)
        length = max(1, int(_BLOCK_BYTES // (8 * max(1, rows.shape[1]))))
        for number, block in enumerate(rows.blocks(length)):
            here = slice(number * length, (number + 1) * length)
            counts = None if weights is None else weights[here]
            sums.add(self.frame.ready(in_memory(block)), counts)
        return sums.bare()

    def merge(self, one: Bare, other: Bare) -> Bare:
        """Return the sums of both."""
        left = LandmarkSums.through(self.landmarks, one)
        return left.merge(LandmarkSums.through(self.landmarks, other)).bare()


Both = tuple[ThinnedRows, Bare]


@dataclasses.dataclass(frozen=True)
class Together:
    """A sample and sums in one pass, where the landmarks are known before it."""

    sample: LandmarksOfParts
    sums: SumsOfParts

    def part(self, rows: PartBlocks, weights: Array | None) -> Both:
        """Return both of one part; the sample looks at its cells first."""
        return self.sample.part(rows, weights), self.sums.part(rows, weights)

    def merge(self, one: Both, other: Both) -> Both:
        """Return both of both."""
        return self.sample.merge(one[0], other[0]), self.sums.merge(one[1], other[1])

    def finish(self, both: Both) -> tuple[Settled, Bare]:
        """Settle what is left to settle."""
        return self.sample.finish(both[0]), both[1]


def _read(rows: PartBlocks) -> Array:
    """Return the rows of a part as its blocks are."""
    dense = rows.nnz is None and hasattr(rows.held, "toarray")
    return rows.held.toarray() if dense else rows.held


def refuse_few(sample: ThinnedRows) -> None:
    """Refuse rows that have no variance because there is one, or nothing counts."""
    if sample.count < 2:
        raise InputError(
            "one row has no variance" if sample.count else "there are no rows to fit",
            got=f"{sample.count} rows in all parts together",
            fix="pass at least two rows",
        )
    refuse_sum(sum_of(sample.weights)[0], f"{sample.count} rows")


def problem(
    source: SpreadSource,
    request: KernelRequest,
    asked: LandmarkChoice,
    tol: float,
    resources: dict[str, Any],
) -> Problem:
    """Return what the planner may know before a row is read."""
    n, p = source.shape
    sampled = min(n, BUFFER) if source.counted else BUFFER
    refuse_all_axes(request, n if source.counted else 0)
    unknown = request.count is None and not source.counted
    pairs = FIRST_GUESS if unknown else request.first_pairs(sampled)
    cells = 2.0 * p if source.nnz is None else 4.0 * source.nnz / max(n, 1)
    cost = KernelCost(
        cells + 20,
        landmarks=asked.number(sampled, pairs),
        sampled=sampled,
        passes=1 if known_before(request, asked) else 3 if request.standardize else 2,
        shuffled=request.shuffled(request.given, sampled, p),
    )
    known: dict[str, Any] = {"nnz": source.nnz, "tol": tol, "kernel": cost}
    known |= reading_parts(source) | resources
    return Problem(n, p, pairs, source.products.itemsize, **known)


def known_before(request: KernelRequest, asked: LandmarkChoice) -> bool:
    """Tell whether kernel and landmarks are known before a row is read."""
    return asked.rows is not None and not request.given.waits and not request.standardize


def gathered(
    source: SpreadSource,
    weights: Array | None,
    request: KernelRequest,
    asked: LandmarkChoice | None,
    seed: int,
    memory: int,
) -> Gathered:
    """Return the sums of landmark features over all rows, and what a sample of them settles.

    Parameters
    ----------
    source, weights
        The rows, and their repeat counts where they lie.
    request : KernelRequest
        What is asked.
    asked : LandmarkChoice or None
        Which landmarks are; rows as they came.
    seed : int
        Of the choice of landmarks.
    memory : int
        Bytes that may be taken here.
    """
    settled, bare = _passes(source, weights, request, asked, seed, memory)
    refuse_all_axes(request, settled.count)
    marks, choice = settled.landmarks, settled.choice
    rows = marks.rows
    seen = SeenRows(request, scan(rows), settled.frame, settled.kernel, rows, choice=choice)
    stream = Stream(
        sums=LandmarkSums.through(marks, bare),
        count=settled.count,
        alignment=settled.alignment,
        itemsize=source.products.itemsize,
        choice=choice,
    )
    sample = None, rows  # the way back is learned from the landmarks
    kept = {"_stream": stream, "_seen": seen.kernel, "_frame": seen.frame, "kernel_": seen.own}
    kept |= {"X_fit_": rows, "_sample": sample, "choice_": choice}
    return Gathered(stream, seen, sample, kept)


def _passes(
    source: SpreadSource,
    weights: Array | None,
    request: KernelRequest,
    asked: LandmarkChoice | None,
    seed: int,
    memory: int,
) -> tuple[Settled, Bare]:
    if request.standardize:
        frame = dataclasses.replace(_framed(source, request, True, weights), weights=None)
        request = dataclasses.replace(request, kept=Kept(None, frame))
    total = source.shape[0] if source.counted else None
    sample = LandmarksOfParts(request, asked, seed, BUFFER, total)
    if asked is not None and known_before(request, asked):
        frame = _framed(source, request, False, None)
        marks = Landmarks.of(frame.kernel, asked.framed(frame).rows)
        both = Together(sample, _sums_of(source, marks, frame, seed, memory))
        settled, sums = source.reduce(both, weights, title="landmarks")
        return dataclasses.replace(settled, landmarks=marks), sums
    settled = source.reduce(sample, weights, title="sample")
    work = _sums_of(source, settled.landmarks, settled.frame, seed, memory)
    return settled, source.reduce(work, weights, title="landmarks")


def _sums_of(
    source: SpreadSource, marks: Landmarks, frame: KernelRows, seed: int, memory: int
) -> SumsOfParts:
    n, p = source.shape
    draws = certifying_rows(n if source.counted else ENDLESS, marks.m, p, memory / 4)
    return SumsOfParts(marks, frame, draws, seed)


def _framed(
    source: SpreadSource, request: KernelRequest, standardize: bool, weights: Array | None
) -> KernelRows:
    given, numeric, root = request.given, request.numeric, request.feature_weight
    return KernelRows.of(source, given, standardize, numeric, weights, root)


# -- refusals -----------------------------------------------------------------------------


def refuse(source: SpreadSource, given: Kernel, *, here: bool, filling: str | None) -> None:
    """Refuse rows in parts for a matrix, for faces of other libraries, and with gaps.

    Parameters
    ----------
    source : Source
        The rows.
    given : Kernel
        As the parameter says.
    here : bool
        Whether rows must be in memory.
    filling : str or None
        How missing cells would be filled.
    """
    if here or isinstance(given, Precomputed):
        raise NotSupportedError(
            "this face of another library takes rows in memory alone"
            if here
            else "a precomputed matrix cannot come in parts",
            got=f"{given!r}, {source.label}",
            fix="use mercer.KernelPCA with a kernel on rows, or compute the rows first",
        )
    if filling is not None and source.dtype.kind == "f":
        raise NotSupportedError(
            "missing cells of rows in parts are not filled for a kernel",
            got=f"missing={filling!r}, {source.label}",
            fix="fill them first: PCA(missing=...) takes rows in parts, or drop the rows",
        )


def refuse_all_axes(request: KernelRequest, n: int) -> None:
    """Refuse as many axes as rows where these are many."""
    if request.count is None and n > BUFFER:
        raise InputError(
            "so many rows in parts do not keep all their axes",
            got=f"n_components=None, {n:,} rows",
            fix="pass a number, or a share such as 0.95",
        )
