"""The 21 matrix types of LAPACK's symmetric eigenvalue tests, as data with such a covariance.

Types 1-5 have a diagonal covariance (zero, identity, even, geometric and clustered spectra),
6 and 7 are 4 near the square roots of overflow and underflow, 8-12 are 3-7 in a random turn,
13-15 have random entries, 16-20 are the positive definite relatives of 8-12 and 21 is graded.
A covariance has no negative eigenvalue, so signs are dropped; the matrices of dchkst stand
for the covariance itself, whose square root gives the data.
"""

import numpy as np

ULP = 2.0**-52
HUGE, TINY = 2.0**500, 2.0**-500  # squared they are near overflow and underflow
TYPES = range(1, 22)


def spectrum(mode, p):
    """Return p eigenvalues in (0, 1]: even, geometric or clustered down to ulp."""
    if p == 1:
        return np.ones(1)
    place = np.arange(p) / (p - 1)
    if mode == "even":
        return 1 - place * (1 - ULP)
    if mode == "geometric":
        return ULP**place
    return np.r_[1.0, np.full(p - 1, ULP)]


def turn(p, rng):
    """Return a random orthogonal matrix (p, p)."""
    q, r = np.linalg.qr(rng.standard_normal((p, p)))
    return q * np.where(np.diagonal(r) < 0, -1.0, 1.0)


def root(kind, p, rng):
    """Return A (p, p) with AᵀA the covariance of one type, up to a constant."""
    modes = {0: "even", 1: "geometric", 2: "clustered"}
    if kind == 1:
        return np.zeros((p, p))
    if kind == 2:
        return np.eye(p)
    if kind in (3, 4, 5):
        return np.diag(np.sqrt(spectrum(modes[kind - 3], p)))
    if kind in (6, 7):
        return np.diag(np.sqrt(spectrum("geometric", p)))
    if kind in (8, 9, 10, 16, 17, 18):
        return np.sqrt(spectrum(modes[(kind - 8) % 8], p))[:, None] * turn(p, rng).T
    if kind in (11, 12, 19, 20):
        return np.sqrt(spectrum("even", p))[:, None] * turn(p, rng).T
    if kind in (13, 14, 15):
        a = rng.uniform(-1, 1, (p, p))
        return (a + a.T) / 2
    steps = np.sqrt(spectrum("geometric", p))  # 21: graded, coupled to the neighbour
    return np.diag(steps) + np.diag(steps[1:] / 4, 1)


def data(kind, n, p, seed=0):
    """Return rows (n, p) whose covariance has the spectrum of one of the 21 types."""
    rng = np.random.default_rng([seed, kind, n, p])
    scale = {6: HUGE, 7: TINY, 11: HUGE, 12: TINY, 14: HUGE, 15: TINY, 19: HUGE, 20: TINY}
    rows = rng.standard_normal((n, min(n - 1, p))) if n > 1 else np.ones((1, 1))
    rows = rows - rows.mean(axis=0)
    rows = np.linalg.qr(rows)[0]  # orthonormal columns that sum to zero
    a = root(kind, p, rng)[: rows.shape[1]]
    return (rows @ a) * scale.get(kind, 1.0)
