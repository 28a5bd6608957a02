"""The loadings panel: which features weigh most in the leading components."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import InputError
from mercer.plots._marks import Axes, Bars, Line, Mark, Panel, Text
from mercer.plots._palette import MUTED, group_style

__all__ = ["heaviest", "loadings"]

_COMPONENTS = 2
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


def loadings(components: ArrayLike, names: Sequence[str]) -> Panel:
    """Describe bars of the heaviest entries v_ji of the first two right vectors.

    Parameters
    ----------
    components : array of shape (k, p)
        Right vectors in rows, each of norm 1.
    names : sequence of p str
        Names of the features.

    Returns
    -------
    Panel
        One panel, for :func:`mercer.plots.figure`.
    """
    V = np.asarray(components, dtype=np.float64)
    if V.ndim != 2 or V.size == 0 or V.shape[1] != len(names) or not np.isfinite(V).all():
        raise InputError(
            "a loadings panel needs finite vectors and one name per feature",
            got=f"components of shape {V.shape} and {len(names)} names",
            fix="pass components_ and the feature names of one model",
        )
    marks: list[Mark] = []
    ticks: list[tuple[float, str]] = []
    at = 0.0
    for i, vector in enumerate(V[:_COMPONENTS]):
        chosen = heaviest(vector, _EACH)
        places = tuple(at - j for j in range(len(chosen)))
        ticks += [(place, names[j]) for place, j in zip(places, chosen, strict=True)]
        lengths = tuple(float(vector[j]) for j in chosen)
        titles = tuple(f"PC{i + 1}, {names[j]}: {vector[j]:+.4f}" for j in chosen)
        colour = group_style(i)[0]
        marks.append(Line((0.0, 0.0), (at + 0.6, at - len(chosen) + 0.4), MUTED))
        marks.append(Bars(places, lengths, colour, horizontal=True, titles=titles))
        marks.append(Text(0.0, at + 0.8, f"PC{i + 1}", colour, bold=True))
        at -= len(chosen) + 1.0
    axes = Axes(
        "Heaviest features",
        x_label="entry of the component",
        note=f"the {min(_EACH, len(names))} heaviest of {len(names)} features",
        y_ticks=tuple(ticks),
        y_range=(at + 1.2, 1.6),
    )
    return Panel(axes, tuple(marks))
