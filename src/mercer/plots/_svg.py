"""The SVG writer: panels in, one self-contained picture out; no scripts, no network."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from mercer.errors import InputError
from mercer.plots._marks import Axes, Bars, Line, Mark, Panel, Points, Shape, bounds
from mercer.plots._palette import GRID, INK, MUTED, PAPER, SOFT
from mercer.plots._scale import Scale, equalise, pad, round_step, ticks

__all__ = ["figure"]

_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
_TITLED = 400  # above this many marks a hover text each would outweigh the picture
_GAP = 16.0
_WIDEST = 1500.0
_LETTER = 6.1  # mean advance of a letter at 11 px, to leave room for tick labels
_LONGEST = 24  # letters of a tick label


def figure(panels: Sequence[Panel], *, title: str = "", note: str = "") -> str:
    """Draw panels side by side, wrapping into rows, and return the SVG text.

    Parameters
    ----------
    panels : sequence of Panel
        Drawn left to right; a new row starts where 1,500 pixels are full.
    title, note : str
        Words above all panels.

    Returns
    -------
    str
        A complete SVG document.

    Examples
    --------
    >>> from mercer.plots import Axes, Panel, Points
    >>> panel = Panel(Axes("two points"), (Points((0.0, 1.0), (0.0, 1.0), "#0072b2"),))
    >>> figure([panel]).startswith("<svg")
    True
    """
    if not panels:
        raise InputError("a figure needs a panel", got="no panels", fix="pass at least one")
    head = (30.0 if title else 0.0) + (20.0 if note else 0.0)
    places, width, height = _layout(panels, head + _GAP)
    svg = ET.Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_n(width)} {_n(height)}",
        width=_n(width),
        height=_n(height),
        role="img",
    )
    svg.set("font-family", _FONT)
    ET.SubElement(svg, "title").text = _clean(title or panels[0].axes.title)
    ET.SubElement(svg, "rect", width="100%", height="100%", fill=PAPER)
    if title:
        _words(svg, _GAP, 30.0, title, INK, size=18.0, bold=True)
    if note:
        _words(svg, _GAP, 30.0 + (20.0 if title else 0.0), note, MUTED, size=12.0)
    for panel, (left, top) in zip(panels, places, strict=True):
        group = ET.SubElement(svg, "g", transform=f"translate({_n(left)} {_n(top)})")
        _panel(group, panel)
    return ET.tostring(svg, encoding="unicode") + "\n"


def _layout(
    panels: Sequence[Panel], top: float
) -> tuple[list[tuple[float, float]], float, float]:
    """Place panels in rows; return their corners and the size of the whole."""
    places = []
    left, tallest, width = _GAP, 0.0, 0.0
    for panel in panels:
        if left > _GAP and left + panel.width + _GAP > _WIDEST:
            left, top, tallest = _GAP, top + tallest + _GAP, 0.0
        places.append((left, top))
        left += panel.width + _GAP
        width, tallest = max(width, left), max(tallest, panel.height)
    return places, width, top + tallest + _GAP


def _panel(parent: ET.Element, panel: Panel) -> None:
    """Draw one panel in its own coordinates: frame first, then the marks in order."""
    axes = panel.axes
    (x0, x1), (y0, y1) = _limits(panel)
    y_ticks = axes.y_ticks if axes.y_ticks is not None else ticks(y0, y1)
    longest = max((min(len(label), _LONGEST) for _, label in y_ticks), default=0)
    left = 12.0 + longest * _LETTER + (18.0 if axes.y_label else 0.0)
    right = panel.width - 10.0
    legend = _legend_places(axes, left, right)
    top = 30.0 + (16.0 if axes.note else 0.0)
    for entry, (column, row) in zip(axes.legend, legend, strict=True):
        _legend_entry(parent, entry, column, top + 5.0 + 17.0 * row)
    top += 18.0 * (legend[-1][1] + 1) if legend else 0.0
    bottom = panel.height - (44.0 if axes.x_label else 26.0)
    if axes.equal:
        (x0, x1), (y0, y1) = equalise((x0, x1), (y0, y1), right - left, bottom - top)
        # Equal units are read off equal steps.
        step = round_step(max(x1 - x0, y1 - y0))
        x_ticks, y_ticks = ticks(x0, x1, step), ticks(y0, y1, step)
    else:
        x_ticks = axes.x_ticks if axes.x_ticks is not None else ticks(x0, x1)
    x, y = Scale(x0, x1, left, right), Scale(y0, y1, bottom, top)
    _frame(parent, axes, x, y, x_ticks, y_ticks)
    for mark in panel.marks:
        _mark(parent, mark, x, y)


def _limits(panel: Panel) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the limits of a panel: given ones, or those of the marks with some air."""
    found = bounds(panel.marks)
    bars = [mark for mark in panel.marks if isinstance(mark, Bars)]
    limits = []
    for given, span, along in zip(
        (panel.axes.x_range, panel.axes.y_range), found, (True, False), strict=True
    ):
        low, high = pad(span, 0.05)
        if any(bar.horizontal is along for bar in bars):
            # Bars stand on zero: no air below it.
            low, high = (0.0 if span[0] == 0 else low), (0.0 if span[1] == 0 else high)
        limits.append(given if given is not None else (low, high))
    return limits[0], limits[1]


def _frame(
    parent: ET.Element,
    axes: Axes,
    x: Scale,
    y: Scale,
    x_ticks: tuple[tuple[float, str], ...],
    y_ticks: tuple[tuple[float, str], ...],
) -> None:
    """Draw title, labels, ticks, and grid lines where the ticks are round numbers."""
    left, right, bottom, top = x.start, x.stop, y.start, y.stop
    _words(parent, left, 16.0, axes.title, INK, size=13.5, bold=True)
    if axes.note:
        _words(parent, left, 33.0, axes.note, MUTED, size=11.0)
    for value, label in x_ticks:
        at = x(value)
        if axes.x_ticks is None:
            _stroke(parent, (at, at), (bottom, top), GRID, 1.0)
        _words(parent, at, bottom + 15.0, label, MUTED, anchor="middle")
    for value, label in y_ticks:
        at = y(value)
        if axes.y_ticks is None:
            _stroke(parent, (left, right), (at, at), GRID, 1.0)
        _words(parent, left - 6.0, at + 4.0, _short(label), MUTED, anchor="end")
    _stroke(parent, (left, right), (bottom, bottom), SOFT, 1.0)
    _stroke(parent, (left, left), (bottom, top), SOFT, 1.0)
    if axes.x_label:
        _words(parent, (left + right) / 2, bottom + 34.0, axes.x_label, INK, anchor="middle")
    if axes.y_label:
        middle = (bottom + top) / 2
        label_ = _words(parent, 0.0, 0.0, axes.y_label, INK, anchor="middle")
        label_.set("transform", f"translate(12 {_n(middle)}) rotate(-90)")


def _legend_places(axes: Axes, left: float, right: float) -> list[tuple[float, int]]:
    """Return x and line of every legend entry, wrapping where the panel ends."""
    places, x, row = [], left, 0
    for words, *_ in axes.legend:
        width = 28.0 + len(words) * _LETTER
        if x > left and x + width > right:
            x, row = left, row + 1
        places.append((x, row))
        x += width
    return places


def _legend_entry(
    parent: ET.Element, entry: tuple[str, str, Shape], x: float, y: float
) -> None:
    words, colour, shape = entry
    ET.SubElement(parent, "path", d=_outline(shape, x + 4.0, y - 4.0, 4.0), fill=colour)
    _words(parent, x + 13.0, y, words, INK)


def _mark(parent: ET.Element, mark: Mark, x: Scale, y: Scale) -> None:
    if isinstance(mark, Points):
        _points(parent, mark, x, y)
    elif isinstance(mark, Bars):
        _bars(parent, mark, x, y)
    elif isinstance(mark, Line):
        at = tuple(map(x, mark.x)), tuple(map(y, mark.y))
        line = _stroke(parent, *at, mark.colour, mark.width, dashed=mark.dashed)
        if mark.title:
            ET.SubElement(line, "title").text = _clean(mark.title)
    else:
        word = _words(
            parent, x(mark.x), y(mark.y) + mark.size / 3, mark.words, mark.colour,
            anchor=mark.anchor, size=mark.size, bold=mark.bold,
        )  # fmt: skip
        word.set("stroke", PAPER)
        word.set("stroke-width", "4")
        word.set("stroke-linejoin", "round")
        word.set("paint-order", "stroke")


def _points(parent: ET.Element, mark: Points, x: Scale, y: Scale) -> None:
    """Draw a cloud: one path for many points, one element each where they carry a name."""
    group = ET.SubElement(parent, "g", fill=mark.colour)
    group.set("fill-opacity", "0.75")
    outlines = [
        _outline(mark.shape, x(a), y(b), mark.radius)
        for a, b in zip(mark.x, mark.y, strict=True)
    ]
    if not mark.titles or len(outlines) > _TITLED:
        ET.SubElement(group, "path", d="".join(outlines))
        return
    for outline, name in zip(outlines, mark.titles, strict=True):
        ET.SubElement(ET.SubElement(group, "path", d=outline), "title").text = _clean(name)


def _outline(shape: Shape, x: float, y: float, r: float) -> str:
    """Return the path of one point; the four shapes have about the same area."""
    if shape == "circle":
        arc = f"a{_n(r)} {_n(r)} 0 1 0"
        return f"M{_n(x - r)} {_n(y)}{arc} {_n(2 * r)} 0{arc} {_n(-2 * r)} 0z"
    if shape == "square":
        s = 0.89 * r
        return f"M{_n(x - s)} {_n(y - s)}h{_n(2 * s)}v{_n(2 * s)}h{_n(-2 * s)}z"
    if shape == "triangle":
        s = 1.35 * r
        return f"M{_n(x)} {_n(y - s)}l{_n(1.15 * s)} {_n(2 * s)}h{_n(-2.3 * s)}z"
    s = 1.25 * r
    return f"M{_n(x)} {_n(y - s)}l{_n(s)} {_n(s)}l{_n(-s)} {_n(s)}l{_n(-s)} {_n(-s)}z"


def _bars(parent: ET.Element, mark: Bars, x: Scale, y: Scale) -> None:
    group = ET.SubElement(parent, "g", fill=mark.colour)
    half = mark.thickness / 2
    for i, (at, length) in enumerate(zip(mark.at, mark.length, strict=True)):
        if mark.horizontal:
            xs, ys = (x(0.0), x(length)), (y(at - half), y(at + half))
        else:
            xs, ys = (x(at - half), x(at + half)), (y(0.0), y(length))
        bar = ET.SubElement(
            group, "rect", x=_n(min(xs)), y=_n(min(ys)),
            width=_n(abs(xs[1] - xs[0])), height=_n(abs(ys[1] - ys[0])),
        )  # fmt: skip
        if mark.titles and len(mark.at) <= _TITLED:
            ET.SubElement(bar, "title").text = _clean(mark.titles[i])


def _stroke(
    parent: ET.Element,
    xs: Sequence[float],
    ys: Sequence[float],
    colour: str,
    width: float,
    *,
    dashed: bool = False,
) -> ET.Element:
    places = " ".join(f"{_n(a)},{_n(b)}" for a, b in zip(xs, ys, strict=True))
    line = ET.SubElement(parent, "polyline", points=places, fill="none", stroke=colour)
    line.set("stroke-width", _n(width))
    if dashed:
        line.set("stroke-dasharray", "4 3")
    return line


def _words(
    parent: ET.Element,
    x: float,
    y: float,
    words: str,
    colour: str,
    *,
    anchor: str = "start",
    size: float = 11.0,
    bold: bool = False,
) -> ET.Element:
    text = ET.SubElement(parent, "text", x=_n(x), y=_n(y), fill=colour)
    text.set("font-size", _n(size))
    if anchor != "start":
        text.set("text-anchor", anchor)
    if bold:
        text.set("font-weight", "600")
    text.text = _clean(words)
    return text


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"


def _clean(words: str) -> str:
    """Drop the control characters XML cannot hold; the tree escapes the rest."""
    return "".join(
        c for c in words if c in "\t\n" or (c >= " " and not "\ud800" <= c <= "\udfff")
    )


def _n(value: float) -> str:
    """Return a number to a hundredth of a pixel, without useless zeros."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
