"""The way there of kernel PCA: coordinates of rows, exact or on landmarks, and novelty."""

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, eps_of
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.kernel._compressed import Compressed, by_blocks, compress
from mercer.estimators.kernel._kernel_landmarks import LandmarkModel
from mercer.estimators.kernel._kernel_projection import Projection
from mercer.estimators.kernel._kernel_rows import KernelRows
from mercer.estimators.kernel._kernel_stream import is_blocks
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.kernels import Kernel, Precomputed
from mercer.solvers import Certificate
from mercer.sources import Source, scan


class KernelAhead(TransformerMixin):  # so that its fit_transform gives frames
    """Mixed into kernel PCA: the projection of rows.

    What it asks of the fitted model is named below.
    """

    tol_transform: float | None
    kernel_: Kernel
    n_components_: int
    dual_: Array
    explained_variance_: Array
    eigenvalues_: Array
    certificate_: Certificate
    _seen: Kernel
    _frame: KernelRows
    _engine: Any
    _phi: Any
    _dtype: Any
    _level: Array
    _middle: float
    _coordinates: Array | None
    _projection: Projection
    _landmark_model: LandmarkModel | None
    _admit: Any
    _seed: Any

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit to X and return its coordinates, the same as ``fit(X).transform(X)``."""
        model: Any = self
        if is_blocks(X):
            raise InputError(
                "an iterator is read once; its rows are gone when they could be projected",
                got=type(X).__name__,
                fix="call fit(iterator), and transform on each block of a second one",
            )
        model.fit(X, y, **fit_params)
        if self._coordinates is None:
            return model.transform(X)
        found = self._coordinates.copy()
        unseen = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if unseen.size:  # rows of weight zero are projected as new rows are
            found[unseen] = self._project(self._admit(X, reset=False))[unseen]
        return found

    def _project(self, source: Source) -> Array:
        refuse_bad_cells(source, getattr(self, "feature_names_in_", None))
        return self._projected(self._frame.ready(source))

    def _projected(self, rows: Any) -> Array:
        """Return Bᵀk_X(x) - c₀."""
        if self._engine is not None:
            return self._through_features(rows)
        if isinstance(self.kernel_, Precomputed):
            products = np.asarray(rows @ self.dual_)
        elif (made := self._on_landmarks()) is not None:
            return np.asarray(self._by_landmarks(made, rows), self._dtype)
        else:
            products = self._projection.products(rows)
        return np.asarray(products - self._level, self._dtype)

    def _through_features(self, rows: Any) -> Array:
        found = self._engine._project(scan(self._phi(rows)))
        found = found[:, : self.n_components_].astype(self._dtype, copy=False)
        short = self.n_components_ - found.shape[1]
        return found if short <= 0 else np.pad(found, ((0, 0), (0, short)))

    def _on_landmarks(self) -> Compressed | None:
        """Return the projection on landmarks, made once; None where rows go the exact way."""
        held, exact = self._landmark_model is not None, self._projection
        if self.tol_transform is None or held or self._engine is not None or exact is None:
            return None
        if not self._seen.flag.centred:
            raise NotSupportedError(
                "rows can be projected on landmarks only for a positive definite kernel",
                got=f"tol_transform={self.tol_transform} with {self._seen!r}",
                fix="set tol_transform=None",
            )
        if exact.compressed is None:
            tol, scale = self.tol_transform, np.sqrt(self.explained_variance_)
            slack = self._axis_slack()
            exact.compressed = compress(
                self._seen, exact, self._level, scale, tol, self._seed(), slack
            )
        found: Compressed = exact.compressed
        return found

    def _axis_slack(self) -> Array:
        """Return how far ‖v_j‖² = bᵀKb may be from 1: rounding of B, and of float32 tiles."""
        bounds = self.certificate_
        size = np.maximum(np.abs(self.eigenvalues_), bounds.zero_level or 1e-300)
        slack = 4 * eps_of(self.dual_.dtype) * np.sqrt(size.max(initial=0.0) / size)
        if self.dual_.dtype == np.float32:
            slack = slack + (bounds.upper - bounds.lower) / size
        return np.asarray(slack)

    def _by_landmarks(self, made: Compressed, rows: Any) -> Array:
        """Return coordinates on landmarks where their bound meets `tol_transform`."""
        assert self.tol_transform is not None
        tol, scale = self.tol_transform, np.sqrt(self.explained_variance_)
        if np.isinf(tol):
            return made.project(rows)

        def act(block: Any) -> Array:
            found, bound = made.bounded(block)
            far = np.flatnonzero(np.any(bound > tol * scale, axis=1))
            if far.size:
                found[far] = self._projection.products(block[far]) - self._level
            return found

        return by_blocks(rows, act)

    def transform_bound(self, X: Any) -> Array:
        """Return bounds (n_samples, n_components) on the error of projecting X on landmarks.

        ``transform(X)`` with ``tol_transform=float("inf")`` differs from the exact
        coordinates by no more. Zeros where `tol_transform` is None, and for models that
        need no landmarks beside their own.
        """
        check_is_fitted(self)
        return self._bounds(self._admit(X, reset=False))

    def _bounds(self, source: Source) -> Array:
        refuse_bad_cells(source, getattr(self, "feature_names_in_", None))
        made = self._on_landmarks()
        if made is None:
            return np.zeros((source.shape[0], self.n_components_))
        return by_blocks(self._frame.ready(source), lambda block: made.bounded(block)[1])

    def novelty(self, X: Any) -> Array:
        """Return ‖φ̃(x)‖² - ‖z(x)‖² (n_samples,): how far a row is from the axes.

        The squared distance in feature space from the plane of the components; large for
        rows unlike all that were seen.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        return self._novel(self._admit(X, reset=False))

    def _novel(self, source: Source) -> Array:
        refuse_bad_cells(source, getattr(self, "feature_names_in_", None))
        if isinstance(self.kernel_, Precomputed):
            raise NotSupportedError(
                "a matrix k(new, X) does not hold k(x, x) of new rows",
                got=f"novelty with {self.kernel_!r}",
                fix="fit with a kernel on rows",
            )
        rows = self._frame.ready(source)
        return np.maximum(by_blocks(rows, self._left_over), 0.0)

    def _left_over(self, rows: Any) -> Array:
        """Return k̃(x, x) - ‖z(x)‖² of a block of rows."""
        return self._unexplained(rows, np.asarray(self._projected(rows), np.float64))
