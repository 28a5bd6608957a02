"""Kernel PCA: principal components of rows seen through a kernel."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    Options,
    RealNotInt,
    StrOptions,
)

from mercer.arrays import Array, as_numpy
from mercer.diagnostics import linear_alignment
from mercer.errors import DataWarning, warn
from mercer.estimators.kernel._indefinite_kernels import POLICIES
from mercer.estimators.kernel._kernel_ahead import KernelAhead
from mercer.estimators.kernel._kernel_back import KernelBack, as_known
from mercer.estimators.kernel._kernel_choosing import KernelChoosing
from mercer.estimators.kernel._kernel_explain import KernelExplain
from mercer.estimators.kernel._kernel_missing import KernelMissing
from mercer.estimators.kernel._kernel_parameters import KernelParameters
from mercer.estimators.kernel._kernel_parts import KernelParts
from mercer.estimators.kernel._kernel_planned import KernelPlanned
from mercer.estimators.kernel._kernel_projection import Projection
from mercer.estimators.kernel._kernel_rows import SETTLING, KernelRows, maps_at_the_door
from mercer.estimators.kernel._kernel_sample import stand_ins
from mercer.estimators.kernel._kernel_solve import solve
from mercer.estimators.kernel._kernel_stream import KernelStream, is_blocks, opened
from mercer.estimators.kernel._kernel_task import KernelFound, Task, captured_share
from mercer.estimators.walk._parameters import RESOURCES
from mercer.estimators.walk._spectral_estimator import SpectralEstimator
from mercer.kernels import RBF, Kernel, Linear, Precomputed, as_kernel
from mercer.planning import Path, Problem
from mercer.solvers import Spectrum
from mercer.sources import Source, SpreadSource

_TAUGHT = 2000  # rows that a model on landmarks keeps to learn the way back from
_RESOLVED = 0.05  # half-width up to which an axis on landmarks counts as resolved
_ENOUGH = 50  # rows from which a large effective rank says something


class KernelPCA(
    KernelMissing,
    KernelChoosing,
    KernelParameters,
    KernelPlanned,
    KernelParts,
    KernelBack,
    KernelAhead,
    KernelExplain,
    KernelStream,
    SpectralEstimator,
):
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
        or a function of two blocks of rows.
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
        Largest relative half-width of the certified interval of an eigenvalue; None is
        1e-6, and 1e-5 for float32 data.
    memory, time, device, random_state
        See `PCA`.
    landmarks : int, {"pivoted", "uniform", "kmeans++"}, array of shape (m, p) or None
        Look for the axes among combinations of few rows: how many, how they are drawn, or
        which they are. One pass, m×m numbers; λ_i lies in [ν_i, ν_i + t], and `tol` is then
        0.05 unless it is given. None leaves them to the plan, which takes them where
        nothing better fits `memory` or `time`.
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
        The landmarks, on that path; `residual_trace_` is what they leave of tr K.
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

    _given: Kernel
    _sample: tuple[Array | None, Any] | None = None
    _before: Array | None = None  # axes from which an iteration goes on

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions({"auto"}),
            None,
        ],
        "kernel": [str, callable, HasMethods("block")],
        "standardize": ["boolean"],
        "feature_weight": ["array-like", None],
        "indefinite": [StrOptions(set(POLICIES))],
        **RESOURCES,
        "landmarks": [
            Interval(Integral, 1, None, closed="left"),
            str,
            "array-like",
            "sparse matrix",
            None,
        ],
        "tol_transform": [
            Interval(Real, 0, None, closed="neither"),
            Options(Real, {np.inf}),
            None,
        ],
        "missing": [StrOptions({"raise", "em"})],
    }

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
        self.tol = tol
        self.memory = memory
        self.time = time
        self.device = device
        self.random_state = random_state
        self.landmarks = landmarks
        self.tol_transform = tol_transform
        self.feature_weight = feature_weight
        self.missing = missing

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: a precomputed kernel is pairwise input."""
        tags = super().__sklearn_tags__()
        kernel = as_known(self.kernel)
        tags.input_tags.pairwise = isinstance(kernel, Precomputed)
        tags.input_tags.sparse = not isinstance(kernel, Kernel) or kernel.takes_sparse
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit the model to X, a table, a file, or an iterator of blocks of rows.

        See `PCA.fit`. A file or an iterator is read once and fitted on landmarks; see
        `partial_fit`. So is a Dask collection, whose rows stay where they lie: two passes,
        three where they are standardised.
        """
        X = opened(X) if self._takes_blocks else X
        if self._takes_blocks and is_blocks(X):
            return self._fit_blocks(X, sample_weight)
        return super().fit(X, y, sample_weight=sample_weight)

    # -- describe ---------------------------------------------------------------------

    def _admit(self, X: Any, *, reset: bool) -> Source:
        kernel = as_kernel(self.kernel) if reset else self._given
        if reset:
            self._given, self._numeric = kernel, not maps_at_the_door(kernel, X)
        if self._in_parts(X, reset):
            return self._admit_parts(X, reset)
        source = KernelRows.admitted(self, kernel, X, reset=reset)
        return source if reset else self._completed(source)

    def _problem(self, source: Source, weights: Any = None) -> Problem:
        if isinstance(source, SpreadSource):
            return self._problem_of_parts(source)
        n, p = source.shape
        rows = self._look(source, weights)
        return Problem(
            rows=n,
            cols=p,
            components=self._most_components(n),
            itemsize=source.products.itemsize,
            nnz=source.nnz,
            tol=self._tolerance(source),
            kernel=self._cost(rows),
            **self._resources(),
        )

    def _tolerance(self, source: Source) -> float:
        """Return `tol`; landmarks that were asked for promise 0.05 where it is not given."""
        if self.tol is None and (self.landmarks is not None or self._stream is not None):
            return _RESOLVED
        return super()._tolerance(source)

    # -- operator and pairs -----------------------------------------------------------

    def _solve(self, source: Source, path: Path, weights: Any) -> tuple[Spectrum, KernelFound]:
        spectrum, found = solve(
            Task(
                kernel=self._seen,
                rows=self.X_fit_,
                weights=weights,
                wanted=self._wanted(source.shape[0]),
                auto=self._auto and self._decided is None,
                indefinite=self.indefinite,
                tol=self._tolerance(source),
                memory=self._budget(),
                time=self.time,
                seed=self._seed(),
                landmarks=self._choice,
                start=self._before,
                values=None if self._fixed is None else self._fixed.values,
            ),
            path,
        )
        if path.name == "tiles":  # another precision may go on from here
            self._before = as_numpy(spectrum.right)
        return self._cut(spectrum), found

    # -- scale ------------------------------------------------------------------------

    def _scale(self, spectrum: Spectrum, found: KernelFound, source: Source) -> dict[str, Any]:
        certificate = spectrum.certificate
        k = len(certificate.lower)
        values = np.maximum(spectrum.values[:k], 0.0)
        alive = values > certificate.zero_level
        signs = found.signs.directions(k)
        dtype = np.float32 if source.products.itemsize == 4 else np.float64
        coordinates = found.coordinates
        if coordinates is not None:
            coordinates = np.asarray(coordinates[:, :k], dtype)
        fitted = {
            "eigenvalues_": values * signs,
            "explained_variance_": values / (found.total - 1),
            "explained_variance_ratio_": values / found.trace,
            "captured_share_": captured_share(certificate, values, found),
            "certificate_": certificate,
            "n_components_": k,
            "choice_": self._told(found, k),
            "n_samples_": source.shape[0],
            "rank_": int(np.sum(alive)),
            "negative_share_": found.signs.negative_share,
            "effective_rank_": found.effective_rank,
            "alignment_": self._alignment(self.X_fit_),
            "_dtype": dtype,
            "_coordinates": coordinates,
            "_engine": found.engine,
            "_phi": found.phi,
            "_middle": found.middle,
            "_landmark_model": found.landmarks,
            "_decoder": None,
            "_before": None,
            "_sample": None if found.landmarks is None else self._sample or self._sampled(),
            "_fixed": None,
            "_stream": None,
        }
        scale = signs * alive / np.sqrt(np.where(alive, values, 1.0))
        fitted |= self._projecting(spectrum.right[:, :k] * scale, found, source, dtype)
        if found.landmarks is None or 10 * found.landmarks.residual < found.trace:
            self._warn_rank(fitted["effective_rank_"], found.total)  # it is known
        return fitted

    def _sampled(self) -> tuple[Array, Any]:
        """Return numbers and rows that a model on landmarks learns the way back from."""
        rows = self.X_fit_
        at, _ = stand_ins(rows, self._frame.weights, _TAUGHT)
        return at, rows[at]

    def _projecting(
        self, axes: Array, found: KernelFound, source: Source, dtype: Any
    ) -> dict[str, Any]:
        """Return what new rows are projected with: rows, B and c₀."""
        k = axes.shape[1]
        if found.landmarks is not None:
            rows, dual, level = found.landmarks.dual(k)
            marks = {"landmarks_": found.landmarks.landmarks.rows}
            marks["residual_trace_"] = found.landmarks.residual
        else:
            rows, level, marks = self._frame.kept(self.X_fit_, source), found.level[:k], {}
            dual = np.asarray(self._frame.root * axes, dtype)
        made = None if rows is None else Projection(self._seen, rows, dual, wide=bool(marks))
        own = {"X_fit_": rows, "dual_": dual, "_level": level, "_projection": made}
        return own | marks

    def _alignment(self, rows: Any) -> float | None:
        if self._fixed is not None and self._fixed.alignment is not None:
            return self._fixed.alignment
        if isinstance(self.kernel_, Linear):
            return 1.0
        if isinstance(self._seen, Precomputed) or not self._frame.numeric:
            return None
        weights = self._frame.weights
        if weights is not None and len(weights) != rows.shape[0]:
            weights = None  # landmarks of a stream, whose first rows had these weights
        sample, counts = stand_ins(rows, weights, SETTLING)
        return linear_alignment(self._seen, rows[sample], counts)

    def _warn_rank(self, rank: float, total: float) -> None:
        weights = self._frame.weights
        n = max(int(total), 0 if weights is None else int(np.count_nonzero(weights)))
        if n >= _ENOUGH and rank > n / 4:
            warn(
                "the lengthscale is too short, or there is no low-dimensional structure",
                got=f"effective rank {rank:.0f} of {n} rows, {self.kernel_!r}",
                fix="choose a longer lengthscale, or fewer and better columns",
                category=DataWarning,
            )

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)
