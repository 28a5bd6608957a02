"""The loadings panel: which features weigh most in the leading components.

The panel of contributions: what an axis, or the distance of a row, is made of.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError
from mercer.plots import _marks as m
from mercer.plots._palette import CHANCE, INK, MUTED, group_style

_EACH = 8


def heaviest(weights: ArrayLike, count: int) -> list[int]:
    """Return the indices of the ``count`` weights of largest modulus, heaviest first.

    Parameters
    ----------
    weights : array of shape (p,)
        One right vector; zeros are left out.
    count : int
        How many to return at most.

    Examples
    --------
    >>> heaviest([0.1, -0.9, 0.0, 0.4], 3)
    [1, 3, 0]
    """
    size = np.abs(np.asarray(weights, dtype=np.float64))
    # A stable order of the negatives keeps ties in the order of the columns.
    order = np.argsort(-size, kind="stable")[:count]
    return [int(j) for j in order if size[j] > 0]


def loadings(
    components: ArrayLike,
    names: Sequence[str],
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    axes: Sequence[int] = (0, 1),
    interval: str = "",
    called: str = "PC",
    unit: str = "entry of the component",
) -> m.Panel:
    """Describe bars of the heaviest entries v_ji of a few right vectors.

    Parameters
    ----------
    components : array of shape (k, p)
        Right vectors in rows, each of norm 1.
    names : sequence of p str
        Names of the features.
    lower, upper : array of shape (k, p), optional
        Ends of an interval for every entry, from resampling or from angles; drawn as
        whiskers.
    axes : sequence of int
        The vectors that are drawn, counted from 0; those that do not exist are left out.
    interval : str
        What the whiskers are, in words for the note.
    called : str
        What an axis is called, before its number.
    unit : str
        What the bars measure.

    Returns
    -------
    Panel
        One panel, for :func:`mercer.plots.figure` or :func:`mercer.plots.draw`.
    """
    V = np.asarray(components, dtype=np.float64)
    if V.ndim != 2 or V.size == 0 or V.shape[1] != len(names) or not np.isfinite(V).all():
        raise InputError(
            "a loadings panel needs finite vectors and one name per feature",
            got=f"components of shape {V.shape} and {len(names)} names",
            fix="pass components_ and the feature names of one model",
        )
    ends = _ends(V, lower, upper)
    marks: list[m.Mark] = []
    ticks: list[tuple[float, str]] = []
    at = 0.0
    for turn, i in enumerate(i for i in axes if 0 <= i < len(V)):
        chosen = heaviest(V[i], _EACH)
        places = tuple(at - j for j in range(len(chosen)))
        ticks += [(place, names[j]) for place, j in zip(places, chosen, strict=True)]
        colour = group_style(turn)[0]
        marks.append(m.Line((0.0, 0.0), (at + 0.6, at - len(chosen) + 0.4), MUTED))
        titles = tuple(f"{called}{i + 1}, {names[j]}: {V[i, j]:+.4f}" for j in chosen)
        lengths = m.floats(V[i, chosen])
        marks.append(m.Bars(places, lengths, colour, horizontal=True, titles=titles))
        if ends is not None:
            low, high = (m.floats(end[i, chosen]) for end in ends)
            marks.append(m.Whiskers(places, low, high, INK, horizontal=True))
        marks.append(m.Text(0.0, at + 0.85, f"{called}{i + 1}", colour, bold=True))
        at -= len(chosen) + 1.0
    note = f"the {min(_EACH, len(names))} heaviest of {len(names)} features"
    frame = m.Axes(
        "Heaviest features",
        x_label=unit,
        note=note + (f"; whiskers: {interval or 'interval'}" if ends is not None else ""),
        y_ticks=tuple(ticks),
        y_range=(at + 1.2, 1.6),
    )
    return m.Panel(frame, tuple(marks))


def _ends(
    V: NDArray[np.float64], lower: ArrayLike | None, upper: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    if lower is None and upper is None:
        return None
    low, high = (np.asarray(end, dtype=np.float64) for end in (lower, upper))
    if not low.shape == high.shape == V.shape or not bool(np.all(low <= high)):
        raise InputError(
            "intervals of loadings need a lower and an upper end for every entry",
            got=f"lower of shape {low.shape}, upper of shape {high.shape} for {V.shape}",
            fix="pass both, of the shape of the components, lower below upper",
        )
    return low, high


def contributions(
    parts: ArrayLike,
    names: Sequence[str],
    *,
    title: str = "Contributions",
    expected: float | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    most: int = 15,
) -> m.Panel:
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
    given = m.column("parts", parts)
    m.same_length("a panel of contributions", parts=given, names=np.zeros(len(names)))
    whole = float(np.sum(given))
    unit = 100 / whole if whole > 0 else 0.0
    chosen = heaviest(given, most)
    places = tuple(-float(i) for i in range(len(chosen)))
    percent = unit * given
    titles = tuple(f"{names[j]}: {percent[j]:.2f} %" for j in chosen)
    foot = -len(chosen) + 0.4
    marks: list[m.Mark] = [m.Line((0.0, 0.0), (0.6, foot), MUTED)]
    bars = m.Bars(
        places, m.floats(percent[chosen]), group_style(0)[0], horizontal=True, titles=titles
    )
    marks.append(bars)
    if lower is not None and upper is not None:
        low, high = unit * m.column("lower", lower), unit * m.column("upper", upper)
        m.same_length("a panel of contributions", parts=given, lower=low, upper=high)
        marks.append(
            m.Whiskers(
                places, m.floats(low[chosen]), m.floats(high[chosen]), INK, horizontal=True
            )
        )
    if expected is not None:
        at = 100 * expected
        marks.append(m.Line((at, at), (0.6, foot), CHANCE, dashed=True))
        marks.append(m.Text(at, 0.95, f"all alike: {at:.3g} %", CHANCE, "start", 11.0))
    left = f"the {len(chosen)} largest of {given.size}"
    held = float(np.sum(percent[chosen]))
    axes = m.Axes(
        title,
        x_label="% of the whole",
        note=left + (f", together {held:.1f} %" if unit else "; nothing to share"),
        y_ticks=tuple((at, names[j]) for at, j in zip(places, chosen, strict=True)),
        y_range=(foot - 0.2, 1.4 if expected is not None else 0.8),
    )
    return m.Panel(axes, tuple(marks), height=max(160.0, 110.0 + 22.0 * len(chosen)))
