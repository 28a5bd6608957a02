"""The scree panel: how much variance each component carries, how surely, beside noise.

The panel of cumulative shares: how much of the variance the first components hold.
The panel of reconstruction errors: how much they leave, of rows of the fit and of others.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError
from mercer.plots import _marks as m
from mercer.plots._palette import CHANCE, INK, MUTED, PALE, group_style

_SHOWN = 30
_SHARES = (0.5, 0.9)
_KEPT = group_style(0)[0]


def scree(
    values: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    ratio: ArrayLike,
    *,
    null: ArrayLike | None = None,
    null_words: str = "noise",
    k: int | None = None,
    what: str = "variance",
    axis: str = "component",
) -> m.Panel:
    """Describe bars of λ_i in per cent of the total, with their certified intervals.

    Whiskers reach from lower_i to upper_i; dashed lines stand where the cumulative share
    passes 50 % and 90 %. At most 30 components are drawn.

    Parameters
    ----------
    values : array of shape (m,)
        Eigenvalues λ_1 ≥ λ_2 ≥ …
    lower, upper : array of shape (m,)
        Interval that holds each exact eigenvalue.
    ratio : array of shape (m,)
        λ_i over the total variance, not over the kept part.
    null : float, array of shape (r,) or of shape (2, r), optional
        Eigenvalues of noise: the edge that noise stays below, a quantile for each rank, or a
        band from a low to a high quantile. The unit is that of `values`.
    null_words : str
        What the legend calls it.
    k : int, optional
        Components that count: the bars behind them are grey. 0 is an answer.
    what, axis : str
        What the bars are shares of, and what one of them is called: "inertia" of an "axis".

    Returns
    -------
    Panel
        One panel, for :func:`mercer.plots.figure` or :func:`mercer.plots.draw`.
    """
    lam, low = m.column("values", values), m.column("lower", lower)
    high, share = m.column("upper", upper), m.column("ratio", ratio)
    m.same_length("a scree panel", values=lam, lower=low, upper=high, ratios=share)
    shown = min(lam.size, _SHOWN)

    def percent(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        # A zero spectrum has no per cent to show. The inverse of a subnormal λ_1 is infinite.
        return 100 * share[0] * (sizes / lam[0]) if lam[0] > 0 else 0 * sizes

    marks = _bars(lam[:shown], low, high, 100 * share[:shown], k, (axis, what))
    at = m.floats(np.arange(1.0, shown + 1))
    marks.append(
        m.Whiskers(at, m.floats(percent(low[:shown])), m.floats(percent(high[:shown])), INK)
    )
    if null is not None:
        marks += _noise(percent(np.asarray(null, dtype=np.float64)), shown, null_words)
    # A number that was chosen says more than a share that was reached.
    if k is None:
        marks += _shares(share, shown, float(np.max(100 * share)))
    axes = m.Axes(
        f"{what.capitalize()} per {axis}",
        x_label=axis,
        y_label=f"% of total {what}",
        note=_note(share, shown, axis),
        legend=_legend(k, lam.size, null is not None, null_words),
        x_ticks=tuple((float(i), str(i)) for i in _places(shown)),
        x_range=(0.3, shown + 0.7),
    )
    return m.Panel(axes, tuple(marks))


def _bars(
    lam: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    percent: NDArray[np.float64],
    k: int | None,
    words: tuple[str, str] = ("component", "variance"),
) -> list[m.Mark]:
    """Return the bars that count in one colour, and the rest in grey."""
    titles = [
        f"{words[0]} {i + 1}: {percent[i]:.2f} %, {words[1]} {lam[i]:.6g} "
        f"in [{low[i]:.10g}, {high[i]:.10g}]"
        for i in range(len(lam))
    ]
    cut = len(lam) if k is None else min(max(k, 0), len(lam))
    marks: list[m.Mark] = []
    for part, colour in ((slice(0, cut), _KEPT), (slice(cut, None), PALE)):
        at = m.floats(np.arange(1.0, len(lam) + 1)[part])
        if at:
            marks.append(
                m.Bars(at, m.floats(percent[part]), colour, titles=tuple(titles[part]))
            )
    return marks


def _noise(given: NDArray[np.float64], shown: int, words: str) -> list[m.Mark]:
    """Return the band or line of noise, which is in per cent."""
    if not np.isfinite(given).all() or given.ndim > 2 or (given.ndim == 2 and len(given) != 2):
        raise InputError(
            "noise in a scree panel is an edge, a quantile per rank, or a band of two",
            got=f"shape {given.shape}, {int((~np.isfinite(given)).sum())} not finite",
            fix="pass a number, an array (r,) or an array (2, r) of eigenvalues",
        )
    if given.ndim == 0:
        edge = float(given)
        return [m.Line((0.3, shown + 0.7), (edge, edge), CHANCE, dashed=True, title=words)]
    bands = np.atleast_2d(given)[:, :shown]
    at = m.floats(np.arange(1.0, bands.shape[1] + 1))
    top = m.Line(at, m.floats(bands[-1]), CHANCE, dashed=True, title=words)
    if len(bands) == 1:
        return [top]
    return [m.Band(at, m.floats(bands[0]), m.floats(bands[1]), CHANCE, words), top]


def _legend(
    k: int | None, known: int, null: bool, words: str
) -> tuple[tuple[str, str, m.Shape], ...]:
    entries: list[tuple[str, str, m.Shape]] = []
    if k is not None:
        entries += [(f"k = {k}", _KEPT, "square")] if k > 0 else []
        rest = "the rest" if k > 0 else "none stands out"
        entries += [(rest, PALE, "square")] if k < known else []
    return (*entries, (words, CHANCE, "square")) if null else tuple(entries)


def _shares(share: NDArray[np.float64], shown: int, top: float) -> list[m.Mark]:
    """Return dashed lines where the cumulative share passes a half and nine tenths."""
    marks: list[m.Mark] = []
    cumulative = np.cumsum(share)
    # A hair of rounding must not push "all the variance" one component further. Where one
    # count reaches both shares, only the larger share is worth a line.
    counts = {int(np.searchsorted(cumulative, s - 1e-12)) + 1: s for s in _SHARES}
    for level, (count, wanted) in enumerate(counts.items()):
        if count > shown or shown == 1:
            continue
        x, height = count + 0.5, top * (0.97 - 0.08 * level)
        # The words go to the side that has room.
        late = count > 0.75 * shown
        place = x + (-0.02 if late else 0.02) * shown
        words = f"{100 * wanted:.0f} % with {count}"
        marks.append(m.Line((x, x), (0.0, height), MUTED, dashed=True))
        marks.append(m.Text(place, height, words, MUTED, "end" if late else "start", 11.0))
    return marks


def _note(share: NDArray[np.float64], shown: int, axis: str = "component") -> str:
    drawn = "" if shown == share.size else f"; the first {shown} of {share.size} drawn"
    many = "axes" if axis == "axis" else f"{axis}s"
    kept = f"{axis} carries" if share.size == 1 else f"{many} carry"
    return f"{share.size} {kept} {100 * float(share.sum()):.1f} %{drawn}"


def _places(shown: int) -> list[int]:
    step = 1 if shown <= 12 else 5
    return [i for i in range(1, shown + 1) if i == 1 or i % step == 0]


_LEVELS = (0.5, 0.8, 0.9, 0.95)
_SHARES_SHOWN = 200


def shares(ratio: ArrayLike) -> m.Panel:
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
    share = m.column("ratio", ratio)
    if np.any(share < 0) or np.sum(share) > 1 + 1e-6:
        raise InputError(
            "shares of a total are not negative and add up to one at most",
            got=f"smallest {np.min(share):g}, sum {np.sum(share):g}",
            fix="pass explained_variance_ratio_",
        )
    total = np.cumsum(share)
    shown = min(share.size, _SHARES_SHOWN)
    colour = group_style(0)[0]
    at, percent = m.floats(np.arange(0.0, shown + 1)), (0.0, *m.floats(100 * total[:shown]))
    titles = tuple(f"{i}: {value:.2f} %" for i, value in enumerate(percent))
    marks = _reached(total, shown)
    marks.append(m.Line(at, percent, colour, width=1.6))
    marks.append(
        m.Points(at, percent, colour, titles=titles, radius=3.0 if shown < 40 else 1.5)
    )
    cut = "" if shown == share.size else f"the first {shown} of {share.size} components drawn"
    held = "1 component holds" if share.size == 1 else f"{share.size} components hold"
    axes = m.Axes(
        "Cumulative share of variance",
        x_label="components",
        y_label="% of total variance",
        note=cut or f"{held} {100 * total[-1]:.1f} %",
        x_ticks=None if shown > 12 else tuple((float(i), str(i)) for i in range(shown + 1)),
        x_range=(-0.02 * shown, 1.02 * shown),
        y_range=(0.0, 103.0),
    )
    return m.Panel(axes, tuple(marks))


def _reached(total: NDArray[np.float64], shown: int) -> list[m.Mark]:
    """Return lines to the curve where a share is reached, with the count in words."""
    counts = {int(np.searchsorted(total, level - 1e-12)) + 1: level for level in _LEVELS}
    marks: list[m.Mark] = []
    for count, level in counts.items():
        if count > shown:
            continue
        height = 100 * level
        marks.append(m.Line((0.0, count), (height, height), MUTED, dashed=True, width=0.8))
        # The curve rises ever more slowly: below it on the right there is room, and where
        # the panel ends, above it on the left, before the step that reaches the share.
        words, air = f"{height:.0f} % with {count}", 0.02 * shown
        if count < 0.7 * shown:
            marks.append(m.Text(count + air, height - 3.0, words, MUTED, "start", 11.0))
        elif count - 1 > 0.35 * shown:
            marks.append(m.Text(count - 1.0, height + 2.4, words, MUTED, "end", 11.0))
        else:
            marks.append(m.Text(air, height + 2.4, words, MUTED, "start", 11.0))
    return marks


def reconstruction(
    left: ArrayLike, *, held_out: ArrayLike | None = None, k: int | None = None
) -> m.Panel:
    """Describe Σ‖x̃ - x̂_k‖²/Σ‖x̃‖² against k = 0, 1, …, the components that rebuild.

    Of the rows of the fit it falls with every component; of other rows it need not reach
    zero, nor fall for ever.

    Parameters
    ----------
    left : array of shape (m + 1,)
        Share of the squares that k components do not rebuild, for k = 0, 1, … At most 200
        components are drawn.
    held_out : array of shape (m + 1,), optional
        The same for rows that were not fitted.
    k : int, optional
        Components that are kept, marked by a line.

    Returns
    -------
    Panel
        One panel, for :func:`mercer.plots.figure` or :func:`mercer.plots.draw`.
    """
    curves = {"rows of the fit": m.column("left", left)}
    if held_out is not None:
        curves["other rows"] = m.column("held_out", held_out)
    m.same_length("a panel of reconstruction errors", **curves)
    worst = min(float(np.min(curve)) for curve in curves.values())
    if worst < -1e-6:
        raise InputError(
            "shares that are not rebuilt are not negative",
            got=f"smallest {worst:g}",
            fix="pass 1 - cumulated shares, beginning with 1 for no component",
        )
    known = len(curves["rows of the fit"]) - 1
    shown = min(known, _SHARES_SHOWN)
    at, marks = m.floats(np.arange(0.0, shown + 1)), list[m.Mark]()
    if k is not None and 0 <= k < known:
        marks.append(m.Line((float(k), float(k)), (0.0, 100.0), MUTED, dashed=True))
    for group, (words, curve) in enumerate(curves.items()):
        colour, shape = group_style(group)
        percent = m.floats(100 * np.maximum(curve[: shown + 1], 0.0))
        titles = tuple(f"{i}: {value:.3g} %, {words}" for i, value in enumerate(percent))
        marks.append(m.Line(at, percent, colour, width=1.6))
        radius = 3.0 if shown < 40 else 1.5
        marks.append(m.Points(at, percent, colour, shape, titles=titles, radius=radius))
    styles = [group_style(group) for group in range(len(curves))]
    legend = tuple((words, *style) for words, style in zip(curves, styles, strict=True))
    most = max(float(np.max(curve[: shown + 1])) for curve in curves.values())
    cut = "" if shown == known else f"the first {shown} of {known} components drawn"
    axes = m.Axes(
        "Reconstruction error",
        x_label="components",
        y_label="% of the squares not rebuilt",
        note=cut or (f"{k} kept" if k is not None and k < known else ""),
        legend=legend if len(curves) > 1 else (),
        x_ticks=None if shown > 12 else tuple((float(i), str(i)) for i in range(shown + 1)),
        x_range=(-0.02 * max(shown, 1), 1.02 * max(shown, 1)),
        y_range=(0.0, 103.0 * max(most, 1e-12)),
    )
    return m.Panel(axes, tuple(marks))
