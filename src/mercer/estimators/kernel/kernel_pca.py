"""Kernel PCA: principal components of rows seen through a kernel."""

import copy
import dataclasses
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from numbers import Integral
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, as_numpy
from mercer.estimators.kernel import _explanations as explanations
from mercer.estimators.kernel import _fit_in_parts as parts
from mercer.estimators.kernel import _kernel_fit as fits
from mercer.estimators.kernel import _new_rows as new_rows
from mercer.estimators.kernel import _row_stream as streams
from mercer.estimators.kernel._eigenproblem import KernelFound
from mercer.estimators.kernel._explanations import Attributions, Prototypes
from mercer.estimators.kernel._fitted_kernel import FittedKernel, Later
from mercer.estimators.kernel._kernel_fit import Kept, KernelRequest, SeenRows
from mercer.estimators.kernel._kernel_rows import (
    FIRST_GUESS,
    KernelRows,
    apart,
    as_known,
    replaced,
    sees_numbers,
)
from mercer.estimators.kernel._landmark_model import LandmarkChoice, refuse_landmarks
from mercer.estimators.kernel._matrix_paths import solve
from mercer.estimators.kernel._preimages import Decoder
from mercer.estimators.kernel._row_samples import dense
from mercer.estimators.kernel._row_stream import Gathered, Stream
from mercer.estimators.kernel._way_back import Learned, Reconstruction, WayBack, share_rebuilt
from mercer.estimators.walk._admission import (
    admit_coordinates,
    admit_source,
    refuse_bad_cells,
    refuse_parts,
)
from mercer.estimators.walk._parameters import learned, publish
from mercer.estimators.walk._rows_in_parts import (
    in_parts,
    lazily,
    projected_parts,
    rows_from_parts,
)
from mercer.estimators.walk._spectral_estimator import (
    SpectralEstimator,
    framed,
    planned,
    repeat_counts,
)
from mercer.kernels import RBF, Kernel, Precomputed, as_kernel
from mercer.operators import Completion
from mercer.planning import Path, Plan, Problem
from mercer.solvers import Spectrum
from mercer.sources import BlockSource, Source, SpreadSource, is_blocks, scan

_RESOLVED = 0.05  # relative error up to which an axis on landmarks counts as resolved
_log = logging.getLogger("mercer")


@dataclasses.dataclass(frozen=True)
class _ToMap:
    """Rows in parts that go through a function part by part, which few methods can do."""

    source: Source


def _comes_in_blocks(model: "KernelPCA") -> bool:
    """Tell whether rows can come in blocks: a matrix cannot."""
    return model._takes_blocks and not isinstance(as_known(model.kernel), Precomputed)


class KernelPCA(SpectralEstimator, auto_wrap_output_keys=None):
    """Principal components of φ(x), k(x, y) = φ(x)ᵀφ(y): K̃ = HKH = UΛUᵀ, Z = UΛ^½.

    Use it where structure is curved: rings, clusters of any shape, images. The plan chooses
    between explicit features (exact for any number of rows), LAPACK, and an iteration on
    the stored matrix; the result says how accurate it is.

    Parameters
    ----------
    n_components : int, float in (0, 1), "auto" or None
        Axes to keep; a share keeps as many as reach that part of the variance in feature
        space; "auto" those beyond noise (none is an answer); None keeps all n.
    kernel : Kernel, str or callable
        See `mercer.kernels`; a string such as "rbf(lengthscale=2) + linear", "precomputed",
        or a function, of two blocks of rows or of two single rows. Where only functions look
        at rows, these may be a sequence of anything: texts, sets, graphs.
    standardize : bool
        Whether columns are divided by their standard deviation first.
    feature_weight : array of shape (n_features,) or None
        Positive weights: squared deviations of feature j count weight_j times. Columns are
        multiplied by √weight, after they are standardised, before the kernel sees them.
    indefinite : {"raise", "clip", "flip", "shift"}
        What to do about negative eigenvalues. "raise" refuses a negative share above 1e-3
        and leaves smaller ones out; "clip" leaves them out; "flip" counts them by modulus;
        "shift" adds the lowest to all, and then ``transform(X)`` differs from
        ``fit_transform(X)``.
    tol : float or None
        Largest certified relative error of an eigenvalue; None is
        1e-6, and 1e-5 for float32 data.
    memory, time, device, random_state
        See `PCA`.
    landmarks : int, {"pivoted", "uniform", "kmeans++"}, array of shape (m, p) or None
        Look for the axes among combinations of few rows: how many, how they are drawn, or
        which they are (their numbers, in a precomputed matrix). One pass, m×m numbers; λ_i
        lies in [ν_i, ν_i + t], and `tol` is then 0.05 unless it is given. None leaves them
        to the plan, which takes them where nothing better fits `memory` or `time`.
    tol_transform : float or None
        None projects new rows exactly. A number allows an error of so many standard
        deviations of a component: rows for which that can be proved are projected on
        landmarks, the others exactly. ``float("inf")`` projects all on landmarks.
    missing : {"raise", "em"}
        What to do about missing cells (NaN): refuse them, or fill them by PCA first, as
        `PCA` does; a warning says how many. Rows in memory only.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        λ of K̃.
    explained_variance_ : ndarray of shape (k,)
        λ/(n - 1).
    explained_variance_ratio_ : ndarray of shape (k,)
        λ/tr K̃; |λ|/Σ|λ| where the matrix is indefinite.
    dual_ : ndarray of shape (n, k)
        B = UΛ^-½: a new row has coordinates Bᵀk_X(x) - c₀.
    kernel_ : Kernel
        The kernel with its parameters as numbers.
    effective_rank_ : float
        (tr K̃)²/‖K̃‖²_F, between 1 and n - 1.
    alignment_ : float or None
        Centred alignment with the linear kernel on at most 1000 rows of numbers.
    negative_share_ : float
        Σ|λ⁻|/Σ|λ|.
    captured_share_ : tuple of float
        Interval of the share of the variance that the axes hold together.
    choice_ : Choice or None
        For "auto": the number, what other rules say, and how they differ in words.
    landmarks_ : array of shape (m, p) or None
        The landmarks, on that path; `residual_trace_` is what they leave of tr K. Of a
        precomputed matrix `landmark_indices_` are the columns that new rows are read at.
    certificate_ : Certificate
        Intervals that hold the eigenvalues, residuals, gaps, axes that cannot be told apart.
    X_fit_ : array of shape (n, p)
        The training rows as the kernel sees them.
    preimage_, preimage_errors_ : str and dict
        How `inverse_transform` finds rows, and the held-out error of every way to.
    n_components_, n_samples_, n_features_in_, rank_ : int
        Axes kept, rows, columns, and kept axes with variance above rounding.
    plan_ : Plan
        The path taken and the others.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> t = np.linspace(0, 2 * np.pi, 60)
    >>> rings = np.concatenate([np.c_[np.cos(t), np.sin(t)], 3 * np.c_[np.cos(t), np.sin(t)]])
    >>> model = KernelPCA(2, kernel="rbf(lengthscale=1)").fit(rings)
    >>> model.certificate_.met
    True
    >>> model.transform(rings).shape
    (120, 2)
    """

    kernel: Any
    kernel_: Kernel
    missing: str = "raise"
    _takes_blocks = True  # faces of other libraries do not
    _given: Kernel
    _numeric: bool
    _stream: Stream | None = None
    _decoder: Learned | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = fits.CONSTRAINTS

    def __init__(
        self,
        n_components: int | float | str | None = 2,
        *,
        kernel: Kernel | str | Any = RBF(),  # noqa: B008 - a frozen value
        standardize: bool = False,
        indefinite: str = "raise",
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
        landmarks: int | str | Any = None,
        tol_transform: float | None = None,
        feature_weight: Any = None,
        missing: str = "raise",
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.standardize = standardize
        self.indefinite = indefinite
        super().__init__(tol, memory, time, device, random_state)
        self.landmarks = landmarks
        self.tol_transform = tol_transform
        self.feature_weight = feature_weight
        self.missing = missing

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__lengthscale=2`` replaces the kernel, which is a value."""
        own, nested = apart(params)
        if nested:
            own["kernel"] = replaced(own.get("kernel", self.kernel), nested)
        return super().set_params(**own)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: a precomputed kernel is pairwise input."""
        tags = super().__sklearn_tags__()
        kernel = as_known(self.kernel)
        tags.input_tags.pairwise = isinstance(kernel, Precomputed)
        tags.input_tags.sparse = not isinstance(kernel, Kernel) or kernel.takes_sparse
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether there is a model: few rows of a stream make none."""
        return "eigenvalues_" in vars(self)

    # -- fit --------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit the model to X, a table, a file, or an iterator of blocks of rows.

        See `PCA.fit`. A file or an iterator is read once and fitted on landmarks; see
        `partial_fit`. So is a Dask collection, whose rows stay where they lie: two passes,
        three where they are standardised.
        """
        if self._takes_blocks and not isinstance(X, np.ndarray):
            X, made = streams.opened(X, self._foreseen)
            if is_blocks(X):
                return self._fit_blocks(X, sample_weight, made)
        return self._publish(clone(self), X, y, sample_weight)

    def _admit(self, X: Any, *, reset: bool) -> Source:
        kernel = self.kernel if reset else self._given
        kernel = kernel if isinstance(kernel, Kernel) else as_kernel(kernel)
        if reset:
            self._given, self._numeric = kernel, sees_numbers(kernel, X)
        if isinstance(X, _ToMap) or (reset and _apart(X)):
            spread = cast(SpreadSource, X.source if isinstance(X, _ToMap) else scan(X))
            filling = self.missing if reset and self.missing != "raise" else None
            parts.refuse(spread, kernel, here=not self._takes_blocks, filling=filling)
            return admit_source(self, spread, reset=reset)
        source = KernelRows.admitted(self, kernel, X, reset=reset, numeric=self._numeric)
        return source if reset else fits.completed(self._filler, source)

    def _request(self, kept: Kept | None = None) -> KernelRequest:
        """Return what a fit is asked for."""
        return KernelRequest(
            given=self._given,
            numeric=self._numeric,
            count=self.n_components,
            standardize=bool(self.standardize),
            feature_weight=self.feature_weight,
            names=self._names,
            kept=kept,
        )

    def _see(self, source: Source, weights: Array | None, kept: Kept | None = None) -> SeenRows:
        """Return rows in memory as the kernel sees them, with the landmarks asked for."""
        seen = SeenRows.of(self._request(kept), source, weights)
        if self.landmarks is None:
            return seen
        refuse_landmarks(seen.kernel, self.landmarks)
        choice = self._landmark_choice()
        return dataclasses.replace(seen, landmarks=choice.framed(seen.frame))

    def _landmark_choice(self) -> LandmarkChoice:
        """Return what `landmarks` asks for; rows as they came."""
        return self._asked_landmarks().admitted(partial(self._admit, reset=False))

    def _asked_landmarks(self) -> LandmarkChoice:
        numbered = isinstance(self._given, Precomputed)
        objects = not self._numeric
        return LandmarkChoice.of(self.landmarks, objects=objects, numbered=numbered)

    def _to_plan(self, source: Source) -> Source:
        return fits.with_means(source) if self._fills(source) else source

    def _fills(self, source: Source) -> bool:
        return self.missing != "raise" and fits.may_fill(self._request(), source)

    def _problem(self, source: Source, weights: Array | None = None) -> Problem:
        if not isinstance(source, SpreadSource):
            return self._priced(self._see(source, weights))
        request, asked = self._request(), self._asked_landmarks()
        tol = self._tolerance(source, streamed=True)
        return parts.problem(source, request, asked, tol, self._resources())

    def _foreseen(self, source: BlockSource) -> Plan:
        """Return the plan of rows in blocks before they are read."""
        self._check_parameters()
        n, wanted, asked = source.shape[0], self.n_components, LandmarkChoice.of(self.landmarks)
        few = int(wanted) if isinstance(wanted, Integral) else FIRST_GUESS
        pairs = n if wanted is None else min(n, few)
        tol, room = self._tolerance(source, streamed=True), self._resources()
        marks = asked.number(n, pairs)
        return planned(streams.priced(source.shape, pairs, marks, tol, room, source))

    def _priced(self, seen: SeenRows) -> Problem:
        """Return what the planner may know of rows in memory."""
        tol = self._tolerance(seen.source)
        return fits.priced(seen, self.indefinite, tol, self._resources())

    def _tolerance(self, source: Source, *, streamed: bool = False) -> float:
        """Return `tol`; landmarks that were asked for promise 0.05 where it is not given."""
        if self.tol is None and (self.landmarks is not None or streamed):
            return _RESOLVED
        return super()._tolerance(source)

    def _fitted(self, source: Source, weights: Any, kept: Kept | None = None) -> dict[str, Any]:
        if isinstance(source, SpreadSource):
            return self._fitted_to_parts(source, weights)
        own: dict[str, Any] = {}
        if self._fills(source):
            source, weights, own = fits.filled(self._request(), source, weights)
        seen = self._see(source, weights, kept)
        if seen.request.auto and seen.choice is None and not seen.by_engine:
            seen = seen.counted(self._seed(), seen.rows.shape[0])
        made = fits.limited(planned(self._priced(seen)), kept)
        _log.info("%s", made)
        spectrum, found = self._walk(seen, made, weights)
        state = learned(self) | seen.attributes()
        state |= {"plan_": made, **self._scale(spectrum, found, seen)}
        self._warn(spectrum)  # before anything is published: a warning may be an error
        return state | own

    # The walk hands on what `_fitted` gives it: rows as the kernel sees them.

    def _handed_on(self, source: SeenRows, path: Path, spectrum: Spectrum) -> SeenRows:
        if path.name != "tiles":
            return source
        # Another precision may go on from here.
        return dataclasses.replace(source, start=as_numpy(spectrum.right))

    def _solve(  # type: ignore[override]
        self, source: SeenRows, path: Path, weights: Array | None
    ) -> tuple[Spectrum, KernelFound]:
        task = fits.asked(
            source,
            indefinite=self.indefinite,
            tol=self._tolerance(source.source),
            memory=self._budget(),
            time=self.time,
            seed=self._seed(),
        )
        spectrum, found = solve(task, path)
        return fits.cut(spectrum, source.choice), found

    def _scale(  # type: ignore[override]
        self, spectrum: Spectrum, found: KernelFound, source: SeenRows
    ) -> dict[str, Any]:
        aligned = Later.ALIGNMENT if found.landmarks is None else fits.alignment(source)
        return fits.scaled(spectrum, found, source, aligned).attributes()

    @cached_property
    def alignment_(self) -> float | None:
        """Centred alignment with the linear kernel; see the attributes of the class."""
        check_is_fitted(self)
        return fits.alignment_of(FittedKernel.of(self))

    def _fitted_to_parts(self, source: SpreadSource, weights: Any) -> dict[str, Any]:
        _log.info("%s", made := planned(self._problem(source)))
        asked = None if self.landmarks is None else self._landmark_choice()
        known = self._request(), asked, self._seed(), self._budget()
        gathered = parts.gathered(source, weights, *known)
        return self._published(gathered, problem=made.problem)

    # -- rows in blocks ---------------------------------------------------------------

    @available_if(_comes_in_blocks)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Take a block of rows in, on landmarks; the model is that of all rows seen so far.

        The first 10,000 rows are kept; they settle the lengthscale, the standardisation and
        the landmarks, and are then let go. From there on a block leaves m×m sums and a few
        rows. The certificate holds for all rows; a call costs m³. A model that came from
        `fit` or `refine` is forgotten: a stream begins anew.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows; a block may have one row. There is no model before there are as many
            rows as axes, and two.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts.
        """
        blank = clone(self)
        blank._check_parameters()
        if self._stream is not None:
            blank.__dict__.update(learned(self))
        gathered = blank._with_block(before := blank._gathered(), X, sample_weight)
        if (seen := gathered.stream).enough(self.n_components):
            fresh = seen.count - before.stream.count
            publish(self, blank._published(gathered, fresh=fresh))
        else:
            publish(self, learned(blank) | gathered.kept | {"_stream": seen})
        return self

    def _gathered(self) -> Gathered:
        """Return the stream so far, and what it has settled."""
        if self._stream is None:
            return Gathered(Stream())
        return streams.again(self._stream, self._request(), FittedKernel.of(self))

    def _with_block(self, gathered: Gathered, X: Any, weights: Any) -> Gathered:
        """Return the stream with one block more."""
        streams.refuse_matrix(as_known(self.kernel))
        self._fewest = 1  # of a block, not of all
        refuse_parts(X)
        source = self._admit(X, reset=gathered.stream.count == 0)
        refuse_bad_cells(source, self._names)
        counts = repeat_counts(weights, source.shape[0], few=True)
        counts = np.ones(source.shape[0]) if counts is None else counts
        return streams.with_block(gathered, source, counts, self._settling())

    def _settling(self) -> streams.Settling:
        known = parts.known_before(self._request(), self._asked_landmarks())
        ways = self._see, self._seed, fits.alignment
        return streams.Settling(*ways, known, self.n_components, self._budget())

    def merge(self, other: Any) -> Self:
        """Take in what another stream has seen; both must have the same landmarks.

        Parameters
        ----------
        other : KernelPCA
            Fitted by `partial_fit` with the same landmarks and kernel, for example
            ``landmarks=rows`` and a kernel with numbers for parameters.
        """
        stream = streams.merged(self._stream, getattr(other, "_stream", None))
        blank = copy.copy(self)
        gathered = dataclasses.replace(blank._gathered(), stream=stream)
        publish(self, blank._published(gathered))
        return self

    def _fit_blocks(self, blocks: Iterable[Any], weights: Any, made: Plan | None) -> Self:
        """Fit to an iterator of blocks of rows, one pass; weights are cut along them."""
        blank = clone(self)
        blank._check_parameters()
        gathered = Gathered(Stream())
        for block, counts in streams.cut_along(blocks, weights):
            gathered = blank._with_block(gathered, block, counts)
        streams.refuse_nothing(gathered.stream)
        publish(self, blank._published(gathered, problem=made and made.problem))
        return self

    def _published(self, gathered: Gathered, **known: Any) -> dict[str, Any]:
        """Return the fitted attributes of the rows seen so far, and of what was planned."""
        known |= {"how": self._settling(), "resources": self._resources()}
        known |= {"tolerance": partial(self._tolerance, streamed=True)}
        made, spectrum = streams.modelled(gathered, **known)
        self._warn(spectrum)
        return learned(self) | made

    def refine(
        self,
        X: Any,
        *,
        tol: float | None = None,
        passes: int | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Improve a fitted model by further passes over its training rows.

        The axes found before are where the iteration starts; kernel and standardisation
        stay. A landmark model becomes an exact one.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The training rows.
        tol : float or None
            Tolerance to reach; None is the `tol` of the model, or what the precision of
            the data allows.
        passes : int or None
            The most products with the kernel matrix; one gives intervals that are a few
            times as wide as the error. None goes on until `tol` is certified.
        sample_weight : array of shape (n_samples,) or None
            The repeat counts of the fit.
        """
        check_is_fitted(self)
        streams.refuse_passes(passes)
        blank = clone(self)
        kept = ("n_features_in_", "feature_names_in_", "_given", "_numeric")
        blank.__dict__.update({k: v for k, v in vars(self).items() if k in kept})
        blank.set_params(landmarks=None, tol=self.tol if tol is None else tol)
        settled = passes is not None and not isinstance(self.n_components, str)
        if settled:  # a share would have to be looked for
            blank.set_params(n_components=self.n_components_)
        blank._check_parameters()
        source = blank._admit(X, reset=False)
        counts = repeat_counts(sample_weight, source.shape[0])
        model = FittedKernel.of(self)
        found = streams.kept_of(model, source, counts, passes, self._project, settled=settled)
        publish(self, blank._fitted(source, counts, found))
        return self

    # -- new rows ---------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Return the coordinates of X, of shape (n_samples, n_components).

        Parameters
        ----------
        X : array, sparse matrix, frame or Dask collection of shape (n_samples, n_features)
            New rows; the training mean and scale are applied to them.

        Returns
        -------
        ndarray, or a Dask array that is not computed yet where X is one
        """
        if _apart(X):
            source = self._to_map(X)
            self._shortcut(FittedKernel.of(self))  # made here once, not in every task
            return projected_parts(self, _ToMap(source))
        check_is_fitted(self)
        return framed(self, self._project(self._admit(X, reset=False)), X)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit to X and return its coordinates, the same as ``fit(X).transform(X)``."""
        if _apart(X):
            return self.fit(X, y, **fit_params).transform(X)
        streams.refuse_twice(X)
        self.fit(X, y, **fit_params)
        coordinates = FittedKernel.of(self).coordinates
        if coordinates is None:
            return self.transform(X)
        found = coordinates.copy()
        unseen = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if unseen.size:  # rows of weight zero are projected as new rows are
            found[unseen] = self._project(self._admit(X, reset=False))[unseen]
        return framed(self, found, X)

    def _project(self, source: Source) -> Array:
        return new_rows.projected(*self._ready(source))

    def _ready(self, source: Source) -> tuple[FittedKernel, Array, new_rows.Shortcut | None]:
        """Return the model, rows as the kernel sees them, and the way over landmarks."""
        refuse_bad_cells(source, self._names)
        fitted = FittedKernel.of(self)
        return fitted, fitted.frame.ready(source, narrow=True), self._shortcut(fitted)

    def _shortcut(self, fitted: FittedKernel) -> new_rows.Shortcut | None:
        """Return the way over landmarks, where `tol_transform` asks for it."""
        return new_rows.shortcut(fitted, self.tol_transform, self._seed)

    def transform_bound(self, X: Any) -> Array:
        """Return bounds (n_samples, n_components) on the error of projecting X on landmarks.

        ``transform(X)`` with ``tol_transform=float("inf")`` differs from the exact
        coordinates by no more. Zeros where `tol_transform` is None, and for models that
        need no landmarks beside their own.
        """
        if _apart(X):
            source, this = self._to_map(X), copy.copy(self)
            this._shortcut(FittedKernel.of(this))  # made here once, not in every task
            return lazily(source, this._bounds, this.n_components_, this._filler)
        check_is_fitted(self)
        return self._bounds(self._admit(X, reset=False))

    @property
    def _filler(self) -> Completion | None:
        """What fills missing cells of new rows."""
        return vars(self).get("completion_")

    def _bounds(self, source: Source) -> Array:
        return new_rows.bounds(*self._ready(source))

    def novelty(self, X: Any) -> Array:
        """Return ‖φ̃(x)‖² - ‖z(x)‖² (n_samples,): how far a row is from the axes.

        The squared distance in feature space from the plane of the components; large for
        rows unlike all that were seen.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows.
        """
        if _apart(X):
            source, this = self._to_map(X), copy.copy(self)
            return lazily(source, this._novel, None, this._filler)
        check_is_fitted(self)
        return self._novel(self._admit(X, reset=False))

    def _novel(self, source: Source) -> Array:
        return new_rows.novelty(*self._ready(source))

    def _to_map(self, X: Any) -> SpreadSource:
        """Return the source of rows in parts for a method that takes them part by part."""
        check_is_fitted(self)
        return cast(SpreadSource, self._admit(_ToMap(scan(X)), reset=False))

    # -- the way back -----------------------------------------------------------------

    @contextmanager
    def _way_back(self) -> Iterator[WayBack]:
        """Give the way back; what is learned on it is kept only if all of it ends well."""
        way = WayBack(FittedKernel.of(self), self._decoder)
        before = way.learned
        yield way
        if way.learned is not before:
            self._decoder = way.learned

    def inverse_transform(self, X: Any, method: str | None = None) -> Array:
        """Return the rows that coordinates stand for.

        There need not be such rows, so they are looked for. The linear kernel has PCA's own
        inverse. What is needed is learned at the first use.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Coordinates, as `transform` returns them.
        method : {"ridge", "fixed_point", "distances"} or None
            "ridge" is a regression of rows on coordinates, for any kernel; "fixed_point"
            [Mika1999]_ seeks the row whose image is nearest, for the Gaussian kernel;
            "distances" [Kwok2004]_ places a row by its distances to neighbours, for kernels
            that fall with the Euclidean distance. None takes `preimage_`.
        """
        check_is_fitted(self)
        if not _apart(X):
            return self._decoded(admit_coordinates(X, self.n_components_), method)
        self._decoded(np.zeros((1, self.n_components_)), method)  # learned here, once
        return rows_from_parts(self, X, partial(copy.copy(self)._decoded, method=method))

    def _decoded(self, scores: Array, method: str | None) -> Array:
        with self._way_back() as way:
            return way.decoded(scores, method)

    def denoise(self, X: Any, method: str | None = None) -> Array:
        """Return ``inverse_transform(transform(X))``: X as far as the axes hold it.

        For the Gaussian kernel the default is the fixed point, a mean of training rows in
        which their noise averages out. A regression brings noise back: it was taught on rows
        that have some, and the held-out error that chooses `preimage_` asks for it. It helps
        to keep few axes and half the median lengthscale.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows.
        method : {"ridge", "fixed_point", "distances"} or None
            See `inverse_transform`; None is "fixed_point" where the kernel has one, else
            `preimage_`.
        """
        check_is_fitted(self)
        with self._way_back() as way:
            return way.denoised(self._project(self._admit(X, reset=False)), method)

    def reconstruction(self, X: Any, method: str | None = None) -> Reconstruction:
        """Return pre-images of rows and how near they are, in both spaces.

        With r(x) = k̃(x, x) - ‖z(x)‖², the part of a row that no axis holds,
        ‖φ(x̂) - Pφ(x)‖² = ‖z(x̂) - z(x)‖² + r(x̂). Both vanish only if x̂ lies on the axes and
        has the coordinates of x.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows.
        method : {"ridge", "fixed_point", "distances"} or None
            See `inverse_transform`.
        """
        check_is_fitted(self)
        source = self._admit(X, reset=False)
        with self._way_back() as way:
            scores, short = self._project(source), self._shortcut(way.fitted)
            return way.reconstruction(source, scores, short, method)

    @property
    def preimage_(self) -> str:
        """The method that `inverse_transform` takes: the one of least held-out error."""
        check_is_fitted(self)
        with self._way_back() as way:
            return way.best()

    @property
    def preimage_errors_(self) -> dict[str, float]:
        """Mean squared error of each method on held-out rows, as a share of their variance.

        At most 500 training rows, one in five, are held out: their coordinates are those of
        the model, which has seen them, but the regression is learned on the others (2000 at
        most), and the others alone are averaged or taken as neighbours. Fewer than ten rows:
        empty. Beyond 20,000 rows "distances" is left out, since it takes a pass over all
        pairs.
        """
        check_is_fitted(self)
        with self._way_back() as way:
            return way.errors()

    @property
    def decoder_(self) -> Decoder:
        """The regression of rows on coordinates, learned when it is first asked for."""
        check_is_fitted(self)
        with self._way_back() as way:
            return way.decoder()

    @available_if(lambda self: not isinstance(as_known(self.kernel), Precomputed))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R² of the reconstruction in input space, 1 - Σ‖x - x̂‖²/Σ‖x - x̄‖².

        Rows are rebuilt by the regression whatever the kernel, so that kernels are compared
        by one measure; for the linear kernel it is the share of variance kept. Squares of
        column j count as often as `feature_weight` says.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts of the rows.
        """
        check_is_fitted(self)
        source = self._admit(X, reset=False)
        counts = repeat_counts(sample_weight, source.shape[0])
        back = self._rebuilt(self._project(source))
        root = FittedKernel.of(self).frame.feature_root
        return share_rebuilt(dense(source.array), back, counts, root)

    def _rebuilt(self, scores: Array) -> Array:
        """Return rows by the map that all kernels have."""
        with self._way_back() as way:
            return way.decoded(scores, way.offered()[0])

    # -- what components are made of --------------------------------------------------

    def attributions(
        self, X: Any, method: str = "gradient", *, n_repeats: int = 5, random_state: Any = 0
    ) -> Attributions:
        """Return how much every column moves every component, on average over rows.

        "gradient" looks at small changes: √(mean (∂z_j/∂x_f)²) times the standard deviation
        of column f among the training rows; for the linear kernel it is |loading|·sd.
        "permutation" looks at large ones: column f is shuffled, and half of the mean squared
        change of z_j is divided by the variance of z_j, which for independent columns
        estimates the total effect of f [Jansen1999]_.

        Cost: the gradient takes k products of (rows × n) by (n × p) for the Gaussian kernel,
        and 2p projections of X for others; permutation takes n_repeats·p projections. A few
        hundred rows are enough.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows to average over.
        method : {"gradient", "permutation"}
            See above.
        n_repeats : int
            Shuffles of each column.
        random_state : int, RandomState or None
            Decides the shuffles.
        """
        check_is_fitted(self)
        explanations.refuse_method(method)
        fitted = FittedKernel.of(self)
        fitted.refuse_no_numbers("columns of numbers that a component could be made of")
        source = self._admit(X, reset=False)
        refuse_bad_cells(source, self._names)
        rows = dense(fitted.frame.ready(source))
        if method == "gradient":
            return explanations.by_gradient(fitted, rows, self._names)
        return explanations.by_permutation(fitted, rows, self._names, n_repeats, random_state)

    def prototypes(self, n: int = 3) -> Prototypes:
        """Return the training rows with the largest, smallest and most ordinary coordinates.

        A model on landmarks keeps at most 2000 rows, evenly spread, and looks among those.

        Parameters
        ----------
        n : int
            Rows of each kind; all rows where there are fewer.
        """
        check_is_fitted(self)
        return explanations.prototypes(FittedKernel.of(self), n)


def _apart(X: Any) -> bool:
    """Tell whether rows lie in parts; those of an array do not."""
    return not isinstance(X, np.ndarray) and in_parts(X)
