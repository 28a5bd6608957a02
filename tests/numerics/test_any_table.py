"""Properties of every table that Hypothesis can think of."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from jacobi import reference
from relations import assert_same_values

from mercer import PCA
from mercer.errors import AccuracyWarning, DataWarning, InputError

CELLS = st.one_of(
    st.integers(-4, 4).map(float),
    st.floats(-1e3, 1e3, width=32),
    st.sampled_from([0.0, 1e8, 1e8 + 1, -1e8, 1e-9, 0.1]),
)
TABLES = st.tuples(st.integers(2, 12), st.integers(1, 8)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=CELLS)
)


def fitted(X, k=None, **parameters):
    """Return the model, or discard a table in which nothing varies."""
    weights = parameters.pop("sample_weight", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", AccuracyWarning)
        warnings.simplefilter("ignore", DataWarning)
        try:
            return PCA(k, **parameters).fit(X, sample_weight=weights)
        except InputError as refusal:
            nothing = "no variance" in refusal.what
    assume(not nothing)
    raise AssertionError("refused for another reason than constant data")


def check_numbers(X, _seed):
    a = fitted(X)
    truth = reference(X)
    numbers = [
        a.components_, a.explained_variance_, a.explained_variance_ratio_, a.singular_values_,
        a.mean_, a.noise_variance_, a.certificate_.lower, a.certificate_.upper,
        a.certificate_.residual, a.certificate_.sine,
    ]  # fmt: skip
    assert all(np.isfinite(part).all() for part in numbers)
    assert np.all(np.diff(a.explained_variance_) <= 0)
    assert np.all(a.explained_variance_ >= 0)
    assert a.noise_variance_ >= 0
    assert a.explained_variance_ratio_.sum() <= 1 + 1e-12
    assert not a.components_[a.rank_ :].any()
    assert a.rank_ <= min(len(X) - 1, X.shape[1])
    for i in range(len(a.explained_variance_)):
        low, high = truth.interval(i)
        assert a.certificate_.lower[i] <= high
        assert a.certificate_.upper[i] >= low


def check_whitening(X, _seed):
    """No whitened training row is farther than √(n-1) out, and tiny moves stay tiny."""
    a = fitted(X, whiten=True)
    Z = a.transform(X)
    assert np.isfinite(Z).all()
    # An axis barely above the zero level carries few digits; its length is still bounded.
    assert np.abs(Z).max() <= 1.01 * np.sqrt(len(X) - 1)
    assert not Z[:, a.rank_ :].any()


def check_roundtrip(X, _seed):
    a = fitted(X)
    back = a.inverse_transform(a.transform(X))
    size = np.abs(X - X.mean(axis=0)).max()
    assert np.abs(back - X).max() <= 1e-7 * size + 1e-14 * np.abs(X).max()


def check_order(X, seed):
    a = fitted(X)
    rng = np.random.default_rng(seed)
    b = fitted(X[rng.permutation(len(X))])
    c = fitted(X[:, rng.permutation(X.shape[1])])
    assert_same_values(a, b, tight=1e-12)
    assert_same_values(a, c, tight=1e-12)


def check_weights(X, seed):
    counts = np.random.default_rng(seed).integers(0, 4, len(X))
    assume(counts.sum() >= 2)
    repeated = np.repeat(X, counts, axis=0)
    k = min(repeated.shape)
    a, b = fitted(X, k, sample_weight=counts), fitted(repeated, k)
    assert_same_values(a, b, tight=1e-10)
    assert abs(a.noise_variance_ - b.noise_variance_) <= 1e-10 * a.explained_variance_[0]


def check_standard(X, _seed):
    with np.errstate(all="ignore"):
        a = fitted(X, standardize=True)
    assert np.isfinite(a.components_).all()
    assert np.isfinite(a.scale_).all()
    assert np.all(a.scale_ > 0)
    assert np.isfinite(a.transform(X)).all()


CHECKS = [
    check_numbers,
    check_whitening,
    check_roundtrip,
    check_order,
    check_weights,
    check_standard,
]
each_check = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)


@each_check
@settings(max_examples=40, deadline=None, derandomize=True)
@given(TABLES, st.integers(0, 100))
def test_any_table(check, X, seed):
    check(X, seed)


@pytest.mark.slow
@each_check
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(TABLES, st.integers(0, 100))
def test_any_table_at_length(check, X, seed):
    check(X, seed)
