"""Outliers: T² and Q of every row with the limits that hold, and which rows exceed them."""

import dataclasses
from typing import final

import numpy as np
import scipy.special

from mercer.arrays import Array, eigh
from mercer.diagnostics._axis_reading import q, t2
from mercer.diagnostics._held_out import HeldOut, can_tell, fewest_rows, held_out
from mercer.errors import InputError

_SPARE = 3  # rows more than axes, without which none can be left out
_EACH = 0.0175  # chance of T² and of Q that the farthest of n ordinary rows is named


@final
@dataclasses.dataclass(frozen=True)
class Limits:
    """What T² and Q stay below with probability `level`, and where that is from.

    Attributes
    ----------
    t2, q : float
        The limits; infinite where the rows are too few to tell.
    t2_from, q_from : str
        The law, or that rows were left out; or how many rows it would take.
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
        For one row of the fit, and for one row to come.
    farthest : Limits
        For all rows of the fit together: of 100 tables of normal rows 95 or more have no row
        above them. Rows are named by these.
    level : float
        Share of ordinary rows below `fitted`, and below `new`.
    held : HeldOut or None
        T² and Q of rows left out, which limits at other levels are taken from.
    """

    t2: Array
    q: Array
    fitted: Limits
    new: Limits
    farthest: Limits
    level: float
    held: HeldOut | None = None

    @property
    def flagged(self) -> Array:
        """Numbers of the rows above a limit of the farthest rows, the farthest first."""
        reach = self._reach()
        order = np.argsort(-reach, kind="stable")
        return np.asarray(order[reach[order] > 1.0])

    def new_at(self, level: float) -> Limits:
        """Return the limits of new rows at another level; infinite where rows are too few."""
        return _new_limits(self.held, len(self.t2), level)

    def _reach(self) -> Array:
        pairs = ((self.t2, self.farthest.t2), (self.q, self.farthest.q))
        return np.max([in_limits(values, limit) for values, limit in pairs], axis=0)

    def __str__(self) -> str:
        """Return the limits, and the ten farthest rows above them."""
        rows, n = self.flagged, len(self.t2)
        what = f"{len(rows)} of {n} rows {'lies' if len(rows) == 1 else 'lie'}"
        lines = [
            f"{what} farther out than the farthest of {n} normal rows, which happens by"
            " chance in at most 5 of 100 tables.",
            f"T² of the farthest {self.farthest.t2:.4g}, of one row {self.fitted.t2:.4g}"
            f" ({self.fitted.t2_from}); of a new row {_written(self.new.t2, self.new.t2_from)}",
            f"Q  of the farthest {self.farthest.q:.4g}, of one row {self.fitted.q:.4g}"
            f" ({self.fitted.q_from}); of a new row {_written(self.new.q, self.new.q_from)}",
        ]
        lines += [f"row {i}: T² {self.t2[i]:.4g}, Q {self.q[i]:.4g}" for i in rows[:10]]
        return "\n".join(lines)


def outliers(table: Array, k: int, *, level: float = 0.99, seed: int = 0) -> Outliers:
    """Return T² and Q of the rows of a small dense table, with the limits that hold.

    Rows of the fit: T² by its Beta law, exact for normal rows and every k; Q by the law of
    directions spread evenly. Rows are named where they exceed what the farthest of n normal
    rows stays below in 95 of 100 tables. New rows: by ranks of rows left out (`held_out`),
    whatever the distribution; with fewer than level/(1 - level) rows there is no such limit.

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
    >>> sorted(outliers(X, 2).flagged.tolist())
    [7, 8]
    """
    X, unit, axes, values = _in_unit(table, k)
    n, p = X.shape
    rest = values[k : min(n - 1, p)]
    fitted, most = (_of_fit(n, k, rest, one) for one in (level, farthest_level(n)))
    far, away = t2(X @ axes.T, values[:k]), np.ldexp(_q(X, axes), 2 * unit)
    held = None
    if n - k >= _SPARE:
        held = held_out(X, k, seed=seed)
        held = dataclasses.replace(held, q=np.ldexp(held.q, 2 * unit))
    new = _new_limits(held, n, level)
    return Outliers(far, away, _in_units(fitted, unit), new, _in_units(most, unit), level, held)


def farthest_level(rows: int) -> float:
    """Return the level of a limit that the farthest of `rows` ordinary rows keeps.

    T² and Q are given 1.75 % each, so that a table of normal rows has one above either in
    about 4 of 100 cases; what is over is for Q, whose law is near but not exact.
    """
    return 1 - _EACH / rows


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


def _new_limits(held: HeldOut | None, rows: int, level: float) -> Limits:
    """Return the limits of new rows, or what they would take."""
    if held is None or not can_tell(rows, level):
        words = f"not given: {rows} rows, {100 * level:g} % takes {fewest_rows(level)}"
        return Limits(np.inf, np.inf, words, words)
    return Limits(*held.limits(level), "rows left out", "rows left out")


def _written(limit: float, source: str) -> str:
    return f"{limit:.4g} ({source})" if np.isfinite(limit) else source


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
