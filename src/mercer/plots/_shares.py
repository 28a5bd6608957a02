"""The panel of cumulative shares: how much of the variance the first components hold."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError
from mercer.plots._marks import Axes, Line, Mark, Panel, Points, Text
from mercer.plots._numbers import column, floats
from mercer.plots._palette import MUTED, group_style

__all__ = ["shares"]

_LEVELS = (0.5, 0.8, 0.9, 0.95)
_SHOWN = 200


def shares(ratio: ArrayLike) -> Panel:
    """Describe Σ_{i≤k} ratio_i against k, with the counts that reach 50, 80, 90 and 95 %.

    Parameters
    ----------
    ratio : array of shape (m,)
        Shares of the total variance, λ_i/Σλ, the largest first. At most 200 are drawn.

    Returns
    -------
    Panel
        One panel, for :func:`mercer.plots.figure` or :func:`mercer.plots.draw`.
    """
    share = column("ratio", ratio)
    if np.any(share < 0) or np.sum(share) > 1 + 1e-6:
        raise InputError(
            "shares of a total are not negative and add up to one at most",
            got=f"smallest {np.min(share):g}, sum {np.sum(share):g}",
            fix="pass explained_variance_ratio_",
        )
    total = np.cumsum(share)
    shown = min(share.size, _SHOWN)
    colour = group_style(0)[0]
    at, percent = floats(np.arange(0.0, shown + 1)), (0.0, *floats(100 * total[:shown]))
    titles = tuple(f"{i}: {value:.2f} %" for i, value in enumerate(percent))
    marks = _reached(total, shown)
    marks.append(Line(at, percent, colour, width=1.6))
    marks.append(Points(at, percent, colour, titles=titles, radius=3.0 if shown < 40 else 1.5))
    cut = "" if shown == share.size else f"the first {shown} of {share.size} components drawn"
    held = "1 component holds" if share.size == 1 else f"{share.size} components hold"
    axes = Axes(
        "Cumulative share of variance",
        x_label="components",
        y_label="% of total variance",
        note=cut or f"{held} {100 * total[-1]:.1f} %",
        x_ticks=None if shown > 12 else tuple((float(i), str(i)) for i in range(shown + 1)),
        x_range=(-0.02 * shown, 1.02 * shown),
        y_range=(0.0, 103.0),
    )
    return Panel(axes, tuple(marks))


def _reached(total: NDArray[np.float64], shown: int) -> list[Mark]:
    """Return lines to the curve where a share is reached, with the count in words."""
    counts = {int(np.searchsorted(total, level - 1e-12)) + 1: level for level in _LEVELS}
    marks: list[Mark] = []
    for count, level in counts.items():
        if count > shown:
            continue
        height = 100 * level
        marks.append(Line((0.0, count), (height, height), MUTED, dashed=True, width=0.8))
        # The curve rises ever more slowly: below it on the right there is room, and where
        # the panel ends, above it on the left, before the step that reaches the share.
        words, air = f"{height:.0f} % with {count}", 0.02 * shown
        if count < 0.7 * shown:
            marks.append(Text(count + air, height - 3.0, words, MUTED, "start", 11.0))
        elif count - 1 > 0.35 * shown:
            marks.append(Text(count - 1.0, height + 2.4, words, MUTED, "end", 11.0))
        else:
            marks.append(Text(air, height + 2.4, words, MUTED, "start", 11.0))
    return marks
