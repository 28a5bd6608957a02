"""Kernel discriminant analysis: classes told apart in the space of a kernel."""

import dataclasses
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from mercer.arrays import Array
from mercer.errors import AccuracyWarning, InputError, warn
from mercer.estimators.groups._class_checks import LooksAtClasses, PermutationTest, permuted
from mercer.estimators.groups._class_labels import TellsClasses, labels_of
from mercer.estimators.groups.discriminant import LinearDiscriminantAnalysis
from mercer.estimators.kernel._kernel_rows import as_known
from mercer.estimators.kernel.kernel_pca import KernelPCA
from mercer.estimators.walk._admission import text_names
from mercer.estimators.walk._callbacks import followed
from mercer.estimators.walk._parameters import check_fitted, learned, publish
from mercer.estimators.walk._spectral_estimator import repeat_counts
from mercer.kernels import RBF, Kernel
from mercer.planning import LIBRARIES, Path, Problem
from mercer.planning import plan as planned
from mercer.solvers import Spectrum
from mercer.sources import Source, scan

_ALL = 2000  # rows up to which all axes of the kernel are kept
_MARKS = 500  # landmarks beyond, or axes where a kernel is not known to allow landmarks
_ANY = (
    1e9  # relative error of the kernel's eigenvalues: the span counts, not which axis is which
)
_TABLES = 4.0  # tables of coordinates that are there at a time
_LITTLE = 0.9  # share of the kernel's variance below which landmarks are too few
_SHARED = ("tol", "memory", "time", "device", "random_state")
_HANDED_ON = (
    "classes_",
    "class_counts_",
    "priors_",
    "eigenvalues_",
    "explained_variance_ratio_",
    "centres_",
    "tests_",
    "certificate_",
    "n_components_",
)


class KernelDiscriminantAnalysis(TellsClasses, LooksAtClasses):
    r"""Linear discriminant analysis of φ(x), k(x, y) = φ(x)ᵀφ(y).

    All that tells classes apart lies in the span of the rows, so that kernel PCA gives
    coordinates Z in which nothing is lost, and the axes are those of linear discriminant
    analysis of Z. There are about as many coordinates as rows; the covariance within classes
    is singular or nearly so, and is shrunk: W ← (1 - s)W + s·(tr W/m)·I [Mika1999]_.

    Use it where classes lie in rings, moons or islands that no line parts.

    Parameters
    ----------
    n_components : int or None
        Axes that `transform` returns; at most, and by default, G - 1.
    kernel : Kernel, str or callable
        As for `KernelPCA`.
    shrinkage : float in [0, 1], "auto" or None
        s; None takes W through its range, which follows the training rows exactly.
    axes : int or None
        Axes of kernel PCA to look in; None keeps all, beyond 2,000 rows those of 500
        landmarks.
    priors : array of shape (G,) or None
        Probabilities of the classes; None takes their shares of the rows.
    standardize, landmarks, indefinite
        As for `KernelPCA`.
    tol : float or None
        Of the certificates of the kernel's axes and of the discriminant ones; None is 1e-6
        for the latter, and asks nothing of the former: their span counts, not each axis.
    memory, time, device, random_state
        See `PCA`.

    Attributes
    ----------
    classes_, class_counts_, priors_, eigenvalues_, explained_variance_ratio_, centres_
        As for `LinearDiscriminantAnalysis`, in the coordinates of the kernel.
    kernel_pca_ : KernelPCA
        The coordinates Z, with a certificate of their own.
    kernel_ : Kernel
        With its parameters as numbers.
    n_axes_ : int
        Axes of it that were looked in: those with variance above rounding.
    captured_share_ : tuple of float
        Interval of the share of the kernel's variance that Z holds.
    certificate_ : Certificate
        Of the eigenvalues, given Z.
    plan_ : Plan
        How Z was found.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelDiscriminantAnalysis
    >>> t = np.linspace(0, 2 * np.pi, 40)
    >>> ring = np.c_[np.cos(t), np.sin(t)]
    >>> X, y = np.concatenate([ring, 3 * ring]), np.repeat(["in", "out"], 40)
    >>> model = KernelDiscriminantAnalysis(kernel="rbf(lengthscale=1)").fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> model.predict([[0.5, -0.8], [2.0, 2.0]])
    array(['in', 'out'], dtype='<U3')
    """

    _kernel_model: KernelPCA

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel": [str, callable, HasMethods("block")],
        "shrinkage": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"}), None],
        "axes": [Interval(Integral, 1, None, closed="left"), None],
        **{
            name: KernelPCA._parameter_constraints[name]
            for name in ("standardize", "landmarks", "indefinite", *_SHARED)
        },
        "priors": ["array-like", None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Kernel | str | Any = RBF(),  # noqa: B008 - a frozen value
        shrinkage: float | str | None = 1e-3,
        axes: int | None = None,
        priors: Any = None,
        standardize: bool = False,
        landmarks: int | str | Any = None,
        indefinite: str = "raise",
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.shrinkage = shrinkage
        self.axes = axes
        self.priors = priors
        self.standardize = standardize
        self.landmarks = landmarks
        self.indefinite = indefinite
        super().__init__(tol, memory, time, device, random_state)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: what the kernel takes is taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags = self._kernel_pca(1).__sklearn_tags__().input_tags
        return tags

    def _kernel_pca(self, n: int) -> KernelPCA:
        """Return the unfitted kernel PCA that gives the coordinates of n rows."""
        names = ("kernel", "standardize", "indefinite", *_SHARED)
        model = KernelPCA(**{name: getattr(self, name) for name in names})
        model.landmarks, model.n_components = self._looked_from(n)
        model.tol = _ANY if self.tol is None else self.tol
        return model

    def _looked_from(self, n: int) -> tuple[Any, int | None]:
        """Return landmarks, and axes on them; None for no landmarks, and for all axes."""
        marks, axes = self.landmarks, self.axes
        if marks is None and axes is None and n > _ALL:
            kernel = as_known(self.kernel)
            sure = isinstance(kernel, Kernel) and kernel.flag.centred
            marks, axes = (_MARKS, None) if sure else (None, _MARKS)
        if not isinstance(marks, Integral):
            return marks, axes if axes is None else min(axes, n)
        return marks, min(n, int(marks), axes or n)

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit the model to rows X with classes y.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Training rows in memory, or whatever the kernel takes.
        y : array of shape (n_samples,)
            The class of every row.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts.

        Returns
        -------
        self
        """
        blank = clone(self)
        blank._check_parameters()
        X = text_names(X)
        source = blank._admit(X, reset=True)
        n = source.shape[0]
        weights = repeat_counts(sample_weight, n)
        labels = labels_of(y, n, weights, type(self).__name__)
        classes = len(labels.classes)
        if self.n_components is not None and self.n_components > classes - 1:
            raise InputError(
                "n_components cannot be larger than n_classes - 1",
                got=f"n_components={self.n_components}, {classes} classes",
                fix=f"ask for at most {classes - 1}",
            )
        known = labels.classes[labels.codes]
        made = planned(blank._problem(source, weights))
        fitted = followed(self, X, y, lambda: blank._fitted_to(X, known, weights))
        fitted["plan_"] = made
        publish(self, fitted)
        return self

    def _fitted_to(self, X: Any, y: Array, weights: Any) -> dict[str, Any]:
        """Return the fitted attributes: kernel PCA first, and the axes in its coordinates."""
        space = self._kernel_pca(len(y)).fit(X, sample_weight=weights)
        scores = _scores(space, X)
        _warn_of(space)
        inner = LinearDiscriminantAnalysis(
            shrinkage=self.shrinkage,
            priors=self.priors,
            **{name: getattr(self, name) for name in _SHARED},
        )
        k = self.n_components
        inner.n_components = k if k is None else min(k, scores.shape[1])
        inner.fit(scores, y, sample_weight=weights)
        state = {k: v for k, v in learned(self).items() if k != "_kernel_model"}
        state |= {name: getattr(inner, name) for name in _HANDED_ON}
        return state | {
            "kernel_pca_": space,
            "kernel_": space.kernel_,
            "n_axes_": scores.shape[1],
            "captured_share_": space.captured_share_,
            "effective_rank_": space.effective_rank_,
            "n_samples_": space.n_samples_,
            "_inner": inner,
        }

    # -- the walk is that of kernel PCA -----------------------------------------------

    def _admit(self, X: Any, *, reset: bool) -> Source:
        X = text_names(X)
        if not reset:
            known: Source = self.kernel_pca_._admit(X, reset=False)
            return known
        model = self._kernel_pca(1)
        model._check_parameters()
        source: Source = model._admit(X, reset=True)
        settled = self._kernel_pca(source.shape[0])
        model.n_components, model.landmarks = settled.n_components, settled.landmarks
        self._kernel_model = model
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        return source

    def _problem(self, source: Source, weights: Any = None) -> Problem:
        """Return the problem of the kernel; the axes are found when its path has ended."""
        problem: Problem = self._kernel_model._problem(source, weights)
        n, k = problem.rows, problem.components
        axes = planned(Problem(n, k, min(n, k), 8, 2**62, allowed=("svd",))).bytes
        after = 8.0 * _TABLES * n * k + axes - LIBRARIES
        return dataclasses.replace(problem, before=max(problem.before, after))

    def _solve(self, source: Source, path: Path, weights: Any) -> tuple[Spectrum, Any]:
        seen = self._kernel_model._see(source, weights)
        return self._kernel_model._solve(seen, path, weights)

    def _scale(self, spectrum: Spectrum, found: Any, source: Source) -> dict[str, Any]:
        seen = self._kernel_model._see(source, None)
        return self._kernel_model._scale(spectrum, found, seen)

    # -- new rows ---------------------------------------------------------------------

    def _coordinates(self, source: Source) -> Source:
        """Return the rows in the coordinates of the kernel."""
        return scan(np.asarray(self.kernel_pca_._project(source))[:, : self.n_axes_])

    def _project(self, source: Source) -> Array:
        return self._inner._project(self._coordinates(source))

    def _decisions(self, X: Any) -> Array:
        source = self._admit(X, reset=False)
        return self._inner._decisions(self._coordinates(source).array)

    def classes_at(self, Z: Any) -> Array:
        """Return the most probable class at points given by coordinates of `transform`.

        Parameters
        ----------
        Z : array of shape (m, j)
            Coordinates on the first j ≤ k axes; others are at zero.
        """
        check_fitted(self)
        return self._inner.classes_at(Z)

    def permutation(self, X: Any, y: Any, draws: int = 999, seed: int = 0) -> PermutationTest:
        """Return how often shuffled labels lie as far apart as the real ones, in the kernel.

        As for `LinearDiscriminantAnalysis`, in the coordinates of kernel PCA as they are.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,)
            Their classes.
        draws : int
            Shuffles.
        seed : int
            Of the shuffles.
        """
        X = text_names(X)
        n = clone(self)._admit(X, reset=True).shape[0]
        labels = labels_of(y, n, None, type(self).__name__)
        space = self._kernel_pca(n).fit(X)
        return permuted(_scores(space, X), labels, draws, seed, standardize=False)


def _warn_of(space: KernelPCA) -> None:
    """Say that landmarks leave much of the rows unseen."""
    low = space.captured_share_[0]
    if space.plan_.chosen.name == "landmarks" and low < _LITTLE:
        warn(
            "the landmarks hold little of the kernel; classes may lie apart in the rest",
            got=f"at least {100 * low:.0f} % of its variance",
            fix="take more `landmarks`, a longer lengthscale, or `axes` for an exact solve",
            category=AccuracyWarning,
        )


def _scores(space: KernelPCA, X: Any) -> Array:
    """Return the coordinates (n, m) on axes with variance, whatever `set_output` says."""
    scores = np.asarray(space._project(space._admit(X, reset=False)))
    return np.ascontiguousarray(scores[:, : max(space.rank_, 1)])
