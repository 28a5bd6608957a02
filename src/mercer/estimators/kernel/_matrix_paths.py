"""The paths of kernel PCA on the matrix: LAPACK, a stored matrix, or tiles made again.

What float32 tiles cost: measured on random rows that are made again in float64.
"""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mercer.arrays import (
    EPS,
    Array,
    Lanes,
    Node,
    Side,
    Tiles,
    as_numpy,
    eps_of,
    gaussian,
    is_objects,
    orthonormal,
    prepare,
    thread_count,
    tile,
)
from mercer.diagnostics import effective_rank
from mercer.errors import InputError
from mercer.estimators.kernel._eigenproblem import (
    KernelFound,
    Signs,
    Task,
    flips,
    no_variance,
    not_finite,
    settle,
)
from mercer.estimators.kernel._explicit_features import primal
from mercer.estimators.kernel._given_landmarks import on_landmarks
from mercer.estimators.kernel._kernel_rows import FIRST_GUESS
from mercer.estimators.kernel._landmark_model import LandmarkModel, described
from mercer.estimators.kernel._projection import Projection
from mercer.kernels import Flag, Precomputed
from mercer.operators import (
    AsymmetryError,
    KernelMatrix,
    KernelTiles,
    kernel_matrix,
    kernel_tiles,
    share_lost,
    side_dtype,
    take_out,
)
from mercer.planning import Path
from mercer.selection import share
from mercer.solvers import (
    PROBES,
    BlockKrylov,
    Exact,
    Floor,
    Goal,
    Outcome,
    Outside,
    Spectrum,
    Stored,
    probe_factor,
    raised,
)

_CHECKED = 128  # random rows of a float32 matrix that are made again in float64
_LARGEST = 32  # rows with the largest products, which are made again as well
_CHUNK = 1024  # training rows of one float64 tile among them


def charged(spectrum: Spectrum, op: KernelMatrix | KernelTiles, task: Task) -> Spectrum:
    """Return the pairs of a float32 matrix with the certificate of the exact one.

    With q_j the axes, bounds on ‖(k̂ - k)q_j‖ come from random rows: twice the largest
    difference there is charged to every row. What was not asked for is charged
    n·max|k̂_ij - k_ij|.
    """
    assert spectrum.image is not None
    right = as_numpy(spectrum.right)
    # k̂q = Pk̂q + r(rᵀk̂)q: the part along r was taken out of the image.
    product = spectrum.image + op.direction[:, None] * (op.sums.along @ right)[None, :]
    size = np.max(np.abs(product), axis=0)
    # Errors follow the entries: a few rows may hold most of both.
    large = np.argsort(np.max(np.abs(product) / np.where(size > 0, size, 1.0), axis=1))
    picked, exact, apart = _again(op, task, right, large[-_LARGEST:])
    wrong = np.max(np.abs(product[picked] - exact), axis=0)
    error = np.asarray(2 * np.sqrt(task.n) * wrong)
    certificate = dataclasses.replace(spectrum.certificate, tol=task.tol)
    certificate = certificate.widened(spectrum.values, error, task.n * apart)
    outcome = Outcome.CONVERGED if certificate.met else Outcome.FLOOR
    if not certificate.met and spectrum.outcome is Outcome.BUDGET:
        outcome = Outcome.BUDGET
    return dataclasses.replace(spectrum, certificate=certificate, outcome=outcome)


def _exact_rows(task: Task, picked: Array) -> Callable[[slice], Array]:
    """Return what makes columns of some rows of K in float64; a given matrix is as it came."""
    if isinstance(task.kernel, Precomputed):
        given = task.rows[picked]
        return lambda part: np.asarray(given[:, part], np.float64)
    program = task.kernel.program()
    few = prepare(program, task.rows[picked].astype(np.float64))

    def columns(part: slice) -> Array:
        some = prepare(program, task.rows[part].astype(np.float64), other=few)
        return tile(program, few, some, slice(0, few.n), slice(0, some.n))

    return columns


def _again(
    op: KernelMatrix | KernelTiles, task: Task, q: Array, also: Array
) -> tuple[Array, Array, float]:
    """Return random rows (s,) and `also`, k·q there from float64 (s, k), and max|k̂ - k|."""
    n, root = task.n, None if task.weights is None else np.sqrt(task.weights)
    rng = np.random.default_rng([task.seed, 77])
    picked = np.union1d(rng.choice(n, min(n, _CHECKED), replace=False), also)
    exact_of, seen = _exact_rows(task, picked), op.rows_at(picked)
    # Lanes share the space of one chunk.
    tiles = Tiles(n, max(1, _CHUNK // (2 * thread_count())))
    lanes = Lanes(min(thread_count(), len(tiles)))
    product, apart = np.zeros((lanes.count, len(picked), q.shape[1])), np.zeros(lanes.count)

    def work(lane: int, numbers: Iterator[int]) -> None:
        for number in numbers:
            part = tiles[number]
            exact = exact_of(part)
            if root is not None:
                exact *= root[picked, None] * root[part]
            product[lane] += exact @ q[part]
            exact -= seen(part)
            apart[lane] = max(apart[lane], float(exact.max()), -float(exact.min()))

    lanes.run(work, len(tiles))
    return picked, product.sum(axis=0), float(apart.max())


_C = 4.0  # units of rounding that an eigenvalue must exceed
_LIGHT = 1e-4  # of the largest weight; below, more than two digits of a row would be lost
_PROJECTED = 2048  # light rows that are projected at a time
_TASTES = 2  # products with a part of the matrix that come before those with all of it

Matrix = KernelMatrix | KernelTiles


def solve(task: Task, path: Path) -> tuple[Spectrum, KernelFound]:
    """Return the leading pairs of K̃ (right vectors on the samples) along one path."""
    if path.name == "primal":
        return primal(task)
    if path.name == "landmarks":
        if isinstance(task.kernel, Precomputed):
            return on_landmarks(task)
        return described(LandmarkModel.of(task, path.draws), task.wanted, task.tol)
    program, wide = task.kernel.program(), path.products == 8
    side, dtype = _side(task, wide=wide), np.float64 if wide else np.float32
    op: Matrix
    try:
        if path.name == "tiles":
            op, path = _tiled(task, path, program, side)
        else:
            op, path = kernel_matrix(program, side, task.weights, dtype), _going_on(task, path)
    except AsymmetryError as error:
        raise InputError(
            "a kernel must be symmetric: k(x, y) = k(y, x)",
            got=f"{task.kernel!r}: {error}",
            fix="pass a symmetric function or matrix, for example (K + K.T) / 2",
        ) from None
    odd = _odd(op, task)
    if odd is not None:
        if path.then is None or path.products == 8:
            raise odd
        return solve(task, path.then)  # more digits may see what varies
    return of_matrix(task, path, op)


def of_matrix(task: Task, path: Path, op: Matrix) -> tuple[Spectrum, KernelFound]:
    """Return the leading pairs of a matrix that is there already; LAPACK destroys it."""
    spectrum, signs = _pairs(task, path, op)
    if task.weights is not None:
        turns = flips(as_numpy(spectrum.right), task.weights)
        spectrum = dataclasses.replace(spectrum, right=spectrum.right * turns)
        assert signs.image is not None
        signs = dataclasses.replace(signs, image=signs.image * turns)
    return spectrum, _describe(task, op, spectrum, signs)


def _side(task: Task, *, wide: bool) -> Side:
    """Return the rows prepared for tiles; `wide` ones are float64, dense others float32.

    Rows are widened, so that their products are float64; a given matrix tile by tile, before
    it is weighted and summed.
    """
    rows, given = task.rows, isinstance(task.kernel, Precomputed)
    if wide and rows.dtype == np.float32 and not given:
        rows = rows.astype(np.float64)
    if not wide and rows.dtype == np.float64 and isinstance(rows, np.ndarray):
        rows = rows.astype(np.float32)
    side = prepare(task.kernel.program(), rows)
    return dataclasses.replace(side, like=np.empty((0, 0))) if wide and given else side


def _tiled(task: Task, path: Path, program: Node, side: Side) -> tuple[KernelTiles, Path]:
    """Walk over the tiles once: their sums, and the products that an iteration starts with.

    A walk costs much whatever the number of columns, so that probes of what the first block
    leaves out go along from the start, unless they can tell no more than ‖K̃‖_F will.
    """
    krylov, like = path.solver, np.empty((0, 0))
    assert isinstance(krylov, BlockKrylov)
    start, r = _first_axes(task, krylov.block), _direction(task)
    b, flag, both, probes = start.shape[1], task.kernel.flag, start, None
    if not _left_in_sight(task, krylov, b, side_dtype(side)):
        taken = np.concatenate([start, r[:, None]], axis=1)
        probes = Outside(None, taken, like, task.seed, 1, psd=flag.centred)
        both = np.concatenate([start, probes.block], axis=1)
    op, image = kernel_tiles(program, side, task.weights, both, pd=flag is Flag.PD)
    if probes is not None:
        probes.take(image[:, b:])
    solver = dataclasses.replace(krylov, start=start, image=image[:, :b], outside=probes)
    return op, dataclasses.replace(path, solver=solver)


def _left_in_sight(task: Task, krylov: BlockKrylov, b: int, dtype: np.dtype[Any]) -> bool:
    """Tell whether ‖R‖_F, of what b columns leave, bounds ‖R‖ better than one product.

    A Gaussian probe has |Rz| ≈ ‖R‖_F, and is charged α times that. ‖R‖²_F is a difference
    that loses a share of ‖k‖²_F to rounding, and ‖k‖_F ≤ tr k of a positive kernel; what is
    left of the matrix is at least what is left of known eigenvalues, Σ_{j>b} ν_j².
    """
    if krylov.max_passes > 1 or task.values is None or task.kernel.flag is not Flag.PD:
        return False
    weights = np.ones(task.n) if task.weights is None else task.weights
    trace = float(weights @ task.kernel.diag(task.rows))
    left = float(np.sum(task.values[b:] ** 2))
    return (probe_factor(PROBES) ** 2 - 1) * left >= share_lost(dtype) * trace**2


def _going_on(task: Task, path: Path) -> Path:
    """Return the path of a stored matrix, from the axes that are known already."""
    if task.start is None or not isinstance(path.solver, Stored):
        return path
    start = _first_axes(task, min(task.n - 1, task.start.shape[1] + 16))
    krylov = dataclasses.replace(path.solver.krylov, start=start)
    return dataclasses.replace(path, solver=dataclasses.replace(path.solver, krylov=krylov))


def _first_axes(task: Task, width: int) -> Array:
    """Return orthonormal columns (n, width) off r: axes known, those of landmarks, or any."""
    r, found = _direction(task), np.empty((task.n, 0))
    for make in (_known_axes, _landmark_axes, _any_axes):
        if found.shape[1] < width:
            fresh = take_out(make(task, width), r)
            q, _ = orthonormal(fresh, found, 1e-8)  # what is new, the most of it first
            q = take_out(q[:, : width - found.shape[1]], r)
            found = np.concatenate([found, q], axis=1) if found.shape[1] else q
    return np.ascontiguousarray(found)


def _direction(task: Task) -> Array:
    """Return r = √(w/Σw)."""
    root = np.ones(task.n) if task.weights is None else np.sqrt(task.weights)
    return np.asarray(root / np.linalg.norm(root))


def _known_axes(task: Task, width: int) -> Array:
    return np.empty((task.n, 0)) if task.start is None else task.start[:, :width].copy()


def _landmark_axes(task: Task, width: int) -> Array:
    if not task.kernel.flag.centred:
        return np.empty((task.n, 0))
    model = LandmarkModel.of(task)
    return model.axes_of(task.rows, task.weights, width)


def _any_axes(task: Task, width: int) -> Array:
    return np.asarray(gaussian((task.n, width), np.empty((0, 0)), task.seed))


def _odd(op: Matrix, task: Task) -> InputError | None:
    """Return what is wrong with a matrix that is not finite, or in which nothing varies."""
    if not (np.isfinite(op.sums.squares) and np.all(np.isfinite(op.sums.along))):
        return not_finite(task)
    floor = _floor(op, task).absolute
    still = task.kernel.flag.centred or op.centred_squares <= op.lost_squares
    if not op.trace > floor * task.n**0.5 and still:
        width = "" if is_objects(task.rows) else f", n_features = {task.rows.shape[1]}"
        size = f"entries up to {op.sums.largest:.3g}{width}"
        return no_variance(task.kernel, op.trace, size)
    return None


def _floor(op: Matrix, task: Task) -> Floor:
    """Return when an eigenvalue counts as zero: below the rounding of entries and storage."""
    n = op.shape[0]
    given = isinstance(task.kernel, Precomputed) and task.rows.dtype == np.float32
    unit = eps_of(np.float32) if op.dtype.itemsize == 4 or given else 0.0
    absolute = _C * op.sums.largest * (n * EPS + np.sqrt(n) * unit) + op.sums.rounding
    return Floor(_C * n * EPS, float(absolute))


def _pairs(task: Task, path: Path, op: Matrix) -> tuple[Spectrum, Signs]:
    """Return the pairs asked for; for a share their number is found on the way."""
    if isinstance(path.solver, Exact):
        assert isinstance(op, KernelMatrix)
        return settle(op, _goal(task, op, task.n), task)
    solver = path.solver if isinstance(path.solver, Stored) else Stored(path.solver, False)  # type: ignore[arg-type]
    krylov = solver.krylov
    guess = FIRST_GUESS if isinstance(task.wanted, float) else task.wanted
    most = max(guess, task.n // 8)
    signs = Signs.sampled(task, op.trace)
    mass = op.trace if signs.mass is None else signs.mass
    while True:
        spectrum = _iterated(task, krylov, op, min(guess, most))
        signs = dataclasses.replace(signs, image=spectrum.image)
        if spectrum.outcome is Outcome.BUDGET and solver.whole:
            assert isinstance(op, KernelMatrix)
            return settle(
                op, _goal(task, op, task.n), task
            )  # flat: LAPACK is quicker than more products
        if not isinstance(task.wanted, float):
            return spectrum, signs
        reached = float(np.sum(np.maximum(spectrum.values, 0.0)))
        if reached >= task.wanted * mass:
            k = share(np.append(spectrum.values, mass - reached), task.wanted)
            cut = dataclasses.replace(spectrum, certificate=spectrum.certificate.first(k))
            return cut, signs
        left = krylov.max_passes - spectrum.passes
        if guess >= most or (left < 2 and isinstance(op, KernelTiles)):
            break
        guess *= 2
        krylov = _wider(task, krylov, spectrum, op)
    if isinstance(op, KernelMatrix):
        return settle(op, _goal(task, op, task.n), task)
    raise InputError(
        "that share of the variance needs too many axes for a matrix that is not stored",
        got=f"n_components={task.wanted}: {guess:,} of {task.n:,} axes hold"
        f" {reached / mass:.3f} of the variance",
        fix="ask for a smaller share or a number of axes, or allow more `memory`",
    )


def _wider(task: Task, krylov: BlockKrylov, before: Spectrum, op: Matrix) -> BlockKrylov:
    """Return the iteration for twice as many axes; tiles go on from those found."""
    if isinstance(op, KernelMatrix):
        return krylov
    known = as_numpy(before.right)
    width = 2 * known.shape[1] + 16
    start = _first_axes(dataclasses.replace(task, start=known), width)
    left = krylov.max_passes - before.passes
    fresh = {"start": start, "image": None, "outside": None}
    return dataclasses.replace(krylov, **fresh, block=width, max_passes=left)


def _goal(task: Task, op: Matrix, k: int) -> Goal:
    psd = task.kernel.flag.centred
    # Each entry of the diagonal may be off by all that the entries are, made or centred.
    off = op.entry_error * op.shape[0] - op.sums.rounding * (op.shape[0] - 2)
    trace = op.trace + off if psd else None
    # What is known is known of the exact matrix, from which a float32 one is farther away.
    known = task.values if op.dtype.itemsize == 8 else None
    floor, error = _floor(op, task), op.entry_error
    return Goal(k, task.tol, floor, trace, error, task.seed, psd=psd, known=known)


def _iterated(task: Task, krylov: BlockKrylov, op: Matrix, k: int) -> Spectrum:
    """Return k pairs by products; the first block is orthogonal to r, and so all axes."""
    goal = _goal(task, op, k)
    narrow = op.dtype.itemsize == 4
    if narrow:  # half of the tolerance is left for what float32 costs
        goal = dataclasses.replace(goal, tol=0.5 * task.tol)
    if krylov.start is None:
        krylov = dataclasses.replace(krylov, start=_start(op, krylov, goal))
    spectrum = krylov.solve(op, goal)
    spectrum = charged(spectrum, op, task) if narrow else spectrum
    return raised(spectrum) if goal.psd else spectrum


def _start(op: Matrix, krylov: BlockKrylov, goal: Goal) -> Array:
    """Return a first block (n, b) orthogonal to r, turned to the axes of some rows."""
    block = op.project(gaussian((op.shape[0], krylov.block), op.like, goal.seed))
    for _ in range(_TASTES):
        turned, _ = orthonormal(op.taste(block), None, 0.0)
        if turned.shape[1] < krylov.block:  # those rows have fewer directions
            break
        block = turned
    return block


def _describe(task: Task, op: Matrix, spectrum: Spectrum, signs: Signs) -> KernelFound:
    """Return c₀ and the training coordinates, as a projection of new rows would give them."""
    k = len(spectrum.certificate.lower)
    u = as_numpy(spectrum.right)[:, :k]
    size = np.maximum(spectrum.values[:k], 0.0)
    alive = size > spectrum.certificate.zero_level
    scale = signs.directions(k) * alive / np.sqrt(np.where(alive, size, 1.0))
    level = (op.sums.along @ u) * scale / np.sqrt(task.total)
    return KernelFound(
        total=task.total,
        trace=signs.mass if signs.mass is not None else op.trace,
        effective_rank=effective_rank(op.trace, _squares(op, spectrum)),
        level=level,
        coordinates=_coordinates(task, op, u * scale, level, signs, scale),
        signs=signs,
        middle=float(op.direction @ op.sums.along) / task.total,
        trace_error=op.trace_error,
    )


def _coordinates(
    task: Task, op: Matrix, axes: Array, level: Array, signs: Signs, scale: Array
) -> Array:
    """Return the training coordinates K̃UΛ^-½/√w; not finite for rows of weight zero.

    A stored matrix gives u with an absolute error, so that u/√w of light rows has few digits
    or none: those are projected as new rows are. Tiles give every row of K̃U its own digits.
    """
    assert signs.image is not None
    image = signs.image[:, : len(scale)] * scale
    if task.weights is None:
        return np.asarray(image)
    root = np.sqrt(task.weights)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.asarray(image / root)
    light = np.flatnonzero((task.weights > 0) & (task.weights < _LIGHT * np.max(task.weights)))
    shifted = task.indefinite == "shift" and signs.negative_share > 0  # no projection gives it
    if isinstance(op, KernelTiles) or shifted:
        return found
    dual, tiles = root * axes, Tiles(len(light), _PROJECTED)
    given = isinstance(task.kernel, Precomputed)
    new = None if given else Projection(task.kernel, task.rows, dual)
    for part in tiles:
        at = light[part]
        rows = task.rows[at]
        found[at] = (rows @ dual if new is None else new.products(rows)) - level
    return found


def _squares(op: Matrix, spectrum: Spectrum) -> float:
    """Return ‖K̃‖²_F: from all eigenvalues, from the sums, or entry by entry if they cancel."""
    if op.consumed and spectrum.squares is not None:
        return spectrum.squares
    summed = op.centred_squares
    if summed > 1e4 * op.lost_squares or isinstance(op, KernelTiles):
        return max(summed, float(np.sum(spectrum.values**2)))
    return op.measured_squares()


def needs_whole(flag: Flag, policy: str, n: int, most: int) -> bool:
    """Tell whether all eigenvalues are needed: to look for negative ones, or to turn them."""
    return policy in ("flip", "shift") or (not flag.centred and n <= most)
