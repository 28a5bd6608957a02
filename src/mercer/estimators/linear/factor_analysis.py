"""Factor analysis: common factors and a noise of its own for every column."""

import dataclasses
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.arrays import EPS, Array, as_numpy, show_bytes
from mercer.diagnostics import Rotation, oblimin, orthomax, promax
from mercer.errors import AccuracyWarning, BudgetError, DataWarning, InputError, warn
from mercer.estimators.linear._factor_model import (
    CROWD,
    LEAST,
    Correlations,
    Likeliest,
    chi_square,
    correlations_of,
    degrees_of_freedom,
    given_correlations,
    likeliest,
    log_likelihood,
    search_price,
)
from mercer.estimators.linear._summed_rows import UnseenRows
from mercer.estimators.walk import _streamed_rows as streamed
from mercer.estimators.walk._admission import refuse_bad_cells, refuse_parts, text_names
from mercer.estimators.walk._parameters import (
    COUNT,
    POSITIVE,
    RESOURCES,
    Attributes,
    Constraints,
    Seed,
    check_fitted,
    refuse_truth,
)
from mercer.estimators.walk._spectral_estimator import (
    SpectralEstimator,
    counted_shape,
    repeat_counts,
)
from mercer.operators import Dense
from mercer.planning import Path, Plan, Problem
from mercer.solvers import Exact, Floor, Goal, Solver, Spectrum, fix_signs
from mercer.sources import ArrayBlocks, BlockSource, Source

_MOST = 12  # factors that evidence is looked at for
_FINE = 1e-10  # relative half-width to which the last pairs are solved
_HELD = 1e6  # bytes of a block of rows in memory
_BEGUN = 12e-3  # seconds that a search of few columns takes
_SHOWN = 5  # columns that are named
_Found: TypeAlias = tuple[Correlations, Likeliest, bool]  # and whether factors are shared


class FactorAnalysis(SpectralEstimator):
    r"""Common factors of largest likelihood: x = μ + Lf + e, f ~ N(0, Φ), e ~ N(0, Ψ) diagonal.

    L and Ψ are fitted to the correlations of the columns, so that units do not matter, and are
    brought back: LΦLᵀ + Ψ has the sample variances, which divide by n - 1, on its diagonal. No
    column has less than 0.005 of its variance as noise, as in R's factanal. The likelihood can
    have several maxima; the largest of those found from dozens of starts is taken.

    Parameters
    ----------
    n_components : int or "evidence"
        Factors; "evidence" takes the number, from 1 on, of least BIC, and says where none
        would be better.
    rotation : None or {"varimax", "quartimax", "promax", "oblimin"}
        How loadings are turned to simple structure; promax and oblimin factors are correlated.
    scores : {"regression", "bartlett"}
        E(f | x), of least error but shrunk; or weighted least squares, not shrunk.
    standardize : bool
        Divide columns by their standard deviation: loadings are then correlations of columns
        and factors, where these are uncorrelated. The model is the same in other units.
    tol : float
        Largest slope of the likelihood, by the logarithm of a uniqueness, that may be left.
    max_iter : int
        Steps from one start, at most.
    memory, time, device
        See `PCA`.
    random_state : int, RandomState, Generator or None
        Of the starts that are drawn.

    Attributes
    ----------
    loadings_ : ndarray of shape (p, k)
        L, rotated.
    components_ : ndarray of shape (k, p)
        Lᵀ, as scikit-learn calls it.
    noise_variance_ : ndarray of shape (p,)
        Ψ, in the units of the loadings.
    uniquenesses_, communalities_ : ndarray of shape (p,)
        Share of every column that is noise, and one less that: what the factors explain.
    explained_variance_ : ndarray of shape (k,)
        Σ_j l_jk².
    explained_variance_ratio_ : ndarray of shape (k,)
        Divided by the variance of all columns.
    correlations_ : ndarray of shape (k, k)
        Φ, of the factors: the identity unless promax or oblimin.
    log_likelihood_, loglike_ : float or None
        Largest ln L of all rows, columns standardised where `standardize` says so; of the
        covariance that divides by n, which is the likelier by p/4n. None where n is unknown.
    aic_, bic_ : float or None
        With pk - k(k - 1)/2 + 2p parameters.
    chi2_, p_value_ : float or None
        Bartlett's test of k factors against any covariance; None for singular correlations.
    dof_ : int
        ((p - k)² - p - k)/2, of that test; below zero there are too many factors.
    heywood_ : ndarray of int
        Columns whose noise is at its lower bound: a sign of too many factors.
    slope_ : float
        What is left of the slope of the likelihood, zero at a maximum.
    maxima_ : ndarray of shape (m,) or None
        ln L where the best starts ended, falling: more than one is a likelihood with several
        maxima.
    mean_, scale_ : ndarray of shape (p,); the latter may be None
        Of the columns.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Steps, factors, rows, columns.
    plan_ : Plan
        How the correlations are found.
    certificate_ : None
        No interval is known for the largest of all likelihoods.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FactorAnalysis
    >>> rng = np.random.default_rng(1)
    >>> F = rng.standard_normal((300, 2))
    >>> X = np.repeat(F, 3, axis=1) + rng.standard_normal((300, 6)) * 0.5
    >>> model = FactorAnalysis("evidence").fit(X)
    >>> model.n_components_, model.dof_, bool(model.p_value_ > 0.05)
    (2, 4, True)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **RESOURCES,
        "n_components": [COUNT, StrOptions({"evidence"})],
        "rotation": [StrOptions({"varimax", "quartimax", "promax", "oblimin"}), None],
        "scores": [StrOptions({"regression", "bartlett"})],
        "standardize": ["boolean"],
        "tol": [POSITIVE],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    _mean_rest: Array | float = 0.0  # what rounding has left out of the means

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        rotation: str | None = "varimax",
        scores: str = "regression",
        standardize: bool = True,
        tol: float = 1e-7,
        max_iter: int = 1000,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.n_components = n_components
        self.rotation = rotation
        self.scores = scores
        self.standardize = standardize
        self.max_iter = max_iter
        super().__init__(tol, memory, time, device, random_state)

    # -- describe and plan --------------------------------------------------------------

    def _admit(self, X: object, *, reset: bool) -> Source:
        refuse_parts(X)
        return streamed.opened(self, text_names(X), reset=reset)

    def _rows(self, source: Source) -> BlockSource:
        """Return the rows as they are walked: block by block, in memory too."""
        return source if isinstance(source, BlockSource) else ArrayBlocks(source, self._names)

    def _block_bytes(self, source: Source) -> float:
        if isinstance(source, ArrayBlocks):
            return _HELD
        return streamed.block_bytes(source, self._budget)

    def _allowed(self) -> tuple[str, ...] | None:
        return ("gram",)

    def _problem(self, source: Source, weights: Array | None = None) -> Problem:
        rows = self._rows(source)
        reading = streamed.reading(rows, self._block_bytes, kept=False)
        k = self._asked(counted_shape(source, weights))
        shape = counted_shape(source, None)[0], source.shape[1]
        return self._problem_of(source, shape, k, **reading)

    def _asked(self, shape: tuple[int, int]) -> int:
        """Return the most factors that are looked for in n rows of p columns."""
        n, p = shape
        refuse_truth(self.n_components, 'pass a whole number, or "evidence"')
        if isinstance(self.n_components, str):
            return max(1, min(_MOST, n - 1, _identified(p)))
        if self.n_components > min(n, p):
            raise InputError(
                f"n_components={self.n_components} must be at most min(n_samples,"
                f" n_features)={min(n, p)}",
                got=f"X of shape {(n, p)}",
                fix="ask for fewer factors",
            )
        return int(self.n_components)

    def _settle_plan(self, made: Plan) -> Plan:
        """Return the plan with what the search takes beside the correlations."""
        asked, path = made.problem, made.chosen
        more, solved = search_price(asked.cols)
        held = int(path.bytes + more)
        if held > asked.memory:
            raise BudgetError(
                "factor analysis does not fit the memory allowed; nothing was allocated",
                got=f"{show_bytes(asked.memory)} allowed, {show_bytes(held)} for the"
                f" correlations of {asked.cols:,} columns and the search",
                fix=f'allow memory="{show_bytes(2 * held)}"',
            )
        alone = asked.cols <= CROWD
        rate = asked.rates.eigen * (1 if alone else asked.rates.threads)
        seconds = path.seconds + _BEGUN + solved * asked.cols**3 / rate
        chosen = dataclasses.replace(path, bytes=held, seconds=seconds)
        remark = f"and about {solved:,} eigenproblems of that size: the likelihood is climbed"
        return dataclasses.replace(made, chosen=chosen, remark=remark)

    # -- correlations, likelihood, loadings -----------------------------------------------

    def _solve(
        self, source: Source, path: Path, weights: Array | None
    ) -> tuple[Spectrum, _Found]:
        """Return the leading pairs of Ψ^-½RΨ^-½ for the likeliest Ψ."""
        rows = self._rows(source)
        size = self._block_bytes(rows)
        known = correlations_of(rows, weights, size, self._refuse_block, self._refuse_constant)
        shape = counted_shape(rows, weights)  # counted by now
        return self._likeliest(known, self._asked(shape), path.solver)

    def _likeliest(
        self, known: Correlations, k: int, solver: Solver
    ) -> tuple[Spectrum, _Found]:
        shared = True
        if isinstance(self.n_components, str):
            k, best, shared = self._evident(known, k)
        else:
            best = self._searched(known, k)
        root = np.sqrt(best.noise)
        matrix, p = known.matrix / root / root[:, None], len(root)
        trace = float(np.trace(matrix))
        goal = Goal(k, _FINE, Floor(4.0 * p * EPS), trace, EPS * p * trace, 0, psd=True)
        spectrum = solver.solve(Dense(matrix, symmetric=True), goal)
        return spectrum, (known, best, shared)

    def _searched(self, known: Correlations, k: int, near: Array | None = None) -> Likeliest:
        most, seed = self.max_iter, self._seed()
        return likeliest(known.matrix, k, seed=seed, most=most, near=near)

    def _evident(self, known: Correlations, most: int) -> tuple[int, Likeliest, bool]:
        """Return the number of factors of least BIC, what was found, and if none is worse."""
        if known.total is None:
            raise InputError(
                "evidence for a number of factors needs the number of rows",
                got='n_components="evidence", n_samples=None',
                fix="pass n_samples, or a number of factors",
            )
        p, found, near = len(known.scale), list[Likeliest](), None
        for k in range(1, most + 1):
            found.append(self._searched(known, k, near))
            near = found[-1].noise
        values = [float(p), *(one.value for one in found)]  # F without factors is p
        costs = [_costs(log_likelihood(F, known), known, k)[1] for k, F in enumerate(values)]
        best = 1 + int(np.argmin(costs[1:]))
        shared = costs[best] < costs[0]
        if not shared:
            _warn_unshared(costs[0], costs[best])
        return best, found[best - 1], shared

    def _scale(self, spectrum: Spectrum, found: _Found, source: Any) -> Attributes:
        (known, best, shared), k = found, len(spectrum.values)
        p, scale = len(known.scale), known.scale
        extra = np.sqrt(np.maximum(spectrum.values - 1, 0.0))
        turned = self._turned(np.sqrt(best.noise)[:, None] * spectrum.right * extra)
        units = np.ones(p) if self.standardize else scale
        _refuse_sizes(units)
        loadings = turned.loadings * units[:, None]
        squares = np.sum(loadings**2, axis=0)
        likelihood = self._likelihood(best.value, known)
        aic, bic = _costs(likelihood, known, k)
        test, dof = chi_square(best.value, known, k), degrees_of_freedom(p, k)
        heywood = np.flatnonzero(best.noise <= LEAST * (1 + 1e-9))
        self._say(best, heywood if shared else heywood[:0], k, dof)
        return {
            "loadings_": loadings,
            "components_": np.ascontiguousarray(loadings.T),
            "noise_variance_": best.noise * units**2,
            "uniquenesses_": best.noise,
            "communalities_": 1 - best.noise,
            "explained_variance_": squares,
            "explained_variance_ratio_": squares / np.sum(units**2),
            "correlations_": turned.correlations,
            "log_likelihood_": likelihood,
            "loglike_": likelihood,
            "aic_": aic,
            "bic_": bic,
            "chi2_": None if test is None else test[0],
            "p_value_": None if test is None else test[1],
            "dof_": dof,
            "heywood_": heywood,
            "slope_": best.slope,
            "maxima_": np.array([self._likelihood(F, known) for F in best.ends], float),
            "mean_": known.mean,
            "scale_": scale if self.standardize else None,
            "n_iter_": best.steps,
            "n_components_": k,
            "n_samples_": source.shape[0],
            "certificate_": None,
            "_mean_rest": known.rest,
        }

    def _likelihood(self, value: float, known: Correlations) -> float | None:
        """Return ln L of the columns as they are analysed, None where n is not known."""
        found = log_likelihood(value, known)
        if found is None or self.standardize or known.total is None:
            return found
        return found - known.total * float(np.sum(np.log(known.scale)))

    def _turned(self, loadings: Array) -> Rotation:
        if self.rotation is None or loadings.shape[1] == 1:
            same = np.eye(loadings.shape[1])
            return Rotation(fix_signs(loadings), same, same, 0, True)
        if self.rotation in ("promax", "oblimin"):
            return (promax if self.rotation == "promax" else oblimin)(loadings)
        return orthomax(loadings, gamma=0.0 if self.rotation == "quartimax" else 1.0)

    def _warn(self, spectrum: Spectrum) -> None:
        """Say nothing of the last pairs: `_scale` says where the likelihood still grows."""

    def _say(self, best: Likeliest, heywood: Array, k: int, dof: int) -> None:
        """Warn of a likelihood that still grows, and of too many factors."""
        p = len(best.noise)
        if best.slope > float(self.tol or 0.0):
            warn(
                "the likelihood was still growing",
                got=f"a slope of {best.slope:.1e} after {best.steps} steps with {k} factors",
                fix="raise max_iter, or ask for fewer factors",
                category=AccuracyWarning,
            )
        if dof < 0:
            warn(
                "more factors than the columns can tell: other loadings fit as well",
                got=f"n_components={k}, {p} columns: {dof} degrees of freedom",
                fix=f"ask for at most {_identified(p)}" if p > 2 else "pass more columns",
                category=DataWarning,
            )
        elif len(heywood):
            warn(
                "the noise of a column is at its lower bound (a Heywood case)",
                got=f"columns {', '.join(map(str, heywood[:_SHOWN].tolist()))}",
                fix="ask for fewer factors, or leave near-copies of columns out",
                category=DataWarning,
            )

    # -- refusals -----------------------------------------------------------------------

    def _refuse_block(self, source: BlockSource, block: Array, start: int) -> None:
        """Name the place of the first cell that is not finite, if there is one."""
        streamed.refuse_block(source, block, start, self._names, "")

    def _refuse_constant(self, which: Array) -> None:
        """Refuse columns (p,) that do not vary, if there is one."""
        still = np.flatnonzero(which)
        if not still.size:
            return
        names = self._names
        shown = [
            f"column {j}" if names is None else repr(str(names[j])) for j in still[:_SHOWN]
        ]
        raise InputError(
            "a column that does not vary has no factors",
            got=f"{len(still)} such columns: {', '.join(shown)}",
            fix="leave them out",
        )

    # -- scores and densities of rows ------------------------------------------------------

    def transform(self, X: object) -> Array:
        """Return factor scores of rows, of shape (n_samples, n_components).

        Parameters
        ----------
        X : array, sparse matrix, frame, path, source or iterator of blocks
            Rows.
        """
        check_fitted(self)
        return self._by_blocks(X, self._project, int(self.n_components_))

    def fit_transform(self, X: object, y: object = None, **fit_params: Any) -> Any:
        """Fit to X and return its scores, the same as ``fit(X).transform(X)``."""
        X = streamed.refuse_second_walk(X)
        return self.fit(X, y, **fit_params).transform(X)

    def _by_blocks(self, X: object, found: Callable[[Source], Array], width: int) -> Array:
        """Return what is found (n, width) of rows, block by block."""
        rows = self._rows(self._admit(X, reset=False))
        parts = streamed.projected(rows, self._block_bytes(rows), found, self._refuse_block)
        return streamed.gathered(rows, parts, width, self._budget())

    def _deviations(self, source: Source) -> Array:
        """Return the rows less their means, over their scales: as they are analysed."""
        array = source.array
        dense = array.toarray() if hasattr(array, "toarray") else as_numpy(array)
        with np.errstate(over="ignore", invalid="ignore"):
            rows = np.asarray(dense, np.float64) - self.mean_
            rows -= self._mean_rest
            rows /= 1.0 if self.scale_ is None else self.scale_
        if not np.isfinite(rows).all():
            refuse_bad_cells(source, self._names)
        return rows

    def _project(self, source: Source) -> Array:
        weighted, inner = self._inner()
        if self.scores == "bartlett":
            inner = inner - np.linalg.inv(self.correlations_)
        return np.asarray(self._deviations(source) @ np.linalg.solve(inner, weighted.T).T)

    def _inner(self) -> tuple[Array, Array]:
        """Return Ψ⁻¹L (p, k) and Φ⁻¹ + LᵀΨ⁻¹L (k, k)."""
        weighted = self.loadings_ / self._noise()[:, None]
        return weighted, np.linalg.inv(self.correlations_) + self.loadings_.T @ weighted

    def _noise(self) -> Array:
        """Return Ψ (p,); models of earlier versions may have none of it in a column."""
        spread = np.diagonal(self.loadings_ @ self.correlations_ @ self.loadings_.T)
        return np.maximum(self.noise_variance_, 1e-12 * spread)

    def get_covariance(self) -> Array:
        """Return the covariance LΦLᵀ + Ψ (p, p) of the model, in the units of the data."""
        check_fitted(self)
        shared = self.loadings_ @ self.correlations_ @ self.loadings_.T
        return self._in_units(shared + np.diag(self.noise_variance_), 1)

    def get_precision(self) -> Array:
        """Return its inverse (p, p): Ψ⁻¹ - Ψ⁻¹L(Φ⁻¹ + LᵀΨ⁻¹L)⁻¹LᵀΨ⁻¹."""
        check_fitted(self)
        weighted, inner = self._inner()
        shared = weighted @ np.linalg.solve(inner, weighted.T)
        return self._in_units(np.diag(1 / self._noise()) - 0.5 * (shared + shared.T), -1)

    def _in_units(self, matrix: Array, sign: int) -> Array:
        """Return a matrix (p, p) of the columns as analysed in the units of the data."""
        if self.scale_ is None:
            return np.asarray(matrix)
        _refuse_sizes(self.scale_)
        units = self.scale_**sign
        return np.asarray(matrix * units * units[:, None])

    def score_samples(self, X: object) -> Array:
        """Return the log-likelihood (n,) of each row, in the units of the data.

        -½(p ln 2π + ln|S| + (x - μ)ᵀS⁻¹(x - μ)) with S the covariance of the model.

        Parameters
        ----------
        X : array, sparse matrix, frame, path, source or iterator of blocks
            Rows.
        """
        check_fitted(self)
        weighted, inner = self._inner()
        noise, root = self._noise(), np.linalg.cholesky(inner)
        along = np.linalg.solve(root, weighted.T)
        volume = float(np.sum(np.log(noise))) + 2 * float(np.sum(np.log(np.diagonal(root))))
        volume += float(np.linalg.slogdet(self.correlations_)[1])
        if self.scale_ is not None:
            volume += 2 * float(np.sum(np.log(self.scale_)))

        def densities(source: Source) -> Array:
            rows = self._deviations(source)
            far = np.sum(rows**2 / noise, axis=1) - np.sum((rows @ along.T) ** 2, axis=1)
            each = -0.5 * (len(noise) * np.log(2 * np.pi) + volume + far)
            return np.asarray(each)[:, None]

        return self._by_blocks(X, densities, 1)[:, 0]

    def score(self, X: object, y: object = None, sample_weight: Array | None = None) -> float:
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
        each = self.score_samples(X)
        return float(np.average(each, weights=repeat_counts(sample_weight, len(each))))

    # -- other beginnings ---------------------------------------------------------------

    @classmethod
    def from_covariance(
        cls, C: Any, mean: Any = None, n_samples: int | None = None, **parameters: Any
    ) -> Self:
        """Return the model of data known only by a covariance or correlation matrix.

        Parameters
        ----------
        C : array of shape (p, p)
            Covariance matrix, dividing by n - 1; or correlations.
        mean : array of shape (p,) or None
            Column means; None takes zeros, for data that were centred.
        n_samples : int or None
            Number of rows behind them. Without it there are no likelihood and no test.
        **parameters
            As for `FactorAnalysis`; `memory`, `time` and `device` have no effect.
        """
        model = cls(**parameters)
        model._check_parameters()
        known = given_correlations(C, mean, n_samples, model._refuse_constant)
        p = len(known.scale)
        k = model._asked((p if n_samples is None else n_samples, p))
        spectrum, found = model._likeliest(known, k, Exact())
        state = model._scale(spectrum, found, UnseenRows((n_samples or 0, p)))
        own = {"n_samples_": n_samples, "n_features_in_": p, "plan_": None}
        model.__dict__.update(state | own)
        return model

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: scores are float64."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def _refuse_sizes(units: Array) -> None:
    """Refuse columns whose variances leave the range of float64 by far."""
    if np.all((units > 1e-100) & (units < 1e100)):
        return
    at = int(np.argmax(np.abs(np.log(units))))
    raise InputError(
        "variances of these columns leave the range of float64",
        got=f"column {at}: standard deviation {units[at]:.3g}",
        fix="pass standardize=True, or other units",
    )


def _warn_unshared(alone: float, least: float) -> None:
    """Say that no factor has the least BIC."""
    warn(
        "columns share nothing beyond chance: the evidence is for no factor at all",
        got=f"BIC {alone:.6g} without factors, {least:.6g} with the best number of them",
        fix="do not read this factor; look at the correlations of the columns",
        category=DataWarning,
    )


def _costs(likelihood: float | None, known: Correlations, k: int) -> tuple[Any, Any]:
    """Return AIC and BIC: numbers fitted are loadings up to a rotation, noises and means."""
    if likelihood is None or known.total is None:
        return None, None
    p = len(known.scale)
    count = p * k - k * (k - 1) // 2 + 2 * p
    return 2 * count - 2 * likelihood, float(np.log(known.total)) * count - 2 * likelihood


def _identified(p: int) -> int:
    """Return the most factors that p columns can tell (Ledermann), one at least."""
    return max(1, int((2 * p + 1 - np.sqrt(8 * p + 1)) / 2))
