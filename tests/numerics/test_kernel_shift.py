"""A kernel of distances does not know where the data lie, nor does a linear one."""

import numpy as np
import pytest
from kernel_fits import MATRIX, apart, blobs, fit

from mercer.kernels import RBF, Laplacian, Log, Matern, NegativeDistance, RationalQuadratic

KERNELS = [
    RBF(1.5),
    RBF((1.0, 2.0, 3.0)),
    RBF(),
    Laplacian(2.0),
    Matern(1.5, 2.5),
    RationalQuadratic(1.5),
    NegativeDistance(),
    Log(),
]


def on_a_grid(X, bits):
    """Return X rounded to multiples of 2^-bits, so that a shift is exact."""
    return np.round(X * 2.0**bits) / 2.0**bits


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("path", MATRIX)
def test_an_exact_shift_changes_nothing(path, kernel):
    X = on_a_grid(blobs(150, 3), 18)
    spread = float(np.max(np.std(X, axis=0)))
    shift = 2.0**30 * 2.0 ** np.round(np.log2(spread))
    before, after = (fit(path, Y, 4, kernel=kernel, tol=1e-10) for Y in (X, X + shift))
    assert np.array_equal((X + shift) - shift, X)
    np.testing.assert_allclose(after.eigenvalues_, before.eigenvalues_, rtol=1e-9)
    assert apart(after.transform(X + shift), before.transform(X)) <= 1e-6


@pytest.mark.parametrize("path", MATRIX)
@pytest.mark.parametrize("share", [1.0, 0.3, -1.0])
def test_a_rounded_shift_costs_what_the_rounding_of_the_data_costs(path, share):
    X = blobs(300, 4, 2)
    shift = share * 2.0**30 * np.std(X, axis=0)
    before, after = (fit(path, Y, 6, kernel=RBF(2.0), tol=1e-9) for Y in (X, X + shift))
    np.testing.assert_allclose(after.eigenvalues_, before.eigenvalues_, rtol=1e-6)


def test_the_default_lengthscale_is_not_shifted():
    X = on_a_grid(blobs(200, 3), 18)
    one, two = fit("auto", X, 3), fit("auto", X + 2.0**31, 3)
    np.testing.assert_allclose(two.kernel_.lengthscale, one.kernel_.lengthscale, rtol=1e-12)
    np.testing.assert_allclose(two.eigenvalues_, one.eigenvalues_, rtol=1e-9)


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
