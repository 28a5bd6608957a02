import numpy as np
import pytest

from mercer.errors import InputError
from mercer.plots import Line, Points, Text, figure, shares


def test_the_curve_is_the_running_sum():
    drawn = shares([0.6, 0.3, 0.1])
    curve = next(m for m in drawn.marks if isinstance(m, Points))
    assert curve.x == (0.0, 1.0, 2.0, 3.0)
    assert curve.y == pytest.approx((0, 60, 90, 100))


def test_counts_that_reach_a_share_are_written_once_each():
    words = [m.words for m in shares([0.6, 0.3, 0.1]).marks if isinstance(m, Text)]
    assert words == ["50 % with 1", "90 % with 2", "95 % with 3"]


def test_a_share_that_is_not_reached_is_not_written():
    words = [m.words for m in shares([0.4, 0.15]).marks if isinstance(m, Text)]
    assert words == ["50 % with 2"]
    assert "2 components hold 55.0 %" in shares([0.4, 0.15]).axes.note


def test_long_spectra_are_cut_and_say_so():
    drawn = shares(np.full(500, 1 / 500))
    assert "the first 200 of 500" in drawn.axes.note
    assert max(next(m for m in drawn.marks if isinstance(m, Line)).x) <= 200


@pytest.mark.parametrize("ratio", [[1.0], [0.0], np.full(64, 1 / 64)])
def test_one_many_and_none_draw(ratio):
    assert "<svg" in figure([shares(ratio)])


@pytest.mark.parametrize("ratio", [[0.9, 0.9], [-0.1, 0.5], [], [np.nan]])
def test_what_are_no_shares_is_refused(ratio):
    with pytest.raises(InputError):
        shares(ratio)
