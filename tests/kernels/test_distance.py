import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process import kernels as gp

from mercer.errors import InputError
from mercer.kernels import (
    Flag,
    Log,
    Multiquadric,
    NegativeDistance,
    Periodic,
    PeriodicDistance,
    evidence,
)
from mercer.testing import check_kernel


def l2(x, y):
    return math.sqrt(sum((u - v) ** 2 for u, v in zip(x, y, strict=True)))


def turn(d, period, ell):
    return math.exp(-2 * math.sin(math.pi * d / period) ** 2 / ell**2)


FORMULAS = [
    (
        Periodic(0.8, 1.5),
        lambda x, y: math.prod(turn(u - v, 1.5, 0.8) for u, v in zip(x, y, strict=True)),
    ),
    (
        Periodic([0.5, 1, 2], [1, 2, 3]),
        lambda x, y: math.prod(
            turn(u - v, period, ell)
            for u, v, ell, period in zip(x, y, (0.5, 1, 2), (1, 2, 3), strict=True)
        ),
    ),
    (PeriodicDistance(0.8, 1.5), lambda x, y: turn(l2(x, y), 1.5, 0.8)),
    (NegativeDistance(), lambda x, y: -l2(x, y)),
    (NegativeDistance(1.5), lambda x, y: -(l2(x, y) ** 1.5)),
    (NegativeDistance(2), lambda x, y: -(l2(x, y) ** 2)),
    (Multiquadric(0.7), lambda x, y: -math.sqrt(0.49 + l2(x, y) ** 2)),
    (Log(), lambda x, y: -math.log(1 + l2(x, y) ** 2)),
]


@pytest.mark.parametrize(
    ("kernel", "formula"), FORMULAS, ids=[str(kernel) for kernel, _ in FORMULAS]
)
def test_formulas(xp, rng, kernel, formula):
    assert kernel.stationary
    x, y = rng.standard_normal((8, 3)), rng.standard_normal((5, 3))
    truth = [[formula(u, v) for v in y.tolist()] for u in x.tolist()]
    found = kernel(xp.asarray(x), xp.asarray(y))
    np.testing.assert_allclose(xp.numpy(found), truth, rtol=1e-11, atol=1e-13)


def test_scikit_learn_agrees(rng):
    x, y = rng.standard_normal((30, 4)), rng.standard_normal((20, 4))
    truth = gp.ExpSineSquared(0.8, 1.5)(x, y)
    np.testing.assert_allclose(PeriodicDistance(0.8, 1.5)(x, y), truth, rtol=1e-11)
    truth = gp.ExpSineSquared(0.8, 1.5)(x[:, :1], y[:, :1])
    np.testing.assert_allclose(Periodic(0.8, 1.5).on(0)(x, y), truth, rtol=1e-11)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_laws(dtype, rng):
    X = (4 * rng.standard_normal((60, 3))).astype(dtype)
    X[7] = X[3]
    assert Periodic().flag is Flag.PD
    check_kernel(Periodic(1.0, 2.5), X)
    for kernel in (NegativeDistance(0.5), NegativeDistance(), NegativeDistance(1.9)):
        assert kernel.flag is Flag.CPD
        check_kernel(kernel, X)
    for kernel in (NegativeDistance(2.0), Multiquadric(0.3), Log()):
        assert kernel.flag is Flag.CPD
        check_kernel(kernel, X)


def test_periodic_of_a_distance_is_caught(rng):
    kernel = PeriodicDistance(1.0, 2.0)
    assert kernel.flag is Flag.INDEFINITE
    X = rng.standard_normal((60, 2))
    found = evidence(kernel, X)
    assert found.not_cpd, found.words
    assert not evidence(kernel, X[:, :1]).not_pd  # one coordinate is the sound case
    assert not evidence(Periodic(1.0, 2.0), X).not_pd


def test_distances_to_a_power_beyond_two_are_caught(rng):
    assert NegativeDistance(2.5).flag is Flag.INDEFINITE
    assert evidence(NegativeDistance(2.5), rng.standard_normal((40, 2))).not_cpd


def test_conditional_kernels_are_not_more(rng):
    X = rng.standard_normal((40, 2))
    for kernel in (NegativeDistance(), Multiquadric(), Log()):
        found = evidence(kernel, X)
        assert found.not_pd
        assert not found.not_cpd


@pytest.mark.parametrize(
    "kernel",
    [Periodic(1.0, 2.0), NegativeDistance(), NegativeDistance(2), Multiquadric(), Log()],
)
def test_a_shift_changes_nothing(kernel, rng):
    X = np.round(rng.standard_normal((20, 3)) * 256) / 256
    np.testing.assert_allclose(kernel(X + 2.0**30), kernel(X), rtol=1e-9, atol=1e-9)


def test_periods_repeat(rng):
    X = np.round(rng.standard_normal((10, 2)) * 256) / 256
    k = Periodic(1.0, [2.0, 8.0])
    np.testing.assert_allclose(k(X, X + np.array([2.0**20, -(2.0**20)])), k(X), rtol=1e-12)


def test_sparse_rows(rng):
    X = sparse.random_array((30, 10), density=0.2, random_state=rng, format="csr")
    for kernel in (NegativeDistance(), Multiquadric(), Log()):
        np.testing.assert_allclose(kernel(X), kernel(X.toarray()), rtol=1e-9, atol=1e-12)
    with pytest.raises(InputError, match="sparse rows"):
        Periodic()(X)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Periodic("median"),
        lambda: Periodic(period=0.0),
        lambda: Periodic(period=[1.0, 2.0])(np.ones((2, 3))),
        lambda: PeriodicDistance([1.0, 2.0]),
        lambda: NegativeDistance(0.0),
        lambda: Multiquadric(0.0),
    ],
)
def test_wrong_parameters(make):
    with pytest.raises(InputError) as caught:
        make()
    assert len(str(caught.value).splitlines()) == 3
