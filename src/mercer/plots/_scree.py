"""The scree panel: how much variance each component carries, and how surely."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError
from mercer.plots._marks import Axes, Bars, Line, Mark, Panel, Text
from mercer.plots._palette import INK, MUTED, group_style

__all__ = ["scree"]

_SHOWN = 30
_SHARES = (0.5, 0.9)


def scree(values: ArrayLike, lower: ArrayLike, upper: ArrayLike, ratio: ArrayLike) -> Panel:
    """Describe bars of λ_i in per cent of the total, with their certified intervals.

    Whiskers reach from lower_i to upper_i; dashed lines stand where the cumulative share
    passes 50 % and 90 %. At most 30 components are drawn.

    Parameters
    ----------
    values : array of shape (k,)
        Eigenvalues λ_1 ≥ λ_2 ≥ …
    lower, upper : array of shape (k,)
        Interval that holds each exact eigenvalue.
    ratio : array of shape (k,)
        λ_i over the total variance, not over the kept part.

    Returns
    -------
    Panel
        One panel, for :func:`mercer.plots.figure`.
    """
    lam, low, high, share = (
        _column(name, a)
        for name, a in (
            ("values", values),
            ("lower", lower),
            ("upper", upper),
            ("ratio", ratio),
        )
    )
    if not lam.size == low.size == high.size == share.size:
        raise InputError(
            "a scree panel needs one interval and one ratio per value",
            got=f"{lam.size} values, {low.size} lower, {high.size} upper, {share.size} ratios",
            fix="pass arrays of one length",
        )
    shown = min(lam.size, _SHOWN)
    # One factor takes eigenvalues to per cent; a zero spectrum has no per cent to show.
    unit = 100 * float(share[0] / lam[0]) if lam[0] > 0 else 0.0
    at = tuple(float(i) for i in range(1, shown + 1))
    percent = tuple(float(v) for v in 100 * share[:shown])
    titles = tuple(
        f"component {i + 1}: {percent[i]:.2f} %, variance {lam[i]:.6g} "
        f"in [{low[i]:.10g}, {high[i]:.10g}]"
        for i in range(shown)
    )
    marks: list[Mark] = [Bars(at, percent, group_style(0)[0], titles=titles)]
    for i in range(shown):
        ends = (unit * float(low[i]), unit * float(high[i]))
        marks.append(Line((at[i], at[i]), ends, INK, width=1.5))
    marks += _shares(share, shown, max(percent, default=1.0))
    axes = Axes(
        "Variance per component",
        x_label="component",
        y_label="% of total variance",
        note=_note(share, shown),
        x_ticks=tuple((float(i), str(i)) for i in _places(shown)),
        x_range=(0.3, shown + 0.7),
    )
    return Panel(axes, tuple(marks))


def _column(name: str, values: ArrayLike) -> NDArray[np.float64]:
    column = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if column.ndim != 1 or column.size == 0 or not np.isfinite(column).all():
        raise InputError(
            f"{name} must be a non-empty list of finite numbers",
            got=f"shape {column.shape}, {int((~np.isfinite(column)).sum())} not finite",
            fix="pass the numbers of a fitted model",
        )
    return column


def _shares(share: NDArray[np.float64], shown: int, top: float) -> list[Mark]:
    """Return dashed lines where the cumulative share passes a half and nine tenths."""
    marks: list[Mark] = []
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
        marks.append(Line((x, x), (0.0, height), MUTED, dashed=True))
        marks.append(Text(place, height, words, MUTED, "end" if late else "start", 11.0))
    return marks


def _note(share: NDArray[np.float64], shown: int) -> str:
    drawn = "" if shown == share.size else f"; the first {shown} of {share.size} drawn"
    kept = "component carries" if share.size == 1 else "components carry"
    return f"{share.size} {kept} {100 * float(share.sum()):.1f} %{drawn}"


def _places(shown: int) -> list[int]:
    step = 1 if shown <= 12 else 5
    return [i for i in range(1, shown + 1) if i == 1 or i % step == 0]
