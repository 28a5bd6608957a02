"""Kernels of largest variance: closed forms, the conditions of optimality, and the bound."""

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.solvers import DistanceBars, unfold


def bars_of(points, pairs, slack=0.0, masses=None):
    first, second = np.array(pairs).T
    squares = np.sum((points[first] - points[second]) ** 2, axis=1)
    masses = np.ones(len(points)) if masses is None else np.asarray(masses, float)
    return DistanceBars(first, second, squares, masses, slack)


def all_pairs(n):
    return [(i, j) for i in range(n) for j in range(i)]


def classical(points, masses=None):
    m = np.ones(len(points)) if masses is None else np.asarray(masses, float)
    x = points - m @ points / m.sum()
    return x @ x.T


def test_a_chain_becomes_a_straight_line():
    rng = np.random.default_rng(0)
    points = np.cumsum(rng.standard_normal((12, 3)), axis=0)
    found = unfold(bars_of(points, [(i, i + 1) for i in range(11)]), 1e-8)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    line = np.concatenate([[0.0], np.cumsum(steps)])[:, None]
    np.testing.assert_allclose(
        found.kernel, classical(line), rtol=0, atol=1e-5 * np.sum(line**2)
    )
    assert found.bound >= found.variance * (1 - 1e-7)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_simplex_cannot_move(n):
    points = np.random.default_rng(n).standard_normal((n, max(n - 1, 1)))
    found = unfold(bars_of(points, all_pairs(n)), 1e-8)
    np.testing.assert_allclose(found.kernel, classical(points), rtol=0, atol=1e-6)


def test_a_square_with_one_diagonal_opens_flat():
    # Two triangles folded along a diagonal open until all four lie in a plane.
    h = np.sqrt(3) / 2
    folded = np.array([[0, 0.5, 0], [0, -0.5, 0], [h, 0, 0], [0, 0, h]])
    found = unfold(bars_of(folded, [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]), 1e-8)
    open_ = np.array([[0, 0.5], [0, -0.5], [h, 0], [-h, 0]])
    np.testing.assert_allclose(found.kernel, classical(open_), rtol=0, atol=1e-6)
    # Complementary slackness: what is unfolded is an eigenvector of L(y) to the value one.
    bars = bars_of(folded, [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)])
    np.testing.assert_allclose(bars.laplacian(found.tensions) @ open_, open_, rtol=0, atol=1e-3)


def test_a_ring_becomes_a_regular_polygon():
    n = 9
    pairs = [(i, (i + 1) % n) for i in range(n)]
    first, second = np.array(pairs).T
    found = unfold(DistanceBars(first, second, np.ones(n), np.ones(n)), 1e-9)
    radius = 0.5 / np.sin(np.pi / n)
    angle = 2 * np.pi * np.arange(n) / n
    polygon = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(found.kernel, classical(polygon), rtol=0, atol=1e-5)
    # λ₂ of a ring of weights y is y(2 - 2cos(2π/n)), which must be one.
    np.testing.assert_allclose(found.tensions, 1 / (2 - 2 * np.cos(2 * np.pi / n)), rtol=1e-4)


def test_masses_are_repeats():
    rng = np.random.default_rng(3)
    points = np.cumsum(rng.standard_normal((6, 2)), axis=0)
    masses = [1, 2, 1, 3, 1, 1]
    found = unfold(bars_of(points, [(i, i + 1) for i in range(5)], masses=masses), 1e-8)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    line = np.concatenate([[0.0], np.cumsum(steps)])[:, None]
    want = classical(line, masses)
    np.testing.assert_allclose(found.kernel, want, rtol=0, atol=1e-5 * np.max(want))
    np.testing.assert_allclose(found.kernel @ masses, 0, rtol=0, atol=1e-9 * np.max(want))


@pytest.fixture(scope="module")
def sheet():
    """A bent sheet of 70 points with its five nearest neighbours."""
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(5)
    t, u = np.divmod(np.arange(70), 5)
    t, u = t / 4.5 + rng.uniform(0, 0.1, 70), u / 4.5 + rng.uniform(0, 0.1, 70)
    points = np.column_stack([np.cos(t), u, np.sin(t)])
    near = cKDTree(points).query(points, 6)[1][:, 1:]
    pairs = sorted({(min(i, j), max(i, j)) for i in range(70) for j in near[i].tolist()})
    return points, pairs


@pytest.mark.parametrize("slack", [0.0, 1e-6, 1e-3])
def test_optimality_conditions(sheet, slack):
    points, pairs = sheet
    bars = bars_of(points, pairs, slack)
    found = unfold(bars, 1e-4)
    values = np.linalg.eigvalsh(found.kernel)
    assert values[0] > -1e-9 * values[-1]
    np.testing.assert_allclose(found.kernel.sum(axis=0), 0, rtol=0, atol=1e-8 * values[-1])
    dual = np.linalg.eigvalsh(bars.laplacian(found.tensions).toarray())
    assert abs(dual[0]) < 1e-6  # the constant vector
    assert dual[1] > 1 - 1e-6
    slackness = bars.laplacian(found.tensions).toarray() - np.eye(len(points))
    assert abs(np.vdot(found.kernel, slackness)) <= 1.1e-4 * found.variance
    longer = bars.of(found.kernel) / bars.squares - 1
    give = slack * bars.squares * found.tensions
    give /= found.tensions @ bars.squares / len(pairs)
    np.testing.assert_allclose(longer, give, rtol=0, atol=2e-4)
    assert found.error == pytest.approx(np.max(np.abs(longer)))
    assert found.gap == pytest.approx(found.tensions @ bars.of(found.kernel) - found.variance)


def test_the_bound_holds_for_every_kernel_that_keeps_the_bars(sheet):
    points, pairs = sheet
    for slack in (0.0, 1e-6, 1e-2):
        found = unfold(bars_of(points, pairs, slack), 1e-2)
        assert found.bound >= np.trace(classical(points))
        tight = unfold(bars_of(points, pairs), 1e-4)
        assert found.bound >= tight.variance * (1 - 10 * tight.error)


def test_bars_in_pieces_are_refused():
    points = np.arange(8.0).reshape(4, 2)
    with pytest.raises(InputError, match="do not join"):
        unfold(bars_of(points, [(0, 1), (2, 3)]))


def test_time_is_kept_and_said(sheet):
    points, pairs = sheet
    found = unfold(bars_of(points, pairs), 1e-12, seconds=0.0)
    assert found.steps == 0
    assert "time" in found.outcome
    assert found.gap > 0
