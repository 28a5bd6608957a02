"""What a writer draws around the marks: limits, ticks, lines of text, and room for them."""

import textwrap
from dataclasses import dataclass

from mercer.plots._marks import Axes, Bars, Panel, Tick, bounds
from mercer.plots.drawing._axis_scale import (
    Range,
    Scale,
    equalise,
    pad,
    root_ticks,
    round_step,
    ticks,
)

LETTER = 6.1  # mean advance of a letter at 11 px, to leave room for words
_LONGEST = 24  # letters of a tick label
_HIGH = 18.0  # of a line of the legend
NOTE = 15.0  # of a line of the note


@dataclass(frozen=True)
class PanelFrame:
    """Where the marks of a panel go, in pixels, and what stands around them.

    Attributes
    ----------
    x, y : Scale
        From data to pixels.
    x_ticks, y_ticks : tuple of (float, str)
        Ticks, given or chosen.
    note : tuple of str
        Lines of the note.
    legend : tuple of (float, float)
        Place of every entry of the legend.
    """

    x: Scale
    y: Scale
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    note: tuple[str, ...]
    legend: tuple[tuple[float, float], ...]

    @property
    def units(self) -> tuple[float, float]:
        """Return the data units of one pixel in x and in y, for scales that are straight."""
        return (
            (self.x.high - self.x.low) / (self.x.stop - self.x.start),
            (self.y.high - self.y.low) / (self.y.start - self.y.stop),
        )


def frame(panel: Panel) -> PanelFrame:
    """Return the frame of a panel of its own size."""
    axes = panel.axes
    xs, ys = limits(panel)
    choose = root_ticks if axes.root else ticks
    y_ticks = axes.y_ticks if axes.y_ticks is not None else choose(*ys)
    longest = max((min(len(label), _LONGEST) for _, label in y_ticks), default=0)
    left = 12.0 + longest * LETTER + (18.0 if axes.y_label else 0.0)
    right = panel.width - 10.0
    note = note_lines(axes, right - left)
    top = 26.0 + NOTE * len(note) + (5.0 if note else 4.0)
    rows = legend_places(axes, right - left)
    legend = tuple((left + across, top + 5.0 + (_HIGH - 1) * row) for across, row in rows)
    top += _HIGH * (rows[-1][1] + 1) if rows else 0.0
    bottom = panel.height - (44.0 if axes.x_label else 26.0)
    if axes.equal:
        xs, ys = equalise(xs, ys, right - left, bottom - top)
        # Equal units are read off equal steps.
        step = round_step(max(xs[1] - xs[0], ys[1] - ys[0]))
        x_ticks = axes.x_ticks if axes.x_ticks is not None else ticks(*xs, step)
        y_ticks = axes.y_ticks if axes.y_ticks is not None else ticks(*ys, step)
    else:
        x_ticks = axes.x_ticks if axes.x_ticks is not None else choose(*xs)
    x, y = Scale(*xs, left, right, axes.root), Scale(*ys, bottom, top, axes.root)
    return PanelFrame(x, y, x_ticks, y_ticks, note, legend)


def limits(panel: Panel) -> tuple[Range, Range]:
    """Return the limits of a panel: given ones, or those of the marks with some air."""
    found = bounds(panel.marks)
    bars = [mark for mark in panel.marks if isinstance(mark, Bars)]
    out = []
    for given, span, along in zip(
        (panel.axes.x_range, panel.axes.y_range), found, (True, False), strict=True
    ):
        low, high = pad(span, 0.05)
        if any(bar.horizontal is along for bar in bars):
            # Bars stand on zero: no air below it.
            low, high = (0.0 if span[0] == 0 else low), (0.0 if span[1] == 0 else high)
        out.append(given if given is not None else (low, high))
    return out[0], out[1]


def note_lines(axes: Axes, width: float) -> tuple[str, ...]:
    """Return the note in lines that fit ``width`` pixels."""
    return tuple(textwrap.wrap(clean(axes.note), max(int(width / (0.95 * LETTER)), 20)))


def legend_places(axes: Axes, width: float) -> list[tuple[float, int]]:
    """Return x from the left and line of every legend entry, wrapping at ``width``."""
    places, x, row = [], 0.0, 0
    for words, *_ in axes.legend:
        wide = 28.0 + len(words) * LETTER
        if x > 0 and x + wide > width:
            x, row = 0.0, row + 1
        places.append((x, row))
        x += wide
    return places


def short(label: str, longest: int = _LONGEST) -> str:
    """Return a label of 24 letters at most; long ones are cut inside, as ends tell apart."""
    label = clean(label)
    if len(label) <= longest:
        return label
    tail = longest // 3
    return label[: longest - 1 - tail] + "…" + label[-tail:]


def clean(words: str) -> str:
    """Return words on one line, without the control characters that no picture can hold."""
    line = " ".join(words.split())
    return "".join(c for c in line if c.isprintable())
