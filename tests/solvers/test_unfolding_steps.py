"""One step of the interior point: its system by definition, and that it stays inside."""

import dataclasses

import numpy as np
import pytest

from mercer.solvers import DistanceBars
from mercer.solvers._unfolding import (
    _system,
    directions,
    first_point,
    moved,
    slack_of,
    squares_of,
)


@pytest.fixture
def bars():
    rng = np.random.default_rng(0)
    n = 80  # enough for an iteration, and a system of more than one block
    first = np.concatenate([np.arange(n - d) for d in (1, 2, 3, 4)])
    second = np.concatenate([np.arange(d, n) for d in (1, 2, 3, 4)])
    x = rng.standard_normal((n, 3))
    return DistanceBars(
        first, second, np.sum((x[first] - x[second]) ** 2, axis=1), np.ones(n), 1e-6
    )


def test_squares_of_a_kernel_are_squared_distances():
    x = np.random.default_rng(1).standard_normal((5, 2))
    first, second = np.array([0, 1, 3]), np.array([2, 4, 4])
    want = np.sum((x[first] - x[second]) ** 2, axis=1)
    np.testing.assert_allclose(squares_of(x @ x.T, first, second), want, rtol=1e-12)


def test_system_is_the_product_of_two_tables(bars):
    point = first_point(bars)
    rng = np.random.default_rng(2)
    root = rng.standard_normal((bars.n, bars.n))
    point = dataclasses.replace(point, kernel=root @ root.T)
    a = np.zeros((len(bars.first), bars.n))
    rows = np.arange(len(a))
    a[rows, bars.first], a[rows, bars.second] = 1, -1
    want = (a @ point.kernel @ a.T) * (a @ point.inverse @ a.T)
    np.testing.assert_allclose(np.tril(_system(bars, point)), np.tril(want), rtol=1e-9)


def test_start_is_inside_and_slack_has_the_mean_in_it(bars):
    point = first_point(bars)
    assert np.linalg.eigvalsh(point.kernel)[0] > 0
    np.testing.assert_allclose(point.inverse @ point.slack, np.eye(bars.n), rtol=0, atol=1e-9)
    np.testing.assert_allclose(slack_of(bars, point.tensions).sum(axis=1), 1.0, rtol=1e-9)


def test_a_step_moves_to_the_springs_and_stays_inside(bars):
    point = first_point(bars)
    before = np.abs(bars.of(point.kernel) - bars.squares).max()
    step = directions(bars, point)
    # The linear model of the kernel meets the springs of the new tensions.
    whole = bars.of(point.kernel + step.kernel)
    springs = bars.squares + bars.give(point.tensions) * (point.tensions + step.tensions)
    np.testing.assert_allclose(whole, springs, rtol=1e-6)
    for _ in range(3):
        point = moved(bars, point, directions(bars, point))
        assert np.linalg.eigvalsh(point.kernel)[0] > 0
        assert np.linalg.eigvalsh(point.slack)[0] > 0
    assert np.abs(bars.of(point.kernel) - bars.squares).max() < before
