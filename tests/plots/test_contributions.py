import numpy as np
import pytest

from mercer.errors import InputError
from mercer.plots import Bars, Line, Text, Whiskers, contributions, figure


def bars(panel):
    return next(m for m in panel.marks if isinstance(m, Bars))


def test_parts_are_per_cent_of_the_whole_largest_first():
    panel = contributions([1.0, 3.0, 6.0], list("abc"))
    assert bars(panel).length == pytest.approx((60, 30, 10))
    assert [label for _, label in panel.axes.y_ticks] == ["c", "b", "a"]
    assert "together 100.0 %" in panel.axes.note


def test_negative_parts_stay_negative():
    panel = contributions([-1.0, 5.0], list("ab"))
    assert bars(panel).length == pytest.approx((125, -25))


def test_only_the_largest_are_drawn_and_it_says_so():
    panel = contributions(np.arange(1.0, 41.0), [f"n{i}" for i in range(40)], most=5)
    assert len(bars(panel).at) == 5
    assert panel.axes.note.startswith("the 5 largest of 40, together")


def test_the_line_of_equal_parts_stands_where_it_says():
    panel = contributions([1.0, 3.0], list("ab"), expected=0.5)
    line = next(m for m in panel.marks if isinstance(m, Line) and m.dashed)
    assert line.x == (50.0, 50.0)
    assert any(isinstance(m, Text) and "50 %" in m.words for m in panel.marks)


def test_intervals_are_whiskers_in_the_same_order():
    panel = contributions([1.0, 3.0], list("ab"), lower=[0.5, 2.5], upper=[1.5, 3.5])
    whiskers = next(m for m in panel.marks if isinstance(m, Whiskers))
    assert np.allclose([whiskers.lower, whiskers.upper], [[62.5, 12.5], [87.5, 37.5]])
    assert whiskers.horizontal


def test_nothing_to_share_draws():
    panel = contributions([0.0, 0.0], list("ab"))
    assert "nothing to share" in panel.axes.note
    assert "<svg" in figure([panel])


@pytest.mark.parametrize(
    "arguments",
    [
        {"parts": [1.0], "names": ["a", "b"]},
        {"parts": [np.nan], "names": ["a"]},
        {"parts": [1.0], "names": ["a"], "lower": [1.0, 2.0], "upper": [1.0, 2.0]},
    ],
)
def test_what_does_not_fit_is_refused(arguments):
    with pytest.raises(InputError):
        contributions(**arguments)
