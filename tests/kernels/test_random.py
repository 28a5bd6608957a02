import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from mercer.errors import InputError
from mercer.kernels import (
    RBF,
    ArcCosine,
    Laplacian,
    Linear,
    Matern,
    PowerExponential,
    RationalQuadratic,
    random_map,
)

KERNELS = [
    RBF(1.5),
    RBF((1.0, 2.0, 3.0, 0.5)),
    Laplacian(3.0),
    Laplacian((1.0, 2.0, 3.0, 4.0)),
    Matern(2.0, nu=0.5),
    Matern(2.0, nu=1.5),
    Matern((1.0, 2.0, 3.0, 4.0), nu=2.5),
    RationalQuadratic(2.0, alpha=0.5),
    RationalQuadratic(2.0, alpha=3.0),
    ArcCosine(0),
    ArcCosine(1),
    3.0 * RBF(2.0),
    0.5 * (4.0 * ArcCosine(1)),
]
X = np.random.default_rng(0).standard_normal((12, 4))
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)
either = pytest.mark.parametrize("orthogonal", [True, False])


def products(kernel, m, seed, orthogonal=True, x=X):
    phi = random_map(kernel, x.shape[1], m, orthogonal=orthogonal, seed=seed)
    found = phi.features(x, np.float64)
    assert found.shape == (len(x), m)
    return found @ found.T


def rms(kernel, m, seeds, orthogonal=True):
    found = np.array([products(kernel, m, seed, orthogonal) for seed in seeds])
    return float(np.sqrt(np.mean(np.square(found - kernel(X)))))


@each_kernel
@either
def test_products_are_the_kernel_on_average(kernel, orthogonal):
    """Mean over seeds of upper-triangle entries, within four standard errors."""
    found = np.array([products(kernel, 64, seed, orthogonal) for seed in range(200)])
    pairs = np.triu_indices(len(X))
    wrong = (found - kernel(X))[:, *pairs]
    error = wrong.std(axis=0, ddof=1) / math.sqrt(len(found))
    assert np.max(np.abs(wrong.mean(axis=0)) / error) < 4.0


@each_kernel
def test_the_error_shrinks_as_one_over_the_root_of_m(kernel):
    ratio = rms(kernel, 20, range(40)) / rms(kernel, 320, range(40, 80))
    assert 3.0 < ratio < 5.3  # √16 = 4


@pytest.mark.parametrize(
    "kernel", [k for k in KERNELS if not isinstance(k, Laplacian)], ids=str
)
def test_orthogonal_directions_have_less_error(kernel):
    seeds = range(300)
    assert rms(kernel, 8, seeds, True) < rms(kernel, 8, seeds, False)


@pytest.mark.parametrize(("p", "m"), [(4, 4), (4, 11), (7, 3), (1, 5)])
def test_directions_are_orthogonal_in_blocks(p, m):
    weights = random_map(RBF(1.0), p, m, orthogonal=True, seed=3).weights
    assert weights.shape == (p, m)
    for start in range(0, m, p):
        unit = weights[:, start : start + p] / np.linalg.norm(
            weights[:, start : start + p], axis=0
        )
        np.testing.assert_allclose(unit.T @ unit, np.eye(unit.shape[1]), rtol=0, atol=1e-14)
    # Their lengths are those of normal columns.
    squares = np.sum(random_map(RBF(1.0), p, 20_000, orthogonal=True, seed=1).weights ** 2, 0)
    assert abs(squares.mean() - p) < 4 * math.sqrt(2 * p / 20_000)
    assert abs(squares.var() / (2 * p) - 1) < 0.1


@each_kernel
def test_the_diagonal(kernel):
    """k(x, x) is met by cos² only on average, by a ramp too; it is never far off."""
    found = np.diagonal(products(kernel, 4000, 5))
    np.testing.assert_allclose(found, kernel.diag(X), rtol=0.15)


@pytest.mark.parametrize("kernel", KERNELS[:9], ids=str)
@pytest.mark.parametrize("offset", [1e6, -1e9])
def test_far_from_the_origin(kernel, offset):
    """The same phases give the same features of the same differences, wherever rows are."""
    x = X.round(3) + offset  # the offset rounds the rows: differences are taken from these
    plain = random_map(kernel, 4, 50, orthogonal=True, seed=2)
    there = plain.around(x.mean(axis=0))
    here = type(plain)(plain.weights, plain.phases + there.turned)
    np.testing.assert_allclose(
        there.features(x, np.float64),
        here.features(x - x.mean(axis=0), np.float64),
        rtol=0,
        atol=1e-11,
    )


@pytest.mark.parametrize("kernel", KERNELS[:9], ids=str)
def test_the_origin_changes_no_feature(kernel):
    plain = random_map(kernel, 4, 60, orthogonal=True, seed=2)
    wanted = plain.features(X, np.float64)
    for origin in (X[0], X.mean(axis=0), 100 * X[1]):
        # Cauchy frequencies may be in the thousands, and angles round with them.
        size = float(np.max(np.abs(plain.weights)) * np.max(np.abs(origin)))
        found = plain.around(origin).features(X, np.float64)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14 * (10 + size))


@pytest.mark.parametrize("kernel", KERNELS[:9], ids=str)
def test_scales(kernel):
    """k(sx, sy) with lengthscale sℓ is k(x, y), feature by feature."""
    wanted = random_map(kernel, 4, 30, orthogonal=True, seed=4).features(X, np.float64)
    for s in (2.0**-27, 2.0**27):
        lengths = np.multiply(kernel.lengthscale, s)
        scaled = kernel.with_params(lengthscale=lengths if lengths.ndim else float(lengths))
        found = random_map(scaled, 4, 30, orthogonal=True, seed=4).features(s * X, np.float64)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)


@each_kernel
def test_sparse_rows_and_float32(kernel):
    phi = random_map(kernel, 4, 30, orthogonal=True, seed=4)
    wanted = phi.features(X, np.float64)
    if "arccosine" in str(kernel):  # steps and ramps have no origin
        assert phi.around(X[0]) is phi or "*" in str(kernel)
        np.testing.assert_array_equal(phi.features(np.zeros((2, 4)), np.float64), 0.0)
    many = np.tile(X, (200, 1))  # on several threads
    np.testing.assert_allclose(phi.features(many, np.float64), np.tile(wanted, (200, 1)))
    assert phi.features(X[:0], np.float64).shape == (0, 30)
    for each in (phi, phi.around(X[0])):
        np.testing.assert_allclose(
            each.features(csr_array(X), np.float64), wanted, rtol=0, atol=1e-9
        )
    narrow = phi.features(X, np.float32)
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "kernel",
    [Linear(), PowerExponential(1.0), RBF(1.0) + Linear(), -1.0 * RBF(1.0), RBF(1.0) ** 2],
    ids=str,
)
def test_other_kernels_and_rows_are_refused(kernel):
    with pytest.raises(InputError, match="no random features") as caught:
        random_map(kernel, 4, 10, orthogonal=True, seed=0)
    assert str(caught.value).count("\n") == 2
    assert "RBF" in caught.value.fix
    with pytest.raises(InputError, match="one lengthscale for each column"):
        random_map(RBF((1.0, 2.0)), 4, 10, orthogonal=True, seed=0)
    phi = random_map(RBF(1e-300), 4, 10, orthogonal=True, seed=0)
    with pytest.raises(InputError, match="too far away"):
        phi.features(np.full((3, 4), 1e200), np.float64)
