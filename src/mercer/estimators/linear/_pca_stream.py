"""PCA of rows that come in batches: what a stream begins with, is asked for, and refuses."""

import dataclasses
import threading
import weakref
from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from mercer import planning
from mercer.arrays import Array, show_bytes
from mercer.errors import BudgetError, InputError
from mercer.estimators.linear._batches import Batches
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.estimators.walk._parameters import Attributes
from mercer.estimators.walk._spectral_estimator import repeat_counts
from mercer.operators import RunningMoments, RunningSvd, sketch_rank
from mercer.sources import BlockSource, Source, SpreadSource

_WIDEST = 8000  # columns up to which p×p sums are kept
_ANY = 1 << 60  # bytes: sums that are there fit
_SUMS = 32.0  # bytes per entry: those kept, those of a batch, and LAPACK's workspace
_TILES = 1e6  # bytes of the blocks in which a small batch is added
_DIRECTIONS = 56.0  # bytes per entry of directions that are kept
_GUARD = threading.Lock()
_LOCKS: "weakref.WeakKeyDictionary[Any, Any]" = weakref.WeakKeyDictionary()


class TooFewRowsError(InputError, NotFittedError):
    """The rows seen so far make no model yet."""


def lock_of(model: BaseEstimator) -> Any:
    """Return the lock of one model: kept apart from it, since locks do not pickle."""
    with _GUARD:
        return _LOCKS.setdefault(model, threading.RLock())


class Late:
    """A fitted attribute that a stream finds when it is looked at.

    A fit stores it in the model, which then answers by itself. Where it is not there and the
    model has rows of a stream, `_looked` of it finds all of them.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember what it is called."""
        self.name = name

    def __get__(self, model: BaseEstimator, owner: type) -> Any:
        """Return the attribute of the rows seen so far."""
        if model is None or vars(model).get("_stream") is None:
            kind = f"type object {owner.__name__!r}" if model is None else f"{owner.__name__!r}"
            what = kind if model is None else f"{kind} object"
            raise AttributeError(f"{what} has no attribute {self.name!r}")
        with lock_of(model):
            if self.name not in vars(model):
                vars(model).update(model._looked())
            return vars(model)[self.name]


def late() -> Any:
    """Declare a fitted attribute that a stream finds when it is looked at; see `Late`."""
    return Late()


def begun(p: int, wanted: object, forget: float | None, budget: int) -> Batches:
    """Return a stream without rows, that keeps all sums or leading directions only."""
    if p <= _WIDEST and _sums_bytes(p) <= budget:
        return Batches(RunningMoments(), forget)
    if not isinstance(wanted, Integral) or isinstance(wanted, bool):
        raise InputError(
            f"a stream of {p:,} columns keeps a few leading directions: say how many",
            got=f"n_components={wanted!r}, {budget:,} bytes allowed",
            fix="pass a whole number",
        )
    rank = sketch_rank(int(wanted), p)
    needed = planning.LIBRARIES + _DIRECTIONS * rank * p
    if needed > budget:
        raise BudgetError(
            "the sums of a stream do not fit the memory allowed",
            got=f"{show_bytes(budget)} allowed; {rank} directions of {p:,} columns need"
            f" {show_bytes(needed)}",
            fix=f'allow memory="{show_bytes(1.05 * needed)}"',
        )
    return Batches(RunningSvd(rank), forget)


def _sums_bytes(p: int) -> int:
    """Return what a stream takes that keeps all sums."""
    return int(planning.LIBRARIES + _TILES + _SUMS * p * p)


def batch(
    source: Source, weights: Array | None, names: Iterable[str] | None
) -> tuple[Source, Array]:
    """Return the rows of one batch, every cell finite, and their repeat counts."""
    if isinstance(source, BlockSource | SpreadSource):
        raise InputError(
            "a batch is a table in memory",
            got=source.label,
            fix="fit it whole with fit(X), or walk over its blocks",
        )
    refuse_bad_cells(source, names)
    counts = repeat_counts(weights, source.shape[0], few=True)
    return source, np.ones(source.shape[0]) if counts is None else counts


def is_enough(stream: Batches, wanted: object) -> bool:
    """Tell whether the rows seen can have that many axes."""
    fewest = int(wanted) if isinstance(wanted, Integral) else 1
    counted = stream.rows if stream.forget else int(stream.total * (1 + 1e-12))
    return min(stream.rows, counted) >= 2 and counted >= fewest and stream.total > 1


def refuse_few(stream: Batches | None, wanted: object) -> None:
    """Say of a stream whose rows make no model yet how many there are."""
    if stream is None or is_enough(stream, wanted):
        return
    nothing = stream.rows > 0 and stream.total == 0
    raise TooFewRowsError(
        "all sample weights are zero so far"
        if nothing
        else "the rows seen so far make no model yet",
        got=f"n_samples = {stream.rows}, weights that sum to {stream.total:g},"
        f" n_components={wanted!r}",
        fix="call partial_fit with more rows",
    )


def plan_of_sums(problem: planning.Problem, stream: Batches) -> planning.Plan:
    """Return the plan for sums that are there: they cost no more, and the memory is known."""
    memory, needed = problem.memory, _sums_bytes(problem.cols)
    problem = dataclasses.replace(
        problem,
        itemsize=8,
        allowed=("gram",),
        gram_flops=0.0,  # they are spent
        memory=_ANY,
        time=None,
    )
    if isinstance(stream.sums, RunningSvd):  # the pairs of the directions that were kept
        path = planning.sketch_path(problem, stream.sums.rank)
    else:
        path = dataclasses.replace(planning.plan(problem).chosen, bytes=needed)
    # As when the stream began.
    problem = dataclasses.replace(problem, memory=max(memory, needed))
    return planning.Plan(problem, path, ())


def forgetful_noise(state: Attributes, rows: int, p: int) -> float:
    """Return the noise variance of a stream that forgets.

    The sum of all weights says nothing of how many axes there are.
    """
    left = min(rows, p) - state["n_components_"]
    shares = float(state["explained_variance_ratio_"].sum())
    whole = float(state["explained_variance_"].sum()) / shares if shares else 0.0
    return max(whole * (1 - shares), 0.0) / left if left else 0.0


def refuse_other_forgetting(stream: Batches, forget: float | None) -> None:
    """Refuse a `forget` other than the one that the rows seen have been faded with."""
    if forget != stream.forget:
        raise InputError(
            "forget cannot change within a stream",
            got=f"forget={forget!r} after {stream.rows:,} rows with forget={stream.forget!r}",
            fix=f"set forget={stream.forget!r} again, or begin a new model",
        )


def refuse_forgetting(what: str, *streams: Batches) -> None:
    """Refuse streams that forget where the age of every row would have to be known."""
    if any(stream.forget for stream in streams):
        raise InputError(
            f"streams that forget cannot be {what}: the age of every row counts",
            got=f"forget={[stream.forget for stream in streams]}",
            fix="use forget=None",
        )


def refuse_no_stream(other: Any, kind: type) -> None:
    """Refuse to merge what is no model of this kind."""
    if not isinstance(other, kind):
        raise InputError(
            "only a stream can be merged into a stream",
            got=f"{'the class ' if isinstance(other, type) else ''}"
            f"{(other if isinstance(other, type) else type(other)).__name__}",
            fix="pass a model that has seen rows; rows themselves go to partial_fit",
        )


def reducible(stream: Batches | None) -> Batches:
    """Return a stream that rows can be taken out of; nothing else is one."""
    if stream is None:
        raise InputError(
            "rows can only be taken out of a stream",
            got="a model that was not made by partial_fit",
            fix="call partial_fit first",
        )
    refuse_forgetting("reduced", stream)
    return stream


def merged(one: Any, other: Any, mine: Batches | None, theirs: Batches | None) -> Batches:
    """Return the stream of two models, both of which must be streams that do not forget."""
    if mine is None or theirs is None:
        raise InputError(
            "only streams can be merged",
            got="a model that was not made by partial_fit",
            fix="call partial_fit on both, where a model from fit may be",
        )
    refuse_forgetting("merged", mine, theirs)
    _refuse_other_columns(one, other)
    return mine.merged(theirs)


def _refuse_other_columns(one: Any, other: Any) -> None:
    """Refuse to merge the streams of two models whose columns differ."""
    mine, theirs = (list(getattr(m, "feature_names_in_", ())) for m in (one, other))
    named = bool(mine and theirs)
    if one.n_features_in_ != other.n_features_in_ or (named and mine != theirs):
        raise InputError(
            "streams of different columns cannot be merged",
            got=f"{one.n_features_in_} and {other.n_features_in_} columns"
            + (f": {mine[:5]} and {theirs[:5]}" if named else ""),
            fix="merge streams of the same columns in the same order",
        )
