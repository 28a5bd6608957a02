"""Centring as a value: the statistics found at fit and kept for new rows."""

import dataclasses
import math

import numpy as np

from mercer.arrays import Array, is_numpy, namespace
from mercer.operators._scaling import refuse_lost

_REACH = 2.0**1015  # of factors that keep their digits, and of their inverses


@dataclasses.dataclass(frozen=True)
class Moments:
    """Sums of rows about an origin, in units of 2^exponent.

    Rows enter as y = (x - origin)·2^-exponent, with repeat counts w. With f = Σwy,
    offset = f/Σw and scatter = Σw yyᵀ - ffᵀ/Σw: never a difference of raw squares.

    Parameters
    ----------
    total : float
        Σw, the number of rows when there are no weights.
    offset : Array of shape (p,)
        Mean of y, float64.
    scatter : Array of shape (p,) or (p, p)
        Centred sums of squares, its diagonal alone where that suffices, float64.
    raw_trace : float
        Σw‖y‖² before the mean is taken out: the size against which rounding is measured.
    error : float
        Bound on the spectral norm of the arithmetic error of `scatter`.
    vanished : Array of shape (p,) or None
        Which columns vary although their squares are nothing in this unit; None where that
        was not looked at.
    errors : ndarray of shape (p,) or None
        The same by columns: with factors f that norm is at most Σf²·errors. None: they are
        as the squares of the columns about the origin.
    """

    total: float
    offset: Array
    scatter: Array
    raw_trace: float
    error: float
    vanished: Array | None = None
    errors: Array | None = None

    @property
    def column_errors(self) -> Array:
        """Return `errors`, or `error` parted as the squares of the columns are."""
        if self.errors is not None:
            return self.errors
        xp = namespace(self.scatter)
        diagonal = self.scatter if self.scatter.ndim == 1 else xp.linalg.diagonal(self.scatter)
        raw = diagonal + self.total * self.offset**2
        return raw * (self.error / max(self.raw_trace, 1e-300))

    def error_of(self, factor: Array | None) -> float:
        """Return the bound on the error of `scatter` with its columns multiplied by factors."""
        if factor is None:
            return self.error
        errors = self.column_errors
        return float(namespace(errors).sum(errors * factor**2))

    @property
    def in_range(self) -> bool:
        """Whether all cells were finite and their squares stayed in the range of float64.

        If not, the sample that gave the unit has missed a far larger value.
        """
        raw = self.raw_trace
        return math.isfinite(raw) and raw <= 1e200 and not 0 < raw < 1e-280

    @property
    def variances(self) -> Array:
        """Sample variances (p,) in units of 4^exponent, dividing by Σw - 1."""
        if is_numpy(self.scatter):
            squares = self.scatter if self.scatter.ndim == 1 else self.scatter.diagonal()
            return np.where(squares > 0, squares, 0.0) / (self.total - 1)
        xp = namespace(self.scatter)
        diagonal = self.scatter if self.scatter.ndim == 1 else xp.linalg.diagonal(self.scatter)
        return xp.where(diagonal > 0, diagonal, xp.zeros_like(diagonal)) / (self.total - 1)


@dataclasses.dataclass(frozen=True)
class Centring:
    """What turns a row x into an analysed row x̃ = (x - mean)·factor·2^-exponent.

    The mean is kept as origin + offset·2^exponent, because a rounded sum of the two has
    lost the digits that matter far from the origin.

    Parameters
    ----------
    origin : Array of shape (p,)
        Provisional mean, exactly representable in the precision of the data.
    offset : Array of shape (p,)
        Mean minus origin, in units of 2^exponent, float64.
    exponent : int
        Power of two that keeps squares inside the range of the arithmetic.
    factor : Array of shape (p,) or None
        Column multipliers (1/sd, square roots of feature weights), float64.
    unitless : bool
        Whether the factors take the unit out, as deviations do: x̃ is then what it is, not a
        number of 2^exponent.
    """

    origin: Array
    offset: Array
    exponent: int = 0
    factor: Array | None = None
    unitless: bool = False

    @property
    def unit(self) -> int:
        """Exponent of the unit in which x̃ is counted."""
        return 0 if self.unitless else self.exponent

    @property
    def scale(self) -> Array | None:
        """What columns are divided by (p,), in the units of the data, or None."""
        if self.factor is None:
            return None
        down = self.exponent - self.unit
        half = down // 2
        return 2.0**half / self.factor * 2.0 ** (down - half)

    @property
    def mean(self) -> Array:
        """Column means (p,) in the units of the data, float64."""
        xp = namespace(self.origin)
        half = self.exponent // 2
        offset = self.offset * 2.0**half * 2.0 ** (self.exponent - half)
        return xp.astype(self.origin, xp.float64) + offset

    def unlevelled(self, powers: Array | None) -> "Centring":
        """Return the same of rows whose columns (p,) are not in units of 2^power.

        The powers go into the factors, where float64 holds them.
        """
        if powers is None:
            return self
        up = powers + self.exponent
        factor = np.ldexp(1.0 if self.factor is None else self.factor, -up)
        if not np.all((factor > 1 / _REACH) & (factor < _REACH)):
            refuse_lost((factor <= 1 / _REACH) | (factor >= _REACH))
        origin, offset = np.ldexp(self.origin, powers), np.ldexp(self.offset, up)
        return Centring(origin, offset, 0, factor, self.unitless)

    def thin(self, q: Array) -> Array:
        """Return diag(factor)·Q: what rows about their origin are multiplied with."""
        return q if self.factor is None else self.factor[:, None] * q

    def unthin(self, w: Array, sums: Array) -> Array:
        """Return diag(factor)(W - offset·sumsᵀ), the left half of centring, for W (p, b)."""
        return self.thin(w - self.offset[:, None] * sums[None, :])
