import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise

from mercer.errors import InputError
from mercer.kernels import (
    RBF,
    Flag,
    Isotropic,
    Laplacian,
    Matern,
    PowerExponential,
    RationalQuadratic,
    evidence,
)
from mercer.testing import check_kernel


def l2(x, y):
    return math.sqrt(sum((u - v) ** 2 for u, v in zip(x, y, strict=True)))


def l1(x, y):
    return sum(abs(u - v) for u, v in zip(x, y, strict=True))


def matern(nu):
    def formula(x, y, ell):
        s = math.sqrt(2 * nu) * l2(x, y) / ell
        return {0.5: 1, 1.5: 1 + s, 2.5: 1 + s + s * s / 3}[nu] * math.exp(-s)

    return formula


FORMULAS = [
    (RBF, {}, lambda x, y, ell: math.exp(-(l2(x, y) ** 2) / (2 * ell**2))),
    (Laplacian, {}, lambda x, y, ell: math.exp(-l1(x, y) / ell)),
    (Matern, {"nu": 0.5}, matern(0.5)),
    (Matern, {"nu": 1.5}, matern(1.5)),
    (Matern, {"nu": 2.5}, matern(2.5)),
    (
        RationalQuadratic,
        {"alpha": 0.7},
        lambda x, y, ell: (1 + l2(x, y) ** 2 / (1.4 * ell**2)) ** -0.7,
    ),
    (PowerExponential, {"power": 0.6}, lambda x, y, ell: math.exp(-((l2(x, y) / ell) ** 0.6))),
    (PowerExponential, {"power": 2}, lambda x, y, ell: math.exp(-((l2(x, y) / ell) ** 2))),
    (PowerExponential, {"power": 3}, lambda x, y, ell: math.exp(-((l2(x, y) / ell) ** 3))),
]


@pytest.mark.parametrize(("kind", "options", "formula"), FORMULAS)
def test_formulas(xp, rng, kind, options, formula):
    x, y = rng.standard_normal((8, 3)), rng.standard_normal((5, 3))
    truth = [[formula(u, v, 1.7) for v in y.tolist()] for u in x.tolist()]
    found = kind(1.7, **options)(xp.asarray(x), xp.asarray(y))
    np.testing.assert_allclose(xp.numpy(found), truth, rtol=1e-11)


@pytest.mark.parametrize(("kind", "options", "formula"), FORMULAS)
def test_a_lengthscale_for_each_column(xp, rng, kind, options, formula):
    x, y = rng.standard_normal((8, 3)), rng.standard_normal((5, 3))
    ell = np.array([0.5, 1.0, 4.0])
    truth = [[formula(u, v, 1.0) for v in (y / ell).tolist()] for u in (x / ell).tolist()]
    found = kind(ell, **options)(xp.asarray(x), xp.asarray(y))
    np.testing.assert_allclose(xp.numpy(found), truth, rtol=1e-11)


def test_scikit_learn_agrees(rng):
    x, y = rng.standard_normal((30, 4)), rng.standard_normal((20, 4))
    peers = [
        (RBF.from_gamma(0.3), pairwise.rbf_kernel(x, y, gamma=0.3)),
        (Laplacian(4.0), pairwise.laplacian_kernel(x, y, gamma=0.25)),
        (RBF([1, 2, 3, 4]), gp.RBF([1, 2, 3, 4])(x, y)),
        (RationalQuadratic(1.3, 0.4), gp.RationalQuadratic(1.3, 0.4)(x, y)),
    ]
    peers += [(Matern(1.3, nu), gp.Matern(1.3, nu=nu)(x, y)) for nu in (0.5, 1.5, 2.5)]
    for kernel, truth in peers:
        np.testing.assert_allclose(kernel(x, y), truth, rtol=1e-11, atol=1e-15)


POSITIVE = [kind(**options) for kind, options, _ in FORMULAS[:-1]]


@pytest.mark.parametrize("kernel", POSITIVE, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_laws(kernel, dtype, rng):
    assert kernel.flag is Flag.PD
    X = (3 * rng.standard_normal((60, 3))).astype(dtype)
    X[7] = X[3]
    check_kernel(kernel, X)
    check_kernel(kernel.with_params(lengthscale=[1.0, 2.0, 3.0]), X)


@pytest.mark.parametrize("kernel", POSITIVE, ids=str)
@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e8, 1e150])
def test_scale_is_absorbed(kernel, scale, rng):
    X = rng.standard_normal((20, 3))
    found = kernel.resolve(X * scale)(X * scale)
    np.testing.assert_allclose(found, kernel.resolve(X)(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", POSITIVE, ids=str)
def test_a_shift_changes_nothing(kernel, rng):
    spread = 2.0**-8
    X = np.round(rng.standard_normal((20, 3)) / spread) * spread  # so that the shift is exact
    far = X + 2.0**30
    np.testing.assert_allclose(kernel.resolve(far)(far), kernel.resolve(X)(X), rtol=1e-10)


@pytest.mark.parametrize(
    "kernel", [RBF(), Matern(nu=0.5), PowerExponential(power=0.6)], ids=str
)
def test_duplicates_are_as_one_row(kernel, rng):
    X = 100 + rng.standard_normal((20, 4))
    X[10:] = X[:10]
    K = kernel.resolve(X)(X)
    np.testing.assert_allclose(K[10:, :10], K[:10, :10], rtol=1e-10)
    if not isinstance(kernel, RBF):
        np.testing.assert_array_equal(np.diagonal(K[10:, :10]), 1)


@pytest.mark.parametrize("kernel", [RBF(2.0), Matern(2.0), RationalQuadratic(2.0)], ids=str)
def test_sparse_rows(kernel, rng):
    X = sparse.random_array((40, 10), density=0.2, random_state=rng, format="csr")
    np.testing.assert_allclose(kernel(X), kernel(X.toarray()), rtol=1e-9)
    check_kernel(kernel, X)
    with pytest.raises(InputError, match="not defined on sparse rows"):
        Laplacian(1.0)(X)


@given(st.floats(1e-3, 1e3))
def test_gamma(gamma):
    ell = RBF.from_gamma(gamma).lengthscale
    assert 1 / (2 * ell**2) == pytest.approx(gamma)


def test_beyond_two_the_power_exponential_is_indefinite():
    assert PowerExponential(power=2.0).flag is Flag.PD
    assert PowerExponential(power=2.01).flag is Flag.INDEFINITE
    X = np.linspace(-1, 1, 60)[:, None]
    for power in (2.5, 3.0, 4.0):
        found = evidence(PowerExponential(1.0, power), X)
        assert found.not_cpd, found.words


class TaxiMatern(Isotropic):
    """A Matérn kernel of the wrong distance, which its author believes in."""

    metric = "l1"
    claim = Flag.PD

    def of_distance(self, d):
        return (math.sqrt(5) * d).decay(1, 1, 1 / 3)


def test_matern_on_l1_is_caught():
    square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    found = evidence(TaxiMatern(2.0), square)
    assert found.not_pd
    assert found.not_cpd
    assert "although it is flagged pd" in found.words
    with pytest.raises(AssertionError, match=r"flagged pd, but K has the eigenvalue -0.133"):
        check_kernel(TaxiMatern(2.0), square)
    check_kernel(Matern(2.0, 2.5), square)


class Cauchy(Isotropic):
    def of_distance(self, d):
        return 1 / (1 + d**2)


def test_a_new_kernel_is_a_line(rng):
    X = rng.standard_normal((30, 2))
    check_kernel(Cauchy(), X)
    assert Cauchy().flag is Flag.UNKNOWN
    assert repr(Cauchy(2.0)) == "Cauchy(lengthscale=2.0)"
    np.testing.assert_allclose(Cauchy(2.0)(X), RationalQuadratic(math.sqrt(2), 1.0)(X))


def test_medians(rng):
    X = rng.standard_normal((30, 2))
    ell = RBF().resolve(X).lengthscale
    assert Matern().resolve(X).lengthscale == ell
    assert Laplacian().resolve(X).lengthscale == pytest.approx(
        np.median(np.abs(X[:, None] - X).sum(axis=2)[np.triu_indices(30, 1)])
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: Matern(nu=2.0),
        lambda: Matern(nu="a"),
        lambda: RationalQuadratic(alpha=0.0),
        lambda: PowerExponential(power=0.0),
        lambda: RBF.from_gamma(0.0),
        lambda: RBF([1.0, 2.0])(np.ones((2, 3))),
    ],
)
def test_wrong_parameters(make):
    with pytest.raises(InputError) as caught:
        make()
    assert len(str(caught.value).splitlines()) == 3


def test_far_pairs_cost_nothing_and_are_nothing():
    X = np.concatenate([np.zeros((1, 2)), np.full((1, 2), 1e6)])
    for kernel in POSITIVE[:5]:
        found = kernel.with_params(lengthscale=1.0)(X)[0, 1]
        assert 0 <= found < 1e-290
        found = kernel.with_params(lengthscale=1.0)(X.astype(np.float32))[0, 1]
        assert 0 <= found < 1e-34
