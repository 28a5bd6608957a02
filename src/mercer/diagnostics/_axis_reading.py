"""Numbers for reading axes: distances, contributions, qualities, loadings, correlations.

Sampling error: how far variances would move with another sample of the same size.
"""

from typing import Any

import numpy as np

from mercer.arrays import Array

_NOTHING = 1e-12  # of the largest variance: an axis that is not there


def t2(scores: Array, variances: Array) -> Array:
    """Return Hotelling's T² = Σ_j z_j²/λ_j of every row (n,); empty axes are left out.

    Parameters
    ----------
    scores : ndarray of shape (n, k)
        Coordinates, not whitened.
    variances : ndarray of shape (k,)
        Variances λ of the axes.
    """
    return np.asarray(np.asarray(scores, np.float64) ** 2 @ _inverse(variances))


def q(table: Array, axes: Array) -> Array:
    """Return Q = ‖x̃ - x̃VVᵀ‖² of every row (n,): the squared distance from the plane.

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Rows as they were analysed: centred, and scaled where the fit scales.
    axes : ndarray of shape (k, p)
        Orthonormal axes, as `components_`.
    """
    return np.sum(q_contributions(table, axes), axis=1)


def t2_contributions(table: Array, axes: Array, variances: Array) -> Array:
    """Return what each column gives to T², x̃_j·Σ_a z_a v_aj/λ_a (n, p); rows add up to T².

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Rows as they were analysed.
    axes : ndarray of shape (k, p)
        Orthonormal axes.
    variances : ndarray of shape (k,)
        Variances of the axes.
    """
    table = np.asarray(table, np.float64)
    return np.asarray(table * ((table @ axes.T * _inverse(variances)) @ axes))


def q_contributions(table: Array, axes: Array) -> Array:
    """Return what each column gives to Q, its squared residual (n, p).

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Rows as they were analysed.
    axes : ndarray of shape (k, p)
        Orthonormal axes.
    """
    table = np.asarray(table, np.float64)
    return np.asarray((table - table @ axes.T @ axes) ** 2)


def contributions(scores: Array) -> Array:
    """Return the share z_ij²/Σ_i z_ij² of every row in the variance of every axis (n, k).

    Parameters
    ----------
    scores : ndarray of shape (n, k)
        Coordinates of the rows of the fit. Columns add up to one, or to zero for an axis
        without variance.
    """
    squares = np.asarray(scores, np.float64) ** 2
    whole = np.sum(squares, axis=0)
    return np.asarray(squares / np.where(whole > 0, whole, 1.0))


def cos2(scores: Array, squares: Array) -> Array:
    """Return z_ij²/‖x̃_i‖², the share of every row that every axis shows (n, k).

    Parameters
    ----------
    scores : ndarray of shape (n, k)
        Coordinates, not whitened.
    squares : ndarray of shape (n,)
        ‖x̃_i‖² over all columns. A row at the centre has no direction: it gets zeros.
    """
    squares = np.asarray(squares, np.float64)[:, None]
    whole = np.where(squares > 0, squares, 1.0)
    return np.asarray(np.where(squares > 0, np.asarray(scores, np.float64) ** 2 / whole, 0.0))


def loadings(axes: Array, variances: Array) -> Array:
    """Return v_aj·√λ_a (p, k): covariances of the columns with the axes of variance one.

    Parameters
    ----------
    axes : ndarray of shape (k, p)
        Orthonormal axes.
    variances : ndarray of shape (k,)
        Variances of the axes.
    """
    return np.asarray(np.asarray(axes).T * np.sqrt(np.maximum(variances, 0.0)))


def correlations(axes: Array, variances: Array, columns: Array) -> Array:
    """Return the correlation of every column with every axis (p, k).

    Parameters
    ----------
    axes : ndarray of shape (k, p)
        Orthonormal axes.
    variances : ndarray of shape (k,)
        Variances of the axes.
    columns : ndarray of shape (p,)
        Variances of the columns as they were analysed, one where they were standardised.
        A constant column gets zeros.
    """
    deviations = np.sqrt(np.maximum(columns, 0.0))[:, None]
    alive = deviations > 0
    found = loadings(axes, variances) / np.where(alive, deviations, 1.0)
    return np.where(alive, np.clip(found, -1.0, 1.0), 0.0)


def _inverse(variances: Array) -> Array:
    values = np.asarray(variances, np.float64)
    alive = values > _NOTHING * np.max(values, initial=0.0)
    return np.where(alive, 1 / np.where(alive, values, 1.0), 0.0)


def sampling_error(
    scores: np.ndarray[Any, Any], weights: np.ndarray[Any, Any] | None = None
) -> np.ndarray[Any, Any]:
    """Return SE_j = sd(z_j²)/√n, the standard error of each explained variance (k,).

    Parameters
    ----------
    scores : ndarray of shape (n, k)
        Coordinates of the training rows, centred and not whitened.
    weights : ndarray of shape (n,) or None
        Repeat counts: Σw replaces n.
    """
    squares = np.asarray(scores, np.float64) ** 2
    if weights is None:
        return np.asarray(np.std(squares, axis=0, ddof=1) / np.sqrt(squares.shape[0]))
    total = float(np.sum(weights))
    about = squares - np.average(squares, axis=0, weights=weights)
    variance = np.asarray(weights, np.float64) @ about**2 / (total - 1)
    return np.asarray(np.sqrt(variance / total))
