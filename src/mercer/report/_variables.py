"""What the axes are made of: weights, correlations, contributions, quality of columns."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer import plots
from mercer.arrays import Array
from mercer.diagnostics import correlations
from mercer.report._axis_words import axis_in_words
from mercer.report._given import colours_of
from mercer.report._grouping import between, grouped
from mercer.report._parts import Part, Picture, Section, Table
from mercer.report._seen import Seen
from mercer.report._shapes import is_curve
from mercer.report._words import axes_named, count, listed, percent

_AXES = 4  # that are described in words and in the table
_CIRCLE = 60  # columns that a circle can bear
_LISTED = 60  # columns of the table


def variables_section(seen: Seen, sup: Mapping[str, Any] | None = None) -> Section:
    """Return the section on columns: each axis in words, pictures, and tables.

    Parameters
    ----------
    seen : Seen
        All numbers of the page.
    sup : mapping of str to n values, or None
        Supplementary columns: not analysed, but set against the axes.
    """
    axes = min(_AXES, len(seen.wide.components_), max(seen.k, 2))
    ratio = seen.wide.explained_variance_ratio_
    curve = is_curve(seen.held)
    words = [
        f"PC{a + 1} ({percent(float(ratio[a]))}) "
        f"{axis_in_words(seen.wide.components_[a], seen.names, in_order=curve)}."
        for a in range(axes)
    ]
    found = _correlations(seen, axes)
    poor = [seen.names[j] for j in np.flatnonzero(np.sum(found[:, :axes] ** 2, axis=1) < 0.2)]
    if 0 < len(poor) < len(seen.names):
        first = "the first axis" if axes == 1 else f"the first {axes} axes"
        less = "less than 20 % of each" if len(poor) > 1 else "less than 20 % of it"
        words.append(f"Hardly seen on {first}: {listed(poor)} ({less}).")
    if seen.k < axes:
        words.append(f"{_which(seen.k, axes)} not beyond noise: do not name after columns.")
    parts: list[Part] = []
    shown = ratio[: len(seen.wide.components_)]
    if axes > 1 and len(seen.names) <= _CIRCLE:
        note = (
            "An arrow is the correlation of a column with both axes; long arrows are well seen "
            "on this plane, and the angle between two long ones tells their correlation."
        )
        parts.append(Picture(plots.circle(found, seen.names, ratio=shown), note))
    picture = plots.loadings(seen.wide.components_, seen.names, axes=tuple(range(min(axes, 2))))
    parts.append(Picture(picture))
    parts += _tables(seen, found, axes)
    if sup:
        parts.append(_beside(seen, sup, min(axes, seen.Z.shape[1])))
    return Section("variables", "Columns", tuple(words), tuple(parts))


def _which(k: int, axes: int) -> str:
    """Return which axes are shown though they are not of the verdict."""
    return f"{axes_named(k + 1, axes)} {'is' if k + 1 == axes else 'are'}"


def _correlations(seen: Seen, axes: int) -> Array:
    """Return the correlations (p, axes) of the columns with the axes."""
    count = max(axes, min(2, len(seen.wide.components_)))
    return correlations(
        np.asarray(seen.wide.components_[:count], np.float64),
        np.asarray(seen.wide.explained_variance_[:count], np.float64),
        seen.columns,
    )


def _tables(seen: Seen, found: Array, axes: int) -> list[Part]:
    """Return two tables that are not wide: correlations, and weights with their shares."""
    heavy = np.argsort(-np.sum(found[:, :axes] ** 2, axis=1), kind="stable")[:_LISTED]
    order = np.sort(heavy) if len(seen.names) <= _LISTED else heavy
    V = np.asarray(seen.wide.components_[:axes], np.float64)
    pcs = [f"PC{a + 1}" for a in range(axes)]
    left = len(seen.names) - len(order)
    more = f" {count(left, 'column').capitalize()} least seen not listed." if left else ""
    seen_on = [
        (
            seen.names[j],
            *(float(r) for r in found[j, :axes]),
            100 * float(np.sum(found[j, :axes] ** 2)),
        )
        for j in order
    ]
    weights = [
        (seen.names[j], *(float(v) for v in V[:, j]), *(100 * float(v**2) for v in V[:, j]))
        for j in order
    ]
    return [
        Table(
            "Columns and axes",
            ("column", *(f"correlation {name}" for name in pcs), "seen %"),
            tuple(seen_on),
            note="Correlation of the column with the coordinates. Seen: share of the column's "
            f"variance on these axes.{more}",
        ),
        Table(
            "Weights of the columns",
            ("column", *(f"{name} weight" for name in pcs), *(f"% of {name}" for name in pcs)),
            tuple(weights),
            note=f"Weight: entry of the axis. %: the column's part in the axis.{more}",
        ),
    ]


def _beside(seen: Seen, sup: Mapping[str, Any], axes: int) -> Table:
    """Return how columns that were not analysed go with the axes: r, or η² of groups."""
    Z = np.asarray(seen.Z[:, :axes], np.float64)
    rows = tuple(
        (name, *_against(values[seen.at], Z))
        for name, values in colours_of(sup, seen.n).items()
    )
    return Table(
        "Supplementary columns",
        ("column", "measure", *(f"correlation PC{a + 1}" for a in range(axes))),
        rows,
        note="They had no part in the axes. r: correlation with the coordinates, of rows where "
        "the cell is known. η²: share of the coordinates' variance between the groups.",
    )


def _against(values: Array, Z: Array) -> list[Any]:
    if values.dtype.kind in "fiu":
        there = np.isfinite(values)
        pairs = [(values[there], z) for z in Z[there].T]
        return ["r", *(_correlation(x, z) for x, z in pairs)]
    there, at, groups = grouped(values)
    if not groups:
        return ["more than 12 groups", *[None] * Z.shape[1]]
    centred = Z[there] - Z[there].mean(axis=0)
    return ["η²", *(between(centred[:, a : a + 1], at, groups) for a in range(Z.shape[1]))]


def _correlation(x: Array, z: Array) -> float | None:
    if len(x) < 3 or not (np.ptp(x) > 0 and np.ptp(z) > 0):
        return None
    return float(np.corrcoef(x, z)[0, 1])
