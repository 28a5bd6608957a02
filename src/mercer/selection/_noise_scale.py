"""The size of the noise of every column: what the other columns do not say of it."""

import numpy as np
import scipy.linalg

from mercer.arrays import Array, leading_eigh

_RIDGE = 1e-6  # of correlations: columns that are copies of others stay finite
_QUIET = 1 / 30  # of the median share of noise: no column is taken for quieter
_LEAST = 1e-6  # of a column's variance that is noise, at least
_STEPS = 60
_PIECE, _PIECES = 64, 500  # orders between which triangles are inverted in pieces


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
    inverse = _inverted(upper)
    share = 1 / np.einsum("ij,ij->i", inverse, inverse)
    if alive.any():
        share = np.maximum(share, _QUIET * np.median(share[alive]))
    return np.where(alive, squares * share, 1.0)


def _inverted(upper: Array) -> Array:
    """Return the inverse of an upper triangle (p, p), in its place.

    [[A, B], [0, C]]⁻¹ = [[A⁻¹, -A⁻¹BC⁻¹], [0, C⁻¹]]: on one thread LAPACK takes up to twice
    as long, on several it is quicker.
    """
    p = len(upper)
    if not _PIECE < p <= _PIECES:
        upper[...] = scipy.linalg.lapack.dtrtri(upper, lower=0)[0]
        return upper
    one, two = slice(None, p // 2), slice(p // 2, None)
    first, second = _inverted(upper[one, one]), _inverted(upper[two, two])
    upper[one, two] = -(first @ upper[one, two]) @ second
    return upper


def unique_variances(gram: Array, k: int, start: Array, tol: float) -> Array:
    """Return the noise Ψ_j (p,) of a model with k common factors, G ≈ ΛΛᵀ + Ψ.

    Factors of largest likelihood for a given Ψ are the leading eigenpairs of
    Ψ^-½GΨ^-½, less one; Ψ is what they leave of the diagonal; the two take turns. Every
    second turn is lengthened by what the last two say of the way to go [Varadhan2008]_. No
    column is taken for quieter than 1/30 of the median: with many factors some column is
    always said to have no noise, ever closer to zero.

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
    whole = np.where(np.diagonal(gram) > 0, np.diagonal(gram), 1.0)
    if not k:
        return whole
    least = np.maximum(_LEAST, _QUIET * np.median(start / whole)) * whole
    noise, before = np.clip(start, least, whole), None
    for _ in range(_STEPS):
        new = np.clip(_left(gram, k, noise, whole), least, whole)
        if float(np.max(np.abs(new / noise - 1))) < tol:
            return new
        if before is None:
            before, noise = noise, new
        else:
            before, noise = None, np.clip(_further(before, noise, new), least, whole)
    return noise


def _left(gram: Array, k: int, noise: Array, whole: Array) -> Array:
    """Return what the k factors of largest likelihood leave of the diagonal (p,)."""
    root = np.sqrt(noise)
    values, axes = leading_eigh(gram / root / root[:, None], k)
    return np.asarray(whole - (axes * root[:, None]) ** 2 @ np.maximum(values - 1, 0.0))


def _further(zero: Array, one: Array, two: Array) -> Array:
    """Return where two steps lead to if they go on so: x - 2ar + a²v of their logarithms."""
    start = np.log(zero)
    step = np.log(one) - start
    bend = np.log(two) - np.log(one) - step
    size = float(np.linalg.norm(bend))
    a = max(1.0, float(np.linalg.norm(step)) / size) if size > 0 else 1.0
    return np.asarray(np.exp(np.clip(start + 2 * a * step + a * a * bend, -700.0, 700.0)))
