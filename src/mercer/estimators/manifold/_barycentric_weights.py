"""Barycentric weights: how a point is put together from its neighbours."""

import numpy as np

from mercer.arrays import Array, Tiles

_CELLS = 200_000  # differences that are held at once


def tiles_of(rows: int, neighbours: int, columns: int) -> Tiles:
    """Return blocks of rows whose neighbourhoods may be held at once."""
    each = neighbours * max(neighbours, columns)
    return Tiles(rows, max(1, min(rows, _CELLS // max(each, 1))))


def differences(points: Array, rows: Array, indices: Array) -> Array:
    """Return x_j - x (r, k, p), the neighbours of points (r, p) seen from these.

    Differences come first, so that rows far from the origin lose nothing.
    """
    return np.asarray(rows[indices], np.float64) - np.asarray(points, np.float64)[:, None, :]


def barycentric(apart: Array, reg: float) -> Array:
    """Return w (r, k) with sum one and least ‖Σw_j(x_j - x)‖² + reg·tr(G)·‖w‖².

    G = ZZᵀ for the differences Z of a point; w ∝ (G + reg·tr(G)·I)⁻¹1. In units of the
    trace the system is as well conditioned as 1/reg, whatever the scale of the rows.

    Parameters
    ----------
    apart : ndarray of shape (r, k, p)
        Neighbours seen from each point.
    reg : float
        The penalty, which settles weights where there are more neighbours than dimensions.
    """
    size = np.max(np.abs(apart), axis=(1, 2), keepdims=True)
    z = apart / np.where(size > 0, size, 1.0)
    gram = z @ z.transpose(0, 2, 1)
    k = gram.shape[1]
    trace = np.trace(gram, axis1=1, axis2=2)
    gram[:, range(k), range(k)] += np.where(trace > 0, reg * trace, reg)[:, None]
    w = np.linalg.solve(gram, np.ones((len(gram), k, 1)))[:, :, 0]
    return np.asarray(w / np.sum(w, axis=1, keepdims=True))


def own_weights(rows: Array, indices: Array, reg: float) -> Array:
    """Return the weights (n, k) of every row from its neighbours (n, k)."""
    return _in_blocks(rows, rows, indices, reg)


def combined(
    points: Array, rows: Array, indices: Array, distances: Array, values: Array, reg: float
) -> Array:
    """Return Σ_j w(x, x_j)·y_j (m, d) for new points x; a training row keeps its own y.

    Where x is a training row the weights without a penalty are one on it and zero on the
    others, and these are taken: a penalty would draw it to its neighbours.

    Parameters
    ----------
    points : ndarray of shape (m, p)
        New points.
    rows : ndarray of shape (n, p)
        Training rows.
    indices, distances : ndarray of shape (m, k)
        Nearest training rows, nearest first.
    values : ndarray of shape (n, d)
        y.
    reg : float
        See `barycentric`.
    """
    w = _in_blocks(points, rows, indices, reg)
    on = distances[:, 0] == 0
    w[on] = 0.0
    w[on, 0] = 1.0
    return np.einsum("mk,mkd->md", w, values[indices])


def _in_blocks(points: Array, rows: Array, indices: Array, reg: float) -> Array:
    w = np.empty(indices.shape)
    for part in tiles_of(len(points), indices.shape[1], rows.shape[1]):
        w[part] = barycentric(differences(points[part], rows, indices[part]), reg)
    return w
