"""Variances and axes of the population behind those of a sample, which noise turns."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.selection._stepwise_edge import count_beyond

_TURNS = 50  # of the size of noise and the spikes above it
_GRID = 600  # population variances among which the ends of an interval are found
_NARROW = 0.35  # least part of the spread of a variance that noise leaves to a sample one
_LARGEST = 1e6  # population variance in units of noise, at the end of the grid


@final
@dataclasses.dataclass(frozen=True)
class Population:
    """The spiked model: ℓ_1 ≥ … ≥ ℓ_m above noise of variance σ² in every other direction.

    A sample eigenvalue is near λ(ℓ) = ℓ(1 + γσ²/(ℓ - σ²)) for ℓ > σ²(1 + √γ), γ = p/(n - 1),
    and the squared cosine of its axis to that of the population near
    (1 - γ/x²)/(1 + γ/x), x = ℓ/σ² - 1 ([Baik2006]_, [Paul2007]_). Below, it tells nothing.

    Attributes
    ----------
    spikes : int
        m: sample eigenvalues beyond the edge of noise.
    noise : float
        σ².
    gamma : float
        Columns per row.
    """

    spikes: int
    noise: float
    gamma: float

    @classmethod
    def of(cls, values: Array, trace: float, rows: float, columns: int) -> "Population":
        """Return the model of leading eigenvalues and the sum of all.

        σ² is what makes that sum right, spikes being larger than their ℓ by γσ²ℓ/(ℓ - σ²).
        """
        gamma = columns / max(rows - 1, 1.0)
        m = count_beyond(values, trace, rows, columns)
        left = max(trace - float(np.sum(values[:m])), 0.0)
        noise = left / max(columns - m, 1)
        if m >= columns - 1 or noise <= 1e-9 * trace / columns:
            return cls(columns, 0.0, gamma)  # the rest is one axis, which the others settle
        for _ in range(_TURNS):
            ell = cls(m, noise, gamma).behind(values[:m])
            taken = float(np.sum(gamma * ell / np.maximum(ell - noise, 1e-9 * noise)))
            new = left / max(columns - m - taken, 0.2 * (columns - m))
            if abs(new / noise - 1) < 1e-10:
                break
            noise = new
        return cls(m, noise, gamma)

    @property
    def threshold(self) -> float:
        """The population variance below which an axis cannot be told from noise."""
        return self.noise * float(1 + np.sqrt(self.gamma))

    def behind(self, values: Array) -> Array:
        """Return ℓ of sample eigenvalues; those within noise give the threshold."""
        if self.noise <= 0:
            return np.asarray(values, np.float64)
        edge = (1 + np.sqrt(self.gamma)) ** 2
        scaled = np.maximum(np.asarray(values, np.float64) / self.noise, edge)
        middle = scaled + 1 - self.gamma
        root = np.sqrt(np.maximum(middle**2 - 4 * scaled, 0.0))
        return np.asarray(self.noise * (middle + root) / 2)

    def cosines(self, ell: Array) -> Array:
        """Return the cosine of every sample axis to that of the population, near 0 to 1."""
        if self.noise <= 0:
            return np.ones(len(ell))
        x = np.maximum(ell / self.noise - 1, 1e-9)
        squares = (1 - self.gamma / x**2) / (1 + self.gamma / x)
        return np.asarray(np.sqrt(np.clip(squares, 0.0, 1.0)))

    def spread(self, ell: Array) -> Array:
        """Return the standard deviation of the entries of v̂/cos about those of v, times √n.

        Noise adds ℓσ²/((ℓ - σ²)² - γσ⁴) to every direction.
        """
        if self.noise <= 0:
            return np.zeros(len(ell))
        room = np.maximum((ell - self.noise) ** 2 - self.gamma * self.noise**2, 1e-300)
        return np.asarray(np.sqrt(ell * self.noise / room))

    def interval(self, value: float, error: float, t: float) -> tuple[float, float]:
        """Return the ℓ for which a sample eigenvalue is no surprise; low 0 is no lower limit.

        log λ has the mean log λ(ℓ) and the deviation error·(ℓ/λ)√(1 - γ/x²), that of normal
        rows in units of that of a variance along a fixed axis.

        Parameters
        ----------
        value : float
            λ.
        error : float
            Standard error of the logarithm of the variance along the axis.
        t : float
            Of the level.
        """
        if self.noise <= 0 or value <= 0:
            return value * float(np.exp(-t * error)), value * float(np.exp(t * error))
        least = np.sqrt(self.gamma)
        x = least + np.geomspace(1e-6 * least, max(_LARGEST, 1e3 * value / self.noise), _GRID)
        ell = 1 + x
        middle = np.log(ell * (1 + self.gamma / x))
        part = np.sqrt(1 - self.gamma / x**2) / (1 + self.gamma / x)
        reach = t * error * np.maximum(part, _NARROW)
        seen = np.log(value / self.noise)
        high = float(np.interp(seen, np.maximum.accumulate(middle - reach), ell))
        top = np.minimum.accumulate((middle + reach)[::-1])[::-1]
        low = 0.0 if top[0] >= seen else float(np.interp(seen, top, ell))
        return low * self.noise, high * self.noise

    def resampled(self) -> "Population":
        """Return the model that draws of the sample follow.

        Their noise has the variances of the sample: mean σ², mean square σ⁴(1 + γ).
        """
        wider = 1 + self.gamma
        return Population(self.spikes, self.noise * wider, self.gamma / wider)


@final
@dataclasses.dataclass(frozen=True)
class Turned:
    """How far sample axes lie from those of the population, from draws of the sample.

    Attributes
    ----------
    cosines : ndarray of shape (draws, k, k)
        As those of draws and sample, but between population and sample: what turns into
        directions that are no axes is not what the draws show, which noise has turned twice.
    inside : ndarray of shape (k, k, k)
        For axis j, the covariance over the draws of what it takes from the other axes.
    outside : ndarray of shape (k,)
        Standard deviation of every entry of v̂/cos from noise.
    scale : ndarray of shape (k,)
        √ℓ/cos: loadings of the population are near v̂ times this; NaN for axes in the noise.
    """

    cosines: Array
    inside: Array
    outside: Array
    scale: Array


def turned(model: Population, values: Array, sure: Array, found: Array, rows: float) -> Turned:
    """Return how far the axes of a sample lie from those of the population.

    Parameters
    ----------
    model : Population
        Of the sample.
    values : ndarray of shape (k,)
        Its eigenvalues λ.
    sure : ndarray of bool of shape (k,)
        Whether they are larger than noise by more than their error.
    found : ndarray of shape (draws, k, k)
        Cosines of every sample axis with every axis of the draw, in the order of the sample.
    rows : float
        n.
    """
    k = len(values)
    squares = np.maximum(np.sum(found**2, axis=1), 1e-300)  # of every axis of a draw
    unit = found / np.sqrt(squares)[:, None, :]
    ell = model.behind(values)
    cosine = model.cosines(ell)
    if model.noise > 0:
        drawn = 1 - model.resampled().cosines(values) ** 2
        heavy = np.maximum(np.mean(1 - np.minimum(squares, 1), axis=0) / drawn.clip(1e-300), 1)
        cosine = np.sqrt(np.clip(1 - (1 - cosine**2) * heavy, 0, 1)) * sure
    else:
        heavy = np.ones(k)
        unit, sure = found, np.ones(k, bool)
    off = unit.transpose(0, 2, 1) * (1 - np.eye(k))
    inside = np.einsum("djm,djl->jml", off, off) / max(len(found) - 1, 1)
    outside = model.spread(ell) * np.sqrt(heavy / rows)
    scale = np.where(sure, np.sqrt(ell) / np.maximum(model.cosines(ell), 1e-3), np.nan)
    return Turned(unit * cosine[None, None, :], inside, outside, scale)
