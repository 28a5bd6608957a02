"""Kernel PCA of rows that come in blocks, and further passes over rows that stay."""

import copy
import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer import planning
from mercer.arrays import Array
from mercer.errors import InputError, NotSupportedError
from mercer.estimators._base import repeat_counts
from mercer.estimators._door import refuse_bad_cells
from mercer.estimators._kernel_back import as_known
from mercer.estimators._kernel_landmarks import (
    Choice,
    LandmarkModel,
    described,
    refuse_landmarks,
)
from mercer.estimators._kernel_rows import KernelRows
from mercer.kernels import Kernel, Precomputed
from mercer.operators import Landmarks, LandmarkSums, select
from mercer.sources import scan

_BEYOND = 64  # axes more with which few passes start, so that little is left to bound
_BUFFER = 10_000  # rows that settle lengthscale, standardisation and landmarks


@dataclasses.dataclass(frozen=True)
class Known:
    """What a model that is refined keeps: the kernel on its rows, and their frame.

    `passes` is the most that it may make.
    """

    kernel: Kernel
    frame: KernelRows
    passes: int | None = None


@dataclasses.dataclass(frozen=True)
class Stream:
    """What blocks of rows have left behind; a value: a block gives a new one.

    Attributes
    ----------
    blocks, weights : tuple of arrays
        Rows as they came, while they are fewer than 10,000.
    sums : LandmarkSums or None
        After that: m×m numbers, whatever the number of rows.
    count : int
        Rows seen.
    """

    blocks: tuple[Any, ...] = ()
    weights: tuple[Any, ...] = ()
    sums: LandmarkSums | None = None
    count: int = 0


class KernelStream:
    """Mixed into kernel PCA: `partial_fit`, `merge`, `refine`, and fits of iterators."""

    _stream: Stream | None = None
    _takes_blocks = True  # faces of other libraries do not

    @available_if(lambda self: self._takes_blocks)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Take a block of rows in, on landmarks; the model is that of all rows seen so far.

        The first 10,000 rows are kept; they settle the lengthscale, the standardisation and
        the landmarks, and are then let go. From there on a block leaves m×m sums only. The
        certificate holds for all rows. Each call ends with m³ operations: larger blocks are
        cheaper.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows; a block may have one row.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts.
        """
        first = self._stream is None
        blank: Any = clone(self)
        blank._check_parameters()
        if not first:
            blank.__dict__.update(
                {k: v for k, v in vars(self).items() if k not in blank.get_params(deep=False)}
            )
        stream = blank._taken(self._stream or Stream(), X, sample_weight, first)
        self.__dict__.update(blank._published(stream))
        return self

    def merge(self, other: Any) -> Self:
        """Take in what another stream has seen; both must have the same landmarks.

        Parameters
        ----------
        other : KernelPCA
            Fitted by `partial_fit` with the same landmarks and kernel, for example
            ``landmarks=rows`` and a kernel with numbers for parameters.
        """
        mine = None if self._stream is None else self._stream.sums
        theirs = None if other._stream is None else other._stream.sums
        if mine is None or theirs is None:
            raise InputError(
                "only streams whose landmarks are settled can be merged",
                got="a model that has seen fewer than 10,000 rows, or none by partial_fit",
                fix="give both the same `landmarks` (rows), or more rows",
            )
        sums = copy.deepcopy(mine)
        sums.merge(theirs)
        count = self._stream.count + other._stream.count  # type: ignore[union-attr]
        blank: Any = copy.copy(self)
        self.__dict__.update(blank._published(Stream(sums=sums, count=count)))
        return self

    def _taken(self, stream: Stream, X: Any, weights: Any, first: bool) -> Stream:
        """Return the stream with one block more."""
        this: Any = self
        if isinstance(as_known(this.kernel), Precomputed):
            raise NotSupportedError(
                "a precomputed matrix cannot come in blocks of rows",
                got=f"{as_known(this.kernel)!r}",
                fix="use fit, or a kernel on rows",
            )
        source = this._admit(X, reset=first)
        refuse_bad_cells(source, getattr(self, "feature_names_in_", None))
        counts = repeat_counts(weights, source.shape[0], few=True)
        if counts is None:
            counts = np.ones(source.shape[0])
        count = stream.count + source.shape[0]
        if stream.sums is not None:
            sums = copy.deepcopy(stream.sums)
            sums.add(this._frame.ready(source), counts)
            return Stream(sums=sums, count=count)
        given = not isinstance(this.landmarks, str | int | None)
        settled = given and as_known(this.kernel).resolved and not this.standardize
        room = source.shape[0] if settled else _BUFFER - stream.count
        kept = dataclasses.replace(
            stream,
            blocks=(*stream.blocks, source.array[:room].copy()),
            weights=(*stream.weights, counts[:room]),
            count=count,
        )
        if not settled and count < _BUFFER:
            return kept
        kept = self._settled(kept)
        if count > stream.count + room:  # what settles the model does not depend on the blocks
            assert kept.sums is not None
            kept.sums.add(this._frame.ready(scan(source.array[room:])), counts[room:])
        return kept

    def _settled(self, stream: Stream) -> Stream:
        """Return the stream with kernel, frame and landmarks fixed, its rows let go."""
        return dataclasses.replace(stream, blocks=(), weights=(), sums=self._summed(stream))

    def _summed(self, stream: Stream) -> LandmarkSums:
        """Return the sums over the rows kept so far, on landmarks chosen among them."""
        this: Any = self
        rows = _stacked(stream.blocks)
        weights: Array = np.concatenate(stream.weights)
        weighted = None if np.all(weights == 1.0) else weights
        source = scan(rows)
        this._problem(source, weighted)
        refuse_landmarks(this._seen, "partial_fit")
        sums = LandmarkSums(this._landmarks_among(weighted))
        sums.add(this.X_fit_, weighted)
        return sums

    def _landmarks_among(self, weights: Any) -> Landmarks:
        this: Any = self
        choice, n = this._choice or Choice(), int(this.X_fit_.shape[0])
        if choice.rows is not None:
            return Landmarks.of(this._seen, choice.rows)
        found, _ = select(
            this._seen,
            this.X_fit_,
            choice.number(n, this._most_components(n)),
            among=_BUFFER,
            sampler=choice.sampler,
            weights=weights,
            seed=this._seed(),
        )
        return found

    def _published(self, stream: Stream) -> dict[str, Any]:
        """Return the fitted attributes of the rows seen so far."""
        this: Any = self
        sums = stream.sums if stream.sums is not None else self._summed(stream)
        wanted: Any = this.n_components
        k = this._most_components(max(stream.count, 1))
        marks = sums.landmarks
        source = scan(marks.rows)
        model = LandmarkModel.summed(sums)
        tol = this._tolerance(source)
        wanted = float(wanted) if isinstance(wanted, float) else k
        spectrum, found = described(model, wanted, tol)
        problem = planning.Problem(
            rows=stream.count,
            cols=int(marks.rows.shape[1]),
            components=k,
            itemsize=8,
            tol=tol,
            kernel=planning.KernelCost(2.0 * marks.rows.shape[1] + 20, landmarks=marks.m),
            **this._resources(),
        )
        state = {k: v for k, v in vars(self).items() if k not in this.get_params(deep=False)}
        state["plan_"] = planning.plan(problem)
        state |= this._scale(spectrum, found, source)
        state |= {"n_samples_": stream.count, "_stream": stream}
        this._warn(spectrum)
        return state

    def _fit_blocks(self, blocks: Iterable[Any]) -> Self:
        """Fit to an iterator of blocks of rows, one pass."""
        blank: Any = clone(self)
        blank._check_parameters()
        stream = Stream()
        for number, block in enumerate(blocks):
            stream = blank._taken(stream, block, None, number == 0)
        if stream.count == 0:
            raise InputError(
                "there are no rows to fit",
                got="an iterator without blocks",
                fix="pass an iterator that gives arrays of shape (n, p)",
            )
        self.__dict__.update(blank._published(stream))
        return self

    def refine(
        self,
        X: Any,
        *,
        tol: float | None = None,
        passes: int | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Improve a fitted model by further passes over its training rows.

        The axes found before are where the iteration starts; kernel and standardisation
        stay. A landmark model becomes an exact one.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The training rows.
        tol : float or None
            Tolerance to reach; None is the `tol` of the model, or what the precision of
            the data allows.
        passes : int or None
            The most products with the kernel matrix; one is enough for intervals that are
            nearly as narrow as the error. None goes on until `tol` is certified.
        sample_weight : array of shape (n_samples,) or None
            The repeat counts of the fit.
        """
        check_is_fitted(self)
        this: Any = self
        blank: Any = clone(this)
        blank.__dict__.update(
            {
                k: v
                for k, v in vars(self).items()
                if k in ("n_features_in_", "feature_names_in_")
            }
        )
        blank.set_params(landmarks=None, tol=this.tol if tol is None else tol)
        source = blank._admit(X, reset=True)
        counts = repeat_counts(sample_weight, source.shape[0])
        blank._known = Known(this._seen, this._frame, passes)
        blank._before = self._axes_before(source, counts, 0 if passes is None else _BEYOND)
        fitted = blank._fitted(source, counts)
        fitted["_stream"] = None
        for name in ("landmarks_", "residual_trace_"):
            self.__dict__.pop(name, None)
        self.__dict__.update(fitted)
        return self

    def _axes_before(self, source: Any, counts: Array | None, beyond: int) -> Array | None:
        """Return √w·z/√λ (n, k) of the fitted model on these rows; landmarks have `beyond`."""
        this: Any = self
        if this._landmark_model is not None and beyond:
            rows, count = this._frame.ready(source), this.n_components_ + beyond
            return np.asarray(this._landmark_model.axes_of(rows, counts, count))
        values = np.abs(this.eigenvalues_)
        alive = values > this.certificate_.zero_level
        if not np.any(alive):
            return None
        z = np.asarray(this._project(source), np.float64)[:, alive] / np.sqrt(values[alive])
        return z if counts is None else z * np.sqrt(counts)[:, None]


def is_blocks(X: Any) -> bool:
    """Tell whether X is an iterator of blocks rather than a table."""
    return isinstance(X, Iterator) and not hasattr(X, "shape")


def _stacked(blocks: tuple[Any, ...]) -> Any:
    if len(blocks) == 1:
        return blocks[0]
    if hasattr(blocks[0], "tocsr"):
        import scipy.sparse

        return scipy.sparse.vstack(blocks, format="csr")
    return np.concatenate(blocks)
