"""Comparisons: every question that drift asks of new rows, its chance, and its answer."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.studies.drifting import _drift_laws as laws
from mercer.studies.drifting._drift_axes import Turn
from mercer.studies.drifting._drift_laws import holm
from mercer.studies.drifting._drift_limits import AlarmLimits
from mercer.studies.drifting._rows_after import After
from mercer.studies.drifting._rows_before import Before

_NAMED = 3  # columns or axes that a sentence names


@final
@dataclasses.dataclass(frozen=True)
class Comparison:
    """One question, and whether its answer is beyond chance.

    Attributes
    ----------
    what : str
        What was compared.
    chance : float
        That a change is as large where nothing has changed; corrected for all that was asked.
    changed : bool
        Whether that is below 1 - level.
    says : str
        The numbers, in a sentence.
    """

    what: str
    chance: float
    changed: bool
    says: str


@final
@dataclasses.dataclass(frozen=True)
class ComparedColumns:
    """What happened to every column (p,).

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    shift_sd, shift_se : ndarray
        Shift of the mean in standard deviations of the new rows, and in standard errors.
    shift_chance : ndarray
        Of the shift, corrected for the number of columns.
    ratio : ndarray
        Standard deviation now over then.
    ratio_chance : ndarray or None
        Of the ratio, corrected; None where the deviations at fit are known only nearly.
    """

    names: tuple[str, ...]
    shift_sd: Array
    shift_se: Array
    shift_chance: Array
    ratio: Array
    ratio_chance: Array | None


@final
@dataclasses.dataclass(frozen=True)
class Captured:
    """Share of the variance that the axes hold.

    Attributes
    ----------
    fit, expected, now : float
        Of the rows of the fit, which the axes were chosen for; of new rows like those; of
        these rows.
    error : float
        Standard error of `now`.
    """

    fit: float
    expected: float
    now: float
    error: float


@final
@dataclasses.dataclass(frozen=True)
class Alarms:
    """Rows above a limit.

    Attributes
    ----------
    count : int
        How many.
    share : float
        Of all new rows.
    limit : float or None
        The limit; None where there is none.
    """

    count: int
    share: float
    limit: float | None


def columns_of(
    known: Before, new: After, deviations: Array | None, rows: float
) -> ComparedColumns:
    """Return what happened to the columns.

    Parameters
    ----------
    known, new : Before, After
        The fit, and the new rows.
    deviations : ndarray of shape (p,) or None
        Deviations of x̃ at fit; None where they are known nearly.
    rows : float
        Rows that they were found from.
    """
    in_sd, in_se, chance = laws.column_shifts(known, new)
    then = known.nearly if deviations is None else deviations
    now = np.sqrt(new.variances)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((then == 0) & (now == 0), 1.0, now / then)
    ratios = None
    if deviations is not None:
        ratios = holm(laws.column_spreads(new, deviations, rows))
    return ComparedColumns(known.names, in_sd, in_se, holm(chance), ratio, ratios)


def column_means(found: ComparedColumns, limit: float) -> tuple[float, str]:
    """Return the least chance of a shift, and which columns shifted most."""
    order = np.argsort(-np.abs(found.shift_se), kind="stable")
    at, more = _named(order, found.shift_chance, limit)
    each = ", ".join(
        f"{found.names[j]} by {found.shift_sd[j]:+.2g} sd ({found.shift_se[j]:+.1f} standard"
        " errors)"
        for j in at
    )
    return float(np.min(found.shift_chance)), f"The mean has moved of {each}{more}."


def column_ratios(found: ComparedColumns, limit: float) -> tuple[float, str]:
    """Return the least chance of a ratio of deviations, and the largest ones."""
    assert found.ratio_chance is not None
    with np.errstate(divide="ignore"):
        size = np.abs(np.log(found.ratio))
    order = np.lexsort((-size, found.ratio_chance))
    at, more = _named(order, found.ratio_chance, limit)
    each = ", ".join(f"{found.names[j]} ({found.ratio[j]:.3g} times)" for j in at)
    says = f"The standard deviation has changed of {each}{more}."
    return float(np.min(found.ratio_chance)), says


def _named(order: Array, chances: Array, limit: float) -> tuple[Array, str]:
    """Return the first of those that changed, or the very first; and how many more."""
    surely = order[chances[order] < limit]
    at = surely[:_NAMED] if len(surely) else order[:1]
    left = len(surely) - len(at)
    return at, f" and {left} more" if left > 0 else ""


def plane_mean(known: Before, new: After) -> tuple[float, str]:
    """Return the chance of the shift within the plane, and how far along which axis."""
    statistic, chance, k = laws.plane_shift(known, new)
    d = known.axes @ new.shift / np.sqrt(known.variances)
    j = int(np.argmax(np.abs(d)))
    few = "" if k == known.k else f", seen along the first {k} axes"
    says = (
        f"Within the plane of the axes the mean lies {np.sqrt(d @ d):.2g} sd from that of the"
        f" fit, {d[j]:+.2g} along PC{j + 1} (T² {statistic:.4g}{few})."
    )
    return chance, says


def outside_mean(known: Before, new: After) -> tuple[float, str]:
    """Return the chance of the shift outside the plane, and how far."""
    statistic, chance = laws.outside_shift(known, new)
    r = new.shift - (known.axes @ new.shift) @ known.axes
    away = np.sqrt(r @ r / new.rest) if new.rest > 0 else 0.0
    says = (
        f"Outside the plane the mean lies {away:.2g} of the typical distance of a row from"
        f" that of the fit (F {statistic:.4g})."
    )
    return chance, says


def total_variance(known: Before, new: After, bias: float) -> tuple[float, str]:
    """Return the chance of the ratio of total variances, and the ratio."""
    ratio, chance = laws.total_change(known, new, bias)
    return chance, f"The total variance is {ratio:.3g} times that of the fit."


def variance_captured(found: Captured, chance: float, k: int) -> tuple[float, str]:
    """Return the chance of the share captured, and the shares."""
    axes = "1 axis holds" if k == 1 else f"{k} axes hold"
    return chance, (
        f"The {axes} {100 * found.now:.1f} % of the variance (± {100 * found.error:.1f});"
        f" {100 * found.expected:.1f} % are expected of new rows, {100 * found.fit:.1f} % were"
        " held at fit."
    )


def axes_turned(turns: tuple[Turn, ...], limit: float) -> tuple[float, str]:
    """Return the least chance of a turn, and which axes turned or came nearest to it."""
    ordered = sorted(turns, key=lambda one: (one.chance, -one.angle))
    shown = [one for one in ordered if one.chance < limit][:_NAMED] or ordered[:1]
    named = ", ".join(
        f"{one.name} {one.angle:.1f}° (chance makes {one.expected:.1f}°)" for one in shown
    )
    says = f"Coordinates that did not covary at fit do now; angles to the new axes: {named}."
    return ordered[0].chance, says


def axis_variances(
    turns: tuple[Turn, ...], ratios: Array, chances: Array, limit: float
) -> tuple[float, str]:
    """Return the least chance of a variance along an axis, and the ratios."""
    corrected = holm(chances)
    order = np.argsort(corrected, kind="stable")
    at, more = _named(order, corrected, limit)
    each = ", ".join(f"{turns[i].name} ({ratios[i]:.3g} times)" for i in at)
    says = f"The variance along axes is not what is expected of new rows: {each}{more}."
    return float(np.min(corrected)), says


def alarms_of(values: Array, limit: float) -> Alarms:
    """Return how many rows are above a limit."""
    count = int(np.count_nonzero(values > limit))
    shown = float(limit) if np.isfinite(limit) else None
    return Alarms(count, count / len(values), shown)


def alarms_found(name: str, found: Alarms, limits: AlarmLimits, rows: int) -> tuple[float, str]:
    """Return the chance of so many alarms or more, and the numbers."""
    rate = 1 - limits.level
    chance = laws.alarms_chance(found.count, rows, rate, limits.rows)
    says = (
        f"{found.count} of {rows:,} rows ({100 * found.share:.1f} %) are above the {name}"
        f" limit; {100 * rate:.3g} % are expected."
    )
    return chance, says


def outlying(model: Any, now: Array) -> tuple[float, str]:
    """Return the chance of so many outlying rows, given those of the fit, and the numbers.

    Parameters
    ----------
    model : RobustPCA
        Fitted.
    now : ndarray of bool of shape (m,)
        Which new rows it calls outlying.
    """
    then, n, count = len(model.outliers_), int(model.n_samples_), int(np.count_nonzero(now))
    chance = laws.alarms_chance(count, len(now), (then + 1) / (n + 2), n)
    says = (
        f"{count} of {len(now):,} rows ({100 * count / len(now):.1f} %) are outlying;"
        f" {100 * then / n:.3g} % were at fit."
    )
    return chance, says


def settled(asked: dict[str, tuple[float, str]], level: float) -> tuple[Comparison, ...]:
    """Return comparisons, corrected for their number, the least likely first."""
    chances = holm(np.array([chance for chance, _ in asked.values()]))
    raw = [chance for chance, _ in asked.values()]
    found = [
        Comparison(what, float(chance), bool(chance < 1 - level), says)
        for (what, (_, says)), chance in zip(asked.items(), chances, strict=True)
    ]
    order = sorted(range(len(found)), key=lambda i: raw[i])
    return tuple(found[i] for i in order)
