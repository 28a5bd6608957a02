"""The walk every method takes: describe, plan, build an operator, solve, scale, project.

A plan with default rates; where much time is at stake, again with measured ones.
"""

import abc
import dataclasses
import logging
import os
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils import Tags
from sklearn.utils._set_output import ADAPTERS_MANAGER, _get_output_config
from sklearn.utils.validation import check_is_fitted

from mercer import planning
from mercer.arrays import Array, at_most, available_bytes, parse_bytes, rates, thread_count
from mercer.errors import AccuracyWarning, InputError, NotSupportedError, warn
from mercer.estimators.walk._admission import admit, held_rows
from mercer.estimators.walk._callbacks import CallbackSupportMixin, followed
from mercer.estimators.walk._parameters import (
    Attributes,
    Explaining,
    Seed,
    as_numbers,
    blank_of,
    check_fitted,
    check_parameters,
    learned,
    names_of,
    no_numbers,
    publish,
    seed_of,
    set_by_name,
)
from mercer.estimators.walk._showing import is_fitted, summary
from mercer.planning import Machine, Path, PathEndedError, Plan, Problem
from mercer.solvers import Outcome, Spectrum
from mercer.sources import Source, SpreadSource, is_spread, refuse_sum, sum_of
from mercer.store import kept_rates

_LONG = 5.0  # seconds of a forecast above which the machine is measured first
_SHARE = 0.2  # of `time`, likewise
_WORTH = 5.0  # seconds allowed below which the self-test would be much of them
_SPACE, _EACH = 80e6, 8e6  # bytes that the self-test takes for a moment, in all and per thread


def planned(problem: Problem) -> Plan:
    """Return the plan of a fit; only a long one is worth the second of the self-test.

    Rates that the user has had measured (`mercer doctor --measure`) go for every plan.
    """
    known = None if problem.machine is not None else kept_rates(problem.threads)
    if known is not None:
        problem = dataclasses.replace(problem, machine=Machine.of(known))
    made = planning.plan(problem)
    if not _at_stake(made):
        return made
    machine = Machine.of(rates(problem.threads))
    return planning.plan(dataclasses.replace(problem, machine=machine))


def _at_stake(made: Plan) -> bool:
    problem, seconds = made.problem, made.chosen.seconds
    if problem.machine is not None or problem.memory < _SPACE + _EACH * problem.threads:
        return False
    if problem.time is None or problem.time < _WORTH:
        return seconds > _LONG
    return seconds > min(_LONG, _SHARE * problem.time)


_log = logging.getLogger("mercer")
_FIX = "see certificate_; ask for fewer components, a larger `tol`, or more `memory` or `time`"
_FIXES = {
    Outcome.LANDMARKS: "see certificate_; take more landmarks, or call refine(X): exact passes",
    Outcome.ONE_PASS: "see certificate_; ask for more components, or allow more `memory`",
}
_FREE_SHARE = 0.8  # of the free memory may be taken unless `memory` says otherwise


class SpectralEstimator(
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    metaclass=Explaining,
):
    """Abstract: a method is its problem, its operator, its scaling and its projection.

    `fit` works on a blank clone and publishes the result in one update, so that a failed or
    interrupted call changes nothing.
    """

    n_components_: int
    set_params = set_by_name
    _usual_tol: float | None = None  # where `tol` is None; None: by the precision of the data

    def __init__(
        self,
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.tol = tol
        self.memory = memory
        self.time = time
        self.device = device
        self.random_state = random_state

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return names_of(cls, super()._get_param_names)

    def __sklearn_clone__(self) -> Self:
        """Return what scikit-learn's `clone` makes, at a tenth of its cost."""
        return blank_of(self)

    @abc.abstractmethod
    def _problem(self, source: Source, weights: Array | None = None) -> Problem:
        """Return what the planner may know."""

    @abc.abstractmethod
    def _solve(self, source: Source, path: Path, weights: Array | None) -> tuple[Spectrum, Any]:
        """Build the operator of one path and return its leading pairs and the centring."""

    @abc.abstractmethod
    def _scale(self, spectrum: Spectrum, found: Any, source: Source) -> Attributes:
        """Return the fitted attributes of the method."""

    @abc.abstractmethod
    def _project(self, source: Source) -> Any:
        """Return the coordinates of the rows of `source`."""

    def fit(self, X: object, y: object = None, *, sample_weight: Array | None = None) -> Self:
        """Fit the model to X.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Training rows. They are read, never written to, and never copied whole.
        y : None
            Ignored; there for pipelines.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts: weight 2 is the same as the row standing twice.

        Returns
        -------
        self
        """
        return self._publish(clone(self), X, y, sample_weight)

    def _publish(
        self, blank: Self, X: object, y: object = None, sample_weight: Array | None = None
    ) -> Self:
        """Fit a blank clone and take over what it has found."""
        blank._check_parameters()
        source = blank._admit(X, reset=True)
        weights = counts_of(sample_weight, source)
        if getattr(self, "_skl_callbacks", None):
            fitted = followed(self, X, y, lambda: blank._fitted(source, weights))
        else:
            fitted = blank._fitted(source, weights)
        publish(self, fitted)
        return self

    def _admit(self, X: object, *, reset: bool) -> Source:
        """Return the source of X, checked."""
        return admit(self, held_rows(X), reset=reset)

    def _to_plan(self, source: Source) -> Source:
        """Return rows as they are when the plan of a fit is made; methods may fill cells."""
        return source

    def _fitted(self, source: Source, weights: Array | None) -> Attributes:
        """Return the fitted attributes; nothing is published before all is well."""
        made = self._settle_plan(planned(self._problem(source, weights)))
        _log.info("%s", made)
        spectrum, found = self._walk(self._operator(source, weights), made, weights)
        state = learned(self)
        state |= {"plan_": made, **self._scale(spectrum, found, source)}
        self._warn(spectrum)  # before anything is published: a warning may be an error
        return state

    def _operator(self, source: Any, weights: Array | None) -> Any:
        """Return what all paths are solved on: the rows, unless a method builds its matrix."""
        return source

    def _settle_plan(self, made: Plan) -> Plan:
        """Return the plan as this estimator follows it."""
        return made

    def _walk(self, source: Any, made: Plan, weights: Array | None) -> tuple[Spectrum, Any]:
        """Follow the plan: the chosen path, then those behind it until `tol` is certified."""
        path = made.chosen
        while True:
            try:
                with at_most(path.threads):
                    spectrum, found = self._solve(source, path, weights)
            except PathEndedError as reason:
                assert path.then is not None
                _log.info("%s: %s; next: %s", path.name, reason, path.then.name)
                path = path.then
                continue
            lost = self._unresolved(spectrum, found)
            if path.then is None or (spectrum.certificate.met and not lost):
                if lost and bool(getattr(found, "hidden", 0)):
                    _warn_lost(spectrum, found.hidden)
                return spectrum, found
            _log.info("%s: %s; next: %s", path.name, spectrum.outcome.value, path.then.name)
            source, path = self._handed_on(source, path, spectrum), path.then

    def _handed_on(self, source: Any, path: Path, spectrum: Spectrum) -> Any:
        """Return the rows as the path behind this one takes them."""
        return source

    def _unresolved(self, spectrum: Spectrum, found: Any) -> bool:
        """Tell whether an axis was called zero only because this path cannot see it."""
        return False

    def _warn(self, spectrum: Spectrum) -> None:
        certificate = spectrum.certificate
        if not certificate.met:
            missed = int(np.sum(~certificate.converged))
            warn(
                f"{missed} of {len(certificate.lower)} eigenvalues are not certified to"
                f" {certificate.tol:.0e}",
                got=f"{certificate.shortfall}; {spectrum.outcome.value}",
                fix=_FIXES.get(spectrum.outcome, _FIX),
                category=AccuracyWarning,
            )

    def fit_transform(self, X: object, y: object = None, **fit_params: Any) -> Any:
        """Fit to X and return its coordinates, the same as ``fit(X).transform(X)``."""
        return self.fit(X, y, **fit_params).transform(X)

    def transform(self, X: object) -> Any:
        """Return the coordinates of X, of shape (n_samples, n_components).

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New rows; the training mean and scale are applied to them.
        """
        check_is_fitted(self)
        return self._project(self._admit(X, reset=False))

    def report(
        self, X: object = None, path: str | os.PathLike[str] | None = None, **options: Any
    ) -> Any:
        """Return one self-contained HTML page about this fit, written to `path` if given.

        Parameters
        ----------
        X : array, frame, path or source of shape (n_samples, n_features), or None
            The rows of the fit. Without them the page has no map and says so.
        path : path or None
            File to write, with a name that ends in .html; an older one is replaced.
        **options
            title, row_names, colours, choice and others of `mercer.report.report`.

        Returns
        -------
        Report
            With ``save(path)``; a notebook shows it.
        """
        from mercer.report import report

        check_fitted(self)
        made = report(self, X, **options)
        if path is not None:
            made.save(path)
        return made

    def _repr_html_inner(self) -> str:
        """Return what `_repr_html_` returns; scikit-learn hides it where `display` is text."""
        if not is_fitted(self):
            return str(super()._repr_html_inner())

        return summary(self)

    def _repr_mimebundle_(self, **kwargs: object) -> Attributes:
        """Return text, and HTML where scikit-learn's `display` option wants diagrams."""
        if not is_fitted(self):
            return dict(super()._repr_mimebundle_(**kwargs))
        html = {"text/html": self._repr_html_inner()} if hasattr(self, "_repr_html_") else {}
        return {"text/plain": repr(self), **html}

    def set_output(self, *, transform: str | None = None) -> Self:
        """Say what `transform` and `fit_transform` return.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None
            Arrays, or frames of a library; None changes nothing.
        """
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: sparse input is taken, float32 is kept."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        check_parameters(self)
        if self.device not in (None, "cpu"):
            raise NotSupportedError(
                "only the CPU is supported so far",
                got=f"device={self.device!r}",
                fix='pass device=None or device="cpu"',
            )

    def _tolerance(self, source: Source) -> float:
        """Return `tol`, or what the precision of the data allows."""
        tol = self._usual_tol if self.tol is None else self.tol
        if tol is not None:
            return float(tol)
        return 1e-5 if source.products.itemsize == 4 else 1e-6

    def _budget(self) -> int:
        """Return the bytes that may be taken."""
        if self.memory is None:
            return int(_FREE_SHARE * available_bytes())
        return parse_bytes(self.memory)

    @property
    def _names(self) -> Array | None:
        """Names of the columns (p,), or None."""
        return vars(self).get("feature_names_in_")

    def _seed(self) -> int:
        """Return a whole number from `random_state`; None and generators are drawn from."""
        return seed_of(self.random_state)

    def _allowed(self) -> tuple[str, ...] | None:
        """Return the paths to choose from, for faces that promise a certain one."""
        return None

    def _problem_of(
        self, source: Any, shape: tuple[int, int], components: int, **more: Any
    ) -> Problem:
        """Return the problem of a matrix of this shape, by what may be spent on it."""
        known = {"itemsize": 8, "tol": self._tolerance(source), **self._resources()}
        return Problem(*shape, components, **known | more)

    def _resources(self) -> Attributes:
        return {
            "memory": self._budget(),
            "time": self.time,
            "threads": thread_count(),
            "allowed": self._allowed(),
        }


def framed(model: SpectralEstimator, found: Array, given: object) -> Any:
    """Return coordinates (n, k) of rows in memory as `set_output` asks for them.

    scikit-learn puts this behind every `transform` of its own accord. A class whose
    `transform` may also return the path of a file, or a collection that must not be computed,
    says ``auto_wrap_output_keys=None`` and calls this where there is an array to frame.
    """
    kind = _get_output_config("transform", model)["dense"]
    if kind == "default":
        return found
    adapter = ADAPTERS_MANAGER.adapters[kind]
    return adapter.create_container(found, given, columns=model.get_feature_names_out)


def _warn_lost(spectrum: Spectrum, hidden: int) -> None:
    """Say that axes were called zero because sums of squares cannot see them."""
    certificate = spectrum.certificate
    values = np.asarray(spectrum.values[: len(certificate.lower)])
    lost = values <= certificate.zero_level
    warn(
        f"{int(np.sum(lost))} of {len(values)} axes are too small beside the first for sums of"
        " squares; they are left at zero",
        got=f"{hidden} columns with less than {certificate.zero_level / values[0]:.0e} of the"
        " variance of the first axis",
        fix="fit rows that can be read twice and with enough `memory`, or standardize=True",
        category=AccuracyWarning,
    )


def _row_count(source: Source, weights: Array) -> int:
    """Return n; where it is a forecast the weights are believed, and counted in the walk."""
    exact = weights is None or getattr(source, "counted", True)
    if exact:
        return source.shape[0]
    return len(weights) if np.ndim(weights) == 1 else 0


def counted_shape(source: Source, weights: Array | None) -> tuple[int, int]:
    """Return the shape with repeated rows counted as often as they stand.

    Before the rows of a file are counted, there are enough of them for every column.
    """
    n, p = source.shape
    if weights is not None and isinstance(source, SpreadSource):
        if source.weighed is None:
            return max(n, p), p
        return int(source.weighed * (1 + 1e-12)), p
    if weights is not None:
        return int(np.sum(weights) * (1 + 1e-12)), p
    return (n if getattr(source, "counted", True) else max(n, p), p)


def counts_of(weights: Array | None, source: Source) -> Array | None:
    """Return the repeat counts of the rows of a source, or None."""
    if isinstance(source, SpreadSource):
        here = source.counted and not is_spread(weights)
        return source.weights_of(repeat_counts(weights, source.shape[0]) if here else weights)
    return repeat_counts(weights, _row_count(source, weights))


def repeat_counts(weights: Array | None, n: int, *, few: bool = False) -> Array:
    """Return weights as float64 (n,), or None; their sum must exceed one unless `few`."""
    if weights is None:
        return None
    counts = as_numbers(weights)
    if counts is None:
        odd = no_numbers(weights)
        raise InputError(
            "weights must be numbers",
            got=f"no real number at row {odd[0][0] if odd else 0} of {type(weights).__name__}",
            fix="pass one number per row",
        )
    if np.ma.is_masked(weights):
        counts = np.where(weights.mask, np.nan, counts)
    if counts.shape != (n,) or (n == 0 and not few):  # 0: rows that nobody has counted
        rows = f", X with {n} rows" if n else ""
        raise InputError(
            "sample_weight must hold one number per row",
            got=f"sample_weight of shape {counts.shape}{rows}",
            fix=f"pass an array of shape ({n},)" if n else "pass one weight for every row",
        )
    bad = np.flatnonzero(~(np.isfinite(counts) & (counts >= 0)))
    if bad.size:
        raise InputError(
            "weights must be finite and not negative",
            got=f"{counts[bad[0]]} at row {bad[0]}",
            fix="use 0 to leave a row out",
        )
    refuse_sum(sum_of(counts)[0], f"{n} rows", few=few)
    return counts


def plan(
    estimator: SpectralEstimator, X: object, *, sample_weight: Array | None = None
) -> Plan:
    """Return the plan that ``estimator.fit(X)`` would follow, without fitting.

    As before a fit, the machine is measured for about a second, once, where the forecast
    with default rates is above five seconds or a fifth of `time`.

    Parameters
    ----------
    estimator : SpectralEstimator
        An unfitted or fitted estimator; it is not changed.
    X : array, sparse matrix or frame of shape (n_samples, n_features)
        The rows it would be fitted to.
    sample_weight : array of shape (n_samples,) or None
        The repeat counts it would be fitted with.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> mercer.plan(mercer.PCA(2), np.eye(8)).chosen.name
    'gram'
    """
    if not isinstance(estimator, SpectralEstimator):
        kind = estimator if isinstance(estimator, type) else type(estimator)
        raise InputError(
            "only estimators of mercer that make a plan can be planned",
            got=f"{'the class ' if kind is estimator else ''}"
            f"{kind.__module__}.{kind.__qualname__}",
            fix="pass one of these with its parameters, such as mercer.PCA(3)",
        )
    blank = clone(estimator)
    blank._check_parameters()
    source = blank._to_plan(blank._admit(X, reset=True))
    weights = counts_of(sample_weight, source)
    made: Plan = blank._settle_plan(planned(blank._problem(source, weights)))
    return made
