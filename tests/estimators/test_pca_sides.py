"""Axes of the features from pairs of the samples: v = X̃ᵀu/‖X̃ᵀu‖."""

import numpy as np

from mercer.estimators.walk._operated_estimator import features_from_samples
from mercer.operators import Centring, Dense, centred, rows_of
from mercer.solvers import Exact, Goal
from mercer.sources import scan


def pairs(X, k):
    centred_rows = X - X.mean(axis=0)
    gram = Dense(centred_rows @ centred_rows.T, symmetric=True)
    spectrum = Exact().solve(gram, Goal(k, psd=True))
    rows = rows_of(scan(X), exponent=0, origin=np.zeros(X.shape[1]))
    op = centred(rows, Centring(np.zeros(X.shape[1]), X.mean(axis=0)))
    return features_from_samples(op, spectrum), centred_rows


def test_axes_are_those_of_the_svd():
    X = np.random.default_rng(0).standard_normal((12, 40)) * np.linspace(3, 1, 40)
    found, rows = pairs(X, 5)
    _, s, vt = np.linalg.svd(rows, full_matrices=False)
    np.testing.assert_allclose(found.values[:5], s[:5] ** 2, rtol=1e-10)
    apart = found.right[:, :5] @ found.right[:, :5].T - vt[:5].T @ vt[:5]
    assert np.linalg.norm(apart, 2) < 1e-10


def test_axes_far_below_the_first_stay_orthonormal():
    rng = np.random.default_rng(1)
    u, _ = np.linalg.qr(rng.standard_normal((10, 4)))
    v, _ = np.linalg.qr(rng.standard_normal((60, 4)))
    X = (u * [1.0, 1e-2, 1e-4, 1e-5]) @ v.T
    found, _ = pairs(X, 3)
    inner = found.right[:, :3].T @ found.right[:, :3]
    assert np.linalg.norm(inner - np.eye(3)) < 1e-12
