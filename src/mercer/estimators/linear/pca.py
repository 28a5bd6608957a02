"""Principal component analysis."""

import dataclasses
from collections.abc import Iterator
from copy import copy
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators import missing as gaps
from mercer.estimators.linear import _pca_choice as choosing
from mercer.estimators.linear import _pca_stream as streams
from mercer.estimators.linear._batches import Batches
from mercer.estimators.linear._pca_paths import refuse_constant, solve
from mercer.estimators.linear._pca_recipe import (
    Found,
    PCARecipe,
    asked_axes,
    root_feature_weight,
)
from mercer.estimators.linear._pca_stream import late, lock_of
from mercer.estimators.linear._principal_axes import PrincipalAxes, attributes
from mercer.estimators.linear._summed_rows import UnseenRows, as_moments, of_covariance
from mercer.estimators.walk import _rows_in_parts as spread
from mercer.estimators.walk import _streamed_rows as streamed
from mercer.estimators.walk._admission import (
    admit,
    admit_coordinates,
    held_rows,
    refuse_bad_cells,
)
from mercer.estimators.walk._checkpoint import Checkpoint
from mercer.estimators.walk._parameters import (
    COUNT_OR_SHARE,
    RESOURCES,
    Attributes,
    Constraints,
    Seed,
    check_fitted,
)
from mercer.estimators.walk._spectral_estimator import (
    SpectralEstimator,
    counted_shape,
    counts_of,
    framed,
    repeat_counts,
)
from mercer.operators import gram_flops, sparse_loading
from mercer.planning import Path, Plan, Problem
from mercer.selection import minka, share
from mercer.solvers import Certificate, Spectrum
from mercer.sources import ArrayBlocks, BlockSource, MissingCellError, Source, SpreadSource

_COLUMNS = ("n_features_in_", "feature_names_in_")  # what the first batch settles
# What a fit finds beside the attributes that end with an underscore.
_INNER = ("_centring", "_squares", "_whitened", "_deviations", "_unit_deviations", "_alive")


def _fills_cells(estimator: "PCA") -> bool:
    """Tell whether an estimator fills missing cells: missing="em" or "ppca"."""
    return bool(estimator.missing != "raise")


class PCA(SpectralEstimator, auto_wrap_output_keys=None):
    r"""Directions of largest variance: leading eigenpairs of C = X̃ᵀX̃/(n-1).

    X̃ is the centred (standardised, weighted) data, C = VΛVᵀ, and the coordinates are
    Z = X̃V. Right on data far from the origin and on tiny or huge scales; every fit says
    which path it took (`plan_`) and how accurate it is (`certificate_`).

    Parameters
    ----------
    n_components : int, float in (0, 1), "auto", "bic", "aic", "mle" or None
        Number of axes; or the share of variance they must explain; or those beyond noise
        (none is an answer, see `choice_`), or by the least BIC or AIC of probabilistic PCA;
        or Minka's estimate; None keeps min(n, p).
    standardize : bool
        Divide each column by its standard deviation.
    whiten : bool or "zca"
        True scales the coordinates to variance one; "zca" turns them back into the
        directions of the features. Axes without variance are set to zero, never divided.
    feature_weight : array of shape (n_features,) or None
        Positive weights: squared deviations of feature j count weight_j times.
    tol : float or None
        Largest certified relative error of an eigenvalue; None is
        1e-6, and 1e-5 for float32 data.
    memory : int, str or None
        Bytes that fit may take, as a number, "4GB" or "4GiB"; None is 80 % of what is free.
    time : float or None
        Seconds that may be spent; the plan says when that means missing `tol`.
    device : None or "cpu"
        Where to compute.
    random_state : int, RandomState, Generator or None
        Seed of the iterative path. The default makes results repeatable.
    forget : float in (0, 1) or None
        For `partial_fit` only: share of its weight that a row loses with every later row, so
        that a row t rows back counts (1 - forget)^t, whatever the batches. Σw replaces n.
        It is read when a stream begins; `fit` counts all rows alike.
    missing : {"raise", "em", "ppca"}
        What to do about missing cells (NaN): refuse them and say where they are; fill them by
        regularised iterative PCA; or take the likeliest Gaussian of the observed cells.
    sign : {"largest", "factominer"}
        Which way an axis points: its largest entry, or the sum of its entries, is positive.

    Attributes
    ----------
    components_ : ndarray of shape (k, p)
        Axes, rows of norm one, their signs by `sign`.
    explained_variance_ : ndarray of shape (k,)
        Eigenvalues λ, dividing by n - 1.
    explained_variance_ratio_ : ndarray of shape (k,)
        λ divided by the total variance of all features.
    inertia_ : ndarray of shape (k,)
        As FactoMineR, ade4: divided by n, λ(n - 1)/n; λ itself with ``standardize``.
    singular_values_ : ndarray of shape (k,)
        √((n - 1)λ).
    mean_ : ndarray of shape (p,)
        Column means, float64.
    scale_ : ndarray of shape (p,) or None
        What each column was divided by.
    noise_variance_ : float
        Mean of the min(n, p) - k variances left out.
    n_components_, n_samples_, n_features_in_, rank_ : int
        Axes kept, rows, columns, and kept axes with variance above rounding; the rows of
        `components_` beyond `rank_` are zero. After `partial_fit` also `n_samples_seen_`.
    choice_ : Choice or None
        For "auto", "bic" and "aic": the number, what other rules say, and the difference.
    plan_ : Plan
        The path taken and the others.
    certificate_ : Certificate
        Intervals that hold the eigenvalues, residuals, gaps, axes that cannot be told apart.
    n_missing_, missing_counts_, em_passes_, completion_
        Unless missing="raise": missing cells in all and per column (p,), passes that were
        made to fill them, and what fills those of new rows.

    Notes
    -----
    Cost: exact paths make one pass over the data and np² flops (np·n when n < p); the
    iterative path about eight passes of 4npb flops, b ≈ 10 + 0.6k. Extra memory is of the
    order of min(n, p)² or p·b, never a copy of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import PCA
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> pca = PCA(n_components=2).fit(X + 1e8)
    >>> pca.explained_variance_ratio_.round(4)
    array([0.9924, 0.0076])
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [*COUNT_OR_SHARE, StrOptions({"auto", "bic", "aic", "mle"}), None],
        "standardize": ["boolean"],
        "whiten": ["boolean", StrOptions({"zca"})],
        "feature_weight": ["array-like", None],
        **RESOURCES,
        "forget": [Interval(Real, 0, 1, closed="neither"), None],
        "missing": [StrOptions({"raise", "em", "ppca"})],
        "sign": [StrOptions({"largest", "factominer"})],
    }
    sign: str = "largest"  # of faces that do not have it, as the next one
    missing: str = "raise"
    # What a stream finds when it is looked at; see `partial_fit`.
    components_: Array = late()
    explained_variance_: Array = late()
    explained_variance_ratio_: Array = late()
    singular_values_: Array = late()
    mean_: Array = late()
    scale_: Array | None = late()
    noise_variance_: float = late()
    n_components_: int = late()
    n_samples_: int = late()
    rank_: int = late()
    certificate_: Certificate = late()
    choice_: Any = late()
    plan_: Plan = late()
    _centring: Any = late()
    _squares: Any = late()
    _whitened: Any = late()
    _deviations: Any = late()
    _unit_deviations: Any = late()
    _alive: Any = late()

    _stream: Batches | None = None
    _journal: Checkpoint | None = None  # of a fit that is under way
    _groups: Array | None = None  # of its rows
    _remark: str | None = None  # what was done about missing cells, once that is known
    _observed_share = 1.0  # of the cells of rows that have one, by their weights
    _takes_batches = True  # faces of other libraries may not
    _fills_by = "em"  # what a refusal of missing cells names
    _zero_where_empty = True  # coordinates of rows with nothing observed, in parts too

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        standardize: bool = False,
        whiten: bool | str = False,
        feature_weight: Array | None = None,
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Seed = 0,
        forget: float | None = None,
        missing: str = "raise",
        sign: str = "largest",
    ) -> None:
        self.n_components = n_components
        self.standardize = standardize
        self.whiten = whiten
        self.feature_weight = feature_weight
        super().__init__(tol, memory, time, device, random_state)
        self.forget = forget
        self.missing = missing
        self.sign = sign

    # -- fit --------------------------------------------------------------------------

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
        X : array, sparse matrix, frame, path, source or iterator of blocks
            Training rows, of shape (n_samples, n_features). Files and streams are read block
            by block, as `mercer.scan` opens them; arrays stay where they are. Rows are never
            written to and never copied whole.
        y : None
            Ignored; there for pipelines.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts: weight 2 is the same as the row standing twice.
        groups : array of shape (n_samples,) or None
            Which rows belong together, as those of one subject: "auto" counts them so.
        checkpoint : path, Checkpoint or None
            File in which the sums are kept on the way, every half minute. A fit of the same
            rows with the same parameters that was killed goes on from there, and gives the
            same bits. The file stays when the fit ends.

        Returns
        -------
        self
        """
        journal = None if checkpoint is None else Checkpoint.of(checkpoint)
        blank = clone(self)
        if journal is not None:
            blank._journal = journal
        if groups is not None:
            blank._groups = choosing.group_numbers(groups)
        return self._publish(blank, X, y, sample_weight)

    def _admit(self, X: object, *, reset: bool) -> Source:
        if type(X) is np.ndarray and self._journal is None:  # the plain way
            return admit(self, X, reset=reset)
        source = streamed.opened(self, X, reset=reset)
        if self._journal is not None and source.array is not None:
            source = ArrayBlocks(source, self._names)
        return source

    def _fitted(self, source: Source, weights: Array | None) -> Attributes:
        if self._journal is not None:
            size = self._block_bytes(source)
            streamed.begin(self._journal, self, source, weights, size)
        try:
            if self.missing == "raise":
                state = super()._fitted(source, weights)
            else:
                state = gaps.completed_fit(self, super()._fitted, source, weights)
        except MissingCellError as error:
            raise streamed.with_counts(source, error, self._names, self._missing_fix) from None
        state.pop("_journal", None)
        state.pop("_groups", None)
        state.pop("_remark", None)
        return state

    def _block_bytes(self, source: Source) -> float:
        """Return the size of a block in memory: 0 where the rows are held anyway."""
        return streamed.block_bytes(source, self._budget)

    # -- describe ---------------------------------------------------------------------

    def _problem(self, source: Source, weights: Array | None = None) -> Problem:
        p, stored = source.shape[1], source.nnz is not None
        reading: dict[str, Any] = {"held": sparse_loading(source)} if stored else {}
        if isinstance(source, BlockSource | SpreadSource):
            kept = self._journal is not None
            reading |= streamed.reading(source, self._block_bytes, kept=kept)
        if self.missing != "raise":
            block, held = (reading.get(name, 0.0) for name in ("block_bytes", "held"))
            before, filled = gaps.filling_bytes(self, source, block)
            reading |= {"before": held + before, "held": held + filled}
        return Problem(
            rows=counted_shape(source, None)[0],
            cols=p,
            components=self._most_components(counted_shape(source, weights)),
            itemsize=source.products.itemsize,
            nnz=source.nnz,
            gram_flops=gram_flops(source, weights is not None) if stored else None,
            tol=self._tolerance(source),
            compared=self.n_components == "auto" and choosing.compares_again(source),
            **reading,
            **self._resources(),
        )

    def _most_components(self, shape: tuple[int, int]) -> int:
        """Return how many pairs must be found before the number can be settled."""
        wanted = self.n_components
        if wanted == "auto":
            return choosing.looked_at(min(shape))
        if wanted == "mle":
            choosing.check_mle(*shape)
        return asked_axes(wanted, shape)

    def _settle_plan(self, made: Plan) -> Plan:
        if self.missing == "raise":
            return made
        note = gaps.to_come(self.missing) if self._remark is None else self._remark
        remark = "; ".join(filter(None, [made.remark, note]))
        return dataclasses.replace(made, remark=remark)

    # -- operator and pairs -----------------------------------------------------------

    def _solve(
        self, source: Source, path: Path, weights: Array | None
    ) -> tuple[Spectrum, Found]:
        recipe = self._recipe(
            source,
            components=self._most_components(counted_shape(source, weights)),
            seed=self._seed(),
            block_bytes=self._block_bytes(source) if source.array is None else 0.0,
            journal=self._journal,
            counts=self.n_components == "auto",
            groups=self._groups,
            whole=getattr(self, "_all_rules", False),
        )
        spectrum, found = solve(
            source, path, weights, recipe, lambda: refuse_bad_cells(source, self._names)
        )
        refuse_constant(found, source)
        k = self._settle(spectrum, found, counted_shape(source, weights))  # counted by now
        return dataclasses.replace(spectrum, certificate=spectrum.certificate.first(k)), found

    def _recipe(self, source: Source, **more: Any) -> PCARecipe:
        """Return what is asked of a path, in numbers."""
        return PCARecipe(
            tol=self._tolerance(source),
            standardize=bool(self.standardize),
            root_feature_weight=root_feature_weight(self.feature_weight, source.shape[1]),
            **more,
        )

    def _settle(self, spectrum: Spectrum, found: Found, shape: tuple[int, int]) -> int:
        """Return the number of components from the whole spectrum."""
        wanted = self.n_components
        if wanted in ("auto", "bic", "aic"):
            choice = choosing.choice_from(spectrum.values, found, shape, wanted)
            found.settled["choice_"] = choice
            return min(choice.k, len(spectrum.values))
        if wanted == "mle":
            choosing.check_mle(*shape)  # the rows of a file are counted only now
            return minka(spectrum.values / (found.total - 1), found.total)
        if isinstance(wanted, Real) and not isinstance(wanted, Integral):
            return share(spectrum.values, float(wanted))
        return self._most_components(shape)

    def _unresolved(self, spectrum: Spectrum, found: Found) -> bool:
        """An axis is zero for certain only beyond the rows and columns that vary."""
        k = min(len(spectrum.certificate.lower), found.possible_rank)
        return bool(np.any(spectrum.values[:k] <= spectrum.certificate.zero_level))

    # -- scale ------------------------------------------------------------------------

    def _scale(self, spectrum: Spectrum, found: Found, source: Source) -> Attributes:
        state = attributes(spectrum, found, source, self.whiten, self.sign)
        if state["choice_"] is not None:
            choosing.warn_of(state["choice_"], state["n_components_"])
        return state

    # -- missing cells ----------------------------------------------------------------

    @property
    def _missing_fix(self) -> str:
        """What to do about missing cells, where there is more to do than drop."""
        if "missing" not in self.get_params(deep=False):
            return ""
        how = f'pass missing="{self._fills_by}" at fit'
        return f"{how}, or drop or impute such rows or columns first"

    def _note(self, words: str) -> None:
        """Take what was done about missing cells into the remark of the plan."""
        self._remark = words

    def _filling_task(self, source: Source) -> "gaps.FillingTask":
        """Return what is asked of the completion of rows with missing cells."""
        recipe = self._recipe(source, components=1, seed=0)
        expected, given = self.missing == "ppca", self.tol is not None
        return gaps.FillingTask(self.n_components, recipe, expected, given=given)

    def _completed(self, source: Source) -> Source:
        """Return rows with their missing cells filled, where the model can do that."""
        completion = vars(self).get("completion_")
        if completion is None:
            return source
        return gaps.with_filled_cells(source, completion, self._names)

    @available_if(_fills_cells)  # type: ignore[untyped-decorator]
    def impute(self, X: object) -> Any:
        """Return X with its missing cells as the model expects them, given the others.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with NaN where a cell is missing. They are read, never written to. A row with
            nothing observed gets the means.

        Returns
        -------
        array, sparse matrix or frame of shape (n_samples, n_features)
            Of the kind and type that came in, but for sparse matrices, which come back as CSR,
            and numbers other than native float32 and float64, as float64. Cells that are there
            are not changed. In a frame only columns with missing cells are replaced.
        """
        gaps.check_completion(self)
        source = self._admit(held_rows(X), reset=False)
        return gaps.imputed(self.completion_, X, source, self._names)

    @available_if(_fills_cells)  # type: ignore[untyped-decorator]
    def score_error(self, X: object) -> Array:
        """Return the standard deviations (n, k) of the coordinates, given the model.

        A row that is complete has its coordinates for certain: 0. In another the missing
        cells m spread about what is expected of them with covariance S_m, and a coordinate
        Σ_j a_j x_j with variance a_mᵀS_m a_m. The axes themselves are taken as known; see
        `multiple_imputation` for what that leaves out.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with NaN where a cell is missing.
        """
        gaps.check_completion(self)
        source = self._admit(held_rows(X), reset=False)
        return gaps.score_errors(self, self._axes_found(), source)

    # -- project ----------------------------------------------------------------------

    def _axes_found(self) -> PrincipalAxes:
        """Return what the fit has found, as a value that no later fit changes."""
        return PrincipalAxes.of(self, self._names)

    def _project(self, source: Source) -> Array:
        return self._axes_found().projected(source)

    def _scores(self, source: Source) -> Array:
        """Return X̃V (n, k), not whitened."""
        return self._axes_found().scores(source)

    def transform(self, X: object, *, out: object = None) -> Any:
        """Return the coordinates of X, of shape (n_samples, n_components).

        Parameters
        ----------
        X : array, sparse matrix, frame, path, source or iterator of blocks
            New rows; the training mean and scale are applied to them.
        out : path or None
            File to which the coordinates are written block by block: .npy, .csv, .tsv or
            .parquet. It appears when it is complete, and its path is returned.

        Returns
        -------
        ndarray, or a Dask array that is not computed yet where X is one
        """
        self._refuse_few()
        if spread.in_parts(X):
            return spread.projected_parts(self, X, out)
        if out is not None:
            path = streamed.target_of(out, X)
            source = self._to_stream(X)
            streamed.target_of(out, source)
            columns = [str(name) for name in self.get_feature_names_out()]
            return streamed.written(self._projected(source), path, columns)
        return framed(self, self._coordinates(X), X)

    def _coordinates(self, X: object) -> Array:
        """Return the coordinates (n, k) of rows that do not lie in parts."""
        check_fitted(self)
        source = self._completed(self._admit(X, reset=False))
        if isinstance(source, BlockSource):
            width = self._n_features_out
            return streamed.gathered(source, self._projected(source), width, self._budget())
        try:
            return self._project(source)
        except MissingCellError as error:
            raise streamed.with_counts(source, error, self._names, self._missing_fix) from None

    def _projected(self, source: BlockSource) -> Iterator[Array]:
        """Yield the coordinates of every block, in order."""
        size = self._block_bytes(source)
        parts = streamed.projected(source, size, self._project, self._refuse_block)
        return parts if self.missing == "raise" else gaps.zero_where_empty(source, parts)

    def _refuse_block(self, source: BlockSource, block: Array, start: int) -> None:
        """Name the place in the file of the first cell that is not finite, if there is one."""
        streamed.refuse_block(source, block, start, self._names, self._missing_fix)

    def _streamed(self, X: object) -> Iterator[Array]:
        """Yield the coordinates of X block by block."""
        return self._projected(self._to_stream(X))

    def _to_stream(self, X: object) -> BlockSource:
        """Return the rows of X, which come block by block."""
        check_fitted(self)
        source = self._completed(self._admit(X, reset=False))
        if not isinstance(source, BlockSource):
            return ArrayBlocks(source, self._names)
        return source

    def fit_transform(self, X: object, y: object = None, **fit_params: Any) -> Any:
        """Fit to X and return its coordinates, the same as ``fit(X).transform(X)``."""
        X = streamed.refuse_second_walk(X)
        return self.fit(X, y, **fit_params).transform(X)

    def inverse_transform(self, X: object) -> Any:
        """Return the rows that have the coordinates X: X̂ = (ZVᵀ)∘scale + mean.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Coordinates, as `transform` returns them.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or a Dask array where X is one
        """
        check_fitted(self)
        if spread.in_parts(X):
            return spread.rows_from_parts(self, X, copy(self)._rows_from)
        return self._rows_from(held_rows(X))

    def _rows_from(self, X: object) -> Array:
        """Return the rows of coordinates in memory."""
        return self._axes_found().rows_from(admit_coordinates(X, self._n_features_out))

    @property
    def _n_features_out(self) -> int:
        return int(self.n_features_in_ if self._whitened == "zca" else self.n_components_)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return "pca0", "pca1", …; for ZCA whitening the names of the features themselves."""
        if getattr(self, "_whitened", False) == "zca":
            from sklearn.utils.validation import _check_feature_names_in

            return _check_feature_names_in(self, input_features)
        return super().get_feature_names_out(input_features)

    # -- the model of the rows ----------------------------------------------------------

    def get_covariance(self) -> Array:
        """Return the covariance S (p, p) of the model, in the units of the data."""
        check_fitted(self)
        return self._axes_found().covariance()

    def get_precision(self) -> Array:
        """Return S⁻¹ (p, p): (I - V diag((λ - σ²)/λ) Vᵀ)/σ², by the lemma of Woodbury."""
        check_fitted(self)
        return self._axes_found().precision()

    def score_samples(self, X: object) -> Array:
        """Return the log-likelihood (n,) of each row under the model.

        With z the coordinates and x̃ the centred row,
        -½(p ln 2π + ln|S| + Σ z_i²/λ_i + (‖x̃‖² - ‖z‖²)/σ²). Files are read block by block;
        a Dask array gives one that is not computed yet.
        """
        check_fitted(self)
        axes = self._axes_found()
        axes.refuse_singular()
        source = self._admit(X, reset=False)
        if isinstance(source, SpreadSource):
            return spread.lazily(source, axes.log_densities)
        if isinstance(source, BlockSource):
            size = self._block_bytes(source)
            return axes.block_densities(source, size, self._refuse_block)
        return axes.log_densities(source)

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
        if spread.in_parts(X):
            check_fitted(self)
            axes = self._axes_found()
            axes.refuse_singular()
            source = self._admit(X, reset=False)
            assert isinstance(source, SpreadSource)
            weights = counts_of(sample_weight, source)
            return spread.mean_density_of_parts(axes.log_densities, source, weights)
        each = self.score_samples(X)
        return float(np.average(each, weights=repeat_counts(sample_weight, len(each))))

    # -- rows that come in batches ------------------------------------------------------

    @available_if(lambda self: self._takes_batches)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: object, y: object = None, *, sample_weight: Array | None = None
    ) -> Self:
        """Take a batch of rows in; the model is that of all rows seen so far.

        The sums kept are exact, whatever the size and order of the batches, and so are the
        axes: they are those of `fit` on all rows. Above 8,000 columns, or where 32p² bytes
        are not allowed, max(4k, k + 30) leading directions are kept instead, and
        `certificate_` says what that may have cost. A batch that is refused changes
        nothing. A model that came from `fit` is forgotten: a stream begins anew.

        Cost: p² flops a row, and one eigenproblem whenever a fitted attribute is looked at
        after a batch.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows; one is enough. There is no model before there are two, and as many as
            axes are asked for.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts.
        """
        with lock_of(self):
            first, reader = self._stream is None, self
            if self._stream is not None:
                streams.refuse_other_forgetting(self._stream, self.forget)
            else:
                reader = clone(self)
                reader._check_parameters()
                reader._fewest = 1  # of a batch, not of all
            admitted = reader._admit(X, reset=first)
            source, counts = streams.batch(admitted, sample_weight, reader._names)
            stream = self._stream or reader._begun(source)
            settled = reader._settled_by(source, first)
            self._follow(stream.with_rows(source, counts), settled, first)
        return self

    @available_if(lambda self: self._takes_batches)  # type: ignore[untyped-decorator]
    def merge(self, other: Any) -> Self:
        """Take in the rows that another stream has seen; `other` stays as it is.

        Parameters
        ----------
        other : PCA
            Given rows of the same columns by `partial_fit`.
        """
        streams.refuse_no_stream(other, PCA)
        with lock_of(other):
            theirs = other._stream
        with lock_of(self):
            self._follow(streams.merged(self, other, self._stream, theirs))
        return self

    @available_if(lambda self: self._takes_batches)  # type: ignore[untyped-decorator]
    def remove(self, X: object, *, sample_weight: Array | None = None) -> Self:
        """Take rows out that were given to `partial_fit` before: a window that moves on.

        The sums are those of the rows that stay, up to rounding; where what goes had far
        more variance than what stays, `certificate_` says how many digits that has cost.
        Rows that cannot have been there (too many, or variance below zero) are refused,
        and nothing changes.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            The rows.
        sample_weight : array of shape (n_samples,) or None
            The repeat counts they were given with.
        """
        with lock_of(self):
            mine = streams.reducible(self._stream)
            admitted = self._admit(X, reset=False)
            source, counts = streams.batch(admitted, sample_weight, self._names)
            self._follow(mine.without(source, counts))
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether there is a model: few rows of a stream make none."""
        if self._stream is None:
            return "components_" in vars(self)
        return streams.is_enough(self._stream, self.n_components)

    def _refuse_few(self) -> None:
        """Say of a stream whose rows make no model yet how many there are."""
        streams.refuse_few(self._stream, self.n_components)

    def _begun(self, source: Source) -> Batches:
        """Return a stream without rows, that keeps all sums or leading directions only."""
        p = source.shape[1]
        root_feature_weight(self.feature_weight, p)  # no row to come can mend them
        return streams.begun(p, self.n_components, self.forget, self._budget())

    def _settled_by(self, source: Source, first: bool) -> Attributes:
        """Return what a batch settles for those to come; one that does not suit is refused."""
        names = _COLUMNS if first else ()
        return {name: vars(self)[name] for name in names if name in vars(self)}

    def _follow(
        self, stream: Batches, settled: Attributes | None = None, first: bool = False
    ) -> None:
        """Publish a stream; what was found of the one before goes."""
        keep = () if first else _COLUMNS
        for name in [*vars(self)]:
            if (name.endswith("_") and name not in keep) or name in _INNER:
                self.__dict__.pop(name, None)
        found = {"_stream": stream, "n_samples_seen_": stream.rows}
        self.__dict__.update(found | (settled or {}))

    def _looked(self) -> Attributes:
        """Return the fitted attributes of the rows seen so far, which must be enough."""
        self._refuse_few()
        self._check_parameters()
        root_feature_weight(self.feature_weight, self.n_features_in_)
        assert self._stream is not None
        stream = self._stream.summed()
        try:
            return self._modelled(stream) | {"_stream": stream}
        except streams.TooFewRowsError:
            raise
        except InputError as error:  # an AttributeError too: more rows may mend it
            raise streams.TooFewRowsError(error.what, got=error.got, fix=error.fix) from error

    def _modelled(self, stream: Batches) -> Attributes:
        """Return what the sums of a stream make."""
        source = stream.described()
        made = streams.plan_of_sums(self._problem(source), stream)
        spectrum, found = self._walk(source, made, None)
        state = {"plan_": made, **self._scale(spectrum, found, source)}
        self._warn(spectrum)
        state["n_samples_"] = stream.rows
        if stream.forget:
            noise = streams.forgetful_noise(state, stream.rows, source.shape[1])
            state["noise_variance_"] = noise
        return state

    # -- other beginnings ---------------------------------------------------------------

    @classmethod
    def from_covariance(cls, C: Any, mean: Any, n: int, **parameters: Any) -> Self:
        """Return the model of data known only by covariance (p, p), mean (p,) and row count.

        Parameters
        ----------
        C : array of shape (p, p)
            Covariance matrix, dividing by n - 1.
        mean : array of shape (p,)
            Column means.
        n : int
            Number of rows behind them, at least 2.
        **parameters
            As for `PCA`; `memory`, `time` and `device` have no effect.
        """
        model = cls(**parameters)
        model._check_parameters()
        covariance, middle = as_moments(C, mean, n)
        rows: Array = UnseenRows((int(n), len(middle)))
        recipe = model._recipe(rows, components=min(rows.shape), seed=0)
        recipe = dataclasses.replace(recipe, tol=model.tol or 1e-6)
        spectrum, found = of_covariance(covariance, middle, n, recipe)
        k = model._settle(spectrum, found, rows.shape)
        spectrum = dataclasses.replace(spectrum, certificate=spectrum.certificate.first(k))
        state = model._scale(spectrum, found, rows)
        model.__dict__.update(state, n_features_in_=len(middle), plan_=None)
        return model

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: NaN is taken unless missing="raise"."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags
