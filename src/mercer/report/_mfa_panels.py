"""Panels about groups of columns: which share axes, and rows that they see differently."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.plots import PointKind, points_map
from mercer.report._categories_seen import CategoriesSeen
from mercer.report._inertia import axis_title
from mercer.report._parts import Part, Picture, Section, Table
from mercer.report._words import listed, percent

_ROWS = 6  # rows whose partial points are drawn
_GROUPS = 8  # groups of these
_AXES = 4


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


def groups_section(seen: CategoriesSeen, X: Any, row_names: Any) -> Section | None:
    """Return groups on a map, how alike they are, and rows that they see differently.

    Parameters
    ----------
    seen : CategoriesSeen
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
        titles = axis_title(model, 0), axis_title(model, 1)
        span = (-0.03, 1.05)
        panel = points_map(kinds, "Groups", *titles, span=span, size=(500.0, 520.0))
        parts.append(Picture(panel, _LINK))
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
    axes = min(int(model.n_components_), _AXES)
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
    seen: CategoriesSeen, X: Any, names: list[str], row_names: Sequence[Any] | None
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
    titles = axis_title(seen.model, 0), axis_title(seen.model, 1)
    panel = points_map(
        kinds,
        "Rows that the groups see differently",
        *titles,
        outlines=lines,
        size=(540.0, 480.0),
    )
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
