"""The way there of kernel PCA: coordinates of rows, exact or on landmarks, and novelty."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, eps_of
from mercer.errors import NotSupportedError
from mercer.estimators._compressed import Compressed, by_blocks, compress
from mercer.estimators._door import refuse_bad_cells
from mercer.estimators._kernel_landmarks import LandmarkModel
from mercer.estimators._kernel_projection import Projection
from mercer.estimators._kernel_rows import KernelRows
from mercer.kernels import Kernel, Precomputed
from mercer.solvers import Certificate
from mercer.sources import Source, scan


class KernelAhead:
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
    _compressed: Compressed | None
    _admit: Any
    _seed: Any

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit to X and return its coordinates, the same as ``fit(X).transform(X)``."""
        model: Any = self
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
        elif self.tol_transform is not None and self._landmark_model is None:
            return np.asarray(self._by_landmarks(rows), self._dtype)
        else:
            products = self._projection.products(rows)
        return np.asarray(products - self._level, self._dtype)

    def _through_features(self, rows: Any) -> Array:
        found = self._engine._project(scan(self._phi(rows)))
        found = found.astype(self._dtype, copy=False)
        short = self.n_components_ - found.shape[1]
        return found if short <= 0 else np.pad(found, ((0, 0), (0, short)))

    def _by_landmarks(self, rows: Any) -> Array:
        """Return coordinates on landmarks where their bound meets `tol_transform`."""
        tol, scale = self.tol_transform, np.sqrt(self.explained_variance_)
        assert tol is not None
        made = self._on_few()
        if np.isinf(tol):
            return made.project(rows)

        def act(block: Any) -> Array:
            found, bound = made.bounded(block)
            far = np.flatnonzero(np.any(bound > tol * scale, axis=1))
            if far.size:
                found[far] = self._projection.products(block[far]) - self._level
            return found

        return by_blocks(rows, act)

    def _on_few(self) -> Compressed:
        """Return the projection on landmarks, made when it is first asked for."""
        tol, size = self.tol_transform, self.explained_variance_
        if self._compressed is None:
            assert tol is not None
            if not self._seen.flag.centred:
                raise NotSupportedError(
                    "rows can be projected on landmarks only for a positive definite kernel",
                    got=f"tol_transform={tol} with {self._seen!r}",
                    fix="set tol_transform=None",
                )
            self._compressed = compress(
                self._seen,
                self._projection,
                self._level,
                np.sqrt(size),
                tol,
                self._seed(),
                self._slack(),
            )
        return self._compressed

    def _slack(self) -> Array:
        """Return how far bᵀKb may be from one (k,): rounding of B, and of λ in float32."""
        size, sure = np.abs(self.eigenvalues_), self.certificate_
        size = np.where(size > sure.zero_level, size, np.inf)
        rounding = 4 * eps_of(self._dtype) * np.sqrt(np.max(np.abs(self.eigenvalues_)) / size)
        narrow = np.dtype(self._dtype).itemsize == 4
        return np.asarray(rounding + narrow * (sure.upper - sure.lower) / size)

    def transform_bound(self, X: Any) -> Array:
        """Return bounds (n_samples, n_components) on the error of projecting X on landmarks.

        ``transform(X)`` with ``tol_transform=float("inf")`` differs from the exact
        coordinates by no more.
        """
        check_is_fitted(self)
        rows = self._frame.ready(self._admit(X, reset=False))
        own = self._engine is not None or self._landmark_model is not None
        if own or self.tol_transform is None or isinstance(self.kernel_, Precomputed):
            return np.zeros((int(rows.shape[0]), self.n_components_))
        made = self._on_few()
        return by_blocks(rows, lambda block: made.bounded(block)[1])

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
        source = self._admit(X, reset=False)
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
        z = np.asarray(self._projected(rows), np.float64)
        if self._landmark_model is not None:
            model = self._landmark_model
            f, r = model.landmarks.features(rows)
            size = r + np.sum((f - model.mean) ** 2, axis=1)
        elif self._engine is not None:
            features = np.asarray(_dense(self._phi(rows)), np.float64)
            size = np.sum((features - self._engine.mean_) ** 2, axis=1)
        else:
            n = int(self._projection.rows.shape[0])
            shares = self._frame.shares(n).astype(self.dual_.dtype)[:, None]
            towards = self._projection.products(rows, shares)[:, 0]
            size = self._seen.diag(rows) - 2 * towards + self._middle
        return np.asarray(size - np.sum(z**2, axis=1))


def _dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else rows
