"""What a fitted kernel PCA knows in feature space: its rows, their mean, what is left out."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mercer.arrays import Array, Tiles
from mercer.errors import NotSupportedError
from mercer.estimators.kernel._decoder import Decoder, dense
from mercer.estimators.kernel._kernel_projection import Projection
from mercer.estimators.kernel._kernel_rows import KernelRows
from mercer.estimators.kernel._preimage import Known, Radial
from mercer.estimators.kernel._row_weights import added_up, twins
from mercer.kernels import Kernel

_BLOCK = 2048  # rows whose features are made at a time


@dataclasses.dataclass(frozen=True)
class Learned:
    """What a fitted model has learned of its way back so far, each when first asked for.

    Attributes
    ----------
    offered : tuple of str or None
        The methods that the kernel has.
    radial : Radial or None
        κ, where "distances" is offered.
    ridge : Decoder or None
        The regression on all training rows.
    means : ndarray of shape (n,) or None
        Kπ, the mean of the kernel of every known row with all of them.
    errors : dict or None
        Held-out errors by method.
    """

    offered: tuple[str, ...] | None = None
    radial: Radial | None = None
    ridge: Decoder | None = None
    means: Array | None = None
    errors: dict[str, float] | None = None


class KernelKnown:
    """Mixed into kernel PCA: the known rows, and the part of any row that no axis holds.

    The known rows are those that the axes are combinations of: the training rows, or the
    landmarks.
    """

    kernel_: Kernel
    X_fit_: Any
    dual_: Array
    _frame: KernelRows
    _engine: Any
    _phi: Any
    _middle: float
    _seen: Kernel
    _coordinates: Array | None
    _landmark_model: Any
    _sample: tuple[Array | None, Any] | None  # which training rows, where that is known
    _projected: Callable[[Any], Array]
    _decoder: Learned | None

    # -- the rows that are known ------------------------------------------------------

    def _known_rows(self) -> Any:
        """Return the rows (m, p) that have coordinates; those of weight zero have none."""
        return self.X_fit_[self._seen_rows()]

    def _known_scores(self) -> Array:
        """Return their coordinates (m, k)."""
        if self._coordinates is None:
            return self._projected(self.X_fit_)
        return self._coordinates[self._seen_rows()]

    def _taught(self) -> tuple[Any, Array, Array | None]:
        """Return rows, coordinates and shares that a regression learns from; no twins."""
        share = None
        if self._coordinates is None:
            assert self._sample is not None
            rows, scores = self._sample[1], self._projected(self._sample[1])
        else:
            rows, scores = self._known_rows(), self._known_scores()
            share = None if self._frame.weights is None else self._known_share()
        found = twins(rows)
        if found is None:
            return rows, scores, share
        first, sets = found
        share = np.ones(len(sets)) if share is None else share
        return rows[first], scores[first], added_up(share, sets, len(first))

    def _placed(self) -> tuple[Array, Array]:
        """Return training row numbers and their coordinates: of all that count, or of some."""
        if self._coordinates is None:
            assert self._sample is not None
            at, rows = self._sample
            if at is None:
                raise NotSupportedError(
                    "the numbers of the rows that were kept are not known",
                    got="a model of rows in parts, which keeps its landmarks alone",
                    fix="transform some rows in memory and look among those",
                )
            return at, np.asarray(self._projected(rows), np.float64)
        seen = np.arange(len(self._coordinates))[self._seen_rows()]
        return seen, np.asarray(self._coordinates[seen], np.float64)

    def _known_share(self) -> Array:
        """Return π (m,) with φ̄ = Σπ_i φ(x_i)."""
        seen = self._seen_rows()
        weights = self._frame.weights
        if weights is None or self._coordinates is None:
            share = np.ones(self.X_fit_.shape[0])
        else:
            share = weights
        return np.asarray(share[seen] / np.sum(share[seen]))

    def _known_dual(self) -> Array:
        """Return B (m, k): v_j = Σ_i B_ij φ(x_i)."""
        return self.dual_[self._seen_rows()]

    def _seen_rows(self) -> Any:
        if self._frame.weights is None or self._coordinates is None:
            return slice(None)
        return self._frame.weights > 0

    def _known(self, *, residuals: bool = False) -> Known:
        rows, share = self._known_rows(), self._known_share()
        scores = np.asarray(self._known_scores(), np.float64)
        dual = np.asarray(self._known_dual(), np.float64)
        found = Known(rows, scores, dual, share)
        if residuals:
            left = self._unexplained(rows, scores, self._means())
            found = dataclasses.replace(found, residuals=left)
        return found.distinct()

    @property
    def _learned(self) -> Learned:
        return self._decoder or Learned()

    def _keep(self, **found: Any) -> None:
        """Publish what was learned, in one step."""
        self._decoder = dataclasses.replace(self._learned, **found)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Keep what is learned inside only if all of it ends well."""
        before = self._decoder
        try:
            yield
        except BaseException:
            self._decoder = before
            raise

    def _unexplained(self, rows: Any, scores: Array, across: Array | None = None) -> Array:
        """Return r(x) = k̃(x, x) - ‖z(x)‖² (n,) of rows with these coordinates, at least 0.

        `across` is Σπ_i k(x, x_i) where it is known.
        """
        if self._engine is not None:
            whole = self._centred_squares(rows)
        elif self._landmark_model is not None:
            model = self._landmark_model
            f, r = model.landmarks.features(rows)
            whole = r + np.sum((f - model.mean) ** 2, axis=1)
        else:
            across = self._to_all(rows) if across is None else across
            whole = self._seen.diag(rows) - 2 * across + self._middle
        return np.asarray(np.maximum(whole - np.sum(scores**2, axis=1), 0.0))

    def _means(self) -> Array:
        """Return Kπ (m,) of the known rows: one pass over all pairs, made once."""
        if self._learned.means is None:
            self._keep(means=self._to_all(self._known_rows()))
        assert self._learned.means is not None
        return self._learned.means

    def _to_all(self, rows: Any) -> Array:
        """Return Σπ_i k(x, x_i) (n,)."""
        share = self._known_share()[:, None]
        return Projection(self._seen, self._known_rows(), share).products(rows)[:, 0]

    def _centred_squares(self, rows: Any) -> Array:
        """Return ‖φ(x) - φ̄‖² of explicit features."""
        out = np.empty(rows.shape[0])
        tiles = Tiles(len(out), _BLOCK)
        for number in range(len(tiles)):
            part = tiles[number]
            about = dense(self._phi(rows[part])) - self._engine.mean_
            out[part] = np.sum(about**2, axis=1)
        return out
