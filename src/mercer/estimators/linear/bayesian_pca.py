"""Bayesian PCA: how many axes, and how sure each loading is."""

import warnings
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from mercer.arrays import Array, is_sparse
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.linear._pca_choice import warn_of
from mercer.estimators.linear._pca_recipe import Found, asked_axes
from mercer.estimators.linear.pca import PCA
from mercer.estimators.linear.probabilistic_pca import ProbabilisticPCA, observed_densities
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.estimators.walk._parameters import (
    COUNT,
    Attributes,
    Constraints,
    Seed,
    check_fitted,
)
from mercer.estimators.walk._spectral_estimator import SpectralEstimator
from mercer.selection import (
    AxisPosterior,
    Choice,
    Rule,
    Variances,
    axis_posterior,
    noise_of,
    settled_noise,
    signal_of,
    spectrum_rules,
)
from mercer.solvers import Spectrum
from mercer.sources import BlockSource, Source, SpreadSource

_WIDEST = 1024  # columns whose own noise is looked for
_FAR = 1e3  # σ²/u of an axis that is noise
_HUGE = 1e150  # variance whose square float64 still holds; its inverse is the least
_NORMAL = 1.959963984540054  # quantile of 97.5 %
_COLUMNS = ("n_features_in_", "feature_names_in_")


class BayesianPCA(ProbabilisticPCA):
    r"""Rows x = μ + Wz + ε as in `ProbabilisticPCA`, with a posterior of W and of its width.

    Columns of W have priors N(0, I/α_j), and α_j follows the evidence: an axis that the rows
    do not need gets no variance (automatic relevance determination). The variational
    posterior of this model is known in closed form [Nakajima2013]_, so that the evidence of
    every number of axes is: `number_posterior_`. Intervals of loadings are those of a Laplace
    approximation to the marginal likelihood (z integrated out): the variational ones, which
    hold z and W for independent, would be too narrow.

    Parameters
    ----------
    n_components : int or "auto"
        k; or the number with the largest probability, which may be none.
    prior : {"ard", "shrinkage", "flat"}
        Of the axes. "ard": as above, all numbers of axes alike. "shrinkage": without a
        largest number; each further axis takes half of what is left of a stick, so that few
        axes are likelier before the rows are seen. "flat": W has no prior, and the model is
        that of `ProbabilisticPCA`, with intervals.
    noise : {"auto", "even", "columns"}
        Whether ε has one variance, or one for each column: columns are then divided by the
        deviation of their noise. "auto" takes what the evidence prefers, at the price of the
        numbers fitted. Beyond 1,024 columns, and of rows that are read only once, it is even.
    standardize : bool
        Divide each column by its standard deviation first.
    missing : {"raise", "ppca"}
        See `ProbabilisticPCA`.
    tol, memory, time, device, random_state
        See `PCA`.

    Attributes
    ----------
    number_posterior_ : ndarray of shape (m + 1,)
        p(k|rows) for k = 0, 1, …
    number_interval_ : (int, int)
        Numbers of axes that hold 95 % of it.
    evidence_ : ndarray of shape (m + 1,)
        A lower bound on ln p(rows|k), up to a constant, in the units of the columns analysed.
    choice_ : Choice
        The number, the other rules beside it, and the difference in words.
    loadings_ : ndarray of shape (p, k)
        W at the maximum of its posterior, in the units of the columns that were analysed.
    loadings_sd_, loadings_interval_ : ndarray of shape (p, k) and (2, p, k)
        Standard deviations, and the ends of 95 % intervals. Axes of nearly equal variance may
        be turned within their plane, and have wide ones.
    column_noise_ : ndarray of shape (p,)
        Variance of the noise of each column, in the units of the data.
    noise_variance_ : float
        σ² of the columns analysed.
    components_, explained_variance_, explained_variance_ratio_, mean_, scale_, plan_
        As for `PCA`; variances are those of the rows.
    log_likelihood_, aic_, bic_, n_parameters_, certificate_, n_components_, n_samples_
        As for `ProbabilisticPCA`, of its likeliest parameters.

    Notes
    -----
    Cost: that of `PCA` with all axes, twice unless noise="even", and p³ a few dozen times.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import BayesianPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 8))
    >>> X += rng.normal(size=(300, 8)) * rng.uniform(0.2, 0.6, 8)
    >>> model = BayesianPCA().fit(X)
    >>> model.n_components_, model.number_interval_
    (2, (2, 2))
    >>> model.loadings_interval_.shape
    (2, 8, 2)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **ProbabilisticPCA._parameter_constraints,
        "n_components": [COUNT, StrOptions({"auto"})],
        "prior": [StrOptions({"ard", "shrinkage", "flat"})],
        "noise": [StrOptions({"auto", "even", "columns"})],
    }

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        prior: str = "ard",
        noise: str = "auto",
        standardize: bool = False,
        missing: str = "raise",
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.n_components = n_components
        self.prior = prior
        self.noise = noise
        self.standardize = standardize
        self.missing = missing
        SpectralEstimator.__init__(self, tol, memory, time, device, random_state)

    # -- the noise of columns -----------------------------------------------------------

    def _fitted(self, source: Source, weights: Array | None) -> Attributes:
        noise = self._own_noise(source, weights)
        if noise is not None:
            self.feature_weight = 1.0 / noise
        state = super()._fitted(source, weights)
        state.pop("feature_weight", None)
        level = state["noise_variance_"]
        scale = state["scale_"]
        units = np.ones(source.shape[1]) if scale is None else np.asarray(scale, np.float64)
        _refuse_past_range(units**2 if np.max(units) < _HUGE else np.array([np.inf]))
        state["column_noise_"] = level * units**2
        if state.get("n_missing_", 0):  # a column with gaps tells less of its loadings
            share = 1 - np.asarray(state["missing_counts_"]) / state["n_samples_"]
            wider = 1 / np.sqrt(np.maximum(share, 1e-3))[:, None]
            state |= _with_intervals(state["loadings_"], state["loadings_sd_"] * wider)
        return state

    def _own_noise(self, source: Source, weights: Array | None) -> Array | None:
        """Return the noise variance of each column (p,), or None where it is even."""
        p = source.shape[1]
        once = getattr(source, "max_passes", 2) < 2
        if self.noise == "even" or p < 2 or (self.noise == "auto" and (p > _WIDEST or once)):
            return None
        if p > 4 * _WIDEST or once:
            raise NotSupportedError(
                "noise of each column needs rows to be read twice, and 4,096 columns at most",
                got=f"{p:,} columns" + (", rows that come once" if once else ""),
                fix='pass noise="even"',
            )
        inner = PCA(
            standardize=self.standardize, missing=self.missing, tol=self.tol,
            memory=self.memory, random_state=self.random_state,
        )  # fmt: skip
        inner.__dict__.update(
            {name: vars(self)[name] for name in _COLUMNS if name in vars(self)}
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit itself says it
            found = inner._fitted(source, weights)
        axes = np.asarray(found["components_"], np.float64)
        values = np.asarray(found["explained_variance_"], np.float64)
        _refuse_past_range(values)
        covariance = (axes.T * values) @ axes
        rows = float(source.shape[0] if weights is None else np.sum(weights))
        return settled_noise(covariance, rows, own=self.noise == "columns")[0]

    # -- how many -----------------------------------------------------------------------

    def _most_components(self, shape: tuple[int, int]) -> int:
        if not isinstance(self.n_components, str):
            asked_axes(self.n_components, shape)
        return min(shape)

    def _settle(self, spectrum: Spectrum, found: Found, shape: tuple[int, int]) -> int:
        freedom = found.total - 1
        values = np.maximum(spectrum.values[: shape[1]], 0.0) / freedom
        known = Variances.of(
            values, rows=max(found.total, 2.0), columns=shape[1], total=found.trace / freedom
        )
        posterior = axis_posterior(known, shrinking=self.prior == "shrinkage")
        found.settled["posterior"] = posterior
        if not isinstance(self.n_components, str):
            return asked_axes(self.n_components, shape)
        low, high = posterior.interval()
        about = "the largest evidence" + (
            f"; with 95 % probability {low} to {high}" if low < high else ""
        )
        rules = (Rule("Bayes", posterior.k, about), *spectrum_rules(known, found.columns))
        found.settled["choice_"] = Choice(
            posterior.k, rules, np.ones(1), f"all {shape[0]:,} rows"
        )
        return posterior.k

    # -- scale --------------------------------------------------------------------------

    def _scale(self, spectrum: Spectrum, found: Found, source: Source) -> Attributes:
        posterior: AxisPosterior = found.settled.pop("posterior")
        choice = found.settled.pop("choice_", None)
        state = super()._scale(spectrum, found, source)
        _refuse_past_range(np.asarray(state["explained_variance_"], np.float64))
        if choice is not None:
            state["choice_"] = choice
            warn_of(choice, state["n_components_"])
        low, high = posterior.interval()
        state |= {
            "number_posterior_": posterior.probabilities,
            "number_interval_": (low, high),
            "evidence_": posterior.evidence,
        }
        return state | self._loadings(state, spectrum, found, source.shape[1])

    def _loadings(
        self, state: Attributes, spectrum: Spectrum, found: Found, p: int
    ) -> Attributes:
        """Return W, its deviations and intervals, and σ².

        Laplace on the marginal likelihood: about the axes the posterior is normal, an angle
        towards another axis has variance λ_iλ_j/(n(λ_i - λ_j)²), one into the noise
        (1 - c²)/(p - k) with c² = (1 - γσ⁴/u²)/(1 + γσ²/u), and u itself
        (2λ²/n)/(1 - γσ⁴/u²).
        """
        k, n = state["n_components_"], float(found.total)
        axes = np.asarray(state["components_"], np.float64)
        values = np.asarray(state["explained_variance_"], np.float64)
        total = float(values.sum()) / max(
            float(state["explained_variance_ratio_"].sum()), 1e-300
        )
        if k == 0:
            empty = np.zeros((p, 0))
            return {"loadings_": empty, **_with_intervals(empty, empty)}
        ratio, level = p / n, float(state["noise_variance_"])
        u = np.maximum(values - level, 0.0)
        if self.prior != "flat":
            level = noise_of(Variances.of(values, rows=n, columns=p, total=total), k)
            u = signal_of(values, level, n, p)
        w = axes.T * np.sqrt(u)
        far = np.full(k, _FAR)  # σ²/u
        np.divide(level, u, out=far, where=u * _FAR > level)
        steady = np.maximum(1 - ratio * far**2, 0.05)
        cosine = steady / (1 + ratio * far)
        length = (values / 2 / n) * np.minimum(1 + far, _FAR) / steady  # Var √u
        gaps = np.abs(values[:, None] - values[None, :])
        np.fill_diagonal(gaps, np.inf)
        gaps = np.maximum(gaps, 1e-12 * values[:1])
        turn = np.minimum((values[:, None] / gaps) * (values / gaps) / n, 1.0)
        outside = np.maximum(1 - np.sum(axes**2, axis=0), 0.0)[:, None]
        noise = (1 - cosine) / max(p - k, 1)
        spread = axes.T**2 * length + u * ((axes.T**2) @ turn + outside * noise)
        if self.feature_weight is not None:  # the unit of a column is itself estimated
            spread += w**2 / (2 * n)
        return {
            "loadings_": w,
            "noise_variance_": level,
            **_with_intervals(w, np.sqrt(spread)),
        }

    # -- the model of the rows ----------------------------------------------------------

    def score_samples(self, X: object) -> Array:
        """Return the log-likelihood (n,) of each row under N(μ, WWᵀ + σ²I).

        See `ProbabilisticPCA.score_samples`; W and σ² are those of the posterior.

        Parameters
        ----------
        X : array, sparse matrix, frame, path, source or iterator of blocks
            Rows.
        """
        check_fitted(self)
        source = self._admit(X, reset=False)
        if isinstance(source, BlockSource | SpreadSource):
            return super().score_samples(X)
        if self.missing == "raise":
            refuse_bad_cells(source, self._names)
        self._axes_found().refuse_singular()
        rows = source.array
        try:
            return observed_densities(
                self, rows.toarray() if is_sparse(rows) else np.asarray(rows)
            )
        except FloatingPointError:
            refuse_bad_cells(source, self._names)
            raise

    def get_covariance(self) -> Array:
        """Return the covariance WWᵀ + σ²I (p, p) of the model, in the units of the data."""
        check_fitted(self)
        p = self.loadings_.shape[0]
        inner = self.loadings_ @ self.loadings_.T + self.noise_variance_ * np.eye(p)
        scale = np.ones(p) if self.scale_ is None else np.asarray(self.scale_)
        return np.asarray(inner * scale[:, None] * scale)


def _refuse_past_range(variances: Array) -> None:
    """Refuse rows whose variances, or the squares of these, no float64 holds."""
    largest = float(np.max(variances, initial=0.0))
    if variances.size and not 1 / _HUGE <= largest <= _HUGE:
        raise InputError(
            "a model of the rows needs variances whose squares are numbers",
            got=f"the largest variance is {largest:.3g}",
            fix="divide the data by a constant, such as its largest value",
        )


def _with_intervals(w: Array, deviation: Array) -> Attributes:
    ends = np.stack([w - _NORMAL * deviation, w + _NORMAL * deviation])
    return {"loadings_sd_": deviation, "loadings_interval_": ends}
