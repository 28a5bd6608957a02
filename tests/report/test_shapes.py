import numpy as np
import pytest
from sklearn.datasets import load_digits

from mercer.report.facts._linear_summary import image_shape, is_curve


def centred(X):
    return X - X.mean(axis=0)


def walks(n=200, p=144):
    return np.cumsum(np.random.default_rng(0).normal(size=(n, p)), axis=1)


def factors(n=300, p=64):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, 3)) @ rng.normal(size=(3, p)) + 0.3 * rng.normal(size=(n, p))


def test_digits_are_pictures():
    assert image_shape(centred(load_digits().data)) == (8, 8)


def test_shuffled_pixels_are_no_picture():
    order = np.random.default_rng(0).permutation(64)
    assert image_shape(centred(load_digits().data[:, order])) is None


@pytest.mark.parametrize("X", [walks(), factors(), walks()[:, :100], np.ones((50, 49))])
def test_curves_factors_and_constants_are_no_pictures(X):
    assert image_shape(centred(X)) is None


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_walks_are_curves_in_any_unit(scale):
    assert is_curve(centred(walks()) * scale)


@pytest.mark.parametrize("X", [factors(), load_digits().data, walks()[:, ::-1][:, :10]])
def test_others_are_no_curves(X):
    assert not is_curve(centred(X))


@pytest.mark.parametrize(("height", "width"), [(12, 10), (10, 12), (14, 8), (16, 16)])
def test_pictures_need_not_be_square(height, width):
    rng = np.random.default_rng(height)
    yy, xx = np.mgrid[:height, :width]
    rows = []
    for _ in range(60):
        y, x, r = rng.uniform(0, height), rng.uniform(0, width), rng.uniform(1.5, 3)
        rows.append(np.exp(-((yy - y) ** 2 + (xx - x) ** 2) / r**2).ravel())
    rows = np.array(rows) + 0.02 * rng.standard_normal((60, height * width))
    assert image_shape(rows - rows.mean(axis=0)) == (height, width)
