"""What a look at some rows after the fit says: outlying rows, limits, sampling errors."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.cli._coordinates_table import coordinates, fit_coordinates
from mercer.diagnostics import Outliers, can_tell, health, outliers, sampling_error
from mercer.methods import method_of
from mercer.operators import exact_means
from mercer.sources import BlockSource

LEVEL = 0.99  # share of ordinary rows below a limit
_LEVELS = (0.95, 0.99)  # for new rows, kept with the model
_MOST = 2000  # rows that are looked at; more where the table is small
_WORK = 5e8  # operations of one of twenty folds, at most
_CELLS = 4e6  # of a table whose rows are all looked at


@final
@dataclasses.dataclass(frozen=True)
class RowJudgement:
    """Rows that were looked at after a fit.

    Attributes
    ----------
    at : ndarray of int
        Their numbers among the rows of the fit.
    table : ndarray of shape (m, p)
        The rows as they were analysed: filled, and scaled where the fit scales.
    scores : ndarray of shape (m, k)
        Their coordinates, not whitened.
    whole : bool
        Whether these are all rows.
    found : Outliers or None
        T² and Q with their limits; None where the method has none, or rows are too few.
    limits : dict or None
        For new rows: level as text to [T², Q], at the levels that so many rows can tell.
    sampling : ndarray of shape (k,) or None
        Standard errors of the variances.
    """

    at: Array
    table: Array
    scores: Array
    whole: bool
    found: Outliers | None
    limits: dict[str, list[float]] | None
    sampling: Array | None


def judged(model: Any, made: Any) -> RowJudgement:
    """Look at rows that were fitted: all of a small table, some of a large one.

    Parameters
    ----------
    model : estimator
        Fitted.
    made : Prepared
        The rows of the fit.
    """
    if not method_of(model).has_variances:
        return _placed(model, made)
    n, p = model.n_samples_, made.shape[1]
    step = _step(n, p)
    table = some_rows(made.rows, step)
    at = np.arange(0, n, step)
    frame = table if isinstance(table, np.ndarray) else table.to_numpy()
    if getattr(model, "completion_", None) is not None:
        frame = model.completion_.filled(np.asarray(frame, np.float64))
    names = getattr(model, "feature_names_in_", None)
    parts = list(coordinates(model, _named(table, names)))
    scores = np.concatenate(parts) if parts else np.empty((0, model.n_components_))
    scores = _unwhitened(model, scores)
    weights = None if made.weights is None else np.asarray(made.weights)[at]
    sampling = sampling_error(scores, weights) * np.sqrt(len(at) / n) if len(at) > 1 else None
    scale = getattr(model, "scale_", None)
    scaled = np.asarray(frame, np.float64) / (1.0 if scale is None else scale)
    # The laws of T² and Q are those of rows that count alike.
    alike = weights is None or bool(np.all(weights == weights[0]))
    found, limits = _limits(model, scaled) if alike else (None, None)
    return RowJudgement(at, scaled, scores, step == 1, found, limits, sampling)


def _placed(model: Any, made: Any) -> RowJudgement:
    """Return the coordinates of all rows of a method without T², Q and sampling errors."""
    parts = list(fit_coordinates(model, made.rows))
    scores = np.concatenate(parts) if parts else np.empty((0, model.n_components_))
    at = np.arange(len(scores))
    return RowJudgement(at, np.empty((len(at), 0)), scores, True, None, None, None)


def findings(model: Any, looked: RowJudgement, names: Any, ids: Any, groups: Any) -> Any:
    """Return what in the data changes how the axes are read; see `mercer.diagnostics.health`.

    Parameters
    ----------
    model : estimator
        Fitted.
    looked : RowJudgement
        Rows of the fit.
    names : sequence of str
        Of the columns.
    ids, groups : sequence or None
        Of the rows that were looked at.
    """
    if not method_of(model).has_variances:
        return ()
    if not model.n_components_ or not np.isfinite(looked.table).all():
        return ()
    return health(
        looked.table,
        looked.scores,
        model.explained_variance_,
        names=names,
        row_names=ids,
        groups=groups,
        inseparable=model.certificate_.groups,
        rows=model.n_samples_,
        linear=hasattr(model, "components_"),
    )


def _unwhitened(model: Any, scores: Array) -> Array:
    way = getattr(model, "_whitened", False)
    if way is False:
        return scores
    found = scores @ model.components_.T if way == "zca" else scores
    return np.asarray(found * np.sqrt(model.explained_variance_))


def related(values: Any, scores: Array) -> dict[str, Any]:
    """Return how a column goes with every axis; None where one of them does not vary.

    Numbers: the correlation r. Text: η², the share of the variance along the axis that lies
    between its categories. Missing cells are left out.

    Parameters
    ----------
    values : polars.Series of length m
        Numbers or text.
    scores : ndarray of shape (m, k)
        Coordinates of the same rows.
    """
    z = np.asarray(scores, np.float64)
    if not values.dtype.is_numeric():
        return {"kind": "eta2", "axes": _between(values, z)}
    x = values.to_numpy().astype(np.float64)
    there = np.isfinite(x)
    x, z = x[there], z[there]
    if len(x) < 3:
        return {"kind": "r", "axes": [None] * z.shape[1]}
    x, z = x - exact_means(x, x.mean()), z - exact_means(z, z.mean(axis=0))
    return {"kind": "r", "axes": _shares(x @ z, np.sqrt(np.sum(x**2) * np.sum(z**2, axis=0)))}


def _between(values: Any, scores: Array) -> list[float | None]:
    there = values.is_not_null().to_numpy()
    names, at = np.unique(
        np.asarray(values.to_list(), object)[there].astype(str), return_inverse=True
    )
    z = scores[there]
    z = z - exact_means(z, z.mean(axis=0)) if len(z) else z
    member = np.eye(len(names))[at]
    means = member.T @ z / np.maximum(member.sum(axis=0), 1)[:, None]
    between = np.sum(member.sum(axis=0)[:, None] * means**2, axis=0)
    return _shares(between, np.sum(z**2, axis=0))


def _shares(parts: Array, whole: Array) -> list[float | None]:
    return [float(a / b) if b > 0 else None for a, b in zip(parts, whole, strict=True)]


def some_rows(rows: Any, step: int) -> Any:
    """Return every step-th row: a polars frame of one, an array of a source."""
    if isinstance(rows, BlockSource):
        return rows.sample(-(-rows.shape[0] // step))
    return rows if step == 1 else rows.gather_every(step)


def _step(n: int, p: int) -> int:
    """Return of how many rows one is looked at."""
    count = n if n * p <= _CELLS else min(n, _MOST)
    while count > 100 and _work(count, p) > _WORK:
        count = int(0.8 * count)
    return max(1, -(-n // max(count, 1)))


def _work(n: int, p: int) -> float:
    least = min(n, p)
    return 2.0 * n * p * least + 9.0 * least**3


def _named(table: Any, names: Any) -> Any:
    if not isinstance(table, np.ndarray) or names is None:
        return table
    import polars as pl

    return pl.from_numpy(table, schema=[str(name) for name in names])


def _limits(model: Any, table: Array) -> tuple[Outliers | None, dict[str, list[float]] | None]:
    """Return T² and Q of the rows and the limits of new ones, for axes of a linear method."""
    if not hasattr(model, "components_") or getattr(model, "weights_", None) is not None:
        return None, None
    k, (n, p) = model.n_components_, table.shape
    if not 1 <= k <= min(n - 3, p) or not np.isfinite(table).all():
        return None, None
    found = outliers(table, k, level=LEVEL)
    given = {level: found.new_at(level) for level in _LEVELS if can_tell(n, level)}
    return found, {str(level): [new.t2, new.q] for level, new in given.items()}
