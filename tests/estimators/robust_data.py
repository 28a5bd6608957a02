"""Tables with known axes and outlying rows of several designs, and how far axes are off."""

import numpy as np

DESIGNS = ["cluster", "radial", "huge", "leverage"]


def table(seed, n, p, share, design, k=2):
    """Return X (n, p), the true axes (k, p), and which rows are clean.

    Deviations are 9 and 5 along two axes and 1 (0.5 above 100 columns) elsewhere, turned at
    random. Outlying rows leave the space of the first axes: a far cluster, a shell of rows
    in all other directions, one row a million times too large, or one minor axis blown up.
    """
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(p, p)))[0]
    deviation = np.full(p, 1.0 if p < 100 else 0.5)
    deviation[:k] = [9, 5, 3][:k]
    Z = rng.normal(size=(n, p)) * deviation
    bad = rng.permutation(n)[: int(share * n)]
    if design == "cluster":
        Z[bad] = rng.normal(size=(len(bad), p)) * 0.5
        Z[bad, -1] += 60
    elif design == "radial":
        Z[bad] = rng.normal(size=(len(bad), p)) * 40 * np.sqrt(10 / p)
        Z[bad, :k] = 0
    elif design == "huge":
        bad = bad[:1]
        Z[bad] = 0
        Z[bad, -1] = 1e6
    elif design == "leverage":
        Z[bad, -1] = rng.choice([-1, 1], len(bad)) * rng.uniform(30, 90, len(bad))
    clean = np.ones(n, bool)
    clean[bad] = False
    return Z @ turn.T + 3, turn[:, :k].T, clean


def sine(axes, truth):
    """Return the sine of the largest angle between the spaces of two sets of axes (k, p)."""
    axes = np.linalg.qr(np.asarray(axes, float).T)[0].T
    return float(np.linalg.norm(truth - (truth @ axes.T) @ axes, 2))


def plain_axes(X, k):
    """Return the first k axes (k, p) of plain PCA, by the SVD of the centred rows."""
    return np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:k]
