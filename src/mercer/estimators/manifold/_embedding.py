"""Embedding: what all maps of rows share: a fit without weights, and the rows of the fit."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags

from mercer.arrays import Array, is_sparse
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.estimators.walk._spectral_estimator import SpectralEstimator
from mercer.sources import Source


class Embedding(SpectralEstimator):
    """Abstract: a method whose result is `embedding_`, a place for every row of the fit."""

    _needs_dense: ClassVar[bool] = False  # whether sparse rows are refused
    embedding_: Array

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override] # no weights
        """Fit to the rows of X; a failed call changes nothing.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Training rows, or with ``metric="precomputed"`` what is known of their pairs, of
            shape (n_samples, n_samples). They are read, never written to.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        self
        """
        return self._publish(clone(self), X, y)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Fit to X and return `embedding_`."""
        return self.fit(X, y, **fit_params).embedding_.copy()

    def _admit(self, X: Any, *, reset: bool) -> Source:
        source = super()._admit(X, reset=reset)
        if self._needs_dense and source.nnz is not None:
            raise InputError(
                "Sparse rows have no dense neighbourhoods",
                got=f"a sparse matrix of shape {source.shape}",
                fix="pass X.toarray(), or coordinates of it by PCA",
            )
        refuse_bad_cells(source, self._names)
        if reset and getattr(self, "metric", "precomputed") != "precomputed":
            _warn_of_pairs(source)
        return source

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: sparse rows are taken unless neighbourhoods are dense."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._needs_dense
        return tags


_FEW = 3  # points of which a symmetric table may be chance


def _warn_of_pairs(source: Source) -> None:
    """Warn where the rows look like a matrix of pairs: square, symmetric, nothing negative."""
    (n, p), x = source.shape, source.array
    if n != p or n <= _FEW:
        return
    if is_sparse(x):
        odd = (x != x.T).nnz > 0 or float(np.min(x.data, initial=0.0)) < 0
    else:
        odd = not np.array_equal(x[0], x[:, 0]) or not np.array_equal(x, x.T) or np.min(x) < 0
    if not odd:
        warn(
            "these rows look like a matrix of pairs of points, and are taken as rows",
            got=f"X of shape ({n}, {p}), X[i, j] = X[j, i] and none negative",
            fix='pass metric="precomputed" if X holds weights of a graph, or distances',
            category=DataWarning,
        )
