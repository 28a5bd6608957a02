"""Mixing: where completions go on after a step, and how far two of them are apart."""

import math
from typing import final

import numpy as np

from mercer.arrays import EPS, Array, svd
from mercer.operators._centring import Centring
from mercer.operators._completion import Completion

_MEMORY = 6  # steps that an extrapolation looks back on
_WORSE = 1.0  # growth of the change at which an extrapolation is taken back
_FAILURES = 3  # extrapolations taken back after which steps are plain for a while
_REST = 8  # such steps
_NEAR = 0.1  # change below which steps are extrapolated: before, they may lead elsewhere
_ROUNDING = 1e-10  # of an objective, that it may fall by
_LEAST = 1e-12  # of the spread of all columns together: one has none that is less
_APART = 4.0  # times by which an extrapolation may change the noise


def change(one: Completion, other: Completion, spread: Array) -> float:
    """Return how far two completions are apart.

    The root mean square over the columns of the distance of their means and loadings, each
    in units of its `spread` (p,): a column of small numbers counts as one of large ones.
    """
    if not np.any(spread):
        return 0.0
    unit = unit_of(spread)
    gap = _vector(other, one, unit) - _vector(one, one, unit)
    return float(np.linalg.norm(gap))


def unit_of(spread: Array) -> Array:
    """Return 1/(spread·√p) (p,); a column without any has that of all together."""
    whole = math.sqrt(float(np.mean(spread**2))) or 1.0
    return 1 / (np.where(spread > _LEAST * whole, spread, whole) * math.sqrt(len(spread)))


def _vector(completion: Completion, like: Completion, unit: Array) -> Array:
    """Return (mean, W, s, ln f) as one vector, W turned to lie as near as can be.

    Loadings are known up to a rotation, W ~ WR; R is the one that brings them nearest to
    those of `like`. Columns are multiplied by their `unit` (p,), s by that of all of them.
    """
    reference, loadings = like.loadings, completion.loadings
    if loadings.shape[1] and completion is not like:
        left, _, right = svd(loadings.T @ reference)
        loadings = loadings @ (left @ right)
    scale = 1.0 if like.centring.factor is None else like.centring.factor
    parts = [completion.centring.offset * scale * unit, (loadings * unit[:, None]).ravel()]
    parts.append(np.array([math.sqrt(completion.noise) * _whole_unit(unit)]))
    factor = completion.centring.factor
    if factor is not None:
        parts.append(np.log(factor) / math.sqrt(len(unit)))
    return np.concatenate(parts)


def _whole_unit(unit: Array) -> float:
    """Return the inverse root of the total variance."""
    return math.sqrt(len(unit)) / float(np.linalg.norm(1 / unit))


def _from_vector(vector: Array, like: Completion, near: Completion, unit: Array) -> Completion:
    """Return the completion of a vector that `_vector` made, noise and factors near `near`."""
    p, k = like.axes.shape
    old = like.centring
    scale = 1.0 if old.factor is None else old.factor
    offset, rest = vector[:p] / (scale * unit), vector[p:]
    loadings, rest = rest[: p * k].reshape(p, k) / unit[:, None], rest[p * k :]
    root, found = math.sqrt(near.noise), float(rest[0]) / _whole_unit(unit)
    noise = min(max(found, root / _APART), root * _APART) ** 2
    factor = near.centring.factor
    if factor is not None:
        moved = rest[1:] * math.sqrt(p) - np.log(factor)
        factor = factor * np.exp(np.clip(moved, -1.0, 1.0))
    axes, spread, _ = svd(loadings)
    centring = Centring(old.origin, offset, old.exponent, factor)
    return Completion(centring, axes, spread**2 + noise, noise)


@final
class Mixing:
    """Anderson's extrapolation: the combination of past steps with the least change."""

    def __init__(self) -> None:
        self._like: Completion | None = None
        self._unit = np.zeros(0)
        self._before: list[Array] = []
        self._after: list[Array] = []
        self._best, self._highest = math.inf, -math.inf
        self._plain: Completion | None = None
        self._failures, self._rested = 0, 0
        self._rates: list[float] = []

    @property
    def rate(self) -> float:
        """‖F(x) - F(y)‖ / ‖x - y‖ of steps F at its largest, over the last points."""
        return max(self._rates[-3:], default=0.0)

    def next(
        self,
        here: Completion,
        found: Completion,
        objective: float,
        change: float,
        spread: Array,
    ) -> Completion:
        """Return where to go on after the step from `here` to `found`.

        `objective` is what the steps raise, taken at `here`; where it has fallen, or the
        change has grown, `here` is given up for the last plain step. While the `change` is
        large, and after some failures, steps stay plain. Columns are compared in units of
        their `spread` (p,), as the first step has found it.
        """
        if self._like is None:
            self._like, self._unit = found, unit_of(spread)
        unit = self._unit
        before, after = _vector(here, self._like, unit), _vector(found, self._like, unit)
        size = float(np.linalg.norm(after - before))
        self._compare(before, after)
        lower = objective < self._highest - _ROUNDING * abs(self._highest)
        if self._after and (lower or not size <= _WORSE * self._best):
            assert self._plain is not None
            self._before, self._after, self._best = [], [], math.inf
            self._failures += 1
            return self._plain
        self._plain, self._highest = found, objective
        self._best = min(size, self._best)
        self._before = [*self._before, before][-_MEMORY:]
        self._after = [*self._after, after][-_MEMORY:]
        if self._failures >= _FAILURES:
            self._rested += 1
            if self._rested >= _REST:
                self._failures, self._rested = 0, 0
        if len(self._before) == 1 or change > _NEAR or self._failures >= _FAILURES:
            return found
        gaps = [a - b for a, b in zip(self._after, self._before, strict=True)]
        steps = np.stack([gap - gaps[-1] for gap in gaps[:-1]], axis=1)
        moves = np.stack([a - after for a in self._after[:-1]], axis=1)
        share = np.linalg.lstsq(steps, gaps[-1], rcond=EPS**0.5)[0]
        return _from_vector(after - moves @ share, self._like, found, unit)

    def _compare(self, before: Array, after: Array) -> None:
        """Note how much nearer a step has brought this point and the one before."""
        if self._before:
            apart = float(np.linalg.norm(before - self._before[-1]))
            if apart > 0:
                nearer = float(np.linalg.norm(after - self._after[-1]))
                self._rates.append(nearer / apart)
