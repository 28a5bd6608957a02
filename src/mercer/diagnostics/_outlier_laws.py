"""Limits of T² and Q from their laws: for rows of the fit, and for new ones."""

import numpy as np
import scipy.special

from mercer.arrays import Array
from mercer.errors import InputError


def t2_limit(rows: float, k: int, level: float = 0.95) -> float:
    """Return the limit of T² of a row of the fit, (n-1)²/n·Beta(k/2, (n-k-1)/2).

    It is exact for normal rows and any k: the left singular vectors are spread evenly over
    all directions, whatever the covariance matrix.

    Parameters
    ----------
    rows : float
        n.
    k : int
        Axes, at most n - 1.
    level : float
        Share of the rows below the limit.

    Examples
    --------
    >>> round(t2_limit(30, 2), 3)
    5.579
    """
    _check(k, rows - 1, level)
    if k >= rows - 1:
        return float((rows - 1) ** 2 / rows)
    share = scipy.special.betaincinv(k / 2, (rows - k - 1) / 2, level)
    return float((rows - 1) ** 2 / rows * share)


def t2_limit_new(rows: float, k: int, level: float = 0.95) -> float:
    """Return the limit of T² of a new row, k(n²-1)/(n(n-k))·F(k, n-k), for k = p only.

    Fewer axes than columns are chosen for their large variance, and new rows have less: the
    limit is then too wide. `held_out` gives one that is right.

    Parameters
    ----------
    rows : float
        n, more than k.
    k : int
        Axes, as many as columns.
    level : float
        Share of new rows below the limit.
    """
    _check(k, rows - 1, level)
    quantile = scipy.special.fdtri(k, rows - k, level)
    return float(k * (rows**2 - 1) / (rows * (rows - k)) * quantile)


def q_limit(rest: Array, rows: float, level: float = 0.95) -> float:
    """Return the limit of Q of a row of the fit, from the eigenvalues left out.

    Q_i = Σ_{j>k} s_j²u_ij² where u_i, a row of the left singular vectors, is spread evenly
    over a sphere in n - 1 dimensions of radius √(1 - 1/n). A Beta law on
    [0, s²_{k+1}(1 - 1/n)] gets the mean and the variance that this gives.

    Parameters
    ----------
    rest : ndarray of shape (r - k,)
        All variances beyond the k kept, λ_j = s_j²/(n - 1), descending; zeros may be missing.
    rows : float
        n.
    level : float
        Share of the rows below the limit.
    """
    _check(1, rows - 1, level)
    m = rows - 1
    values = np.maximum(np.asarray(rest, np.float64), 0.0)
    if not values.size or values[0] <= 0:
        return 0.0
    shares = values / values[0]
    mean = float(np.sum(shares)) / m
    variance = 2 * (m * float(shares @ shares) - float(np.sum(shares)) ** 2)
    variance /= m * m * (m + 2)
    top = float(values[0]) * m * m / rows
    if variance <= 1e-14 * mean * mean or mean >= 1:
        return mean * top
    size = mean * (1 - mean) / variance - 1
    return float(top * scipy.special.betaincinv(mean * size, (1 - mean) * size, level))


def q_limit_new(first: float, second: float, third: float, level: float = 0.95) -> float:
    """Return the limit of Q of a new row where n is far above p [Jackson1979]_.

    With θ_i = Σ_{j>k} λ_j^i, h = 1 - 2θ₁θ₃/(3θ₂²) and z the normal quantile:
    θ₁(1 + z√(2θ₂h²)/θ₁ + θ₂h(h - 1)/θ₁²)^(1/h). It takes the variances for the true ones:
    n ≥ 100p is enough; otherwise `held_out` gives a limit that is right.

    Parameters
    ----------
    first, second, third : float
        θ₁, θ₂, θ₃.
    level : float
        Share of new rows below the limit.
    """
    if first <= 0 or second <= 0:
        return 0.0
    h = 1 - 2 * first * third / (3 * second**2)
    if h < 1e-3:  # few directions carry all: a χ² of the same mean and variance
        freedom = first**2 / second
        return float(second / first * scipy.special.chdtri(freedom, 1 - level))
    z = scipy.special.ndtri(level)
    inner = 1 + z * np.sqrt(2 * second) * h / first + second * h * (h - 1) / first**2
    return float(first * max(inner, 0.0) ** (1 / h))


def _check(k: int, most: float, level: float) -> None:
    if not (1 <= k <= most and 0 < level < 1):
        raise InputError(
            "a limit needs 1 to n - 1 axes, and a level between 0 and 1",
            got=f"k = {k}, n - 1 = {most:g}, level = {level}",
            fix="pass fewer axes, and a level such as 0.95",
        )
