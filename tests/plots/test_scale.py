import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.plots.drawing._panel_frame import Scale, equalise, pad, root_ticks, ticks

numbers = st.floats(-1e6, 1e6)


def test_scale_takes_ends_to_ends_and_the_middle_to_the_middle():
    scale = Scale(-1.0, 3.0, 400.0, 0.0)
    assert [scale(v) for v in (-1.0, 1.0, 3.0)] == [400.0, 200.0, 0.0]


def test_pad_widens_both_sides_alike():
    assert pad((0.0, 10.0), 0.1) == (-1.0, 11.0)


@given(numbers, st.floats(1e-3, 1e6), numbers, st.floats(1e-3, 1e6))
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


def test_below_a_root_scale_there_is_nothing():
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


def test_a_root_scale_of_nothing_has_a_tick():
    assert root_ticks(0.0, 0.0) == ((0.0, "0"),)
