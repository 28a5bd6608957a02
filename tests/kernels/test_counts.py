import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise

from mercer.errors import InputError
from mercer.kernels import (
    AdditiveChiSquared,
    ChiSquared,
    Flag,
    Intersection,
    NegativeChiSquared,
    NegativeHamming,
    Overlap,
    evidence,
)
from mercer.testing import check_kernel


def chi2(x, y):
    return sum((u - v) ** 2 / (u + v) for u, v in zip(x, y, strict=True) if u + v)


FORMULAS = [
    (ChiSquared(0.4), lambda x, y: math.exp(-0.4 * chi2(x, y))),
    (NegativeChiSquared(), lambda x, y: -chi2(x, y)),
    (
        AdditiveChiSquared(),
        lambda x, y: sum(2 * u * v / (u + v) for u, v in zip(x, y, strict=True) if u + v),
    ),
    (Intersection(), lambda x, y: sum(map(min, x, y))),
    (Overlap(), lambda x, y: sum(u == v for u, v in zip(x, y, strict=True)) / len(x)),
    (NegativeHamming(), lambda x, y: -sum(u != v for u, v in zip(x, y, strict=True)) / len(x)),
]


@pytest.mark.parametrize(
    ("kernel", "formula"), FORMULAS, ids=[str(kernel) for kernel, _ in FORMULAS]
)
def test_formulas(xp, rng, kernel, formula):
    x, y = rng.poisson(1.5, (9, 4)).astype(float), rng.poisson(1.5, (5, 4)).astype(float)
    x[3] = 0
    truth = [[formula(u, v) for v in y.tolist()] for u in x.tolist()]
    found = kernel(xp.asarray(x), xp.asarray(y))
    np.testing.assert_allclose(xp.numpy(found), truth, rtol=1e-13, atol=1e-15)


def test_scikit_learn_agrees(rng):
    x, y = rng.random((30, 4)), rng.random((20, 4))
    np.testing.assert_allclose(ChiSquared(0.7)(x, y), pairwise.chi2_kernel(x, y, gamma=0.7))
    np.testing.assert_allclose(NegativeChiSquared()(x, y), pairwise.additive_chi2_kernel(x, y))


@pytest.mark.parametrize(
    "kernel", [ChiSquared(), AdditiveChiSquared(), Intersection(), Overlap()], ids=str
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_laws(kernel, dtype, rng):
    assert kernel.flag is Flag.PD
    X = rng.poisson(1.5, (60, 4)).astype(dtype)
    X[5] = 0
    check_kernel(kernel, X)


@pytest.mark.parametrize("kernel", [NegativeChiSquared(), NegativeHamming()], ids=str)
def test_laws_of_the_conditional_ones(kernel, rng):
    assert kernel.flag is Flag.CPD
    X = rng.poisson(1.5, (60, 4)).astype(float)
    check_kernel(kernel, X)
    assert evidence(kernel, X).not_pd


@given(st.integers(0, 2**16), st.integers(1, 6))
def test_no_histograms_break_the_flags(seed, p):
    rng = np.random.default_rng(seed)
    X = rng.random((12, p)) ** rng.uniform(0.2, 5) * (rng.random((12, p)) < 0.7)
    for kernel in (AdditiveChiSquared(), Intersection(), NegativeChiSquared()):
        found = evidence(kernel, X)
        assert not found.contradicts, found.words


@pytest.mark.parametrize(
    "kernel", [ChiSquared(1.0), AdditiveChiSquared(), NegativeChiSquared(), Intersection()]
)
def test_negative_counts_are_refused(kernel, rng):
    X = rng.random((5, 3))
    bad = X.copy()
    bad[4, 2] = -1
    with pytest.raises(InputError, match="-1 in row 4, column 2"):
        kernel(bad)
    with pytest.raises(InputError, match="row 4, column 2"):
        kernel(X, bad)
    with pytest.raises(InputError, match="row 4, column 2"):
        kernel.diag(bad)


def test_default_gamma(rng):
    X = rng.random((20, 3))
    d = -NegativeChiSquared()(X)[np.triu_indices(20, 1)]
    assert ChiSquared().resolve(X).gamma == pytest.approx(1 / np.median(d))
    for bad in (0.0, -1.0, "a"):
        with pytest.raises(InputError):
            ChiSquared(bad)
