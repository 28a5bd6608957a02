"""Dictionaries by scikit-learn: rows as sums of few atoms."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.estimators.linear.pca import PCA
from mercer.estimators.walk._admission import admit_coordinates, held_rows
from mercer.estimators.walk._parameters import (
    COUNT,
    POSITIVE,
    RESOURCES,
    Attributes,
    Constraints,
)
from mercer.guests._guest import Guest, seed_of_host
from mercer.sources import Source


class DictionaryLearning(Guest):
    """Rows x ≈ x̄ + zD with few z that are not 0, by scikit-learn [Mairal2009]_.

    The atoms, rows of D, are not orthogonal and may be more than the columns. Read which
    atoms a row is made of; atoms have no order, and another seed may give others.

    Parameters
    ----------
    n_components : int or None
        k, atoms; None for as many as columns.
    alpha : float
        Weight of Σ|z| beside half the squared error.
    max_iter : int
        Rounds of codes and atoms.
    transform_algorithm : {"omp", "lasso_lars", "lasso_cd", "lars", "threshold"}
        How codes of rows are found.
    memory : int, str or None
        See `PCA`; the plan refuses what would not fit.
    random_state : int, RandomState, Generator or None
        Seed. With the same one, and the same libraries, two runs give the same bits.

    Attributes
    ----------
    components_ : ndarray of shape (k, p)
        D, atoms of norm one at most.
    embedding_ : ndarray of shape (n, k)
        z of the rows of the fit.
    mean_ : ndarray of shape (p,)
        x̄.
    errors_ : ndarray
        What was made small, round by round; `n_iter_` rounds.
    certificate_ : None
        There is none.
    plan_, n_components_, n_samples_, n_features_in_
        As for the other maps.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import DictionaryLearning
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> model = DictionaryLearning(5, max_iter=20).fit(X)
    >>> model.components_.shape, model.transform(X).shape
    ((5, 8), (60, 5))
    """

    reading = (
        "Which atoms a row is made of may be read from its codes; atoms have no order. There "
        "is no certificate."
    )
    _module, _extra, _called = "sklearn.decomposition", "dictionary", "scikit-learn"
    _rate = (0.5, 2e-3)
    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [COUNT, None],
        "alpha": [POSITIVE],
        "max_iter": [COUNT],
        "transform_algorithm": [
            StrOptions({"omp", "lasso_lars", "lasso_cd", "lars", "threshold"})
        ],
        "memory": RESOURCES["memory"],
        "random_state": RESOURCES["random_state"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        alpha: float = 1.0,
        max_iter: int = 200,
        transform_algorithm: str = "omp",
        memory: int | str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.max_iter = max_iter
        self.transform_algorithm = transform_algorithm
        self.memory = memory
        self.random_state = random_state

    def _run(self, library: Any, rows: Array, start: Array | None) -> tuple[Array, Any]:
        mean = PCA(1).fit(rows).mean_  # right far from the origin too
        host = library.DictionaryLearning(
            n_components=self._width(rows.shape[1]), alpha=self.alpha,
            max_iter=self.max_iter, transform_algorithm=self.transform_algorithm,
            random_state=seed_of_host(self._seed()),
        ).fit(rows - mean)  # fmt: skip
        made = (host.components_, np.asarray(mean), np.asarray(host.error_))
        self._rounds = int(host.n_iter_)
        return self._place(library, made, rows), made

    def _fitted(self, source: Source, weights: Array | None) -> Attributes:
        state = super()._fitted(source, weights)
        atoms, mean, errors = self._made_now()
        state |= {"components_": atoms, "mean_": mean, "errors_": errors}
        state |= {"n_iter_": state.pop("_rounds")}
        del state["_rows"], state["_start"]
        return state

    def _again(self, library: Any) -> Any:
        """Return atoms and means, which are plain arrays."""
        return self.components_, self.mean_, self.errors_

    def _place(self, library: Any, made: Any, rows: Array) -> Array:
        atoms, mean, _ = made
        given = {"algorithm": self.transform_algorithm, "alpha": self.alpha}
        if self.transform_algorithm in ("omp", "lars"):
            given["n_nonzero_coefs"] = min(max(1, rows.shape[1] // 10), len(atoms))
        return np.asarray(library.sparse_encode(rows - mean, atoms, **given))

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows x̄ + zD (n, p) of codes z (n, k).

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Codes.
        """
        check_is_fitted(self, "components_")
        codes = admit_coordinates(held_rows(X), self.n_components_)
        return np.asarray(codes @ self.components_ + self.mean_)
