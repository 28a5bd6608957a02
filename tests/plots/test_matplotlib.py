import sys
from typing import get_args
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from mercer import plots
from mercer.errors import InputError, MissingExtraError
from mercer.plots import (
    Arrows,
    Axes,
    Band,
    Bars,
    Line,
    Panel,
    Points,
    Text,
    Whiskers,
    draw,
    figure,
)
from mercer.plots._marks import Mark
from mercer.plots.drawing import _matplotlib as writer
from mercer.plots.drawing._svg import WRITERS as SVG_WRITERS

SVG = "{http://www.w3.org/2000/svg}"
number = st.floats(-5, 5)
KINDS = (Points, Line, Bars, Arrows, Band, Whiskers, Text)


@st.composite
def marks(draw_one):
    kind = draw_one(st.sampled_from(KINDS))
    count = draw_one(st.integers(1, 4))
    some = st.lists(number, min_size=count, max_size=count).map(tuple)
    a, b, c = draw_one(some), draw_one(some), draw_one(some)
    if kind is Text:
        return Text(a[0], b[0], "words", "#123456")
    return kind(a, b, c, "#123456") if kind in (Band, Whiskers) else kind(a, b, "#123456")


def count_in_matplotlib(ax):
    """Return how many artists of each kind of mark stand on axes without a note or legend."""
    of = lambda kind, where: sum(isinstance(a, kind) for a in where)  # noqa: E731
    return {
        Points: of(PathCollection, ax.collections),
        Line: len(ax.lines),
        Bars: of(Rectangle, ax.patches),
        Arrows: of(FancyArrowPatch, ax.patches),
        Band: of(PolyCollection, ax.collections),
        Whiskers: of(LineCollection, ax.collections),
        Text: len(ax.texts),
    }


def count_in_svg(panel):
    """Return how many elements in the colour of the marks there are, by kind."""
    # Marks have a group, a stroke or a fill of their own colour, which the frame has not.
    group = ET.fromstring(figure([panel])).find(f"{SVG}g")
    own = [e for e in group.iter() if "#123456" in (e.get("fill"), e.get("stroke"))]
    tags = [e.tag.removeprefix(SVG) for e in own]
    inner = [child.tag for e in own if e.tag == f"{SVG}g" for child in e]
    arrows = [e for e in own if e.tag == f"{SVG}g" and e.get("stroke")]
    clouds = [e for e in own if e.get("fill-opacity") == "0.75"]
    return {
        Points: len(clouds),
        Line: tags.count("polyline"),
        Bars: inner.count(f"{SVG}rect"),
        Arrows: sum(len(e) for e in arrows),
        Band: tags.count("polygon"),
        Whiskers: tags.count("path"),
        Text: tags.count("text"),
    }


def expected(drawn):
    found = dict.fromkeys(KINDS, 0)
    for mark in drawn:
        each = {Bars: "at", Arrows: "x"}.get(type(mark))
        found[type(mark)] += len(getattr(mark, each)) if each else 1
    return found


def test_both_writers_know_every_kind_of_mark():
    assert set(writer.WRITERS) == set(SVG_WRITERS) == set(get_args(Mark)) == set(KINDS)


@settings(max_examples=40, deadline=None)
@given(st.lists(marks(), max_size=6))
def test_both_writers_draw_every_mark(drawn):
    panel = Panel(Axes("a panel"), tuple(drawn))
    assert count_in_matplotlib(draw(panel)) == expected(drawn)
    assert count_in_svg(panel) == expected(drawn)


def every_panel():
    rng = np.random.default_rng(0)
    V, Z, lam = np.eye(3), rng.normal(size=(30, 3)), np.array([4.0, 2.0, 1.0])
    return [
        plots.scree(lam, lam, lam, lam / 7, null=[lam - 0.5, lam], k=1),
        plots.shares(lam / 7),
        plots.scores(Z, ["first", "second", "third"] * 10, ellipse=0.9),
        plots.loadings(V, list("abc"), lower=V - 0.1, upper=V + 0.1),
        plots.circle(V, list("abc")),
        plots.biplot(Z, V, lam, list("abc")),
        plots.outlier_map(Z[:, 0] ** 2, Z[:, 1] ** 2, 2.0, 3.0, level=0.95),
        plots.contributions(lam, list("abc"), expected=1 / 3),
    ]


@pytest.mark.parametrize("which", range(8))
def test_every_panel_becomes_a_picture_with_its_words_inside(tmp_path, which):
    panel = every_panel()[which]
    ax = draw(panel)
    ax.figure.savefig(tmp_path / "panel.png")
    assert (tmp_path / "panel.png").stat().st_size > 4000
    whole = ax.figure.bbox
    for text in [*ax.texts, ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label]:
        if text.get_text():
            box = text.get_window_extent()
            assert whole.x0 - 1 <= box.x0 <= box.x1 <= whole.x1 + 1, text.get_text()
            assert whole.y0 - 1 <= box.y0 <= box.y1 <= whole.y1 + 1, text.get_text()
    assert ax.get_title(loc="left") == panel.axes.title


def test_marks_stand_where_they_are_said_to():
    panel = Panel(
        Axes("a"),
        (
            Points((1.0, 2.0), (3.0, 4.0), "#0072b2"),
            Bars((1.0, 2.0), (-1.0, 2.0), "#0072b2", horizontal=True),
            Arrows((1.0,), (2.0,), "#0072b2"),
            Whiskers((1.0,), (2.0,), (3.0,), "#0072b2", horizontal=True),
        ),
    )
    ax = draw(panel)
    assert np.array_equal(ax.collections[0].get_offsets(), [[1, 3], [2, 4]])
    widths = [p.get_width() for p in ax.patches if isinstance(p, Rectangle)]
    assert widths == [-1.0, 2.0]
    arrow = next(p for p in ax.patches if isinstance(p, FancyArrowPatch))
    assert arrow._posA_posB == [(0.0, 0.0), (1.0, 2.0)]
    (line,) = ax.collections[1].get_segments()
    assert np.array_equal(line, [[2, 1], [3, 1]])


def test_units_and_roots_are_kept_on_the_page():
    ax = draw(plots.circle(np.eye(2), ["a", "b"]))
    ax.figure.draw_without_rendering()
    corner, right, up = ax.transData.transform([(0, 0), (1, 0), (0, 1)])
    assert right[0] - corner[0] == pytest.approx(up[1] - corner[1], rel=1e-6)
    ax = draw(plots.outlier_map([1.0, 4.0, 9.0], [0.0, 1.0, 1.0], 5.0, 2.0))
    at = [ax.transData.transform((v, 0.0))[0] for v in (0.0, 1.0, 4.0, 9.0)]
    assert np.allclose(np.diff(at), at[1] - at[0])


def test_given_axes_are_drawn_on_and_keep_what_they_had():
    other = Figure(figsize=(5, 4))
    ax = other.add_subplot()
    (kept,) = ax.plot([0, 1], [0, 1])
    assert draw(every_panel()[2], ax=ax) is ax
    assert kept in ax.lines
    assert len(ax.collections) == 3
    left, _ = Figure().subfigures(1, 2)
    ax = left.add_subplot()
    assert draw(every_panel()[2], ax=ax) is ax


def test_shared_axes_draw_and_nothing_global_is_touched():
    dark = Figure(figsize=(8, 4), facecolor="black")
    for ax in dark.subplots(1, 2, sharex=True, sharey=True, subplot_kw={"facecolor": "black"}):
        draw(every_panel()[5], ax=ax)
    dark.draw_without_rendering()
    colours = {text.get_color() for text in ax.texts}
    assert "#222222" not in colours
    assert "#eeeeee" in colours
    before, loaded = dict(mpl.rcParams), "matplotlib.pyplot" in sys.modules
    for panel in every_panel():
        draw(panel)
    assert dict(mpl.rcParams) == before
    if not loaded:
        assert "matplotlib.pyplot" not in sys.modules


def test_words_are_never_taken_for_formulas(tmp_path):
    nasty = r"$\frac{1}$ _a^b\n <b>&"
    Z = np.arange(12.0).reshape(6, 2)
    names = [nasty, "_hidden"]
    panels = [
        plots.scores(Z, ["_a", nasty] * 3, [nasty] * 6),
        plots.loadings(np.eye(2), names),
        plots.biplot(Z, np.eye(2), [2.0, 1.0], names),
        Panel(Axes(nasty, nasty, nasty, nasty), (Text(0.0, 0.0, nasty, "#222222"),)),
    ]
    drawn = [draw(panel) for panel in panels]
    for ax in drawn:
        ax.figure.savefig(tmp_path / "panel.png")
    assert drawn[3].texts[-1].get_text() == nasty
    with mpl.rc_context({"text.usetex": True}):
        assert not any(text.get_usetex() for text in draw(panels[2]).texts)
    assert [t.get_text() for t in drawn[0].get_legend().get_texts()] == [nasty, "_a"]


def test_long_notes_are_broken_and_what_is_no_panel_refused():
    ax = Figure(figsize=(3, 3)).add_subplot()
    panel = Panel(
        Axes("a", note="one unit is equally long in both ways; " * 4),
        (Points((0.0,), (0.0,), "#0072b2"),),
    )
    draw(panel, ax=ax)
    (note,) = ax.texts
    assert note.get_text().count("\n") >= 2
    assert note.get_window_extent().width < 1.05 * ax.get_window_extent().width
    sheet = Figure()
    with pytest.raises(InputError, match=r"axes\[0\]"):
        draw(every_panel()[0], ax=sheet.subplots(1, 2))
    with pytest.raises(InputError, match="one matplotlib Axes"):
        draw(every_panel()[0], ax=sheet)
    with pytest.raises(InputError, match="this is none"):
        draw(every_panel())


def test_matplotlib_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mercer\[plot\]'"):
        draw(Panel(Axes("a")))
    for name in [n for n in sys.modules if n.startswith("matplotlib")]:
        monkeypatch.setitem(sys.modules, name, None)
    assert len(figure(every_panel())) > 10_000
