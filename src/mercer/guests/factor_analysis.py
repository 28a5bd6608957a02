"""Factor analysis: common factors and a noise of its own for every column."""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import FactorAnalysis as Host  # noqa: TID251 - a guest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.diagnostics import orthomax, promax
from mercer.errors import AccuracyWarning, DataWarning, InputError, warn
from mercer.estimators.walk._admission import admit, held_rows, refuse_bad_cells, text_names
from mercer.estimators.walk._parameters import check_parameters, learned, publish, seed_of
from mercer.estimators.walk._showing import ShownModel

_MOST = 12  # factors that evidence is looked at for
_LEAST = 1e-6  # of a column's variance: a column whose noise is called zero (Heywood)


class FactorAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ShownModel):
    r"""Common factors of largest likelihood: x = μ + Lf + e, f ~ N(0, I), e ~ N(0, Ψ) diagonal.

    A guest: scikit-learn finds L and Ψ; rotations, scores, evidence and refusals are ours.
    There is no certificate: what is returned is where the likelihood stopped growing.

    Parameters
    ----------
    n_components : int or "evidence"
        Factors; "evidence" takes the number, from 1 on, of least BIC, and says where none
        would be better.
    rotation : None or {"varimax", "quartimax", "promax"}
        How loadings are turned to simple structure; promax factors are correlated.
    scores : {"regression", "bartlett"}
        E(f | x), of least error but shrunk; or weighted least squares, not shrunk.
    standardize : bool
        Divide columns by their standard deviation first; loadings are then correlations.
    tol : float
        Gain of the log-likelihood per row at which the host stops.
    max_iter : int
        Its steps, at most.
    random_state : int, RandomState, Generator or None
        Kept for symmetry: the host's LAPACK path draws nothing.

    Attributes
    ----------
    loadings_ : ndarray of shape (p, k)
        L, rotated.
    components_ : ndarray of shape (k, p)
        Lᵀ, as scikit-learn calls it.
    noise_variance_, communalities_ : ndarray of shape (p,)
        Ψ, and the share 1 - Ψ_j/var_j of every column that the factors explain.
    explained_variance_ : ndarray of shape (k,)
        Σ_j l_jk².
    explained_variance_ratio_ : ndarray of shape (k,)
        Divided by the variance of all columns.
    correlations_ : ndarray of shape (k, k)
        Of the factors: the identity unless promax.
    log_likelihood_, aic_, bic_ : float
        Of all rows, in nats; with pk - k(k - 1)/2 + 2p parameters.
    heywood_ : ndarray of int
        Columns whose noise is called zero: a sign of too many factors.
    mean_, scale_ : ndarray of shape (p,); the latter may be None
        Of the columns.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Steps, factors, rows, columns.
    certificate_ : None
        A guest has none.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FactorAnalysis
    >>> rng = np.random.default_rng(0)
    >>> F = rng.standard_normal((300, 2))
    >>> X = np.repeat(F, 3, axis=1) + rng.standard_normal((300, 6)) * 0.5
    >>> FactorAnalysis("evidence").fit(X).n_components_
    2
    """

    memory = time = device = None
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"evidence"})],
        "rotation": [StrOptions({"varimax", "quartimax", "promax"}), None],
        "scores": [StrOptions({"regression", "bartlett"})],
        "standardize": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        rotation: str | None = "varimax",
        scores: str = "regression",
        standardize: bool = True,
        tol: float = 1e-7,
        max_iter: int = 10_000,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.rotation = rotation
        self.scores = scores
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model to X.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored; there for pipelines.
        """
        from sklearn.base import clone

        blank = clone(self)
        blank._check_parameters()
        rows = blank._rows(X, reset=True)
        fitted = learned(blank) | blank._found(rows)
        publish(self, fitted)
        return self

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _rows(self, X: Any, *, reset: bool) -> Array:
        """Return the table as float64."""
        source = admit(self, text_names(held_rows(X)), reset=reset)
        refuse_bad_cells(source, getattr(self, "feature_names_in_", None))
        if source.nnz is not None:
            raise InputError(
                "factor analysis needs a dense table: Sparse data was passed",
                got=f"a sparse table of shape {source.shape}",
                fix="call X.toarray() where it fits memory",
            )
        return np.asarray(source.array, np.float64)

    def _found(self, rows: Array) -> dict[str, Any]:
        n, p = rows.shape
        table, mean, scale = self._centred(rows)
        k, host = self._settled(_shortened(table), n)
        _warn_growing(host, self.max_iter)
        found = self._turned(host.components_.T)
        variances = np.mean(table**2, axis=0)
        noise = np.asarray(host.noise_variance_)
        squares = np.sum(found.loadings**2, axis=0)
        likelihood = float(host.score(table)) * n
        heywood = np.flatnonzero(noise <= _LEAST * variances)
        self._warn_heywood(heywood)
        return {
            "loadings_": found.loadings,
            "components_": np.ascontiguousarray(found.loadings.T),
            "noise_variance_": noise,
            "communalities_": 1 - noise / variances,
            "explained_variance_": squares,
            "explained_variance_ratio_": squares / np.sum(variances),
            "correlations_": found.correlations,
            "log_likelihood_": likelihood,
            "aic_": 2 * _parameters(p, k) - 2 * likelihood,
            "bic_": np.log(n) * _parameters(p, k) - 2 * likelihood,
            "heywood_": heywood,
            "mean_": mean,
            "scale_": scale,
            "n_iter_": int(host.n_iter_),
            "n_components_": k,
            "n_samples_": n,
            "certificate_": None,
        }

    def _centred(self, rows: Array) -> tuple[Array, Array, Array | None]:
        """Return the table as it is analysed, and the means and deviations of its columns."""
        n = len(rows)
        sizes = np.abs(rows).max(axis=0)
        # Squares of huge and tiny numbers leave float64; powers of two cost no digits.
        powers = np.frexp(sizes)[1] if self.standardize else np.zeros(len(sizes), int)
        table = np.ldexp(rows, -powers)
        mean = table.mean(axis=0)
        table -= mean
        table -= table.mean(axis=0)  # what rounding has left of a mean far from zero
        with np.errstate(over="ignore"):
            deviations = np.sqrt(np.mean(table**2, axis=0))
        self._refuse_constant(deviations, np.ldexp(sizes, -powers))
        self._refuse_sizes(deviations)
        if not self.standardize:
            return table, mean, None
        scale = deviations * np.sqrt(n / (n - 1))
        table /= scale
        return table, np.ldexp(mean, powers), np.ldexp(scale, powers)

    def _refuse_sizes(self, deviations: Array) -> None:
        """Refuse columns whose variances leave the range of float64 by far."""
        if self.standardize or np.all((deviations > 1e-100) & (deviations < 1e100)):
            return
        at = int(np.argmax(np.abs(np.log(deviations))))
        raise InputError(
            "variances of these columns leave the range of float64",
            got=f"column {at}: standard deviation {deviations[at]:.3g}",
            fix="pass standardize=True, or other units",
        )

    def _settled(self, table: Array, n: int) -> tuple[int, Any]:
        """Return the number of factors of n rows and the host fitted with them."""
        p = table.shape[1]
        if isinstance(self.n_components, Integral):
            if not self.n_components <= min(n, p):
                raise InputError(
                    f"n_components={self.n_components} must be at most min(n_samples,"
                    f" n_features)={min(n, p)}",
                    got=f"X of shape {(n, p)}",
                    fix="ask for fewer factors",
                )
            return int(self.n_components), self._host(table, int(self.n_components))
        most = max(1, min(_MOST, n - 1, _identified(p)))
        hosts = [self._host(table, k) for k in range(1, most + 1)]
        scores = [
            np.log(n) * _parameters(p, k) - 2 * n * host.score(table)
            for k, host in enumerate(hosts, 1)
        ]
        best = int(np.argmin(scores))
        _warn_unshared(scores[best], table, n)
        return best + 1, hosts[best]

    def _host(self, table: Array, k: int) -> Any:
        given = {"svd_method": "lapack", "random_state": seed_of(self.random_state)}
        host = Host(k, tol=self.tol * len(table), max_iter=self.max_iter, **given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return host.fit(table)

    def _turned(self, loadings: Array) -> Any:
        if self.rotation == "promax" and loadings.shape[1] > 1:
            return promax(loadings)
        gamma = 0.0 if self.rotation == "quartimax" else 1.0
        if self.rotation is None or loadings.shape[1] == 1:
            from mercer.diagnostics import Rotation
            from mercer.solvers import fix_signs

            turned = fix_signs(loadings)
            k = turned.shape[1]
            return Rotation(turned, np.eye(k), np.eye(k), 0, True)
        return orthomax(loadings, gamma=gamma)

    def transform(self, X: Any) -> Array:
        """Return factor scores of rows, of shape (n_samples, n_components).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        table = self._rows(X, reset=False) - self.mean_
        table /= 1.0 if self.scale_ is None else self.scale_
        safe = np.maximum(self.noise_variance_, 1e-12)
        weighted = self.loadings_ / safe[:, None]
        inner = self.loadings_.T @ weighted
        if self.scores == "regression":
            inner = inner + np.linalg.inv(self.correlations_)
        return np.asarray(table @ np.linalg.solve(inner, weighted.T).T)

    def get_covariance(self) -> Array:
        """Return LΦLᵀ + Ψ (p, p), the covariance that the model has, of columns as analysed."""
        check_is_fitted(self)
        shared = self.loadings_ @ self.correlations_ @ self.loadings_.T
        return np.asarray(shared + np.diag(self.noise_variance_))

    def _refuse_constant(self, deviations: Array, sizes: Array) -> None:
        still = np.flatnonzero(deviations <= 1e-14 * np.maximum(sizes, 1e-300))
        if not still.size:
            return
        names = getattr(self, "feature_names_in_", None)
        shown = [f"column {j}" if names is None else repr(str(names[j])) for j in still[:5]]
        raise InputError(
            "a column that does not vary has no factors",
            got=f"{len(still)} such columns: {', '.join(shown)}",
            fix="leave them out",
        )

    def _warn_heywood(self, which: Array) -> None:
        if len(which) and self.n_features_in_ > 2:
            warn(
                "the noise of a column is called zero (a Heywood case)",
                got=f"columns {', '.join(map(str, which[:5].tolist()))}",
                fix="ask for fewer factors, or leave near-copies of columns out",
                category=DataWarning,
            )

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)


def _shortened(table: Array) -> Array:
    """Return 2p rows of the same mean (zero) and covariance, where the table has many more.

    With the triangle XᵀX = RᵀR they are ±R·√(p/n): the host walks over them in every step.
    """
    n, p = table.shape
    if n <= 4 * p:
        return table
    r = np.linalg.qr(table, mode="r") * np.sqrt(p / n)
    return np.concatenate([r, -r])


def _warn_growing(host: Any, most: int) -> None:
    if host.n_iter_ >= most:
        warn(
            "the likelihood was still growing",
            got=f"{most} steps with {host.n_components} factors",
            fix="raise max_iter, or ask for fewer factors",
            category=AccuracyWarning,
        )


def _warn_unshared(least: float, table: Array, n: int) -> None:
    """Say that no factor has the least BIC: (ln n)·2p + nΣ(ln 2πv_j + 1)."""
    variances = np.mean(table**2, axis=0)
    alone = n * float(np.sum(np.log(2 * np.pi * variances) + 1))
    alone += float(np.log(n)) * _parameters(len(variances), 0)
    if alone <= least:
        warn(
            "columns share nothing beyond chance: the evidence is for no factor at all",
            got=f"BIC {alone:.6g} without factors, {least:.6g} with the best number of them",
            fix="do not read this factor; look at the correlations of the columns",
            category=DataWarning,
        )


def _parameters(p: int, k: int) -> int:
    """Return the free numbers of a model: loadings up to a rotation, noises and means."""
    return p * k - k * (k - 1) // 2 + 2 * p


def _identified(p: int) -> int:
    """Return the most factors that p columns can tell (Ledermann), one at least."""
    return max(1, int((2 * p + 1 - np.sqrt(8 * p + 1)) / 2))
