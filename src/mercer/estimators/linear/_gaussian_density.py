"""The Gaussian model behind PCA: its covariance, precision and log-likelihood."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators.walk._parameters import check_fitted
from mercer.estimators.walk._rows_in_parts import (
    densities_of_parts,
    in_parts,
    mean_density_of_parts,
)
from mercer.estimators.walk._spectral_estimator import counts_of, repeat_counts
from mercer.operators import block_length, fetched
from mercer.sources import BlockSource, Source, SpreadSource, in_memory


class GaussianDensity:
    """Rows ~ N(mean, S), S = D⁻¹(V diag(λ - σ²) Vᵀ + σ²I)D⁻¹ with D the column factors.

    σ² is `noise_variance_`, the mean of the variances left out [Tipping1999]_.
    """

    components_: Array
    explained_variance_: Array
    noise_variance_: float
    n_components_: int
    n_features_in_: int
    scale_: Array | None

    def get_covariance(self) -> Array:
        """Return the covariance S (p, p) of the model, in the units of the data."""
        check_fitted(self)
        self._refuse_range()
        v = self.components_.astype(np.float64)
        extra = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        s = (v.T * extra) @ v
        s.flat[:: s.shape[0] + 1] += self.noise_variance_
        return s if self.scale_ is None else s * np.outer(self.scale_, self.scale_)

    def get_precision(self) -> Array:
        """Return S⁻¹ (p, p): (I - V diag((λ - σ²)/λ) Vᵀ)/σ², by the lemma of Woodbury."""
        check_fitted(self)
        self._refuse_singular()
        v, values = self.components_.astype(np.float64), self.explained_variance_
        if self.n_components_ == self.n_features_in_:
            inverse = (v.T / values) @ v
        else:
            share = np.maximum(values - self.noise_variance_, 0.0) / values
            inverse = -(v.T * share) @ v
            inverse.flat[:: inverse.shape[0] + 1] += 1.0
            inverse /= self.noise_variance_
        return inverse if self.scale_ is None else inverse / np.outer(self.scale_, self.scale_)

    def score_samples(self, X: Any) -> Array:
        """Return the log-likelihood (n,) of each row under the model.

        With z the coordinates and x̃ the centred row,
        -½(p ln 2π + ln|S| + Σ z_i²/λ_i + (‖x̃‖² - ‖z‖²)/σ²). Files are read block by block;
        a Dask array gives one that is not computed yet.
        """
        check_fitted(self)
        self._refuse_singular()
        this: Any = self
        source = this._admit(X, reset=False)
        if isinstance(source, SpreadSource):
            return densities_of_parts(self, source)
        if not isinstance(source, BlockSource):
            return self._log_densities(source)
        found, done = [np.empty(0)], 0
        for block in fetched(source, block_length(source, this._block_bytes(source))):
            this._refuse_block(source, block, done)
            found.append(self._log_densities(in_memory(block)))
            done += block.shape[0]
        return np.concatenate(found)

    def _log_densities(self, source: Source) -> Array:
        p, k, noise = self.n_features_in_, self.n_components_, self.noise_variance_
        scores = self._scores(source).astype(np.float64)  # type: ignore[attr-defined]
        values = self.explained_variance_
        distance = np.sum(scores**2 / values, axis=1)
        volume = float(np.sum(np.log(values)))
        if k < p:
            left = np.maximum(self._row_norms(source) - np.sum(scores**2, axis=1), 0.0)
            distance = distance + left / noise
            volume += (p - k) * float(np.log(noise))
        if self.scale_ is not None:
            volume += 2 * float(np.sum(np.log(self.scale_)))
        return np.asarray(-0.5 * (p * np.log(2 * np.pi) + volume + distance))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log-likelihood of the rows of X, Σw·log p(x)/Σw.

        Parameters
        ----------
        X : array, sparse matrix, frame, path, source or iterator of blocks
            Rows.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts of the rows.
        """
        if in_parts(X):
            check_fitted(self)
            self._refuse_singular()
            this: Any = self
            source = this._admit(X, reset=False)
            return mean_density_of_parts(self, source, counts_of(sample_weight, source))
        each = self.score_samples(X)
        return float(np.average(each, weights=repeat_counts(sample_weight, len(each))))

    def _row_norms(self, source: Any) -> Array:
        """Return ‖x̃‖² (n,) of the centred, scaled rows, a block at a time."""
        array, n = source.array, source.shape[0]
        out = np.empty(n)
        for start in range(0, n, 1024):
            block = array[start : start + 1024]
            block = block.toarray() if hasattr(block, "toarray") else block
            centred = block - self.mean_  # type: ignore[attr-defined]
            if self.scale_ is not None:
                centred = centred / self.scale_
            out[start : start + 1024] = np.einsum("ij,ij->i", centred, centred)
        return out

    def _refuse_range(self) -> None:
        """Refuse variances that float64 cannot hold with all their digits."""
        held = self.explained_variance_[self._alive]  # type: ignore[attr-defined]
        if np.any((held < 1e-300) | (held > 1e300)):
            raise InputError(
                "variances leave the range of float64: there is no density to speak of",
                got=f"variances from {held.min():.3g} to {held.max():.3g}",
                fix="divide the data by a constant and fit again",
            )

    def _refuse_singular(self) -> None:
        self._refuse_range()
        p, k = self.n_features_in_, self.n_components_
        full = bool(np.all(self._alive)) and (k == p or self.noise_variance_ > 0)  # type: ignore[attr-defined]
        if not full:
            raise InputError(
                "the covariance of the model is singular: it has no density",
                got=f"rank {self.rank_} with {p} features, noise variance"  # type: ignore[attr-defined]
                f" {self.noise_variance_:.3g}",
                fix="keep fewer components than the rank, so that noise is left",
            )
