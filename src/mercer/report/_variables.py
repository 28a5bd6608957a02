"""What the axes are made of: weights, correlations, contributions, quality of columns."""

import numpy as np

from mercer import plots
from mercer.arrays import Array
from mercer.diagnostics import correlations
from mercer.report._parts import Part, Picture, Section, Table
from mercer.report._seen import Seen
from mercer.report._verdict import axis_in_words
from mercer.report._words import listed, percent

_AXES = 4  # that are described in words and in the table
_CIRCLE = 60  # columns that a circle can bear
_LISTED = 60  # columns of the table


def variables_section(seen: Seen) -> Section:
    """Return the section on columns: each axis in words, pictures, and a table."""
    axes = min(_AXES, len(seen.wide.components_), max(seen.k, 2))
    ratio = seen.wide.explained_variance_ratio_
    words = [
        f"PC{a + 1} ({percent(float(ratio[a]))}) "
        f"{axis_in_words(seen.wide.components_[a], seen.names)}."
        for a in range(axes)
    ]
    found = _correlations(seen, axes)
    poor = [seen.names[j] for j in np.flatnonzero(np.sum(found[:, :axes] ** 2, axis=1) < 0.2)]
    if 0 < len(poor) < len(seen.names):
        first = "the first axis" if axes == 1 else f"the first {axes} axes"
        words.append(f"Hardly seen on {first}: {listed(poor)} (less than 20 % of each).")
    parts: list[Part] = []
    shown = ratio[: len(seen.wide.components_)]
    if axes > 1 and len(seen.names) <= _CIRCLE:
        note = (
            "An arrow is the correlation of a column with both axes; long arrows are well seen "
            "on this plane, and the angle between two of them tells their correlation."
        )
        parts.append(Picture(plots.circle(found, seen.names, ratio=shown), note))
    picture = plots.loadings(seen.wide.components_, seen.names, axes=tuple(range(min(axes, 2))))
    parts.append(Picture(picture))
    parts.append(_table(seen, found, axes))
    return Section("variables", "Columns", tuple(words), tuple(parts))


def _correlations(seen: Seen, axes: int) -> Array:
    """Return the correlations (p, axes) of the columns with the axes."""
    count = max(axes, min(2, len(seen.wide.components_)))
    return correlations(
        np.asarray(seen.wide.components_[:count], np.float64),
        np.asarray(seen.wide.explained_variance_[:count], np.float64),
        seen.columns,
    )


def _table(seen: Seen, found: Array, axes: int) -> Table:
    heavy = np.argsort(-np.sum(found[:, :axes] ** 2, axis=1), kind="stable")[:_LISTED]
    order = np.sort(heavy) if len(seen.names) <= _LISTED else heavy
    V = np.asarray(seen.wide.components_[:axes], np.float64)
    head = ["column"]
    for a in range(axes):
        head += [f"PC{a + 1} weight", f"correlation {a + 1}", f"% of axis {a + 1}"]
    rows = tuple(
        (
            seen.names[j],
            *(
                cell
                for a in range(axes)
                for cell in (float(V[a, j]), float(found[j, a]), 100 * float(V[a, j] ** 2))
            ),
            100 * float(np.sum(found[j, :axes] ** 2)),
        )
        for j in order
    )
    left = len(seen.names) - len(order)
    more = f" The {left:,} columns least seen are not listed." if left else ""
    return Table(
        "Columns and axes",
        (*head, "seen %"),
        rows,
        note="Weight: entry of the axis. Correlation: of the column with the coordinates. % of "
        "axis: the column's part in it. Seen: share of the column's variance on these axes."
        + more,
    )
