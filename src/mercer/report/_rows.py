"""Rows far from the others: T², Q, their limits, and what makes a row extreme."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.diagnostics import fitted_limits, q_contributions, t2_contributions
from mercer.errors import InputError
from mercer.plots import outlier_map
from mercer.report._parts import Picture, Section, Table
from mercer.report._seen import Seen
from mercer.report._words import listed

LEVEL = 0.99
_LISTED = 20
_CAUSES = 3
_DRAWN = 2000  # rows of the picture


@final
@dataclasses.dataclass(frozen=True)
class Extremes:
    """Rows beyond a limit.

    Attributes
    ----------
    rows : array of int
        The farthest of them, by how many times they exceed a limit.
    total : int
        How many there are.
    t2_limit, q_limit : float
        The limits of rows of the fit.
    seen_from : str
        What the limits were found from.
    """

    rows: Array
    total: int
    t2_limit: float
    q_limit: float
    seen_from: str


def extremes_of(seen: Seen) -> Extremes | None:
    """Return the rows beyond the 99 % limits, or None where there are too few rows for any."""
    axes = seen.axes_of_verdict
    # Rows that a robust fit left out say nothing of ordinary ones.
    ordinary = slice(None) if seen.weights is None else seen.weights[seen.held_at] > 0
    try:
        limits = fitted_limits(seen.held[ordinary], axes, level=LEVEL)
    except InputError:
        return None
    reach = np.maximum(_times(seen.t2, limits.t2), _times(seen.q, limits.q))
    total = int(np.count_nonzero(reach > 1))
    order = np.argsort(-reach, kind="stable")[: min(total, _LISTED)]
    held = len(seen.held[ordinary])
    from_ = f"all {held:,} rows" if held == seen.n else f"{held:,} of {seen.n:,} rows"
    return Extremes(order, total, limits.t2, limits.q, from_)


def _times(values: Array, limit: float) -> Array:
    if limit <= 0:
        return np.where(values > 0, np.inf, 0.0)
    return np.asarray(values / limit)


def causes(seen: Seen, row: int) -> str:
    """Return the columns that make a held row extreme, those of T² and those of Q."""
    place = np.searchsorted(seen.held_at, row)
    if place >= len(seen.held_at) or seen.held_at[place] != row:
        return ""
    axes = seen.axes_of_verdict
    V = seen.wide.components_[:axes].astype(np.float64)
    x = seen.held[place : place + 1]
    inside = t2_contributions(x, V, seen.wide.explained_variance_[:axes])[0]
    outside = q_contributions(x, V)[0]
    words = []
    for title, given in (("T²", inside), ("Q", outside)):
        whole = float(np.sum(given))
        top = np.argsort(-given)[:_CAUSES]
        heavy = [seen.names[j] for j in top if whole > 0 and given[j] > 0.15 * whole]
        words += [f"{title}: {listed(heavy)}"] if heavy else []
    return "; ".join(words)


def row_table(seen: Seen, extremes: Extremes) -> Table:
    """Return the table of the rows farthest out."""
    rows = tuple(
        (
            seen.row_name(int(row)),
            float(seen.t2[row]),
            float(seen.q[row]),
            "T²" * bool(seen.t2[row] > extremes.t2_limit)
            + " " * bool(seen.t2[row] > extremes.t2_limit and seen.q[row] > extremes.q_limit)
            + "Q" * bool(seen.q[row] > extremes.q_limit),
            causes(seen, int(row)) or None,
        )
        for row in extremes.rows
    )
    return Table(
        "Rows beyond a limit, the farthest first",
        ("row", "T²", "Q", "beyond", "mostly through"),
        rows,
        note=f"99 % limits: T² {extremes.t2_limit:.4g}, Q {extremes.q_limit:.4g} "
        f"({extremes.seen_from}). T² is the distance from the centre within the plane of the "
        "components, Q the squared distance from that plane. Such a row is unusual, not wrong.",
    )


def _picture(seen: Seen, extremes: Extremes) -> Picture:
    """Return the map of T² against Q: all rows beyond a limit, and some of the others."""
    beyond = (seen.t2 > extremes.t2_limit) | (seen.q > extremes.q_limit)
    rest = np.flatnonzero(~beyond)
    some = rest[:: max(1, -(-len(rest) // _DRAWN))]
    at = np.sort(np.concatenate([np.flatnonzero(beyond)[:_DRAWN], some]))
    panel = outlier_map(
        seen.t2[at],
        seen.q[at],
        extremes.t2_limit,
        extremes.q_limit,
        [seen.row_name(int(row)) for row in at],
        level=LEVEL,
    )
    left = seen.n - len(at)
    return Picture(panel, f"{left:,} ordinary rows are not drawn." if left else "")


def rows_section(seen: Seen, extremes: Extremes | None) -> Section | None:
    """Return the section on rows far from the others."""
    if extremes is None:
        return None
    if not extremes.total:
        words = "No row exceeds a 99 % limit."
        return Section("rows", "Rows", (words,))
    axes = seen.axes_of_verdict
    words = (
        f"On {axes} component{'s' * (axes > 1)}, {extremes.total:,} of {seen.n:,} rows exceed "
        "a 99 % limit of T² or Q."
    )
    return Section(
        "rows", "Rows", (words,), (_picture(seen, extremes), row_table(seen, extremes))
    )
