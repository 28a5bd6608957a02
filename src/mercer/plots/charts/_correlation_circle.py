"""The correlation circle: columns by their correlation with two axes."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError
from mercer.plots._marks import Arrows, Axes, Line, Mark, Panel, Points, floats
from mercer.plots._palette import GRID, INK, MUTED, PALE, SOFT, group_style
from mercer.plots.charts._clouds import axis_label
from mercer.plots.drawing._label_placing import placed

_ARROWS = 40
_EDGE = 1.13
_SIDES = 129


def circle(
    correlations: ArrayLike,
    names: Sequence[str],
    axes: tuple[int, int] = (0, 1),
    *,
    ratio: ArrayLike | None = None,
    least: float = 0.5,
    called: str = "PC",
) -> Panel:
    """Describe columns as arrows (r_ja, r_jb) inside the unit circle.

    r_ja is the correlation of column j with component a. r_ja² + r_jb² is the share of the
    variance of the column that the plane of the two shows: an arrow near the circle is well
    represented, and only between two of those does the angle tell a correlation. Columns
    below `least` are grey points, and so are all but the 40 longest.

    Parameters
    ----------
    correlations : array of shape (p, k)
        As `mercer.diagnostics.correlations` returns them.
    names : sequence of p str
        Names of the columns.
    axes : (int, int)
        The two components, counted from 0.
    ratio : array of shape (k,), optional
        Shares of variance, for the axis labels.
    least : float in [0, 1]
        Share of its variance that an arrow must show.
    called : str
        What an axis is called, before its number.

    Returns
    -------
    Panel
        One panel, for :func:`mercer.plots.figure` or :func:`mercer.plots.draw`.
    """
    R = _checked(correlations, names, axes)
    quality = np.sum(R**2, axis=1)
    # Rounding must not drop a column that the plane shows whole.
    order = np.argsort(-quality, kind="stable")
    good = [int(j) for j in order[:_ARROWS] if quality[j] >= least - 1e-9 and quality[j] > 0]
    rest = [int(j) for j in order if j not in set(good)]
    titles = [
        f"{names[j]}: {R[j, 0]:+.3f}, {R[j, 1]:+.3f}; {100 * quality[j]:.0f} % shown"
        for j in range(len(R))
    ]
    colour = group_style(0)[0]
    marks = _rings(least)
    if rest:
        few = tuple(titles[j] for j in rest)
        marks.append(Points(floats(R[rest, 0]), floats(R[rest, 1]), PALE, titles=few))
    marks.append(
        Arrows(floats(R[good, 0]), floats(R[good, 1]), colour, tuple(titles[j] for j in good))
    )
    frame = Axes(
        "Correlation circle",
        x_label=axis_label(axes[0], ratio, called),
        y_label=axis_label(axes[1], ratio, called),
        note=_note(len(good), len(R), least),
        equal=True,
        x_range=(-_EDGE, _EDGE),
        y_range=(-_EDGE, _EDGE),
    )
    panel = Panel(frame, tuple(marks), width=460.0, height=500.0)
    tips = [(float(R[j, 0]), float(R[j, 1])) for j in good]
    labels = placed(panel, tips, [names[j] for j in good], INK, outward=True)
    return dataclasses.replace(panel, marks=(*marks, *labels))


def _rings(least: float) -> list[Mark]:
    """Return the cross, the unit circle, and the ring of columns shown well enough."""
    turns = np.linspace(0.0, 2 * np.pi, _SIDES)
    marks: list[Mark] = [
        Line((-_EDGE, _EDGE), (0.0, 0.0), SOFT, width=1.0),
        Line((0.0, 0.0), (-_EDGE, _EDGE), SOFT, width=1.0),
        Line(floats(np.cos(turns)), floats(np.sin(turns)), MUTED),
    ]
    if 0 < least < 1:
        inner = np.sqrt(least)
        ring = floats(inner * np.cos(turns)), floats(inner * np.sin(turns))
        marks.append(Line(*ring, GRID, dashed=True, title=f"{100 * least:g} % shown"))
    return marks


def _note(good: int, p: int, least: float) -> str:
    if good == p:
        return f"all {p} columns; at the circle a column is shown whole"
    shown = f"{good} of {p} columns" if good else f"none of {p} columns"
    return f"arrows: {shown} with {100 * least:g} % or more of their variance here"


def _checked(
    correlations: ArrayLike, names: Sequence[str], axes: tuple[int, int]
) -> NDArray[np.float64]:
    R = np.asarray(correlations, dtype=np.float64)
    fits = R.ndim == 2 and len(R) == len(names) > 0
    fits = fits and all(0 <= a < R.shape[1] for a in axes)
    if not fits or not np.isfinite(R).all() or np.max(np.abs(R)) > 1 + 1e-6:
        raise InputError(
            "a correlation circle needs a correlation for every column and both axes",
            got=f"correlations of shape {R.shape}, {len(names)} names, axes={axes}",
            fix="pass numbers from -1 to 1 of shape (p, k), and p names",
        )
    return R[:, list(axes)]
