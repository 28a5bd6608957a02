import math
import re
from xml.etree import ElementTree as ET

import pytest

from mercer.plots import Arrows, Band, Line, Text
from mercer.plots.drawing._panel_frame import Scale
from mercer.plots.drawing._svg import draw_mark, outline, px

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


def test_a_short_arrow_has_a_short_head_and_none_at_all_is_no_error():
    (group,) = drawn(Arrows((0.02, 0.0), (0.0, 0.0), "red"))
    short, none = (numbers(a.get("d")) for a in group)
    assert short[2] == pytest.approx(101.0)
    assert all(math.isfinite(v) for v in none)


def test_a_band_goes_there_above_and_back_below():
    (area,) = drawn(Band((0.0, 1.0), (-1.0, -1.0), (1.0, 0.0), "red", "noise"))
    assert area.get("points") == "100,0 200,100 200,200 100,200"
    assert area.find("title").text == "noise"


def test_lines_carry_their_title_and_words_a_halo():
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


def test_numbers_are_short():
    assert [px(v) for v in (1.0, -0.001, 2.345, 10.0)] == ["1", "0", "2.35", "10"]
