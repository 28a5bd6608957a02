"""Kernel PCA of rows in parts: two passes where they lie, coordinates that stay lazy."""

import copy
import dataclasses
import logging
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.errors import InputError, NotSupportedError
from mercer.estimators._door import admit_source
from mercer.estimators._kernel_back import as_known
from mercer.estimators._kernel_landmarks import Choice
from mercer.estimators._kernel_part_work import LandmarksOfParts, Settled, SumsOfParts, Together
from mercer.estimators._kernel_rows import FIRST_GUESS, KernelRows
from mercer.estimators._kernel_stream import BUFFER, Fixed, Stream
from mercer.estimators._planned import planned
from mercer.estimators._spread import (
    in_parts,
    lazily,
    projected_parts,
    reading_parts,
    rows_from_parts,
)
from mercer.kernels import Precomputed
from mercer.operators import Landmarks, LandmarkSums
from mercer.planning import KernelCost, Problem
from mercer.sources import Source, SpreadSource, scan

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
                landmarks=Choice.of(this.landmarks).number(sampled, k),
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
        given = Choice.of(this.landmarks).rows is not None
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
