"""Kernel PCA on landmarks: the axes among combinations of few rows, certified for all."""

import dataclasses
import math
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from scipy.linalg.lapack import dtrtri

from mercer.arrays import EPS, Array, is_objects, quiet_blas, stacked
from mercer.diagnostics import effective_rank
from mercer.errors import AccuracyWarning, InputError, NotSupportedError, warn
from mercer.estimators.kernel._eigenproblem import KernelFound, Signs, Task, no_variance
from mercer.estimators.kernel._kernel_rows import FIRST_GUESS, KernelRows
from mercer.estimators.kernel._projection import Projection
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.kernels import Kernel, Precomputed
from mercer.operators import (
    SAMPLERS,
    Landmarks,
    LandmarkSums,
    ResidualSample,
    SampledResidual,
    choose,
    select,
)
from mercer.planning import sampled_rows, start_landmarks
from mercer.solvers import Certificate, Outcome, Outside, Spectrum, fix_signs, sampled_norm
from mercer.sources import Source

_ALL = 300  # rows up to which every one is a landmark, unless a number is given
_ROUNDING = 16 * EPS  # of one feature, relative to the trace
_FAILURE = 1e-9  # the chance that a sampled bound is too small
_PROBED = 0.05  # share of that chance for each of two bounds on the norm of the sample
_NEAR = 1.03  # times the largest Ritz value: a bound that is near enough
_ENTRIES = 2.0  # how far a row may be beyond the landmarks, in what its entries lose


@dataclasses.dataclass(frozen=True)
class LandmarkChoice:
    """Which landmarks are wanted: how many, by which sampler, or these rows.

    Attributes
    ----------
    count : int or None
        How many; None leaves it to the plan.
    sampler : str or array of int
        One of `SAMPLERS`, or which rows of a matrix that is given.
    rows : array of shape (m, p) or None
        Landmarks given by the user.
    """

    count: int | None = None
    sampler: Any = "pivoted"
    rows: Array | None = None

    @classmethod
    def of(
        cls, landmarks: Any, *, objects: bool = False, numbered: bool = False
    ) -> "LandmarkChoice":
        """Return what the parameter `landmarks` means; rows may be `objects`.

        Those of a matrix that is given are known by their numbers: `numbered`.
        """
        if landmarks is None:
            return cls()
        if isinstance(landmarks, str) and landmarks in SAMPLERS:
            return cls(sampler=landmarks)
        if isinstance(landmarks, Integral) and not isinstance(landmarks, bool):
            if int(landmarks) >= 1:
                return cls(count=int(landmarks))
        elif numbered:
            listed = np.asarray(landmarks)
            if listed.ndim == 1 and listed.dtype.kind in "iu" and listed.size:
                return cls(count=len(listed), sampler=listed)
        elif len(getattr(landmarks, "shape", ())) == 2:
            return cls(count=int(landmarks.shape[0]), rows=landmarks)
        elif objects and hasattr(landmarks, "__len__") and not isinstance(landmarks, str):
            return cls(count=len(landmarks), rows=landmarks)
        kind, shape = type(landmarks).__name__, getattr(landmarks, "shape", None)
        raise InputError(
            "`landmarks` is a number, a sampler or rows",
            got=f"landmarks={landmarks!r}" if shape is None else f"{kind} of shape {shape}",
            fix=f"pass a whole number, one of {', '.join(SAMPLERS)}, or "
            + ("numbers of rows" if numbered else "an array (m, p)"),
        )

    def admitted(self, admit: Callable[[Array], Source]) -> "LandmarkChoice":
        """Return the same with rows as a source, checked as others are."""
        if self.rows is None:
            return self
        source = admit(self.rows)
        refuse_bad_cells(source)
        return dataclasses.replace(self, rows=source)

    def framed(self, frame: KernelRows) -> "LandmarkChoice":
        """Return the same with rows that came as a source in the frame of the others."""
        if self.rows is None:
            return self
        return dataclasses.replace(self, rows=frame.ready(self.rows))

    def number(self, rows: int, components: int) -> int:
        """Return how many landmarks a fit of so many rows takes."""
        if self.count is not None:
            return self.count if self.rows is not None else min(self.count, rows)
        return max(min(max(components, _ALL), rows), start_landmarks(rows, components))

    def landmarks(self, kernel: Kernel, rows: Array, count: int, **options: Any) -> Landmarks:
        """Return the rows given, or `count` chosen among `rows`; see `operators.select`."""
        if self.rows is not None:
            return Landmarks.of(kernel, self.rows)
        return select(kernel, rows, count, sampler=self.sampler, **options)[0]


@dataclasses.dataclass(frozen=True)
class SampledBound:
    """What a sample of rows tells of the residual N = K - FFᵀ: ‖N‖ ≤ norm.

    Attributes
    ----------
    norm : float
        The bound.
    sampled : float
        A bound on the norm of the sample.
    draws : int
        Rows drawn, by what the landmarks miss of them.
    failure : float
        The chance that the bound is too small.
    """

    norm: float
    sampled: float
    draws: int
    failure: float


@dataclasses.dataclass(frozen=True, eq=False)
class LandmarkModel:
    """KPCA restricted to the span of landmarks: eigenpairs ν, w of Σ(f - f̄)(f - f̄)ᵀ.

    The variance along each axis is exact; λ_i lies in [ν_i, ν_i + ‖N‖], N = K - FFᵀ what the
    landmarks leave. Its trace t = Σ r(x) over all rows bounds that norm for certain; a sample
    of rows bounds it, closer, but for a chance of 1e-9.

    Attributes
    ----------
    landmarks : Landmarks
        S and L.
    values : ndarray of shape (m,)
        ν, descending.
    axes : ndarray of shape (m, m)
        w, in coordinates f.
    mean : ndarray of shape (m,)
        f̄.
    residual : float
        t.
    trace : float
        Σ k(x, x), against which rounding is measured.
    total : float
        Σw, the number of rows as counted.
    error : float
        A bound on what rounding does to an eigenvalue.
    sampled : SampledBound or None
        What a sample tells of ‖N‖.
    """

    landmarks: Landmarks
    values: Array
    axes: Array
    mean: Array
    residual: float
    trace: float
    total: float
    error: float
    sampled: SampledBound | None = None

    @classmethod
    def of(cls, task: Task, draws: int = 0) -> "LandmarkModel":
        """Return the model of all rows: landmarks chosen on some, then one pass over all.

        So many rows are drawn on the way, to bound what the landmarks leave.
        """
        choice = task.landmarks or LandmarkChoice()
        k = FIRST_GUESS if isinstance(task.wanted, float) else task.wanted
        count = choice.number(task.n, min(k, task.n))
        among = sampled_rows(task.n, count, task.memory)
        drawn = {"draws": draws, "seed": task.seed}
        given: dict[str, Any] = {"weights": task.weights, "seed": task.seed}
        counted = task.weights is None or bool(np.all(task.weights > 0))
        if among >= task.n and counted and choice.rows is None:  # all features are known then
            sampler = choice.sampler
            factor = choose(task.kernel, task.rows, count, sampler=sampler, **given)
            return cls.summed(LandmarkSums.of(factor, task.rows, **drawn), task.seed)
        marks = choice.landmarks(task.kernel, task.rows, count, among=among, **given)
        sums = LandmarkSums(marks, **drawn)
        return cls.summed(sums.add(task.rows, task.weights), task.seed)

    @classmethod
    def summed(
        cls, sums: LandmarkSums, seed: int = 0, looked: int | None = None
    ) -> "LandmarkModel":
        """Return the model that sums over landmark features hold.

        Of the rows that were drawn, at most `looked` are looked at.
        """
        marks = sums.landmarks
        with quiet_blas(marks.m):
            values, axes, mean, residual = sums.pairs()
            # Signs as of other fits: the landmark with the largest coordinate has a positive
            # one.
            at_marks = (marks.triangle - mean) @ axes
            error = _rounding(sums)
        turned = axes * np.where(np.sum(fix_signs(at_marks) * at_marks, axis=0) < 0, -1.0, 1.0)
        sample = sums.sample
        if sample is not None and looked is not None:
            sample = sample.first(looked)
        sampled = None if sample is None else _sampled(marks, sample, residual, error, seed)
        trace, count = sums.raw_trace, sums.count
        return cls(marks, values, turned, mean, residual, trace, count, error, sampled)

    def axes_of(self, rows: Array, weights: Array | None, count: int) -> Array:
        """Return √w·z/√ν (n, count): nearly the leading eigenvectors of K̃.

        An iteration starts from them: float32 rows have float32 tiles where the landmarks
        allow it.
        """
        alive = int(np.sum(self.values > self.error))
        marks, dual, level = self.dual(min(count, alive))
        wide = rows.dtype != np.float32 or not self.landmarks.steady
        dual = dual if wide else dual.astype(np.float32)
        found = Projection(self.landmarks.kernel, marks, dual, wide=wide).products(rows)
        found -= level
        found /= np.sqrt(self.values[: dual.shape[1]])
        return found if weights is None else found * np.sqrt(weights)[:, None]

    def dual(self, k: int) -> tuple[Array, Array, Array]:
        """Return rows (m, p), B (m, k) and c₀ (k,) with z(x) = Bᵀk_S(x) - c₀."""
        few = self.axes[:, :k]
        rows, dual, constant = as_dual(self.landmarks, few)
        short = k - few.shape[1]  # axes beyond the landmarks have no variance
        dual = np.pad(dual, ((0, 0), (0, short)))
        return rows, dual, np.pad(self.mean @ few + constant, (0, short))

    def count_for(self, share: float) -> int:
        """Return the fewest axes that certainly hold a share of the variance, or all."""
        held = np.cumsum(self.values) / (np.sum(self.values) + self.residual)
        enough = np.flatnonzero(held >= share)
        return int(enough[0]) + 1 if enough.size else max(len(held), 1)

    def certificate(self, k: int, tol: float) -> Certificate:
        """Return λ_i ∈ [ν_i, ν_i + ‖N‖], rounding included; beyond the landmarks ν_i is 0.

        ‖N‖ ≤ t for certain, and by a sample but for a chance that the certificate states.
        """
        values = np.pad(self.values, (0, k + 1))

        def of(norm: float) -> Certificate:
            return Certificate.of(
                values[:k],
                values[: k + 1] + norm,
                np.full(k, norm),
                error=self.error,
                tol=tol,
                zero_level=self.error,
                psd=True,
            )

        sure = of(self.residual)
        if self.sampled is None or self.sampled.norm >= self.residual:
            return sure
        likely = of(self.sampled.norm)
        return dataclasses.replace(likely, failure=self.sampled.failure, sure_upper=sure.upper)


def _sampled(
    marks: Landmarks, sample: ResidualSample, t: float, error: float, seed: int
) -> SampledBound | None:
    """Return the bound on ‖N‖ that the rows drawn give, None where they can give none.

    Few rows are not looked at: even a sample of norm zero would leave more than t.
    """
    if sample.draws == 0 or not t > 0 or not math.isfinite(error):
        return None
    if sampled_norm(0.0, t, sample.draws, _FAILURE) >= t:
        return None
    matrix = SampledResidual(marks, sample, error)
    blank = np.empty((0, 0))
    probes = Outside(
        matrix.times,
        np.empty((matrix.draws, 0)),
        blank,
        seed,
        2,
        failure=_PROBED * _FAILURE,
    )
    while not probes.exhausted and probes.bound > _NEAR * probes.ritz:
        probes.step()
    norm = probes.bound + 2 * matrix.rounding
    drawn = (1 - 2 * _PROBED) * _FAILURE
    bound = sampled_norm(norm, matrix.trace, matrix.draws, drawn)
    return SampledBound(min(bound, t), norm, matrix.draws, _FAILURE)


def _rounding(sums: LandmarkSums) -> float:
    """Return 16·eps·max(mT, B + 2√(TB)), and the same of entries that have lost more.

    T = Σ k(x, x), B = Σ ‖Dβ(x)‖². ‖f(x)‖² = β(x)ᵀK_SSβ(x) with β(x) = L^-ᵀf(x), and k(s, s')
    has a rounding of eps·d_s·d_s', D² the diagonal of K_SS: where the landmarks are nearly
    dependent and a row is far from them, β is large, and so is what rounding does. An entry
    that is off by e, whatever its size, counts e·√m·(n + b + 2√(nb)) with n = Σw and
    b = Σ ‖β(x)‖².
    """
    marks, trace = sums.landmarks, max(sums.raw_trace, 0.0)
    if marks.m == 0 or sums.shift is None:
        return _ROUNDING * trace
    products, shift = np.tril(sums.p), sums.shift
    products += np.tril(products, -1).T
    products += np.outer(shift, sums.q) + np.outer(sums.q + sums.count * shift, shift)
    inverse, sizes = dtrtri(marks.triangle, lower=1)[0], np.linalg.norm(marks.triangle, axis=1)

    def large(scale: Array) -> float:
        spread = inverse * scale
        return max(float(np.sum(spread * (products @ spread))), 0.0)

    relative, flat = marks.entry_rounding
    b = large(sizes)
    unit = max(_ROUNDING, _ENTRIES * relative)
    found = unit * max(marks.m * trace, b + 2 * np.sqrt(trace * b))
    if flat:
        least, most = float(np.min(sizes)), float(np.max(sizes))
        even = b / least**2 if most <= 1.01 * least else large(np.ones(marks.m))
        n = sums.count
        found += _ENTRIES * np.sqrt(marks.m) * flat * (n + even + 2 * np.sqrt(n * even))
    return float(found)


def as_dual(marks: Landmarks, w: Array) -> tuple[Array, Array, Array]:
    """Return rows, B and c with wᵀf(x) = Bᵀk(rows, x) - c, for w (m, k).

    A cpd kernel is used as k(x, y) - k(x, o) - k(o, y) + k(o, o), so that o joins the rows.
    """
    dual = np.linalg.solve(marks.triangle.T, w)
    if marks.origin is None:
        return marks.rows, dual, np.zeros(w.shape[1])
    kernel, lost = marks.kernel, dual.sum(axis=0)
    to_origin = _wide(kernel.block(_wide(marks.rows), _wide(marks.origin)))[:, 0] @ dual
    constant = to_origin - lost * float(kernel.diag(_wide(marks.origin))[0])
    rows = stacked((marks.rows, marks.origin))
    return rows, np.concatenate([dual, -lost[None, :]]), constant


def _wide(rows: Array) -> Array:
    return rows if is_objects(rows) else rows.astype(np.float64, copy=False)


def described(
    model: LandmarkModel, wanted: int | float, tol: float
) -> tuple[Spectrum, KernelFound]:
    """Return the pairs of a landmark model and what is reported beside them.

    Right vectors are in coordinates f.
    """
    held = float(np.sum(model.values))
    if held + model.residual <= model.error:
        marks = model.landmarks
        raise no_variance(marks.kernel, held, f"{marks.m} landmarks tell all rows")
    k = model.count_for(wanted) if isinstance(wanted, float) else wanted
    if isinstance(wanted, float) and held < wanted * (held + model.residual):
        warn(
            "landmarks may hold less than that share of the variance: all axes are kept",
            got=f"n_components={wanted}; {held / (held + model.residual):.3f} is certain",
            fix="take more landmarks, or call refine(X)",
            category=AccuracyWarning,
        )
    certificate = model.certificate(k, tol)
    few = min(k, len(model.values))
    spectrum = Spectrum(
        values=model.values[:few],
        right=model.axes[:, :few],
        total=held + model.residual,
        passes=1,
        outcome=Outcome.CONVERGED if certificate.met else Outcome.LANDMARKS,
        certificate=certificate.first(few),
    ).padded(k)
    spectrum = dataclasses.replace(spectrum, certificate=certificate)
    # What the landmarks leave is spread over many axes, of which none is known.
    others = max(model.total - 1 - len(model.values), 1.0)
    squares = float(np.sum(model.values**2)) + model.residual**2 / others
    return spectrum, KernelFound(
        total=model.total,
        trace=held + model.residual,
        effective_rank=effective_rank(held + model.residual, squares),
        level=np.append(model.mean @ model.axes[:, :few], np.zeros(k - few)),
        coordinates=None,
        signs=Signs(),
        landmarks=model,
    )


def refuse_landmarks(kernel: Kernel, given: object) -> None:
    """Refuse landmarks for a kernel that is not known to be positive definite.

    A matrix that is given is looked at when its landmarks are chosen.
    """
    if isinstance(kernel, Precomputed):
        return
    if given is not None and not kernel.flag.centred:
        raise NotSupportedError(
            "landmarks need a kernel that is positive definite, or conditionally so",
            got=f"{kernel!r}, which is {kernel.flag.value}",
            fix="leave `landmarks` out, or choose another kernel",
        )
