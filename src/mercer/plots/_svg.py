"""The SVG writer: panels in, one self-contained picture out; no scripts, no network."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from mercer.errors import InputError
from mercer.plots._frame import NOTE, Frame, clean, frame, short
from mercer.plots._marks import Axes, Panel, Shape
from mercer.plots._palette import GRID, INK, MUTED, PAPER, SOFT
from mercer.plots._svg_marks import draw_mark, outline, px, stroke, words

__all__ = ["figure"]

_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
_GAP = 16.0
_WIDEST = 1500.0


def figure(
    panels: Panel | Sequence[Panel],
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
    panels = [panels] if isinstance(panels, Panel) else list(panels)
    if not panels:
        raise InputError("a figure needs a panel", got="no panels", fix="pass at least one")
    for panel in panels:
        if not isinstance(panel, Panel):
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
    panels: Sequence[Panel], top: float, widest: float
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


def _panel(parent: ET.Element, panel: Panel) -> None:
    """Draw one panel in its own coordinates: frame first, then the marks in order."""
    around = frame(panel)
    for entry, place in zip(panel.axes.legend, around.legend, strict=True):
        _legend_entry(parent, entry, *place)
    _around(parent, panel.axes, around)
    for mark in panel.marks:
        draw_mark(parent, mark, around.x, around.y)


def _around(parent: ET.Element, axes: Axes, around: Frame) -> None:
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
    parent: ET.Element, entry: tuple[str, str, Shape], x: float, y: float
) -> None:
    label, colour, shape = entry
    ET.SubElement(parent, "path", d=outline(shape, x + 4.0, y - 4.0, 4.0), fill=colour)
    words(parent, x + 13.0, y, label, INK)
