"""Kernels in extended precision, and rows that are hard for them: the truth of small fits."""

import numpy as np
from jacobi import EPS, WIDE, singular

from mercer.kernels import (
    RBF,
    ArcCosine,
    Cosine,
    Laplacian,
    Log,
    Matern,
    Multiquadric,
    NegativeDistance,
    Polynomial,
    PowerExponential,
    RationalQuadratic,
    normalize,
)


def squared(x):
    return ((x[:, None] - x[None]) ** 2).sum(axis=-1)


def away(x):
    return np.sqrt(squared(x))


def _matern(x, nu, length=1):
    d = np.sqrt(WIDE(2) * WIDE(nu)) * away(x) / length
    return (1 + d + (d * d / 3 if nu == 2.5 else 0) if nu > 1 else 1) * np.exp(-d)


def _unit(k):
    root = np.sqrt(np.diag(k))
    return k / root[:, None] / root


def _arc(x, order):
    d = np.sqrt((x * x).sum(axis=1))
    u = x / d[:, None]
    chord, other = away(u), np.sqrt(np.maximum(((u[:, None] + u[None]) ** 2).sum(axis=-1), 0))
    angle = 2 * np.arctan2(chord, other)
    pi = 2 * np.arctan2(WIDE(1), WIDE(0))
    if order == 0:
        return 1 - angle / pi
    return np.outer(d, d) * (np.sin(angle) + (pi - angle) * np.cos(angle)) / pi


THIRD = 0.3  # no binary number: 1/ℓ is rounded
# name: the kernel, and its formula on rows of extended precision
EXACT = {
    "rbf": (RBF(1.0), lambda x: np.exp(-squared(x) / 2)),
    "short": (RBF(THIRD), lambda x: np.exp(-squared(x) / (2 * WIDE(THIRD) ** 2))),
    "matern 1/2": (Matern(1.0, 0.5), lambda x: np.exp(-away(x))),
    "matern 3/2": (Matern(1.0, 1.5), lambda x: _matern(x, 1.5)),
    "matern 5/2": (Matern(THIRD, 2.5), lambda x: _matern(x, 2.5, WIDE(THIRD))),
    "rational": (
        RationalQuadratic(1.0, 0.75),
        lambda x: (1 + squared(x) / WIDE(1.5)) ** WIDE(-0.75),
    ),
    "laplacian": (
        Laplacian(1.0),
        lambda x: np.exp(-np.abs(x[:, None] - x[None]).sum(axis=-1)),
    ),
    "power": (PowerExponential(1.0, 1.5), lambda x: np.exp(-(squared(x) ** WIDE(0.75)))),
    "distance": (NegativeDistance(1.0), lambda x: -away(x)),
    "log": (Log(), lambda x: -np.log1p(squared(x))),
    "multiquadric": (Multiquadric(1.0), lambda x: -np.sqrt(squared(x) + 1)),
    "polynomial": (Polynomial(3, 0.25, 1.0), lambda x: (x @ x.T / 4 + 1) ** 3),
    "cosine": (Cosine(), lambda x: _unit(x @ x.T)),
    "normalised": (
        normalize(Polynomial(2, 0.5, 1.0)),
        lambda x: _unit((x @ x.T / 2 + 1) ** 2),
    ),
    "arc 0": (ArcCosine(0), lambda x: _arc(x, 0)),
    "arc 1": (ArcCosine(1), lambda x: _arc(x, 1)),
    "sum": (
        0.5 * RBF(1.0) + RBF(2.0) * Matern(1.0, 1.5),
        lambda x: np.exp(-squared(x) / 2) / 2 + np.exp(-squared(x) / 8) * _matern(x, 1.5),
    ),
}


def clusters(rng):
    """Return rows in tight clusters, a few lengthscales apart."""
    n, p, groups = (int(rng.integers(*ends)) for ends in ((4, 25), (1, 6), (1, 6)))
    far, tight = 10 ** rng.uniform(-0.5, 1.3), 10 ** rng.uniform(-9, -1)
    centres = far * rng.standard_normal((groups, p))
    return centres[rng.integers(0, groups, n)] + tight * rng.standard_normal((n, p))


def columns(rng):
    """Return rows whose columns have sizes and means of their own."""
    n, p = int(rng.integers(8, 40)), int(rng.integers(1, 6))
    rows = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-3, 4, p)
    return rows + 10.0 ** rng.integers(-2, 3) * rng.standard_normal(p)


def counts(n, rng):
    """Return repeat counts of any scale, or none."""
    if rng.random() < 0.6:
        return None
    return rng.integers(1, 5, n) * 10.0 ** rng.integers(0, 3)


def standardised(x, weights, feature_weight):
    """Return rows with mean zero, deviation one, and √ of the weights of columns."""
    w = np.ones(len(x), WIDE) if weights is None else weights.astype(WIDE)
    x = x.astype(WIDE)
    x = x - (w[:, None] * x).sum(axis=0) / w.sum()
    x = x - (w[:, None] * x).sum(axis=0) / w.sum()
    x = x / np.sqrt((w[:, None] * x * x).sum(axis=0) / (w.sum() - 1))
    return x if feature_weight is None else x * np.sqrt(feature_weight.astype(WIDE))


def truth(k, weights):
    """Return the eigenvalues of the centred matrix, and a bound on their own error."""
    w = np.ones(len(k), WIDE) if weights is None else weights.astype(WIDE)
    share = w / w.sum()
    slack = 64 * EPS * float(np.abs(k).max() * w.sum())
    k = k - k @ share[:, None] - (share @ k)[None] + share @ k @ share
    k = np.sqrt(w)[:, None] * k * np.sqrt(w)
    return singular((k + k.T) / 2)[0], slack
