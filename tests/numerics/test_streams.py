"""Streams of every kind against LAPACK on all their rows: batches, merges, removals."""

import itertools

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mercer import PCA

SHAPES = ["plain", "far", "trended", "sorted", "sparse", "few", "small"]
SEEDS = st.integers(0, 2**32 - 1)
CASES = st.tuples(
    SEEDS,
    st.integers(3, 400),
    st.integers(1, 12),
    st.sampled_from(SHAPES),
    st.booleans(),
    st.sampled_from([1, 7, 50, 300]),
)
# Far below the first eigenvalue sums have fewer digits than rows, and say so.
honest = pytest.mark.filterwarnings("ignore::mercer.AccuracyWarning")


def stream_of(seed, n, p, shape, weighted, most):
    """Return rows (n, p), counts or None, and where the stream is cut into batches."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-2, 2, p)
    if shape == "far":
        X += rng.choice([-1e6, 1e6], p)
    elif shape == "trended":
        X += np.linspace(0, 1e4, n)[:, None] * rng.standard_normal(p)
    elif shape == "sorted":
        X = X[np.argsort(X[:, 0])]
    elif shape == "few":
        X = np.round(X)
    elif shape == "small":
        X *= 1e-150
    if shape == "sparse" or not np.ptp(X):
        X = np.where(rng.random((n, p)) < 0.4, X, 0.0)
        X[0] = X[1] + 1
    counts = rng.integers(1, 4, n).astype(float) if weighted else None
    cuts = np.cumsum(rng.integers(1, most + 1, n))
    cuts = [0, *(int(c) for c in cuts[cuts < n]), n]
    parts = [slice(a, b) for a, b in itertools.pairwise(cuts)]
    return X, counts, parts, shape == "sparse", rng


def part_of(X, part, sparse):
    return scipy.sparse.csr_array(X[part]) if sparse else X[part]


def count_of(counts, part):
    return None if counts is None else counts[part]


def agrees(model, X, counts, scale=None):
    """Assert that a model is that of these rows, to 1e-9 of the largest eigenvalue."""
    w = np.ones(len(X)) if counts is None else counts
    unit = 2.0 ** np.floor(np.log2(np.max(np.abs(X)) or 1.0))
    far = (X - X[0]) / unit  # exact or nearly so, so that the mean has all its digits
    Y = np.sqrt(w)[:, None] * (far - w @ far / w.sum())
    s, axes = np.linalg.svd(Y, full_matrices=False)[1:]
    exact = np.append(s**2, np.zeros(X.shape[1])) / (w.sum() - 1)
    top = exact[0] if scale is None else scale / unit**2
    k = model.n_components_
    found = model._unit_deviations**2 * (2.0**model._centring.exponent / unit) ** 2
    np.testing.assert_allclose(found, exact[:k], atol=1e-9 * top, rtol=0)
    gaps = exact[:-1] - exact[1:]
    best = int(np.argmax(gaps[:k]))
    if best + 1 <= model.rank_ and gaps[best] > 1e-6 * top:
        one, two = model.components_[: best + 1], axes[: best + 1]
        apart = np.linalg.norm(one.T @ one - two.T @ two, 2)
        assert apart <= max(1e-9, 1e-9 * top / gaps[best])


def varies(X):
    return len(X) >= 2 and np.ptp(X, axis=0).max() > 0


def check(case):
    X, counts, parts, sparse, rng = stream_of(*case)
    order = rng.permutation(len(parts)) if rng.random() < 0.5 else np.arange(len(parts))
    one, two = PCA(), PCA()
    cut = int(rng.integers(0, len(parts) + 1))
    for place, number in enumerate(order):
        model, part = (one if place < cut else two), parts[number]
        model.partial_fit(part_of(X, part, sparse), sample_weight=count_of(counts, part))
        if rng.random() < 0.1:
            hasattr(model, "components_")
    if 0 < cut < len(parts):
        one.merge(two)
    whole = one if cut else two
    agrees(whole, X, counts)
    assert whole.n_samples_seen_ == len(X)
    gone = np.zeros(len(X), bool)
    for number in order[: int(rng.integers(0, len(parts)))]:
        gone[parts[number]] = True
    if gone.any() and varies(X[~gone]):
        top = float(np.max(np.linalg.eigvalsh(np.atleast_2d(np.cov(X.T / 1e3)))) * 1e6)
        most = top * len(X) * 3 / (np.sum(~gone) - 1)
        whole.remove(part_of(X, gone, sparse), sample_weight=count_of(counts, gone))
        agrees(whole, X[~gone], count_of(counts, ~gone), scale=most)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(CASES)
@honest
def test_a_stream_is_the_fit_of_its_rows(case):
    check(case)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(CASES)
@honest
def test_a_thousand_streams(case):
    check(case)
