"""Many small positive matrices at once: each entry is a vector over the matrices."""

import numpy as np

from mercer.arrays import Array

_SMALL = 24  # order up to which one call per entry beats LAPACK, one call per matrix


def factored(matrix: Array) -> Array:
    """Return L (k, k, r) with LLᵀ = A for r matrices A (k, k, r), of which L is made.

    Only the lower triangle of A is read; the upper one of L is zero.
    """
    k = matrix.shape[0]
    if k > _SMALL:
        stacked = np.moveaxis(matrix, 2, 0)  # LAPACK reads the lower triangle alone
        return np.ascontiguousarray(np.moveaxis(np.linalg.cholesky(stacked), 0, 2))
    for j in range(k):
        matrix[j, j + 1 :] = 0.0
        np.sqrt(matrix[j, j], out=matrix[j, j])
        below = matrix[j + 1 :, j]
        below /= matrix[j, j]
        for i in range(j + 1, k):
            matrix[i, j + 1 : i + 1] -= matrix[i, j] * matrix[j + 1 : i + 1, j]
    return matrix


def solved(triangles: Array, right: Array) -> Array:
    """Return u (k, r) with LLᵀu = b for b = `right` (k, r)."""
    k = triangles.shape[0]
    u = right.copy()
    for j in range(k):
        u[j] /= triangles[j, j]
        u[j + 1 :] -= triangles[j + 1 :, j] * u[j]
    for j in range(k - 1, -1, -1):
        u[j] /= triangles[j, j]
        u[:j] -= triangles[j, :j] * u[j]
    return u


def inverted(triangles: Array) -> Array:
    """Return L⁻¹ (k, k, r)."""
    k = triangles.shape[0]
    out = np.zeros_like(triangles)
    for j in range(k):
        out[j, j] = 1 / triangles[j, j]
        if j:
            row = np.einsum("cr,cdr->dr", triangles[j, :j], out[:j, :j])
            out[j, :j] = -row * out[j, j]
    return out


def log_determinants(triangles: Array) -> Array:
    """Return ln det A = 2 Σ ln L_jj of every matrix (r,)."""
    k = triangles.shape[0]
    return np.asarray(2 * np.sum(np.log(triangles[range(k), range(k)]), axis=0))
