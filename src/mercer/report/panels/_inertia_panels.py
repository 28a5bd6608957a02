"""What pages of inertia say alike: axes in words, tables of inertias and of points."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer import plots
from mercer.arrays import Array
from mercer.plots import Panel, PointKind, points_map
from mercer.report._page_parts import Picture, Table
from mercer.report._page_words import axis_names, finite, listed, percent, spectrum_rows

_AXES = 4  # of a table of points
_LISTED = 60  # points of a table
_ENDS = 4  # points named at an end of an axis


def axis_sentence(model: Any, axis: int, rows: Sequence[str] | None = None) -> str:
    """Return what lies at the two ends of an axis: points that contribute more than others.

    Parameters
    ----------
    model : estimator
        Fitted, with coordinates and contributions of rows and columns.
    axis : int
        From 0.
    rows : sequence of str or None
        Names of the rows; None speaks of columns alone.
    """
    share = percent(float(model.explained_variance_ratio_[axis]))
    sides = [
        _ends(model.column_coordinates_, model.column_contributions_, model.column_names_, axis)
    ]
    if rows is not None:
        sides.insert(0, _ends(model.row_coordinates_, model.row_contributions_, rows, axis))
    said = []
    for low, high in sides:
        if low and high:
            said.append(f"{listed(high, _ENDS)} against {listed(low, _ENDS)}")
        elif low or high:
            said.append(f"{listed(low or high, _ENDS)} apart from the others")
    return f"Axis {axis + 1} ({share}) sets {'; '.join(said) or 'nothing in particular apart'}."


def _ends(
    points: Array, shares: Array, names: Sequence[str], axis: int
) -> tuple[list[str], list[str]]:
    """Return the points below and above zero that contribute more than the average."""
    heavy = np.flatnonzero(shares[:, axis] > 1 / max(len(names), 1))
    order = heavy[np.argsort(-shares[heavy, axis], kind="stable")]
    low = [str(names[i]) for i in order if points[i, axis] < 0]
    high = [str(names[i]) for i in order if points[i, axis] > 0]
    return low, high


def inertia_table(model: Any, name: str = "axis") -> Table:
    """Return the table of inertias with what is certified of them.

    Parameters
    ----------
    model : estimator
        Fitted.
    name : str
        What an axis is called.
    """
    values, ratio = np.asarray(model.eigenvalues_), model.explained_variance_ratio_
    rows = spectrum_rows(f"{name} ", values, model.certificate_, ratio, _LISTED)
    head = (name, "inertia", "error at most", "share %", "sum %")
    note = "Error: of the arithmetic, certified. Shares are of the whole inertia."
    return Table("Inertias", head, rows, note=note)


def axes_map(model: Any, kinds: Sequence[PointKind], title: str, **more: Any) -> Panel:
    """Return points of several kinds on the first two axes, which have their shares."""
    return points_map(kinds, title, axis_title(model, 0), axis_title(model, 1), **more)


def points_table(
    model: Any,
    of: str,
    names: Sequence[str] | None,
    *,
    which: Array | None = None,
    called: str = "",
    tests: Array | None = None,
) -> Table:
    """Return masses, qualities, inertias, coordinates, cos² and contributions of points.

    Parameters
    ----------
    model : estimator
        Fitted.
    of : {"rows", "columns"}
        Which points.
    names : sequence of str or None
        Of the points; None takes those of the columns.
    which : int array or None
        The points that are listed; None is all.
    called : str
        What a point is called; empty for "row" or "column".
    tests : array of shape (len(which), k) or None
        Their v-tests.
    """
    side = of.removesuffix("s")
    points = getattr(model, f"{side}_coordinates_")
    masses, inertias = getattr(model, f"{side}_masses_"), getattr(model, f"{side}_inertias_")
    cos2, shares = getattr(model, f"{side}_cos2_"), getattr(model, f"{side}_contributions_")
    said = model.column_names_ if names is None else names
    among = np.arange(len(points)) if which is None else np.asarray(which)
    axes = min(points.shape[1], _AXES)
    order = np.argsort(-shares[among, :2].sum(axis=1), kind="stable")[:_LISTED]
    total = model.total_inertia_ or 1.0
    cells = []
    for place in order:
        i = int(among[place])
        row: list[Any] = [str(said[i])]
        row += [100 * float(v) for v in (masses[i], cos2[i].sum(), inertias[i] / total)]
        for a in range(axes):
            row += [float(points[i, a])]
            row += [100 * float(cos2[i, a]), 100 * float(shares[i, a])]
            row += [] if tests is None else [finite(tests[place, a])]
        cells.append(tuple(row))
    left = len(among) - len(order)
    note = f"{left:,} more have smaller contributions." if left else ""
    head = _head(called or side, axes, tests is not None)
    title = f"{called}s" if called else of
    return Table(title.capitalize(), head, tuple(cells), note=note)


def _head(called: str, axes: int, tested: bool) -> tuple[str, ...]:
    head = [called, "mass %", "quality %", "inertia %"]
    for a in range(1, axes + 1):
        head += [f"axis {a}", f"cos² {a} %", f"contribution {a} %"]
        head += [f"v-test {a}"] if tested else []
    return tuple(head)


def axis_title(model: Any, axis: int) -> str:
    """Return what an axis is called on a map: "axis 1 (12.3 %)", without a share if none."""
    return axis_names(model.explained_variance_ratio_, axis + 1)[1][axis]


def plane(
    Z: Array, ratio: Array | None, called: str = "axis "
) -> tuple[tuple[str, ...], tuple[str, ...], Array]:
    """Return names, titles and coordinates of a cloud of at least two axes.

    A single axis is drawn on a line: the other coordinate is zero, and called nothing.

    Parameters
    ----------
    Z : array of shape (n, k)
        Coordinates.
    ratio, called
        See `axis_names`.
    """
    names, titles = axis_names(ratio, Z.shape[1], called)
    if Z.shape[1] > 1:
        return tuple(names), tuple(titles), Z
    flat = np.hstack([Z, np.zeros((len(Z), 2 - Z.shape[1]))])
    more = ("nothing",) * (2 - Z.shape[1])
    return (*names, *more), (*titles, *more), flat


def inertia_scree(model: Any, band: Array | None = None, words: str = "") -> Picture:
    """Return the bars of the inertias, with a band of chance where one is known.

    Parameters
    ----------
    model : estimator
        Fitted.
    band : array of shape (2, r) or None
        What chance gives, rank by rank.
    words : str
        What the band is.
    """
    values, certificate = model.eigenvalues_, model.certificate_
    panel = plots.scree(
        values,
        certificate.lower,
        certificate.upper,
        model.explained_variance_ratio_,
        null=band,
        null_words=words or "chance",
        what="inertia",
        axis="axis",
    )
    return Picture(panel)
