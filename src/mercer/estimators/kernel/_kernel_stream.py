"""Kernel PCA of rows that come in blocks, and further passes over rows that stay."""

import copy
import dataclasses
import os
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer import planning
from mercer.arrays import Array
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.kernel._kernel_back import as_known
from mercer.estimators.kernel._kernel_landmarks import (
    LandmarkChoice,
    LandmarkModel,
    described,
    refuse_landmarks,
    stacked,
)
from mercer.estimators.kernel._kernel_rows import KernelRows
from mercer.estimators.kernel._row_weights import cut_along
from mercer.estimators.walk._admission import refuse_bad_cells, refuse_parts
from mercer.estimators.walk._parameters import learned, publish
from mercer.estimators.walk._spectral_estimator import repeat_counts
from mercer.kernels import Kernel, Precomputed
from mercer.operators import Landmarks, LandmarkSums
from mercer.sources import BlockSource, is_scannable, scan

_START = 16  # axes more with which passes without limit start
_SAME = 1e-3  # how far from orthonormal known axes are at most; other rows are off by n^-½
_FILE_ROWS = 4096  # of a block that is read from a file
BUFFER = 10_000  # rows that settle lengthscale, standardisation and landmarks


@dataclasses.dataclass(frozen=True)
class Fixed:
    """What a model that is refined keeps: the kernel on its rows, and their frame.

    `passes` is the most that it may make; `values` (m,) are eigenvalues on landmarks, none
    of them too large; `alignment` is that of the model, where all rows gave it; `columns`
    are those of a block, where that is settled. Where `kernel` is None, the frame alone is
    kept.
    """

    kernel: Kernel | None
    frame: KernelRows
    passes: int | None = None
    values: Array | None = None
    alignment: float | None = None
    columns: int | None = None


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
    alignment : float or None
        With the linear kernel, on the rows that settled the landmarks.
    itemsize : int
        Bytes of a number in the widest block.
    choice : LandmarkChoice or None
        For "auto": how many axes, by the rows that settled the landmarks.
    """

    blocks: tuple[Any, ...] = ()
    weights: tuple[Any, ...] = ()
    sums: LandmarkSums | None = None
    count: int = 0
    alignment: float | None = None
    itemsize: int = 4
    choice: Any = None


class KernelStream:
    """Mixed into kernel PCA: `partial_fit`, `merge`, `refine`, and fits of iterators."""

    _stream: Stream | None = None
    _takes_blocks = True  # faces of other libraries do not

    @available_if(lambda self: self._comes_in_blocks())  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Take a block of rows in, on landmarks; the model is that of all rows seen so far.

        The first 10,000 rows are kept; they settle the lengthscale, the standardisation and
        the landmarks, and are then let go. From there on a block leaves m×m sums only. The
        certificate holds for all rows. Each call ends with m³ operations: larger blocks are
        cheaper. A model that came from `fit` or `refine` is forgotten: a stream begins anew.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows; a block may have one row. There is no model before there are as many
            rows as axes, and two.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts.
        """
        first = self._stream is None
        blank: Any = clone(self)
        blank._check_parameters()
        if not first:
            blank.__dict__.update(learned(self))
        stream = blank._taken(self._stream or Stream(), X, sample_weight, first)
        this: Any = self
        enough = blank._enough(stream)
        publish(this, blank._published(stream) if enough else blank._waiting(stream))
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether there is a model: few rows of a stream make none."""
        return "eigenvalues_" in vars(self)

    def _enough(self, stream: Stream) -> bool:
        """Tell whether the rows seen can have that many axes."""
        wanted: Any = self.n_components  # type: ignore[attr-defined]
        fewest = int(wanted) if isinstance(wanted, Integral) else 1
        total = sum(float(np.sum(w)) for w in stream.weights)
        total += 0.0 if stream.sums is None else stream.sums.count
        return stream.count >= max(2, fewest) and total > 1

    def _waiting(self, stream: Stream) -> dict[str, Any]:
        """Return what is known before there is a model."""
        return learned(self) | {"_stream": stream}

    def merge(self, other: Any) -> Self:
        """Take in what another stream has seen; both must have the same landmarks.

        Parameters
        ----------
        other : KernelPCA
            Fitted by `partial_fit` with the same landmarks and kernel, for example
            ``landmarks=rows`` and a kernel with numbers for parameters.
        """
        mine, theirs = self._stream, getattr(other, "_stream", None)
        if mine is None or theirs is None or mine.sums is None or theirs.sums is None:
            raise InputError(
                "only streams whose landmarks are settled can be merged",
                got="a model that has seen fewer than 10,000 rows, or none by partial_fit",
                fix="give both the same `landmarks` (rows), or more rows",
            )
        merged = dataclasses.replace(
            mine,
            sums=copy.deepcopy(mine.sums).merge(theirs.sums),
            count=mine.count + theirs.count,
            itemsize=max(mine.itemsize, theirs.itemsize),
        )
        blank: Any = copy.copy(self)
        publish(self, blank._published(merged))
        return self

    def _comes_in_blocks(self) -> bool:
        """Tell whether rows can come in blocks: a matrix cannot."""
        this: Any = self
        return self._takes_blocks and not isinstance(as_known(this.kernel), Precomputed)

    def _taken(self, stream: Stream, X: Any, weights: Any, first: bool) -> Stream:
        """Return the stream with one block more."""
        this: Any = self
        if isinstance(as_known(this.kernel), Precomputed):
            raise NotSupportedError(
                "a precomputed matrix cannot come in blocks of rows",
                got=f"{as_known(this.kernel)!r}",
                fix="use fit, or a kernel on rows",
            )
        this._fewest = 1  # of a block, not of all
        refuse_parts(X)
        source = this._admit(X, reset=first)
        refuse_bad_cells(source, getattr(self, "feature_names_in_", None))
        counts = repeat_counts(weights, source.shape[0], few=True)
        if counts is None:
            counts = np.ones(source.shape[0])
        count = stream.count + source.shape[0]
        widest = max(stream.itemsize, source.products.itemsize)
        stream = dataclasses.replace(stream, itemsize=widest)
        if stream.sums is not None:
            sums = copy.deepcopy(stream.sums)
            sums.add(this._frame.ready(source), counts)
            return dataclasses.replace(stream, sums=sums, count=count)
        _refuse_mixture(stream.blocks, source.array)
        given = LandmarkChoice.of(this.landmarks).rows is not None
        settled = given and as_known(this.kernel).resolved and not this.standardize
        more = dataclasses.replace(stream, weights=(*stream.weights, counts), count=count)
        settled = settled and self._enough(more)
        room = source.shape[0] if settled else BUFFER - stream.count
        kept = dataclasses.replace(
            stream,
            blocks=(*stream.blocks, source.array[:room].copy()),
            weights=(*stream.weights, counts[:room]),
            count=count,
        )
        if not settled and count < BUFFER:
            return kept
        kept = self._settled(kept)
        if count > stream.count + room:  # what settles the model does not depend on the blocks
            assert kept.sums is not None
            kept.sums.add(this._frame.ready(scan(source.array[room:])), counts[room:])
        return kept

    def _settled(self, stream: Stream) -> Stream:
        """Return the stream with kernel, frame and landmarks fixed, its rows let go."""
        this: Any = self
        sums = self._summed(stream)
        alignment, choice = this._alignment(this.X_fit_), this._settled_choice()
        this._frame = dataclasses.replace(this._frame, weights=None)  # they go with their rows
        gone = dataclasses.replace(stream, blocks=(), weights=(), sums=sums)
        return dataclasses.replace(gone, alignment=alignment, choice=choice)

    def _summed(self, stream: Stream) -> LandmarkSums:
        """Return the sums over the rows kept so far, on landmarks chosen among them."""
        this: Any = self
        weights: Array = np.concatenate(stream.weights)
        weighted = None if np.all(weights == 1.0) else weights
        marks = self._marked(scan(stacked(stream.blocks)), weighted)
        this._sample = this._sampled()
        return LandmarkSums(marks).add(this.X_fit_, weighted)

    def _marked(self, source: Any, weighted: Array | None) -> Landmarks:
        """Settle the kernel on rows in memory, and return the landmarks among them."""
        this: Any = self
        this.choice_ = None  # of fewer rows
        this._look(source, weighted)
        refuse_landmarks(this._seen, "partial_fit")
        choice, n = this._choice or LandmarkChoice(), int(this.X_fit_.shape[0])
        count = choice.number(n, this._most_components(n))
        seed = this._seed()
        return choice.landmarks(
            this._seen, this.X_fit_, count, among=BUFFER, weights=weighted, seed=seed
        )

    def _published(
        self, stream: Stream, problem: planning.Problem | None = None
    ) -> dict[str, Any]:
        """Return the fitted attributes of the rows seen so far, and of what was planned."""
        this: Any = self
        self._stream = stream  # what is promised of a stream is promised of its first block
        sums = stream.sums if stream.sums is not None else self._summed(stream)
        this.choice_ = this._settled_choice() if stream.sums is None else stream.choice
        k = this._most_components(max(stream.count, 1))
        marks = sums.landmarks
        source = scan(marks.rows)
        model = LandmarkModel.summed(sums)
        tol = this._tolerance(source)
        spectrum, found = described(model, this._wanted(max(stream.count, 1)), tol)
        spectrum = this._cut(spectrum)
        problem = problem or planning.Problem(
            rows=stream.count,
            cols=int(marks.rows.shape[1]),
            components=k,
            itemsize=8,
            tol=tol,
            kernel=planning.KernelCost(2.0 * marks.rows.shape[1] + 20, landmarks=marks.m),
            **this._resources(),
        )
        state = learned(self)
        state["plan_"] = planning.plan(problem)
        state |= this._scale(spectrum, found, source)
        state |= {"n_samples_": stream.count, "_stream": stream}
        state["_dtype"] = np.float32 if stream.itemsize == 4 else np.float64
        if stream.sums is not None:
            state["alignment_"] = stream.alignment
        this._warn(spectrum)
        return state

    def _fit_blocks(self, blocks: Iterable[Any], weights: Any) -> Self:
        """Fit to an iterator of blocks of rows, one pass; weights are cut along them."""
        blank: Any = clone(self)
        blank._check_parameters()
        stream = Stream()
        for number, (block, counts) in enumerate(cut_along(blocks, weights)):
            stream = blank._taken(stream, block, counts, number == 0)
        if stream.count == 0:
            raise InputError(
                "there are no rows to fit",
                got="an iterator without blocks",
                fix="pass an iterator that gives arrays of shape (n, p)",
            )
        this: Any = self
        publish(this, blank._published(stream))
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
            The most products with the kernel matrix; one gives intervals that are a few
            times as wide as the error. None goes on until `tol` is certified.
        sample_weight : array of shape (n_samples,) or None
            The repeat counts of the fit.
        """
        check_is_fitted(self)
        _refuse_passes(passes)
        this: Any = self
        blank: Any = clone(this)
        kept = ("n_features_in_", "feature_names_in_", "_given", "_numeric", "choice_")
        blank.__dict__.update({k: v for k, v in vars(self).items() if k in kept})
        blank.set_params(landmarks=None, tol=this.tol if tol is None else tol)
        settled = passes is not None and not this._auto
        if settled:  # a share would have to be looked for
            blank.set_params(n_components=this.n_components_)
        blank._check_parameters()
        source = blank._admit(X, reset=False)
        counts = repeat_counts(sample_weight, source.shape[0])
        marks, k = this._landmark_model, this.n_components_
        known = marks.values if settled and marks is not None else None
        beyond = _START if passes is None else planning.columns_beyond(known, k)
        before = self._axes_before(source, counts, beyond)
        # They bound the eigenvalues of the rows that the landmarks have seen, of no others.
        same = marks is not None and _is_orthonormal(before)
        values = np.maximum(marks.values - marks.error, 0.0) if same else None
        alignment = this.alignment_ if this._stream is None else None
        columns = k + beyond if settled else None
        blank._fixed = Fixed(this._seen, this._frame, passes, values, alignment, columns)
        blank._before = before
        publish(this, blank._fitted(source, counts))
        return self

    def _axes_before(self, source: Any, counts: Array | None, beyond: int) -> Array | None:
        """Return √w·z/√λ (n, k) of the fitted model on these rows; landmarks have `beyond`."""
        this: Any = self
        if this._landmark_model is not None:
            rows, count = this._frame.ready(source), this.n_components_ + beyond
            return np.asarray(this._landmark_model.axes_of(rows, counts, count))
        values = np.abs(this.eigenvalues_)
        alive = values > this.certificate_.zero_level
        if not np.any(alive):
            return None
        z = np.asarray(this._project(source), np.float64)[:, alive] / np.sqrt(values[alive])
        return z if counts is None else z * np.sqrt(counts)[:, None]


def _is_orthonormal(axes: Array) -> bool:
    """Tell whether QᵀQ = I: axes of landmarks are so on the rows that these were fitted to."""
    off = np.abs(axes.T @ axes - np.eye(axes.shape[1]))
    return bool(np.max(off, initial=0.0) < _SAME)


def _refuse_passes(passes: Any) -> None:
    if passes is not None and (not isinstance(passes, Integral) or passes < 1):
        raise InputError(
            "`passes` is a number of products with the kernel matrix",
            got=f"passes={passes!r}",
            fix="pass a whole number from 1 on, or None",
        )


def opened(X: Any) -> Any:
    """Return the rows of a file or function as an iterator of blocks, others as they are."""
    made = callable(X) and is_scannable(X)
    if not made and not isinstance(X, BlockSource | str | os.PathLike):
        return X
    source = scan(X)
    return source.blocks(_FILE_ROWS) if isinstance(source, BlockSource) else source.array


def is_blocks(X: Any) -> bool:
    """Tell whether X is an iterator of blocks rather than a table."""
    return isinstance(X, Iterator) and not hasattr(X, "shape")


def _refuse_mixture(blocks: tuple[Any, ...], rows: Any) -> None:
    if blocks and hasattr(rows, "tocsr") != hasattr(blocks[0], "tocsr"):
        raise InputError(
            "the blocks of a stream must all be sparse, or none",
            got=f"{type(rows).__name__} after {type(blocks[0]).__name__}",
            fix="convert the blocks to one kind",
        )
