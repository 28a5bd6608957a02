"""Probabilistic PCA: a Gaussian with few directions and even noise around them.

The density of rows of which some cells are missing: that of the cells observed.
"""

from numbers import Integral
from typing import Any, ClassVar, Never

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.arrays import Array, is_sparse
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.linear._pca_choice import choice_from
from mercer.estimators.linear._pca_recipe import Found
from mercer.estimators.linear.pca import PCA
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.estimators.walk._parameters import Attributes, Constraints, Seed, check_fitted
from mercer.estimators.walk._spectral_estimator import SpectralEstimator
from mercer.selection import minka, ppca_parameters
from mercer.solvers import Spectrum
from mercer.sources import BlockSource, Source, SpreadSource, has_missing


def observed_densities(model: BaseEstimator, rows: Array) -> Array:
    """Return ln N(x_o; μ_o, S_oo) (n,) of each row, o the columns observed in it.

    Rows with the same cells missing share S_oo = W_oW_oᵀ + σ²I, whose inverse and determinant
    come from the k×k matrix σ²I + W_oᵀW_o [Tipping1999]_.

    Parameters
    ----------
    model : fitted ProbabilisticPCA
        Its `loadings_`, `noise_variance_`, `mean_` and `scale_` are read.
    rows : ndarray of shape (n, p)
        Rows; NaN is a missing cell. Infinite cells raise FloatingPointError.
    """
    seen = ~np.isnan(rows)
    if np.isinf(rows).any():
        raise FloatingPointError
    packed = np.packbits(seen, axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    out = np.empty(len(rows))
    for pattern, row in enumerate(first):
        members = which == pattern
        out[members] = _of_pattern(model, rows[members], seen[row])
    return out


def _of_pattern(model: BaseEstimator, rows: Array, seen: Array) -> Array:
    """Return the densities (m,) of rows with the same columns observed."""
    noise, count = model.noise_variance_, int(np.sum(seen))
    if count == 0:
        return np.zeros(len(rows))
    gone = rows[:, seen].astype(np.float64) - model.mean_[seen]
    volume = 0.0
    if model.scale_ is not None:
        gone /= model.scale_[seen]
        volume = 2 * float(np.sum(np.log(model.scale_[seen])))
    if noise == 0:  # as many axes as columns: S is all there is
        v = model.components_[:, seen].astype(np.float64)
        covariance = (v.T * model.explained_variance_) @ v
        distance = np.einsum("ij,ij->i", gone, np.linalg.solve(covariance, gone.T).T)
        volume += float(np.linalg.slogdet(covariance)[1])
    else:
        w = model.loadings_[seen]
        inner = noise * np.eye(w.shape[1]) + w.T @ w
        along = gone @ w
        fitted = np.einsum("ij,ij->i", along, np.linalg.solve(inner, along.T).T)
        distance = (np.einsum("ij,ij->i", gone, gone) - fitted) / noise
        volume += float(np.linalg.slogdet(inner)[1]) + (count - w.shape[1]) * np.log(noise)
    return np.asarray(-0.5 * (count * np.log(2 * np.pi) + volume + distance))


class ProbabilisticPCA(PCA):
    r"""Rows x = μ + Wz + ε with z ~ N(0, I_k) and ε ~ N(0, σ²I_p): x ~ N(μ, WWᵀ + σ²I).

    The likeliest W and σ² are known in closed form [Tipping1999]_: W = V(Λ - σ²I)^½ with the
    leading eigenpairs of PCA, and σ² the mean of the p - k variances left out, zeros counted.
    So PCA becomes a model of the rows: they have a density, new ones can be drawn, cells may
    be missing, and the number of axes can be chosen by likelihood.

    Parameters
    ----------
    n_components : int, "evidence", "bic" or "aic"
        k; or that of the largest Laplace evidence [Minka2000]_, for more rows than columns;
        or that of the least -2 ln L + m ln n or -2 ln L + 2m, m the numbers fitted.
    standardize : bool
        Divide each column by its standard deviation first; densities are in the units given.
    missing : {"raise", "ppca"}
        Refuse missing cells (NaN), or take the likeliest model of the observed ones.
    tol, memory, time, device, random_state
        See `PCA`.

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, mean_, scale_, plan_
        As for `PCA`; variances divide by n - 1, as there.
    noise_variance_ : float
        σ² = Σ_{i>k} λ_i/(p - k). `PCA` and scikit-learn divide by min(n, p) - k, which is
        the same for n > p.
    loadings_ : ndarray of shape (p, k)
        W, in the units of the columns that were analysed.
    log_likelihood_ : float or None
        ln L of all rows of the fit, n·score(X); None where cells were missing, or where the
        model has no density.
    n_parameters_ : int
        m = p + 1 + pk - k(k - 1)/2: mean, noise, and W up to a rotation.
    aic_, bic_ : float or None
        -2 ln L + 2m and -2 ln L + m ln n.
    certificate_, n_components_, n_samples_, n_features_in_, rank_
        As for `PCA`.

    Notes
    -----
    Cost: that of PCA, with all eigenvalues where the number is chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ProbabilisticPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6))
    >>> X += 0.1 * rng.normal(size=(200, 6))
    >>> model = ProbabilisticPCA("bic").fit(X)
    >>> model.n_components_, round(model.noise_variance_, 3)
    (2, 0.01)
    >>> model.sample(3).shape
    (3, 6)
    """

    _takes_batches = False
    whiten = False
    feature_weight = None
    forget = None
    _fills_by = "ppca"
    _parameter_constraints: ClassVar[Constraints] = {
        **{
            name: PCA._parameter_constraints[name]
            for name in ("standardize", "tol", "memory", "time", "device", "random_state")
        },
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"evidence", "bic", "aic"}),
        ],
        "missing": [StrOptions({"raise", "ppca"})],
    }

    def __init__(
        self,
        n_components: int | str = "bic",
        *,
        standardize: bool = False,
        missing: str = "raise",
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.n_components = n_components
        self.standardize = standardize
        self.missing = missing
        SpectralEstimator.__init__(self, tol, memory, time, device, random_state)

    # -- how many ---------------------------------------------------------------------

    def _most_components(self, shape: tuple[int, int]) -> int:
        n, p = shape
        if not isinstance(self.n_components, str):
            return super()._most_components(shape)
        if self.n_components == "evidence" and n < p:  # p where nobody has counted them yet
            raise _few_for_evidence(n, p)
        return min(n, p)

    def _settle(self, spectrum: Spectrum, found: Found, shape: tuple[int, int]) -> int:
        wanted, freedom = self.n_components, found.total - 1
        if not isinstance(wanted, str):
            return super()._settle(spectrum, found, shape)
        values = np.maximum(spectrum.values, 0.0) / freedom
        if wanted == "evidence" and shape[0] <= shape[1]:
            raise _few_for_evidence(*shape)
        if wanted == "evidence":
            return minka(values, found.total)
        return choice_from(spectrum.values[: shape[1]], found, shape, wanted).k

    # -- scale ------------------------------------------------------------------------

    def _scale(self, spectrum: Spectrum, found: Found, source: Source) -> Attributes:
        state = super()._scale(spectrum, found, source)
        k, p = state["n_components_"], source.shape[1]
        counted = min(int(found.total * (1 + 1e-12)), p)
        # Directions that the rows cannot reach have no variance, and are counted.
        noise = state["noise_variance_"] * max(counted - k, 0) / max(p - k, 1)
        state["noise_variance_"] = noise
        unit, rest = found.centring.unit, found.trace - float(np.sum(spectrum.values[:k]))
        own = max(rest, 0.0) / (found.total - 1) / max(p - k, 1) if counted > k else 0.0
        extra = np.sqrt(np.maximum(state["_unit_deviations"] ** 2 - own, 0.0))
        with np.errstate(over="ignore", under="ignore"):  # λ may leave the range, √λ does not
            extra = np.ldexp(extra, unit)
        count = int(ppca_parameters(p, np.array(k)))
        likelihood = _log_likelihood(state, found.total, p)
        return state | {
            "loadings_": state["components_"].T.astype(np.float64) * extra,
            "n_parameters_": count,
            **_criteria(likelihood, count, found.total),
        }

    def _fitted(self, source: Source, weights: Array | None) -> Attributes:
        state = super()._fitted(source, weights)
        if state.get("n_missing_", 0):  # the sums are expected ones, not those of the rows
            state |= _criteria(None, 0, 2.0)
        return state

    # -- the model of the rows ----------------------------------------------------------

    def sample(self, n_samples: int = 1, seed: Any = 0) -> Array:
        """Return rows (n_samples, p) drawn from the model, in the units of the data.

        Parameters
        ----------
        n_samples : int
            How many.
        seed : int, Generator or None
            Of the random numbers.
        """
        check_fitted(self)
        if n_samples < 1:
            raise InputError(
                "at least one row must be drawn", got=f"n_samples={n_samples}", fix="pass 1"
            )
        self._axes_found().refuse_range()
        rng = np.random.default_rng(seed)
        z = rng.standard_normal((n_samples, self.n_components_))
        rows = np.sqrt(self.noise_variance_) * rng.standard_normal(
            (n_samples, self.n_features_in_)
        )
        rows += z @ self.loadings_.T
        return np.asarray((rows if self.scale_ is None else rows * self.scale_) + self.mean_)

    def latent(self, X: object) -> tuple[Array, Array]:
        """Return the mean (n, k) and the variances (k,) of z given each row.

        E[z|x] = (Λ - σ²I)^½Λ⁻¹Vᵀ(x - μ), and the variances are σ²/λ: the coordinates of
        `transform`, brought to variance one and shrunk towards zero.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows without missing cells, or with them where missing="ppca".
        """
        check_fitted(self)
        self._axes_found().refuse_range()
        values, alive = self.explained_variance_, self._axes_found().alive
        safe = np.where(alive, values, 1.0)
        rate = np.where(alive, np.sqrt(np.maximum(values - self.noise_variance_, 0.0)), 0.0)
        scores = np.asarray(self.transform(X), np.float64)
        spread = np.where(alive, np.minimum(self.noise_variance_ / safe, 1.0), 1.0)
        return scores * (rate / safe), spread

    def score_samples(self, X: object) -> Array:
        """Return the log-likelihood (n,) of each row, of its observed cells where some miss.

        See `PCA.score_samples`. A row with nothing observed has likelihood one.

        Parameters
        ----------
        X : array, sparse matrix, frame, path, source or iterator of blocks
            Rows.
        """
        check_fitted(self)
        if self.missing == "raise":
            return super().score_samples(X)
        source = self._admit(X, reset=False)
        if isinstance(source, BlockSource | SpreadSource) or not has_missing(source):
            return super().score_samples(X)
        self._axes_found().refuse_singular()
        try:
            rows = source.array
            return observed_densities(
                self, rows.toarray() if is_sparse(rows) else np.asarray(rows)
            )
        except FloatingPointError:
            refuse_bad_cells(source, self._names)
            raise

    @classmethod
    def from_covariance(cls, *_: Any, **__: Any) -> Never:
        """Refused: use PCA, which has the same axes."""
        raise NotSupportedError(
            "probabilistic PCA is fitted to rows",
            got="a covariance matrix",
            fix="use PCA.from_covariance",
        )


def _few_for_evidence(n: int, p: int) -> InputError:
    """Return why so many rows are too few."""
    return InputError(
        'n_components="evidence" needs more rows than columns',
        got=f"n_samples = {n}, n_features = {p}",
        fix='pass "bic", or a number',
    )


def _log_likelihood(state: Attributes, n: float, p: int) -> float | None:
    """Return ln L = -(n/2)(p ln 2π + Σ ln λ + (p - k) ln σ² + 2Σ ln scale + p(n - 1)/n)."""
    values, noise = state["explained_variance_"], state["noise_variance_"]
    left = p - len(values)
    parts = np.append(values, [noise] if left else [])
    if not np.all((parts > 0) & np.isfinite(parts)):
        return None
    volume = float(np.sum(np.log(values))) + (left * float(np.log(noise)) if left else 0.0)
    if state["scale_"] is not None:
        volume += 2 * float(np.sum(np.log(state["scale_"])))
    return -n / 2 * (p * float(np.log(2 * np.pi)) + volume + p * (n - 1) / n)


def _criteria(likelihood: float | None, count: int, n: float) -> Attributes:
    """Return the likelihood and what it costs by two prices."""
    if likelihood is None:
        return {"log_likelihood_": None, "aic_": None, "bic_": None}
    return {
        "log_likelihood_": likelihood,
        "aic_": 2 * count - 2 * likelihood,
        "bic_": count * float(np.log(n)) - 2 * likelihood,
    }
