"""A kernel of distances does not know where the data lie, nor does a linear one."""

import numpy as np
import pytest
from kernel_fits import MATRIX, allowance, apart, blobs, fit
from scale_fits import LANDMARKS, assert_same_model, fitted, marks_of

from mercer.kernels import RBF, Laplacian, Log, Matern, NegativeDistance, RationalQuadratic

STILL = [RBF(2.0), Laplacian(3.0), Matern(2.0), NegativeDistance(), RBF((1.0, 2.0, 3.0))]
STILL += [RBF(), RationalQuadratic(1.5), Log(), Matern(1.5, 2.5)]
WAYS = ["tiles", "once", *LANDMARKS]
CASES = [(way, kernel) for way in MATRIX for kernel in STILL]
CASES += [(way, STILL[(i + turn) % 4]) for i, way in enumerate(WAYS) for turn in (0, 1)]


def on_a_grid(X, bits):
    """Return X rounded to multiples of 2^-bits, so that a shift is exact."""
    return np.round(X * 2.0**bits) / 2.0**bits


@pytest.mark.parametrize(("way", "kernel"), CASES, ids=str)
def test_an_exact_shift_changes_nothing(way, kernel):
    X = on_a_grid(blobs(160, 3), 16)
    far = X + 2.0 ** (30 if way in MATRIX else 20)
    np.testing.assert_array_equal(far - far[0], X - X[0])
    one, two = (fitted(way, Y, 3, kernel, marks=marks_of(way, Y)) for Y in (X, far))
    assert_same_model(one, two)
    loose = allowance(one, two) if way not in LANDMARKS else 0.0
    assert apart(two.transform(far), one.transform(X)) <= 1e-7 + loose


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("factor", [2.0**-60, 2.0**60])
def test_the_unit_changes_nothing(way, factor):
    """The default lengthscale follows the rows; distances grow with them."""
    X = blobs(160, 3)
    for kernel, size in ((RBF(), 1.0), (NegativeDistance(), factor)):
        one, two = (fitted(way, Y, 3, kernel, marks=marks_of(way, Y)) for Y in (X, X * factor))
        np.testing.assert_allclose(two.eigenvalues_, size * one.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(two.captured_share_, one.captured_share_, rtol=1e-9)
        if size == 1.0:
            assert_same_model(one, two)


@pytest.mark.parametrize("path", MATRIX)
@pytest.mark.parametrize("share", [1.0, 0.3, -1.0])
def test_a_rounded_shift_costs_what_the_rounding_of_the_data_costs(path, share):
    X = blobs(300, 4, 2)
    shift = share * 2.0**30 * np.std(X, axis=0)
    before, after = (fit(path, Y, 6, kernel=RBF(2.0), tol=1e-9) for Y in (X, X + shift))
    np.testing.assert_allclose(after.eigenvalues_, before.eigenvalues_, rtol=1e-6)


@pytest.mark.parametrize("path", MATRIX)
def test_float32_far_from_the_origin(path):
    """The values that float32 can hold there are the data: no digit more is lost."""
    X = (blobs(600, 4) + 1000).astype(np.float32)
    narrow, wide = (fit(path, Y, 4, kernel=RBF(2.0)) for Y in (X, X.astype(np.float64)))
    np.testing.assert_allclose(narrow.eigenvalues_, wide.eigenvalues_, rtol=2e-5)


@pytest.mark.parametrize("factor", [2.0**-300, 2.0**-20, 2.0**20, 2.0**300])
def test_scale(factor):
    """The default lengthscale follows the data: no unit changes a result."""
    X = blobs(120, 3)
    one, two = fit("auto", X, 4), fit("auto", X * factor, 4)
    np.testing.assert_allclose(two.eigenvalues_, one.eigenvalues_, rtol=1e-10)
    linear = [fit("auto", Y, 3, kernel="linear") for Y in (X, X * factor)]
    np.testing.assert_allclose(
        linear[1].explained_variance_ratio_, linear[0].explained_variance_ratio_, rtol=1e-10
    )
