import pytest

from mercer.plots import Axes, Bars, Panel, Points
from mercer.plots.drawing._panel_frame import (
    frame,
    legend_places,
    limits,
    note_lines,
)

CLOUD = (Points((0.0, 10.0), (0.0, 4.0), "red"),)


def test_limits_have_air_unless_they_are_given_or_bars_stand_there():
    assert limits(Panel(Axes("a"), CLOUD)) == ((-0.5, 10.5), (-0.2, 4.2))
    given = Panel(Axes("a", x_range=(1.0, 2.0)), CLOUD)
    assert limits(given)[0] == (1.0, 2.0)
    bars = Panel(Axes("a"), (Bars((1.0, 2.0), (1.0, 3.0), "red"),))
    assert limits(bars)[1] == (0.0, pytest.approx(3.15))
    flat = Panel(Axes("a"), (Bars((1.0, 2.0), (-1.0, -3.0), "red", horizontal=True),))
    assert limits(flat)[0] == (pytest.approx(-3.15), 0.0)


def test_words_above_push_the_marks_down():
    plain = frame(Panel(Axes("a"), CLOUD)).y.stop
    noted = frame(Panel(Axes("a", note="n"), CLOUD)).y.stop
    both = frame(Panel(Axes("a", note="n", legend=(("g", "red", "circle"),)), CLOUD)).y.stop
    assert plain < noted < both


def test_long_labels_push_the_marks_to_the_right():
    few = frame(Panel(Axes("a", y_ticks=((0.0, "a"),)), CLOUD)).x.start
    many = frame(Panel(Axes("a", y_ticks=((0.0, "a" * 20),)), CLOUD)).x.start
    most = frame(Panel(Axes("a", y_ticks=((0.0, "a" * 200),)), CLOUD)).x.start
    assert few < many < most < 200


def test_equal_units_are_equal():
    across, along = frame(Panel(Axes("a", equal=True), CLOUD)).units
    assert across == pytest.approx(along)


def test_a_root_scale_has_its_own_ticks():
    found = frame(Panel(Axes("a", root=True, x_range=(0, 100), y_range=(0, 100)), CLOUD))
    assert [label for _, label in found.x_ticks] == ["0", "5", "20", "50", "100"]
    assert found.x.root


def test_notes_are_broken_into_lines_and_legends_into_rows():
    lines = note_lines(Axes("a", note="one two three four five " * 5), 300.0)
    assert len(lines) > 2
    assert max(map(len, lines)) < 60
    legend = tuple(("x" * 10, "red", "circle") for _ in range(5))
    places = legend_places(Axes("a", legend=legend), 300.0)
    assert [row for _, row in places] == [0, 0, 0, 1, 1]
    assert places[3][0] == 0.0
