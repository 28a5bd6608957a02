"""Outliers: T² and Q of every row with the limits that hold, and which rows exceed them."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array, eigh
from mercer.diagnostics._axis_reading import q, t2
from mercer.diagnostics._held_out import held_out
from mercer.diagnostics._outlier_laws import q_limit, q_limit_new, t2_limit, t2_limit_new
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
