"""Paths of an unfolding: all rows or landmarks, priced by points and bars."""

import dataclasses

import pytest

from mercer.planning import KernelCost, Problem, plan
from mercer.planning._embedding_paths import bar_count

GB = 1_000_000_000


def problem(rows, landmarks=None, neighbours=6, **more):
    cost = KernelCost(flops=1.0, centred=False, landmarks=landmarks, bars=neighbours)
    given = {"memory": 16 * GB, "threads": 2, **more}
    return Problem(rows=rows, cols=3, components=2, itemsize=8, kernel=cost, **given)


@pytest.mark.parametrize(
    ("rows", "neighbours", "bars"), [(1000, 6, 3600), (10, 9, 45), (2, 1, 1), (3, 2, 3)]
)
def test_bars_are_foreseen(rows, neighbours, bars):
    assert bar_count(rows, neighbours) == bars


def test_all_rows_or_landmarks():
    assert plan(problem(1000)).chosen.name == "interior"
    made = plan(problem(20_000, 500))
    assert made.chosen.name == "landmarks"
    assert "500 landmarks" in str(made)


def test_price_grows_with_bars_and_falls_with_landmarks():
    few, many = plan(problem(1000)).chosen, plan(problem(1000, neighbours=12)).chosen
    assert many.flops > 4 * few.flops
    assert many.bytes > few.bytes
    assert plan(problem(1000, 200)).chosen.seconds < few.seconds / 5


def test_memory_is_refused_before_anything_is_made():
    with pytest.raises(MemoryError, match="no path fits"):
        plan(dataclasses.replace(problem(5000), memory=GB))
