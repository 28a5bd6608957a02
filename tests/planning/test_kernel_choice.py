import dataclasses

import pytest

from mercer.planning import KernelCost, Problem, plan, shuffled_rows
from mercer.planning._kernel_paths import choice_line, shuffled_seconds, with_choice


def problem(shuffled, n=4000, p=10):
    cost = KernelCost(2.0 * p, exponentials=1.0, shuffled=shuffled)
    return Problem(n, p, 5, 8, 10**11, kernel=cost, threads=2)


@pytest.mark.parametrize(
    ("shape", "rows"),
    [((30, 5), 30), ((4000, 5), 500), ((4000, 10_000), 200), ((4000, 10**6), 100)],
)
def test_wide_rows_are_fewer(shape, rows):
    assert shuffled_rows(*shape) == rows


def test_what_choosing_adds():
    known, asked = plan(problem(0)), plan(problem(500))
    assert asked.chosen.name == known.chosen.name
    seconds = shuffled_seconds(problem(500))
    assert 0.05 < seconds < 5
    assert asked.chosen.seconds == pytest.approx(known.chosen.seconds + seconds)
    assert "40 kernel matrices of 500 rows" in str(asked)
    assert "beyond noise" not in str(known)
    assert choice_line(problem(0)) == ""
    assert [why for _, why in asked.rejected] == [why for _, why in known.rejected]


def test_memory_is_that_of_the_larger():
    path = dataclasses.replace(plan(problem(0)).chosen, bytes=10)
    assert with_choice(path, problem(500)).bytes >= 4 * 500 * 500 * 8
    assert with_choice(path, problem(0)).bytes == 10
