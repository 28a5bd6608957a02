"""Tables with known axes, for drift."""

import numpy as np


def tables(n, m, p=6, k=2, seed=0, variances=None, heavy=None):
    """Return rows of a fit and new rows of one law: k large variances, turned axes, far off."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((p, p)))[0]
    values = np.ones(p) if variances is None else np.asarray(variances, float)
    if variances is None:
        values[:k] = 25.0 / 3.0 ** np.arange(k)
    both = rng.standard_normal((n + m, p))
    if heavy:
        both /= np.sqrt(rng.chisquare(heavy, size=(n + m, 1)) / heavy)
    both = both * np.sqrt(values) @ axes.T + 100 * rng.standard_normal(p)
    return both[:n], both[n:], axes
