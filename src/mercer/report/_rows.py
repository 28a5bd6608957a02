"""Rows far from the others: T², Q, their limits, and what makes a row extreme."""

import dataclasses
from collections.abc import Sequence
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.diagnostics import fitted_limits, in_limits, q_contributions, t2_contributions
from mercer.errors import InputError
from mercer.plots import outlier_map
from mercer.report._parts import Picture, Section, Table
from mercer.report._seen import Seen
from mercer.report._words import axes_named, listed

LEVEL = 0.99
_LISTED = 20
_CAUSES = 3
_DRAWN = 2000  # rows of the picture
_FARTHEST = 200  # of them that are there for certain, where very many lie beyond a limit


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
    reach : float
        How many times the farthest row exceeds a limit.
    """

    rows: Array
    total: int
    t2_limit: float
    q_limit: float
    seen_from: str
    reach: float = 0.0


def extremes_of(seen: Seen) -> Extremes | None:
    """Return the rows beyond the 99 % limits, or None where there are too few rows for any."""
    axes = seen.axes_of_verdict
    # Rows that a robust fit left out say nothing of ordinary ones.
    ordinary = slice(None) if seen.weights is None else seen.weights[seen.held_at] > 0
    try:
        limits = fitted_limits(seen.held[ordinary], axes, level=LEVEL)
    except InputError:
        return None
    reach = np.maximum(in_limits(seen.t2, limits.t2), in_limits(seen.q, limits.q))
    total = int(np.count_nonzero(reach > 1))
    order = np.argsort(-reach, kind="stable")[: min(total, _LISTED)]
    held = len(seen.held[ordinary])
    from_ = f"all {held:,} rows" if held == seen.n else f"{held:,} of {seen.n:,} rows"
    most = float(reach[order[0]]) if total else 0.0
    return Extremes(order, total, limits.t2, limits.q, from_, most)


def expected_by_chance(rows: int) -> int:
    """Return how many of ordinary rows lie beyond one of two 99 % limits, at most."""
    return max(round(2 * (1 - LEVEL) * rows), 1)


def causes(seen: Seen, row: int, beyond: Sequence[str] = ("T²", "Q")) -> str:
    """Return the columns that make a row extreme, by each distance it is beyond in."""
    cells = seen.cells(row)
    if cells is None:
        return ""
    axes = seen.axes_of_verdict
    V = seen.wide.components_[:axes].astype(np.float64)
    x = cells[None, :]
    parts = {
        "T²": t2_contributions(x, V, seen.wide.explained_variance_[:axes])[0],
        "Q": q_contributions(x, V)[0],
    }
    words = []
    for title in beyond:
        given = parts[title]
        whole = float(np.sum(given))
        top = np.argsort(-given)[:_CAUSES]
        heavy = [seen.names[j] for j in top if whole > 0 and given[j] > 0.15 * whole]
        words.append(f"{title}: {listed(heavy) or 'many columns, each a little'}")
    return "; ".join(words)


def _numbered(seen: Seen) -> bool:
    """Tell whether rows are called by their numbers."""
    return seen.row_names is None or str(seen.row_names[0]).startswith("row ")


def row_table(seen: Seen, extremes: Extremes) -> Table:
    """Return the table of the rows farthest out."""
    rows = []
    for row in map(int, extremes.rows):
        t2, q = float(seen.t2[row]), float(seen.q[row])
        beyond = [*["T²"] * (t2 > extremes.t2_limit), *["Q"] * (q > extremes.q_limit)]
        why = causes(seen, row, beyond) or None
        rows.append((seen.row_name(row), t2, q, " and ".join(beyond), why))
    counted = " Rows without a name are counted from 1." if _numbered(seen) else ""
    return Table(
        "Rows beyond a limit, the farthest first",
        ("row", "T²", "Q", "beyond", "mostly through"),
        tuple(rows),
        note=f"99 % limits for normal rows: T² {extremes.t2_limit:.4g}, Q "
        f"{extremes.q_limit:.4g} (from {extremes.seen_from}). T² is the squared distance from "
        "the centre along the components, each in its own standard deviations; Q the squared "
        f"distance from them. Such a row is unusual, not wrong.{counted}",
    )


def _picture(seen: Seen, extremes: Extremes) -> Picture:
    """Return the map of T² against Q: the rows farthest out, and some of all others.

    Rows between are thinned like those inside: else they would leave a gap that is not there.
    """
    reach = np.maximum(
        in_limits(seen.t2, extremes.t2_limit), in_limits(seen.q, extremes.q_limit)
    )
    order = np.argsort(-reach, kind="stable")
    few = extremes.total if extremes.total <= _DRAWN else _FARTHEST
    rest = np.sort(order[few:])
    at = np.sort(np.concatenate([order[:few], rest[:: max(1, -(-len(rest) // _DRAWN))]]))
    panel = outlier_map(
        seen.t2[at],
        seen.q[at],
        extremes.t2_limit,
        extremes.q_limit,
        [seen.row_name(int(row)) for row in at],
        level=LEVEL,
    )
    # The panel counts the rows it was given; the page speaks of all of them.
    said = (
        f"{extremes.total:,} of {seen.n:,} rows above a limit; by chance up to "
        f"{expected_by_chance(seen.n):,}"
    )
    panel = dataclasses.replace(panel, axes=dataclasses.replace(panel.axes, note=said))
    left = seen.n - len(at)
    words = f"{len(at):,} of {seen.n:,} rows are drawn, the farthest among them."
    return Picture(panel, words if left else "")


def rows_section(seen: Seen, extremes: Extremes | None) -> Section | None:
    """Return the section on rows far from the others."""
    if extremes is None:
        return None
    if not extremes.total:
        words = "No row exceeds a 99 % limit."
        return Section("rows", "Rows", (words,))
    axes = seen.axes_of_verdict
    on = axes_named(1, axes) + (", though it is not beyond noise" if seen.k == 0 else "")
    verb = "exceeds" if extremes.total == 1 else "exceed"
    words = (
        f"On {on}, {extremes.total:,} of {seen.n:,} rows {verb} a 99 % limit of T² or Q; up to "
        f"{expected_by_chance(seen.n):,} of as many ordinary rows would."
    )
    return Section(
        "rows", "Rows", (words,), (_picture(seen, extremes), row_table(seen, extremes))
    )
