"""Limits of T² and Q that alarms are counted by: kept with the model, or found anew."""

import dataclasses
import math
from typing import Any, final

import numpy as np
import scipy.special as special

from mercer.arrays import Array
from mercer.diagnostics import can_tell, held_out
from mercer.errors import InputError
from mercer.studies.drifting._drift_laws import freedom
from mercer.studies.drifting._rows_after import After
from mercer.studies.drifting._rows_before import Before

_ROWS = 2000  # of a reference that are looked at
_HEAVIEST, _NORMAL = 2.5, 1e7  # degrees of freedom of tails that are told apart


@final
@dataclasses.dataclass(frozen=True)
class AlarmLimits:
    """What new rows stay below in a share `level` of cases.

    Attributes
    ----------
    t2, q : float
        The limits; infinite where there is none.
    level : float
        Share of ordinary rows below each.
    rows : float
        Rows that they were found from.
    source : str
        Where they are from, in words.
    """

    t2: float
    q: float
    level: float
    rows: float
    source: str


@final
@dataclasses.dataclass(frozen=True)
class Reference:
    """Rows like those of the fit, and what they say.

    Attributes
    ----------
    rows : int
        How many were looked at.
    deviations : ndarray of shape (p,)
        Of the columns of x̃.
    inside : float or None
        Share of variance that axes hold of rows left out; None where rows are too few.
    limits : AlarmLimits or None
        From rows left out.
    """

    rows: int
    deviations: Array
    inside: float | None
    limits: AlarmLimits | None


def kept_limits(model: Any, known: Before, level: float) -> AlarmLimits | None:
    """Return the limits in ``model.notes_["limits"]`` at a level, or None.

    They are a dict of levels, as text, to [T², Q]. Of a large table 2000 rows were looked at
    for them, so that no more are believed.

    Parameters
    ----------
    model : estimator
        Fitted.
    known : Before
        What it knows.
    level : float
        Share of ordinary rows below each.
    """
    notes = getattr(model, "notes_", None)
    given = notes.get("limits") if isinstance(notes, dict) else None
    if not isinstance(given, dict) or str(level) not in given:
        return None
    try:
        t2, q = (math.inf if value is None else float(value) for value in given[str(level)])
    except (TypeError, ValueError):
        raise InputError(
            "the limits kept with the model are not understood",
            got=f"notes_['limits'] = {given!r}"[:200],
            fix="keep levels and [T², Q], such as {'0.95': [6.1, 2.3]}, or take it out",
        ) from None
    q = math.inf if known.rest <= 0 else q * 2.0 ** (-2 * model._centring.unit)
    return AlarmLimits(t2, q, level, min(known.rows, _ROWS), "kept with the model")


def reference_of(known: Before, table: Array, level: float) -> Reference:
    """Return what rows of the fit say, at most 2000: deviations, limits, share held.

    Parameters
    ----------
    known : Before
        The model.
    table : ndarray of shape (n, p)
        x̃ of the rows.
    level : float
        Of the limits.
    """
    n, k = len(table), known.k
    variances = np.var(table, axis=0, ddof=1)
    if not 1 <= k <= min(n - 3, table.shape[1]):
        return Reference(n, np.sqrt(variances), None, None)
    left_out = held_out(table, k)
    total = float(np.sum(variances)) * (1 + 1 / n)
    inside = 1 - float(np.mean(left_out.q)) / total if total > 0 else None
    if not can_tell(n, level):
        return Reference(n, np.sqrt(variances), inside, None)
    t2, q = left_out.limits(level)
    words = f"from {n:,} rows of the reference, left out in turn"
    return Reference(n, np.sqrt(variances), inside, AlarmLimits(t2, q, level, n, words))


def lawful(
    known: Before, new: After, expected: Array, least: Array, level: float
) -> AlarmLimits:
    """Return limits from the variances that new rows are expected to have.

    T² = Σ z_j²/λ_j is a sum of χ² with weights ℓ_j²/λ_j²·(1 + 1/n), taken for a multiple of
    one χ²; so is Q, with the mean Σλ - Σℓ_j²/λ_j and as many degrees of freedom as the new
    rows have outside the plane. Where axes are not clear of noise, Q takes the least that
    they may hold. Tails that are heavier than normal are those of a multivariate t: χ²
    becomes F, whose second degrees of freedom come from the quartiles of the new rows.
    """
    n = known.rows
    t2 = q = math.inf
    if known.k:
        weights = expected / known.variances * (1 + 1 / n)
        t2 = _quantile(float(np.sum(weights)), float(weights @ weights), n, level, new.t2)
    rest = (known.total - float(np.sum(least))) * (1 + 1 / n)
    if rest > 0 and known.rest > 0:
        q = _quantile(rest, rest**2 / freedom(new), n, level, new.q)
    return AlarmLimits(t2, q, level, n, "from laws of normal rows")


def _quantile(first: float, second: float, n: float, level: float, values: Array) -> float:
    """Return the quantile of Σw_jχ²_j with Σw and Σw² given, variances known from n rows."""
    h = first**2 / second
    d = tail(values, h)
    if d > h * max(n - 1, 1):
        return float(first * special.fdtri(h, h * max(n - 1, 1), level))
    return float(first * (d - 2) / d * special.fdtri(h, d, level))


def tail(values: Array, h: float) -> float:
    """Return d for which the quartiles of F(h, d) are as far apart as those of `values`.

    Few rows far off do not move quartiles. Rows with normal tails give a large d.
    """
    low, high = np.quantile(values, [0.25, 0.75])
    if not low > 0:
        return _NORMAL
    apart = math.log(high / low)
    least, most = math.log(_HEAVIEST), math.log(_NORMAL)
    for _ in range(40):
        middle = (least + most) / 2
        d = math.exp(middle)
        ratio = special.fdtri(h, d, 0.75) / special.fdtri(h, d, 0.25)
        least, most = (middle, most) if math.log(ratio) > apart else (least, middle)
    return math.exp(most)
