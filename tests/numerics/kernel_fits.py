"""Kernel PCA bound to one path, kernels by plain formulas, and coordinates as subspaces."""

import warnings

import numpy as np
from forced import bound_to
from scipy.spatial.distance import cdist

from mercer import KernelPCA
from mercer.errors import AccuracyWarning, DataWarning
from mercer.kernels import (
    RBF,
    ArcCosine,
    Cosine,
    Laplacian,
    Linear,
    Log,
    Matern,
    NegativeDistance,
    Polynomial,
    RationalQuadratic,
)

FORCED = {path: bound_to(KernelPCA, path) for path in ("lapack", "stored", "tiles", "primal")}
FORCED["auto"] = KernelPCA
MATRIX = ("lapack", "stored")


def fit(path, X, k, *, sample_weight=None, **parameters):
    """Return kernel PCA fitted along `path`; remarks about the data do not stop it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        warnings.simplefilter("ignore", DataWarning)
        return FORCED[path](k, **parameters).fit(X, sample_weight=sample_weight)


def fit_transform(path, X, k, *, sample_weight=None, **parameters):
    """Return the model and what its `fit_transform` gave."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        warnings.simplefilter("ignore", DataWarning)
        model = FORCED[path](k, **parameters)
        return model, model.fit_transform(X, sample_weight=sample_weight)


def _sq(x, y):
    return cdist(x, y, "sqeuclidean")


def _matern32(x, y):
    d = np.sqrt(3.0) * cdist(x, y) / 1.5
    return (1 + d) * np.exp(-d)


def _arc1(x, y):
    a, b = np.linalg.norm(x, axis=1)[:, None], np.linalg.norm(y, axis=1)[None, :]
    cosine = np.clip(x @ y.T / (a * b), -1, 1)
    angle = np.arccos(cosine)
    return a * b / np.pi * (np.sin(angle) + (np.pi - angle) * cosine)


# name: the kernel, and its formula on float64 rows
PLAIN = {
    "rbf": (RBF(1.5), lambda x, y: np.exp(-_sq(x, y) / 4.5)),
    "laplacian": (Laplacian(2.0), lambda x, y: np.exp(-cdist(x, y, "cityblock") / 2.0)),
    "matern": (Matern(1.5), _matern32),
    "rational": (RationalQuadratic(1.5, 0.7), lambda x, y: (1 + _sq(x, y) / 3.15) ** -0.7),
    "polynomial": (Polynomial(2, 0.25, 1.0), lambda x, y: (0.25 * x @ y.T + 1) ** 2),
    "cosine": (
        Cosine(),
        lambda x, y: (
            (x / np.linalg.norm(x, axis=1, keepdims=True))
            @ (y / np.linalg.norm(y, axis=1, keepdims=True)).T
        ),
    ),
    "arc-cosine": (ArcCosine(1), _arc1),
    "log": (Log(), lambda x, y: -np.log1p(_sq(x, y))),
    "distance": (NegativeDistance(1.0), lambda x, y: -cdist(x, y)),
    "sum": (
        0.5 * RBF(1.0) + Linear() * RBF(2.0),
        lambda x, y: 0.5 * np.exp(-_sq(x, y) / 2) + (x @ y.T) * np.exp(-_sq(x, y) / 8),
    ),
}


def matrix(name, X, Y=None):
    """Return k(X, Y) of a plain formula, in float64."""
    wide = np.asarray(X, np.float64)
    return PLAIN[name][1](wide, wide if Y is None else np.asarray(Y, np.float64))


def centred(K, weights=None):
    """Return HKH, or its like for repeat counts: D^½(I - 1πᵀ)K(I - π1ᵀ)D^½."""
    K = np.asarray(K, np.float64)
    n = len(K)
    w = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    out = np.eye(n) - np.outer(np.ones(n), w / w.sum())
    root = np.sqrt(w)
    A = root[:, None] * (out @ K @ out.T) * root
    return (A + A.T) / 2


def eigenvalues(K, weights=None):
    """Return the eigenvalues of the centred matrix, descending."""
    return np.linalg.eigvalsh(centred(K, weights))[::-1]


def apart(Z, wanted):
    """Return the largest difference of ZZᵀ and its like, relative to the largest entry.

    Signs, and rotations among equal eigenvalues, drop out.
    """
    Z, wanted = np.asarray(Z, np.float64), np.asarray(wanted, np.float64)
    a, b = Z @ Z.T, wanted @ wanted.T
    return float(np.max(np.abs(a - b)) / np.max(np.abs(b)))


def blobs(n, p=5, seed=0, groups=4, far=4.0, dtype=np.float64):
    """Return (n, p) rows in a few clusters of different sizes: a smooth spectrum with gaps."""
    rng = np.random.default_rng([seed, n, p])
    centres = far * rng.standard_normal((groups, p))
    which = rng.choice(groups, n, p=np.arange(1, groups + 1) / (groups * (groups + 1) / 2))
    scale = np.linspace(1.0, 0.3, p)
    return (centres[which] + rng.standard_normal((n, p)) * scale).astype(dtype)


def allowance(*models, close=1e-8):
    """Return how far ZZᵀ of these fits may be apart: rounding, and what is certified."""
    return close + 4 * sum(float(np.max(m.certificate_.sine)) for m in models)
