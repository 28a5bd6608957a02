import numpy as np
import pytest

from mercer.errors import InputError
from mercer.plots.charts._clouds import ellipse

S = np.array([[4.0, 1.5], [1.5, 1.0]])


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_it_holds_the_share_of_a_normal_cloud(level):
    rng = np.random.default_rng(0)
    cloud = rng.multivariate_normal([5.0, -2.0], S, size=40_000)
    x, y = ellipse(*cloud.T, level)
    mean, C = cloud.mean(axis=0), np.cov(cloud.T)
    edge = np.stack([x, y], axis=1) - mean
    distance = np.einsum("ij,jk,ik->i", edge, np.linalg.inv(C), edge)
    assert np.ptp(distance) < 1e-9  # every corner lies at one distance
    rows = cloud - mean
    inside = np.einsum("ij,jk,ik->i", rows, np.linalg.inv(C), rows) < distance[0]
    assert np.mean(inside) == pytest.approx(level, abs=0.01)
    assert (x[0], y[0]) == pytest.approx((x[-1], y[-1]))


@pytest.mark.parametrize(
    "points", [np.zeros((1, 2)), np.eye(2), np.outer(np.arange(9.0), [1, 2]), np.zeros((9, 2))]
)
def test_points_on_a_line_have_none(points):
    assert ellipse(*points.T) is None


@pytest.mark.parametrize("level", [0.0, 1.0, -1, 2])
def test_a_level_is_a_share(level):
    with pytest.raises(InputError, match="between 0 and 1"):
        ellipse([0.0, 1.0, 0.0], [0.0, 0.0, 1.0], level)


def test_of_the_mean_it_holds_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(600):
        x, y = rng.multivariate_normal([0, 0], [[4, 1], [1, 1]], 8).T
        found = np.array(ellipse(x, y, 0.9, of_mean=True))
        inside += _holds(found, 0.0, 0.0)
    assert abs(inside / 600 - 0.9) < 0.04


def _holds(outline, x, y):
    """Tell whether a point lies in a closed convex line, by the signs of its turns."""
    dx, dy = np.diff(outline[0]), np.diff(outline[1])
    turns = dx * (y - outline[1][:-1]) - dy * (x - outline[0][:-1])
    return bool(np.all(turns > 0) or np.all(turns < 0))
