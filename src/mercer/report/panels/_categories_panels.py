"""Panels about categories: levels, variables, inertias.

Panels about groups of columns: which share axes, and rows that they see differently.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer import plots
from mercer.arrays import Array
from mercer.plots import PointKind
from mercer.report._page_parts import Part, Picture, Section, Table
from mercer.report._page_words import finite, listed, percent
from mercer.report.facts._categories_summary import CategoriesSummary
from mercer.report.panels._inertia_panels import (
    axes_map,
    inertia_scree,
    inertia_table,
    points_table,
)

_AXES = 4  # of a table
_LISTED = 60  # lines of a table
_CIRCLE = 60  # columns that a circle can bear
_UNIT: dict[str, Any] = {"span": (-0.03, 1.05), "size": (500.0, 520.0)}  # shares on both axes


def levels_section(seen: CategoriesSummary) -> Section | None:
    """Return levels on a map, and their numbers; None where there are no categories.

    Parameters
    ----------
    seen : CategoriesSummary
        All numbers of the page.
    """
    if not len(seen.levels):
        return None
    model, at = seen.model, seen.levels
    parts: list[Part] = []
    if seen.k > 1:
        names = [model.column_names_[j] for j in at]
        weight = np.sum(model.column_contributions_[at, :2], axis=1)
        kinds = [PointKind("levels", model.column_coordinates_[at, :2], names, weight)]
        if seen.beside is not None and seen.beside.levels:
            beside = seen.beside
            far = np.max(np.abs(np.nan_to_num(beside.v_tests[:, :2])), axis=1)
            points = np.nan_to_num(beside.coordinates[:, :2])
            kinds.append(PointKind("supplementary levels", points, beside.levels, far))
        note = "those that make most of the axes are named"
        panel = axes_map(model, kinds, "Levels", note=note, size=(540.0, 480.0))
        parts.append(Picture(panel, _LEVELS))
    tests = np.asarray(model.v_tests_)
    parts.append(points_table(model, "columns", None, which=at, called="level", tests=tests))
    words = [
        "Mass is the weight of a level, quality the share of it that these axes show. A v-test "
        "counts how many standard errors the rows of a level lie from the mean row: beyond "
        "±1.96 on an axis is more than chance for a single level."
    ]
    if seen.beside is not None and seen.beside.levels:
        parts.append(_beside_levels(seen))
    return Section("levels", "Levels", tuple(words), tuple(parts))


_LEVELS = (
    "Levels that lie together are chosen by the same rows; rare ones lie far out. The centre "
    "is the mean of all rows."
)


def _beside_levels(seen: CategoriesSummary) -> Table:
    """Return the numbers of supplementary levels."""
    found, axes = seen.beside, min(seen.k, _AXES)
    head = ["level", "rows"]
    for a in range(1, axes + 1):
        head += [f"axis {a}", f"cos² {a} %", f"v-test {a}"]
    cells = []
    for i, name in enumerate(found.levels[:_LISTED]):
        row: list[Any] = [name, float(found.counts[i])]
        for a in range(axes):
            values = found.coordinates[i, a], 100 * found.cos2[i, a], found.v_tests[i, a]
            row += map(finite, values)
        cells.append(tuple(row))
    note = "They had no part in the axes."
    return Table("Supplementary levels", tuple(head), tuple(cells), note=note)


def variables_section(seen: CategoriesSummary) -> Section:
    """Return the variables by how much of each axis they explain, and numbers on a circle.

    Parameters
    ----------
    seen : CategoriesSummary
        All numbers of the page.
    """
    model, links = seen.model, seen.links
    names = [str(name) for name in model.variables_]
    words = []
    for a in range(min(2, seen.k)):
        order = np.argsort(-links[:, a], kind="stable")[:4]
        said = listed([f"{names[j]} ({100 * links[j, a]:.0f} %)" for j in order])
        words.append(f"Axis {a + 1} goes most with {said}.")
    words.append(
        "In brackets, how much of the axis lies between the levels of a variable, or follows "
        "the number."
    )
    parts: list[Part] = []
    if seen.k > 1:
        parts.append(Picture(_square(seen, names), _SQUARE))
    correlations = np.asarray(getattr(model, "correlations_", np.zeros((0, seen.k))))
    if seen.k > 1 and 0 < len(seen.numbers) <= _CIRCLE:
        parts.append(Picture(_circle(seen, correlations), _ARROWS))
    parts.append(_links_table(seen, names))
    if seen.beside is not None:
        parts.append(_beside_table(seen))
    return Section("variables", "Variables", tuple(words), tuple(parts))


_SQUARE = (
    "Right and up: the share of each axis that the variable explains (η² of categories, r² of "
    "numbers). Far from the corner at zero a variable makes the map; it has no sign here."
)
_ARROWS = (
    "An arrow is the correlation of a number with both axes; long arrows are well seen on this "
    "plane."
)


def _square(seen: CategoriesSummary, names: list[str]) -> Any:
    """Return the square of squared correlations."""
    numbers = np.array([name in seen.numbers for name in names])
    points = seen.links[:, :2]
    kinds = []
    for title, which in (("categories, η²", ~numbers), ("numbers, r²", numbers)):
        at = np.flatnonzero(which)
        if at.size:
            weight = points[at].sum(axis=1)
            kinds.append(PointKind(title, points[at], [names[j] for j in at], weight))
    beside = seen.beside
    if beside is not None:
        parts = np.concatenate([beside.eta2[:, :2], beside.correlations[:, :2] ** 2])
        called = [*beside.variables, *beside.numbers]
        kinds.append(PointKind("supplementary", np.nan_to_num(parts), called))
    return axes_map(seen.model, kinds, "Variables", **_UNIT)


def _circle(seen: CategoriesSummary, correlations: Any) -> Any:
    ratio = seen.model.explained_variance_ratio_
    return plots.circle(correlations, list(seen.numbers), ratio=ratio, called="axis ")


def _links_table(seen: CategoriesSummary, names: list[str]) -> Table:
    axes = min(seen.k, _AXES)
    order = np.argsort(-np.sum(seen.links[:, :2], axis=1), kind="stable")[:_LISTED]
    shares = np.asarray(seen.model.variable_contributions_)
    rows = tuple(
        (
            names[j],
            "r²" if names[j] in seen.numbers else "η²",
            *(float(v) for v in seen.links[j, :axes]),
            *(100 * float(v) for v in shares[j, :axes]),
        )
        for j in order
    )
    head = (
        "variable",
        "measure",
        *(f"correlation² {a + 1}" for a in range(axes)),
        *(f"contribution {a + 1} %" for a in range(axes)),
    )
    left = len(names) - len(rows)
    return Table("Variables", head, rows, note=f"{left:,} more are weaker." if left else "")


def _beside_table(seen: CategoriesSummary) -> Table:
    """Return how supplementary columns go with the axes."""
    found, axes = seen.beside, min(seen.k, _AXES)
    measured = (
        ("r", found.numbers, found.correlations),
        ("η²", found.variables, found.eta2),
    )
    rows = [
        (str(name), measure, *map(finite, values[i, :axes]))
        for measure, names, values in measured
        for i, name in enumerate(names)
    ]
    head = ("column", "measure", *(f"correlation axis {a + 1}" for a in range(axes)))
    return Table(
        "Supplementary columns", head, tuple(rows), note="They had no part in the axes."
    )


def axes_section(seen: CategoriesSummary) -> Section:
    """Return the inertias: bars, what chance gives, and the table.

    Parameters
    ----------
    seen : CategoriesSummary
        All numbers of the page.
    """
    words = []
    if seen.band is not None:
        words.append(
            "The band: eigenvalues of tables with the same levels as often, every column "
            "shuffled on its own, so that no variable says anything of another. All axes share "
            "an inertia that the number of levels fixes: behind a strong first axis the band "
            "is strict."
        )
    else:
        words.append("Whether these axes are beyond chance was not tested here.")
    table = inertia_table(seen.model)
    if seen.adjusted:
        table = _with_adjusted(table, seen)
        words.append(
            "Shares of an indicator table are small by construction. Benzécri's and "
            "Greenacre's adjustments leave out what a variable has with itself; axes without "
            "an adjusted share say no more than one variable alone."
        )
    band = None if seen.band is None else seen.band[:, : seen.k]
    picture = inertia_scree(seen.model, band, "90 % of what shuffled columns give")
    return Section("axes", "Axes", tuple(words), (picture, table))


def _with_adjusted(table: Table, seen: CategoriesSummary) -> Table:
    """Return the table of inertias with a column for each adjustment."""
    called = {"benzecri": "Benzécri %", "greenacre": "Greenacre %"}
    more = [
        tuple(
            100 * float(share[i]) if i < len(share) and share[i] > 0 else None
            for share in seen.adjusted.values()
        )
        for i in range(len(table.rows))
    ]
    rows = tuple((*row, *cells) for row, cells in zip(table.rows, more, strict=True))
    head = (*table.head, *(called[name] for name in seen.adjusted))
    return Table(table.caption, head, rows, note=table.note)


_ROWS = 6  # rows whose partial points are drawn
_GROUPS = 8  # groups of these
_GROUP_AXES = 4


def groups_words(model: Any) -> list[str]:
    """Return how much groups of columns have in common, in words.

    Parameters
    ----------
    model : MFA
        Fitted.
    """
    names, count = [str(name) for name in model.groups_], len(model.groups_)
    if count < 2:
        return ["There is one group of columns: nothing to compare."]
    first = float(model.eigenvalues_[0])
    weakest = int(np.argmin(model.group_coordinates_[:, 0]))
    link = float(model.group_coordinates_[weakest, 0])
    out = (
        f"The first eigenvalue is {first:.2f} of at most {count}: "
        f"{_shared(first, count)} (least {names[weakest]}, {link:.2f} of 1)."
    )
    pairs = [(float(model.rv_[i, j]), i, j) for i in range(count) for j in range(i)]
    most, least = max(pairs), min(pairs)
    alike = f"Most alike are {names[most[2]]} and {names[most[1]]} (RV {most[0]:.2f})"
    if len(pairs) > 1:
        alike += f", least {names[least[2]]} and {names[least[1]]} (RV {least[0]:.2f})"
    return [out, f"{alike}. RV is 1 where two groups draw the same map."]


def _shared(first: float, count: int) -> str:
    share = (first - 1) / (count - 1)
    if share > 0.75:
        return "the groups share the first axis"
    return (
        "the groups share the first axis in part"
        if share > 0.3
        else "the groups hardly share an axis"
    )


def groups_section(seen: CategoriesSummary, X: Any, row_names: Any) -> Section | None:
    """Return groups on a map, how alike they are, and rows that they see differently.

    Parameters
    ----------
    seen : CategoriesSummary
        All numbers of the page.
    X : frame or array of shape (n, p)
        The rows.
    row_names : sequence of str or None
        Of the rows.
    """
    model = seen.model
    names = [str(name) for name in model.groups_]
    if len(names) < 2:
        return None
    parts: list[Part] = []
    if seen.k > 1:
        kinds = [PointKind("groups", model.group_coordinates_[:, :2], names)]
        parts.append(Picture(axes_map(model, kinds, "Groups", **_UNIT), _LINK))
    parts += [_likeness(model, names), _links(model, names)]
    words: tuple[str, ...] = ()
    if seen.k > 1:
        drawn, words = _partial(seen, X, names, row_names)
        parts.insert(1, drawn)
    return Section("groups", "Groups of columns", words, tuple(parts))


_LINK = (
    "Right and up: the inertia of the group along the axis, from 0 (none) to 1 (the axis is "
    "the first of the group alone)."
)


def _likeness(model: Any, names: list[str]) -> Table:
    rows = tuple(
        (name, *(round(float(v), 3) for v in model.rv_[i])) for i, name in enumerate(names)
    )
    head = ("group", *(f"with {name}" for name in names))
    return Table("RV of the groups", head, rows, note="0: nothing in common; 1: the same map.")


def _links(model: Any, names: list[str]) -> Table:
    axes = min(int(model.n_components_), _GROUP_AXES)
    rows = tuple(
        (
            name,
            float(model.group_eigenvalues_[i][0]),
            *(float(v) for v in model.group_coordinates_[i, :axes]),
            *(100 * float(v) for v in model.group_contributions_[i, :axes]),
        )
        for i, name in enumerate(names)
    )
    head = (
        "group",
        "first eigenvalue alone",
        *(f"axis {a + 1}" for a in range(axes)),
        *(f"contribution {a + 1} %" for a in range(axes)),
    )
    return Table("Groups and axes", head, rows)


def _partial(
    seen: CategoriesSummary, X: Any, names: list[str], row_names: Sequence[Any] | None
) -> tuple[Picture, tuple[str, ...]]:
    """Return the rows that groups place most differently, with a point for each group."""
    found = np.asarray(seen.model.partial_coordinates(X))[:, :, :2]
    apart = np.sum((found - seen.Z[None, :, :2]) ** 2, axis=(0, 2))
    top = np.argsort(-apart, kind="stable")[:_ROWS]
    called = [_called(row_names, int(i)) for i in top]
    kinds = [PointKind("all groups", seen.Z[top, :2], called)]
    lines: list[tuple[Array, Array, int]] = []
    for g, name in enumerate(names[: _GROUPS - 1]):
        said = [f"{row}, {name}" for row in called]
        kinds.append(PointKind(name, found[g, top], said, labelled=False))
        for i in top:
            pair = np.stack([seen.Z[i, :2], found[g, i]])
            lines.append((pair[:, 0], pair[:, 1], g + 1))
    title = "Rows that the groups see differently"
    panel = axes_map(seen.model, kinds, title, outlines=lines, size=(540.0, 480.0))
    share = float(np.sum(seen.Z[:, :2] ** 2)) * len(found)
    within = float(np.sum(apart)) / max(share + float(np.sum(apart)), 1e-300)
    words = (
        f"Groups differ most about {listed(called[:3])}. Of all that the groups draw on this "
        f"plane, {percent(within)} is where they differ about a row.",
    )
    note = "A row stands at the mean of its partial points, one for each group."
    return Picture(panel, note), words


def _called(row_names: Sequence[Any] | None, i: int) -> str:
    if row_names is None or row_names[i] in (None, ""):
        return f"row {i + 1}"
    return str(row_names[i])
