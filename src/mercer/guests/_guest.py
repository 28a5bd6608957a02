"""Guest: what all adapters to other libraries share. There is no certificate."""

import abc
import dataclasses
import logging
import warnings
from importlib import import_module
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, task
from mercer.errors import InputError, MissingExtraError
from mercer.estimators.linear.pca import PCA
from mercer.estimators.manifold._embedding import Embedding
from mercer.estimators.walk._parameters import Attributes, learned
from mercer.estimators.walk._spectral_estimator import planned
from mercer.planning import Path, Plan, Problem
from mercer.solvers import Exact
from mercer.sources import Source

_log = logging.getLogger("mercer")
_ITEM = 8
# What a host has made of a fit, while this process lives: no part of the model.
_MADE: "WeakKeyDictionary[Guest, Any]" = WeakKeyDictionary()


class Guest(Embedding):
    """Abstract: rows go to another library, and places of rows come back.

    A subclass names the library and the extra, says what a fit costs, and runs it from a
    start. The host's own objects are no part of a model: what is saved is the rows, the
    parameters and the places, from which the host is made again when new rows come.
    """

    _module: ClassVar[str]
    _extra: ClassVar[str]
    _called: ClassVar[str]  # what the host is called where people read
    _rate: ClassVar[tuple[float, float]]  # seconds of a fit, and of a row of it
    reading: ClassVar[str] = (
        "Neighbours may be read from this map. Distances between groups, their sizes and "
        "their densities may not. There is no certificate."
    )
    _needs_dense = True
    n_components: int | None
    memory: Any
    random_state: Any
    tol: float | None = None
    time: float | None = None
    device: str | None = None

    @abc.abstractmethod
    def _run(self, library: Any, rows: Array, start: Array | None) -> tuple[Array, Any]:
        """Return the places (n, k) and what the host needs for new rows."""

    @abc.abstractmethod
    def _place(self, library: Any, made: Any, rows: Array) -> Array:
        """Return the places (m, k) of new rows."""

    def _again(self, library: Any) -> Any:
        """Return what the host needs for new rows, made again by the same fit."""
        _log.info("%s is fitted again: its state is no part of a model file", self._called)
        found, made = self._run(library, self._rows, self._start)
        if not np.array_equal(found, self.embedding_):
            raise InputError(
                f"{self._called} gives another map of these rows here than when it was saved",
                got=f"{self._module} {getattr(library, '__version__', '')}".rstrip(),
                fix="fit the rows again, or load the model where it was fitted",
            )
        return made

    # -- the walk -----------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override] # no weights
        """Fit to the rows of X; a failed call changes nothing.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Training rows, which the model keeps.
        y : None
            Ignored; there for pipelines.
        """
        blank = clone(self)
        self._publish(blank, X, y)
        _MADE[self] = _MADE.pop(blank)
        return self

    def _library(self) -> Any:
        """Return the library, or say which extra brings it."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return import_module(self._module)
        except ImportError:
            raise MissingExtraError(
                f"{type(self).__name__} is made by {self._called}, which is not installed",
                got=f"no module named {self._module}",
                fix=f"pip install 'mercer[{self._extra}]'",
            ) from None

    def _width(self, p: int) -> int:
        return p if self.n_components is None else int(self.n_components)

    def _problem(self, source: Source, weights: Array | None = None) -> Problem:
        few = max(1, min(self._width(source.shape[1]), *source.shape))
        return self._problem_of(source, source.shape, few)

    def _settle_plan(self, made: Plan) -> Plan:
        """Return the plan of a host: what will run, and about how long."""
        n, p = made.problem.rows, made.problem.cols
        fixed, each = self._rate
        seconds = fixed + each * n * (1 + p / 500)
        held = int(_ITEM * n * (2.0 * p + 200))
        note = f"{self._called}, seconds are a guess; no certificate"
        path = Path(self._extra, Exact(), 1, held, seconds * 1e9, seconds, "bound", _ITEM, note)
        return dataclasses.replace(made, chosen=path, rejected=())

    def _fitted(self, source: Source, weights: Array | None) -> Attributes:
        made = self._settle_plan(planned(self._problem(source, weights)))
        _log.info("%s", made)
        library, rows = self._library(), np.array(source.array, np.float64, order="C")
        start = self._begun(rows)
        found, host = self._ran(library, rows, start)
        _MADE[self] = host
        kept = learned(self)
        return kept | {
            "plan_": made,
            "embedding_": found,
            "certificate_": None,
            "explained_variance_ratio_": None,
            "n_components_": found.shape[1],
            "n_samples_": len(rows),
            "_rows": rows,
            "_start": start,
        }

    def _ran(self, library: Any, rows: Array, start: Array | None) -> tuple[Array, Any]:
        with task(self._called), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the host, about its own parameters
            found, host = self._run(library, rows, start)
        return np.array(found, np.float64), host

    def _begun(self, rows: Array) -> Array | None:
        """Return the places (n, k) that a fit starts from."""
        start, k = getattr(self, "start", None), self._width(rows.shape[1])
        if start is None:
            return None
        if isinstance(start, str):
            few = min(k, *rows.shape)
            places = PCA(few, random_state=0).fit_transform(rows)
            places = np.pad(places, ((0, 0), (0, k - few)))
        elif isinstance(start, BaseEstimator):
            places = np.asarray(clone(start).fit_transform(rows), np.float64)
        else:
            places = np.asarray(start, np.float64)
        if places.shape != (len(rows), k) or not np.isfinite(places).all():
            raise InputError(
                "a map starts from one place for each row, all of them finite",
                got=f"places of shape {places.shape}, {len(rows):,} rows, {k} coordinates",
                fix='pass start="pca", a map of so many axes, or an array (n, k)',
            )
        return np.ascontiguousarray(places - places.mean(axis=0))

    def _solve(self, source: Any, path: Any, weights: Any) -> Any:
        raise NotImplementedError

    def _scale(self, spectrum: Any, found: Any, source: Any) -> Attributes:
        raise NotImplementedError

    def _kept_rows(self) -> Array:
        """Return the rows (n, p) of the fit."""
        found: Array = self._rows
        return found

    def _made_now(self) -> Any:
        """Return what the host has just made."""
        return _MADE[self]

    # -- new rows -----------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Return places (m, k) of new rows among those of the fit, which stay where they are.

        Rows of the fit come out near their places, not at them; `embedding_` has these.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            New rows.
        """
        check_is_fitted(self, "embedding_")
        return self._project(self._admit(X, reset=False))

    def _project(self, source: Source) -> Array:
        library, rows = self._library(), np.array(source.array, np.float64, order="C")
        with task(self._called), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self not in _MADE:
                _MADE[self] = self._again(library)
            return np.array(self._place(library, _MADE[self], rows), np.float64)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: dense rows; places are float64."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.sparse = False
        return tags


def seed_of_host(seed: int) -> int:
    """Return a seed that every host takes."""
    return int(seed) % (2**31 - 1)
