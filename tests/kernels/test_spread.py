import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mercer.errors import InputError
from mercer.kernels import RBF, Laplacian, Polynomial


def median_length(X, weights=None):
    return RBF().resolve(X, weights).lengthscale


def inverse_variance(X, weights=None):
    return Polynomial().resolve(X, weights).gamma


def pairs(X):
    return [
        sum((u - v) ** 2 for u, v in zip(x, y, strict=True))
        for x, y in itertools.combinations(X.tolist(), 2)
    ]


@given(st.integers(2, 25), st.integers(1, 5), st.integers(0, 2**16))
def test_median_length_is_its_definition(n, p, seed):
    X = np.random.default_rng(seed).standard_normal((n, p))
    truth = math.sqrt(0.5 * statistics.median(pairs(X)))
    assert median_length(X) == pytest.approx(truth, rel=1e-11)


def test_median_length_on_every_library(xp, rng):
    X = rng.standard_normal((20, 3))
    assert median_length(xp.asarray(X)) == pytest.approx(median_length(X), rel=1e-12)
    assert median_length(sparse.csr_array(X)) == pytest.approx(median_length(X), rel=1e-11)


def length_of_l1(X, weights=None):
    return Laplacian().resolve(X, weights).lengthscale


def test_a_zero_median_falls_to_the_mean_of_the_others():
    X = np.zeros((10, 2))
    X[0] = [3.0, 4.0]
    assert median_length(X) == pytest.approx(math.sqrt(12.5))
    assert length_of_l1(X) == pytest.approx(7.0)


def test_one_row_is_refused():
    with pytest.raises(InputError, match="fewer than two rows"):
        median_length(np.ones((1, 2)))


@pytest.mark.parametrize("X", [np.ones((5, 2)), np.zeros((2, 1))])
def test_equal_rows_are_refused(X):
    with pytest.raises(InputError, match="all equal"):
        median_length(X)
    with pytest.raises(InputError, match="usable spread"):
        inverse_variance(X)


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e200])
@pytest.mark.parametrize("shift", [0.0, 2.0**30])
def test_scale_and_shift(rng, scale, shift):
    X = np.round(rng.standard_normal((30, 3)) * 256) / 256
    assert median_length((X + shift) * scale) == pytest.approx(median_length(X) * scale)


def test_inverse_variance(rng):
    X = 1e6 + rng.standard_normal((50, 3))
    truth = 1 / np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1))
    assert inverse_variance(X) == pytest.approx(truth, rel=1e-9)
    assert inverse_variance(sparse.csr_array(X)) == pytest.approx(truth, rel=1e-9)
    for scale in (1e-200, 1e200):
        with pytest.raises(InputError, match="usable spread"):
            inverse_variance(rng.standard_normal((5, 2)) * scale)


@pytest.mark.parametrize(("n", "step"), [(2000, 1), (2001, 2), (10_001, 6)])
def test_large_samples_are_thinned(rng, n, step):
    X = rng.standard_normal((n, 2))
    assert median_length(X) == median_length(X[::step])
    assert inverse_variance(X) == inverse_variance(X[::step])


@given(st.integers(2, 12), st.integers(0, 2**16))
def test_weights_are_repeats(n, seed):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, 2)), rng.integers(1, 6, n)
    again = np.repeat(X, w, axis=0)
    assert median_length(X, w) == pytest.approx(median_length(again), rel=1e-12)
    assert length_of_l1(X, w) == pytest.approx(length_of_l1(again), rel=1e-12)
    assert inverse_variance(X, w) == pytest.approx(inverse_variance(again), rel=1e-12)


def test_a_heavy_row_leaves_the_mean_of_distances_from_it():
    X = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 5.0]])
    w = np.array([1e12, 1.0, 3.0])
    assert median_length(X, w) == pytest.approx(math.sqrt(12.5))
    assert inverse_variance(X + 1e6, w) == pytest.approx(1e12 / 100.0, rel=1e-9)
