import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise

from mercer.errors import InputError
from mercer.kernels import ArcCosine, Cosine, Flag, Linear, Polynomial, Sigmoid, evidence
from mercer.testing import check_kernel


def dot(x, y):
    return sum(u * v for u, v in zip(x, y, strict=True))


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


FORMULAS = [
    (Linear(), dot),
    (Polynomial(3, 0.5, 1.5), lambda x, y: (0.5 * dot(x, y) + 1.5) ** 3),
    (Polynomial(2, 2.0, -1.0), lambda x, y: (2 * dot(x, y) - 1) ** 2),
    (Sigmoid(0.5, 0.1), lambda x, y: math.tanh(0.5 * dot(x, y) + 0.1)),
    (Cosine(), cosine),
    (ArcCosine(0), arc(0)),
    (ArcCosine(1), arc(1)),
]


@pytest.mark.parametrize(
    ("kernel", "formula"), FORMULAS, ids=[str(kernel) for kernel, _ in FORMULAS]
)
def test_formulas(xp, rng, kernel, formula):
    x, y = rng.standard_normal((8, 3)), rng.standard_normal((5, 3))
    x[2] = 0
    truth = [[formula(u, v) for v in y.tolist()] for u in x.tolist()]
    found = kernel(xp.asarray(x), xp.asarray(y))
    np.testing.assert_allclose(xp.numpy(found), truth, rtol=1e-11, atol=1e-13)
    truth = [formula(u, u) for u in x.tolist()]
    found = xp.numpy(kernel.diag(xp.asarray(x)))
    np.testing.assert_allclose(found, truth, rtol=1e-7)  # θ = 0 is hard for the plain formula


def test_scikit_learn_agrees(rng):
    x, y = rng.standard_normal((30, 4)), rng.standard_normal((20, 4))
    peers = [
        (Linear(), pairwise.linear_kernel(x, y)),
        (Polynomial(4, 0.3, 2.0), pairwise.polynomial_kernel(x, y, 4, 0.3, 2.0)),
        (Sigmoid(0.3, 0.2), pairwise.sigmoid_kernel(x, y, 0.3, 0.2)),
        (Cosine(), pairwise.cosine_similarity(x, y)),
    ]
    for kernel, truth in peers:
        np.testing.assert_allclose(kernel(x, y), truth, rtol=1e-12, atol=1e-14)


POSITIVE = [
    Linear(),
    Polynomial(),
    Polynomial(2, coef0=0.0),
    Polynomial(2, gamma=-1.0, coef0=0.0),
    Polynomial(1, gamma=0.0, coef0=2.0),
    Cosine(),
    ArcCosine(0),
    ArcCosine(1),
]


@pytest.mark.parametrize("kernel", POSITIVE, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_laws(kernel, dtype, rng):
    assert kernel.flag is Flag.PD
    X = (3 * rng.standard_normal((60, 3))).astype(dtype)
    X[5], X[7] = 0, X[3]
    check_kernel(kernel, X)


def test_flags_of_polynomials():
    assert Polynomial(1, 1.0, -1.0).flag is Flag.CPD
    assert Polynomial(2, 1.0, -1.0).flag is Flag.INDEFINITE
    assert Polynomial(3, -1.0, 1.0).flag is Flag.INDEFINITE
    assert Polynomial(1, -1.0, 0.0).flag is Flag.INDEFINITE
    assert Polynomial(2.5, 1.0, 1.0).flag is Flag.INDEFINITE
    assert Polynomial(3, 0.0, -1.0).flag is Flag.CPD
    assert Polynomial().flag is Flag.PD


@pytest.mark.parametrize(
    "kernel",
    [
        Polynomial(2, 1.0, -1.0),
        Polynomial(3, 1.0, -2.0),
        Polynomial(3, -1.0, 1.0),
        Polynomial(1, -1.0, 0.0),
        Sigmoid(1.0, -1.0),
        Sigmoid(),
    ],
    ids=str,
)
def test_eigenproblem_are_caught(kernel, rng):
    assert kernel.flag is Flag.INDEFINITE
    found = evidence(kernel, rng.standard_normal((60, 3)))
    assert found.not_cpd, found.words
    assert found.negative_share > 0.01


def test_a_fractional_degree_is_indefinite():
    X = np.linspace(0.05, 3, 40)[:, None]
    found = evidence(Polynomial(1.5, 1.0, 1.0), X)
    assert found.not_pd
    with pytest.raises(InputError, match="no power that is not whole"):
        Polynomial(1.5, 1.0, 0.0)(np.array([[1.0], [-1.0]]))


def test_a_straight_line_with_a_negative_constant_is_conditional(rng):
    kernel = Polynomial(1, 1.0, -5.0)
    check_kernel(kernel, rng.standard_normal((30, 2)))
    found = evidence(kernel, rng.standard_normal((30, 2)))
    assert found.not_pd
    assert not found.not_cpd


def test_constants_in_disguise():
    assert Sigmoid(0.0, 1.0).flag is Flag.PD
    assert Sigmoid(0.0, -1.0).flag is Flag.CPD
    assert Sigmoid(0.0, -1.0)([[1.0], [2.0]]).tolist() == [[math.tanh(-1)] * 2] * 2


@pytest.mark.parametrize("kernel", [Cosine(), ArcCosine(0)], ids=str)
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_angles_do_not_depend_on_size(kernel, scale, rng):
    X = rng.standard_normal((10, 3))
    np.testing.assert_allclose(kernel(X * scale), kernel(X), rtol=1e-11, atol=1e-14)


def test_zero_rows_have_no_angle(rng):
    X = rng.standard_normal((5, 3))
    X[2] = 0
    for kernel in (Cosine(), ArcCosine(0), ArcCosine(1)):
        np.testing.assert_array_equal(kernel(X)[2], 0)
        assert kernel.diag(X)[2] == 0


def test_small_angles_keep_their_digits():
    eps = 2.0**-30
    X = np.array([[1.0, 0.0], [1.0, eps], [1.0, 0.0]])
    K = ArcCosine(0)(X)
    assert K[0, 2] == 1
    assert (1 - K[0, 1]) * math.pi == pytest.approx(eps, rel=1e-6)


@pytest.mark.parametrize("kernel", POSITIVE, ids=str)
def test_sparse_rows(kernel, rng):
    X = sparse.random_array((40, 10), density=0.2, random_state=rng, format="csr")
    kernel = kernel.resolve(X.toarray())
    np.testing.assert_allclose(kernel(X), kernel(X.toarray()), rtol=1e-9, atol=1e-12)
    check_kernel(kernel, X)


def test_default_gamma(rng):
    X = 5 + rng.standard_normal((50, 3))
    gamma = 1 / np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1))
    assert Polynomial().resolve(X).gamma == pytest.approx(gamma)
    assert Sigmoid().resolve(X).gamma == pytest.approx(gamma)
    assert Polynomial(2, 0.5).resolve(X) == Polynomial(2, 0.5)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Polynomial(0),
        lambda: Polynomial(-1),
        lambda: Polynomial("a"),
        lambda: Polynomial(gamma=np.inf),
        lambda: Polynomial(coef0=None),
        lambda: Sigmoid(gamma="auto"),
        lambda: ArcCosine(2),
    ],
)
def test_wrong_parameters(make):
    with pytest.raises(InputError) as caught:
        make()
    assert len(str(caught.value).splitlines()) == 3
