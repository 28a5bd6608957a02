"""PCA of rows that come in batches: exact sums at once, axes when they are looked at."""

import dataclasses
import threading
import weakref
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from mercer import planning
from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators.linear._batches import Batches
from mercer.estimators.linear._pca_recipe import root_feature_weight
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.estimators.walk._spectral_estimator import repeat_counts
from mercer.operators import RunningMoments, RunningSvd, sketch_rank
from mercer.sources import BlockSource, Source, SpreadSource

_WIDEST = 8000  # columns up to which p×p sums are kept
_SUMS = 32.0  # bytes per entry: those kept, those of a batch, and LAPACK's workspace
_LATE = frozenset(  # what is found when it is looked at
    {
        "components_",
        "explained_variance_",
        "explained_variance_ratio_",
        "singular_values_",
        "mean_",
        "scale_",
        "noise_variance_",
        "n_components_",
        "n_samples_",
        "rank_",
        "certificate_",
        "choice_",
        "plan_",
        "_centring",
        "_squares",
        "_whitened",
        "_deviations",
        "_unit_deviations",
        "_alive",
    }
)
_COLUMNS = ("n_features_in_", "feature_names_in_")
_GUARD = threading.Lock()
_LOCKS: "weakref.WeakKeyDictionary[Any, Any]" = weakref.WeakKeyDictionary()


class TooFewRowsError(InputError, NotFittedError):
    """The rows seen so far make no model yet."""


def _lock_of(model: Any) -> Any:
    """Return the lock of one model: kept apart from it, since locks do not pickle."""
    with _GUARD:
        return _LOCKS.setdefault(model, threading.RLock())


class PCAStream:
    """Mixed into PCA: `partial_fit`, `merge` and `remove`.

    Sums are updated at once, rows in hand by 256; eigenpairs are found when a fitted
    attribute is looked at, and stay until the next batch.
    """

    _stream: Batches | None = None
    _takes_batches = True  # faces of other libraries may not
    _late = _LATE

    @available_if(lambda self: self._takes_batches)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Take a batch of rows in; the model is that of all rows seen so far.

        The sums kept are exact, whatever the size and order of the batches, and so are the
        axes: they are those of `fit` on all rows. Above 8,000 columns, or where 32p² bytes
        are not allowed, max(4k, k + 30) leading directions are kept instead, and
        `certificate_` says what that may have cost. A batch that is refused changes
        nothing. A model that came from `fit` is forgotten: a stream begins anew.

        Cost: p² flops a row, and one eigenproblem whenever a fitted attribute is looked at
        after a batch.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows; one is enough. There is no model before there are two, and as many as
            axes are asked for.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts.
        """
        this: Any = self
        with _lock_of(self):
            first = self._stream is None
            reader: Any = this
            if first:
                reader = clone(this)
                reader._check_parameters()
                reader._fewest = 1  # of a batch, not of all
            else:
                self._refuse_other_forgetting()
            source, counts = _read(reader, X, sample_weight, first)
            stream: Batches = reader._begun(source) if first else this._stream
            settled = reader._settled_by(source, first)
            self._follow(stream.with_rows(source, counts), settled, first)
        return self

    @available_if(lambda self: self._takes_batches)  # type: ignore[untyped-decorator]
    def merge(self, other: Any) -> Self:
        """Take in the rows that another stream has seen; `other` stays as it is.

        Parameters
        ----------
        other : PCA
            Given rows of the same columns by `partial_fit`.
        """
        if not isinstance(other, PCAStream):
            raise InputError(
                "only a stream can be merged into a stream",
                got=f"{'the class ' if isinstance(other, type) else ''}"
                f"{(other if isinstance(other, type) else type(other)).__name__}",
                fix="pass a model that has seen rows; rows themselves go to partial_fit",
            )
        with _lock_of(other):
            theirs = getattr(other, "_stream", None)
        with _lock_of(self):
            mine = self._stream
            if mine is None or theirs is None:
                raise InputError(
                    "only streams can be merged",
                    got="a model that was not made by partial_fit",
                    fix="call partial_fit on both, where a model from fit may be",
                )
            self._refuse_forgetting("merged", mine, theirs)
            _refuse_names(self, other)
            self._follow(mine.merged(theirs))
        return self

    @available_if(lambda self: self._takes_batches)  # type: ignore[untyped-decorator]
    def remove(self, X: Any, *, sample_weight: Any = None) -> Self:
        """Take rows out that were given to `partial_fit` before: a window that moves on.

        The sums are those of the rows that stay, up to rounding; where what goes had far
        more variance than what stays, `certificate_` says how many digits that has cost.
        Rows that cannot have been there (too many, or variance below zero) are refused,
        and nothing changes.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            The rows.
        sample_weight : array of shape (n_samples,) or None
            The repeat counts they were given with.
        """
        with _lock_of(self):
            mine = self._stream
            if mine is None:
                raise InputError(
                    "rows can only be taken out of a stream",
                    got="a model that was not made by partial_fit",
                    fix="call partial_fit first",
                )
            self._refuse_forgetting("reduced", mine)
            source, counts = _read(self, X, sample_weight, False)
            self._follow(mine.without(source, counts))
        return self

    def transform(self, X: Any, *, out: Any = None) -> Any:
        """Return the coordinates of X, of shape (n_samples, n_components).

        Parameters
        ----------
        X : array, sparse matrix, frame, path, source or iterator of blocks
            New rows; the training mean and scale are applied to them.
        out : path or None
            File to which the coordinates are written block by block: .npy, .csv, .tsv or
            .parquet. It appears when it is complete, and its path is returned.
        """
        self._refuse_few()
        above: Any = super()
        return above.transform(X, out=out)

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether there is a model: few rows of a stream make none."""
        if self._stream is None:
            return "components_" in vars(self)
        return self._enough(self._stream)

    def __getattr__(self, name: str) -> Any:
        """Find the axes of a stream when one of the fitted attributes is looked at."""
        stream = self.__dict__.get("_stream")
        if stream is None or name not in type(self)._late:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with _lock_of(self):
            if name not in self.__dict__:
                self.__dict__.update(self._looked())
            return self.__dict__[name]

    # -- the stream -------------------------------------------------------------------

    def _begun(self, source: Source) -> Batches:
        """Return a stream without rows, that keeps all sums or leading directions only."""
        this: Any = self
        p, wanted = source.shape[1], this.n_components
        root_feature_weight(this.feature_weight, p)  # no row to come can mend them
        if p <= _WIDEST and _SUMS * p * p <= this._budget():
            return Batches(RunningMoments(), this.forget)
        if not isinstance(wanted, Integral) or isinstance(wanted, bool):
            raise InputError(
                f"a stream of {p:,} columns keeps a few leading directions: say how many",
                got=f"n_components={wanted!r}, {this._budget():,} bytes allowed",
                fix="pass a whole number",
            )
        return Batches(RunningSvd(sketch_rank(int(wanted), p)), this.forget)

    def _enough(self, stream: Batches) -> bool:
        """Tell whether the rows seen can have that many axes."""
        wanted: Any = self.n_components
        fewest = int(wanted) if isinstance(wanted, Integral) else 1
        counted = stream.rows if stream.forget else int(stream.total * (1 + 1e-12))
        return min(stream.rows, counted) >= 2 and counted >= fewest and stream.total > 1

    def _settled_by(self, source: Source, first: bool) -> dict[str, Any]:
        """Return what a batch settles for those to come; one that does not suit is refused."""
        names = _COLUMNS if first else ()
        return {name: vars(self)[name] for name in names if name in vars(self)}

    def _follow(
        self, stream: Batches, settled: dict[str, Any] | None = None, first: bool = False
    ) -> None:
        """Publish a stream; what was found of the one before goes."""
        keep = () if first else _COLUMNS
        stale = [
            n for n in vars(self) if n in self._late or (n.endswith("_") and n not in keep)
        ]
        for name in stale:
            self.__dict__.pop(name, None)
        found = {"_stream": stream, "n_samples_seen_": stream.rows}
        self.__dict__.update(found | (settled or {}))

    def _looked(self) -> dict[str, Any]:
        """Return the fitted attributes of the rows seen so far, which must be enough."""
        this: Any = self
        stream = self._stream
        assert stream is not None
        self._refuse_few()
        this._check_parameters()
        root_feature_weight(this.feature_weight, this.n_features_in_)
        stream = stream.summed()
        try:
            state = self._modelled(stream)
        except TooFewRowsError:
            raise
        except InputError as error:  # an AttributeError too: more rows may mend it
            raise TooFewRowsError(error.what, got=error.got, fix=error.fix) from error
        return state | {"_stream": stream}

    def _refuse_few(self) -> None:
        """Say of a stream whose rows make no model yet how many there are."""
        this: Any = self
        stream = self._stream
        if stream is None or self._enough(stream):
            return
        nothing = stream.rows > 0 and stream.total == 0
        raise TooFewRowsError(
            "all sample weights are zero so far"
            if nothing
            else "the rows seen so far make no model yet",
            got=f"n_samples = {stream.rows}, weights that sum to {stream.total:g},"
            f" n_components={this.n_components!r}",
            fix="call partial_fit with more rows",
        )

    def _modelled(self, stream: Batches) -> dict[str, Any]:
        """Return what the sums of a stream make."""
        this: Any = self
        source = stream.described()
        p = source.shape[1]
        problem = dataclasses.replace(
            this._problem(source),
            itemsize=8,
            allowed=("gram",),
            gram_flops=0.0,  # they are spent
            memory=max(this._budget(), int(_SUMS * p * p + 1e6)),  # as when the stream began
            time=None,
        )
        if isinstance(stream.sums, RunningSvd):
            made = _sketch_plan(problem, stream.sums)
        else:
            made = planning.plan(problem)
        spectrum, found = this._walk(source, made, None)
        state = {"plan_": made, **this._scale(spectrum, found, source)}
        this._warn(spectrum)
        state["n_samples_"] = stream.rows
        if stream.forget:  # the sum of all weights says nothing of how many axes there are
            left = min(stream.rows, p) - state["n_components_"]
            shares = float(state["explained_variance_ratio_"].sum())
            whole = float(state["explained_variance_"].sum()) / shares if shares else 0.0
            state["noise_variance_"] = max(whole * (1 - shares), 0.0) / left if left else 0.0
        return state

    def _refuse_other_forgetting(self) -> None:
        """Refuse a `forget` other than the one that the rows seen have been faded with."""
        this: Any = self
        stream = this._stream
        if this.forget != stream.forget:
            raise InputError(
                "forget cannot change within a stream",
                got=f"forget={this.forget!r} after {stream.rows:,} rows with"
                f" forget={stream.forget!r}",
                fix=f"set forget={stream.forget!r} again, or begin a new model",
            )

    def _refuse_forgetting(self, what: str, *streams: Batches) -> None:
        if any(stream.forget for stream in streams):
            raise InputError(
                f"streams that forget cannot be {what}: the age of every row counts",
                got=f"forget={[stream.forget for stream in streams]}",
                fix="use forget=None",
            )


def _read(reader: Any, X: Any, weights: Any, first: bool) -> tuple[Source, Array]:
    """Return the rows of one batch, every cell finite, and their repeat counts."""
    source = reader._admit(X, reset=first)
    if isinstance(source, BlockSource | SpreadSource):
        raise InputError(
            "a batch is a table in memory",
            got=source.label,
            fix="fit it whole with fit(X), or walk over its blocks",
        )
    refuse_bad_cells(source, getattr(reader, "feature_names_in_", None))
    counts = repeat_counts(weights, source.shape[0], few=True)
    return source, np.ones(source.shape[0]) if counts is None else counts


def _refuse_names(one: Any, other: Any) -> None:
    mine, theirs = (list(getattr(m, "feature_names_in_", ())) for m in (one, other))
    named = bool(mine and theirs)
    if one.n_features_in_ != other.n_features_in_ or (named and mine != theirs):
        raise InputError(
            "streams of different columns cannot be merged",
            got=f"{one.n_features_in_} and {other.n_features_in_} columns"
            + (f": {mine[:5]} and {theirs[:5]}" if named else ""),
            fix="merge streams of the same columns in the same order",
        )


def _sketch_plan(problem: planning.Problem, sums: RunningSvd) -> planning.Plan:
    """Return the one path there is: the pairs of the directions that were kept."""
    return planning.Plan(problem, planning.sketch_path(problem, sums.rank), ())
