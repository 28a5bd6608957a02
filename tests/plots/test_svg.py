import itertools
import math
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InputError
from mercer.plots import Arrows, Axes, Band, Bars, Line, Panel, Points, Text, Whiskers, figure
from mercer.plots._marks import bounds
from mercer.plots.drawing._label_placing import placed
from mercer.plots.drawing._panel_frame import (
    LETTER,
    Scale,
    equalise,
    frame,
    legend_places,
    limits,
    note_lines,
    root_ticks,
    ticks,
)
from mercer.plots.drawing._svg import draw_mark, outline
from mercer.plots.drawing._svg import px as _n

SVG = "{http://www.w3.org/2000/svg}"


def draw(*marks, **axes):
    return ET.fromstring(figure([Panel(Axes("a panel", **axes), marks)]))


def test_the_picture_stands_alone():
    nasty = '<script>alert("1 & 2")</script>\x00\x08'
    tree = draw(Text(0.0, 0.0, nasty, "red"), x_label=nasty)
    words = [t.text for t in tree.iter(f"{SVG}text")]
    assert words.count('<script>alert("1 & 2")</script>') == 2
    assert not list(tree.iter(f"{SVG}script"))
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


def test_a_legend_names_every_style_and_wraps():
    marks = Points((0.0, 1.0), (0.0, 1.0), "red")
    legend = (("one", "red", "circle"), ("two", "blue", "square"))
    tree = draw(marks, legend=legend, note="n")
    places = {t.text: (float(t.get("x")), float(t.get("y"))) for t in tree.iter(f"{SVG}text")}
    assert places["one"][0] < places["two"][0]
    assert places["one"][1] > places["n"][1] + 10
    assert {p.get("fill") for p in tree.iter(f"{SVG}path")} >= {"red", "blue"}
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
    panels = [Panel(Axes(f"p{i}"), width=600.0, height=100.0) for i in range(3)]
    assert ET.fromstring(figure(panels, widest=700.0)).get("viewBox") == "0 0 632 364"
    assert ET.fromstring(figure(panels, widest=10.0)).get("viewBox") == "0 0 632 364"
    with pytest.raises(InputError, match="needs a panel"):
        figure([])
    panel = Panel(Axes("a panel"))
    assert figure(panel) == figure([panel])
    with pytest.raises(InputError, match="made of panels"):
        figure(["scree"])


@pytest.mark.parametrize(("value", "text"), [(1.0, "1"), (0.126, "0.13"), (-0.001, "0")])
def test_numbers_are_short(value, text):
    assert _n(value) == text


X, Y = Scale(-1.0, 1.0, 0.0, 200.0), Scale(-1.0, 1.0, 200.0, 0.0)


def drawn(mark):
    root = ET.Element("g")
    draw_mark(root, mark, X, Y)
    return root


def numbers(path):
    return [float(v) for v in re.findall(r"-?[0-9.]+", path)]


def test_an_arrow_goes_from_the_origin_to_its_tip():
    (group,) = drawn(Arrows((1.0, 0.0), (0.0, -0.5), "red", ("right", "down")))
    right, down = group
    assert numbers(right.get("d"))[:2] == [100.0, 100.0]
    assert numbers(right.get("d"))[4:6] == [200.0, 100.0]
    assert numbers(down.get("d"))[4:6] == [100.0, 150.0]
    assert [a.find("title").text for a in group] == ["right", "down"]
    (group,) = drawn(Arrows((0.02, 0.0), (0.0, 0.0), "red"))
    short, none = (numbers(a.get("d")) for a in group)
    assert short[2] == pytest.approx(101.0)
    assert all(math.isfinite(v) for v in none)


def test_bands_lines_and_words_are_drawn():
    (area,) = drawn(Band((0.0, 1.0), (-1.0, -1.0), (1.0, 0.0), "red", "noise"))
    assert area.get("points") == "100,0 200,100 200,200 100,200"
    assert area.find("title").text == "noise"
    (line,) = drawn(Line((0.0, 1.0), (0.0, 1.0), "red", title="limit & more"))
    assert line.find("title").text == "limit & more"
    (word,) = drawn(Text(0.0, 0.0, "here", "red"))
    assert word.get("paint-order") == "stroke"


def test_shapes_look_about_alike_in_size():
    def area(shape):
        if shape == "circle":
            return math.pi
        value = numbers(outline(shape, 0.0, 0.0, 100.0))
        if shape == "square":
            return value[2] * value[3] / 1e4
        width = {"triangle": value[2], "diamond": value[2]}[shape]
        height = value[3]
        return {"triangle": width * height, "diamond": 2 * width * height}[shape] / 1e4

    sizes = [area(s) for s in ("circle", "square", "triangle", "diamond")]
    assert max(sizes) < 1.1 * min(sizes)


CLOUD = (Points((0.0, 10.0), (0.0, 4.0), "red"),)


def test_limits_notes_and_legends():
    assert limits(Panel(Axes("a"), CLOUD)) == ((-0.5, 10.5), (-0.2, 4.2))
    given = Panel(Axes("a", x_range=(1.0, 2.0)), CLOUD)
    assert limits(given)[0] == (1.0, 2.0)
    bars = Panel(Axes("a"), (Bars((1.0, 2.0), (1.0, 3.0), "red"),))
    assert limits(bars)[1] == (0.0, pytest.approx(3.15))
    flat = Panel(Axes("a"), (Bars((1.0, 2.0), (-1.0, -3.0), "red", horizontal=True),))
    assert limits(flat)[0] == (pytest.approx(-3.15), 0.0)
    lines = note_lines(Axes("a", note="one two three four five " * 5), 300.0)
    assert len(lines) > 2
    assert max(map(len, lines)) < 60
    legend = tuple(("x" * 10, "red", "circle") for _ in range(5))
    places = legend_places(Axes("a", legend=legend), 300.0)
    assert [row for _, row in places] == [0, 0, 0, 1, 1]
    assert places[3][0] == 0.0


def test_words_above_and_labels_beside_push_the_marks():
    plain = frame(Panel(Axes("a"), CLOUD)).y.stop
    noted = frame(Panel(Axes("a", note="n"), CLOUD)).y.stop
    both = frame(Panel(Axes("a", note="n", legend=(("g", "red", "circle"),)), CLOUD)).y.stop
    assert plain < noted < both
    few = frame(Panel(Axes("a", y_ticks=((0.0, "a"),)), CLOUD)).x.start
    many = frame(Panel(Axes("a", y_ticks=((0.0, "a" * 20),)), CLOUD)).x.start
    most = frame(Panel(Axes("a", y_ticks=((0.0, "a" * 200),)), CLOUD)).x.start
    assert few < many < most < 200
    found = frame(Panel(Axes("a", root=True, x_range=(0, 100), y_range=(0, 100)), CLOUD))
    assert [label for _, label in found.x_ticks] == ["0", "5", "20", "50", "100"]
    assert found.x.root
    across, along = frame(Panel(Axes("a", equal=True), CLOUD)).units
    assert across == pytest.approx(along)


EMPTY = Panel(Axes("a", x_range=(-1.0, 1.0), y_range=(-1.0, 1.0), equal=True), (), 500.0, 500.0)


def boxes(panel, labels):
    around = frame(panel)
    found = []
    for label in labels:
        x, y = around.x(label.x), around.y(label.y)
        width = LETTER * label.size / 11 * len(label.words)
        left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor] * width
        found.append((left, y - 0.6 * label.size, left + width, y + 0.6 * label.size))
    return found


def overlap(a, b):
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    return wide > 1e-6 and high > 1e-6


@pytest.mark.parametrize("outward", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_labels_never_lie_on_each_other_and_stay_inside(seed, outward):
    rng = np.random.default_rng(seed)
    points = [tuple(p) for p in rng.uniform(-1, 1, size=(60, 2))]
    labels = placed(EMPTY, points, [f"name {i}" for i in range(60)], "red", outward=outward)
    found = boxes(EMPTY, labels)
    assert len(labels) > 30
    assert not any(overlap(a, b) for a, b in itertools.combinations(found, 2))
    around = frame(EMPTY)
    assert min(box[0] for box in found) >= around.x(-1.0) - 2.1
    assert max(box[2] for box in found) <= around.x(1.0) + 8.1


def test_labels_keep_off_and_find_their_place():
    points = [(0.0, 0.0)] * 100
    labels = placed(EMPTY, points, [f"name {i}" for i in range(100)], "red")
    assert labels[0].words == "name 0"
    assert len(labels) < 40
    tips = [(0.5, 0.0), (-0.5, 0.0), (0.0, 0.5), (0.0, -0.5)]
    right, left, up, down = placed(EMPTY, tips, list("abcd"), "red", outward=True)
    assert (right.anchor, left.anchor, up.anchor) == ("start", "end", "middle")
    assert right.x > 0.5
    assert left.x < -0.5
    assert up.y > 0.5
    assert down.y < -0.5
    labels = placed(EMPTY, [(5.0, 0.0), (0.0, 0.0), (0.0, 0.0)], ["far", "", "x" * 50], "red")
    assert [label.words for label in labels] == ["x" * 13 + "…" + "x" * 6]
    right = [(0.05 + 0.02 * i, 0.0) for i in range(10)]
    (label,) = placed(EMPTY, [(0.0, 0.0)], ["a name"], "red", avoid=right)
    box = boxes(EMPTY, [label])[0]
    around = frame(EMPTY)
    inside = [p for p in right if box[0] < around.x(p[0]) < box[2]]
    assert not [p for p in inside if box[1] < around.y(p[1]) < box[3]]


labels = st.floats(-1e6, 1e6)


@given(labels, st.floats(1e-3, 1e6), labels, st.floats(1e-3, 1e6))
def test_equal_units_are_equal_and_lose_nothing(x0, dx, y0, dy):
    (a, b), (c, d) = equalise((x0, x0 + dx), (y0, y0 + dy), 300.0, 200.0)
    assert math.isclose((b - a) / 300, (d - c) / 200, rel_tol=1e-6)
    slack = 1e-9 * (abs(x0) + dx + abs(y0) + dy)
    assert a <= x0 + slack
    assert b >= x0 + dx - slack
    assert c <= y0 + slack
    assert d >= y0 + dy - slack


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_ticks_lie_inside_are_evenly_spaced_and_few(low, length):
    high = low + length
    if high - low < 1e-9 * abs(low):
        return  # nothing between two neighbouring numbers
    places = [place for place, _ in ticks(low, high)]
    slack = 1e-6 * length
    assert 2 <= len(places) <= 8
    assert all(low - slack <= p <= high + slack for p in places)
    steps = [b - a for a, b in itertools.pairwise(places)]
    assert max(steps) - min(steps) <= 1e-6 * max(steps) + 4e-16 * max(map(abs, places))


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.0, 1.0, ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-30.0, 30.0, ["-30", "-20", "-10", "0", "10", "20", "30"]),
        (0.0, 1e6, ["0", "2e+05", "4e+05", "6e+05", "8e+05", "1e+06"]),
        (0.0, 3e-6, ["0", "5e-07", "1e-06", "1.5e-06", "2e-06", "2.5e-06", "3e-06"]),
    ],
)
def test_labels_are_short(low, high, labels):
    assert [label for _, label in ticks(low, high)] == labels


@given(st.floats(1e-6, 1e9), st.floats(0, 1))
def test_a_root_scale_is_straight_in_the_root_and_goes_back(high, share):
    scale = Scale(0.0, high, 10.0, 110.0, root=True)
    value = high * share**2
    assert scale(value) == pytest.approx(10 + 100 * share)
    assert scale.back(scale(value)) == pytest.approx(value, abs=1e-9 * high)
    straight = Scale(-high, high, 110.0, 10.0)
    assert straight.back(straight(value)) == pytest.approx(value, abs=1e-9 * high)


def test_the_ends_of_a_root_scale():
    assert root_ticks(0.0, 0.0) == ((0.0, "0"),)
    scale = Scale(0.0, 4.0, 0.0, 100.0, root=True)
    assert scale(-1.0) == 0.0
    assert scale.back(-50.0) == 0.0


@given(st.floats(1e-6, 1e9))
def test_ticks_of_a_root_scale_are_few_and_stand_apart(high):
    places = [place for place, _ in root_ticks(0.0, high)]
    assert places[0] == 0.0
    assert 3 <= len(places) <= 7
    assert places[-1] <= high * (1 + 1e-9)
    apart = [math.sqrt(b) - math.sqrt(a) for a, b in itertools.pairwise(places)]
    assert min(apart) > 0.1 * math.sqrt(high)


def test_bounds_cover_every_mark():
    marks = (Points((0.0, 2.0), (1.0, 3.0), "red"), Line((-1.0, 1.0), (0.0, 0.0), "red"))
    assert bounds(marks) == ((-1.0, 2.0), (0.0, 3.0))
    assert bounds((Text(9.0, 9.0, "far away", "red"),)) == ((0.0, 1.0), (0.0, 1.0))
    assert bounds((Points((2.0,), (2.0,), "red"),)) == ((1.5, 2.5), (1.5, 2.5))
    assert bounds((Arrows((2.0,), (-1.0,), "red"),)) == ((0.0, 2.0), (-1.0, 0.0))
    assert bounds((Band((1.0, 2.0), (0.0, 1.0), (3.0, 2.0), "red"),)) == (
        (1.0, 2.0),
        (0.0, 3.0),
    )
    lying = Whiskers((1.0, 3.0), (-1.0, 0.0), (2.0, 5.0), "red", horizontal=True)
    assert bounds((lying,)) == ((-1.0, 5.0), (1.0, 3.0))
    upright = Whiskers((1.0, 3.0), (-1.0, 0.0), (2.0, 5.0), "red")
    assert bounds((upright,)) == ((1.0, 3.0), (-1.0, 5.0))
    assert Panel(Axes("empty")).marks == ()


@pytest.mark.parametrize("horizontal", [False, True])
def test_bounds_of_bars_reach_zero_and_their_edges(horizontal):
    across, along = (0.5, 2.5), (-3.0, 0.0)
    got = bounds((Bars((1.0, 2.0), (-1.0, -3.0), "red", horizontal, thickness=1.0),))
    assert got == ((along, across) if horizontal else (across, along))


def test_a_panel_shows_itself_drawn_and_says_little():
    many = tuple(map(float, range(5000)))
    panel = Panel(Axes("a </svg> panel"), (Points(many, many, "red"),))
    assert panel._repr_svg_() == figure(panel)
    assert repr(panel) == "<Panel 'a </svg> panel': 1 marks, 400 x 440 pixels>"
