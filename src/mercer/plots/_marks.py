"""What a picture is made of: points, lines, bars, arrows, text on axes. No writer in sight."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError

Shape = Literal["circle", "square", "triangle", "diamond"]
Tick = tuple[float, str]


@dataclass(frozen=True)
class Points:
    """A cloud of points (x_i, y_i) in one colour and shape.

    Parameters
    ----------
    x, y : tuple of float
        Coordinates in data units, of equal length n.
    colour : str
        A CSS colour.
    shape : {"circle", "square", "triangle", "diamond"}
        A second sign beside the colour, for readers who do not see the colour.
    titles : tuple of str
        One name per point, or empty.
    radius : float
        Size in pixels.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    colour: str
    shape: Shape = "circle"
    titles: tuple[str, ...] = ()
    radius: float = 2.5


@dataclass(frozen=True)
class Line:
    """A broken line through (x_i, y_i); dashed for limits, solid for data."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    colour: str
    dashed: bool = False
    width: float = 1.2
    title: str = ""


@dataclass(frozen=True)
class Bars:
    """Bars from zero to ``length`` at ``at``; horizontal ones grow along x.

    Parameters
    ----------
    at : tuple of float
        Places of the bars, of length n.
    length : tuple of float
        Signed lengths, of length n.
    colour : str
        A CSS colour.
    horizontal : bool
        Whether the bars grow along x.
    thickness : float
        Width of a bar in data units.
    titles : tuple of str
        One text per bar, or empty.
    """

    at: tuple[float, ...]
    length: tuple[float, ...]
    colour: str
    horizontal: bool = False
    thickness: float = 0.8
    titles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Arrows:
    """Arrows from the origin (0, 0) to (x_i, y_i).

    Parameters
    ----------
    x, y : tuple of float
        Tips in data units, of equal length n.
    colour : str
        A CSS colour.
    titles : tuple of str
        One text per arrow, or empty.
    width : float
        Of the shaft, in pixels.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    colour: str
    titles: tuple[str, ...] = ()
    width: float = 1.4


@dataclass(frozen=True)
class Band:
    """The area between (x_i, lower_i) and (x_i, upper_i), for what chance alone would do."""

    x: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    colour: str
    title: str = ""


@dataclass(frozen=True)
class Whiskers:
    """Intervals [lower_i, upper_i] at ``at_i``; horizontal ones lie along x.

    Parameters
    ----------
    at, lower, upper : tuple of float
        Places and ends in data units, of equal length n.
    colour : str
        A CSS colour.
    horizontal : bool
        Whether the intervals lie along x.
    width : float
        Of the line, in pixels.
    """

    at: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    colour: str
    horizontal: bool = False
    width: float = 1.5


@dataclass(frozen=True)
class Text:
    """Words at (x, y), with a halo of the background so that they stay readable."""

    x: float
    y: float
    words: str
    colour: str
    anchor: Literal["start", "middle", "end"] = "middle"
    size: float = 12.0
    bold: bool = False


Mark = Points | Line | Bars | Arrows | Band | Whiskers | Text


@dataclass(frozen=True)
class Axes:
    """The frame of a panel: its title, labels, and the units of its two directions.

    Parameters
    ----------
    title, x_label, y_label : str
        Words above, below and beside the panel.
    note : str
        A second, smaller line under the title.
    legend : tuple of (words, colour, shape)
        What the colours and shapes stand for, in a line of its own.
    equal : bool
        Whether one unit is equally long in both directions, as a map of scores must be.
    root : bool
        Whether both directions have a root scale: a value v ≥ 0 stands at √v. Squared
        distances are then as far apart as the distances.
    x_ticks, y_ticks : tuple of (float, str) or None
        Ticks with their labels; None lets the writer choose round numbers.
    x_range, y_range : (float, float) or None
        Limits; None takes them from the marks.
    """

    title: str
    x_label: str = ""
    y_label: str = ""
    note: str = ""
    legend: tuple[tuple[str, str, Shape], ...] = ()
    equal: bool = False
    root: bool = False
    x_ticks: tuple[Tick, ...] | None = None
    y_ticks: tuple[Tick, ...] | None = None
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None


@dataclass(frozen=True, repr=False)
class Panel:
    """One panel: axes and the marks drawn on them, in order. A notebook shows it drawn.

    Parameters
    ----------
    axes : Axes
        The frame.
    marks : tuple of Points, Line, Bars, Arrows, Band, Whiskers or Text
        Later marks lie over earlier ones.
    width, height : float
        Size in pixels, labels included.
    """

    axes: Axes
    marks: tuple[Mark, ...] = field(default=())
    width: float = 400.0
    height: float = 440.0

    def __repr__(self) -> str:
        """Return title and size: thousands of points would be no help."""
        size = f"{self.width:g} x {self.height:g} pixels"
        return f"<Panel {self.axes.title!r}: {len(self.marks)} marks, {size}>"

    def _repr_svg_(self) -> str:
        """Return the picture, for notebooks."""
        from mercer.plots.drawing._svg import figure

        return figure(self)


def bounds(marks: tuple[Mark, ...]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return ((x_min, x_max), (y_min, y_max)) over all marks; (0, 1) where there are none."""
    xs: list[float] = []
    ys: list[float] = []
    for mark in marks:
        across, along = _reach(mark)
        xs += across
        ys += along
    return _span(xs), _span(ys)


def _reach(mark: Mark) -> tuple[list[float], list[float]]:
    """Return the numbers in x and in y that one mark must have room for."""
    if isinstance(mark, Text):
        return [], []
    if isinstance(mark, Bars):
        half = mark.thickness / 2
        across = [a - half for a in mark.at] + [a + half for a in mark.at]
        along = [0.0, *mark.length]
        return (along, across) if mark.horizontal else (across, along)
    if isinstance(mark, Whiskers):
        ends = [*mark.lower, *mark.upper]
        return (ends, list(mark.at)) if mark.horizontal else (list(mark.at), ends)
    if isinstance(mark, Band):
        return list(mark.x), [*mark.lower, *mark.upper]
    origin = [0.0] if isinstance(mark, Arrows) else []
    return [*origin, *mark.x], [*origin, *mark.y]


def _span(values: list[float]) -> tuple[float, float]:
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    # One point, or a column of equal values, still needs a panel of positive size.
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def column(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return numbers as a vector of float64, none of them missing."""
    found = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if found.ndim != 1 or found.size == 0 or not np.isfinite(found).all():
        raise InputError(
            f"{name} must be a non-empty list of finite numbers",
            got=f"shape {found.shape}, {int((~np.isfinite(found)).sum())} not finite",
            fix="pass the numbers of a fitted model",
        )
    return found


def same_length(what: str, **vectors: NDArray[np.float64]) -> None:
    """Refuse vectors of different lengths, each named."""
    lengths = {name: len(vector) for name, vector in vectors.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(
            f"{what} needs one number of each kind per item",
            got=", ".join(f"{length} {name}" for name, length in lengths.items()),
            fix="pass arrays of one length",
        )


def floats(values: NDArray[np.float64]) -> tuple[float, ...]:
    """Return numbers as the plain tuple that marks are made of."""
    return tuple(map(float, values))
