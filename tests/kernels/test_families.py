"""Kernels are their formulas, obey the laws of their flags, and do not know unit or place."""

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
    AdditiveChiSquared,
    ArcCosine,
    ChiSquared,
    Cosine,
    Flag,
    Intersection,
    Isotropic,
    Laplacian,
    Linear,
    Log,
    Matern,
    Multiquadric,
    NegativeChiSquared,
    NegativeDistance,
    NegativeHamming,
    Overlap,
    Periodic,
    PeriodicDistance,
    Polynomial,
    PowerExponential,
    RationalQuadratic,
    Sigmoid,
    evidence,
)
from mercer.testing import check_kernel


# Formulas in plain Python, a pair of rows at a time.
def paired(term):
    return lambda x, y: sum(term(u, v) for u, v in zip(x, y, strict=True))


dot, l1 = paired(lambda u, v: u * v), paired(lambda u, v: abs(u - v))
chi2 = paired(lambda u, v: (u - v) ** 2 / (u + v) if u + v else 0.0)
unequal = paired(lambda u, v: u != v)


def l2(x, y):
    return math.dist(x, y)


def cosine(x, y):
    size = math.sqrt(dot(x, x) * dot(y, y))
    return dot(x, y) / size if size else 0.0


def arc(order):
    def formula(x, y):
        size = math.sqrt(dot(x, x) * dot(y, y))
        if size == 0:
            return 0.0
        theta = math.acos(max(-1.0, min(1.0, dot(x, y) / size)))
        if order == 0:
            return 1 - theta / math.pi
        return size * (math.sin(theta) + (math.pi - theta) * math.cos(theta)) / math.pi

    return formula


def matern(nu):
    def formula(x, y):
        s = math.sqrt(2 * nu) * l2(x, y)
        return {0.5: 1, 1.5: 1 + s, 2.5: 1 + s + s * s / 3}[nu] * math.exp(-s)

    return formula


def turn(d, period, ell):
    return math.exp(-2 * math.sin(math.pi * d / period) ** 2 / ell**2)


# Kernels with a lengthscale: the formula at ℓ = 1.
SCALED = [
    (RBF(1.0), lambda x, y: math.exp(-(l2(x, y) ** 2) / 2)),
    (Laplacian(1.0), lambda x, y: math.exp(-l1(x, y))),
    (Matern(1.0, nu=0.5), matern(0.5)),
    (Matern(1.0, nu=1.5), matern(1.5)),
    (Matern(1.0, nu=2.5), matern(2.5)),
    (RationalQuadratic(1.0, alpha=0.7), lambda x, y: (1 + l2(x, y) ** 2 / 1.4) ** -0.7),
    (PowerExponential(1.0, power=0.6), lambda x, y: math.exp(-(l2(x, y) ** 0.6))),
    (PowerExponential(1.0, power=2), lambda x, y: math.exp(-(l2(x, y) ** 2))),
    (PowerExponential(1.0, power=3), lambda x, y: math.exp(-(l2(x, y) ** 3))),
]
DISTANCES = [
    (
        Periodic(0.8, 1.5),
        lambda x, y: math.prod(turn(u - v, 1.5, 0.8) for u, v in zip(x, y, strict=True)),
    ),
    (
        Periodic([0.5, 1, 2], [1, 2, 3]),
        lambda x, y: math.prod(map(turn, np.subtract(x, y), (1, 2, 3), (0.5, 1, 2))),
    ),
    (PeriodicDistance(0.8, 1.5), lambda x, y: turn(l2(x, y), 1.5, 0.8)),
    (NegativeDistance(), lambda x, y: -l2(x, y)),
    (NegativeDistance(1.5), lambda x, y: -(l2(x, y) ** 1.5)),
    (NegativeDistance(2), lambda x, y: -(l2(x, y) ** 2)),
    (Multiquadric(0.7), lambda x, y: -math.sqrt(0.49 + l2(x, y) ** 2)),
    (Log(), lambda x, y: -math.log(1 + l2(x, y) ** 2)),
]
INNER = [
    (Linear(), dot),
    (Polynomial(3, 0.5, 1.5), lambda x, y: (0.5 * dot(x, y) + 1.5) ** 3),
    (Polynomial(2, 2.0, -1.0), lambda x, y: (2 * dot(x, y) - 1) ** 2),
    (Sigmoid(0.5, 0.1), lambda x, y: math.tanh(0.5 * dot(x, y) + 0.1)),
    (Cosine(), cosine),
    (ArcCosine(0), arc(0)),
    (ArcCosine(1), arc(1)),
]
COUNTS = [
    (ChiSquared(0.4), lambda x, y: math.exp(-0.4 * chi2(x, y))),
    (NegativeChiSquared(), lambda x, y: -chi2(x, y)),
    (
        AdditiveChiSquared(),
        paired(lambda u, v: 2 * u * v / (u + v) if u + v else 0.0),
    ),
    (Intersection(), paired(min)),
    (Overlap(), lambda x, y: 1 - unequal(x, y) / len(x)),
    (NegativeHamming(), lambda x, y: -unequal(x, y) / len(x)),
]


@pytest.mark.parametrize(
    ("kernel", "formula"),
    [*DISTANCES, *INNER, *COUNTS],
    ids=lambda v: getattr(v, "__name__", str(v)[:40]),
)
def test_formulas(xp, rng, kernel, formula):
    counted = any(kernel is one for one, _ in COUNTS)
    draw = (
        (lambda n: 1.0 * rng.poisson(1.5, (n, 3)))
        if counted
        else (lambda n: rng.standard_normal((n, 3)))
    )
    x, y = draw(8), draw(5)
    x[2] = 0
    truth = [[formula(u, v) for v in y.tolist()] for u in x.tolist()]
    found = kernel(xp.asarray(x), xp.asarray(y))
    near = {"rtol": 1e-13, "atol": 1e-15} if counted else {"rtol": 1e-11, "atol": 1e-13}
    np.testing.assert_allclose(xp.numpy(found), truth, **near)
    found = xp.numpy(kernel.diag(xp.asarray(x)))
    truth = [formula(u, u) for u in x.tolist()]
    np.testing.assert_allclose(found, truth, rtol=1e-7)  # θ = 0 is hard for the plain formula


@pytest.mark.parametrize(
    ("kernel", "formula"), SCALED, ids=lambda v: getattr(v, "__name__", str(v)[:40])
)
@pytest.mark.parametrize("ell", [1.7, (0.5, 1.0, 4.0)], ids=str)
def test_formulas_with_a_lengthscale(xp, rng, kernel, formula, ell):
    x, y = rng.standard_normal((8, 3)), rng.standard_normal((5, 3))
    truth = [[formula(u, v) for v in (y / ell).tolist()] for u in (x / ell).tolist()]
    found = kernel.with_params(lengthscale=ell)(xp.asarray(x), xp.asarray(y))
    np.testing.assert_allclose(xp.numpy(found), truth, rtol=1e-11)


def test_scikit_learn_agrees(rng):
    x, y = rng.random((30, 4)), rng.random((20, 4))
    peers = [
        (RBF.from_gamma(0.3), pairwise.rbf_kernel(x, y, gamma=0.3)),
        (Laplacian(4.0), pairwise.laplacian_kernel(x, y, gamma=0.25)),
        (RBF([1, 2, 3, 4]), gp.RBF([1, 2, 3, 4])(x, y)),
        (RationalQuadratic(1.3, 0.4), gp.RationalQuadratic(1.3, 0.4)(x, y)),
        *((Matern(1.3, nu), gp.Matern(1.3, nu=nu)(x, y)) for nu in (0.5, 1.5, 2.5)),
        (PeriodicDistance(0.8, 1.5), gp.ExpSineSquared(0.8, 1.5)(x, y)),
        (Periodic(0.8, 1.5).on(0), gp.ExpSineSquared(0.8, 1.5)(x[:, :1], y[:, :1])),
        (Linear(), pairwise.linear_kernel(x, y)),
        (Polynomial(4, 0.3, 2.0), pairwise.polynomial_kernel(x, y, 4, 0.3, 2.0)),
        (Sigmoid(0.3, 0.2), pairwise.sigmoid_kernel(x, y, 0.3, 0.2)),
        (Cosine(), pairwise.cosine_similarity(x, y)),
        (ChiSquared(0.7), pairwise.chi2_kernel(x, y, gamma=0.7)),
        (NegativeChiSquared(), pairwise.additive_chi2_kernel(x, y)),
    ]
    for kernel, truth in peers:
        np.testing.assert_allclose(kernel(x, y), truth, rtol=1e-12, atol=1e-15, err_msg=kernel)


ISOTROPIC = [kernel.with_params(lengthscale="median") for kernel, _ in SCALED[:-1]]
PRODUCTS = [
    Linear(),
    Polynomial(),
    Polynomial(2, coef0=0.0),
    Polynomial(2, gamma=-1.0, coef0=0.0),
    Polynomial(1, gamma=0.0, coef0=2.0),
    Cosine(),
    ArcCosine(0),
    ArcCosine(1),
]
HISTOGRAMS = [ChiSquared(), AdditiveChiSquared(), Intersection(), Overlap()]
POSITIVE = [*ISOTROPIC, Periodic(1.0, 2.5), *PRODUCTS, *HISTOGRAMS]
HISTOGRAMS += [NegativeChiSquared(), NegativeHamming()]
CONDITIONAL = [
    *(NegativeDistance(power) for power in (0.5, 1.0, 1.9, 2.0)),
    Multiquadric(0.3),
    Log(),
    NegativeChiSquared(),
    NegativeHamming(),
    Polynomial(1, 1.0, -5.0),
]


@pytest.mark.parametrize("kernel", [*POSITIVE, *CONDITIONAL], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_laws(kernel, dtype, rng):
    assert kernel.flag is (Flag.PD if kernel in POSITIVE else Flag.CPD)
    X = rng.poisson(1.5, (60, 3)).astype(dtype)
    if dtype is not np.uint8 and kernel not in HISTOGRAMS:
        X = (3 * rng.standard_normal((60, 3))).astype(dtype)
    X[5], X[7] = 0, X[3]
    check_kernel(kernel, X)
    if kernel in ISOTROPIC:
        check_kernel(kernel.with_params(lengthscale=[1.0, 2.0, 3.0]), X)
    if kernel in CONDITIONAL:
        found = evidence(kernel, X)
        assert (found.not_pd, found.not_cpd) == (True, False)


INDEFINITE = [
    Polynomial(2, 1.0, -1.0),
    Polynomial(3, 1.0, -2.0),
    Polynomial(3, -1.0, 1.0),
    Polynomial(1, -1.0, 0.0),
    Sigmoid(1.0, -1.0),
    Sigmoid(),
    PeriodicDistance(1.0, 2.0),
    NegativeDistance(2.5),
]


@pytest.mark.parametrize("kernel", INDEFINITE, ids=str)
def test_indefinite_kernels_are_caught(kernel, rng):
    assert kernel.flag is Flag.INDEFINITE
    found = evidence(kernel, rng.standard_normal((60, 3)))
    assert found.not_cpd, found.words
    assert found.negative_share > 0.01 or not isinstance(kernel, Polynomial | Sigmoid)


def test_flags_follow_the_parameters(rng):
    for kernel, flag in (
        (Polynomial(1, 1.0, -1.0), Flag.CPD),
        (Polynomial(2.5, 1.0, 1.0), Flag.INDEFINITE),
        (Polynomial(3, 0.0, -1.0), Flag.CPD),
        (PowerExponential(power=2.01), Flag.INDEFINITE),
        (Sigmoid(0.0, 1.0), Flag.PD),
        (Sigmoid(0.0, -1.0), Flag.CPD),
    ):
        assert kernel.flag is flag, kernel
    assert Sigmoid(0.0, -1.0)([[1.0], [2.0]]).tolist() == [[math.tanh(-1)] * 2] * 2
    line = np.linspace(-1, 1, 60)[:, None]
    for power in (2.5, 3.0, 4.0):
        assert evidence(PowerExponential(1.0, power), line).not_cpd
    X = rng.standard_normal((60, 2))
    assert not evidence(PeriodicDistance(1.0, 2.0), X[:, :1]).not_pd  # one column is sound
    assert evidence(Polynomial(1.5, 1.0, 1.0), np.linspace(0.05, 3, 40)[:, None]).not_pd
    with pytest.raises(InputError, match="no power that is not whole"):
        Polynomial(1.5, 1.0, 0.0)(np.array([[1.0], [-1.0]]))


@given(st.integers(0, 2**16), st.integers(1, 6))
def test_no_histograms_break_the_flags(seed, p):
    rng = np.random.default_rng(seed)
    X = rng.random((12, p)) ** rng.uniform(0.2, 5) * (rng.random((12, p)) < 0.7)
    for kernel in (AdditiveChiSquared(), Intersection(), NegativeChiSquared()):
        found = evidence(kernel, X)
        assert not found.contradicts, found.words


@pytest.mark.parametrize("kernel", ISOTROPIC, ids=str)
@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e8, 1e150])
def test_scale_is_absorbed(kernel, scale, rng):
    X = rng.standard_normal((20, 3))
    found = kernel.resolve(X * scale)(X * scale)
    np.testing.assert_allclose(found, kernel.resolve(X)(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", [*ISOTROPIC, *(k for k, _ in DISTANCES)], ids=str)
def test_a_shift_changes_nothing(kernel, rng):
    assert kernel.stationary
    X = np.round(rng.standard_normal((20, 3)) * 256) / 256  # so that the shift is exact
    near, far = (kernel.resolve(Y)(Y) for Y in (X, X + 2.0**30))
    close = {"rtol": 1e-10} if kernel in ISOTROPIC else {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(far, near, **close)


@pytest.mark.parametrize("kernel", [Cosine(), ArcCosine(0)], ids=str)
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_angles_do_not_depend_on_size(kernel, scale, rng):
    X = rng.standard_normal((10, 3))
    np.testing.assert_allclose(kernel(X * scale), kernel(X), rtol=1e-11, atol=1e-14)


def test_small_angles_keep_their_digits():
    eps = 2.0**-30
    K = ArcCosine(0)(np.array([[1.0, 0.0], [1.0, eps], [1.0, 0.0]]))
    assert K[0, 2] == 1
    assert (1 - K[0, 1]) * math.pi == pytest.approx(eps, rel=1e-6)


def test_periods_repeat(rng):
    X = np.round(rng.standard_normal((10, 2)) * 256) / 256
    k = Periodic(1.0, [2.0, 8.0])
    np.testing.assert_allclose(k(X, X + np.array([2.0**20, -(2.0**20)])), k(X), rtol=1e-12)


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


SPARSE = [RBF(2.0), Matern(2.0), RationalQuadratic(2.0), NegativeDistance(), Multiquadric()]


@pytest.mark.parametrize("kernel", [*SPARSE, Log(), *PRODUCTS], ids=str)
def test_sparse_rows(kernel, rng):
    X = sparse.random_array((40, 10), density=0.2, random_state=rng, format="csr")
    kernel = kernel.resolve(X.toarray())
    level = 0 if isinstance(kernel, Isotropic) else 1e-12
    np.testing.assert_allclose(kernel(X), kernel(X.toarray()), rtol=1e-9, atol=level)
    check_kernel(kernel, X)


def test_kernels_that_need_all_zeros_refuse_sparse_rows(rng):
    X = sparse.random_array((40, 10), density=0.2, random_state=rng, format="csr")
    for kernel in (Laplacian(1.0), Periodic()):
        with pytest.raises(InputError, match="not defined on sparse rows"):
            kernel(X)


@pytest.mark.parametrize(
    "kernel", [ChiSquared(1.0), AdditiveChiSquared(), NegativeChiSquared(), Intersection()]
)
def test_negative_counts_are_refused(kernel, rng):
    X = rng.random((5, 3))
    bad = X.copy()
    bad[4, 2] = -1
    for call in (lambda: kernel(bad), lambda: kernel(X, bad), lambda: kernel.diag(bad)):
        with pytest.raises(InputError, match="-1 in row 4, column 2"):
            call()


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
    assert found.contradicts
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


def test_parameters_follow_the_data(rng):
    X = 5 + rng.random((50, 3))
    pairs = np.triu_indices(50, 1)
    ell = RBF().resolve(X).lengthscale
    assert Matern().resolve(X).lengthscale == ell
    l1_apart = np.abs(X[:, None] - X).sum(axis=2)[pairs]
    assert Laplacian().resolve(X).lengthscale == pytest.approx(np.median(l1_apart))
    gamma = 1 / np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1))
    assert Polynomial().resolve(X).gamma == pytest.approx(gamma)
    assert Sigmoid().resolve(X).gamma == pytest.approx(gamma)
    assert Polynomial(2, 0.5).resolve(X) == Polynomial(2, 0.5)
    chi2_apart = -NegativeChiSquared()(X)[pairs]
    assert ChiSquared().resolve(X).gamma == pytest.approx(1 / np.median(chi2_apart))
    assert 1 / (2 * RBF.from_gamma(0.03).lengthscale ** 2) == pytest.approx(0.03)


WRONG = [
    lambda: Matern(nu=2.0),
    lambda: Matern(nu="a"),
    lambda: RationalQuadratic(alpha=0.0),
    lambda: PowerExponential(power=0.0),
    lambda: RBF.from_gamma(0.0),
    lambda: RBF([1.0, 2.0])(np.ones((2, 3))),
    lambda: Periodic("median"),
    lambda: Periodic(period=0.0),
    lambda: Periodic(period=[1.0, 2.0])(np.ones((2, 3))),
    lambda: PeriodicDistance([1.0, 2.0]),
    lambda: NegativeDistance(0.0),
    lambda: Multiquadric(0.0),
    lambda: Polynomial(0),
    lambda: Polynomial(-1),
    lambda: Polynomial("a"),
    lambda: Polynomial(gamma=np.inf),
    lambda: Polynomial(coef0=None),
    lambda: Sigmoid(gamma="auto"),
    lambda: ArcCosine(2),
    *(lambda bad=bad: ChiSquared(bad) for bad in (0.0, -1.0, "a")),
]


@pytest.mark.parametrize("make", WRONG)
def test_wrong_parameters(make):
    with pytest.raises(InputError) as caught:
        make()
    assert len(str(caught.value).splitlines()) == 3


def test_far_pairs_cost_nothing_and_are_nothing():
    X = np.concatenate([np.zeros((1, 2)), np.full((1, 2), 1e6)])
    for kernel, _ in SCALED[:5]:
        assert 0 <= kernel(X)[0, 1] < 1e-290
        assert 0 <= kernel(X.astype(np.float32))[0, 1] < 1e-34
