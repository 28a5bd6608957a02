"""health(): findings about a fitted model and its rows, wherever these lie."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer import diagnostics
from mercer.arrays import Array, as_numpy
from mercer.diagnostics import Finding
from mercer.errors import InputError
from mercer.estimators import PCA, KernelPCA
from mercer.estimators.kernel._fitted_kernel import FittedKernel
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.estimators.walk._parameters import check_fitted
from mercer.kernels import Precomputed
from mercer.sources import BlockSource, Source, SpreadSource, in_memory

_ROWS = 5000  # of a table that are looked at whole
_KERNEL_ROWS = 2000  # that are projected anew by a kernel
_AXES = 10
_RUN = 100  # rows in a row, so that neighbours stay neighbours
_BLOCK = 1 << 22  # cells that are projected at a time


@dataclasses.dataclass(frozen=True)
class _Looked:
    """Some rows, and coordinates of these or of all.

    Attributes
    ----------
    table : ndarray of shape (m, p) or None
        Rows as they were analysed.
    at : ndarray of shape (m,) or None
        Their numbers.
    scores : ndarray of shape (q, k)
        Coordinates.
    numbers : ndarray of shape (q,) or None
        Rows that these belong to; None for all, in order.
    """

    table: Array | None
    at: Array | None
    scores: Array
    numbers: Array | None


def health(
    model: PCA | KernelPCA,
    X: Any,
    *,
    names: Sequence[str] | None = None,
    row_names: Any = None,
    groups: Any = None,
) -> tuple[Finding, ...]:
    """Return what in the data changes how the axes of a fitted model are read.

    Each finding has a code, which docs/warnings.md explains. At most 5000 rows are looked at
    in full, in runs of neighbours spread over the table; where rows are in memory PCA looks
    at the coordinates of all of them.

    Parameters
    ----------
    model : PCA, RobustPCA or KernelPCA
        Fitted. Of kernel PCA only what does not depend on linear axes is said; of RobustPCA
        only of the rows that count.
    X : array, sparse matrix, frame, or what `scan` takes, of shape (n, p)
        The rows of the fit. A file is read once.
    names : sequence of str or None
        Of the columns; None takes those of the fit.
    row_names : sequence of length n or None
        Of the rows; None counts them from zero.
    groups : sequence of length n or None
        Group of every row: asks whether the columns look chosen by the groups.

    Returns
    -------
    tuple of Finding
        The most important first; empty where nothing was found.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).normal(size=(300, 5)) * [500, 5, 2, 1, 1]
    >>> for finding in mercer.health(mercer.PCA(1).fit(X), X):
    ...     print(finding)
    M104 one column has nearly all the variance: the axes show units, not structure
      got: column 0: 99.99% of the variance of 5 columns; deviation ...
      fix: standardise the columns (standardize=True, --standardize yes), ...
    """
    check_fitted(model)
    source = model._admit(X, reset=False)
    if source.max_passes < 1 or getattr(source, "walks", 0) >= source.max_passes:
        raise InputError(
            "rows that can be read once are gone",
            got=f"{getattr(source, 'label', type(source).__name__)}",
            fix="pass rows that can be read again: a file or an array",
        )
    n = source.shape[0]
    for what, given in (("groups", groups), ("row_names", row_names)):
        if given is not None and len(given) != n and getattr(source, "counted", True):
            raise _miscounted(what, given, f"{n} rows")
    linear = isinstance(model, PCA)
    looked = _linear(model, source) if linear else _kernel(model, source, X)
    k = looked.scores.shape[1]
    return diagnostics.health(
        looked.table,
        looked.scores,
        np.asarray(model.explained_variance_, np.float64)[:k],
        names=_names(model, names, looked.table),
        row_names=_taken(row_names, looked.numbers),
        groups=_groups(groups, looked),
        inseparable=() if type(model) is not PCA and linear else model.certificate_.groups,
        following=_following(model, k),
        rows=_behind(model),
        linear=linear,
    )


def _linear(model: Any, source: Source) -> _Looked:
    """Return rows as PCA analyses them, and their coordinates."""
    axes = np.asarray(model.components_[:_AXES], np.float64).T
    if isinstance(source, BlockSource | SpreadSource):
        at = runs(source.shape[0], _ROWS)
        spread = isinstance(source, SpreadSource)
        rows = _analysed(model, source, source.sample(_ROWS, None if spread else at))
        return _Looked(rows, None if spread else at[: len(rows)], rows @ axes, at[: len(rows)])
    n, p = source.shape
    counted = _counted(model, n)
    at = counted[runs(len(counted), _ROWS)]
    table = _analysed(model, source, source.sample(len(at), at))
    step = max(1, _BLOCK // max(p, 1))
    scores = np.empty((len(counted), axes.shape[1]))
    for start in range(0, len(counted), step):
        some = counted[start : start + step]
        block = _analysed(model, source, source.sample(len(some), some))
        scores[start : start + step] = block @ axes
    return _Looked(table, at, scores, counted if len(counted) < n else None)


def _counted(model: Any, n: int) -> Array:
    """Return the numbers of the rows that count: robust fits leave some out."""
    weights = getattr(model, "weights_", None)
    if weights is None or len(weights) != n:
        return np.arange(n)
    return np.flatnonzero(weights)


def _analysed(model: Any, source: Source, rows: Any) -> Array:
    """Return rows (m, p) about the mean of the fit, filled and scaled as the fit does."""
    X = np.asarray(as_numpy(rows), np.float64)
    if np.isnan(X).any() and getattr(model, "missing", "raise") != "raise":
        X = np.asarray(model.completion_.filled(X), np.float64)
    if not np.isfinite(X).all():
        refuse_bad_cells(source, getattr(model, "feature_names_in_", None))
    X = X - model.mean_
    return X if model.scale_ is None else X / model.scale_


def _kernel(model: KernelPCA, source: Source, X: Any) -> _Looked:
    """Return rows as the kernel sees them, where they are numbers, and their coordinates."""
    if isinstance(source, SpreadSource):
        raise InputError(
            "health of kernel PCA needs rows in memory",
            got=type(X).__name__,
            fix="pass some of the rows as an array",
        )
    if isinstance(model.kernel_, Precomputed):
        return _Looked(None, None, np.asarray(model._project(source))[:, :_AXES], None)
    at = runs(source.shape[0], _KERNEL_ROWS)
    some = source if len(at) == source.shape[0] else in_memory(source.array[at])
    scores = np.asarray(model._project(some), np.float64)[:, :_AXES]
    frame = FittedKernel.of(model).frame
    if not frame.numeric:
        return _Looked(None, None, scores, at)
    rows = frame.ready(some)
    rows = rows.toarray() if hasattr(rows, "toarray") else as_numpy(rows)
    return _Looked(rows, at, scores, at)


def runs(n: int, most: int) -> Array:
    """Return at most `most` row numbers, ascending: runs of 100 neighbours, evenly spread."""
    if n <= most:
        return np.arange(n)
    starts = np.linspace(0, n - _RUN, most // _RUN).round().astype(np.int64)
    return np.unique(starts[:, None] + np.arange(_RUN))


def _names(
    model: Any, names: Sequence[str] | None, table: Array | None
) -> Sequence[str] | None:
    if table is None or names is not None:
        return None if table is None else names
    found = getattr(model, "feature_names_in_", None)
    return None if found is None or len(found) != table.shape[1] else list(found)


def _taken(values: Any, numbers: Array | None) -> Any:
    """Return the names of the rows with coordinates."""
    if numbers is None:
        return values
    return numbers if values is None else _picked(values, numbers, "row_names")


def _groups(groups: Any, looked: _Looked) -> Any:
    if groups is None or looked.table is None:
        return None
    if looked.at is None:
        raise InputError(
            "rows that lie elsewhere have no numbers by which groups could be found",
            got=f"{len(groups)} groups",
            fix="pass some of the rows as an array, with their groups",
        )
    return _picked(groups, looked.at, "groups")


def _picked(values: Any, numbers: Array, what: str) -> Any:
    """Return the entries of these rows; the rows of a text file are counted only now."""
    if len(numbers) and len(values) <= int(numbers[-1]):
        raise _miscounted(what, values, f"{int(numbers[-1]) + 1} rows or more")
    return np.asarray(values)[numbers]


def _miscounted(what: str, values: Any, rows: str) -> InputError:
    return InputError(
        f"{what} has one entry for each row",
        got=f"{len(values)} entries, {rows}",
        fix="pass one for each row, in the order of the rows",
    )


def _behind(model: Any) -> float:
    """Return how many rows are behind the axes."""
    weights = getattr(model, "weights_", None)
    return float(model.n_samples_ if weights is None else np.sum(weights))


def _following(model: Any, k: int) -> float:
    """Return the variance of the axis after the k-th, from above; 0 where it is not known."""
    values = np.asarray(model.explained_variance_, np.float64)
    if k < len(values):
        return float(values[k])
    if not isinstance(model, PCA) or type(model) is not PCA:
        return 0.0
    bound = float(model.certificate_.next_upper)
    return bound if np.isfinite(bound) and bound > 0 else 0.0
