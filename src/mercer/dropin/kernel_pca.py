"""KernelPCA with scikit-learn's signature, attributes and conventions."""

import dataclasses
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer import estimators
from mercer.arrays import Array
from mercer.dropin._kernel_rules import NAMES, kernel_of, positive, predicted, ridge, varies
from mercer.dropin.pca import completed
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.kernel._eigenproblem import KernelFound, Signs
from mercer.estimators.kernel._kernel_fit import Kept, SeenRows
from mercer.estimators.walk._admission import admit, admit_coordinates
from mercer.estimators.walk._parameters import set_by_name
from mercer.kernels import Kernel, Precomputed, as_kernel
from mercer.planning import Path, Problem
from mercer.solvers import Certificate, Spectrum
from mercer.sources import Source


class NoInverseError(InputError, NotFittedError):
    """The pre-image was not learned; scikit-learn raises a NotFittedError for it."""


class SparseInverseError(NotSupportedError, NotImplementedError):
    """Sparse rows have no pre-image; scikit-learn raises a NotImplementedError for it."""


class KernelPCA(estimators.KernelPCA, auto_wrap_output_keys=None):
    r"""`mercer.KernelPCA` behind scikit-learn's signature: HKH = UΛUᵀ, Z = UΛ^½.

    Change ``from sklearn.decomposition import KernelPCA`` to ``from mercer.dropin import
    KernelPCA`` and nothing else. New code should use `mercer.KernelPCA`: its lengthscale
    follows the data, where γ = 1/p fits few tables, and its way back is learned.

    Parameters
    ----------
    n_components : int or None
        Number of axes, at most n; None keeps those whose eigenvalue is not zero.
    kernel : {"linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"} or callable
        A callable takes two rows and returns a number. Kernels of `mercer.kernels` and of
        `sklearn.gaussian_process.kernels` are taken as they are.
    gamma : float or None
        γ of "rbf", "poly" and "sigmoid"; None is 1/p.
    degree : float
        Exponent of "poly".
    coef0 : float
        Constant term of "poly" and "sigmoid".
    kernel_params : dict or None
        Further arguments of a callable kernel.
    alpha : float
        Penalty of the ridge regression that learns the way back.
    fit_inverse_transform : bool
        Whether to learn it.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}
        No effect: the plan chooses the path. All take the largest eigenvalues.
    tol : float
        Relative tolerance of the eigenvalues, for "arpack" and "auto". 0 stands for the
        tolerance of `mercer.KernelPCA`, which is certified either way.
    max_iter, iterated_power, n_jobs
        No effect: products are made until the tolerance is certified, on the threads that
        are there.
    remove_zero_eig : bool
        Whether axes with eigenvalue zero are left out also when a number is asked for.
    random_state : int, RandomState or None
        Seed of the iterative path. None is the seed 0, so that results are repeatable.
    copy_X : bool
        Whether `X_fit_` of a precomputed matrix is a copy. Data are never written to.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        λ of the centred kernel matrix, float64. Those below 1e-12·λ₁ (2e-7·λ₁ for float32
        data) are 0, as in scikit-learn.
    eigenvectors_ : ndarray of shape (n, k)
        Unit vectors; their entry of largest modulus is positive. Those of eigenvalue zero
        complete the others and have no meaning.
    dual_coef_ : ndarray of shape (n, p)
        (K_ZZ + αI)⁻¹X, with `fit_inverse_transform` only.
    X_transformed_fit_ : ndarray of shape (n, k)
        Training coordinates, with `fit_inverse_transform` only.
    X_fit_ : array of shape (n, p)
        Training rows.
    gamma_ : float
        γ as used.
    n_components_, n_samples_, n_features_in_, rank_ : int
        Axes kept, rows, columns, and axes with an eigenvalue above zero.
    certificate_, plan_, kernel_, dual_
        As in `mercer.KernelPCA`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.dropin import KernelPCA
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> KernelPCA(n_components=2, kernel="rbf").fit(X).eigenvalues_.round(4)
    array([1.7398, 0.9578])
    """

    landmarks = tol_transform = feature_weight = None  # no parameters of scikit-learn's class
    _takes_blocks = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel": [StrOptions(set(NAMES)), callable],
        "gamma": [Interval(Real, 0, None, closed="left"), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_inverse_transform": ["boolean"],
        "eigen_solver": [StrOptions({"auto", "dense", "arpack", "randomized"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "iterated_power": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "remove_zero_eig": ["boolean"],
        "random_state": ["random_state"],
        "copy_X": ["boolean"],
        "n_jobs": [None, Integral],
    }

    # What mercer.KernelPCA takes as parameters and scikit-learn does not have. scikit-learn
    # looks for negative eigenvalues among those asked for only: see `positive`.
    standardize: bool = False
    indefinite: str = "clip"
    memory = None
    time = None
    device = None

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs

    def set_params(self, **params: Any) -> Self:
        """Set parameters; what was fitted stays as it is."""
        if isinstance(params.get("kernel", self.kernel), Kernel):
            return super().set_params(**params)
        return set_by_name(self, **params)

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Fit the model to X.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Training rows, or the kernel matrix (n_samples, n_samples) if it is precomputed.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        self
        """
        return super().fit(X, y)

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit to X and return its coordinates, the same as ``fit(X).transform(X)``."""
        return super().fit_transform(X, y, **params)

    def inverse_transform(self, X: Any) -> Array:  # type: ignore[override]
        """Return the rows that coordinates stand for, k(Z, X_transformed_fit_)·dual_coef_.

        As in scikit-learn the mean is not restored; `mercer.KernelPCA` restores it.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Coordinates, as `transform` returns them.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if "dual_coef_" not in vars(self):
            raise NoInverseError(
                "The fit_inverse_transform parameter was not set to True when instantiating"
                " and hence the inverse transform is not available.",
                got="a model fitted with fit_inverse_transform=False",
                fix="pass fit_inverse_transform=True and fit again",
            )
        Z = admit_coordinates(X, self.n_components_)
        return predicted(self.kernel_, Z, self.X_transformed_fit_, self.dual_coef_)

    def _rebuilt(self, scores: Array) -> Array:
        return self.inverse_transform(scores)

    # scikit-learn has no score here, and searches ask for one: it is there only where rows
    # can be rebuilt.
    score = available_if(lambda self: self.fit_inverse_transform)(estimators.KernelPCA.score)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: sparse rows have no way back."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.sparse and not self.fit_inverse_transform
        return tags

    # -- describe ---------------------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.fit_inverse_transform and isinstance(as_kernel(self.kernel), Precomputed):
            raise NotSupportedError(
                "Cannot fit_inverse_transform with a precomputed kernel.",
                got='fit_inverse_transform=True, kernel="precomputed"',
                fix="fit with a kernel of rows, or leave fit_inverse_transform=False",
            )

    def _admit(self, X: Any, *, reset: bool) -> Source:
        if not reset:
            return super()._admit(X, reset=False)
        self._column_means = None
        matrix = isinstance(as_kernel(self.kernel), Precomputed)
        source = self._admit_matrix(X) if matrix else super()._admit(X, reset=True)
        if self.fit_inverse_transform and source.nnz is not None:
            raise SparseInverseError(
                "Inverse transform not implemented for sparse matrices!",
                got=f"a sparse matrix of shape {source.shape}",
                fix="pass X.toarray(), or leave fit_inverse_transform=False",
            )
        self.gamma_ = 1 / source.shape[1] if self.gamma is None else self.gamma
        self._given = kernel_of(
            self.kernel, self.gamma_, self.degree, self.coef0, self.kernel_params
        )
        return source

    def _admit_matrix(self, X: Any) -> Source:
        """Return a matrix, centred beforehand where only HKH is symmetric."""
        try:
            return super()._admit(X, reset=True)
        except InputError as error:
            source = admit(self, X, reset=True)
            if source.shape[0] != source.shape[1] or source.nnz is not None:
                raise
            k = np.asarray(source.array, np.float64)
            try:
                with np.errstate(over="ignore", invalid="ignore"):
                    columns = k.mean(axis=0)
                    centred = k - columns - k.mean(axis=1)[:, None] + k.mean()
                source = super()._admit(centred, reset=True)
            except InputError:
                raise error from None
            admit(self, X, reset=True)  # the names of the columns
            self._column_means = columns
            return source

    def _see(self, source: Source, weights: Array | None, kept: Kept | None = None) -> SeenRows:
        """Return the rows, and how many pairs are computed: no zeros that would be dropped."""
        seen = super()._see(source, weights, kept)
        most = seen.n if self.n_components is None else min(seen.n, int(self.n_components))
        if self._drops_zeros():
            p = int(seen.rows.shape[1])
            features = seen.kernel.features(p)
            count = None if features is None else features.count(p)
            most = most if count is None else min(most, count)
        request = dataclasses.replace(seen.request, count=most)
        return dataclasses.replace(seen, request=request)

    def _priced(self, seen: SeenRows) -> Problem:
        """Return what the plan may know; scikit-learn's class has a vector on the samples."""
        problem = super()._priced(seen)
        assert problem.kernel is not None
        kernel = dataclasses.replace(problem.kernel, spanned=False)
        return dataclasses.replace(problem, kernel=kernel)

    def _drops_zeros(self) -> bool:
        return bool(self.remove_zero_eig) or self.n_components is None

    def _tolerance(self, source: Source, *, streamed: bool = False) -> float:
        if self.tol and self.eigen_solver in ("arpack", "auto"):
            return float(self.tol)
        return estimators.KernelPCA()._tolerance(source)

    def _seed(self) -> int:
        return 0 if self.random_state is None else super()._seed()

    # -- pairs ------------------------------------------------------------------------

    def _solve(  # type: ignore[override]
        self, source: SeenRows, path: Path, weights: Array | None
    ) -> tuple[Spectrum, KernelFound]:
        self._varies = varies(source.kernel, source.rows)
        if self._varies:
            return super()._solve(source, path, weights)
        # Nothing varies: mercer.KernelPCA refuses it, scikit-learn gives eigenvalues zero.
        n, none = source.source.shape[0], np.zeros(0)
        k, tol = source.pairs(n), self._tolerance(source.source)
        sure = Certificate.of(none, none, none, error=0.0, tol=tol, zero_level=0.0)
        spectrum = Spectrum.of(none, np.zeros((n, 0)), sure, total=0.0, passes=1).padded(k)
        zeros = np.zeros((n, k))
        # A trace of one gives the shares 0 and divides by nothing.
        return spectrum, KernelFound(float(n), 1.0, 1.0, np.zeros(k), zeros, Signs())

    # -- conventions ------------------------------------------------------------------

    def _scale(  # type: ignore[override]
        self, spectrum: Spectrum, found: KernelFound, source: SeenRows
    ) -> dict[str, Any]:
        certificate = spectrum.certificate
        raw = _before_clipping(spectrum, found)[: len(certificate.lower)]
        values = positive(raw, source.source.products.itemsize, certificate.zero_level)
        m = int(np.sum(values > 0)) if self._drops_zeros() else len(values)
        values = values[:m]
        alive = values > 0
        right = np.asarray(spectrum.right)[:, :m]
        certificate = certificate.first(m)
        kept = dataclasses.replace(
            spectrum, values=values, right=right, certificate=certificate
        )
        assert found.coordinates is not None
        coordinates, level = found.coordinates[:, :m] * alive, found.level[:m] * alive
        found = dataclasses.replace(found, coordinates=coordinates, level=level)
        fitted = super()._scale(kept, found, source)
        dtype = fitted["dual_"].dtype
        fitted["eigenvectors_"] = completed(right.T.astype(dtype), alive).T
        fitted["_alive"] = alive
        if self._column_means is not None:
            fitted["_level"] = self._column_means @ fitted["dual_"]
        if isinstance(source.own, Precomputed):
            rows = source.source.array
            fitted["X_fit_"] = rows.copy() if self.copy_X else rows
        if self.fit_inverse_transform:
            scores = fitted["X_transformed_fit_"] = fitted["_coordinates"]
            back = ridge(source.own, scores, fitted["X_fit_"], self.alpha)
            fitted["dual_coef_"] = back.astype(dtype)
        return fitted

    def _warn(self, spectrum: Spectrum) -> None:
        # None asks for all that can be told from zero. The last of these never meet a relative
        # tolerance on any path; certificate_ says which.
        if self.n_components is not None:
            super()._warn(spectrum)

    def _project(self, source: Source) -> Array:
        found = super()._project(source)[:, : self.n_components_]
        return found if self._alive.all() else found * self._alive.astype(found.dtype)


def _before_clipping(spectrum: Spectrum, found: KernelFound) -> Array:
    """Return the eigenvalues uᵀK̃u with those that were left out as negative."""
    if found.signs.image is None:
        return spectrum.values
    found_there = np.sum(np.asarray(spectrum.right) * found.signs.image, axis=0)
    return np.where(spectrum.values > 0, spectrum.values, found_there)
