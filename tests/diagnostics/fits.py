"""A fit by a plain SVD, as `health` takes it: what the checks are tried on."""

import numpy as np

from mercer.diagnostics import health


def parts(X, k):
    """Coordinates (n, k), variances (k,) and the variance that follows."""
    about = X - X.mean(axis=0)
    u, s, _ = np.linalg.svd(about, full_matrices=False)
    values = s**2 / max(len(X) - 1, 1)
    following = float(values[k]) if k < len(values) else 0.0
    return (u * s)[:, :k], values[:k], following


def found(X, k=2, **more):
    """Findings by code."""
    scores, variances, following = parts(X, k)
    findings = health(X, scores, variances, following=following, **more)
    return {finding.code: finding for finding in findings}


def factors(n, p, rng, sizes=(6.0, 4.0, 2.5)):
    """Ordinary data: a few factors and noise."""
    few = rng.standard_normal((n, len(sizes))) * sizes
    axes = np.linalg.qr(rng.standard_normal((p, len(sizes))))[0]
    return few @ axes.T + rng.standard_normal((n, p)) * 0.6
