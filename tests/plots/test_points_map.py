"""Maps of named points: what is drawn where, what is labelled, what is refused."""

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.plots import Line, PointKind, Points, Text, figure, points_map

RNG = np.random.default_rng(0)


def labels(panel):
    return [mark.words for mark in panel.marks if isinstance(mark, Text)]


def test_every_point_is_drawn_in_the_style_of_its_kind():
    a, b = RNG.normal(size=(5, 2)), RNG.normal(size=(3, 2))
    kinds = [PointKind("rows", a, list("abcde")), PointKind("columns", b, list("xyz"))]
    panel = points_map(kinds, "Map", "right", "up")
    marks = [mark for mark in panel.marks if isinstance(mark, Points)]
    for mark, points in zip(marks, (a, b), strict=True):
        assert np.allclose(np.array([mark.x, mark.y]).T, points)
    assert marks[0].colour != marks[1].colour
    assert marks[0].shape != marks[1].shape
    assert [entry[0] for entry in panel.axes.legend] == ["rows", "columns"]
    assert panel.axes.equal


def test_the_heaviest_of_each_kind_are_labelled_first():
    far = np.arange(200.0).reshape(100, 2) * 10
    weight = np.arange(100.0)
    kinds = [
        PointKind("a", far, [f"a{i}" for i in range(100)], weight),
        PointKind("b", far + 5000, [f"b{i}" for i in range(100)], -weight),
    ]
    said = labels(points_map(kinds, "Map", "x", "y", labelled=4))
    assert set(said) <= {"a99", "a98", "b0", "b1"}
    assert len(said) >= 2


def test_kinds_may_be_without_labels():
    kinds = [
        PointKind("named", RNG.normal(size=(3, 2)), list("abc")),
        PointKind("mute", RNG.normal(size=(3, 2)), list("xyz"), labelled=False),
    ]
    panel = points_map(kinds, "Map", "x", "y")
    assert set(labels(panel)) <= set("abc")
    assert panel.marks[1].titles == ("x", "y", "z")


def test_outlines_take_the_colour_of_their_kind():
    kinds = [PointKind("a", np.zeros((1, 2)), ["a"]), PointKind("b", np.ones((1, 2)), ["b"])]
    panel = points_map(kinds, "Map", "x", "y", outlines=[([0, 1], [0, 1], 1)])
    line = next(mark for mark in panel.marks if isinstance(mark, Line))
    assert line.colour == panel.marks[1].colour


def test_a_span_holds_for_both_axes():
    panel = points_map([PointKind("a", [[0.2, 0.9]], ["a"])], "M", "x", "y", span=(0, 1))
    assert panel.axes.x_range == panel.axes.y_range == (0, 1)
    assert labels(panel) == ["a"]


def test_names_are_escaped_in_the_drawing():
    kind = PointKind("<b>", [[0.0, 0.0], [1.0, 1.0]], ["</svg><script>", "&"])
    text = figure([points_map([kind], "T", "x", "y")])
    assert "<script" not in text


@pytest.mark.parametrize("points", [np.zeros((2, 3)), np.zeros((3, 2)), np.zeros(4)])
def test_points_without_two_coordinates_or_a_name_are_refused(points):
    with pytest.raises(InputError, match="two coordinates and a name"):
        points_map([PointKind("a", points, ["a", "b"])], "M", "x", "y")
