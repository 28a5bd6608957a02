import math

import numpy as np
import pytest

from mercer.arrays.programs._distances import angles, make_cloud


def directions(theta):
    return np.stack([np.cos(theta), np.sin(theta)], axis=1)


def measured(x, xp, y=None):
    a = make_cloud(xp.asarray(x), None, None, None)
    b = a if y is None else make_cloud(xp.asarray(y), None, None, a)
    n, m = len(x), len(x if y is None else y)
    out = np.empty((n, m), x.dtype) if xp.name in ("numpy", "read-only") else None
    return xp.numpy(angles(a, b, slice(0, n), slice(0, m), out=out))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_angles_of_any_size(xp, rng, dtype):
    theta = rng.uniform(-math.pi, math.pi, 40)
    truth = np.abs(theta[:, None] - theta[None, :])
    truth = np.minimum(truth, 2 * math.pi - truth)
    found = measured(directions(theta).astype(dtype), xp)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, truth, atol=40 * np.finfo(dtype).eps)


@pytest.mark.parametrize("small", [0.0, 1e-15, 1e-9, 1e-5, 0.1])
def test_small_and_flat_angles_keep_their_digits(xp, small):
    theta = np.array([0.3, 0.3 + small])
    x, y = directions(theta[:1]), directions(theta[1:])
    real = theta[1] - theta[0]
    assert measured(x, xp, y)[0, 0] == pytest.approx(real, abs=2e-16, rel=1e-12)
    assert measured(x, xp, -y)[0, 0] == pytest.approx(math.pi - real, abs=1e-15)


def test_opposite_rows(xp, rng):
    x = rng.standard_normal((10, 4))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    np.testing.assert_array_equal(np.diagonal(measured(x, xp, -x)), math.pi)
    np.testing.assert_array_equal(np.diagonal(measured(x, xp, x.copy())), 0)
