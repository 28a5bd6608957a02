"""Completed rows, and how far their coordinates may be off."""

import dataclasses
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators._filling import warn_empty
from mercer.estimators._held import held_rows
from mercer.estimators._parameters import check_fitted
from mercer.operators import Completion, empty_rows, projected
from mercer.sources import like_given, refuse_infinite


def fills_cells(estimator: Any) -> bool:
    """Tell whether an estimator fills missing cells: missing="em" or "ppca"."""
    return bool(estimator.missing != "raise")


class ImputedRows:
    """What a model that fills missing cells says of rows that have some."""

    components_: Array
    scale_: Array | None
    completion_: Completion
    missing_counts_: Array
    _admit: Any
    _centring: Any
    _whitened: Any
    _alive: Array
    _unit_deviations: Array

    @available_if(fills_cells)  # type: ignore[untyped-decorator]
    def impute(self, X: Any) -> Any:
        """Return X with its missing cells as the model expects them, given the others.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with NaN where a cell is missing. They are read, never written to. A row with
            nothing observed gets the means.

        Returns
        -------
        array, sparse matrix or frame of shape (n_samples, n_features)
            Of the kind and type that came in, but for sparse matrices, which come back as CSR,
            and numbers other than native float32 and float64, as float64. Cells that are there
            are not changed. In a frame only columns with missing cells are replaced.
        """
        check_completion(self)
        source = self._admit(held_rows(X), reset=False)
        rows = source.array
        filled = self.completion_.filled(rows, partial(self._refuse_infinite, source))
        empty = empty_rows(rows) if rows.dtype.kind == "f" else np.empty(0)
        if empty.size:
            warn_empty(empty, "their cells are the means")
        return like_given(X, filled)

    def _refuse_infinite(self, source: Any) -> None:
        """Refuse an infinite cell by its place."""
        refuse_infinite(source, getattr(self, "feature_names_in_", None))

    @available_if(fills_cells)  # type: ignore[untyped-decorator]
    def score_error(self, X: Any) -> Array:
        """Return the standard deviations (n, k) of the coordinates, given the model.

        A row that is complete has its coordinates for certain: 0. In another the missing
        cells m spread about what is expected of them with covariance S_m, and a coordinate
        Σ_j a_j x_j with variance a_mᵀS_m a_m. The axes themselves are taken as known; see
        `multiple_imputation` for what that leaves out.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with NaN where a cell is missing.
        """
        check_completion(self)
        source = self._admit(held_rows(X), reset=False)
        self._refuse_infinite(source)
        rows = source.array
        if rows.dtype.kind != "f":
            return np.zeros((rows.shape[0], self._n_features_out))  # type: ignore[attr-defined]
        model = open_model(self)
        axes, exponent = self._directions(model)
        return np.ldexp(np.sqrt(projected(model, rows, axes)[1]), exponent)

    def _directions(self, model: Completion) -> tuple[Array, int]:
        """Return A (p, q) and e: coordinates are 2^e·yA, y what the completion analyses."""
        axes, own_unit = self.components_.T.astype(np.float64), self._centring.unit
        exponent = model.centring.exponent - self._centring.exponent + own_unit
        if self._whitened is not False:
            # In the unit of the fit: at the ends of the range √λ may have no digits left.
            safe = np.where(self._alive, self._unit_deviations, 1.0)
            axes = axes * np.where(self._alive, 1 / safe, 0.0)
            exponent -= own_unit
        if self._whitened == "zca":
            axes = axes @ self.components_.astype(np.float64)
        own = 1.0 if self._centring.factor is None else self._centring.factor
        other = 1.0 if model.centring.factor is None else model.centring.factor
        ratio = np.broadcast_to(own / other, (len(axes),))
        return axes * ratio[:, None], exponent


def open_model(estimator: Any) -> Completion:
    """Return the completion of an estimator with the noise that cells have about it.

    Regularised iterative PCA takes the noise from completed rows, in which the cells that
    were filled have none: what is left over belongs to the observed cells alone.
    """
    model: Completion = estimator.completion_
    if estimator.missing == "ppca":
        return model
    return dataclasses.replace(model, noise=model.noise / estimator._observed_share)


def check_completion(estimator: Any) -> None:
    """Refuse an estimator that fills no cells, or has no model of them."""
    check_fitted(estimator)
    if not hasattr(estimator, "missing") or not fills_cells(estimator):
        raise InputError(
            "only a PCA that fills missing cells can draw them",
            got=f"{type(estimator).__name__} with missing="
            f"{getattr(estimator, 'missing', None)!r}",
            fix='fit PCA(k, missing="em") or PCA(k, missing="ppca")',
        )
    if not hasattr(estimator, "completion_"):
        raise InputError(
            "there is no model of missing cells: it needs rows that can be read again",
            got="a model of batches, or of a covariance matrix",
            fix="call fit with all rows",
        )
