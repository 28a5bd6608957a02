"""The score map: the rows of the data on two components, in equal units."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError
from mercer.plots._marks import Axes, Mark, Panel, Points, Text
from mercer.plots._palette import INK, MANY, group_style

__all__ = ["scores"]

_DRAWN = 20_000
_SHORT = 2  # letters of a group name that may lie over its points


def scores(
    Z: ArrayLike,
    labels: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    axes: tuple[int, int] = (0, 1),
    *,
    ratio: ArrayLike | None = None,
) -> Panel:
    """Describe the map of rows (z_ia, z_ib) for components a, b, one unit equal both ways.

    Equal units keep distances honest: a narrow direction looks narrow. Groups are told apart by
    colour and shape; names of one or two letters stand at the median point of their group,
    longer ones would hide points and go into a legend. Of more than 20,000 rows every m-th is
    drawn, and the panel says so.

    Parameters
    ----------
    Z : array of shape (n, k)
        Coordinates of the rows.
    labels : array of shape (n,), optional
        Group of each row; at most 12 different values.
    names : sequence of n str, optional
        Name of each row, shown on hover in small maps.
    axes : (int, int)
        The two components, counted from 0. With k = 1 both may be 0.
    ratio : array of shape (k,), optional
        Shares of variance, for the axis labels.

    Returns
    -------
    Panel
        One panel, for :func:`mercer.plots.figure`.
    """
    table = _table(Z, axes)
    n = len(table)
    step = -(-n // _DRAWN)
    rows = np.arange(0, n, step)
    x, y = table[rows, axes[0]], table[rows, axes[1]]
    titles = _names(names, n, rows)
    marks: list[Mark] = []
    middles: list[Mark] = []
    radius = 2.2 if len(rows) > 500 else 3.5
    groups, member = _groups(labels, n)
    short = all(len(group) <= _SHORT for group in groups)
    for g, group in enumerate(groups):
        inside = np.flatnonzero(member[rows] == g)
        if inside.size == 0:
            continue
        colour, shape = group_style(g)
        points = tuple(map(float, x[inside])), tuple(map(float, y[inside]))
        marks.append(Points(*points, colour, shape, tuple(titles[i] for i in inside), radius))
        if group and short:
            centre = float(np.median(x[inside])), float(np.median(y[inside]))
            middles.append(Text(*centre, group, INK, size=15.0, bold=True))
    note = "one unit is equally long in both directions"
    if step > 1:
        note = f"{len(rows):,} of {n:,} rows drawn; " + note
    frame = Axes(
        "Map of the rows",
        x_label=_label(axes[0], ratio),
        y_label=_label(axes[1], ratio),
        note=note,
        legend=() if short else tuple((g, *group_style(i)) for i, g in enumerate(groups)),
        equal=True,
    )
    return Panel(frame, (*marks, *middles), width=500.0)


def _table(Z: ArrayLike, axes: tuple[int, int]) -> NDArray[np.float64]:
    table = np.asarray(Z, dtype=np.float64)
    if table.ndim != 2 or len(table) == 0:
        raise InputError(
            "a score map needs a table with a row per sample",
            got=f"shape {table.shape}",
            fix="pass the result of transform",
        )
    if not all(0 <= a < table.shape[1] for a in axes):
        raise InputError(
            "a score map needs two components that exist",
            got=f"axes={axes} of {table.shape[1]} components (counted from 0)",
            fix=f"take axes between 0 and {table.shape[1] - 1}",
        )
    bad = np.flatnonzero(~np.isfinite(table[:, list(axes)]).all(axis=1))
    if bad.size:
        raise InputError(
            "a score map needs finite coordinates",
            got=f"{bad.size} rows with NaN or infinity, the first is row {bad[0]}",
            fix="leave those rows out",
        )
    return table


def _names(names: Sequence[str] | None, n: int, rows: NDArray[np.intp]) -> list[str]:
    if names is None:
        return [f"row {i}" for i in rows]
    if len(names) != n:
        raise InputError(
            "a score map needs one name per row",
            got=f"{len(names)} names for {n} rows",
            fix="pass as many names as rows, or none",
        )
    return [str(names[i]) for i in rows]


def _groups(labels: ArrayLike | None, n: int) -> tuple[list[str], NDArray[np.intp]]:
    """Return the names of the groups and the group of each row; one unnamed group for none."""
    if labels is None:
        return [""], np.zeros(n, dtype=np.intp)
    values, member = np.unique(np.asarray(labels), return_inverse=True)
    if member.shape != (n,):
        raise InputError(
            "a score map needs one label per row",
            got=f"labels of shape {member.shape} for {n} rows",
            fix="pass as many labels as rows, or none",
        )
    if len(values) > MANY:
        raise InputError(
            f"a score map tells at most {MANY} groups apart",
            got=f"{len(values)} different labels",
            fix="merge rare groups, or cut numbers into a few classes",
        )
    return [str(v) for v in values], member


def _label(axis: int, ratio: ArrayLike | None) -> str:
    if ratio is None:
        return f"PC{axis + 1}"
    return f"PC{axis + 1} ({100 * float(np.asarray(ratio)[axis]):.1f} %)"
