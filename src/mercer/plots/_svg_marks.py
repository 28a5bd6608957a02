"""The marks as SVG elements: one function for each kind."""

import math
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from mercer.plots._frame import clean
from mercer.plots._marks import (
    Arrows,
    Band,
    Bars,
    Line,
    Mark,
    Points,
    Shape,
    Text,
    Whiskers,
)
from mercer.plots._palette import PAPER
from mercer.plots._scale import Scale

__all__ = ["WRITERS", "draw_mark", "outline", "px", "stroke", "words"]

_TITLED = 400  # above this many marks a hover text each would outweigh the picture
_HEAD = 7.0  # length of the head of an arrow, in pixels


def draw_mark(parent: ET.Element, mark: Mark, x: Scale, y: Scale) -> None:
    """Append the elements of one mark, whatever its kind."""
    WRITERS[type(mark)](parent, mark, x, y)


def _points(parent: ET.Element, mark: Points, x: Scale, y: Scale) -> None:
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


def outline(shape: Shape, x: float, y: float, r: float) -> str:
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


def _bars(parent: ET.Element, mark: Bars, x: Scale, y: Scale) -> None:
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


def _line(parent: ET.Element, mark: Line, x: Scale, y: Scale) -> None:
    at = tuple(map(x, mark.x)), tuple(map(y, mark.y))
    line = stroke(parent, *at, mark.colour, mark.width, dashed=mark.dashed)
    if mark.title:
        ET.SubElement(line, "title").text = clean(mark.title)


def _arrows(parent: ET.Element, mark: Arrows, x: Scale, y: Scale) -> None:
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


def _band(parent: ET.Element, mark: Band, x: Scale, y: Scale) -> None:
    there = [(x(a), y(b)) for a, b in zip(mark.x, mark.upper, strict=True)]
    back = [(x(a), y(b)) for a, b in zip(mark.x, mark.lower, strict=True)]
    places = " ".join(f"{px(a)},{px(b)}" for a, b in [*there, *reversed(back)])
    area = ET.SubElement(parent, "polygon", points=places, fill=mark.colour)
    area.set("fill-opacity", "0.35")
    if mark.title:
        ET.SubElement(area, "title").text = clean(mark.title)


def _whiskers(parent: ET.Element, mark: Whiskers, x: Scale, y: Scale) -> None:
    path = ""
    for at, low, high in zip(mark.at, mark.lower, mark.upper, strict=True):
        if mark.horizontal:
            path += f"M{px(x(low))} {px(y(at))}H{px(x(high))}"
        else:
            path += f"M{px(x(at))} {px(y(low))}V{px(y(high))}"
    line = ET.SubElement(parent, "path", d=path, stroke=mark.colour, fill="none")
    line.set("stroke-width", px(mark.width))


def _text(parent: ET.Element, mark: Text, x: Scale, y: Scale) -> None:
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
    Points: _points,
    Line: _line,
    Bars: _bars,
    Arrows: _arrows,
    Band: _band,
    Whiskers: _whiskers,
    Text: _text,
}
