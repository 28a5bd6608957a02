"""From the pairs of a table of counts to what is published of it."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer.arrays import EPS, Array
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators._ca_facts import TableFacts, arch_of, pieces_of, warn_facts
from mercer.estimators._ca_margins import Margins
from mercer.estimators._ca_null import independence
from mercer.estimators._ca_table import Counts, counts, named_rows
from mercer.estimators._door import admit
from mercer.estimators._held import held_rows
from mercer.solvers import Spectrum


def has_axes(margins: Margins) -> bool:
    """Tell whether the inertia is more than rounding of P - rcᵀ can leave."""
    m, n = len(margins.rows), len(margins.columns)
    return margins.inertia > min(m, n) * (4 * EPS * max(m, n)) ** 2


def inertias_of(spectrum: Spectrum, most: int, total: float) -> Array:
    """Return at most `most` inertias; those at the level of rounding are zero."""
    values = np.maximum(spectrum.values[:most], 0.0)
    zero = spectrum.certificate.zero_level if total > 0 else np.inf
    return np.where(values > zero, np.minimum(values, 1.0), 0.0)


def unscaled(total: float, exponent: int) -> float:
    """Return total·2^exponent; inf where that is too large."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(total, exponent))


def picked(names: list[str] | None, kept: Array) -> list[str] | None:
    """Return the names of rows that are kept."""
    if names is None or kept.all():
        return names
    return [names[i] for i in np.flatnonzero(kept)]


def kept_of(count: int, dropped: Array) -> Array:
    """Return which of `count` rows or columns are kept, bool."""
    kept = np.ones(count, bool)
    kept[dropped] = False
    return kept


def spread(values: Array, kept: Array) -> Array:
    """Return values of kept rows (m', …) in their places, zero elsewhere (m, …)."""
    if kept.all():
        return values
    out = np.zeros((len(kept), *values.shape[1:]))
    out[kept] = values
    return out


def judged(
    state: dict[str, Any], rows: Array, columns: Array, margins: Margins, source: Counts
) -> dict[str, Any]:
    """Return the test of independence and the facts, which are said where they mislead."""
    total, values = state["total_inertia_"], state["eigenvalues_"]
    r, c = state["row_masses_"], state["column_masses_"]
    column_points = state["column_standard_"] * np.sqrt(values)
    arches = [arch_of(state["row_coordinates_"], r), arch_of(column_points, c)]
    facts = TableFacts(
        dropped_rows=np.flatnonzero(~rows),
        dropped_columns=np.flatnonzero(~columns),
        whole=source.whole,
        independent=total == 0,
        # One row far out bends a parabola as well; an arch is on both sides.
        arch=min((found for found in arches if found is not None), default=None),
        pieces=pieces_of(source.table, float(values[0]) if len(values) else 0.0),
    )
    warn_facts(facts)
    test = independence(r, c, total, margins.total, source.exponent)
    return {"independence_": test, "facts_": facts}


def warn_centred(totals: Array, names: list[str] | None) -> None:
    """Say which new rows have no counts, and so no profile: they lie at the centre."""
    empty = np.flatnonzero(~(totals > 0))
    if len(empty):
        at = int(empty[0])
        name = "" if names is None else f" ({names[at]!r})"
        warn(
            "rows without counts have no profile; they are placed at the centre of the map",
            got=f"row {at}{name}: its total is zero; {len(empty):,} of {len(totals):,} rows",
            fix="drop empty rows first",
            category=DataWarning,
        )


def refuse_empty_columns(totals: Array) -> None:
    """Refuse supplementary columns without counts: they have no profile, and no place."""
    empty = np.flatnonzero(~(totals > 0))
    if len(empty):
        raise InputError(
            "a column without counts has no profile, and no place on the map",
            got=f"column {empty[0]}: its total is zero; {len(empty):,} such columns",
            fix="drop empty columns first",
        )


def warn_lost(lost: Array, dropped: Array, names: Any) -> None:
    """Say that counts of new rows lie in columns that were empty at fit."""
    some = int(np.sum(lost > 0))
    if some:
        first = dropped[0] if names is None else repr(str(names[dropped[0]]))
        warn(
            "counts in columns that were empty at fit are left out: they have no place",
            got=f"{some:,} rows; {len(dropped):,} such columns, the first {first}",
            fix="fit on rows that have counts in these columns, or drop the columns",
            category=DataWarning,
        )


class _Columns(BaseEstimator):
    """Stands in for an estimator at the door: supplementary columns have names of their own."""

    _fewest = 1


def beside(Y: Any, rows: int) -> Counts:
    """Return counts (rows, q) of columns that were not in the table of the fit."""
    data, names = named_rows(Y)
    found = counts(admit(_Columns(), held_rows(data), reset=True), names)
    refuse_other_rows(found, rows)
    return found


def refuse_other_rows(found: Counts, rows: int) -> None:
    """Refuse a table that has not the rows of the fit."""
    if found.shape[0] != rows:
        raise InputError(
            "the rows must be those of the fit",
            got=f"a table of shape {found.shape}, a fit of {rows:,} rows",
            fix=f"pass {rows:,} rows, in the order of the fit",
        )
