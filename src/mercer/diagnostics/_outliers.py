"""Outliers: T² and Q of every row with the limits that hold, and which rows exceed them."""

import dataclasses
from typing import final

import numpy as np
import scipy.special

from mercer.arrays import Array, eigh
from mercer.diagnostics._axis_reading import q, t2
from mercer.diagnostics._held_out import held_out
from mercer.errors import InputError

_MANY = 100  # rows per column from which eigenvalues are taken for the true ones
_SURELY = 0.05  # chance that one of n ordinary rows is left out of the limits of new rows


@final
@dataclasses.dataclass(frozen=True)
class Limits:
    """What T² and Q stay below with probability `level`, and where that is from.

    Attributes
    ----------
    t2, q : float
        The limits.
    t2_from, q_from : str
        The law, or that rows were left out.
    """

    t2: float
    q: float
    t2_from: str
    q_from: str


@final
@dataclasses.dataclass(frozen=True)
class Outliers:
    """Rows far out in the plane of the axes (T²), or far from it (Q).

    Attributes
    ----------
    t2, q : ndarray of shape (n,)
        Σ_j z_j²/λ_j, and the squared distance from the plane.
    fitted, new : Limits
        For the rows of the fit, and for rows to come.
    level : float
        Share of ordinary rows below a limit.
    """

    t2: Array
    q: Array
    fitted: Limits
    new: Limits
    level: float

    @property
    def flagged(self) -> Array:
        """Numbers of the rows above a limit, the farthest first."""
        reach = self._reach()
        order = np.argsort(-reach, kind="stable")
        return np.asarray(order[reach[order] > 1.0])

    def _reach(self) -> Array:
        pairs = ((self.t2, self.fitted.t2), (self.q, self.fitted.q))
        return np.max([in_limits(values, limit) for values, limit in pairs], axis=0)

    def __str__(self) -> str:
        """Return the limits, and the ten farthest rows above them."""
        rows, n = self.flagged, len(self.t2)
        lines = [
            f"{len(rows)} of {n} rows are above a limit;"
            f" {2 * (1 - self.level) * n:.2g} or fewer ordinary rows would be.",
            f"T² limit {self.fitted.t2:.4g} ({self.fitted.t2_from});"
            f" new rows {self.new.t2:.4g} ({self.new.t2_from})",
            f"Q  limit {self.fitted.q:.4g} ({self.fitted.q_from});"
            f" new rows {self.new.q:.4g} ({self.new.q_from})",
        ]
        lines += [f"row {i}: T² {self.t2[i]:.4g}, Q {self.q[i]:.4g}" for i in rows[:10]]
        return "\n".join(lines)


def outliers(table: Array, k: int, *, level: float = 0.99, seed: int = 0) -> Outliers:
    """Return T² and Q of the rows of a small dense table, with the limits that hold.

    Rows of the fit: T² by its Beta law, exact for every k; Q by the law of directions spread
    evenly. New rows: T² by Hotelling's F law for k = p, Q by Jackson and Mudholkar for
    n ≥ 100p, both from rows left out otherwise (`held_out`).

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Rows, scaled where the fit scales.
    k : int
        Axes, at most min(n - 2, p).
    level : float
        Share of ordinary rows below each limit.
    seed : int
        Of the rows left out together.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 6)) * [5, 3, 1, 1, 1, 1]
    >>> X[7, 1], X[8, 5] = 24, 9
    >>> outliers(X, 2).flagged[:2].tolist()
    [7, 8]
    """
    X, unit, axes, values = _in_unit(table, k)
    n, p = X.shape
    rest = values[k : min(n - 1, p)]
    fitted = _of_fit(n, k, rest, level)
    far, away = t2(X @ axes.T, values[:k]), _q(X, axes)
    # Rows that even the largest of n ordinary ones would hardly reach say nothing of those.
    surely = 1 - _SURELY / n
    ordinary = (far <= t2_limit(n, k, surely)) & (away <= q_limit(rest, n, surely))
    new = _new_limits(X[ordinary], k, rest, level, seed)
    away = np.ldexp(away, 2 * unit)
    return Outliers(far, away, _in_units(fitted, unit), _in_units(new, unit), level)


def fitted_limits(table: Array, k: int, *, level: float = 0.99) -> Limits:
    """Return the limits of rows of the fit alone, as `outliers` does; no rows are left out.

    Parameters
    ----------
    table, k, level
        See `outliers`.
    """
    X, unit, _, values = _in_unit(table, k)
    n, p = X.shape
    return _in_units(_of_fit(n, k, values[k : min(n - 1, p)], level), unit)


def _of_fit(n: int, k: int, rest: Array, level: float) -> Limits:
    limits = t2_limit(n, k, level), q_limit(rest, n, level)
    return Limits(*limits, "Beta law", "spectrum left out")


def _in_unit(table: Array, k: int) -> tuple[Array, int, Array, Array]:
    """Return centred rows divided by 2^unit, unit, k axes (k, p) and all variances."""
    X = np.asarray(table, np.float64)
    n, p = X.shape if X.ndim == 2 else (0, 0)
    if not 1 <= k <= min(n - 2, p) or not np.isfinite(X).all():
        raise InputError(
            "outliers need finite numbers, and rows enough for the axes",
            got=f"k = {k} axes of a table of shape {np.shape(table)}",
            fix=f"ask for 1 to {max(min(n - 2, p), 1)} axes",
        )
    # By a power of two, so that cubes of variances neither vanish nor overflow.
    unit = int(np.frexp(np.max(np.abs(X)))[1])
    X = np.ldexp(X, -unit)
    X = X - X.mean(axis=0)
    values, axes = eigh(X.T @ X) if p <= n else _wide(X)
    return X, unit, axes[:, :k].T, np.maximum(values, 0.0) / (n - 1)


def _in_units(limits: Limits, unit: int) -> Limits:
    """Return limits of rows divided by 2^unit as those of the rows: Q is a square."""
    return dataclasses.replace(limits, q=float(np.ldexp(limits.q, 2 * unit)))


def _q(table: Array, axes: Array) -> Array:
    """Return Q, exactly zero where it is rounding."""
    found = q(table, axes)
    squares = np.sum(table**2, axis=1)
    return np.where(found > 1e-24 * np.max(squares, initial=0.0), found, 0.0)


def _wide(table: Array) -> tuple[Array, Array]:
    values, left = eigh(table @ table.T)
    alive = values > 1e-14 * values[0]
    axes = (table.T @ left) * np.where(alive, 1 / np.sqrt(np.where(alive, values, 1.0)), 0.0)
    return values, axes


def _new_limits(table: Array, k: int, rest: Array, level: float, seed: int) -> Limits:
    """Return the limits of new rows, each by its law where that holds."""
    n, p = table.shape
    by_t2, by_q = k == p, n >= _MANY * p or k == p
    tail_t2 = tail_q = 0.0
    left_out = "rows left out"
    if not (by_t2 and by_q):
        tails = held_out(table, k, seed=seed)
        tail_t2, tail_q = tails.limits(level)
        left_out += ", normal" if tails.by_law(level) else ""
    first, second, third = (float(np.sum(rest**i)) for i in (1, 2, 3))
    return Limits(
        t2_limit_new(n, k, level) if by_t2 else tail_t2,
        q_limit_new(first, second, third, level) if by_q else tail_q,
        "F law" if by_t2 else left_out,
        "Jackson-Mudholkar" if by_q else left_out,
    )


def in_limits(values: Array, limit: float) -> Array:
    """Return values in limits; where nothing was left out, what is there is far above."""
    if limit <= 0:
        return np.where(values > 0, np.inf, 0.0)
    return np.asarray(values / limit)


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
