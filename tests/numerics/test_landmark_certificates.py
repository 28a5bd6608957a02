"""λ_i ∈ [ν_i, ν_i + t] and the bound of compressed projections, against LAPACK."""

import numpy as np
import pytest

from mercer.kernels import RBF, Laplacian, Linear, Log, Matern, NegativeDistance, Polynomial
from mercer.operators import Landmarks, LandmarkSums, choose

KERNELS = [
    RBF(1.0),
    RBF(5.0),
    Laplacian(2.0),
    Matern(2.0, nu=1.5),
    Linear(),
    Polynomial(3, gamma=0.3, coef0=1.0),
    NegativeDistance(),
    Log(),
]
SHAPES = ["plain", "far", "duplicates", "outlier", "float32", "grades", "two rows"]


def table(shape):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((2 if shape == "two rows" else 140, 3))
    if shape == "far":
        X += 1e3
    elif shape == "duplicates":
        X[40:] = X[rng.integers(0, 40, 100)]
    elif shape == "outlier":
        X[17] = 1e3
    elif shape == "grades":
        X *= np.array([1.0, 1e-3, 1e-6])
    return X.astype(np.float32) if shape == "float32" else X


def centred(K, w):
    """Return D^½(I - 1πᵀ)K(I - π1ᵀ)D^½."""
    out = np.eye(len(K)) - np.outer(np.ones(len(K)), w / w.sum())
    return np.sqrt(w)[:, None] * (out @ K @ out.T) * np.sqrt(w)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_eigenvalues_lie_in_their_intervals(kernel, shape, weighted):
    X = table(shape)
    n = len(X)
    w = np.random.default_rng(6).integers(0, 4, n).astype(float) if weighted else np.ones(n)
    w[:2] = 1
    K = kernel.block(X.astype(np.float64))
    exact = np.linalg.eigvalsh(centred(K, w))[::-1]
    rounding = 1e-12 * np.sum(w) * np.abs(K).max()
    for most, sampler in ((1, "uniform"), (12, "kmeans++"), (40, "pivoted"), (200, "pivoted")):
        found = choose(kernel, X, most, sampler=sampler, weights=w)
        f, m = found.f, found.landmarks.m
        mean = w @ f / w.sum()
        g = np.sqrt(w)[:, None] * (f - mean)
        nu = np.linalg.eigvalsh(g.T @ g)[::-1]
        assert np.all(nu <= exact[:m] + rounding)
        assert np.all(exact[:m] <= nu + found.trace + rounding)
        assert np.all(exact[m:] <= found.trace + rounding)
        sums = LandmarkSums(found.landmarks).add(X, w)
        streamed, _, _, t = sums.pairs()
        np.testing.assert_allclose(streamed, np.maximum(nu, 0), rtol=0, atol=1e3 * rounding)
        assert t == pytest.approx(found.trace, rel=1e-6, abs=1e3 * rounding)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_compressed_projections_keep_their_bound(kernel):
    """|u_jᵀ(k_X(x) - F f(x))|/√λ_j ≤ √(u_jᵀNu_j/λ_j)·√r(x), for rows near and far."""
    X = table("plain")
    marks = choose(kernel, X, 15).landmarks
    new = np.concatenate([X[:5], X[5:10] + 0.1, 3 * X[10:20], [[50.0, 0, 0]]])

    def k(a, b):
        if marks.origin is None:
            return kernel.block(a, b)
        o = marks.origin
        return kernel.block(a, b) - kernel.block(a, o) - kernel.block(o, b) + kernel.block(o)

    K = k(X, X)
    (f, _), (g, r) = marks.features(X), marks.features(new)
    values, u = np.linalg.eigh(centred(K, np.ones(len(X))))
    values, u = values[::-1][:4], u[:, ::-1][:, :4]
    values, u = values[values > 1e-9 * values[0]], u[:, values > 1e-9 * values[0]]
    left = np.maximum(np.diag(u.T @ (K - f @ f.T) @ u), 0)
    error = np.abs(u.T @ (k(X, new) - f @ g.T)) / np.sqrt(values)[:, None]
    bound = np.sqrt(left / values)[:, None] * np.sqrt(r)
    # Both factors of the bound are roots of differences: each is known to √rounding.
    size = np.abs(k(new, new)).max()
    assert np.all(error <= bound + 1e-6 * np.sqrt(size))


def test_few_landmarks_are_nested():
    X = table("plain")
    found = choose(RBF(1.0), X, 30)
    traces = [found.landmarks.subset(m).features(X)[1].sum() for m in (1, 5, 12, 30)]
    assert np.all(np.diff(traces) < 0)
    np.testing.assert_allclose(traces[-1], found.trace, rtol=1e-9)
    one = Landmarks.of(RBF(1.0), X[:1]).features(X)[1]
    np.testing.assert_allclose(one, 1 - RBF(1.0).block(X, X[:1])[:, 0] ** 2, atol=1e-15)
