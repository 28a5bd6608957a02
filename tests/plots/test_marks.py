import dataclasses

import pytest

from mercer.plots import Arrows, Axes, Band, Bars, Line, Panel, Points, Text, Whiskers, figure
from mercer.plots._marks import bounds


def test_marks_are_frozen_values():
    assert Points((0.0,), (1.0,), "red") == Points((0.0,), (1.0,), "red")
    with pytest.raises(dataclasses.FrozenInstanceError):
        Axes("a").title = "b"  # type: ignore[misc]


def test_bounds_cover_points_and_lines():
    marks = (Points((0.0, 2.0), (1.0, 3.0), "red"), Line((-1.0, 1.0), (0.0, 0.0), "red"))
    assert bounds(marks) == ((-1.0, 2.0), (0.0, 3.0))


@pytest.mark.parametrize("horizontal", [False, True])
def test_bounds_of_bars_reach_zero_and_their_edges(horizontal):
    across, along = (0.5, 2.5), (-3.0, 0.0)
    got = bounds((Bars((1.0, 2.0), (-1.0, -3.0), "red", horizontal, thickness=1.0),))
    assert got == ((along, across) if horizontal else (across, along))


def test_bounds_ignore_text_and_never_have_length_zero():
    assert bounds((Text(9.0, 9.0, "far away", "red"),)) == ((0.0, 1.0), (0.0, 1.0))
    assert bounds((Points((2.0,), (2.0,), "red"),)) == ((1.5, 2.5), (1.5, 2.5))


def test_a_panel_may_be_empty():
    assert Panel(Axes("empty")).marks == ()


def test_bounds_cover_arrows_from_the_origin_bands_and_whiskers():
    assert bounds((Arrows((2.0,), (-1.0,), "red"),)) == ((0.0, 2.0), (-1.0, 0.0))
    assert bounds((Band((1.0, 2.0), (0.0, 1.0), (3.0, 2.0), "red"),)) == (
        (1.0, 2.0),
        (0.0, 3.0),
    )
    lying = Whiskers((1.0, 3.0), (-1.0, 0.0), (2.0, 5.0), "red", horizontal=True)
    assert bounds((lying,)) == ((-1.0, 5.0), (1.0, 3.0))
    upright = Whiskers((1.0, 3.0), (-1.0, 0.0), (2.0, 5.0), "red")
    assert bounds((upright,)) == ((1.0, 3.0), (-1.0, 5.0))


def test_a_panel_shows_itself_drawn_and_says_little():
    many = tuple(map(float, range(5000)))
    panel = Panel(Axes("a </svg> panel"), (Points(many, many, "red"),))
    assert panel._repr_svg_() == figure(panel)
    assert repr(panel) == "<Panel 'a </svg> panel': 1 marks, 400 x 440 pixels>"
