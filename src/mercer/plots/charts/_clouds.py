"""Rows as points: which are drawn, in which group, under which name.

Ellipses: where a normal cloud has a given share of its points, and where its mean lies.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.diagnostics import outline
from mercer.errors import InputError
from mercer.plots._marks import Line, Mark, Points, Shape, Text
from mercer.plots._palette import INK, MANY, group_style


def ellipse(
    x: ArrayLike, y: ArrayLike, level: float = 0.95, *, of_mean: bool = False
) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Return the outline of {u : (u - m)ᵀS⁻¹(u - m) = -2·ln(1 - level)}.

    m and S are mean and covariance of the points; the right side is the quantile of χ² with
    two degrees of freedom, in closed form. Two points, or points on a line, have no ellipse.
    With `of_mean` it is the region that holds the mean of the law with that confidence, by
    Hotelling's T²: the right side is (n - 1)/n·((1 - level)^(-2/(n - 2)) - 1).

    Parameters
    ----------
    x, y : array of shape (n,)
        The points.
    level : float in (0, 1)
        Share of a normal cloud inside, or confidence.
    of_mean : bool
        Whether it is drawn for the mean of the points instead of the points.

    Returns
    -------
    (x, y) or None
        A closed line of 65 corners.
    """
    if not 0 < level < 1:
        raise InputError(
            "the level of an ellipse lies between 0 and 1",
            got=f"level={level}",
            fix="pass 0.95, say",
        )
    points = np.stack([np.asarray(x, np.float64), np.asarray(y, np.float64)])
    if points.shape[1] < 3:
        return None
    covariance = np.cov(points)
    values = np.linalg.eigvalsh(covariance)
    if values[0] <= 1e-12 * values[1]:
        return None
    radius = np.sqrt(-2 * np.log1p(-level))
    if of_mean:
        n = points.shape[1]
        radius = np.sqrt((n - 1) / n * np.expm1(-2 / (n - 2) * np.log1p(-level)))
    line = outline(points.mean(axis=1), covariance, float(radius))
    return tuple(line[:, 0].tolist()), tuple(line[:, 1].tolist())


_DRAWN = 20_000
_SHORT = 2  # letters of a group name that may lie over its points


@dataclass(frozen=True)
class Clouds:
    """The rows of a map as marks.

    Attributes
    ----------
    marks : tuple of Mark
        A cloud per group, then ellipses, then short names at the medians.
    legend : tuple of (words, colour, shape)
        Longer names of groups.
    thinned : str
        How many rows were drawn, where not all were; else empty.
    """

    marks: tuple[Mark, ...]
    legend: tuple[tuple[str, str, Shape], ...]
    thinned: str


def clouds(
    table: ArrayLike,
    labels: ArrayLike | None,
    names: Sequence[str] | None,
    axes: tuple[int, int],
    level: float | None = None,
) -> Clouds:
    """Return rows as clouds of points, one for each group.

    Parameters
    ----------
    table : array of shape (n, k)
        Coordinates of the rows.
    labels : array of shape (n,) or None
        Group of each row.
    names : sequence of n str or None
        Name of each row.
    axes : (int, int)
        The two columns that are drawn.
    level : float or None
        Of an ellipse around each group, by all its rows.
    """
    Z = _checked(table, axes)
    n = len(Z)
    rows = np.arange(0, n, -(-n // _DRAWN))
    titles = names_of(names, n, rows)
    marks: list[Mark] = []
    above: list[Mark] = []
    radius = 2.2 if len(rows) > 500 else 3.5
    groups, member = _groups(labels, n)
    brief = all(len(group) <= _SHORT for group in groups)
    for g, group in enumerate(groups):
        inside = np.flatnonzero(member[rows] == g)
        if inside.size == 0:
            continue
        x, y = Z[rows[inside], axes[0]], Z[rows[inside], axes[1]]
        colour, shape = group_style(g)
        points = tuple(map(float, x)), tuple(map(float, y))
        marks.append(Points(*points, colour, shape, tuple(titles[i] for i in inside), radius))
        if level is not None:
            whole = Z[member == g]
            outline = ellipse(whole[:, axes[0]], whole[:, axes[1]], level)
            words = f"{group or 'all rows'}: {100 * level:g} % of a normal cloud"
            above += [Line(*outline, colour, title=words)] if outline is not None else []
            centre_of = ellipse(whole[:, axes[0]], whole[:, axes[1]], level, of_mean=True)
            if group and centre_of is not None:
                words = f"{group}: its mean, with {100 * level:g} % confidence"
                above.append(Line(*centre_of, colour, dashed=True, title=words))
        if group and brief:
            centre = float(np.median(x)), float(np.median(y))
            above.append(Text(*centre, group, INK, size=15.0, bold=True))
    legend = () if brief else tuple((g, *group_style(i)) for i, g in enumerate(groups))
    thinned = "" if len(rows) == n else f"{len(rows):,} of {n:,} rows drawn"
    return Clouds((*marks, *above), legend, thinned)


def _checked(Z: ArrayLike, axes: tuple[int, int]) -> NDArray[np.float64]:
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


def names_of(names: Sequence[str] | None, n: int, rows: NDArray[np.intp]) -> list[str]:
    """Return the names of some of n rows: given ones, or their numbers."""
    if names is None:
        return [f"row {i}" for i in rows]
    if len(names) != n:
        raise InputError(
            "a score map needs one name per row",
            got=f"{len(names)} names for {n} rows",
            fix="pass as many names as rows, or none",
        )
    given = names if isinstance(names, list | tuple) else list(names)
    return [str(given[i]) for i in rows]


def _groups(labels: ArrayLike | None, n: int) -> tuple[list[str], NDArray[np.intp]]:
    """Return the names of the groups and the group of each row; one unnamed group for none."""
    if labels is None:
        return [""], np.zeros(n, dtype=np.intp)
    given = np.asarray(labels)
    # Missing labels and words do not sort together: as text they do.
    values, member = np.unique(
        given.astype(str) if given.dtype.kind == "O" else given, return_inverse=True
    )
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


def axis_label(axis: int, ratio: ArrayLike | None, called: str = "PC") -> str:
    """Return "PC1 (92.5 %)", or "PC1" where no shares are known."""
    if ratio is None:
        return f"{called}{axis + 1}"
    return f"{called}{axis + 1} ({100 * float(np.asarray(ratio)[axis]):.1f} %)"
