"""Kernel PCA of rows in parts: two passes where they lie, coordinates that stay lazy.

The work of kernel PCA on rows in parts: a sample that settles the landmarks, then sums.
"""

import copy
import dataclasses
import logging
import math
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.kernel._kernel_back import as_known
from mercer.estimators.kernel._kernel_landmarks import LandmarkChoice, stacked
from mercer.estimators.kernel._kernel_rows import FIRST_GUESS, KernelRows
from mercer.estimators.kernel._kernel_sample import OTHERS
from mercer.estimators.kernel._kernel_stream import BUFFER, Fixed, Stream
from mercer.estimators.walk._admission import admit_source
from mercer.estimators.walk._rows_in_parts import (
    in_parts,
    lazily,
    projected_parts,
    reading_parts,
    rows_from_parts,
)
from mercer.estimators.walk._spectral_estimator import planned
from mercer.kernels import Kernel, Precomputed
from mercer.operators import Landmarks, LandmarkSums
from mercer.planning import KernelCost, Problem
from mercer.sources import (
    PartBlocks,
    Source,
    SpreadSource,
    bad_cell,
    bad_cell_error,
    in_memory,
    refuse_sum,
    scan,
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


_log = logging.getLogger("mercer")


@dataclasses.dataclass(frozen=True)
class _ToMap:
    """Rows in parts that go through a function part by part, which few methods can do."""

    source: Source


class KernelParts:
    """Mixed into kernel PCA: fits of rows in parts, and what is lazy on them.

    One pass samples all parts and settles lengthscale and landmarks in a task of its own; one
    more, before it, finds means and deviations where columns are standardised; the last one
    sums landmark features. Results are merged where the rows lie, along a fixed tree: m×p
    and m×m numbers come back.
    """

    # -- fit --------------------------------------------------------------------------

    @staticmethod
    def _in_parts(X: Any, reset: bool) -> bool:
        """Tell whether X lies in parts and is asked for by a method that can do with that."""
        return isinstance(X, _ToMap) or (reset and in_parts(X))

    def _admit_parts(self, X: Any, reset: bool) -> Source:
        this: Any = self
        source: Any = X.source if isinstance(X, _ToMap) else scan(X)
        if isinstance(this._given, Precomputed) or not this._takes_blocks:
            raise NotSupportedError(
                "a precomputed matrix cannot come in parts"
                if this._takes_blocks
                else "this face of another library takes rows in memory alone",
                got=f"{this._given!r}, {source.label}",
                fix="use mercer.KernelPCA with a kernel on rows, or compute the rows first",
            )
        if reset and this.missing != "raise" and source.dtype.kind == "f":
            raise NotSupportedError(
                "missing cells of rows in parts are not filled for a kernel",
                got=f"missing={this.missing!r}, {source.label}",
                fix="fill them first: PCA(missing=...) takes rows in parts, or drop the rows",
            )
        found: Source = admit_source(self, source, reset=reset)
        return found

    def _problem_of_parts(self, source: SpreadSource) -> Problem:
        """Return what the planner may know before a row is read."""
        this: Any = self
        this._stream = Stream()  # its promise: `tol` is 0.05 unless it is given
        n, p = source.shape
        sampled = min(n, BUFFER) if source.counted else BUFFER
        this._refuse_all_axes(n if source.counted else 0)
        unknown = this.n_components is None and not source.counted
        k = FIRST_GUESS if unknown else this._most_components(sampled)
        cells = 2.0 * p if source.nnz is None else 4.0 * source.nnz / max(n, 1)
        return Problem(
            rows=n,
            cols=p,
            components=k,
            itemsize=source.products.itemsize,
            nnz=source.nnz,
            tol=this._tolerance(source),
            kernel=KernelCost(
                cells + 20,
                landmarks=LandmarkChoice.of(this.landmarks).number(sampled, k),
                sampled=sampled,
                passes=1 if self._known_before() else 3 if this.standardize else 2,
                shuffled=this._shuffled(sampled, p),
            ),
            **reading_parts(source),
            **this._resources(),
        )

    def _fitted(self, source: Source, weights: Any) -> dict[str, Any]:
        if not isinstance(source, SpreadSource):
            state: dict[str, Any] = super()._fitted(source, weights)  # type: ignore[misc]
            return state
        this: Any = self
        made = planned(this._problem_of_parts(source))
        _log.info("%s", made)
        settled, bare = self._passes(source, weights)
        marks = settled.landmarks
        this._refuse_all_axes(settled.count)
        this._seen, this._frame = settled.kernel, settled.frame
        this.kernel_, this.X_fit_ = settled.kernel, marks.rows
        this._sample = (None, marks.rows)  # the way back is learned from the landmarks
        sums = LandmarkSums.through(marks, bare)
        stream = Stream(
            sums=sums,
            count=settled.count,
            alignment=settled.alignment,
            itemsize=source.products.itemsize,
            choice=settled.choice,
        )
        this.choice_ = settled.choice
        kernel = made.problem.kernel
        assert kernel is not None
        problem = dataclasses.replace(
            made.problem,
            rows=settled.count,
            components=this._most_components(settled.count),
            kernel=dataclasses.replace(kernel, landmarks=marks.m),
        )
        found: dict[str, Any] = this._published(stream, problem)
        return found

    def _known_before(self) -> bool:
        """Tell whether kernel and landmarks are known before a row is read."""
        this: Any = self
        given = LandmarkChoice.of(this.landmarks).rows is not None
        return given and bool(as_known(this.kernel).resolved) and not this.standardize

    def _passes(self, source: SpreadSource, weights: Any) -> tuple[Settled, dict[str, Any]]:
        """Return what the sample settles, and the sums of landmark features."""
        this: Any = self
        model = copy.copy(this)
        model.random_state = this._seed()  # drawn once: a task may be done again elsewhere
        if this.standardize:
            frame = self._framed(source, True, weights)
            model._fixed = Fixed(None, dataclasses.replace(frame, weights=None))
        total = source.shape[0] if source.counted else None
        sample = LandmarksOfParts(model, BUFFER, total)
        if self._known_before():
            this._frame = self._framed(source, False, None)
            this._seen = this._frame.kernel
            marks = Landmarks.of(this._seen, this._landmark_choice().rows)
            both = Together(sample, SumsOfParts(marks, this._frame))
            settled, sums = source.reduce(both, weights, title="landmarks")
            return dataclasses.replace(settled, landmarks=marks), sums
        settled = source.reduce(sample, weights, title="sample")
        work = SumsOfParts(settled.landmarks, settled.frame)
        return settled, source.reduce(work, weights, title="landmarks")

    def _framed(self, source: SpreadSource, standardize: bool, weights: Any) -> KernelRows:
        this: Any = self
        given, numeric, root = this._given, this._numeric, this.feature_weight
        return KernelRows.of(source, given, standardize, numeric, weights, root)

    def _refuse_all_axes(self, n: int) -> None:
        wanted: Any = self.n_components  # type: ignore[attr-defined]
        if wanted is None and n > BUFFER:
            raise InputError(
                "so many rows in parts do not keep all their axes",
                got=f"n_components=None, {n:,} rows",
                fix="pass a number, or a share such as 0.95",
            )

    # -- what is lazy -----------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Return the coordinates of X, of shape (n_samples, n_components).

        Parameters
        ----------
        X : array, sparse matrix, frame or Dask collection of shape (n_samples, n_features)
            New rows; the training mean and scale are applied to them.

        Returns
        -------
        ndarray, or a Dask array that is not computed yet where X is one
        """
        if in_parts(X):
            source = self._to_map(X)
            this: Any = self
            this._on_landmarks()  # made here once, not in every task
            return projected_parts(this, _ToMap(source))
        return super().transform(X)  # type: ignore[misc]

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit to X and return its coordinates, the same as ``fit(X).transform(X)``."""
        if in_parts(X):
            this: Any = self
            return this.fit(X, y, **fit_params).transform(X)
        return super().fit_transform(X, y, **fit_params)  # type: ignore[misc]

    def novelty(self, X: Any) -> Any:
        """See `KernelAhead.novelty`; of a Dask collection a lazy array (n_samples,)."""
        if not in_parts(X):
            return super().novelty(X)  # type: ignore[misc]
        source = self._to_map(X)
        this: Any = copy.copy(self)
        return lazily(this, this._novel, source, None)

    def transform_bound(self, X: Any) -> Any:
        """See `KernelAhead.transform_bound`; of a Dask collection a lazy array."""
        if not in_parts(X):
            return super().transform_bound(X)  # type: ignore[misc]
        source = self._to_map(X)
        this: Any = copy.copy(self)
        this._on_landmarks()  # made here once, not in every task
        return lazily(this, this._bounds, source, this.n_components_)

    def inverse_transform(self, X: Any, method: str | None = None) -> Any:
        """See `KernelBack.inverse_transform`; of a Dask array a lazy one."""
        if not in_parts(X):
            return super().inverse_transform(X, method)  # type: ignore[misc]
        this: Any = self
        check_is_fitted(this)
        this._decoded(np.zeros((1, this.n_components_)), method)  # learned here, once
        return rows_from_parts(this, X, partial(copy.copy(this)._decoded, method=method))

    def _to_map(self, X: Any) -> Any:
        """Return the source of rows in parts for a method that takes them part by part."""
        this: Any = self
        check_is_fitted(this)
        return this._admit(_ToMap(scan(X)), reset=False)
