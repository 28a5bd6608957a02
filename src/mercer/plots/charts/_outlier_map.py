"""The T²-Q map: rows far out along the axes, or far from them, beside the limits."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError
from mercer.plots import _marks as m
from mercer.plots._palette import CHANCE, INK, PALE, group_style
from mercer.plots.charts._clouds import names_of
from mercer.plots.drawing._label_placing import placed

_DRAWN = 5_000
_NAMED = 15
_AVOIDED = 500  # rows that names keep off
_KINDS = ("within both limits", "T² above", "Q above", "both above")
_STYLES: tuple[tuple[str, m.Shape], ...] = (
    (PALE, "circle"),
    group_style(0),
    group_style(2),
    group_style(5),
)


def outlier_map(
    t2: ArrayLike,
    q: ArrayLike,
    t2_limit: float,
    q_limit: float,
    names: Sequence[str] | None = None,
    *,
    level: float | None = None,
    rows: str = "rows",
) -> m.Panel:
    """Describe rows by T² and Q on root scales, with both limits and the flagged rows named.

    On a root scale T² and Q are as far apart as the distances whose squares they are, and
    a row far out does not press all others into a corner. All rows above a limit are drawn;
    of more than 5,000 others every m-th.

    Parameters
    ----------
    t2, q : array of shape (n,)
        Hotelling's T² = Σ z_j²/λ_j, and the squared distance Q from the axes.
    t2_limit, q_limit : float
        What ordinary rows stay below.
    names : sequence of n str, optional
        Names of the rows; the 15 farthest above a limit are written.
    level : float, optional
        Share of ordinary rows below each limit, for the labels.
    rows : str
        What the rows are, "rows of the fit" say.

    Returns
    -------
    Panel
        One panel, for :func:`mercer.plots.figure` or :func:`mercer.plots.draw`.
    """
    far, away = m.column("t2", t2), m.column("q", q)
    m.same_length("a T²-Q map", t2=far, q=away)
    if not (np.isfinite([t2_limit, q_limit]).all() and min(t2_limit, q_limit) >= 0):
        raise InputError(
            "the limits of T² and Q are finite and not negative",
            got=f"t2_limit={t2_limit}, q_limit={q_limit}",
            fix="pass the limits of mercer.diagnostics.outliers",
        )
    kind = (far > t2_limit) + 2 * (away > q_limit)
    drawn = _drawn(kind)
    titles = dict(zip(drawn.tolist(), names_of(names, len(far), drawn), strict=True))
    marks = _limits(t2_limit, q_limit, far, away, level)
    for which, (colour, shape) in enumerate(_STYLES):
        inside = drawn[kind[drawn] == which]
        if inside.size:
            named = tuple(
                f"{titles[i]}: T² {far[i]:.4g}, Q {away[i]:.4g}" for i in inside.tolist()
            )
            radius = 3.8 if which else 2.6
            at = m.floats(far[inside]), m.floats(away[inside])
            marks.append(m.Points(*at, colour, shape, named, radius))
    legend = tuple(
        (words, *style)
        for which, (words, style) in enumerate(zip(_KINDS, _STYLES, strict=True))
        if which and np.any(kind == which)
    )
    frame = m.Axes(
        "T² and Q of the rows",
        x_label="T², distance along the axes (root scale)",
        y_label="Q, distance from the axes (root scale)",
        note=_note(kind, level, rows, len(drawn)),
        legend=legend,
        root=True,
        x_range=(0.0, 1.12 * max(float(np.max(far)), t2_limit, 1e-300)),
        y_range=(0.0, 1.12 * max(float(np.max(away)), q_limit, 1e-300)),
    )
    panel = m.Panel(frame, tuple(marks), width=500.0, height=460.0)
    order = _farthest(far, away, t2_limit, q_limit, kind)
    points = [(float(far[i]), float(away[i])) for i in order]
    others = drawn[:: -(-len(drawn) // _AVOIDED)]
    busy = [(float(far[i]), float(away[i])) for i in others]
    labels = placed(panel, points, [titles[i] for i in order], INK, avoid=busy)
    return dataclasses.replace(panel, marks=(*marks, *labels))


def _drawn(kind: NDArray[np.int_]) -> NDArray[np.intp]:
    """Return the rows to draw: all above a limit, and every m-th of the others."""
    inside = np.flatnonzero(kind == 0)
    step = max(-(-len(inside) // _DRAWN), 1)
    return np.sort(np.concatenate([inside[::step], np.flatnonzero(kind)]))


def _limits(
    t2_limit: float,
    q_limit: float,
    far: NDArray[np.float64],
    away: NDArray[np.float64],
    level: float | None,
) -> list[m.Mark]:
    right, top = (1.12 * max(float(np.max(v)), b, 1e-300)
                  for v, b in ((far, t2_limit), (away, q_limit)))  # fmt: skip
    words = "limit" if level is None else f"{100 * level:g} %"
    return [
        m.Line(
            (t2_limit, t2_limit), (0.0, top), CHANCE, dashed=True, title=f"T² {t2_limit:.4g}"
        ),
        m.Line((0.0, right), (q_limit, q_limit), CHANCE, dashed=True, title=f"Q {q_limit:.4g}"),
        m.Text(t2_limit, top, words, CHANCE, size=11.0),
        m.Text(0.0004 * right, q_limit, words, CHANCE, "start", size=11.0),
    ]


def _note(kind: NDArray[np.int_], level: float | None, rows: str, drawn: int) -> str:
    n, above = len(kind), int(np.sum(kind > 0))
    words = f"{above:,} of {n:,} {rows} above a limit"
    if level is not None:
        words += f"; at most {2 * (1 - level) * n:.2g} expected by chance"
    return words + ("" if drawn == n else f"; {drawn:,} of {n:,} drawn")


def _farthest(
    far: NDArray[np.float64],
    away: NDArray[np.float64],
    t2_limit: float,
    q_limit: float,
    kind: NDArray[np.int_],
) -> list[int]:
    """Return the flagged rows that are named, the farthest in limits first."""
    tiny = 1e-300
    with np.errstate(over="ignore"):  # a limit of zero: whatever is there is far above
        reach = np.maximum(far / max(t2_limit, tiny), away / max(q_limit, tiny))
    order = np.argsort(-reach, kind="stable")
    return [int(i) for i in order[kind[order] > 0][:_NAMED]]
