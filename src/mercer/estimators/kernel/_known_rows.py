"""The rows that the axes are combinations of, where they lie, and rows that stand for them."""

import dataclasses
import functools

import numpy as np

from mercer.arrays import Array
from mercer.errors import NotSupportedError
from mercer.estimators.kernel._fitted_kernel import FittedKernel
from mercer.estimators.kernel._new_rows import projected
from mercer.estimators.kernel._row_samples import added_up, twins


@dataclasses.dataclass(frozen=True)
class Known:
    """Known rows, where they lie in feature space, and how its mean is made of them.

    Parameters
    ----------
    rows : array or sparse matrix of shape (m, p)
        As the kernel sees them.
    scores : ndarray of shape (m, k)
        Their coordinates z_i.
    dual : ndarray of shape (m, k)
        B: v_j = Σ_i B_ij φ(x_i).
    share : ndarray of shape (m,)
        π: φ̄ = Σ_i π_i φ(x_i).
    residuals : ndarray of shape (m,) or None
        r_i, where they are needed.
    """

    rows: Array
    scores: Array
    dual: Array
    share: Array
    residuals: Array | None = None

    def only(self, picked: Array) -> "Known":
        """Return some of the rows."""
        left = None if self.residuals is None else self.residuals[picked]
        return Known(
            self.rows[picked], self.scores[picked], self.dual[picked], self.share[picked], left
        )

    def distinct(self) -> "Known":
        """Return the same with equal rows as one: no twin tells of a row held out."""
        found = twins(self.rows)
        if found is None:
            return self
        first, sets = found
        once = self.only(first)
        return dataclasses.replace(
            once,
            dual=added_up(self.dual, sets, len(first)),
            share=added_up(self.share, sets, len(first)),
        )

    def weights(self, scores: Array) -> Array:
        """Return γ_i = Σ_j B_ij z_j + π_i(1 - Σ_l Σ_j B_lj z_j), (n, m)."""
        found = np.asarray(scores, np.float64) @ self.dual.T
        found += (1 - found.sum(axis=1))[:, None] * self.share
        return found

    @functools.cached_property
    def centred(self) -> tuple[Array, Array]:
        """Rows about an origin inside the data, and that origin; sparse rows stay."""
        p = int(self.rows.shape[1])
        if hasattr(self.rows, "tocsr"):
            return self.rows, np.zeros(p)
        wide = np.asarray(self.rows, np.float64)
        origin = wide.mean(axis=0)
        return wide - origin, origin


def known_scores(fitted: FittedKernel) -> Array:
    """Return the coordinates (m, k) of the known rows."""
    if fitted.coordinates is None:
        return projected(fitted, fitted.rows)
    return np.asarray(fitted.coordinates[fitted.counted])


def known(fitted: FittedKernel) -> Known:
    """Return the known rows of a fitted model, equal ones as one."""
    return placed(fitted).distinct()


def placed(fitted: FittedKernel, means: Array | None = None) -> Known:
    """Return the known rows; with residuals where Kπ of them is given."""
    rows, scores = fitted.known_rows, np.asarray(known_scores(fitted), np.float64)
    dual = np.asarray(fitted.known_dual, np.float64)
    left = None if means is None else fitted.unexplained(rows, scores, means)
    return Known(rows, scores, dual, fitted.known_share, left)


def taught(fitted: FittedKernel) -> tuple[Array, Array, Array | None]:
    """Return coordinates, rows and shares that a regression learns from; no twins."""
    share = None
    if fitted.coordinates is None:
        assert fitted.sample is not None
        rows, scores = fitted.sample[1], projected(fitted, fitted.sample[1])
    else:
        rows, scores = fitted.known_rows, known_scores(fitted)
        share = None if fitted.frame.weights is None else fitted.known_share
    found = twins(rows)
    if found is None:
        return scores, rows, share
    first, sets = found
    share = np.ones(len(sets)) if share is None else share
    return scores[first], rows[first], added_up(share, sets, len(first))


def numbered(fitted: FittedKernel) -> tuple[Array, Array]:
    """Return training row numbers and their coordinates: of all that count, or of some."""
    if fitted.coordinates is None:
        assert fitted.sample is not None
        at, rows = fitted.sample
        if at is None:
            raise NotSupportedError(
                "the numbers of the rows that were kept are not known",
                got="a model of rows in parts, which keeps its landmarks alone",
                fix="transform some rows in memory and look among those",
            )
        return at, np.asarray(projected(fitted, rows), np.float64)
    seen = np.arange(len(fitted.coordinates))[fitted.counted]
    return seen, np.asarray(fitted.coordinates[seen], np.float64)
