"""The spatial median: the point whose distances to the rows have the smallest sum."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import EPS, Array
from mercer.operators._centring import Centring
from mercer.operators.robust._rows_about_origin import RowsAboutOrigin, norms, rounding_of

_DEPTH = 5  # steps that one extrapolation looks back to
_TRY_ROW = 6  # walks after which the nearest row is tried in the place of the median


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
    rows: RowsAboutOrigin,
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
    rows : RowsAboutOrigin
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
    history = list[_MedianGuess]()
    while not best.found(tol) and search.walks < most:
        if search.walks % _TRY_ROW == 0:
            point = search.at(best.nearest)
            if point.objective < best.objective or point.found(tol):
                best, history = point, []
                continue
        history = [*history, best][-_DEPTH:] if best.on_rows == 0 else []
        point = search.at(_ahead(history) if len(history) > 1 else best.step)
        if len(history) > 1 and not point.better(best):
            history = []
            point = search.at(best.step)
        if not point.better(best) and history == []:
            break  # rounding has the last word
        best = point
    centring = Centring(rows.origin, best.offset, rows.exponent, factor)
    return SpatialMedian(centring, best.pull, best.on_rows, search.walks, best.found(tol))


@dataclasses.dataclass(frozen=True, eq=False)
class _MedianGuess:
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

    def better(self, other: "_MedianGuess") -> bool:
        slack = 1 + 4 * EPS
        return self.objective < other.objective / slack or (
            self.objective <= other.objective * slack and self.pull < other.pull
        )


@final
class _Search:
    """Evaluates candidates, one walk each."""

    def __init__(self, rows: RowsAboutOrigin, counts: Array, factor: Array | None) -> None:
        self.rows, self.counts, self.factor = rows, counts, factor
        self.total = float(np.sum(counts))
        self.walks = 0

    def at(self, offset: Array) -> _MedianGuess:
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
        size = float(np.linalg.norm(pull))
        length = max(0.0, 1 - on_rows / size) / inverse if size > 0 and inverse > 0 else 0.0
        move = pull * length if self.factor is None else pull * length / self.factor
        weights = size / self.total, on_rows, on_rows / self.total
        return _MedianGuess(offset, offset + move, objective, *weights, nearest)


def _ahead(history: list[_MedianGuess]) -> Array:
    """Return the combination of past steps whose residual is least (Anderson)."""
    steps = np.array([point.step for point in history])
    residuals = steps - np.array([point.offset for point in history])
    differences, moved = np.diff(residuals, axis=0).T, np.diff(steps, axis=0).T
    weights = np.linalg.lstsq(differences, residuals[-1], rcond=1e-10)[0]
    found = steps[-1] - moved @ weights
    return np.asarray(found if np.isfinite(found).all() else steps[-1])
