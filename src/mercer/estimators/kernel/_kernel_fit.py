"""A fit of kernel PCA as values: what is asked, the rows that the kernel sees, the result."""

import dataclasses
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import HasMethods, Options, StrOptions

from mercer.arrays import Array, is_objects
from mercer.diagnostics import linear_alignment
from mercer.errors import DataWarning, warn
from mercer.estimators.kernel._axis_choice import quiet_choice
from mercer.estimators.kernel._eigenproblem import POLICIES, KernelFound, Task, captured_share
from mercer.estimators.kernel._fitted_kernel import FittedKernel, Later, in_type, type_of
from mercer.estimators.kernel._given_landmarks import dual_of
from mercer.estimators.kernel._kernel_rows import (
    FIRST_GUESS,
    SETTLING,
    KernelRows,
    feature_count,
    most_components,
)
from mercer.estimators.kernel._landmark_model import LandmarkChoice
from mercer.estimators.kernel._matrix_paths import needs_whole
from mercer.estimators.kernel._projection import Projection
from mercer.estimators.kernel._row_samples import stand_ins
from mercer.estimators.linear._pca_choice import looked_at, warn_of
from mercer.estimators.linear._pca_recipe import PCARecipe
from mercer.estimators.missing._filling import (
    FillingTask,
    in_words,
    surveyed,
    warn_empty,
    warn_unsettled,
)
from mercer.estimators.missing._missing_cells import cell_filling
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.estimators.walk._parameters import COUNT, COUNT_OR_SHARE, POSITIVE, RESOURCES
from mercer.kernels import Kernel, Linear, Precomputed
from mercer.operators import Completion, empty_rows
from mercer.planning import KernelCost, Plan, Problem, few_walks, shuffled_rows
from mercer.selection import Choice
from mercer.solvers import Spectrum
from mercer.sources import ArrayBlocks, Source, has_missing, in_memory

_LOOKED_THROUGH = 3000  # rows up to which an unknown kernel has all its eigenvalues found
_EVIDENCE = 2000  # rows of a sample whose negative eigenvalues are looked at
_MATRICES, _JUDGED = 2.5, 6.0  # matrices of a sample that are there at a time
_ENTRY = 8.0  # steps around the exponential of an entry, in flops of a product
_TAUGHT = 2000  # rows that a model on landmarks keeps to learn the way back from
_FILLED_TO = 1e-6  # tolerance of the linear model of missing cells; kernels promise less
_ENOUGH = 50  # rows from which a large effective rank says something

# What the parameters of the estimator may be.
CONSTRAINTS: dict[str, list[Any]] = {
    "n_components": [*COUNT_OR_SHARE, StrOptions({"auto"}), None],
    "kernel": [str, callable, HasMethods("block")],
    "standardize": ["boolean"],
    "feature_weight": ["array-like", None],
    "indefinite": [StrOptions(set(POLICIES))],
    **RESOURCES,
    "landmarks": [COUNT, str, "array-like", "sparse matrix", None],
    "tol_transform": [POSITIVE, Options(Real, {np.inf}), None],
    "missing": [StrOptions({"raise", "em"})],
}


# -- what is asked ------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class Kept:
    """What a model that is refined keeps: the kernel on its rows, and their frame.

    Attributes
    ----------
    kernel : Kernel or None
        None keeps the frame alone.
    frame : KernelRows
        Its mean and factor.
    passes : int or None
        The most that may be made.
    values : ndarray of shape (m,) or None
        Eigenvalues on landmarks, none of them too large.
    columns : int or None
        Those of a block, where that is settled.
    start : ndarray of shape (n, b) or None
        Axes from which an iteration goes on.
    choice : Choice or None
        How many axes there are, where the model has found that.
    """

    kernel: Kernel | None
    frame: KernelRows
    passes: int | None = None
    values: Array | None = None
    columns: int | None = None
    start: Array | None = None
    choice: Choice | None = None

    @property
    def allowed(self) -> tuple[str, ...]:
        """The paths that may be taken."""
        stored = () if self.passes is not None else ("stored",)
        return ("primal", "lapack", "tiles", *stored)


@dataclasses.dataclass(frozen=True, eq=False)
class KernelRequest:
    """What a fit is asked for, before there are rows.

    Attributes
    ----------
    given : Kernel
        As the parameter says.
    numeric : bool
        Whether the rows are a table of numbers, which the kernel itself sees.
    count : int, float, "auto" or None
        Axes, or the share of the variance that they hold.
    standardize, feature_weight
        As the parameters.
    names : array of shape (p,) or None
        Of the columns.
    kept : Kept or None
        What a refinement may not change.
    """

    given: Kernel
    numeric: bool
    count: float | str | None
    standardize: bool
    feature_weight: Array | None
    names: Array | None
    kept: Kept | None = None

    @property
    def auto(self) -> bool:
        """Whether the number of axes is left to the data."""
        return isinstance(self.count, str)

    def shuffled(self, kernel: Kernel, n: int, p: int) -> int:
        """Return the rows of the tables that are shuffled first; 0 where none is."""
        known = not self.auto or isinstance(kernel, Precomputed | Linear)
        return 0 if known else shuffled_rows(n, p)

    def first_pairs(self, n: int) -> int:
        """Return how many pairs are foreseen before a row is read."""
        if isinstance(self.count, str):
            return min(n, FIRST_GUESS)
        return most_components(self.count, n)


# -- the rows -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class SeenRows:
    """Training rows as a kernel with numbers for parameters sees them.

    Attributes
    ----------
    request : KernelRequest
        What is asked.
    source : Source
        The rows as they came.
    frame : KernelRows
        What makes of them the rows that the kernel sees, and their repeat counts.
    kernel : Kernel
        On rows in that frame.
    rows : array or CSR array of shape (n, p)
        Those.
    landmarks : LandmarkChoice or None
        Which are asked for.
    choice : Choice or None
        For "auto": how many axes there are, once that is decided.
    start : ndarray of shape (n, b) or None
        Axes from which an iteration goes on.
    """

    request: KernelRequest
    source: Source
    frame: KernelRows
    kernel: Kernel
    rows: Array
    landmarks: LandmarkChoice | None = None
    choice: Choice | None = None
    start: Array | None = None

    @classmethod
    def of(cls, request: KernelRequest, source: Source, weights: Array | None) -> "SeenRows":
        """Return rows in memory as the kernel sees them: frame and kernel settled on them."""
        refuse_bad_cells(source, request.names)
        kept = request.kept
        if kept is None:
            frame = KernelRows.of(
                source,
                request.given,
                request.standardize,
                request.numeric,
                weights,
                request.feature_weight,
            )
        else:  # a model that is refined keeps its kernel and its frame
            frame = dataclasses.replace(kept.frame, weights=weights)
        rows = frame.counted(frame.ready(source))
        if kept is None or kept.kernel is None:
            return cls(request, source, frame, _resolved(frame.kernel, rows, weights), rows)
        choice, start = kept.choice, kept.start
        return cls(request, source, frame, kept.kernel, rows, choice=choice, start=start)

    @property
    def n(self) -> int:
        """How many rows there are."""
        return int(self.rows.shape[0])

    @property
    def own(self) -> Kernel:
        """The kernel on rows as the user has them."""
        given = self.request.given
        return given if self.frame.mapped(given) else self.kernel

    @property
    def by_engine(self) -> bool:
        """Whether PCA itself counts the axes: a linear kernel without landmarks."""
        return isinstance(self.kernel, Linear) and self.landmarks is None

    def pairs(self, n: int) -> int:
        """Return how many pairs are computed; for a share and "auto" how many at first."""
        if not self.request.auto:
            return self.request.first_pairs(n)
        if self.choice is not None:
            return max(min(self.choice.k, n), 1)
        if self.by_engine:
            return looked_at(min(n, int(self.rows.shape[1])))
        return self.request.first_pairs(n)

    def wanted(self, n: int) -> float:
        """Return what a path is asked for: a number of pairs, or a share of the variance."""
        count = self.request.count
        if isinstance(count, Real) and not isinstance(count, Integral):
            return float(count)
        return self.pairs(n)

    def counted(self, seed: int, count: int) -> "SeenRows":
        """Return the same with the number of axes decided; the rows stand for `count`."""
        weights = self.frame.weights
        choice = quiet_choice(self.kernel, self.rows, weights, count, seed)
        return dataclasses.replace(self, choice=choice)

    def sample(self) -> tuple[Array, Array]:
        """Return numbers and rows that a model on landmarks learns the way back from."""
        at, _ = stand_ins(self.rows, self.frame.weights, _TAUGHT)
        return at, self.rows[at]

    def attributes(self) -> dict[str, Any]:
        """Return what an estimator keeps of them, by the names that model files have."""
        found = {
            "_frame": self.frame,
            "_seen": self.kernel,
            "_choice": self.landmarks,
            "kernel_": self.own,
            "X_fit_": self.rows,
        }
        return found if self.choice is None else found | {"choice_": self.choice}


def _resolved(kernel: Kernel, rows: Array, weights: Array | None) -> Kernel:
    """Return a kernel with numbers for parameters, from at most 1000 rows."""
    if not kernel.waits:
        return kernel
    at, counts = stand_ins(rows, weights, SETTLING)
    return kernel.resolve(rows[at], counts)


def priced(seen: SeenRows, indefinite: str, tol: float, resources: dict[str, Any]) -> Problem:
    """Return what the planner may know of rows in memory."""
    source, kept, pairs = seen.source, seen.request.kept, seen.pairs(seen.n)
    if kept is not None and resources["allowed"] is None:
        resources = resources | {"allowed": kept.allowed}
    cost = _cost(seen, indefinite, pairs)
    looked = 0.0 if cost.given else _looked_bytes(cost, seen)
    known = resources | {"nnz": source.nnz, "tol": tol, "before": looked}
    return Problem(*source.shape, pairs, source.products.itemsize, kernel=cost, **known)


def _looked_bytes(cost: KernelCost, seen: SeenRows) -> float:
    """Return what matrices of a sample take: for alignment and negative eigenvalues."""
    n, p = seen.source.shape if is_objects(seen.rows) else seen.rows.shape
    few, many = min(n, SETTLING), 0 if cost.centred else min(n, _EVIDENCE)
    if seen.landmarks is None or isinstance(seen.kernel, Precomputed) or not seen.frame.numeric:
        few = 0  # no alignment in the fit, or none with rows that are no numbers
    return float(8 * (_MATRICES * few * few + 3 * few * p + _JUDGED * many * many))


def _cost(seen: SeenRows, indefinite: str, pairs: int) -> KernelCost:
    """Return what the plan may know of the kernel on these rows."""
    kernel, rows = seen.kernel, seen.rows
    n, p = seen.source.shape if is_objects(rows) else rows.shape
    count = feature_count(kernel, rows)
    per_entry = 4.0 * rows.nnz / n if hasattr(rows, "nnz") else 2.0 * p
    return KernelCost(
        flops=per_entry + _ENTRY,
        exponentials=1.0,
        features=count,
        finite=count is not None and seen.frame.finite(kernel),
        given=isinstance(kernel, Linear),
        whole=needs_whole(kernel.flag, indefinite, n, _LOOKED_THROUGH),
        centred=kernel.flag.centred and not isinstance(kernel, Precomputed),
        landmarks=None if seen.landmarks is None else seen.landmarks.number(n, pairs),
        shuffled=seen.request.shuffled(kernel, n, p),
        beside=max(0.0, float(getattr(rows, "nbytes", 0)) - seen.source.nbytes),
    )


def alignment(seen: SeenRows) -> float | None:
    """Return the centred alignment with the linear kernel on at most 1000 rows of numbers."""
    return _aligned(seen.own, seen.kernel, seen.frame, seen.rows)


def alignment_of(fitted: FittedKernel) -> float | None:
    """Return the same of a fitted model, from the rows that it keeps."""
    return _aligned(fitted.own, fitted.seen, fitted.frame, fitted.rows)


def _aligned(own: Kernel, kernel: Kernel, frame: KernelRows, rows: Array) -> float | None:
    if isinstance(own, Linear):
        return 1.0
    if isinstance(kernel, Precomputed) or not frame.numeric:
        return None
    at, counts = stand_ins(rows, frame.weights, SETTLING)
    return linear_alignment(kernel, rows[at], counts)


# -- missing cells ------------------------------------------------------------------------
#
# A kernel is not defined on rows with gaps, and a Gaussian model of the columns knows nothing
# of it: what is filled lies on a plane, not on the curve that is looked for. So it is done with
# a warning, and certificates speak of the completed rows.


def may_fill(request: KernelRequest, source: Source) -> bool:
    """Tell whether cells may be missing in these rows, and be filled."""
    plain = request.numeric and not isinstance(request.given, Precomputed)
    return plain and source.dtype.kind == "f"


def filled(
    request: KernelRequest, source: Source, weights: Array | None
) -> tuple[Source, Array | None, dict[str, Any]]:
    """Return rows filled by linear PCA, their weights, and what an estimator keeps of it.

    Rows that are complete go through the steps too, for those to come that are not.
    """
    blocks, size = ArrayBlocks(source, request.names), float(max(source.nbytes, 1))
    survey = surveyed(blocks, weights, size, None)
    wanted = FillingTask(None, PCARecipe(1, _FILLED_TO, 0, request.standardize, None))
    filling = cell_filling(blocks, survey, weights, request.names, wanted, size)
    found = filling.run()
    if survey.counts.any():
        warn_unsettled(found, filling.rule)
        warn(
            "missing cells were filled by linear PCA before the kernel saw them; the"
            " certificate speaks of the completed rows",
            got=in_words(survey, found, "em"),
            fix="compare with the complete rows alone where much is missing",
            category=DataWarning,
        )
        source = in_memory(found.completion.filled(source.array))
    own = {"n_missing_": int(survey.counts.sum()), "missing_counts_": survey.counts}
    own |= {"em_passes_": found.passes, "completion_": found.completion}
    return source, filling.weights, own


def with_means(source: Source) -> Source:
    """Return rows with means for their missing cells: a plan needs no better ones."""
    if source.array is None or not has_missing(source):
        return source
    rows = np.array(source.array)
    gaps = np.isnan(rows)
    there = np.maximum(np.sum(~gaps, axis=0), 1)
    means = np.sum(np.where(gaps, 0.0, rows), axis=0) / there
    return in_memory(np.where(gaps, means.astype(rows.dtype), rows))


def completed(completion: Completion | None, source: Source) -> Source:
    """Return new rows with their missing cells filled as those of the fit were."""
    if completion is None or source.dtype.kind != "f" or source.array is None:
        return source
    if not has_missing(source):
        return source
    empty = empty_rows(source.array)
    if empty.size:
        warn_empty(empty, "they are projected as the mean")
    return in_memory(completion.filled(source.array))


# -- the walk -----------------------------------------------------------------------------


def limited(made: Plan, kept: Kept | None) -> Plan:
    """Return the plan with the passes that `refine` was allowed, and none after them."""
    path = made.chosen
    if kept is None or kept.passes is None or path.name != "tiles":
        return made
    return dataclasses.replace(made, chosen=few_walks(path, kept.passes, kept.columns))


def asked(seen: SeenRows, **options: Any) -> Task:
    """Return what a path is asked for on these rows; `options` are those of `Task`."""
    kept = seen.request.kept
    return Task(
        kernel=seen.kernel,
        rows=seen.rows,
        weights=seen.frame.weights,
        wanted=seen.wanted(seen.n),
        auto=seen.request.auto and seen.choice is None,
        landmarks=seen.landmarks,
        start=seen.start,
        values=None if kept is None else kept.values,
        **options,
    )


# -- the result ---------------------------------------------------------------------------


def cut(spectrum: Spectrum, choice: Choice | None) -> Spectrum:
    """Return the pairs that are kept: one is computed where none is beyond noise."""
    if choice is None or choice.k:
        return spectrum
    return dataclasses.replace(spectrum, certificate=spectrum.certificate.first(0))


def scaled(
    spectrum: Spectrum,
    found: KernelFound,
    seen: SeenRows,
    aligned: float | Later | None,
    sample: tuple[Array | None, Array] | None = None,
) -> FittedKernel:
    """Return the fitted value of kernel PCA: λ, variances, B = UΛ^-½ and c₀.

    Parameters
    ----------
    spectrum, found
        What a path gave back.
    seen : SeenRows
        The rows it was found from.
    aligned : float, None or Later
        See `alignment`; models that keep their rows find it later.
    sample : tuple or None
        Rows to learn the way back from, of a model on landmarks; None takes some of `seen`.
    """
    certificate, source = spectrum.certificate, seen.source
    k = len(certificate.lower)
    values = np.maximum(spectrum.values[:k], 0.0)
    alive = values > certificate.zero_level
    signs = found.signs.directions(k)
    dtype = type_of(source.products.itemsize, values)
    coordinates = found.coordinates
    coordinates = None if coordinates is None else in_type(coordinates[:, :k], dtype)
    scale = signs * alive / np.sqrt(np.where(alive, values, 1.0))
    sample, rows, dual, level = _dual(found, seen, spectrum.right[:, :k] * scale, sample)
    dual = dual if found.landmarks is not None else in_type(dual, dtype)
    wide, kernel = found.left is not None, seen.kernel
    exact = None if rows is None else Projection(kernel, rows, dual, wide=wide)
    fitted = FittedKernel(
        given=seen.request.given,
        seen=kernel,
        own=seen.own,
        frame=seen.frame,
        eigenvalues=values * signs,
        variances=values / (found.total - 1),
        ratio=values / found.trace,
        captured=captured_share(certificate, values, found),
        certificate=certificate,
        components=k,
        choice=_told(seen, found, k),
        n_samples=source.shape[0],
        rank=int(np.sum(alive)),
        negative_share=found.signs.negative_share,
        effective_rank=found.effective_rank,
        alignment=aligned,
        dtype=dtype,
        coordinates=coordinates,
        engine=found.engine,
        phi=found.phi,
        middle=found.middle,
        model=found.landmarks if found.columns is None else None,
        sample=sample,
        rows=rows,
        dual=dual,
        level=level,
        projection=exact,
        columns=found.columns,
        left=found.left,
    )
    if found.landmarks is None or 10 * found.landmarks.residual < found.trace:
        _warn_rank(fitted, found.total)  # it is known
    return fitted


def _dual(found: KernelFound, seen: SeenRows, axes: Array, sample: Any) -> tuple[Any, ...]:
    """Return rows to learn the way back from, those that new ones meet, B and c₀."""
    k = axes.shape[1]
    if found.landmarks is None:
        rows = seen.frame.kept(seen.rows, seen.source)
        return None, rows, seen.frame.root * axes, found.level[:k]
    if found.columns is not None:
        return None, None, *dual_of(found.landmarks, seen.source.shape[0], k)
    return sample or seen.sample(), *found.landmarks.dual(k)


def _told(seen: SeenRows, found: KernelFound, kept: int) -> Choice | None:
    """Return the choice, and say where no axis is kept; an engine has said it."""
    if not seen.request.auto:
        return None
    if seen.choice is None:
        assert found.engine is not None
        choice: Choice = found.engine.choice_
        return choice
    warn_of(seen.choice, kept)
    return seen.choice


def _warn_rank(fitted: FittedKernel, total: float) -> None:
    rank, weights = fitted.effective_rank, fitted.frame.weights
    n = max(int(total), 0 if weights is None else int(np.count_nonzero(weights)))
    if n >= _ENOUGH and rank > n / 4:
        warn(
            "the lengthscale is too short, or there is no low-dimensional structure",
            got=f"effective rank {rank:.0f} of {n} rows, {fitted.own!r}",
            fix="choose a longer lengthscale, or fewer and better columns",
            category=DataWarning,
        )
