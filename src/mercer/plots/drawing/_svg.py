"""The SVG writer: panels in, one self-contained picture out; no scripts, no network.

The marks as SVG elements: one function for each kind.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from mercer.errors import InputError
from mercer.plots import _marks as m
from mercer.plots._palette import GRID, INK, MUTED, PAPER, SOFT
from mercer.plots.drawing._panel_frame import NOTE, PanelFrame, Scale, clean, frame, short

_TITLED = 400  # above this many marks a hover text each would outweigh the picture
_HEAD = 7.0  # length of the head of an arrow, in pixels


def draw_mark(parent: ET.Element, mark: m.Mark, x: Scale, y: Scale) -> None:
    """Append the elements of one mark, whatever its kind."""
    WRITERS[type(mark)](parent, mark, x, y)


def _points(parent: ET.Element, mark: m.Points, x: Scale, y: Scale) -> None:
    """Draw a cloud: one path for many points, one element each where they carry a name."""
    group = ET.SubElement(parent, "g", fill=mark.colour)
    group.set("fill-opacity", "0.75")
    outlines = [
        outline(mark.shape, x(a), y(b), mark.radius)
        for a, b in zip(mark.x, mark.y, strict=True)
    ]
    if not mark.titles or len(outlines) > _TITLED:
        ET.SubElement(group, "path", d="".join(outlines))
        return
    for path, name in zip(outlines, mark.titles, strict=True):
        ET.SubElement(ET.SubElement(group, "path", d=path), "title").text = clean(name)


def outline(shape: m.Shape, x: float, y: float, r: float) -> str:
    """Return the path of one point; the four shapes have about the same area."""
    if shape == "circle":
        arc = f"a{px(r)} {px(r)} 0 1 0"
        return f"M{px(x - r)} {px(y)}{arc} {px(2 * r)} 0{arc} {px(-2 * r)} 0z"
    if shape == "square":
        s = 0.89 * r
        return f"M{px(x - s)} {px(y - s)}h{px(2 * s)}v{px(2 * s)}h{px(-2 * s)}z"
    if shape == "triangle":
        s = 1.17 * r
        return f"M{px(x)} {px(y - s)}l{px(1.15 * s)} {px(2 * s)}h{px(-2.3 * s)}z"
    s = 1.25 * r
    return f"M{px(x)} {px(y - s)}l{px(s)} {px(s)}l{px(-s)} {px(s)}l{px(-s)} {px(-s)}z"


def _bars(parent: ET.Element, mark: m.Bars, x: Scale, y: Scale) -> None:
    group = ET.SubElement(parent, "g", fill=mark.colour)
    half = mark.thickness / 2
    for i, (at, length) in enumerate(zip(mark.at, mark.length, strict=True)):
        if mark.horizontal:
            xs, ys = (x(0.0), x(length)), (y(at - half), y(at + half))
        else:
            xs, ys = (x(at - half), x(at + half)), (y(0.0), y(length))
        bar = ET.SubElement(
            group, "rect", x=px(min(xs)), y=px(min(ys)),
            width=px(abs(xs[1] - xs[0])), height=px(abs(ys[1] - ys[0])),
        )  # fmt: skip
        if mark.titles and len(mark.at) <= _TITLED:
            ET.SubElement(bar, "title").text = clean(mark.titles[i])


def stroke(
    parent: ET.Element,
    xs: Sequence[float],
    ys: Sequence[float],
    colour: str,
    width: float,
    *,
    dashed: bool = False,
) -> ET.Element:
    """Append a broken line through pixels."""
    places = " ".join(f"{px(a)},{px(b)}" for a, b in zip(xs, ys, strict=True))
    line = ET.SubElement(parent, "polyline", points=places, fill="none", stroke=colour)
    line.set("stroke-width", px(width))
    if dashed:
        line.set("stroke-dasharray", "4 3")
    return line


def words(
    parent: ET.Element,
    x: float,
    y: float,
    label: str,
    colour: str,
    *,
    anchor: str = "start",
    size: float = 11.0,
    bold: bool = False,
) -> ET.Element:
    """Append words at a pixel, on the base line."""
    text = ET.SubElement(parent, "text", x=px(x), y=px(y), fill=colour)
    text.set("font-size", px(size))
    if anchor != "start":
        text.set("text-anchor", anchor)
    if bold:
        text.set("font-weight", "600")
    text.text = clean(label)
    return text


def px(value: float) -> str:
    """Return a number to a hundredth of a pixel, without useless zeros."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _line(parent: ET.Element, mark: m.Line, x: Scale, y: Scale) -> None:
    at = tuple(map(x, mark.x)), tuple(map(y, mark.y))
    line = stroke(parent, *at, mark.colour, mark.width, dashed=mark.dashed)
    if mark.title:
        ET.SubElement(line, "title").text = clean(mark.title)


def _arrows(parent: ET.Element, mark: m.Arrows, x: Scale, y: Scale) -> None:
    """Draw shafts and heads; a short arrow gets a short head, so that it still points."""
    group = ET.SubElement(parent, "g", fill=mark.colour, stroke=mark.colour)
    foot = x(0.0), y(0.0)
    for i, (a, b) in enumerate(zip(mark.x, mark.y, strict=True)):
        tip = x(a), y(b)
        length = math.dist(foot, tip)
        head = min(_HEAD, length / 2)
        along = [(t - f) / (length or 1.0) for f, t in zip(foot, tip, strict=True)]
        base = [t - head * u for t, u in zip(tip, along, strict=True)]
        side = [-0.4 * head * along[1], 0.4 * head * along[0]]
        shape = (
            f"M{px(foot[0])} {px(foot[1])}L{px(base[0])} {px(base[1])}"
            f"M{px(tip[0])} {px(tip[1])}L{px(base[0] + side[0])} {px(base[1] + side[1])}"
            f"L{px(base[0] - side[0])} {px(base[1] - side[1])}z"
        )
        arrow = ET.SubElement(group, "path", d=shape)
        arrow.set("stroke-width", px(mark.width))
        if mark.titles:
            ET.SubElement(arrow, "title").text = clean(mark.titles[i])


def _band(parent: ET.Element, mark: m.Band, x: Scale, y: Scale) -> None:
    there = [(x(a), y(b)) for a, b in zip(mark.x, mark.upper, strict=True)]
    back = [(x(a), y(b)) for a, b in zip(mark.x, mark.lower, strict=True)]
    places = " ".join(f"{px(a)},{px(b)}" for a, b in [*there, *reversed(back)])
    area = ET.SubElement(parent, "polygon", points=places, fill=mark.colour)
    area.set("fill-opacity", "0.35")
    if mark.title:
        ET.SubElement(area, "title").text = clean(mark.title)


def _whiskers(parent: ET.Element, mark: m.Whiskers, x: Scale, y: Scale) -> None:
    path = ""
    for at, low, high in zip(mark.at, mark.lower, mark.upper, strict=True):
        if mark.horizontal:
            path += f"M{px(x(low))} {px(y(at))}H{px(x(high))}"
        else:
            path += f"M{px(x(at))} {px(y(low))}V{px(y(high))}"
    line = ET.SubElement(parent, "path", d=path, stroke=mark.colour, fill="none")
    line.set("stroke-width", px(mark.width))


def _text(parent: ET.Element, mark: m.Text, x: Scale, y: Scale) -> None:
    word = words(
        parent, x(mark.x), y(mark.y) + mark.size / 3, mark.words, mark.colour,
        anchor=mark.anchor, size=mark.size, bold=mark.bold,
    )  # fmt: skip
    word.set("stroke", PAPER)
    word.set("stroke-width", "4")
    word.set("stroke-linejoin", "round")
    word.set("paint-order", "stroke")


# One writer for each kind of mark: a kind without one cannot be drawn.
WRITERS: dict[type, Callable[[ET.Element, Any, Scale, Scale], None]] = {
    m.Points: _points,
    m.Line: _line,
    m.Bars: _bars,
    m.Arrows: _arrows,
    m.Band: _band,
    m.Whiskers: _whiskers,
    m.Text: _text,
}


_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
_GAP = 16.0
_WIDEST = 1500.0


def figure(
    panels: m.Panel | Sequence[m.Panel],
    *,
    title: str = "",
    note: str = "",
    widest: float = _WIDEST,
) -> str:
    """Draw panels side by side, wrapping into rows, and return the SVG text.

    Parameters
    ----------
    panels : Panel or sequence of Panel
        Drawn left to right; a new row starts where ``widest`` pixels are full.
    title, note : str
        Words above all panels.
    widest : float
        Pixels of a row of panels; one panel may be wider.

    Returns
    -------
    str
        A complete SVG document.

    Examples
    --------
    >>> from mercer.plots import Axes, Panel, Points
    >>> panel = Panel(Axes("two points"), (Points((0.0, 1.0), (0.0, 1.0), "#0072b2"),))
    >>> figure(panel).startswith("<svg")
    True
    """
    panels = [panels] if isinstance(panels, m.Panel) else list(panels)
    if not panels:
        raise InputError("a figure needs a panel", got="no panels", fix="pass at least one")
    for panel in panels:
        if not isinstance(panel, m.Panel):
            raise InputError(
                "a figure is made of panels",
                got=type(panel).__name__,
                fix="pass what scree_of, scores_of and the other makers return",
            )
    head = (30.0 if title else 0.0) + (20.0 if note else 0.0)
    places, width, height = _layout(panels, head + _GAP, widest)
    svg = ET.Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {px(width)} {px(height)}",
        width=px(width),
        height=px(height),
        role="img",
    )
    svg.set("font-family", _FONT)
    ET.SubElement(svg, "title").text = clean(title or panels[0].axes.title)
    ET.SubElement(svg, "rect", width="100%", height="100%", fill=PAPER)
    if title:
        words(svg, _GAP, 30.0, title, INK, size=18.0, bold=True)
    if note:
        words(svg, _GAP, 30.0 + (20.0 if title else 0.0), note, MUTED, size=12.0)
    for panel, (left, top) in zip(panels, places, strict=True):
        group = ET.SubElement(svg, "g", transform=f"translate({px(left)} {px(top)})")
        _panel(group, panel)
    return ET.tostring(svg, encoding="unicode") + "\n"


def _layout(
    panels: Sequence[m.Panel], top: float, widest: float
) -> tuple[list[tuple[float, float]], float, float]:
    """Place panels in rows; return their corners and the size of the whole."""
    places = []
    left, tallest, width = _GAP, 0.0, 0.0
    for panel in panels:
        if left > _GAP and left + panel.width + _GAP > widest:
            left, top, tallest = _GAP, top + tallest + _GAP, 0.0
        places.append((left, top))
        left += panel.width + _GAP
        width, tallest = max(width, left), max(tallest, panel.height)
    return places, width, top + tallest + _GAP


def _panel(parent: ET.Element, panel: m.Panel) -> None:
    """Draw one panel in its own coordinates: frame first, then the marks in order."""
    around = frame(panel)
    for entry, place in zip(panel.axes.legend, around.legend, strict=True):
        _legend_entry(parent, entry, *place)
    _around(parent, panel.axes, around)
    for mark in panel.marks:
        draw_mark(parent, mark, around.x, around.y)


def _around(parent: ET.Element, axes: m.Axes, around: PanelFrame) -> None:
    """Draw title, labels, ticks, and grid lines where the ticks are round numbers."""
    x, y = around.x, around.y
    left, right, bottom, top = x.start, x.stop, y.start, y.stop
    words(parent, left, 16.0, axes.title, INK, size=13.5, bold=True)
    for i, line in enumerate(around.note):
        words(parent, left, 33.0 + NOTE * i, line, MUTED, size=11.0)
    for value, label in around.x_ticks:
        at = x(value)
        if axes.x_ticks is None:
            stroke(parent, (at, at), (bottom, top), GRID, 1.0)
        words(parent, at, bottom + 15.0, label, MUTED, anchor="middle")
    for value, label in around.y_ticks:
        at = y(value)
        if axes.y_ticks is None:
            stroke(parent, (left, right), (at, at), GRID, 1.0)
        words(parent, left - 6.0, at + 4.0, short(label), MUTED, anchor="end")
    stroke(parent, (left, right), (bottom, bottom), SOFT, 1.0)
    stroke(parent, (left, left), (bottom, top), SOFT, 1.0)
    if axes.x_label:
        words(parent, (left + right) / 2, bottom + 34.0, axes.x_label, INK, anchor="middle")
    if axes.y_label:
        middle = (bottom + top) / 2
        label_ = words(parent, 0.0, 0.0, axes.y_label, INK, anchor="middle")
        label_.set("transform", f"translate(12 {px(middle)}) rotate(-90)")


def _legend_entry(
    parent: ET.Element, entry: tuple[str, str, m.Shape], x: float, y: float
) -> None:
    label, colour, shape = entry
    ET.SubElement(parent, "path", d=outline(shape, x + 4.0, y - 4.0, 4.0), fill=colour)
    words(parent, x + 13.0, y, label, INK)
