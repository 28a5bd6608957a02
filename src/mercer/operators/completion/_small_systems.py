"""Many small positive matrices at once: each entry is a vector over the matrices.

Matrices are packed: row `first(j) + i - j` of an array (k(k+1)/2, r) holds the entries
(i, j), i ≥ j, of r matrices. That is the order of ``np.triu_indices(k)`` with its two halves
exchanged. A factor L holds 1/L_jj on its diagonal, so that nothing is divided twice.
"""

import math

import numpy as np

from mercer.arrays import Array

_SMALL = 24  # order up to which one call per entry beats LAPACK, one call per matrix


def _columns(packed: Array) -> list[Array]:
    """Return the columns of the lower triangle of an array (k(k+1)/2, r), (k - j, r) each."""
    k = (math.isqrt(8 * packed.shape[0] + 1) - 1) // 2
    start, found = 0, list[Array]()
    for j in range(k):
        found.append(packed[start : start + k - j])
        start += k - j
    return found


def factored(packed: Array) -> Array:
    """Return L with LLᵀ = A for r matrices A, in their place."""
    columns = _columns(packed)
    if len(columns) > _SMALL:
        return _by_lapack(packed, columns)
    for j, column in enumerate(columns):
        np.sqrt(column[0], out=column[0])
        np.divide(1.0, column[0], out=column[0])
        column[1:] *= column[0]
        for i in range(1, len(column)):
            columns[j + i] -= column[i:] * column[i]
    return packed


def _by_lapack(packed: Array, columns: list[Array]) -> Array:
    k = len(columns)
    whole = np.zeros((packed.shape[1], k, k))
    for j, column in enumerate(columns):
        whole[:, j:, j] = column.T
    found = np.linalg.cholesky(whole)
    for j, column in enumerate(columns):
        column[:] = found[:, j:, j].T
        np.divide(1.0, column[0], out=column[0])
    return packed


def solved(triangles: Array, right: Array) -> Array:
    """Return u (k, r) with LLᵀu = b for b = `right` (k, r)."""
    columns = _columns(triangles)
    u = right.copy()
    for j, column in enumerate(columns):
        u[j] *= column[0]
        u[j + 1 :] -= column[1:] * u[j]
    for j in range(len(columns) - 1, -1, -1):
        column = columns[j]
        if len(column) > 1:
            u[j] -= np.einsum("ir,ir->r", column[1:], u[j + 1 :])
        u[j] *= column[0]
    return u


def inverted(triangles: Array) -> Array:
    """Return L⁻¹ (k, k, r), not packed."""
    columns = _columns(triangles)
    k = len(columns)
    out = np.zeros((k, k, triangles.shape[1]))
    for j, column in enumerate(columns):
        out[j, : j + 1] = (out[j, : j + 1] * -1) * column[0]
        out[j, j] = column[0]
        # What is left of the rows below: Σ_{c≤j} L_ic (L⁻¹)_c.
        for i in range(1, len(column)):
            out[j + i, : j + 1] += column[i] * out[j, : j + 1]
    return out


def log_determinants(triangles: Array) -> Array:
    """Return ln det A = 2 Σ ln L_jj of every matrix (r,)."""
    diagonal = np.stack([column[0] for column in _columns(triangles)])
    return np.asarray(-2 * np.sum(np.log(diagonal), axis=0))
