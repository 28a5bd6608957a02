"""PCA with scikit-learn's signature, attributes and conventions.

scikit-learn's rules about solvers: which one "auto" stands for, and what each refuses.

The log-likelihood of a model whose covariance is singular: its density on its support.
"""

import dataclasses
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer import estimators
from mercer.arrays import EPS, Array
from mercer.errors import DataWarning, InputError, NotSupportedError
from mercer.estimators.linear._principal_axes import PrincipalAxes
from mercer.estimators.walk._admission import admit, held_rows
from mercer.planning import Problem
from mercer.solvers import Spectrum, fix_signs
from mercer.sources import Source

_TRUNCATED = ("arpack", "randomized")
_SPARSE = ("auto", "arpack", "covariance_eigh")


class SparseSolverError(NotSupportedError, TypeError):
    """The named solver takes no sparse data; scikit-learn raises a TypeError for it."""


def resolve(solver: str, wanted: Any, shape: tuple[int, int], *, sparse: bool) -> str:
    """Return the solver of scikit-learn that `solver` stands for at this shape.

    It names the solver in messages and settles how many axes ``n_components=None`` means.
    Which path is taken is the plan's decision.
    """
    if solver != "auto":
        return solver
    if sparse:
        return "arpack"
    n, p = shape
    if p <= 1000 and n >= 10 * p:
        return "covariance_eigh"
    if max(n, p) <= 500 or wanted == "mle":
        return "full"
    few = wanted is not None and 1 <= wanted < 0.8 * min(n, p)
    return "randomized" if few else "full"


def takes_sparse(solver: str) -> bool:
    """Whether scikit-learn fits sparse data with this solver."""
    return solver in _SPARSE


def refuse_sparse(solver: str) -> None:
    """Raise unless `solver` takes sparse data."""
    if takes_sparse(solver):
        return
    raise SparseSolverError(
        'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers,'
        f' while "{solver}" was passed.',
        got=f'a sparse matrix and svd_solver="{solver}"',
        fix='pass svd_solver="auto", or use mercer.PCA, which takes sparse data on every path',
    )


def check_number(solver: str, resolved: str, wanted: Any, shape: tuple[int, int]) -> None:
    """Raise as scikit-learn does where `wanted` components do not suit the solver.

    Parameters
    ----------
    solver, resolved : str
        `svd_solver` as it was passed, and what it stands for.
    wanted : int, float, "mle" or None
        `n_components` as it was passed.
    shape : tuple of int
        n and p.
    """
    most, truncated = min(shape), solver in _TRUNCATED
    got = f"n_samples = {shape[0]}, n_features = {shape[1]}"
    if isinstance(wanted, str):
        if truncated:
            raise InputError(
                f"n_components={wanted!r} cannot be a string with svd_solver='{solver}'",
                got=got,
                fix='pass svd_solver="auto" or "full"',
            )
        return
    if wanted is None:
        wanted = most - 1 if solver == "arpack" else most
    lowest = 1 if truncated else 0
    if not lowest <= wanted <= most:
        raise InputError(
            f"n_components={wanted} must be between {lowest} and"
            f" min(n_samples, n_features)={most} with svd_solver='{resolved}'",
            got=got,
            fix=f"ask for at most {most} components",
        )
    if solver == "arpack" and wanted == most:
        raise InputError(
            f"n_components={wanted} must be strictly less than"
            f" min(n_samples, n_features)={most} with svd_solver='{solver}'",
            got=got,
            fix='pass svd_solver="auto" or "full"',
        )


def log_likelihood_on_support(
    axes: PrincipalAxes, freedom: int, zero_level: float, source: Source
) -> Array:
    """Return -½(r ln 2π + Σ ln λ_i + Σ z_i²/λ_i) over the r axes with variance, (n,).

    A singular normal distribution has no density on the p features, but one on the r
    axes it lives on [Rao1973]_. Rows off them have probability zero: their value is -inf.

    Parameters
    ----------
    axes : PrincipalAxes
        Some of which carry no variance.
    freedom : int
        Rows of the fit, less one.
    zero_level : float
        Eigenvalue that counts as zero.
    source : Source
        Rows of p features.
    """
    axes.refuse_range()
    alive, features = axes.alive, axes.shape[1]
    values = axes.variances[alive]
    scores = axes.scores(source).astype(np.float64)[:, alive]
    norms = axes.row_norms(source)
    with np.errstate(over="ignore"):  # of rows that are far off
        inside = np.sum(scores**2, axis=1)
        distance = np.sum(scores**2 / values, axis=1)
    logs = -0.5 * (len(values) * np.log(2 * np.pi) + np.sum(np.log(values)) + distance)
    # What may lie off the support of rows that are on it: variances that count as zero,
    # and the rounding of ‖x̃‖² - ‖z‖², where x̃ = x - mean has an error of eps·(‖x̃‖ + ‖mean‖).
    zero = freedom * zero_level * features
    eps = max(EPS, float(np.finfo(axes.components.dtype).eps))
    error = 16 * eps * (np.sqrt(norms) + float(np.linalg.norm(axes.mean)))
    off = norms - inside > zero + error * (2 * np.sqrt(norms) + error)
    warnings.warn(
        "the covariance of the model is singular: scores are densities on its support\n"
        f"  got: rank {len(values)} with {features} features; {int(np.sum(off))}"
        f" of {len(off)} rows off the support, scored -inf\n"
        "  fix: keep fewer components than the rank, so that noise is left",
        DataWarning,
        stacklevel=3,
    )
    return np.where(off, -np.inf, logs)


_SMALL = 1000  # min(n, p) up to which a direct path costs little more and has all digits
_QUICK = 1e9  # n·p·min(n, p) up to which it takes a fraction of a second
_DIRECT = ("gram", "dual", "svd")
_PATHS = {
    "auto": None,
    "full": ("svd",),
    "covariance_eigh": ("gram",),
    "arpack": ("krylov", *_DIRECT),
    "randomized": ("krylov", *_DIRECT),
}


class PCA(estimators.PCA, auto_wrap_output_keys=None):
    r"""`mercer.PCA` behind scikit-learn's signature: C = X̃ᵀX̃/(n-1) = VΛVᵀ, Z = X̃V.

    Change ``from sklearn.decomposition import PCA`` to ``from mercer.dropin import PCA`` and
    nothing else. New code should use `mercer.PCA`, which has fewer switches and more uses.

    Parameters
    ----------
    n_components : int, float in (0, 1), "mle" or None
        Number of axes; or the share of variance they must exceed; or Minka's estimate.
        None keeps min(n, p), less one for "arpack" and for sparse data.
    copy : bool
        No effect: the data are never written to and never copied whole.
    whiten : bool
        Scale the coordinates to variance one. Axes without variance give 0.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}
        "auto" leaves the choice of the path to the plan, among the direct ones where
        n·p·min(n, p) is at most 1e9; "full" is the path `svd`,
        "covariance_eigh" the path `gram`. "arpack" and "randomized" are the path `krylov`
        where that is cheaper than a direct path, and never below min(n, p) = 1000.
    tol : float
        Relative tolerance of the singular values for "arpack". 0 stands for the tolerance
        of `mercer.PCA`, which is certified either way.
    iterated_power : int or "auto"
        No effect: passes are made until the tolerance is certified.
    n_oversamples : int
        No effect: the width of a block follows from the number of components.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}
        No effect: blocks are always made orthonormal.
    random_state : int, RandomState or None
        Seed of the iterative path. None is the seed 0, so that results are repeatable.

    Attributes
    ----------
    components_ : ndarray of shape (k, p)
        Axes, orthonormal rows. Those beyond `rank_` carry no variance; they complete the
        others and have no meaning.
    explained_variance_, explained_variance_ratio_, singular_values_ : ndarray of shape (k,)
        λ dividing by n - 1; λ over the total variance; √((n - 1)λ). All float64.
    mean_ : ndarray of shape (p,)
        Column means, float64.
    noise_variance_ : float
        Mean of the min(n, p) - k variances left out.
    n_components_, n_samples_, n_features_in_, rank_ : int
        Axes kept, rows, columns, and kept axes with variance above rounding.
    certificate_, plan_
        As in `mercer.PCA`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.dropin import PCA
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> PCA(n_components=2).fit(X).singular_values_.round(4)
    array([6.3006, 0.5498])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [
            Interval(Integral, 0, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions({"mle"}),
            None,
        ],
        "copy": ["boolean"],
        "whiten": ["boolean"],
        "svd_solver": [StrOptions(set(_PATHS))],
        "tol": [Interval(Real, 0, None, closed="left")],
        "iterated_power": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
        "n_oversamples": [Interval(Integral, 1, None, closed="left")],
        "power_iteration_normalizer": [StrOptions({"auto", "QR", "LU", "none"})],
        "random_state": ["random_state"],
    }

    # What mercer.PCA takes as parameters and scikit-learn does not have.
    standardize: bool = False
    feature_weight = None
    memory = None
    time = None
    device = None
    forget = None
    _takes_batches = False

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Fit the model to X.

        scikit-learn has no `sample_weight` here, and an argument more would ask every
        pipeline with metadata routing to say what becomes of it; `mercer.PCA` has one.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Training rows.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        self
        """
        return super().fit(X, y)

    def fit_transform(self, X: Any, y: Any = None) -> Array:  # type: ignore[override]
        """Fit to X and return its coordinates, the same as ``fit(X).transform(X)``."""
        return self.fit(X, y).transform(X)

    def score(self, X: Any, y: Any = None) -> float:  # type: ignore[override]
        """Return the mean log-likelihood of the rows of X."""
        return super().score(X, y)

    def transform(self, X: Any) -> Array:  # type: ignore[override]
        """Return the coordinates of X, of shape (n_samples, n_components).

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New rows.
        """
        return super().transform(X)

    def score_samples(self, X: Any) -> Array:
        """Return the log-likelihood (n,) of each row under the model.

        Where axes without variance make the covariance singular, it is the density on the
        others, with a `DataWarning`; rows off them have -inf.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows to score.
        """
        check_is_fitted(self)
        axes = self._axes_found()
        if axes.is_regular:
            return super().score_samples(X)
        source = admit(self, held_rows(X), reset=False)
        level = self.certificate_.zero_level
        return log_likelihood_on_support(axes, self.n_samples_ - 1, level, source)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: sparse input is taken where scikit-learn takes it."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self.svd_solver)
        return tags

    # -- describe ---------------------------------------------------------------------

    def _problem(self, source: Source, weights: Any = None) -> Problem:
        sparse = source.nnz is not None
        if sparse:
            refuse_sparse(self.svd_solver)
        wanted, shape = self.n_components, source.shape
        self._fit_svd_solver = resolve(self.svd_solver, wanted, shape, sparse=sparse)
        check_number(self.svd_solver, self._fit_svd_solver, wanted, shape)
        problem = super()._problem(source, weights)
        # On small data all solvers give the same digits, whichever of them "auto" stands for.
        small = problem.smaller <= _SMALL and problem.allowed == _PATHS["arpack"]
        quick = shape[0] * shape[1] * problem.smaller <= _QUICK and problem.allowed is None
        if small or quick:
            problem = dataclasses.replace(problem, allowed=_DIRECT)
        return problem

    def _allowed(self) -> tuple[str, ...] | None:
        return _PATHS[self.svd_solver]

    def _tolerance(self, source: Source) -> float:
        if self.svd_solver == "arpack" and self.tol:
            return 2 * float(self.tol)  # λ = s²/(n - 1) has twice the relative error of s
        return estimators.PCA()._tolerance(source)

    def _seed(self) -> int:
        return 0 if self.random_state is None else super()._seed()

    # -- how many ---------------------------------------------------------------------

    def _most_components(self, shape: tuple[int, int]) -> int:
        """Return how many pairs are computed; no components still need the total variance."""
        if self.n_components is None and getattr(self, "_fit_svd_solver", "") == "arpack":
            return max(1, min(shape) - 1)
        return max(1, super()._most_components(shape))

    def _settle(self, spectrum: Spectrum, found: Any, shape: tuple[int, int]) -> int:
        wanted = self.n_components
        if isinstance(wanted, Real) and not isinstance(wanted, Integral):
            # scikit-learn wants the share exceeded, mercer.PCA wants it reached.
            kept = np.cumsum(np.maximum(spectrum.values, 0.0) / found.trace)
            fewest = int(np.searchsorted(kept, float(wanted), side="right")) + 1
            return min(fewest, len(kept))
        return 0 if wanted == 0 else super()._settle(spectrum, found, shape)

    # -- conventions ------------------------------------------------------------------

    def _scale(self, spectrum: Spectrum, found: Any, source: Source) -> dict[str, Any]:
        fitted = super()._scale(spectrum, found, source)
        fitted["components_"] = completed(fitted["components_"], fitted["_alive"])
        return fitted


def completed(components: Array, alive: Array) -> Array:
    """Return the axes (k, p) with the zero rows replaced by an orthonormal completion.

    Householder reflections that map the first axes to unit vectors map the next unit
    vectors to the completion: QR of the axes with their zero columns holds both.
    """
    if alive.all():
        return components
    q, _ = np.linalg.qr(components.T.astype(np.float64))
    rest = fix_signs(q[:, ~alive]).T.astype(components.dtype)
    whole = components.copy()
    whole[~alive] = rest
    return whole
