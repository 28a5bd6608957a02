"""The density of rows of which some cells are missing: that of the cells observed."""

from typing import Any

import numpy as np

from mercer.arrays import Array


def observed_densities(model: Any, rows: Array) -> Array:
    """Return ln N(x_o; μ_o, S_oo) (n,) of each row, o the columns observed in it.

    Rows with the same cells missing share S_oo = W_oW_oᵀ + σ²I, whose inverse and determinant
    come from the k×k matrix σ²I + W_oᵀW_o [Tipping1999]_.

    Parameters
    ----------
    model : fitted ProbabilisticPCA
        Its `loadings_`, `noise_variance_`, `mean_` and `scale_` are read.
    rows : ndarray of shape (n, p)
        Rows; NaN is a missing cell. Infinite cells raise FloatingPointError.
    """
    seen = ~np.isnan(rows)
    if np.isinf(rows).any():
        raise FloatingPointError
    packed = np.packbits(seen, axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    out = np.empty(len(rows))
    for pattern, row in enumerate(first):
        members = which == pattern
        out[members] = _of_pattern(model, rows[members], seen[row])
    return out


def _of_pattern(model: Any, rows: Array, seen: Array) -> Array:
    """Return the densities (m,) of rows with the same columns observed."""
    noise, count = model.noise_variance_, int(np.sum(seen))
    if count == 0:
        return np.zeros(len(rows))
    gone = rows[:, seen].astype(np.float64) - model.mean_[seen]
    volume = 0.0
    if model.scale_ is not None:
        gone /= model.scale_[seen]
        volume = 2 * float(np.sum(np.log(model.scale_[seen])))
    if noise == 0:  # as many axes as columns: S is all there is
        v = model.components_[:, seen].astype(np.float64)
        covariance = (v.T * model.explained_variance_) @ v
        distance = np.einsum("ij,ij->i", gone, np.linalg.solve(covariance, gone.T).T)
        volume += float(np.linalg.slogdet(covariance)[1])
    else:
        w = model.loadings_[seen]
        inner = noise * np.eye(w.shape[1]) + w.T @ w
        along = gone @ w
        fitted = np.einsum("ij,ij->i", along, np.linalg.solve(inner, along.T).T)
        distance = (np.einsum("ij,ij->i", gone, gone) - fitted) / noise
        volume += float(np.linalg.slogdet(inner)[1]) + (count - w.shape[1]) * np.log(noise)
    return np.asarray(-0.5 * (count * np.log(2 * np.pi) + volume + distance))
