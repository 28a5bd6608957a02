import numpy as np
import pytest
from sheets import roll

from mercer.estimators.manifold import _barycentric_weights as _lle_weights
from mercer.estimators.manifold._barycentric_weights import (
    barycentric,
    combined,
    differences,
    own_weights,
)
from mercer.operators import neighbours

RNG = np.random.default_rng(0)
ROWS = roll(80)[0]
NEAR = neighbours(ROWS, 7)


def slowly(x, near, reg):
    """Return the weights of one point by the normal equations."""
    z = near - x
    G = z @ z.T
    w = np.linalg.solve(G + reg * np.trace(G) * np.eye(len(G)), np.ones(len(G)))
    return w / w.sum()


@pytest.mark.parametrize("reg", [1e-3, 1.0])
def test_weights_solve_the_normal_equations(reg):
    w = own_weights(ROWS, NEAR.indices, reg)
    exact = [slowly(x, ROWS[at], reg) for x, at in zip(ROWS, NEAR.indices, strict=True)]
    np.testing.assert_allclose(w, exact, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(w.sum(axis=1), 1, rtol=1e-14)


@pytest.mark.parametrize(("scale", "shift"), [(1e-170, 0.0), (1e150, 0.0), (1.0, 1e8)])
def test_scale_and_place_of_the_rows_do_not_matter(scale, shift):
    moved = ROWS * scale + shift
    near = differences(moved[:20], moved, NEAR.indices[:20])
    np.testing.assert_allclose(
        barycentric(near, 1e-3),
        own_weights(ROWS, NEAR.indices, 1e-3)[:20],
        atol=1e-14 if shift == 0 else 1e-6,
    )


def test_a_point_amid_few_neighbours_is_put_together_exactly():
    corners = RNG.standard_normal((3, 2))
    share = np.array([0.2, 0.5, 0.3])
    w = barycentric((corners - share @ corners)[None], 1e-12)
    np.testing.assert_allclose(w[0], share, rtol=0, atol=1e-9)


def test_doubles_share_a_point_between_them():
    w = barycentric(np.zeros((1, 4, 3)), 1e-3)
    np.testing.assert_allclose(w, 0.25)
    near = np.array([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
    assert barycentric(near, 1e-6)[0, 0] > 0.999


def test_new_points_take_the_values_of_their_neighbours():
    line = RNG.standard_normal((3, 2))
    linear = ROWS @ line + 5
    points = 0.5 * (ROWS[NEAR.indices[:, 0]] + ROWS[NEAR.indices[:, 1]])
    near = np.asarray(NEAR.indices)
    got = combined(points, ROWS, near, np.ones(near.shape), linear, 1e-8)
    np.testing.assert_allclose(got, points @ line + 5, rtol=0, atol=1e-4 * np.abs(linear).max())


def test_a_training_row_keeps_its_own_value():
    values = RNG.standard_normal((80, 2))
    found = neighbours(ROWS, 7, include_self=True)
    got = combined(ROWS, ROWS, found.indices, found.distances, values, 1e-3)
    np.testing.assert_array_equal(got, values)


def test_blocks_change_nothing(monkeypatch):
    whole = own_weights(ROWS, NEAR.indices, 1e-3)
    monkeypatch.setattr(_lle_weights, "_CELLS", 200)
    np.testing.assert_allclose(own_weights(ROWS, NEAR.indices, 1e-3), whole, rtol=1e-12)
