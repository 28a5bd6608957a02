"""The loadings panel: which features weigh most in the leading components."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError
from mercer.plots._marks import Axes, Bars, Line, Mark, Panel, Text, Whiskers
from mercer.plots._numbers import floats
from mercer.plots._palette import INK, MUTED, group_style

__all__ = ["heaviest", "loadings"]

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
) -> Panel:
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
    marks: list[Mark] = []
    ticks: list[tuple[float, str]] = []
    at = 0.0
    for turn, i in enumerate(i for i in axes if 0 <= i < len(V)):
        chosen = heaviest(V[i], _EACH)
        places = tuple(at - j for j in range(len(chosen)))
        ticks += [(place, names[j]) for place, j in zip(places, chosen, strict=True)]
        colour = group_style(turn)[0]
        marks.append(Line((0.0, 0.0), (at + 0.6, at - len(chosen) + 0.4), MUTED))
        titles = tuple(f"{called}{i + 1}, {names[j]}: {V[i, j]:+.4f}" for j in chosen)
        lengths = floats(V[i, chosen])
        marks.append(Bars(places, lengths, colour, horizontal=True, titles=titles))
        if ends is not None:
            low, high = (floats(end[i, chosen]) for end in ends)
            marks.append(Whiskers(places, low, high, INK, horizontal=True))
        marks.append(Text(0.0, at + 0.85, f"{called}{i + 1}", colour, bold=True))
        at -= len(chosen) + 1.0
    note = f"the {min(_EACH, len(names))} heaviest of {len(names)} features"
    frame = Axes(
        "Heaviest features",
        x_label=unit,
        note=note + (f"; whiskers: {interval or 'interval'}" if ends is not None else ""),
        y_ticks=tuple(ticks),
        y_range=(at + 1.2, 1.6),
    )
    return Panel(frame, tuple(marks))


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
