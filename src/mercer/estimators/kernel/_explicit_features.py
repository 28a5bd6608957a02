"""Kernel PCA of explicit features: PCA of φ(X), exact for any number of rows."""

import dataclasses
from collections.abc import Callable

import numpy as np

from mercer.arrays import Array, Tiles, is_numpy, is_objects, is_sparse, thread_count
from mercer.errors import InputError
from mercer.estimators.kernel._eigenproblem import KernelFound, Signs, Task, flips, not_finite
from mercer.estimators.kernel._kernel_rows import FIRST_GUESS
from mercer.estimators.linear.pca import PCA
from mercer.kernels import FeatureMap, Linear
from mercer.planning import LIBRARIES, explicit_bytes
from mercer.solvers import Outcome, Spectrum
from mercer.sources import MappedSource, Source, scan

_TILE = 4e5  # bytes of features that are made at a time, near the core


@dataclasses.dataclass(frozen=True)
class Widened:
    """φ of float32 rows, made in float64: what the interval proves holds for exact products."""

    phi: Callable[[Array], Array]

    def __call__(self, rows: Array) -> Array:
        """Return φ of rows (r, p)."""
        return self.phi(rows.astype(np.float64))


def features_of(task: Task) -> Callable[[Array], Array]:
    """Return φ as a function of rows."""
    p = 1 if is_objects(task.rows) else int(task.rows.shape[1])
    features = task.kernel.features(p)
    assert features is not None
    own = isinstance(task.kernel, Linear | FeatureMap)  # the user's own rounding
    return features.phi if own or task.rows.dtype != np.float32 else Widened(features.phi)


class _Engine(PCA):
    """PCA of explicit features; what it misses is said by the estimator that asked."""

    def _warn(self, spectrum: Spectrum) -> None:
        del spectrum


def primal(task: Task) -> tuple[Spectrum, KernelFound]:
    """PCA of φ(X): λ = (Σw - 1)·variance, u = √w·z/√λ."""
    phi = features_of(task)
    source, beside = _mapped(task, phi)
    limit = min(task.n, source.shape[1])
    wanted = task.wanted if isinstance(task.wanted, float) else min(task.wanted, limit)
    engine = _Engine(
        "auto" if task.auto else wanted,
        tol=task.tol,
        memory=max(task.memory - int(beside), 1),
        time=task.time,
        random_state=task.seed,
    )
    try:
        engine.__dict__.update(engine._fitted(source, task.weights))
    except InputError:
        if source.first_bad_cell() is not None:  # made by φ: the rows themselves are finite
            raise not_finite(task) from None
        raise
    scores = np.asarray(engine._project(source), np.float64)
    with np.errstate(over="ignore", under="ignore"):
        values = engine.singular_values_**2
    _refuse_range(engine, values)
    alive = values > engine.certificate_.zero_level * (task.total - 1)
    root = np.ones(task.n) if task.weights is None else np.sqrt(task.weights)
    safe = np.where(alive, np.sqrt(values), 1.0)
    u = root[:, None] * scores * (alive / safe)
    turns = flips(u, task.weights)
    turned = u * turns
    engine.components_ = engine.components_ * turns[:, None].astype(engine.components_.dtype)
    certificate = engine.certificate_.scaled(task.total - 1)
    total = _total(engine, values, task.total)
    outcome = Outcome.CONVERGED if certificate.met else Outcome.FLOOR
    spectrum = Spectrum.of(
        values, turned, certificate, total=total, passes=engine.plan_.chosen.passes
    )
    spectrum = dataclasses.replace(spectrum, outcome=outcome)
    k = len(values) if task.auto or isinstance(task.wanted, float) else task.wanted
    coordinates = np.pad(scores * turns, ((0, 0), (0, max(k - len(values), 0))))
    if task.weights is not None:
        coordinates[task.weights == 0] = np.nan  # their rows have stood in for others
    found = KernelFound(
        total=task.total,
        trace=total,
        effective_rank=1 / _relative_squares(engine, values, total, task.total),
        level=np.zeros(k),
        coordinates=coordinates,
        signs=Signs(),
        engine=engine,
        phi=phi,
    )
    return spectrum.padded(k), found


def _refuse_range(engine: PCA, values: Array) -> None:
    """Refuse eigenvalues of products that float64 cannot hold with their digits."""
    held = values[engine._alive]
    lost = ~np.isfinite(held) | (held < np.finfo(np.float64).tiny)
    if np.any(lost):
        raise InputError(
            "products of these rows leave the range of float64",
            got=f"rows that spread by {engine.singular_values_[0]:.3g} along the first axis",
            fix="divide the data by a constant",
        )


def _total(engine: PCA, values: Array, rows: float) -> float:
    """Return Σλ over all axes; where none is kept it is all noise."""
    if len(values):
        return float(np.sum(values)) / max(
            float(np.sum(engine.explained_variance_ratio_)), 1e-300
        )
    left: int = min(int(rows * (1 + 1e-12)), engine.components_.shape[1])
    return float(engine.noise_variance_) * left * (rows - 1)


def _relative_squares(engine: PCA, values: Array, total: float, rows: float) -> float:
    """Return Σλ²/(Σλ)²; where only some λ are known the others count as noise of one size."""
    if engine._squares is not None:
        return float(engine._squares)
    found = values / total
    rest = max(1 - float(np.sum(found)), 0.0)
    left = max(min(engine.components_.shape[1], int(rows * (1 + 1e-12))) - len(values), 1)
    return float(np.sum(found**2) + rest**2 / left)


def _mapped(task: Task, phi: Callable[[Array], Array]) -> tuple[Source, float]:
    """Return φ(X) as a source, as the plan says, and the bytes taken beside its PCA."""
    rows, n = task.rows, task.n
    first = phi(rows[:1])
    width, given = int(first.shape[1]), isinstance(task.kernel, Linear)
    k = int(task.wanted) if task.wanted >= 1 else FIRST_GUESS
    room, threads = task.memory - LIBRARIES, thread_count()
    whole, beside = explicit_bytes(n, width, min(k, n), room, threads, given=given)
    beside += float(getattr(rows, "nbytes", 0))  # the model keeps the rows
    if given or is_sparse(first) or not is_numpy(first) or is_sparse(rows):
        return scan(phi(rows)), beside
    if not whole:
        return MappedSource(phi, rows), beside
    made, few = np.empty((n, width), first.dtype), max(1, int(_TILE // (8 * width)))
    for part in Tiles(n, few):
        made[part] = phi(rows[part])
    return scan(made), beside
