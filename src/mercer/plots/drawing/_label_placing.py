"""Where labels go: each beside its point, off the others, or not at all."""

import itertools
import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mercer.plots._marks import Panel, Text
from mercer.plots.drawing._panel_frame import LETTER, frame, limits, short

Anchor = Literal["start", "middle", "end"]
Box = tuple[float, float, float, float]  # left, low, right, high, in pixels

_ANCHORS: tuple[Anchor, Anchor, Anchor] = ("start", "middle", "end")
_NEAR, _OFF = (5.0, 13.0), (8.0, 16.0)  # pixels from a tip, and from a point, to its label
_STEPS = 16  # directions that are tried
_LINE = 0.25  # cost of lying on a line, where lying on another label costs 1


def placed(
    panel: Panel,
    points: Sequence[tuple[float, float]],
    words: Sequence[str],
    colour: str,
    *,
    size: float = 11.0,
    outward: bool = False,
    longest: int = 20,
    avoid: Sequence[tuple[float, float]] = (),
) -> list[Text]:
    """Return labels of points of a panel, the first served first.

    A label goes to the nearest of 32 places around its point that is inside the panel and
    free of other labels, then of points and arrows. One that would lie on another label is
    left out; where the names matter the points carry them as hover text as well.

    Parameters
    ----------
    panel : Panel
        Axes with their limits, and no labels yet.
    points : sequence of (float, float)
        What is labelled, in data units and in order of importance.
    words : sequence of str
        One label per point; longer ones than `longest` letters are cut.
    colour : str
        Of the labels.
    size : float
        Of the letters, in pixels.
    outward : bool
        Whether points are tips of arrows from (0, 0): labels then go beyond the tip, and
        the arrows are kept free.
    longest : int
        Letters of a label.
    avoid : sequence of (float, float)
        Other points to keep off, in data units.
    """
    around = frame(panel)
    x, y = around.x, around.y
    tips = [(x(a), y(b)) for a, b in points]
    foot = (x(0.0), y(0.0))
    lines = [_along(foot, tip) if outward else [tip] for tip in tips]
    lines += [[(x(a), y(b))] for a, b in avoid]
    # Equal units widen one direction, and not every writer widens the same.
    (x0, x1), (y0, y1) = limits(panel)
    inside = (x(x0) - 2.0, y(y1) - 2.0, x(x1) + 8.0, y(y0) + 2.0)
    taken: list[Box] = []
    labels: list[Text] = []
    for i, tip in enumerate(tips):
        label = short(words[i], longest)
        if not label or not _holds(inside, (*tip, *tip)):
            continue
        first = math.atan2(tip[1] - foot[1], tip[0] - foot[0]) if outward else 0.0
        others = lines if outward else lines[:i] + lines[i + 1 :]
        busy = np.array([spot for line in others for spot in line]).reshape(-1, 2)
        wide = len(label) * LETTER * size / 11, size
        gaps = _NEAR if outward else _OFF
        found = _best(tip, first, gaps, wide, inside, taken, busy)
        if found is None:
            continue
        box, anchor = found
        taken.append(box)
        at = {"start": box[0], "middle": (box[0] + box[2]) / 2, "end": box[2]}[anchor]
        place = x.back(at), y.back((box[1] + box[3]) / 2)
        labels.append(Text(*place, label, colour, anchor, size))
    return labels


def _best(
    tip: tuple[float, float],
    first: float,
    gaps: tuple[float, ...],
    wide: tuple[float, float],
    inside: Box,
    taken: Sequence[Box],
    busy: NDArray[np.float64],
) -> tuple[Box, Anchor] | None:
    """Return the cheapest place of a label, or None where all lie on other labels."""
    best: tuple[float, Box, Anchor] | None = None
    turns = sorted(range(-_STEPS // 2, _STEPS // 2), key=abs)
    for gap, turn in itertools.product(gaps, turns):
        angle = first + 2 * math.pi * turn / _STEPS
        box, anchor = _box(tip, angle, gap, wide)
        if not _holds(inside, box) or any(_overlap(box, other) for other in taken):
            continue
        covered = np.sum(np.all((busy >= box[:2]) & (busy <= box[2:]), axis=1))
        cost = _LINE * float(covered) + 0.02 * abs(turn) + 0.01 * gap
        if best is None or cost < best[0]:
            best = cost, box, anchor
    return None if best is None else best[1:]


def _box(
    tip: tuple[float, float], angle: float, gap: float, wide: tuple[float, float]
) -> tuple[Box, Anchor]:
    """Return the box of a label that lies at `angle` from the tip, and its near side."""
    across, along = math.cos(angle), math.sin(angle)
    at = tip[0] + gap * across, tip[1] + gap * along
    half = wide[1] * 0.6
    middle = at[1] + half * along
    if abs(across) < 0.3:
        return (
            at[0] - wide[0] / 2,
            middle - half,
            at[0] + wide[0] / 2,
            middle + half,
        ), "middle"
    if across > 0:
        return (at[0], middle - half, at[0] + wide[0], middle + half), "start"
    return (at[0] - wide[0], middle - half, at[0], middle + half), "end"


def _along(foot: tuple[float, float], tip: tuple[float, float]) -> list[tuple[float, float]]:
    """Return spots on an arrow, a few pixels apart."""
    count = max(int(math.dist(foot, tip) / 6), 1)
    return [
        (foot[0] + (tip[0] - foot[0]) * i / count, foot[1] + (tip[1] - foot[1]) * i / count)
        for i in range(1, count + 1)
    ]


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _holds(outer: Box, inner: Box) -> bool:
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and inner[2] <= outer[2]
        and inner[3] <= outer[3]
    )
