"""The biplot: rows as points and columns as arrows whose products rebuild the data."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError
from mercer.plots._marks import Arrows, Axes, Mark, Panel, Points, Text, bounds, column, floats
from mercer.plots._palette import INK
from mercer.plots.charts._clouds import axis_label, clouds
from mercer.plots.drawing._label_placing import placed
from mercer.plots.drawing._panel_frame import limits, pad

Scaling = Literal["form", "covariance", "symmetric"]

_POWERS = {"form": 0.0, "covariance": 1.0, "symmetric": 0.5}
_SAYS = {
    "form": "rows Z, arrows V: distances between rows are true",
    "covariance": "rows Z/√λ, arrows V√λ: arrow lengths are deviations, angles correlations",
    "symmetric": "rows Z/λ^¼, arrows V·λ^¼: products are true, neither distances nor angles",
}
_ARROWS = 12
_AVOIDED = 500  # rows that labels keep off
_STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)  # factors that are easily divided by


def biplot_coordinates(
    Z: ArrayLike, components: ArrayLike, variances: ArrayLike, scaling: Scaling
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rows G = ZΛ^(-a/2) (n, k) and columns H = VΛ^(a/2) (p, k).

    GHᵀ = ZVᵀ, the centred data as the k axes rebuild them, whatever a is. "form" has a = 0:
    GGᵀ = ZZᵀ, so that distances between rows are true (JK). "covariance" has a = 1:
    HHᵀ = VΛVᵀ, so that arrow lengths are standard deviations and cosines correlations (GH).
    "symmetric" has a = ½. An axis without variance gets zeros in G where a > 0.

    Parameters
    ----------
    Z : array of shape (n, k)
        Coordinates X̃V, not whitened.
    components : array of shape (k, p)
        Axes Vᵀ.
    variances : array of shape (k,)
        Λ.
    scaling : {"form", "covariance", "symmetric"}
        Which of the three.
    """
    if scaling not in _POWERS:
        raise InputError(
            "a biplot has one of three scalings",
            got=f"scaling={scaling!r}",
            fix='pass "form", "covariance" or "symmetric"',
        )
    lam = np.maximum(column("variances", variances), 0.0)
    scores, V = np.asarray(Z, dtype=np.float64), np.asarray(components, dtype=np.float64)
    if V.ndim != 2 or scores.ndim != 2 or not len(V) == lam.size == scores.shape[1]:
        raise InputError(
            "a biplot needs coordinates, axes and variances of one model",
            got=f"Z {scores.shape}, components {V.shape}, {lam.size} variances",
            fix="pass transform(X), components_ and explained_variance_",
        )
    power = _POWERS[scaling]
    root = lam ** (power / 2)
    alive = lam > 0
    inverse = np.where(alive, 1 / np.where(alive, root, 1.0), 0.0 if power else 1.0)
    return scores * inverse, V.T * root


def biplot(
    Z: ArrayLike,
    components: ArrayLike,
    variances: ArrayLike,
    names: Sequence[str],
    axes: tuple[int, int] = (0, 1),
    *,
    scaling: Scaling = "covariance",
    labels: ArrayLike | None = None,
    rows: Sequence[str] | None = None,
    ratio: ArrayLike | None = None,
    most: int = _ARROWS,
) -> Panel:
    """Describe rows as points and columns as arrows; the panel states its scaling.

    The product of a row and an arrow is the cell of the centred data that two axes rebuild;
    see :func:`biplot_coordinates` for the formulas. One factor, stated in the note, stretches
    all arrows alike to make them readable.

    Parameters
    ----------
    Z : array of shape (n, k)
        Coordinates, not whitened.
    components : array of shape (k, p)
        Axes.
    variances : array of shape (k,)
        Variances of the axes.
    names : sequence of p str
        Names of the columns.
    axes : (int, int)
        The two components, counted from 0.
    scaling : {"form", "covariance", "symmetric"}
        What is true in the picture: distances between rows, columns, or neither alone.
    labels : array of shape (n,), optional
        Group of each row; at most 12 different values.
    rows : sequence of n str, optional
        Names of the rows, shown on hover in small maps.
    ratio : array of shape (k,), optional
        Shares of variance, for the axis labels.
    most : int
        Arrows that are drawn: the longest.

    Returns
    -------
    Panel
        One panel, for :func:`mercer.plots.figure` or :func:`mercer.plots.draw`.
    """
    G, H = biplot_coordinates(Z, components, variances, scaling)
    drawn = clouds(G, labels, rows, axes)
    if len(names) != len(H):
        raise InputError(
            "a biplot needs one name per column",
            got=f"{len(names)} names for {len(H)} columns",
            fix="pass the feature names of the model",
        )
    tips = H[:, list(axes)]
    lengths = np.linalg.norm(tips, axis=1)
    order = [int(j) for j in np.argsort(-lengths, kind="stable")[:most] if lengths[j] > 0]
    factor = _stretch(bounds(drawn.marks), tips[order])
    tips = factor * tips[order]
    titles = tuple(f"{names[j]}: {H[j, axes[0]]:+.4g}, {H[j, axes[1]]:+.4g}" for j in order)
    arrows = Arrows(floats(tips[:, 0]), floats(tips[:, 1]), INK, titles)
    some = "arrows" if len(order) == len(H) else f"the {len(order)} longest of {len(H)} arrows"
    times = f"{some} drawn ×{factor:g}" if factor != 1 else some if some != "arrows" else ""
    notes = (_SAYS[scaling], times, drawn.thinned)
    frame = Axes(
        f"Biplot, {scaling} scaling",
        x_label=axis_label(axes[0], ratio),
        y_label=axis_label(axes[1], ratio),
        note="; ".join(note for note in notes if note),
        legend=drawn.legend,
        equal=True,
    )
    return _labelled(frame, (*drawn.marks, arrows), tips, [names[j] for j in order])


def _stretch(
    span: tuple[tuple[float, float], tuple[float, float]], tips: NDArray[np.float64]
) -> float:
    """Return a round factor that makes arrows as long as the cloud is wide, or shorter."""
    if len(tips) == 0:
        return 1.0
    reach = [max(-low, high, 1e-300) for low, high in span]
    room = [
        far / near
        for far, near in zip(reach, np.max(np.abs(tips), axis=0), strict=True)
        if near > 1e-12 * np.max(np.abs(tips))
    ]
    wanted = min(room)
    power = 10.0 ** math.floor(math.log10(wanted))
    return float(max(m * power for m in _STEPS if m * power <= wanted * (1 + 1e-9)))


def _labelled(
    frame: Axes, marks: tuple[Mark, ...], tips: NDArray[np.float64], names: Sequence[str]
) -> Panel:
    panel = Panel(frame, marks, width=540.0, height=520.0)
    x, y = (pad(span, 0.05) for span in limits(panel))  # room for names
    frame = dataclasses.replace(frame, x_range=x, y_range=y)
    panel = dataclasses.replace(panel, axes=frame)
    points = [(float(a), float(b)) for a, b in tips]
    labels = placed(panel, points, names, INK, size=12.0, outward=True, avoid=_spots(marks))
    return dataclasses.replace(panel, marks=(*marks, *labels))


def _spots(marks: tuple[Mark, ...]) -> list[tuple[float, float]]:
    """Return what labels keep off: names of groups first of all, and rows, if not all."""
    rows = [spot for m in marks if isinstance(m, Points) for spot in zip(m.x, m.y, strict=True)]
    words = [(m.x, m.y) for m in marks if isinstance(m, Text)]
    return rows[:: -(-len(rows) // _AVOIDED)] + 4 * words
