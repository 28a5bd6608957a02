"""What a writer draws around the marks: limits, ticks, lines of text, and room for them.

From data units to pixels: round ticks, equal units, and a straight map.
"""

import math
import textwrap
from dataclasses import dataclass

from mercer.plots._marks import Axes, Bars, Panel, Tick, bounds

Range = tuple[float, float]


@dataclass(frozen=True)
class Scale:
    """The map from data [low, high] to pixels [start, stop]: a + b·value, or a + b·√value."""

    low: float
    high: float
    start: float
    stop: float
    root: bool = False

    def __call__(self, value: float) -> float:
        """Return the pixel of ``value``."""
        low, high = self.low, self.high
        if self.root:
            low, high, value = (math.sqrt(max(v, 0.0)) for v in (low, high, value))
        share = (value - low) / (high - low)
        return self.start + share * (self.stop - self.start)

    def back(self, pixel: float) -> float:
        """Return the value whose pixel this is; what lies below a root scale is zero."""
        low, high = self.low, self.high
        if self.root:
            low, high = math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0))
        value = low + (pixel - self.start) / (self.stop - self.start) * (high - low)
        return max(value, 0.0) ** 2 if self.root else value


def pad(span: Range, share: float) -> Range:
    """Widen [low, high] by ``share`` of its length on both sides."""
    room = share * (span[1] - span[0])
    return span[0] - room, span[1] + room


def equalise(x: Range, y: Range, width: float, height: float) -> tuple[Range, Range]:
    """Widen one of two ranges so that a unit is as long in x as in y.

    Parameters
    ----------
    x, y : (float, float)
        Limits in data units.
    width, height : float
        Pixels at hand in the two directions.

    Returns
    -------
    x, y : (float, float)
        Limits with (x₁−x₀)/width = (y₁−y₀)/height, both containing the given ones.
    """
    unit = max((x[1] - x[0]) / width, (y[1] - y[0]) / height)
    return _widen(x, unit * width), _widen(y, unit * height)


def _widen(span: Range, length: float) -> Range:
    middle = (span[0] + span[1]) / 2
    return middle - length / 2, middle + length / 2


def round_step(length: float, count: int = 5) -> float:
    """Return 1, 2 or 5 times a power of ten, about ``length / count``.

    Examples
    --------
    >>> round_step(1.0), round_step(33.0)
    (0.2, 5.0)
    """
    rough = length / count
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= 0.7 * rough)


def ticks(low: float, high: float, step: float | None = None) -> tuple[tuple[float, str], ...]:
    """Return round numbers in [low, high] with their labels.

    Parameters
    ----------
    low, high : float
        Limits.
    step : float, optional
        Distance between ticks; by default a round one that gives about five.

    Examples
    --------
    >>> [label for _, label in ticks(0.0, 1.0)]
    ['0', '0.2', '0.4', '0.6', '0.8', '1.0']
    """
    if step is None:
        step = round_step(high - low)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return tuple((i * step, _label(i * step, digits)) for i in range(first, last + 1))


def root_ticks(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Return numbers in [low, high] that stand well apart on a root scale, zero with them.

    Examples
    --------
    >>> [label for _, label in root_ticks(0.0, 100.0)]
    ['0', '5', '20', '50', '100']
    """
    top = math.sqrt(max(high, 0.0))
    chosen: list[float] = []
    power = math.floor(math.log10(high)) if high > 0 else 0
    # From the largest down, so that the far end, where readers look, always has its number.
    for exponent in range(power, power - 6, -1):
        for value in (m * 10.0**exponent for m in (5, 2, 1)):
            apart = not chosen or math.sqrt(chosen[-1]) - math.sqrt(value) > 0.17 * top
            if low <= value <= high * (1 + 1e-9) and apart and math.sqrt(value) > 0.12 * top:
                chosen.append(value)
    marks = [(value, f"{value:g}") for value in reversed(chosen)]
    return ((0.0, "0"), *marks) if low <= 0 else tuple(marks)


def _label(value: float, digits: int) -> str:
    if value != 0 and (abs(value) >= 1e5 or digits > 4):
        return f"{value:.3g}"
    return "0" if abs(value) < 0.5 * 10.0**-digits else f"{value:.{digits}f}"


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
