"""bootstrap(): how far axes, variances and loadings would move with other rows."""

import dataclasses
from collections.abc import Iterator
from typing import Any, final

import numpy as np
import scipy.special
from sklearn.base import clone

from mercer.arrays import Array, show_bytes
from mercer.diagnostics import loadings
from mercer.errors import BudgetError, InputError, NotSupportedError
from mercer.estimators import PCA, RobustPCA
from mercer.estimators.linear._pca_recipe import root_feature_weight
from mercer.estimators.walk._spectral_estimator import counts_of
from mercer.sources import Source, is_scannable, scan
from mercer.studies._plain_result import aligned, plain
from mercer.studies._resampled_axes import (
    DrawFrame,
    Drawn,
    Plane,
    Poisson,
    alike,
    by_columns,
    by_rows,
    matched,
    multinomial,
    planes,
    rotated,
)
from mercer.studies._study_rows import evenly, readable_twice
from mercer.studies.drifting._rows_after import dense_blocks, dense_rows

_CELLS = 2e7  # of a table that is held
_COUNTED = 100_000  # rows from which counts follow Poisson's law
_SUMS = 512e6  # bytes of p×p sums of all draws
_KEPT = 2e9  # bytes of loadings of all draws
_FEWEST = 5  # rows without which draws say nothing
_DUAL = 1000  # rows of a wide table that are resampled


@final
@dataclasses.dataclass(frozen=True)
class Interval:
    """Where a number lies, with probability `level`.

    Attributes
    ----------
    value, low, high : ndarray
        The number at fit, and the ends.
    """

    value: Array
    low: Array
    high: Array


@final
@dataclasses.dataclass(frozen=True)
class Bootstrap:
    """Resampled fits of one table.

    Attributes
    ----------
    variances, shares : Interval of shape (k,)
        Explained variances, and their shares of the total: t intervals of their logarithms.
    loadings : Interval of shape (p, k)
        v_j√λ, every draw turned to the fit as a whole (Procrustes): how far the columns move
        in the space of all axes, whatever axes are laid into it.
    signed : Interval of shape (p, k)
        The same with axes only reordered and their signs set, for axes that stand alone; NaN
        for those that are named as planes.
    angles : ndarray of shape (k,)
        Median angle of each axis to that of the draws, in degrees, after reordering.
    planes : tuple of Plane
        Axes, merged where they cannot be told apart.
    names : tuple of str
        Of the columns.
    rows, draws, seed : int
        Rows that were resampled, how often, and the seed.
    level : float
        Of the intervals.
    notes : tuple of str
        What was done.
    """

    variances: Interval
    shares: Interval
    loadings: Interval
    signed: Interval
    angles: Array
    planes: tuple[Plane, ...]
    names: tuple[str, ...]
    rows: int
    draws: int
    seed: int
    level: float
    notes: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return everything as plain data; NaN where there is no interval."""
        return dict(plain(self))

    @property
    def verdict(self) -> str:
        """Which axes have a name, which only as planes, and which have none."""
        single = [one.name for one in self.planes if one.stable and len(one.axes) == 1]
        said = [f"Stable: {', '.join(single)}."] if single else []
        for one in self.planes:
            if one.stable and len(one.axes) > 1:
                said.append(f"Name {one.name}, not its axes: they turn into each other.")
            elif not one.stable:
                said.append(
                    f"{one.name[0].upper()}{one.name[1:]} is not stable: other rows give"
                    f" others (median angle {one.angle:.0f}°)."
                )
        return " ".join(said) or "There is no axis."

    def __str__(self) -> str:
        """Return the verdict, and a table of variances, shares and angles."""
        head = ("axis", "variance", "from", "to", "share %", "from", "to", "angle")
        lines: list[tuple[str, ...]] = [head]
        v, s = self.variances, self.shares
        for j, angle in enumerate(self.angles):
            numbers = [f"{x:.4g}" for x in (v.value[j], v.low[j], v.high[j])]
            numbers += [f"{100 * x:.1f}" for x in (s.value[j], s.low[j], s.high[j])]
            lines.append((f"PC{j + 1}", *numbers, f"{angle:.0f}°"))
        notes = ["", *self.notes] if self.notes else []
        return "\n".join([self.verdict, "", *aligned(lines), *notes])


def bootstrap(
    model: Any,
    X: Any,
    *,
    draws: int = 200,
    level: float = 0.95,
    seed: int = 0,
    sample_weight: Any = None,
) -> Bootstrap:
    """Resample rows, fit anew, and say how far axes, variances and loadings move.

    Rows are drawn with replacement, as many as there are; columns are standardised anew in
    every draw where the model standardises. All draws come from weighted sums of one walk:
    p×p where there are more rows than columns, n×n otherwise. Above 100,000 rows counts
    follow Poisson's law, so that files are read once beside the fit; of tables too large for
    either, rows evenly spread are resampled. `notes` says which.

    Axes are merged into planes where their variances may be equal (two that are would lie as
    far apart by chance), or where their median angle to those of the draws exceeds 30 degrees.

    Parameters
    ----------
    model : PCA
        With its parameters; it is fitted anew and not changed.
    X : array, sparse matrix, frame, or what `scan` takes, of shape (n, p)
        The rows.
    draws : int
        Resampled fits, 20 or more.
    level : float
        Of the intervals.
    seed : int
        Of the draws.
    sample_weight : array of shape (n,) or None
        Repeat counts.

    Returns
    -------
    Bootstrap
        With intervals, angles, planes, and a table as text.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5)) * [9, 3, 3, 1, 1]
    >>> print(mercer.bootstrap(mercer.PCA(3), X).verdict)
    Stable: PC1. Name the plane of PC2 and PC3, not its axes: they turn into each other.
    """
    _check(model, draws, level)
    fitted = clone(model)
    source = X
    if is_scannable(X):
        source = readable_twice(scan(X), "rows in parts are not resampled yet")
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    fitted.fit(source, **weights)
    admitted = fitted._admit(source, reset=False)
    counts = counts_of(sample_weight, admitted)
    said = []
    if getattr(fitted, "n_missing_", 0):
        said = ["Missing cells were filled once: intervals do not know of them."]
    p, k = fitted.n_features_in_, int(fitted.rank_)
    if admitted.shape[0] < _FEWEST:
        raise InputError(
            "too few rows to be resampled",
            got=f"{admitted.shape[0]} rows",
            fix=f"pass at least {_FEWEST} rows",
        )
    if 8.0 * draws * p * k > _KEPT:
        raise BudgetError(
            "the loadings of all draws do not fit",
            got=f"{draws} draws of {p:,} columns and {k} axes,"
            f" {show_bytes(8.0 * draws * p * k)}",
            fix="ask for fewer draws or axes",
        )
    root = root_feature_weight(fitted.feature_weight, p)
    axes = np.asarray(fitted.components_[:k], np.float64)
    frame = DrawFrame(bool(fitted.standardize), np.ones(p) if root is None else root, axes)
    found, rows, done = _drawn(fitted, fitted._completed(admitted), counts, frame, draws, seed)
    return _summary(fitted, found, draws, level, seed, rows, [*done, *said])


def _check(model: Any, draws: Any, level: Any) -> None:
    if not isinstance(model, PCA) or isinstance(model, RobustPCA):
        kind = model if isinstance(model, type) else type(model)
        raise NotSupportedError(
            "only PCA is resampled so far", got=kind.__name__, fix="pass mercer.PCA(...)"
        )
    if not (isinstance(draws, (int, np.integer)) and draws >= 20 and 0.5 <= level < 1):
        raise InputError(
            "intervals need at least 20 draws, and a level between 0.5 and 1",
            got=f"draws={draws}, level={level}",
            fix="pass draws=200, level=0.95",
        )


def _drawn(
    fitted: PCA, source: Source, counts: Array | None, frame: DrawFrame, draws: int, seed: int
) -> tuple[Iterator[Drawn], int, list[str]]:
    """Return all draws, the rows that were resampled, and what was done."""
    n, p = source.shape
    factor = (1 if fitted.scale_ is None else 1 / fitted.scale_) * 2.0**-fitted._centring.unit
    sums = 8.0 * draws * p * p <= _SUMS
    if n > p and sums and (n > _COUNTED or n * p > _CELLS):
        blocks = ((rows - fitted.mean_) * factor for rows in dense_blocks(source, None))
        weights = Poisson(draws, seed, counts)
        said = [f"Counts of the {n:,} rows follow Poisson's law: one walk for all draws."]
        return by_columns(blocks, weights, draws, frame), n, said
    most = int(min(n, max(_CELLS // p, 100), n if n > p and sums else _DUAL))
    table = (dense_rows(source, None, most) - fitted.mean_) * factor
    said = []
    if len(table) < n:
        said = [f"{len(table):,} of {n:,} rows were resampled: all of them would move less."]
    repeats = np.ones(len(table))
    if counts is not None:
        repeats = counts[evenly(n, most)] if len(table) < n else counts
    if len(table) > p:
        drawn = multinomial(repeats, draws, seed)
        return (
            by_columns(iter([table]), lambda at: drawn[:, at], draws, frame),
            len(table),
            said,
        )
    return by_rows(table, multinomial(repeats, draws, seed), frame), len(table), said


def _summary(
    fitted: PCA,
    found: Iterator[Drawn],
    draws: int,
    level: float,
    seed: int,
    rows: int,
    said: list[str],
) -> Bootstrap:
    k, p = int(fitted.rank_), int(fitted.n_features_in_)
    axes = np.asarray(fitted.components_[:k], np.float64)
    # In the unit of the fit, so that squares stay in range.
    values = np.asarray(fitted._unit_deviations[:k], np.float64) ** 2
    target = loadings(axes, values)
    cosines = np.zeros((draws, k, k))
    variances, shares, angles, along = np.zeros((4, draws, k))
    turned, signed = np.zeros((2, draws, p, k))
    for d, one in enumerate(found):
        cosines[d] = axes @ one.axes.T
        variances[d], shares[d] = one.variances, one.variances / (one.total or 1.0)
        along[d] = one.along
        order, signs = matched(cosines[d])
        own = loadings(one.axes, one.variances)
        turned[d], signed[d] = rotated(own, target), own[:, order] * signs
        chosen = np.abs(cosines[d][np.arange(k), order])
        angles[d] = np.degrees(np.arccos(np.minimum(chosen, 1.0)))
    named = planes(cosines, alike(values, along))
    alone = np.zeros(k, bool)
    alone[[one.axes[0] for one in named if one.stable and len(one.axes) == 1]] = True
    unit = 2.0**fitted._centring.unit
    spans = (
        _logarithmic(values, variances, level, rows),
        _logarithmic(fitted.explained_variance_ratio_[:k], shares, level, rows),
    )
    return Bootstrap(
        variances=_times(spans[0], unit**2),
        shares=Interval(spans[1].value, spans[1].low, np.minimum(spans[1].high, 1.0)),
        loadings=_times(_span(target, turned, level), unit),
        signed=_times(_span(target, np.where(alone, signed, np.nan), level), unit),
        angles=np.median(angles, axis=0) if k else np.zeros(0),
        planes=named,
        names=_names(fitted),
        rows=rows,
        draws=draws,
        seed=seed,
        level=level,
        notes=tuple(said),
    )


def _span(value: Array, found: Array, level: float) -> Interval:
    """Return the quantiles of the draws, those of rank (draws + 1)·chance."""
    ends = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(found, ends, axis=0, method="weibull")
    return Interval(np.asarray(value, np.float64), low, high)


def _logarithmic(value: Array, found: Array, level: float, rows: int) -> Interval:
    """Return value·exp(± t·s) with s the deviation of the logarithms of the draws.

    t is Student's quantile. The mean of the draws has no part: they are larger than the value
    where axes were chosen for it, as the value itself is than the truth.
    """
    value = np.asarray(value, np.float64)
    alive = np.all(found > 0, axis=0)
    logs = np.log(np.where(found > 0, found, 1.0))
    reach = scipy.special.stdtrit(rows - 1, (1 + level) / 2) * np.std(logs, axis=0, ddof=1)
    low, high = value * np.exp(-reach), value * np.exp(reach)
    return Interval(value, np.where(alive, low, 0.0), np.where(alive, high, value))


def _times(span: Interval, unit: float) -> Interval:
    return Interval(span.value * unit, span.low * unit, span.high * unit)


def _names(model: PCA) -> tuple[str, ...]:
    names = getattr(model, "feature_names_in_", None)
    count = int(model.n_features_in_)
    return tuple(map(str, range(count) if names is None else names))
