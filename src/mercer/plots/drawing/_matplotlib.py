"""The matplotlib writer: the same marks as artists on an Axes; no global state is touched."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.errors import InputError, MissingExtraError
from mercer.plots import _marks as m
from mercer.plots._palette import GRID, INK, MUTED, NIGHT, PAPER, SOFT
from mercer.plots.drawing import _panel_frame as panel_frame

_INCH = 96.0  # pixels, as in a browser
_POINT = 0.75  # points in a pixel
_SHAPES = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D"}
_AREAS = {"circle": 1.0, "square": 0.79, "triangle": 1.5, "diamond": 0.79}  # to look alike
# A column may be called "$x$" or "a_b": words are words, never formulas.
_PLAIN = {"parse_math": False, "usetex": False}


def draw(panel: m.Panel, ax: Any = None) -> Any:
    """Draw a panel with matplotlib and return its Axes.

    Nothing of ``pyplot`` or ``rcParams`` is read or written beyond what ``ax`` itself brings;
    without ``ax`` a figure of the panel's size is made, which no window manager knows.

    Parameters
    ----------
    panel : Panel
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; what is there stays.

    Returns
    -------
    matplotlib.axes.Axes
        ``draw(panel).figure.savefig("panel.pdf")`` writes it to a file.

    Raises
    ------
    InputError
        Where `panel` is no panel or `ax` no Axes.
    MissingExtraError
        Where matplotlib is not installed.

    Examples
    --------
    >>> from mercer.plots import Axes, Panel, Points
    >>> panel = Panel(Axes("two points"), (Points((0.0, 1.0), (0.0, 1.0), "#0072b2"),))
    >>> ax = draw(panel)
    >>> len(ax.collections)
    1
    """
    _refuse_others(panel, ax)
    around = panel_frame.frame(panel)
    width = around.x.stop - around.x.start
    (x0, x1), (y0, y1) = panel_frame.limits(panel)
    if ax is None:
        ax = _own_axes(panel)
        (x0, x1), (y0, y1) = (around.x.low, around.x.high), (around.y.low, around.y.high)
    else:
        box = ax.get_window_extent()
        width = box.width * _INCH / ax.figure.dpi
        if panel.axes.equal:
            (x0, x1), (y0, y1) = panel_frame.equalise((x0, x1), (y0, y1), box.width, box.height)
    _around(ax, panel.axes, width)
    if panel.axes.root:
        _root_scales(ax, x1, y1)
    for mark in panel.marks:
        WRITERS[type(mark)](ax, replace(mark, colour=_tone(ax, mark.colour)))
    ax.set(xlim=(x0, x1), ylim=(y0, y1), aspect="equal" if panel.axes.equal else "auto")
    return ax


def _refuse_others(panel: Any, ax: Any) -> None:
    if not isinstance(panel, m.Panel):
        raise InputError(
            "a panel is drawn, and this is none",
            got=type(panel).__name__,
            fix="pass what scree_of, scores_of and the other makers return",
        )
    if ax is not None and not hasattr(ax, "set_xlim"):
        raise InputError(
            "a panel is drawn on one matplotlib Axes",
            got=f"ax of type {type(ax).__name__}",
            fix="pick one, such as ax=axes[0], or leave it out",
        )


def _tone(ax: Any, colour: str) -> str:
    """Return a colour as it is, or its lighter twin where the ground of the axes is dark."""
    red, green, blue, opacity = ax.get_facecolor()
    dark = opacity > 0.5 and 0.3 * red + 0.6 * green + 0.1 * blue < 0.4
    return NIGHT.get(colour, colour) if dark else colour


def _own_axes(panel: m.Panel) -> Any:
    Figure = _figure_class()
    size = panel.width / _INCH, panel.height / _INCH
    figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
    figure.get_layout_engine().set(w_pad=8 / _INCH, h_pad=8 / _INCH)
    return figure.add_subplot(facecolor=PAPER)


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "drawing on axes needs matplotlib",
            got=str(error),
            fix="pip install 'mercer[plot]', or write SVG with mercer.plots.figure",
        ) from error
    return Figure


# ---- around the marks -------------------------------------------------------------------


def _around(ax: Any, axes: m.Axes, width: float) -> None:
    """Set title, note, legend, labels, ticks and grid; `width` is that of the panel."""
    lines = panel_frame.note_lines(axes, width)
    rows = panel_frame.legend_places(axes, width)
    below = 17.0 * (rows[-1][1] + 1) if rows else 0.0
    note = 14.0 * len(lines)
    _title(ax, panel_frame.clean(axes.title), lines, below, note)
    if axes.legend:
        _legend(ax, axes, rows)
    style = {"fontsize": 11 * _POINT, "color": _tone(ax, INK), **_PLAIN}
    if axes.x_label:
        ax.set_xlabel(panel_frame.clean(axes.x_label), **style)
    if axes.y_label:
        ax.set_ylabel(panel_frame.clean(axes.y_label), **style)
    for name, given in (("x", axes.x_ticks), ("y", axes.y_ticks)):
        ax.tick_params(axis=name, length=0, labelsize=11 * _POINT, labelcolor=_tone(ax, MUTED))
        if given is None:
            ax.grid(True, axis=name, color=_tone(ax, GRID), linewidth=1.0 * _POINT)
            continue
        ax.grid(False, axis=name)
        setter = ax.set_xticks if name == "x" else ax.set_yticks
        setter(
            [place for place, _ in given],
            [panel_frame.short(label) for _, label in given],
            **_PLAIN,
        )
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set(color=_tone(ax, SOFT), linewidth=1.0 * _POINT)


def _title(ax: Any, title: str, lines: Sequence[str], below: float, note: float) -> None:
    """Put the note above the legend and the title above both."""
    style = {
        "loc": "left",
        "fontsize": 13.5 * _POINT,
        "fontweight": "bold",
        "color": _tone(ax, INK),
    }
    room = 7.0 + below + note + (5.0 if lines else 0.0)
    ax.set_title(title, pad=room * _POINT, **style, **_PLAIN)
    if lines:
        label = ax.annotate(
            "\n".join(lines), (0.0, 1.0), xycoords="axes fraction",
            xytext=(0.0, (6.0 + below) * _POINT), textcoords="offset points",
            ha="left", va="bottom", fontsize=11 * _POINT, color=_tone(ax, MUTED), **_PLAIN,
        )  # fmt: skip
        # The title above keeps room for it; its width must not narrow the panel.
        label.set_in_layout(False)


def _legend(ax: Any, axes: m.Axes, rows: Sequence[tuple[float, int]]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [], [], linestyle="", marker=_SHAPES[shape], color=_tone(ax, colour), markersize=5.5
        )
        for _, colour, shape in axes.legend
    ]
    columns = -(-len(rows) // (rows[-1][1] + 1))
    legend = ax.legend(
        handles, [f"group {i}" for i in range(len(handles))], loc="lower left",
        bbox_to_anchor=(0.0, 1.0), ncols=columns, frameon=False, borderaxespad=0.0,
        borderpad=0.2, handletextpad=0.1, columnspacing=0.9, handlelength=1.4,
        labelspacing=0.3, fontsize=11 * _POINT, labelcolor=_tone(ax, INK),
    )  # fmt: skip
    # Names are set afterwards: one that begins with "_" would be left out.
    for text, (words, *_) in zip(legend.get_texts(), axes.legend, strict=True):
        text.set(text=panel_frame.clean(words), **_PLAIN)
    legend.set_in_layout(False)


def _root_scales(ax: Any, right: float, top: float) -> None:
    ax.set_xscale("function", functions=(_root, np.square))
    ax.set_yscale("function", functions=(_root, np.square))
    for end, setter in ((right, ax.set_xticks), (top, ax.set_yticks)):
        places = panel_frame.root_ticks(0.0, end)
        setter([place for place, _ in places], [label for _, label in places])


def _root(values: Any) -> Any:
    return np.sqrt(np.maximum(values, 0.0))


# ---- marks ------------------------------------------------------------------------------


def _points(ax: Any, mark: m.Points) -> None:
    area = _AREAS[mark.shape] * (2 * mark.radius * _POINT) ** 2
    ax.scatter(
        mark.x, mark.y, s=area, c=mark.colour, marker=_SHAPES[mark.shape], alpha=0.75,
        linewidths=0, zorder=2,
    )  # fmt: skip


def _line(ax: Any, mark: m.Line) -> None:
    dashes = (0, (4, 3)) if mark.dashed else "-"
    ax.plot(
        mark.x, mark.y, color=mark.colour, linewidth=mark.width * _POINT, linestyle=dashes,
        marker="", zorder=2,
    )  # fmt: skip


def _bars(ax: Any, mark: m.Bars) -> None:
    if mark.horizontal:
        ax.barh(mark.at, mark.length, height=mark.thickness, color=mark.colour, zorder=2)
    else:
        ax.bar(mark.at, mark.length, width=mark.thickness, color=mark.colour, zorder=2)


def _arrows(ax: Any, mark: m.Arrows) -> None:
    from matplotlib.patches import FancyArrowPatch

    for tip in zip(mark.x, mark.y, strict=True):
        arrow = FancyArrowPatch(
            (0.0, 0.0), tip, arrowstyle="-|>", mutation_scale=12 * _POINT, shrinkA=0,
            shrinkB=0, color=mark.colour, linewidth=mark.width * _POINT, zorder=2,
        )  # fmt: skip
        ax.add_patch(arrow)


def _band(ax: Any, mark: m.Band) -> None:
    ax.fill_between(
        mark.x, mark.lower, mark.upper, color=mark.colour, alpha=0.35, linewidth=0, zorder=2
    )


def _whiskers(ax: Any, mark: m.Whiskers) -> None:
    lines = ax.hlines if mark.horizontal else ax.vlines
    lines(
        mark.at, mark.lower, mark.upper, colors=mark.colour, linewidth=mark.width * _POINT,
        zorder=2,
    )  # fmt: skip


def _text(ax: Any, mark: m.Text) -> None:
    from matplotlib.patheffects import withStroke

    halo = withStroke(linewidth=4 * _POINT, foreground=ax.get_facecolor())
    side = {"start": "left", "middle": "center", "end": "right"}[mark.anchor]
    ax.text(
        mark.x, mark.y, panel_frame.clean(mark.words), color=mark.colour, ha=side, va="center",
        fontsize=mark.size * _POINT, fontweight="bold" if mark.bold else "normal",
        path_effects=[halo], zorder=2, **_PLAIN,
    )  # fmt: skip


# One writer for each kind of mark: a kind without one cannot be drawn.
WRITERS: dict[type, Callable[[Any, Any], None]] = {
    m.Points: _points,
    m.Line: _line,
    m.Bars: _bars,
    m.Arrows: _arrows,
    m.Band: _band,
    m.Whiskers: _whiskers,
    m.Text: _text,
}
