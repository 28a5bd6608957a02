"""A map of named points of several kinds: rows and columns, levels, groups.

The score map: the rows of the data on two components, in equal units.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import InputError
from mercer.plots._marks import Axes, Line, Mark, Panel, Points
from mercer.plots._palette import INK, group_style
from mercer.plots.charts._clouds import axis_label, clouds
from mercer.plots.drawing._label_placing import placed

_LABELLED = 24
_DRAWN = 5000


class PointKind(NamedTuple):
    """Points of one kind.

    Attributes
    ----------
    title : str
        What they are: "rows", "columns".
    points : array of shape (n, 2)
        Where they are.
    names : sequence of n str
        What they are called.
    weight : array of shape (n,) or None
        Which are labelled first: the heaviest; None labels in order.
    labelled : bool
        Whether names are written; else they are seen under the pointer only.
    """

    title: str
    points: ArrayLike
    names: Sequence[str]
    weight: ArrayLike | None = None
    labelled: bool = True


def points_map(
    kinds: Sequence[PointKind],
    title: str,
    x_label: str,
    y_label: str,
    *,
    note: str = "",
    outlines: Sequence[tuple[ArrayLike, ArrayLike, int]] = (),
    labelled: int = _LABELLED,
    span: tuple[float, float] | None = None,
    size: tuple[float, float] = (620.0, 520.0),
) -> Panel:
    """Describe points of several kinds in equal units, the heaviest labelled.

    Parameters
    ----------
    kinds : sequence of PointKind
        What is drawn; each kind has its colour and shape.
    title, x_label, y_label, note : str
        Words of the frame.
    outlines : sequence of (x, y, kind)
        Closed lines, in the colour of the kind with that number: ellipses of points.
    labelled : int
        Labels of all kinds together, at most.
    span : (float, float) or None
        Ends of both axes; None follows the points.
    size : (float, float)
        Width and height in pixels.
    """
    marks: list[Mark] = []
    places: list[tuple[float, tuple[float, float], str]] = []
    others: list[tuple[float, float]] = []
    for number, kind in enumerate(kinds):
        points = np.asarray(kind.points, np.float64)
        if points.ndim != 2 or points.shape[1] != 2 or len(points) != len(kind.names):
            raise InputError(
                "a map needs two coordinates and a name for every point",
                got=f"{len(kind.names)} names, points of shape {points.shape}",
                fix="pass points of shape (n, 2) and n names",
            )
        weight = np.arange(len(points), 0, -1.0) if kind.weight is None else kind.weight
        weight = np.asarray(weight, np.float64)
        order = np.argsort(-weight, kind="stable")[:_DRAWN]
        colour, shape = group_style(number)
        x, y = (tuple(map(float, points[order, a])) for a in range(2))
        titles = tuple(str(kind.names[i]) for i in order)
        marks.append(Points(x, y, colour, shape, titles, 3.5 if len(points) < 300 else 2.2))
        rank = np.arange(len(order)) / max(len(order), 1)  # kinds take turns
        spots = list(zip(x, y, strict=True))
        others += [] if kind.labelled else spots
        if kind.labelled:
            places += list(zip(rank, spots, titles, strict=True))
    for x_line, y_line, number in outlines:
        lines = tuple(map(float, np.asarray(x_line))), tuple(map(float, np.asarray(y_line)))
        marks.append(Line(*lines, group_style(number)[0]))
    legend = tuple((kind.title, *group_style(i)) for i, kind in enumerate(kinds))
    axes = Axes(
        title,
        x_label=x_label,
        y_label=y_label,
        note=note,
        legend=legend,
        equal=True,
        x_range=span,
        y_range=span,
    )
    panel = Panel(axes, tuple(marks), *size)
    places.sort(key=lambda place: place[0])
    chosen = places[:labelled]
    spots, words = [spot for _, spot, _ in chosen], [word for _, _, word in chosen]
    near = [*(spot for _, spot, _ in places[:200]), *others[:200]]
    labels = placed(panel, spots, words, INK, avoid=near)
    return Panel(axes, (*marks, *labels), *size)


def scores(
    Z: ArrayLike,
    labels: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    axes: tuple[int, int] = (0, 1),
    *,
    ratio: ArrayLike | None = None,
    ellipse: float | None = None,
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
    ellipse : float in (0, 1), optional
        Draw around each group the ellipse that holds this share of a normal cloud with the
        mean and covariance of the group.

    Returns
    -------
    Panel
        One panel, for :func:`mercer.plots.figure` or :func:`mercer.plots.draw`.
    """
    drawn = clouds(Z, labels, names, axes, ellipse)
    units = "one unit is equally long in both directions"
    if ellipse is not None:
        units = f"equal units; ellipses hold {100 * ellipse:g} % of a normal cloud"
        units += "" if labels is None else ", dashed their mean"
    notes = [drawn.thinned, units]
    frame = Axes(
        "Map of the rows",
        x_label=axis_label(axes[0], ratio),
        y_label=axis_label(axes[1], ratio),
        note="; ".join(note for note in notes if note),
        legend=drawn.legend,
        equal=True,
    )
    return Panel(frame, drawn.marks, width=500.0)
