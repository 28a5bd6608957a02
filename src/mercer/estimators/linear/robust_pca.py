"""Principal component analysis that outlying rows cannot turn."""

import dataclasses
import logging
from numbers import Real
from os import PathLike
from typing import Any, ClassVar, Never, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mercer import planning
from mercer.arrays import Array
from mercer.errors import AccuracyWarning, InputError, NotSupportedError, in_short, warn
from mercer.estimators.linear import _robust_rounds as robust
from mercer.estimators.linear._pca_recipe import root_feature_weight
from mercer.estimators.linear.pca import PCA
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.estimators.walk._checkpoint import Checkpoint
from mercer.estimators.walk._parameters import (
    COUNT_OR_SHARE,
    Attributes,
    Constraints,
    Seed,
    check_fitted,
    learned,
)
from mercer.estimators.walk._spectral_estimator import SpectralEstimator, counted_shape
from mercer.operators import RowsAboutOrigin, SpatialSigns, block_length, in_levels
from mercer.planning import LIBRARIES, Problem
from mercer.sources import BlockSource, Source, SpreadSource

_log = logging.getLogger("mercer")
_ROW = 128.0  # bytes that distances, weights and their orders take of a row
_COORDINATES = 24.0  # parts of the memory that coordinates of all rows may take
_NAMED = 10  # outlying rows that a log line names
_DISPUTED, _SOME = 0.01, 3.0  # share of rows, and rows, that may change sides unsaid


class RobustPCA(PCA):
    r"""PCA of the bulk of the rows; rows that lie apart are named and do not count.

    ``"spherical"`` takes the leading eigenvectors of Σw uuᵀ, u = (x - m)/‖x - m‖ about the
    spatial median m [Locantore1999]_: one row in n moves that matrix by 1/n at most.
    ``"reweighted"`` begins there, with the closer half of the rows, and repeats plain PCA of
    the rows that are close to its axes (orthogonal distance) and to each other along them
    (score distance), until no row changes sides [Hubert2005]_. Up to 40 % of the rows may be
    wrong where they lie far off; where they are one tight cluster 6 to 12 deviations away, a
    quarter. On clean normal data it loses few per cent of accuracy.

    Parameters
    ----------
    n_components : int, float in (0, 1) or None
        Number of axes; or the share of the robust variance they must explain; None keeps
        min(n, p), and rows are judged by the axes that explain 80 %, ten at most.
    method : "reweighted" or "spherical"
        Repeat plain PCA of the rows that lie close, or let directions alone count.
    level : float in (0.5, 1)
        Share of clean normal rows that stays below each of the two cut-offs.
    standardize : bool
        Divide each column by a robust deviation: 1.4826·MAD, then that of the rows that count.
    whiten, feature_weight, tol, memory, time, device, random_state
        As for `PCA`; `tol` and `time` hold for each solve.

    Attributes
    ----------
    components_, mean_, scale_, rank_, n_components_, n_samples_, n_features_in_, plan_
        As for `PCA`. The mean of ``"spherical"`` is the spatial median.
    explained_variance_ : ndarray of shape (k,)
        Reweighted: variances of the rows that count, times `consistency_`. Spherical: squares
        of 1.4826·MAD of the coordinates; eigenvalues of signs are no variances.
    explained_variance_ratio_ : ndarray of shape (k,)
        Divided by the robust total: these, and the robust mean of the squared distance from
        the axes.
    noise_variance_ : float
        What is left of that total, per axis left out.
    weights_ : ndarray of shape (n,)
        1 for rows that counted in the last fit, 0 for the others.
    outliers_ : ndarray of int
        Numbers of the rows beyond one of the cut-offs, ascending. They are those that did not
        count, but for rows that change sides to the end; more than 1 % of such, and more than
        three, are warned of.
    score_distance_, orthogonal_distance_ : ndarray of shape (n,)
        √Σ z_j²/λ_j over the axes that judge, and the distance from them.
    score_cutoff_, orthogonal_cutoff_ : float
        Root of the χ² quantile; quantile of d^⅔ taken as normal. For rows of the fit.
    new_score_cutoff_, new_orthogonal_cutoff_ : float
        The same for new rows, from clean rows left out in turn: `is_outlier` asks these.
    consistency_ : float
        What cutting off takes from the variances of normal rows, and rows at one point where
        they are more than half; 1 for ``"spherical"``.
    n_judging_ : int
        Axes that judge the rows: at most a tenth as many as there are rows; with a whole
        number of components a quarter.
    n_iter_ : int
        Rounds of reweighting; 0 for ``"spherical"``.
    certificate_ : Certificate
        Of the matrix that was solved last, and of nothing else: the covariance of the rows
        that count, before `consistency_`; or the covariance of the signs, whose eigenvalues
        sum to one and whose order may differ. It says nothing of which rows are outlying.

    Notes
    -----
    Cost: the rows are read 25 to 45 times, and up to 27 times more to standardise; `plan_`
    prices the last solve only. Beside what PCA takes, a few numbers per row are kept. Rows
    that can be read once only are refused.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RobustPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3)) * [5, 1, 1]
    >>> X[:10] = [0, 0, 60]
    >>> model = RobustPCA(1).fit(X)
    >>> model.outliers_[:10]
    array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    >>> bool(abs(model.components_[0, 0]) > 0.99)
    True
    """

    _takes_batches = False
    _parameter_constraints: ClassVar[Constraints] = {
        **{
            name: rule
            for name, rule in PCA._parameter_constraints.items()
            if name not in ("forget", "missing", "sign")
        },
        "n_components": [*COUNT_OR_SHARE, None],
        "method": [StrOptions({"reweighted", "spherical"})],
        "level": [Interval(Real, 0.5, 1, closed="neither")],
    }

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        method: str = "reweighted",
        level: float = 0.99,
        standardize: bool = False,
        whiten: bool | str = False,
        feature_weight: Array | None = None,
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.level = level
        self.standardize = standardize
        self.whiten = whiten
        self.feature_weight = feature_weight
        SpectralEstimator.__init__(self, tol, memory, time, device, random_state)

    def fit(
        self,
        X: object,
        y: object = None,
        *,
        sample_weight: Array | None = None,
        groups: Any = None,
        checkpoint: str | PathLike[str] | Checkpoint | None = None,
    ) -> Self:
        """Fit the model to X.

        Parameters
        ----------
        X : array, sparse matrix, frame, path or source
            Training rows, of shape (n_samples, n_features), which can be read many times.
            They are never written to and never copied whole; sparse rows are made dense a
            few at a time.
        y : None
            Ignored; there for pipelines.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts: weight 2 is the same as the row standing twice.
        groups : None
            Rows are judged one by one; anything else is refused.
        checkpoint : None
            Rounds of reweighting are not kept; anything else is refused.

        Returns
        -------
        self
        """
        if checkpoint is not None:
            raise NotSupportedError(
                "rounds of reweighting are not kept in a checkpoint",
                got=f"checkpoint={checkpoint!r}",
                fix="leave it out, or use PCA",
            )
        if groups is not None:
            raise NotSupportedError(
                "rows are judged one by one, not by groups",
                got=f"groups of type {type(groups).__name__}",
                fix="leave them out, or use PCA",
            )
        return super().fit(X, y, sample_weight=sample_weight)

    def _fitted(self, source: Source, weights: Array | None) -> Attributes:
        """Return the fitted attributes; nothing is published before all is well."""
        _refuse_parts(source)
        self._refuse_once(source)
        planning.plan(self._problem(source, weights))  # refused before a row is looked at
        refuse_bad_cells(source, self._names)
        state, powers = in_levels(source, lambda rows: self._robust(rows, weights))
        if powers is not None:
            state["_centring"] = state["_centring"].unlevelled(powers)
            state |= {"mean_": state["_centring"].mean, "scale_": state["_centring"].scale}
        _tell(state["outliers_"], source.shape[0])
        return state

    def _robust(self, source: Source, weights: Array | None) -> Attributes:
        shape = counted_shape(source, weights)
        most = self._most_components(shape)
        looked, judging = robust.axes_wanted(self.n_components, shape)
        level, room = float(self.level), self._coordinate_bytes()
        table = robust.RobustTable(source, weights, level, self._block_bytes(source), room)
        spherical = self.method == "spherical"
        if spherical and not isinstance(self.n_components, float):
            looked = most
        solver, root = self._solver(looked, plain=True), self._root(shape[1])
        begun = robust.sphere(table, solver, bool(self.standardize), root, warns=spherical)
        judging = robust.axes_that_judge(begun, self.n_components, judging)
        if spherical:
            found = self._from_sphere(begun, judging)
        else:
            found = self._from_rounds(begun, judging)
        return learned(self) | found

    def _coordinate_bytes(self) -> float:
        """Return what coordinates may take whose medians are looked for."""
        return max(self._budget() - LIBRARIES, 0) / _COORDINATES

    def _problem(self, source: Source, weights: Array | None = None) -> Problem:
        problem = super()._problem(source, weights)
        return dataclasses.replace(problem, held=problem.held + self._beside(source))

    def _beside(self, source: Source) -> float:
        """Return the bytes that rounds take beside a PCA: numbers of rows, and blocks."""
        n, p = source.shape
        axes, _ = robust.axes_wanted(self.n_components, (n, p))
        few = min(axes, max(1.0, self._coordinate_bytes() // (32.0 * n)))
        read = 0.0
        if isinstance(source, BlockSource):  # signs are read ahead of rows that are read ahead
            read = source.reading_bytes(block_length(source, self._block_bytes(source)))
        walks = robust.walk_bytes(n, p, bool(self.standardize))
        return _ROW * n + 32.0 * n * few + walks + read + robust.sign_bytes(n, p)

    def _from_sphere(self, begun: robust.Sphere, judging: int) -> Attributes:
        table = begun.table
        k = self._kept(begun) if isinstance(self.n_components, float) else len(begun.deviation)
        root = self._root(table.source.shape[1])
        state = robust.of_sphere(begun, k, root, bool(self.standardize), self.whiten)
        judging = min(judging, state["rank_"])
        judged = table.judge_by(state, judging)
        clean = table.clean(judged)
        return robust.judged_state(table, state, judged, clean, judging)

    def _from_rounds(self, begun: robust.Sphere, judging: int) -> Attributes:
        table = begun.table
        ended = robust.reweighted(begun, judging, self._solver(judging))
        weights = table.counts * ended.clean
        k = self._kept(begun)
        self._refuse_more(weights, k)
        state = self._solver(k)._fitted(table.source, weights)
        judging = min(judging, state["rank_"])
        state, judged = robust.of_rounds(
            table, state, ended.clean, judging, bool(self.standardize)
        )
        state["n_iter_"] = ended.rounds
        sides = (judged.beyond == ended.clean) @ table.counts
        _warn_unsettled(float(sides), float(np.sum(table.counts)), ended.rounds)
        return robust.judged_state(table, state, judged, ended.clean, judging)

    def _root(self, p: int) -> Array | None:
        return root_feature_weight(self.feature_weight, p)

    def _kept(self, begun: robust.Sphere) -> Any:
        """Return n_components, a share as a number of axes."""
        if not isinstance(self.n_components, float):
            return self.n_components
        return begun.axes_for(self.n_components, len(begun.deviation))

    def _solver(self, k: Any, *, plain: bool = False) -> PCA:
        """Return the PCA of one round; `plain`: of the signs, which need no more scaling."""
        names = ["tol", "memory", "time", "device", "random_state"]
        names += [] if plain else ["standardize", "whiten", "feature_weight"]
        found = _Round(k, **{name: getattr(self, name) for name in names})
        found.rounds = self
        return found

    def _refuse_once(self, source: Source) -> None:
        if source.max_passes < np.inf:
            raise InputError(
                "robust axes need rows that can be read many times",
                got=f"{getattr(source, 'label', 'a stream')}, read {source.max_passes:g} times"
                " at most",
                fix="write the rows to a file, or pass a function that makes the iterator",
            )

    def _refuse_more(self, weights: Array, k: Any) -> None:
        clean = int(np.sum(weights) * (1 + 1e-12))
        if k is not None and k > clean:
            raise InputError(
                "fewer rows count than components are asked for",
                got=f"n_components={k}, {clean} of {len(weights)} rows are not outlying",
                fix=f"ask for at most {clean} components, or a larger `level`",
            )

    # -- new rows ---------------------------------------------------------------------

    def distances(self, X: object) -> tuple[Array, Array]:
        """Return score and orthogonal distances (n,) of rows, as found at fit.

        Parameters
        ----------
        X : array, sparse matrix, frame, path, source or iterator of blocks
            Rows; they are read once.
        """
        check_fitted(self)
        source = self._admit(X, reset=False)
        _refuse_parts(source)
        found, k = self._axes_found(), self.n_judging_
        centring = found.centring
        origin = np.asarray(centring.origin, np.float64)
        rows = RowsAboutOrigin(source, origin, centring.exponent, self._block_bytes(source))
        axes = np.asarray(found.components[:k], np.float64).T
        score, orthogonal = rows.distances(centring, axes, found.unit_deviations[:k])
        bad = np.flatnonzero(~np.isfinite(orthogonal))
        if bad.size:
            self._refuse_row(source, int(bad[0]))
        return score, np.ldexp(orthogonal, centring.unit)

    def _refuse_row(self, source: Source, row: int) -> None:
        """Name the cell of a row that has no distance; a stream is gone, and its row named."""
        if source.max_passes == np.inf:
            refuse_bad_cells(source, self._names)
        raise InputError(
            "every cell must be a finite number",
            got=f"NaN or infinity in row {row} of {getattr(source, 'label', 'the rows')}",
            fix="drop or impute such rows or columns first",
        )

    def is_outlier(self, X: object) -> Array:
        """Tell which rows (n,) are beyond one of the cut-offs of new rows.

        Of clean normal rows that were not fitted 1 - `level` are beyond each. Rows of the fit
        have cut-offs of their own, see `outliers_`.

        Parameters
        ----------
        X : array, sparse matrix, frame, path, source or iterator of blocks
            Rows; they are read once.
        """
        score, orthogonal = self.distances(X)
        return np.asarray(
            (score > self.new_score_cutoff_) | (orthogonal > self.new_orthogonal_cutoff_)
        )

    @classmethod
    def from_covariance(cls, *_: Any, **__: Any) -> Never:
        """Refused: a covariance does not tell which rows are outlying."""
        raise NotSupportedError(
            "robust axes need the rows themselves",
            got="a covariance matrix",
            fix="pass the rows to fit, or use PCA.from_covariance",
        )


class _Round(PCA):
    """PCA of one round, which has what the rounds keep in memory beside it."""

    rounds: RobustPCA

    def _block_bytes(self, source: Source) -> float:
        return min(super()._block_bytes(source), robust.BLOCK)

    def _problem(self, source: Source, weights: Array | None = None) -> Problem:
        problem, beside = super()._problem(source, weights), 0.0
        if isinstance(source, SpatialSigns):  # their own blocks are priced already
            source = source.rows.source
            beside = -robust.sign_bytes(*source.shape)
        beside += self.rounds._beside(source)
        return dataclasses.replace(problem, held=problem.held + beside)

    def _fitted(self, source: Source, weights: Array | None) -> Attributes:
        found = super()._fitted(source, weights)
        return {name: value for name, value in found.items() if name != "rounds"}


def _refuse_parts(source: Source) -> None:
    if isinstance(source, SpreadSource):
        raise NotSupportedError(
            "rows in parts are not judged: medians need all of them",
            got=source.label,
            fix="write them to a file, and pass its path; or compute them first",
        )


def _warn_unsettled(rows: float, total: float, rounds: int) -> None:
    """Warn where many rows counted and are named all the same, or the other way round."""
    if rows > max(_DISPUTED * total, _SOME):
        warn(
            "rows still change sides: some that counted are named, others neither",
            got=f"{rows:,.0f} of {total:,.0f} rows after {rounds} rounds",
            fix="look at score_distance_ and orthogonal_distance_; try another number of axes,"
            " or leave out columns most of whose cells are equal",
            category=AccuracyWarning,
        )


def _tell(outliers: Array, n: int) -> None:
    """Name the outlying rows in the log."""
    shown = in_short(outliers, _NAMED)
    _log.info("robust: %d of %d rows are outlying: %s", len(outliers), n, shown)
