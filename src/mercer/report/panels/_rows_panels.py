"""Rows far from the others: T², Q, their limits, and what makes a row extreme.

What is lost when only k components are kept; pictures of rows where rows are pictures.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.diagnostics import (
    farthest_level,
    fitted_limits,
    in_limits,
    q_contributions,
    t2_contributions,
)
from mercer.errors import InputError
from mercer.plots import Axes, Line, Panel, group_style, outlier_map, reconstruction
from mercer.report._page_parts import Images, Part, Picture, Section, Steps, Table
from mercer.report._page_words import axes_named, listed, percent
from mercer.report.facts._linear_summary import LinearSummary, image_shape, is_curve

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
        What the farthest of as many normal rows stays below, in 95 of 100 tables.
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


def extremes_of(seen: LinearSummary) -> Extremes | None:
    """Return the rows farther out than normal ones reach; None where rows are too few."""
    axes = seen.axes_of_verdict
    # Rows that a robust fit left out say nothing of ordinary ones.
    ordinary = slice(None) if seen.weights is None else seen.weights[seen.held_at] > 0
    try:
        limits = fitted_limits(seen.held[ordinary], axes, level=farthest_level(seen.n))
    except InputError:
        return None
    reach = np.maximum(in_limits(seen.t2, limits.t2), in_limits(seen.q, limits.q))
    total = int(np.count_nonzero(reach > 1))
    order = np.argsort(-reach, kind="stable")[: min(total, _LISTED)]
    held = len(seen.held[ordinary])
    from_ = f"all {held:,} rows" if held == seen.n else f"{held:,} of {seen.n:,} rows"
    most = float(reach[order[0]]) if total else 0.0
    return Extremes(order, total, limits.t2, limits.q, from_, most)


def causes(seen: LinearSummary, row: int, beyond: Sequence[str] = ("T²", "Q")) -> str:
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


def _numbered(seen: LinearSummary) -> bool:
    """Tell whether rows are called by their numbers."""
    return seen.row_names is None or str(seen.row_names[0]).startswith("row ")


def row_table(seen: LinearSummary, extremes: Extremes) -> Table:
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
        note=f"Limits that the farthest of {seen.n:,} normal rows keeps in 95 of 100 tables: "
        f"T² {extremes.t2_limit:.4g}, Q {extremes.q_limit:.4g} (from {extremes.seen_from}). "
        "T² is the squared distance from "
        "the centre along the components, each in its own standard deviations; Q the squared "
        f"distance from them. Such a row is unusual, not wrong.{counted}",
    )


def _picture(seen: LinearSummary, extremes: Extremes) -> Picture:
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
    )
    # The panel counts the rows it was given; the page speaks of all of them.
    said = f"{extremes.total:,} of {seen.n:,} rows above a limit for the farthest of them"
    panel = dataclasses.replace(panel, axes=dataclasses.replace(panel.axes, note=said))
    left = seen.n - len(at)
    words = f"{len(at):,} of {seen.n:,} rows are drawn, the farthest among them."
    return Picture(panel, words if left else "")


def rows_section(seen: LinearSummary, extremes: Extremes | None) -> Section | None:
    """Return the section on rows far from the others."""
    if extremes is None:
        return None
    if not extremes.total:
        words = f"No row lies farther out than {seen.n:,} normal rows reach."
        return Section("rows", "Rows", (words,))
    axes = seen.axes_of_verdict
    on = axes_named(1, axes) + (", though it is not beyond noise" if seen.k == 0 else "")
    verb = "lies" if extremes.total == 1 else "lie"
    words = (
        f"On {on}, {extremes.total:,} of {seen.n:,} rows {verb} farther out, by T² or Q, than "
        f"{seen.n:,} normal rows reach; of 19 in 20 normal tables not one does."
    )
    return Section(
        "rows", "Rows", (words,), (_picture(seen, extremes), row_table(seen, extremes))
    )


_PICTURES = 6
_STEPS = 13


def reconstruction_section(
    seen: LinearSummary, grid: tuple[int, Sequence[int]] | None = None
) -> Section:
    """Return the section on what the components rebuild.

    Parameters
    ----------
    seen : LinearSummary
        The rows.
    grid : (int, sequence of int) or None
        Where the columns are some pixels of pictures: the pixels on a side, and the place of
        every column. None where they are all of them, or none.
    """
    ratio = np.asarray(seen.wide.explained_variance_ratio_)
    left = np.maximum(1 - np.cumsum(ratio), 0.0)
    k = seen.axes_of_verdict
    worst = _worst(seen, k)
    words = (
        f"With {k} component{'s' * (k > 1)} {percent(float(left[k - 1]))} of the "
        f"variance is not rebuilt. Worst rebuilt: {listed(worst)}.",
    )
    parts: list[Part] = [Picture(reconstruction(np.append(1.0, left), k=k))]
    if not seen.standardised:
        seen_whole = seen if grid is None else _spread(seen, *grid)
        shape = image_shape(seen_whole.held)
        if shape is not None:
            parts += _pictures(seen_whole, *shape)
        elif is_curve(seen.held):
            parts += _curves(seen)
    return Section("rebuilt", "Reconstruction", words, tuple(parts))


def _spread(seen: LinearSummary, side: int, places: Sequence[int]) -> LinearSummary:
    """Return what is seen with every column at its place in a picture, zeros elsewhere."""

    def whole(table: Array) -> Array:
        wider = np.zeros((*table.shape[:-1], side * side))
        wider[..., list(places)] = table
        return wider

    wide = dataclasses.replace(
        seen.wide, components_=whole(seen.wide.components_), mean_=whole(seen.wide.mean_)
    )
    return dataclasses.replace(seen, wide=wide, held=whole(seen.held))


def _worst(seen: LinearSummary, k: int) -> list[str]:
    """Return the columns of which least is rebuilt, with their share Σ_a λ_a v_aj²/var_j."""
    V = np.asarray(seen.wide.components_[:k], np.float64)
    rebuilt = np.asarray(seen.wide.explained_variance_[:k], np.float64) @ V**2
    alive = seen.columns > 0
    share = np.divide(rebuilt, seen.columns, out=np.ones(len(alive)), where=alive)
    order = np.argsort(share, kind="stable")[:3]
    return [f"{seen.names[j]} ({percent(min(float(share[j]), 1.0))} kept)" for j in order]


def _pictures(seen: LinearSummary, height: int, width: int) -> list[Part]:
    wide = seen.wide
    count = min(_PICTURES, len(wide.components_))
    names = tuple(f"PC{i + 1}" for i in range(count))
    axes = np.asarray(wide.components_[:count], np.float64)
    signed = 127.5 + 127.5 * axes / np.abs(axes).max(axis=1, keepdims=True)
    low, high = _range(seen)

    def grey(rows: Array) -> Array:
        return np.clip(255 * (rows - low) / (high - low), 0, 255).astype(np.uint8)

    row = seen.held[len(seen.held) // 2]
    stages = [k for k in (1, 2, 5, 10, 20) if k <= len(wide.components_)]
    rebuilt = [row @ wide.components_[:k].T @ wide.components_[:k] for k in stages]
    strip = grey(np.stack([row, *rebuilt]) + wide.mean_)
    name = seen.row_name(int(seen.held_at[len(seen.held) // 2]))
    reach = np.linspace(-3, 3, _STEPS)
    along = wide.mean_ + np.outer(reach * math.sqrt(wide.explained_variance_[0]), axes[0])
    return [
        Images(
            "Components as pictures", width, height, signed.astype(np.uint8), names,
            note="Grey is no weight, light and dark are weights of opposite sign.",
        ),
        Images(
            f"{name[0].upper()}{name[1:]}, rebuilt", width, height, strip,
            ("as it is", *(f"{k} component{'s' * (k > 1)}" for k in stages)),
        ),
        Steps(
            "Along PC1", width, height, grey(along),
            tuple(f"{t:+.1f} standard deviations" for t in reach),
            note="The mean picture, moved along the first component.",
        ),
    ]  # fmt: skip


def _curves(seen: LinearSummary) -> list[Part]:
    """Return the first axes as curves, and the mean curve moved along the first."""
    wide = seen.wide
    count = min(3, len(wide.components_))
    axes = np.asarray(wide.components_[:count], np.float64)
    lines = tuple(_line(row, group_style(a)[0]) for a, row in enumerate(axes))
    legend = tuple((f"PC{a + 1}", *group_style(a)) for a in range(count))
    moved = 2 * math.sqrt(float(wide.explained_variance_[0])) * axes[0]
    colour = group_style(0)[0]
    along = (
        _line(wide.mean_ - moved, colour, dashed=True),
        _line(wide.mean_, group_style(10)[0]),
        _line(wide.mean_ + moved, colour),
    )
    words = "Solid and dashed: the mean curve moved two standard deviations up and down PC1."
    first = Axes("Axes as curves", legend=legend, x_label="column", x_ticks=_ticks(seen))
    second = Axes("Along PC1", x_label="column", x_ticks=_ticks(seen))
    return [
        Picture(Panel(first, lines, 520.0, 340.0)),
        Picture(Panel(second, along, 520.0, 340.0), words),
    ]


def _line(values: Array, colour: str, *, dashed: bool = False) -> Line:
    at = tuple(float(j) for j in range(len(values)))
    return Line(at, tuple(map(float, values)), colour, dashed=dashed, width=1.6)


def _ticks(seen: LinearSummary) -> tuple[tuple[float, str], ...]:
    """Return five columns along the curve, by name."""
    places = np.linspace(0, len(seen.names) - 1, 5).round().astype(int)
    return tuple((float(j), seen.names[j]) for j in places)


def _range(seen: LinearSummary) -> tuple[float, float]:
    """Return the darkest and the lightest value of the rows that are held."""
    rows = seen.held + seen.wide.mean_
    low, high = (float(v) for v in np.percentile(rows, [0.5, 99.5]))
    return (low, high) if high > low else (low, low + 1.0)
