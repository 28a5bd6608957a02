import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mercer.errors import InputError
from mercer.kernels import RBF, FeatureMap, Linear, NegativeDistance, cka, hsic, mmd, ngrams


def data(seed, n=12, p=2):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)), rng.standard_normal((n, p))


def test_alignment(xp, rng):
    X = rng.standard_normal((15, 3))
    K, L = X @ X.T, RBF(1.0)(X)
    H = np.eye(15) - 1 / 15
    truth = np.sum((H @ K @ H) * (H @ L @ H))
    truth /= np.linalg.norm(H @ K @ H) * np.linalg.norm(H @ L @ H)
    assert cka(xp.asarray(K), xp.asarray(L)) == pytest.approx(truth)
    assert cka(K, L) == pytest.approx(cka(L, K))
    assert cka(K, K) == pytest.approx(1)
    assert cka(1e200 * K, 1e-200 * L) == pytest.approx(truth)
    assert cka(K + 1e6, L - 1e6) == pytest.approx(truth, abs=1e-8)
    with pytest.raises(InputError, match="constant on these rows"):
        cka(K, np.ones((15, 15)))
    with pytest.raises(InputError, match="of the same rows"):
        cka(K, L[:3, :3])
    for bad in (np.ones(3), np.ones((3, 2)), np.ones((1, 1))):
        with pytest.raises(InputError, match="square"):
            cka(bad, bad)


@given(st.integers(0, 2**16))
def test_hsic_is_its_definition(seed):
    X, Y = data(seed)
    K, L, n = X @ X.T, RBF(1.0)(Y), 12
    H = np.eye(n) - 1 / n
    assert hsic(K, L) == pytest.approx(np.trace(K @ H @ L @ H) / (n - 1) ** 2)
    # The unbiased form as Song et al. write it, equation 5.
    K, L = K - np.diag(np.diagonal(K)), L - np.diag(np.diagonal(L))
    truth = np.trace(K @ L) + K.sum() * L.sum() / ((n - 1) * (n - 2))
    truth = (truth - 2 / (n - 2) * K.sum(axis=0) @ L.sum(axis=1)) / (n * (n - 3))
    K, L = X @ X.T, RBF(1.0)(Y)
    assert hsic(K, L, unbiased=True) == pytest.approx(truth, abs=1e-12)
    shifted = hsic(K + 1e5, L, unbiased=True)
    assert shifted == pytest.approx(truth, abs=1e-9)


def test_unbiased_hsic_is_unbiased():
    # Over all pairings of four rows with four, dependence averages out exactly.
    X, Y = data(0, n=4)
    K, L = X @ X.T, Y @ Y.T
    orders = list(itertools.permutations(range(4)))
    values = [hsic(K, L[np.ix_(o, o)], unbiased=True) for o in orders]
    assert np.mean(values) == pytest.approx(0, abs=1e-12)
    with pytest.raises(InputError, match="four rows"):
        hsic(K[:3, :3], L[:3, :3], unbiased=True)


@given(st.integers(0, 2**16))
def test_mmd_is_its_definition(seed):
    X, Y = data(seed)
    Y = Y[:7]
    for kernel in (RBF(1.3), NegativeDistance(), Linear(), Linear() + RBF(1.0)):
        xx, yy, xy = kernel(X), kernel(Y), kernel(X, Y)
        biased = xx.mean() + yy.mean() - 2 * xy.mean()
        assert mmd(kernel, X, Y, unbiased=False) == pytest.approx(biased, abs=1e-11)
        off = (xx.sum() - np.trace(xx)) / 132 + (yy.sum() - np.trace(yy)) / 42
        assert mmd(kernel, X, Y) == pytest.approx(off - 2 * xy.mean(), abs=1e-11)


@pytest.mark.parametrize("kernel", [Linear(), RBF(1.0), NegativeDistance()], ids=str)
def test_mmd_does_not_depend_on_the_place(kernel):
    X, Y = (np.round(z * 256) / 256 for z in data(1))
    still = mmd(kernel, X, Y)
    assert mmd(kernel, X, X, unbiased=False) == pytest.approx(0, abs=1e-15)
    assert mmd(kernel, X + 2.0**30, Y + 2.0**30) == pytest.approx(still, rel=1e-9)


def test_linear_mmd_is_the_distance_of_means():
    X, Y = data(2)
    truth = np.sum((X.mean(axis=0) - Y.mean(axis=0)) ** 2)
    assert mmd("linear", X, Y, unbiased=False) == pytest.approx(truth)
    found = mmd("linear", sparse.csr_array(X), sparse.csr_array(Y), unbiased=False)
    assert found == pytest.approx(truth)
    assert mmd("linear", X.tolist(), Y.tolist(), unbiased=False) == pytest.approx(truth)


def test_texts():
    same = mmd(FeatureMap(ngrams(2)), ["aba", "bab"], ["bab", "aba"], unbiased=False)
    other = mmd(FeatureMap(ngrams(2)), ["aba", "bab"], ["xyx", "yxy"], unbiased=False)
    assert same == pytest.approx(0, abs=1e-12)
    assert other > 1


def test_small_samples_are_refused():
    X, Y = data(4)
    with pytest.raises(InputError, match="12 and 1 rows"):
        mmd("linear", X, Y[:1])
    assert mmd("linear", X, Y[:1], unbiased=False) > 0
