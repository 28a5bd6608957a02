import numpy as np
import pytest

from mercer.diagnostics import outline


@pytest.mark.parametrize("radius", [1e-3, 1.0, 40.0])
def test_corners_have_one_distance_in_the_metric_of_the_cloud(rng, radius):
    points = rng.normal(size=(50, 2)) @ [[3.0, 1.0], [0.0, 0.2]]
    covariance, centre = np.cov(points.T), points.mean(axis=0)
    line = outline(centre, covariance, radius)
    assert line.shape == (65, 2)
    apart = line - centre
    squares = np.einsum("ij,jk,ik->i", apart, np.linalg.inv(covariance), apart)
    np.testing.assert_allclose(squares, radius**2, rtol=1e-9)
    np.testing.assert_allclose(line[0], line[-1], rtol=0, atol=1e-12 * radius)


def test_a_flat_cloud_has_a_line():
    line = outline(np.array([1.0, 2.0]), np.array([[4.0, 0.0], [0.0, -1e-18]]), 1.0)
    np.testing.assert_allclose(line[:, 1], 2.0)
    assert np.ptp(line[:, 0]) == pytest.approx(4.0)
