"""What is lost when only k components are kept; pictures of rows where rows are pictures."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from mercer.arrays import Array
from mercer.plots import Axes, Line, Panel, Points, group_style
from mercer.report._parts import Images, Part, Picture, Section, Steps
from mercer.report._seen import Seen
from mercer.report._shapes import image_shape, is_curve
from mercer.report._words import listed, percent

_PICTURES = 6
_STEPS = 13


def reconstruction_section(
    seen: Seen, grid: tuple[int, Sequence[int]] | None = None
) -> Section:
    """Return the section on what the components rebuild.

    Parameters
    ----------
    seen : Seen
        The rows.
    grid : (int, sequence of int) or None
        Where the columns are some pixels of pictures: the pixels on a side, and the place of
        every column. None where they are all of them, or none.
    """
    ratio = np.asarray(seen.wide.explained_variance_ratio_)
    left = 1 - np.cumsum(ratio)
    k = seen.axes_of_verdict
    worst = _worst(seen, k)
    words = (
        f"With {k} component{'s' * (k > 1)} {percent(max(float(left[k - 1]), 0.0))} of the "
        f"variance is not rebuilt. Worst rebuilt: {listed(worst)}.",
    )
    parts: list[Part] = [Picture(_curve(left))]
    if not seen.standardised:
        seen_whole = seen if grid is None else _spread(seen, *grid)
        shape = image_shape(seen_whole.held)
        if shape is not None:
            parts += _pictures(seen_whole, *shape)
        elif is_curve(seen.held):
            parts += _curves(seen)
    return Section("rebuilt", "Reconstruction", words, tuple(parts))


def _spread(seen: Seen, side: int, places: Sequence[int]) -> Seen:
    """Return what is seen with every column at its place in a picture, zeros elsewhere."""

    def whole(table: Array) -> Array:
        wider = np.zeros((*table.shape[:-1], side * side))
        wider[..., list(places)] = table
        return wider

    wide = dataclasses.replace(
        seen.wide, components_=whole(seen.wide.components_), mean_=whole(seen.wide.mean_)
    )
    return dataclasses.replace(seen, wide=wide, held=whole(seen.held))


def _worst(seen: Seen, k: int) -> list[str]:
    """Return the columns of which least is rebuilt, with their share Σ_a λ_a v_aj²/var_j."""
    V = np.asarray(seen.wide.components_[:k], np.float64)
    rebuilt = np.asarray(seen.wide.explained_variance_[:k], np.float64) @ V**2
    alive = seen.columns > 0
    share = np.divide(rebuilt, seen.columns, out=np.ones(len(alive)), where=alive)
    order = np.argsort(share, kind="stable")[:3]
    return [f"{seen.names[j]} ({percent(min(float(share[j]), 1.0))} kept)" for j in order]


def _curve(left: Array) -> Panel:
    at = tuple(float(i + 1) for i in range(len(left)))
    percents = tuple(100 * max(float(v), 0.0) for v in left)
    colour = group_style(0)[0]
    marks = (Line(at, percents, colour, width=2.0), Points(at, percents, colour))
    axes = Axes(
        "Variance not rebuilt",
        x_label="components kept",
        y_label="% of the variance",
        y_range=(0.0, max(100.0 * float(left[0]), 1.0) * 1.1),
    )
    return Panel(axes, marks, height=320.0)


def _pictures(seen: Seen, height: int, width: int) -> list[Part]:
    wide = seen.wide
    count = min(_PICTURES, len(wide.components_))
    names = tuple(f"PC{i + 1}" for i in range(count))
    axes = np.asarray(wide.components_[:count], np.float64)
    signed = 127.5 + 127.5 * axes / np.abs(axes).max(axis=1, keepdims=True)
    low, high = _range(seen)

    def grey(rows: Array) -> Array:
        return np.clip(255 * (rows - low) / (high - low), 0, 255).astype(np.uint8)

    row = seen.held[len(seen.held) // 2]
    stages = [k for k in (1, 2, 5, 10, 20) if k <= len(wide.components_)]
    rebuilt = [row @ wide.components_[:k].T @ wide.components_[:k] for k in stages]
    strip = grey(np.stack([row, *rebuilt]) + wide.mean_)
    name = seen.row_name(int(seen.held_at[len(seen.held) // 2]))
    reach = np.linspace(-3, 3, _STEPS)
    along = wide.mean_ + np.outer(reach * math.sqrt(wide.explained_variance_[0]), axes[0])
    return [
        Images(
            "Components as pictures", width, height, signed.astype(np.uint8), names,
            note="Grey is no weight, light and dark are weights of opposite sign.",
        ),
        Images(
            f"{name[0].upper()}{name[1:]}, rebuilt", width, height, strip,
            ("as it is", *(f"{k} component{'s' * (k > 1)}" for k in stages)),
        ),
        Steps(
            "Along PC1", width, height, grey(along),
            tuple(f"{t:+.1f} standard deviations" for t in reach),
            note="The mean picture, moved along the first component.",
        ),
    ]  # fmt: skip


def _curves(seen: Seen) -> list[Part]:
    """Return the first axes as curves, and the mean curve moved along the first."""
    wide = seen.wide
    count = min(3, len(wide.components_))
    axes = np.asarray(wide.components_[:count], np.float64)
    lines = tuple(_line(row, group_style(a)[0]) for a, row in enumerate(axes))
    legend = tuple((f"PC{a + 1}", *group_style(a)) for a in range(count))
    moved = 2 * math.sqrt(float(wide.explained_variance_[0])) * axes[0]
    colour = group_style(0)[0]
    along = (
        _line(wide.mean_ - moved, colour, dashed=True),
        _line(wide.mean_, group_style(10)[0]),
        _line(wide.mean_ + moved, colour),
    )
    words = "Solid and dashed: the mean curve moved two standard deviations up and down PC1."
    first = Axes("Axes as curves", legend=legend, x_label="column", x_ticks=_ticks(seen))
    second = Axes("Along PC1", x_label="column", x_ticks=_ticks(seen))
    return [
        Picture(Panel(first, lines, 520.0, 340.0)),
        Picture(Panel(second, along, 520.0, 340.0), words),
    ]


def _line(values: Array, colour: str, *, dashed: bool = False) -> Line:
    at = tuple(float(j) for j in range(len(values)))
    return Line(at, tuple(map(float, values)), colour, dashed=dashed, width=1.6)


def _ticks(seen: Seen) -> tuple[tuple[float, str], ...]:
    """Return five columns along the curve, by name."""
    places = np.linspace(0, len(seen.names) - 1, 5).round().astype(int)
    return tuple((float(j), seen.names[j]) for j in places)


def _range(seen: Seen) -> tuple[float, float]:
    """Return the darkest and the lightest value of the rows that are held."""
    rows = seen.held + seen.wide.mean_
    low, high = (float(v) for v in np.percentile(rows, [0.5, 99.5]))
    return (low, high) if high > low else (low, low + 1.0)
