"""The spatial median: the point whose distances to the rows have the smallest sum."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import EPS, Array
from mercer.operators._centring import Centring
from mercer.operators._placed import Placed, deviations, norms, rounding_of

_DEPTH = 5  # steps that one extrapolation looks back to
_TRY_ROW = 6  # walks after which the nearest row is tried in the place of the median
_SPREAD_TOL = 1e-10  # relative, of the column spreads
_SPREAD_WALKS = 100


@dataclasses.dataclass(frozen=True)
class SpatialMedian:
    """The minimiser m of Σw‖x̃ - m‖, and how it was found.

    Parameters
    ----------
    centring : Centring
        The median as centring, with the factors of the columns.
    pull : float
        ‖Σw(x̃ - m)/‖x̃ - m‖‖/Σw, which is zero at a median between the rows.
    on_rows : float
        Weight of the rows that stand at the median.
    walks : int
        Walks it took.
    met : bool
        Whether it is a median to the tolerance asked for.
    """

    centring: Centring
    pull: float
    on_rows: float
    walks: int
    met: bool


def spatial_median(
    rows: Placed,
    counts: Array,
    factor: Array | None = None,
    *,
    start: Array | None = None,
    tol: float = 1e-10,
    most: int = 100,
) -> SpatialMedian:
    """Return the spatial median by extrapolated Weiszfeld steps, one walk each.

    A step is T(m) = m + R/Σ(w/r) with r = ‖x̃ - m‖ and R = Σw(x̃ - m)/r; the last five are
    extrapolated (Anderson), and an extrapolation that does not pay is taken back. Where the
    median stands on a row, R has no zero: m is the median when ‖R‖ ≤ the weight η there,
    else the step shrinks by 1 - η/‖R‖ [Vardi2000]_. Now and then the nearest row is tried,
    since Weiszfeld's steps creep towards a row without getting there.

    Parameters
    ----------
    rows : Placed
        The rows.
    counts : ndarray of shape (n,)
        Repeat counts.
    factor : ndarray of shape (p,) or None
        Column multipliers.
    start : ndarray of shape (p,) or None
        Offset to start from; None is the origin of the rows.
    tol : float
        Largest ‖R‖/Σw.
    most : int
        Walks that may be spent.
    """
    search = _Search(rows, counts, factor)
    best = search.at(np.zeros(rows.shape[1]) if start is None else start)
    history = list[_Point]()
    while not best.found(tol) and search.walks < most:
        if search.walks % _TRY_ROW == 0:
            point = search.at(best.nearest)
            if point.objective < best.objective or point.found(tol):
                best, history = point, []
                continue
        history = [*history, best][-_DEPTH:] if best.on_rows == 0 else []
        point = search.at(_extrapolated(history) if len(history) > 1 else best.step)
        if len(history) > 1 and not point.better(best):
            history = []
            point = search.at(best.step)
        if not point.better(best) and history == []:
            break  # rounding has the last word
        best = point
    centring = Centring(rows.origin, best.offset, rows.exponent, factor)
    return SpatialMedian(centring, best.pull, best.on_rows, search.walks, best.found(tol))


@dataclasses.dataclass(frozen=True, eq=False)
class _Point:
    """What one walk tells of a candidate."""

    offset: Array  # where, in units of the rows, without factors
    step: Array  # where Weiszfeld goes from here
    objective: float
    pull: float
    on_rows: float
    share: float  # on_rows of all weight
    nearest: Array

    def found(self, tol: float) -> bool:
        return self.pull <= max(tol, self.share * (1 + 1e-12))

    def better(self, other: "_Point") -> bool:
        slack = 1 + 4 * EPS
        return self.objective < other.objective / slack or (
            self.objective <= other.objective * slack and self.pull < other.pull
        )


@final
class _Search:
    """Evaluates candidates, one walk each."""

    def __init__(self, rows: Placed, counts: Array, factor: Array | None) -> None:
        self.rows, self.counts, self.factor = rows, counts, factor
        self.total = float(np.sum(counts))
        self.walks = 0

    def at(self, offset: Array) -> _Point:
        self.walks += 1
        p = self.rows.shape[1]
        beside = rounding_of(offset, self.factor)
        pull, inverse, objective, on_rows = np.zeros(p), 0.0, 0.0, 0.0
        nearest, least = offset, np.inf
        for part, y in self.rows.blocks():
            w = self.counts[part]
            d = y - offset  # the row itself may be wanted
            d = d if self.factor is None else np.multiply(d, self.factor, out=d)
            r = norms(d)
            on = r <= beside
            pulls = np.where(on, 0.0, w / np.where(on, 1.0, r))
            pull += pulls @ d
            inverse += float(np.sum(pulls))
            objective += float(w @ r)
            on_rows += float(np.sum(w[on]))
            candidate = np.where(on | (w == 0), np.inf, r)
            i = int(np.argmin(candidate))
            if candidate[i] < least:
                least, nearest = float(candidate[i]), y[i].copy()
        return self._point(offset, pull, inverse, objective, on_rows, nearest)

    def _point(
        self,
        offset: Array,
        pull: Array,
        inverse: float,
        objective: float,
        on_rows: float,
        nearest: Array,
    ) -> _Point:
        size = float(np.linalg.norm(pull))
        length = max(0.0, 1 - on_rows / size) / inverse if size > 0 and inverse > 0 else 0.0
        move = pull * length if self.factor is None else pull * length / self.factor
        return _Point(
            offset,
            offset + move,
            objective,
            size / self.total,
            on_rows,
            on_rows / self.total,
            nearest,
        )


def _extrapolated(history: list[_Point]) -> Array:
    """Return the combination of past steps whose residual is least (Anderson)."""
    residuals = np.array([point.step - point.offset for point in history])
    last, steps = residuals[-1], history[-1].step
    differences = (residuals[1:] - residuals[:-1]).T
    moved = np.diff(np.array([point.step for point in history]), axis=0).T
    weights = np.linalg.lstsq(differences, last, rcond=1e-10)[0]
    found = steps - moved @ weights
    return np.asarray(found if np.isfinite(found).all() else steps)


def spatial_spread(rows: Placed, counts: Array, weight: Array | None) -> Array:
    """Return factors (p,) with which every column has the same share of the signs.

    With u = x̃/‖x̃‖ about the median, Σw u_j² = Σw/p for all columns j: a scale of columns
    that no far row can move [Hettmansperger2002]_ (diagonal). Median and factors are
    updated in one walk. Columns that are constant keep the factor one. The overall size is
    settled elsewhere. `weight` (p,) or None are factors that come on top.
    """
    p = rows.shape[1]
    offset, factor = np.zeros(p), np.ones(p)
    for walk in range(_SPREAD_WALKS):
        centring = Centring(rows.origin, offset, rows.exponent, factor)
        squares, pull, inverse, total = np.zeros(p), np.zeros(p), 0.0, 0.0
        for part, y in rows.blocks():
            d = deviations(y, centring)
            r = norms(d)
            w = np.where(r > 0, counts[part], 0.0)
            d /= np.where(r > 0, r, 1.0)[:, None]
            squares += w @ (d * d)
            pull += w @ d
            inverse += float(np.sum(w / np.where(r > 0, r, 1.0)))
            total += float(np.sum(w))
        live = squares > (p * EPS) ** 2 * total
        share = squares[live] * np.sum(live) / max(total, EPS)
        offset = offset + (pull / inverse / factor if inverse > 0 else 0.0)
        factor = factor.copy()
        factor[live] /= np.sqrt(share)
        factor[~live] = 1.0
        if walk and np.all(np.abs(share - 1) <= _SPREAD_TOL):
            break
    return factor if weight is None else factor * weight
