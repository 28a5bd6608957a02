"""The paths of kernel PCA: explicit features, LAPACK, or an iteration on the stored matrix."""

import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import (
    EPS,
    Array,
    Tiles,
    as_numpy,
    eps_of,
    gaussian,
    orthonormal,
    prepare,
    tile,
)
from mercer.diagnostics import effective_rank
from mercer.errors import InputError
from mercer.estimators._indefinite import Signs, settle
from mercer.estimators._kernel_rows import FIRST_GUESS
from mercer.estimators.pca import PCA
from mercer.kernels import FeatureMap, Flag, Kernel, Linear, Precomputed
from mercer.operators import AsymmetryError, KernelMatrix, kernel_matrix, measured_error
from mercer.planning import Path
from mercer.selection import share
from mercer.solvers import (
    BlockKrylov,
    Exact,
    Floor,
    Goal,
    Outcome,
    Spectrum,
    Stored,
    fix_signs,
)
from mercer.sources import MappedSource, scan

_C = 4.0  # units of rounding that an eigenvalue must exceed
_TASTES = 2  # products with a part of the matrix that come before those with all of it
_CHECKED = 128  # random rows of a float32 matrix that are made again in float64
_CHUNK = 1024  # training rows of one float64 tile among them


@dataclasses.dataclass(frozen=True)
class Task:
    """What the estimator asks of a path."""

    kernel: Kernel
    rows: Any
    weights: Array | None
    wanted: int | float
    indefinite: str
    tol: float
    memory: Any
    time: float | None
    seed: int

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.rows.shape[0])

    @property
    def total(self) -> float:
        """Σw, the number of rows as counted."""
        return float(self.n if self.weights is None else np.sum(self.weights))


@dataclasses.dataclass(frozen=True)
class KernelFound:
    """What a path learns beside the pairs.

    Attributes
    ----------
    total : float
        Σw.
    trace : float
        tr K̃, or Σ|λ| of an indefinite matrix.
    effective_rank : float
        (tr K̃)²/‖K̃‖²_F.
    level : ndarray of shape (k,)
        c₀ = BᵀKπ, taken from every new coordinate.
    coordinates : ndarray of shape (n, k)
        Training coordinates, projected as new rows are.
    signs : Signs
        What was done about negative eigenvalues.
    engine : PCA or None
        The model of the explicit features.
    phi : callable or None
        The explicit feature map.
    """

    total: float
    trace: float
    effective_rank: float
    level: Array
    coordinates: Array
    signs: Signs
    engine: PCA | None = None
    phi: Any = None


def solve(task: Task, path: Path) -> tuple[Spectrum, KernelFound]:
    """Return the leading pairs of K̃ (right vectors on the samples) along one path."""
    return _primal(task) if path.name == "primal" else _matrix(task, path)


# -- explicit features --------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Widened:
    """φ of float32 rows, made in float64: what the interval proves holds for exact products."""

    phi: Any

    def __call__(self, rows: Any) -> Any:
        """Return φ of rows (r, p)."""
        return self.phi(rows.astype(np.float64))


def features_of(task: Task) -> Any:
    """Return φ as a function of rows."""
    features = task.kernel.features(int(task.rows.shape[1]))
    assert features is not None
    own = isinstance(task.kernel, Linear | FeatureMap)  # the user's own rounding
    return features.phi if own or task.rows.dtype != np.float32 else Widened(features.phi)


class _Engine(PCA):
    """PCA of explicit features; what it misses is said by the estimator that asked."""

    def _warn(self, spectrum: Spectrum) -> None:
        del spectrum


def _primal(task: Task) -> tuple[Spectrum, KernelFound]:
    """PCA of φ(X): λ = (Σw - 1)·variance, u = √w·z/√λ."""
    phi = features_of(task)
    source = _mapped(task, phi)
    limit = min(task.n, source.shape[1])
    wanted = task.wanted if isinstance(task.wanted, float) else min(task.wanted, limit)
    engine = _Engine(
        wanted, tol=task.tol, memory=task.memory, time=task.time, random_state=task.seed
    )
    try:
        engine.__dict__.update(engine._fitted(source, task.weights))
    except InputError:
        if source.first_bad_cell() is not None:  # made by φ: the rows themselves are finite
            raise _not_finite(task) from None
        raise
    scores = np.asarray(engine._project(source), np.float64)
    values = engine.singular_values_**2
    alive = values > engine.certificate_.zero_level * (task.total - 1)
    root = np.ones(task.n) if task.weights is None else np.sqrt(task.weights)
    safe = np.where(alive, np.sqrt(values), 1.0)
    u = root[:, None] * scores * (alive / safe)
    flips = _flips(u, task.weights)
    turned = u * flips
    engine.components_ = engine.components_ * flips[:, None].astype(engine.components_.dtype)
    certificate = engine.certificate_.scaled(task.total - 1)
    total = float(np.sum(values)) / max(float(np.sum(engine.explained_variance_ratio_)), 1e-300)
    outcome = Outcome.CONVERGED if certificate.met else Outcome.FLOOR
    spectrum = Spectrum.of(
        values, turned, certificate, total=total, passes=engine.plan_.chosen.passes
    )
    spectrum = dataclasses.replace(spectrum, outcome=outcome)
    k = len(values) if isinstance(task.wanted, float) else task.wanted
    found = KernelFound(
        total=task.total,
        trace=total,
        effective_rank=1 / _relative_squares(engine, values, total),
        level=np.zeros(k),
        coordinates=np.pad(scores * flips, ((0, 0), (0, max(k - len(values), 0)))),
        signs=Signs(),
        engine=engine,
        phi=phi,
    )
    return spectrum.padded(k), found


def _flips(u: Array, weights: Array | None) -> Array:
    """Return the signs (k,) that make the largest coordinate z = u/√w of each axis positive."""
    z = u
    if weights is not None:
        z = u[weights > 0] / np.sqrt(weights[weights > 0])[:, None]
    return np.where(np.sum(fix_signs(z) * z, axis=0) < 0, -1.0, 1.0)


def _relative_squares(engine: PCA, values: Array, total: float) -> float:
    """Return Σλ²/(Σλ)²; where only some λ are known the others count as noise of one size."""
    if engine._squares is not None:
        return float(engine._squares)
    found = values / total
    rest = max(1 - float(np.sum(found)), 0.0)
    left = max(min(engine.components_.shape[1], engine.n_samples_) - len(values), 1)
    return float(np.sum(found**2) + rest**2 / left)


def _mapped(task: Task, phi: Any) -> Any:
    """Return φ(X) as a source: whole where it takes less than half of the memory."""
    rows = task.rows
    width = int(phi(rows[:1]).shape[1])
    if hasattr(rows, "tocsr") or task.n < width or 16.0 * task.n * width <= task.memory:
        return scan(phi(rows))
    return MappedSource(phi, rows)


# -- the matrix ---------------------------------------------------------------------------


def _matrix(task: Task, path: Path) -> tuple[Spectrum, KernelFound]:
    program, wide = task.kernel.program(), path.products == 8
    # A given matrix is widened tile by tile; rows are, so that their products are float64.
    narrow = task.rows.dtype == np.float32 and not isinstance(task.kernel, Precomputed)
    side = prepare(program, _widened(task.rows) if wide and narrow else task.rows)
    try:
        op = kernel_matrix(program, side, task.weights, np.float64 if wide else np.float32)
    except AsymmetryError as error:
        raise InputError(
            "a kernel must be symmetric: k(x, y) = k(y, x)",
            got=f"{task.kernel!r}: {error}",
            fix="pass a symmetric function or matrix, for example (K + K.T) / 2",
        ) from None
    del side  # a copy of the rows that is not needed beside the matrix
    _refuse_odd(op, task)
    spectrum, signs = _pairs(task, path, op)
    if task.weights is not None:
        flips = _flips(as_numpy(spectrum.right), task.weights)
        spectrum = dataclasses.replace(spectrum, right=spectrum.right * flips)
        assert signs.image is not None
        signs = dataclasses.replace(signs, image=signs.image * flips)
    return spectrum, _describe(task, op, spectrum, signs)


def _widened(rows: Any) -> Any:
    return rows.astype(np.float64)


def _not_finite(task: Task) -> InputError:
    return InputError(
        "the kernel gives values that are not finite",
        got=f"{task.kernel!r} on {task.n} rows",
        fix="choose smaller parameters, or divide the data by a constant",
    )


def _refuse_odd(op: KernelMatrix, task: Task) -> None:
    """Refuse a matrix that is not finite, or in which nothing varies."""
    if not (np.isfinite(op.squares) and np.all(np.isfinite(op.along))):
        raise _not_finite(task)
    floor = _floor(op, task).absolute
    still = task.kernel.flag.centred or op.centred_squares <= op.lost_squares
    if not op.trace > floor * task.n**0.5 and still:
        raise InputError(
            "the kernel matrix is constant up to rounding: no direction has variance",
            got=f"tr K̃ = {op.trace:.3g}, entries up to {op.largest:.3g}, {task.kernel!r},"
            f" n_features = {task.rows.shape[1]}",
            fix="choose a shorter lengthscale, or check that the rows differ",
        )


def _floor(op: KernelMatrix, task: Task) -> Floor:
    """Return when an eigenvalue counts as zero: below the rounding of entries and storage."""
    n = op.shape[0]
    given = isinstance(task.kernel, Precomputed) and task.rows.dtype == np.float32
    unit = eps_of(np.float32) if op.dtype.itemsize == 4 or given else 0.0
    absolute = _C * op.largest * (n * EPS + np.sqrt(n) * unit)
    return Floor(_C * n * EPS, float(absolute))


def _pairs(task: Task, path: Path, op: KernelMatrix) -> tuple[Spectrum, Signs]:
    """Return the pairs asked for; for a share their number is found on the way."""
    if isinstance(path.solver, Exact):
        return settle(op, _goal(task, op, task.n), task.indefinite, task.wanted, task)
    solver = path.solver
    assert isinstance(solver, Stored)
    guess = FIRST_GUESS if isinstance(task.wanted, float) else task.wanted
    most = max(guess, task.n // 8)
    signs = Signs.sampled(task, op.trace)
    mass = op.trace if signs.mass is None else signs.mass
    while True:
        spectrum, image = _iterated(task, solver.krylov, op, min(guess, most))
        signs = dataclasses.replace(signs, image=image)
        if spectrum.outcome is Outcome.BUDGET and solver.whole:
            break  # a flat spectrum: LAPACK is quicker than more products
        if not isinstance(task.wanted, float):
            return spectrum, signs
        reached = float(np.sum(np.maximum(spectrum.values, 0.0)))
        if reached >= task.wanted * mass:
            k = share(np.append(spectrum.values, mass - reached), task.wanted)
            cut = dataclasses.replace(spectrum, certificate=spectrum.certificate.first(k))
            return cut, signs
        if guess >= most:
            break
        guess *= 2
    return settle(op, _goal(task, op, task.n), task.indefinite, task.wanted, task)


def _goal(task: Task, op: KernelMatrix, k: int) -> Goal:
    psd = task.kernel.flag.centred
    trace = op.trace + op.entry_error * op.shape[0] if psd else None
    return Goal(k, task.tol, _floor(op, task), trace, op.entry_error, task.seed, psd=psd)


def _iterated(
    task: Task, krylov: BlockKrylov, op: KernelMatrix, k: int
) -> tuple[Spectrum, Array]:
    """Return k pairs by products, and K̃U; the first block is orthogonal to r, and all axes."""
    goal = _goal(task, op, k)
    narrow = op.dtype.itemsize == 4
    if narrow:  # half of the tolerance is left for what float32 costs
        goal = dataclasses.replace(goal, tol=0.5 * task.tol)
    spectrum = dataclasses.replace(krylov, start=_start(op, krylov, goal)).solve(op, goal)
    product = op.times(spectrum.right)
    image = op.project(product)
    if not narrow:
        return spectrum, image
    exact, picked = _checked_rows(task)
    error = measured_error(product, exact, picked, spectrum.right)
    exact -= op.k[picked]
    beyond = op.shape[0] * max(float(exact.max()), -float(exact.min()))
    certificate = dataclasses.replace(spectrum.certificate, tol=task.tol)
    certificate = certificate.widened(spectrum.values, error, beyond)
    outcome = Outcome.CONVERGED if certificate.met else Outcome.FLOOR
    if not certificate.met and spectrum.outcome is Outcome.BUDGET:
        outcome = Outcome.BUDGET
    return dataclasses.replace(spectrum, certificate=certificate, outcome=outcome), image


def _start(op: KernelMatrix, krylov: BlockKrylov, goal: Goal) -> Array:
    """Return a first block (n, b) orthogonal to r, turned to the axes of some rows."""
    block = op.project(gaussian((op.shape[0], krylov.block), op.like, goal.seed))
    for _ in range(_TASTES):
        turned, _ = orthonormal(op.taste(block), None, 0.0)
        if turned.shape[1] < krylov.block:  # those rows have fewer directions
            break
        block = turned
    return block


def _checked_rows(task: Task) -> tuple[Array, Array]:
    """Return random rows of the matrix (s, n), every entry made in float64, and which."""
    n = task.n
    rng = np.random.default_rng([task.seed, 77])
    picked = np.sort(rng.choice(n, min(n, _CHECKED), replace=False))
    program = task.kernel.program()
    few = prepare(program, _widened(task.rows[picked]))
    exact = np.empty((len(picked), n))
    tiles = Tiles(n, _CHUNK)
    for number in range(len(tiles)):
        part = tiles[number]
        some = prepare(program, _widened(task.rows[part]), other=few)
        exact[:, part] = tile(program, few, some, slice(0, few.n), slice(0, some.n))
    if task.weights is not None:
        root = np.sqrt(task.weights)
        exact *= root[picked, None] * root[None, :]
    return exact, picked


def _describe(task: Task, op: KernelMatrix, spectrum: Spectrum, signs: Signs) -> KernelFound:
    """Return c₀ and the training coordinates, as a projection of new rows would give them."""
    k = len(spectrum.certificate.lower)
    u = as_numpy(spectrum.right)[:, :k]
    size = np.maximum(spectrum.values[:k], 0.0)
    alive = size > spectrum.certificate.zero_level
    scale = signs.directions(k) * alive / np.sqrt(np.where(alive, size, 1.0))
    assert signs.image is not None
    root = np.ones(task.n) if task.weights is None else np.sqrt(task.weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        coordinates = signs.image[:, :k] * scale / root[:, None]
    return KernelFound(
        total=task.total,
        trace=signs.mass if signs.mass is not None else op.trace,
        effective_rank=effective_rank(op.trace, _squares(op, spectrum)),
        level=(op.along @ u) * scale / np.sqrt(task.total),
        coordinates=coordinates,
        signs=signs,
    )


def _squares(op: KernelMatrix, spectrum: Spectrum) -> float:
    """Return ‖K̃‖²_F: from all eigenvalues, from the sums, or entry by entry if they cancel."""
    if op.consumed and spectrum.squares is not None:
        return spectrum.squares
    summed = op.centred_squares
    return summed if summed > 1e4 * op.lost_squares else op.measured_squares()


def needs_whole(flag: Flag, policy: str, n: int, most: int) -> bool:
    """Tell whether all eigenvalues are needed: to look for negative ones, or to turn them."""
    return policy in ("flip", "shift") or (not flag.centred and n <= most)
