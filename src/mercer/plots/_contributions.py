"""The panel of contributions: what an axis, or the distance of a row, is made of."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mercer.plots._loadings import heaviest
from mercer.plots._marks import Axes, Bars, Line, Mark, Panel, Text, Whiskers
from mercer.plots._numbers import column, floats, same_length
from mercer.plots._palette import CHANCE, INK, MUTED, group_style

__all__ = ["contributions"]


def contributions(
    parts: ArrayLike,
    names: Sequence[str],
    *,
    title: str = "Contributions",
    expected: float | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    most: int = 15,
) -> Panel:
    """Describe the largest parts of a whole as bars in per cent of it, largest first.

    For columns on axis a the parts are v_aj², which add up to one; for rows
    z_ia²/Σ_i z_ia²; for the T² or Q of one row what each column gives to it. Parts may be
    negative: the whole is the sum of them all.

    Parameters
    ----------
    parts : array of shape (m,)
        The parts.
    names : sequence of m str
        What they are parts of.
    title : str
        Of the panel.
    expected : float, optional
        Share that each would have if all were alike, 1/m say: a dashed line.
    lower, upper : array of shape (m,), optional
        Interval of every part, in the unit of `parts`.
    most : int
        Bars that are drawn.

    Returns
    -------
    Panel
        One panel, for :func:`mercer.plots.figure` or :func:`mercer.plots.draw`.
    """
    given = column("parts", parts)
    same_length("a panel of contributions", parts=given, names=np.zeros(len(names)))
    whole = float(np.sum(given))
    unit = 100 / whole if whole > 0 else 0.0
    chosen = heaviest(given, most)
    places = tuple(-float(i) for i in range(len(chosen)))
    percent = unit * given
    titles = tuple(f"{names[j]}: {percent[j]:.2f} %" for j in chosen)
    foot = -len(chosen) + 0.4
    marks: list[Mark] = [Line((0.0, 0.0), (0.6, foot), MUTED)]
    bars = Bars(
        places, floats(percent[chosen]), group_style(0)[0], horizontal=True, titles=titles
    )
    marks.append(bars)
    if lower is not None and upper is not None:
        low, high = unit * column("lower", lower), unit * column("upper", upper)
        same_length("a panel of contributions", parts=given, lower=low, upper=high)
        marks.append(
            Whiskers(places, floats(low[chosen]), floats(high[chosen]), INK, horizontal=True)
        )
    if expected is not None:
        at = 100 * expected
        marks.append(Line((at, at), (0.6, foot), CHANCE, dashed=True))
        marks.append(Text(at, 0.95, f"all alike: {at:.3g} %", CHANCE, "start", 11.0))
    left = f"the {len(chosen)} largest of {given.size}"
    held = float(np.sum(percent[chosen]))
    axes = Axes(
        title,
        x_label="% of the whole",
        note=left + (f", together {held:.1f} %" if unit else "; nothing to share"),
        y_ticks=tuple((at, names[j]) for at, j in zip(places, chosen, strict=True)),
        y_range=(foot - 0.2, 1.4 if expected is not None else 0.8),
    )
    return Panel(axes, tuple(marks), height=max(160.0, 110.0 + 22.0 * len(chosen)))
