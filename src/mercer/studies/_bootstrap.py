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
from mercer.estimators.linear._pca_choice import group_numbers
from mercer.estimators.linear._pca_recipe import root_feature_weight
from mercer.estimators.walk._spectral_estimator import counts_of
from mercer.selection import Population, Turned, turned
from mercer.sources import Source, is_scannable, scan
from mercer.studies._plain_result import aligned, plain
from mercer.studies._resampled_axes import (
    DrawFrame,
    Drawn,
    Plane,
    Poisson,
    alike,
    by_columns,
    by_groups,
    by_rows,
    matched,
    multinomial,
    planes,
)
from mercer.studies._study_rows import evenly, readable_twice
from mercer.studies.drifting._rows_after import dense_blocks, dense_rows

_CELLS = 2e7  # of a table that is held
_COUNTED = 100_000  # rows from which counts follow Poisson's law
_SUMS = 512e6  # bytes of p×p sums of all draws
_KEPT = 2e9  # bytes of loadings of all draws
_FEWEST = 5  # rows without which draws say nothing
_NEAR = 24.0  # degrees to the axis of the population up to which an axis has a name
_NAMED = 4  # axes that are named in a caution
_HEAVY = 12.0  # kurtosis of coordinates from which intervals are too short
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
        `value` is that of the sample; the ends are of the population, whose variances are
        smaller: a sample follows its own noise. Near the edge of noise `low` is 0: there is an
        upper limit alone.
    loadings : Interval of shape (p, k)
        v_j√λ, and ends for the population in the space of all axes, whatever axes are laid
        into it. NaN for axes near the edge of noise.
    signed : Interval of shape (p, k)
        The same for axes as they are, with what they take from each other; NaN for those that
        are named as planes.
    angles : ndarray of shape (k,)
        Angle of each axis to that of the population, in degrees, as near as can be told.
    planes : tuple of Plane
        Axes, merged where they cannot be told apart.
    names : tuple of str
        Of the columns.
    edge : float
        Largest variance that noise alone shows, in the units of `variances`.
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
    edge: float
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
                    f" others ({_apart(one.angle)})."
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
            if v.low[j] <= 0:
                numbers[1] = numbers[4] = "–"
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
    groups: Any = None,
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
    groups : array of shape (n,) or None
        Which rows belong together, as those of one subject: they are drawn together.

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
    numbers = None if groups is None else group_numbers(groups)
    fitted.fit(source, groups=groups, **weights)
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
    asked = _DrawsAsked(draws, level, seed, numbers)
    found, rows, done = _drawn(fitted, fitted._completed(admitted), counts, frame, asked)
    total = float(admitted.shape[0] if counts is None else np.sum(counts))
    return _summary(fitted, found, asked, rows, total, [*done, *said])


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


@dataclasses.dataclass(frozen=True)
class _DrawsAsked:
    draws: int
    level: float
    seed: int
    groups: Array | None


def _drawn(
    fitted: PCA, source: Source, counts: Array | None, frame: DrawFrame, asked: _DrawsAsked
) -> tuple[Iterator[Drawn], int, list[str]]:
    """Return all draws, the rows that were resampled, and what was done."""
    n, p = source.shape
    draws, seed = asked.draws, asked.seed
    factor = (1 if fitted.scale_ is None else 1 / fitted.scale_) * 2.0**-fitted._centring.unit
    sums = 8.0 * draws * p * p <= _SUMS
    if asked.groups is not None:
        _check_groups(asked.groups, n)
    elif n > p and sums and (n > _COUNTED or n * p > _CELLS):
        blocks = ((rows - fitted.mean_) * factor for rows in dense_blocks(source, None))
        weights = Poisson(draws, seed, counts)
        said = [f"Counts of the {n:,} rows follow Poisson's law: one walk for all draws."]
        return by_columns(blocks, weights, draws, frame), n, said
    most = int(min(n, max(_CELLS // p, 100), n if n > p and sums else _DUAL))
    table = (dense_rows(source, None, most) - fitted.mean_) * factor
    said, kept = [], slice(None)
    if len(table) < n:
        said = [f"{len(table):,} of {n:,} rows were resampled: all of them would move less."]
        kept = evenly(n, most)
    repeats = np.ones(len(table)) if counts is None else counts[kept]
    if asked.groups is None:
        drawn = multinomial(repeats, draws, seed)
    else:
        numbers = np.unique(asked.groups[kept], return_inverse=True)[1]
        drawn = by_groups(repeats, numbers, draws, seed)
        said.append(f"{int(np.max(numbers)) + 1:,} groups of rows were resampled as a whole.")
    if len(table) > p:
        columns = by_columns(iter([table]), lambda at: drawn[:, at], draws, frame)
        return columns, len(table), said
    return by_rows(table, drawn, frame), len(table), said


def _check_groups(groups: Array, n: int) -> None:
    found = int(np.max(groups)) + 1 if len(groups) else 0
    if len(groups) != n or found < _FEWEST:
        raise InputError(
            "groups must hold one name or number per row, and several groups",
            got=f"{len(groups):,} for {n:,} rows, {found:,} groups",
            fix=f"pass {n:,} of them, of {_FEWEST} groups or more",
        )


def _summary(
    fitted: PCA,
    found: Iterator[Drawn],
    asked: _DrawsAsked,
    rows: int,
    total: float,
    said: list[str],
) -> Bootstrap:
    k, p, draws = int(fitted.rank_), int(fitted.n_features_in_), asked.draws
    axes = np.asarray(fitted.components_[:k], np.float64)
    # In the unit of the fit, so that squares stay in range.
    values = np.asarray(fitted._unit_deviations[:k], np.float64) ** 2
    ratio = np.asarray(fitted.explained_variance_ratio_[:k], np.float64)
    trace = float(values[0] / ratio[0]) if k else 0.0
    cosines = np.zeros((draws, k, k))
    shares, along = np.zeros((2, draws, k))
    for d, one in enumerate(found):
        own = axes @ one.axes.T
        order, signs = matched(own)
        cosines[d] = own[:, order] * signs
        along[d], shares[d] = one.along, one.along / (one.total or 1.0)
    free = rows if asked.groups is None else int(np.max(asked.groups)) + 1
    t = float(scipy.special.stdtrit(free - 1, (1 + asked.level) / 2))
    model = Population.of(values, trace, total, p)
    spans = tuple(_behind(model, values, _errors(draws_of), t) for draws_of in (along, shares))
    sure = spans[0].low > 0
    axis = turned(model, values, sure, cosines, total)
    named = planes(axis.cosines, alike(values, along), _NEAR)
    alone = np.zeros(k, bool)
    alone[[one.axes[0] for one in named if one.stable and len(one.axes) == 1]] = True
    unit, whole = 2.0**fitted._centring.unit, max(trace, 1e-300)
    share = Interval(ratio, spans[1].low / whole, np.minimum(spans[1].high / whole, 1.0))
    weighed = _loadings(axes, values, axis, _errors(along), t)
    edge = model.noise * (1 + np.sqrt(model.gamma)) ** 2
    diagonal = np.diagonal(axis.cosines, axis1=1, axis2=2)
    angles = np.degrees(np.arccos(np.clip(diagonal, 0.0, 1.0)))
    said = [*said, *_cautions(spans[0], edge * unit**2, _errors(along), free)]
    return Bootstrap(
        variances=_times(spans[0], unit**2),
        shares=share,
        loadings=_times(weighed[0], unit),
        signed=_times(_where(alone, weighed[1]), unit),
        angles=np.median(angles, axis=0) if k else np.zeros(0),
        planes=named,
        names=_names(fitted),
        edge=float(edge * unit**2),
        rows=rows,
        draws=draws,
        seed=asked.seed,
        level=asked.level,
        notes=tuple(said),
    )


def _errors(found: Array) -> Array:
    """Return the standard errors (k,) of the logarithms of numbers of the draws."""
    return np.std(np.log(np.maximum(found, 1e-300)), axis=0, ddof=1)


def _behind(model: Population, values: Array, errors: Array, t: float) -> Interval:
    """Return the variances of the population for which those of the sample are no surprise."""
    ends = [
        model.interval(float(value), float(error), t)
        for value, error in zip(values, errors, strict=True)
    ]
    low, high = np.array(ends).reshape(-1, 2).T
    return Interval(values, low, high)


def _loadings(
    axes: Array, values: Array, axis: Turned, errors: Array, t: float
) -> tuple[Interval, Interval]:
    """Return v√λ with ends for the population, without and with what axes take from others."""
    middle = axes.T * axis.scale
    size = (middle * errors / 2) ** 2 + (axis.scale * axis.outside) ** 2
    taken = np.einsum("mp,jml,lp->pj", axes, axis.inside, axes) * axis.scale**2
    value = loadings(axes, values)
    found = []
    for spread in (size, size + taken):
        reach = t * np.sqrt(spread)
        found.append(Interval(value, middle - reach, middle + reach))
    return found[0], found[1]


def _where(kept: Array, span: Interval) -> Interval:
    low, high = (np.where(kept, end, np.nan) for end in (span.low, span.high))
    return Interval(span.value, low, high)


def _cautions(span: Interval, edge: float, errors: Array, rows: int) -> list[str]:
    """Say which axes have no lower limit, and where tails are too heavy for the intervals."""
    said = []
    near = np.flatnonzero(span.low <= 0)
    if len(near):
        few = len(near) == 1
        names = ", ".join(f"PC{j + 1}" for j in near[:_NAMED])
        names += f" and {len(near) - _NAMED} more" if len(near) > _NAMED else ""
        said.append(
            f"{names} {'is' if few else 'are'} near the edge of noise ({edge:.4g}), or within:"
            f" noise alone may show such {'a variance' if few else 'variances'}, so that there"
            " is an upper limit only."
        )
    heavy = 1 + rows * errors**2
    if len(heavy) and float(np.max(heavy)) > _HEAVY:
        said.append(
            f"PC{int(np.argmax(heavy)) + 1} has heavy tails (kurtosis {np.max(heavy):.0f}; 3 is"
            " that of normal rows): its interval may be too short. Take logarithms, or"
            " RobustPCA."
        )
    return said


def _apart(angle: float) -> str:
    """Return an angle to the axis of the population in words."""
    return "no axis of all such rows is near" if angle > 80 else f"about {angle:.0f}° away"


def _times(span: Interval, unit: float) -> Interval:
    return Interval(span.value * unit, span.low * unit, span.high * unit)


def _names(model: PCA) -> tuple[str, ...]:
    names = getattr(model, "feature_names_in_", None)
    count = int(model.n_features_in_)
    return tuple(map(str, range(count) if names is None else names))
