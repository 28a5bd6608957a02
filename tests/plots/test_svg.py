import itertools
from xml.etree import ElementTree as ET

import pytest

from mercer.errors import InputError
from mercer.plots import Axes, Bars, Line, Panel, Points, Text, figure
from mercer.plots.drawing._svg import px as _n

SVG = "{http://www.w3.org/2000/svg}"


def draw(*marks, **axes):
    return ET.fromstring(figure([Panel(Axes("a panel", **axes), marks)]))


def test_text_is_escaped_and_control_characters_are_dropped():
    nasty = '<script>alert("1 & 2")</script>\x00\x08'
    tree = draw(Text(0.0, 0.0, nasty, "red"), x_label=nasty)
    words = [t.text for t in tree.iter(f"{SVG}text")]
    assert words.count('<script>alert("1 & 2")</script>') == 2
    assert not list(tree.iter(f"{SVG}script"))


def test_the_picture_stands_alone():
    text = figure([Panel(Axes("t"), (Points((0.0,), (0.0,), "red"),))], title="all", note="n")
    body = text.replace("http://www.w3.org/2000/svg", "")
    assert "http" not in body
    assert "url(" not in body
    assert ET.fromstring(text).find(f"{SVG}title").text == "all"


def test_equal_units_draw_a_square_as_a_square():
    corners = ((0.0, 1.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0))
    tree = draw(Line(*corners, "red"), equal=True)
    line = next(p for p in tree.iter(f"{SVG}polyline") if p.get("stroke") == "red")
    places = [tuple(map(float, p.split(","))) for p in line.get("points").split()]
    assert places[1][0] - places[0][0] == pytest.approx(places[0][1] - places[2][1], abs=0.02)


def test_equal_units_have_equal_steps():
    tree = draw(Line((-30.0, 30.0), (-20.0, 20.0), "red"), equal=True)
    words = [float(t.text) for t in tree.iter(f"{SVG}text") if t.text != "a panel"]
    assert {b - a for a, b in itertools.pairwise(words) if b > a} == {10.0}


def test_bars_stand_on_zero_and_grow_with_their_length():
    tree = draw(Bars((1.0, 2.0), (1.0, 2.0), "red", titles=("one", "two")))
    bars = [r for r in tree.iter(f"{SVG}rect") if r.find(f"{SVG}title") is not None]
    assert [b.find(f"{SVG}title").text for b in bars] == ["one", "two"]
    heights = [float(b.get("height")) for b in bars]
    assert heights[1] == pytest.approx(2 * heights[0], abs=0.02)
    feet = [float(b.get("y")) + float(b.get("height")) for b in bars]
    assert feet[0] == pytest.approx(feet[1], abs=0.02)


def test_horizontal_bars_go_left_for_negative_lengths():
    tree = draw(Bars((1.0, 2.0), (-1.0, 1.0), "red", horizontal=True, titles=("a", "b")))
    left, right = (r for r in tree.iter(f"{SVG}rect") if r.find(f"{SVG}title") is not None)
    end = float(left.get("x")) + float(left.get("width"))
    assert end == pytest.approx(float(right.get("x")), abs=0.02)


@pytest.mark.parametrize("shape", ["circle", "square", "triangle", "diamond"])
def test_points_carry_a_name_only_in_small_clouds(shape):
    def titled(n):
        cloud = tuple(map(float, range(n)))
        marks = Points(cloud, cloud, "red", shape, tuple(f"row {i}" for i in range(n)))
        group = next(g for g in draw(marks).iter(f"{SVG}g") if g.get("fill") == "red")
        return len(list(group.iter(f"{SVG}title"))), len(list(group))

    assert titled(3) == (3, 3)
    assert titled(500) == (0, 1)


def test_given_ticks_replace_round_numbers_and_long_ones_are_cut():
    tree = draw(Points((0.0, 1.0), (0.0, 1.0), "red"), y_ticks=((0.0, "low"), (1.0, "x" * 40)))
    words = [t.text for t in tree.iter(f"{SVG}text")]
    assert "low" in words
    assert "x" * 15 + "…" + "x" * 8 in words


def test_a_legend_names_every_style_and_takes_its_own_line():
    marks = Points((0.0, 1.0), (0.0, 1.0), "red")
    legend = (("one", "red", "circle"), ("two", "blue", "square"))
    tree = draw(marks, legend=legend, note="n")
    places = {t.text: (float(t.get("x")), float(t.get("y"))) for t in tree.iter(f"{SVG}text")}
    assert places["one"][0] < places["two"][0]
    assert places["one"][1] > places["n"][1] + 10
    assert {p.get("fill") for p in tree.iter(f"{SVG}path")} >= {"red", "blue"}


def test_a_long_legend_wraps_inside_the_panel():
    legend = tuple((f"group {i} " + "x" * 10, "red", "circle") for i in range(6))
    tree = draw(Points((0.0, 1.0), (0.0, 1.0), "red"), legend=legend)
    words = [t for t in tree.iter(f"{SVG}text") if t.text.startswith("group")]
    assert len({t.get("y") for t in words}) == 3
    assert max(float(t.get("x")) for t in words) < 250


def test_panels_wrap_into_rows():
    panels = [Panel(Axes(f"p{i}"), width=600.0, height=100.0) for i in range(3)]
    tree = ET.fromstring(figure(panels))
    corners = [g.get("transform") for g in tree.findall(f"{SVG}g")]
    assert corners == ["translate(16 16)", "translate(632 16)", "translate(16 132)"]
    assert tree.get("viewBox") == "0 0 1248 248"


def test_rows_of_panels_are_as_wide_as_is_asked():
    panels = [Panel(Axes(f"p{i}"), width=600.0, height=100.0) for i in range(3)]
    assert ET.fromstring(figure(panels, widest=700.0)).get("viewBox") == "0 0 632 364"
    assert ET.fromstring(figure(panels, widest=10.0)).get("viewBox") == "0 0 632 364"


def test_no_panel_is_refused():
    with pytest.raises(InputError, match="needs a panel"):
        figure([])


@pytest.mark.parametrize(("value", "text"), [(1.0, "1"), (0.126, "0.13"), (-0.001, "0")])
def test_numbers_are_short(value, text):
    assert _n(value) == text


def test_one_panel_needs_no_list_and_what_is_none_is_refused():
    panel = Panel(Axes("a panel"))
    assert figure(panel) == figure([panel])
    with pytest.raises(InputError, match="made of panels"):
        figure(["scree"])
