"""The size of the noise of every column: what the other columns do not say of it."""

import numpy as np
import scipy.linalg

from mercer.arrays import Array

_RIDGE = 1e-6  # of correlations: columns that are copies of others stay finite
_QUIET = 1 / 30  # of the median share of noise: no column is taken for quieter
_LEAST = 1e-6  # of a column's variance that is noise, at least
_STEPS = 300


def partial_variances(gram: Array) -> Array:
    """Return 1/(G⁻¹)_jj (p,): what is left of every column when all others are known.

    For many columns that is the variance of its noise, in the units of G; for few it is
    more, because others that are noisy say less. Columns without variance get one. As a
    share of its column it is at least 1/30 of the median: a copy of another column has no
    noise, and would rule all others.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Of more rows than columns.
    """
    squares = np.diagonal(gram)
    alive = squares > 0
    scale = np.where(alive, np.sqrt(np.where(alive, squares, 1.0)), 1.0)
    correlations = gram * (1 / scale)
    correlations *= 1 / scale[:, None]
    correlations[np.diag_indices(len(gram))] = 1.0 + _RIDGE
    # The transpose is in the order that LAPACK writes in: all is done in place.
    upper, info = scipy.linalg.lapack.dpotrf(correlations.T, lower=0, clean=1, overwrite_a=1)
    if info:
        raise np.linalg.LinAlgError("correlations are not positive definite")
    inverse, _ = scipy.linalg.lapack.dtrtri(upper, lower=0, overwrite_c=1)
    share = 1 / np.einsum("ij,ij->i", inverse, inverse)
    if alive.any():
        share = np.maximum(share, _QUIET * np.median(share[alive]))
    return np.where(alive, squares * share, 1.0)


def unique_variances(gram: Array, k: int, start: Array, tol: float) -> Array:
    """Return the noise Ψ_j (p,) of a model with k common factors, G ≈ ΛΛᵀ + Ψ.

    Factors of largest likelihood for a given Ψ are the leading eigenpairs of
    Ψ^-½GΨ^-½, less one; Ψ is what they leave of the diagonal; the two take turns.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Covariance matrix.
    k : int
        Factors, fewer than p.
    start : ndarray of shape (p,)
        First guess of Ψ, positive.
    tol : float
        Largest relative change at which to stop.
    """
    p, whole = len(gram), np.where(np.diagonal(gram) > 0, np.diagonal(gram), 1.0)
    noise = np.clip(start, _LEAST * whole, whole)
    for _ in range(_STEPS if k else 0):
        root = np.sqrt(noise)
        values, axes = scipy.linalg.eigh(
            gram / root / root[:, None], subset_by_index=[p - k, p - 1], check_finite=False
        )
        shared = (axes * root[:, None]) ** 2 @ np.maximum(values - 1, 0.0)
        new = np.clip(whole - shared, _LEAST * whole, whole)
        change = float(np.max(np.abs(new / noise - 1)))
        noise = new
        if change < tol:
            break
    return noise if k else whole
