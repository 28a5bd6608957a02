"""The paths of kernel PCA, and what each costs.

What it costs to choose the number of kernel axes: matrices of shuffled tables, at first.
"""

import dataclasses
import math

import numpy as np

from mercer.arrays import Array, is_few
from mercer.planning._distributed_cost import spread
from mercer.planning._embedding_paths import geodesic_paths, unfolding_paths
from mercer.planning._principal_paths import (
    STEP_CALLS,
    Path,
    block_width,
    candidates,
    iterated_seconds,
    lapack_bytes,
    lapack_seconds,
)
from mercer.planning._problem import KernelCost, Machine, Problem, blas_buffers
from mercer.solvers import PROBES, BlockKrylov, Exact, Stored

_SMALL = 300  # rows up to which LAPACK is as fast as an iteration
_FEW = 8  # an iteration pays for at most one axis in so many
_STEPS = 6  # products that enlarge the space, typical of smooth kernels
_FEWEST, _MOST = 12, 200  # products after which a flat spectrum goes to LAPACK
_TILE = 1_000_000  # entries of a tile
_JUDGED = 2000  # rows at most on which `kernels.evidence` looks for negative eigenvalues
_TILE_BYTES = 4e6  # of a tile that is made again
_BEYOND = 48  # columns of a block beyond the axes wanted: tiles cost more than products
_FEW_BEYOND = 12  # where more would not make the intervals narrower
_WALKS = 3  # walks over the tiles, typical of smooth kernels
_MOST_WALKS = 30  # walks after which the bound reached is returned
_START = (10, 300, 3000)  # landmarks to start from: per axis, fewest, most
_SAMPLED = (2000, 50_000)  # rows among which landmarks are chosen, fewest and most
_COORDINATES = 48.0  # bytes a coordinate: vectors, turned, scaled and published
_FEATURE_TILE = 16e6  # bytes of a block of explicit features
_BLOCK = 2048  # rows whose landmark features are made at a time
_CERTIFIED = 0.3  # of the operations of a pass over all rows, for a sample of them
_PROBINGS = 12  # products with the matrix of a sample, typical
_SPARE = 0.5  # of the time that is left over, for a sample
_DRAWN = (200, 60_000)  # rows of a sample, fewest and most


def start_landmarks(rows: int, components: int) -> int:
    """Return how many landmarks an iteration starts from."""
    per, fewest, most = _START
    return max(1, min(max(fewest, per * components), most, rows // 2))


def sampled_rows(rows: int, landmarks: int, memory: float) -> int:
    """Return among how many rows landmarks are chosen: half of what one thread leaves."""
    fewest, most = _SAMPLED
    left = memory - _feature_bytes(landmarks, 1)
    fit = int(max(0.5 * left, 0.0) / (16.0 * max(landmarks, 1)))
    return min(rows, max(fewest, 2 * landmarks, min(most, fit)))


def certifying_rows(
    rows: float, landmarks: int, cols: int, room: float, flops: float = 0.0
) -> int:
    """Return how many rows are drawn to bound what landmarks leave, 0 where none would help.

    Parameters
    ----------
    rows, landmarks, cols : int
        n, m and p.
    room : float
        Bytes that are left; half of them may be taken.
    flops : float
        Operations that may be taken; a third of those of the pass over all rows, if that
        is more.
    """
    each = cols + 20.0
    flops = max(flops, _CERTIFIED * rows * landmarks * (2 * each + 2 * landmarks))
    beside = _drawn_bytes(landmarks, cols)
    held = (math.sqrt(beside**2 + 4 * max(room, 0.0)) - beside) / 4  # 2s² + s·beside = room/2
    found = min(math.sqrt(flops / _drawn_flops(landmarks, cols)), held, rows / 2, _DRAWN[1])
    return int(found) if found >= _DRAWN[0] else 0


def _drawn_flops(m: int, cols: int) -> float:
    """Return the operations a pair of drawn rows costs: half the matrix, and its products."""
    return cols + 20.0 + m + 2.0 * PROBES * _PROBINGS


def _drawn_bytes(m: int, cols: int) -> float:
    """Return what a drawn row takes: itself, its features, its part of a Krylov space."""
    return 8.0 * (2 * m + 2 * (cols + 20.0) + PROBES * _PROBINGS)


def kernel_candidates(problem: Problem) -> list[Path]:
    """Return the paths that can do a kernel problem, most digits first."""
    kernel = problem.kernel
    assert kernel is not None
    machine = problem.rates
    if kernel.bars:
        return unfolding_paths(problem)
    if kernel.geodesic:
        plain = dataclasses.replace(kernel, geodesic=False, landmarks=None)
        matrix = dataclasses.replace(problem, kernel=plain)
        return geodesic_paths(problem, kernel_candidates(matrix))
    if kernel.landmarks is not None and problem.parts:
        return [_landmarks_in_parts(problem, kernel, machine, kernel.landmarks)]
    if kernel.landmarks is not None:
        return [_landmarks(problem, kernel, machine, kernel.landmarks)]
    paths = []
    if kernel.features is not None:
        paths.append(_primal(problem, kernel, kernel.features))
    if kernel.features is None or not kernel.finite:
        paths.append(_lapack(problem, kernel, machine))
        small = problem.rows <= _SMALL and problem.allowed is None
        if not small and not kernel.whole and _FEW * problem.components <= problem.rows:
            paths.append(_stored(problem, kernel, machine))
            paths.append(_tiles(problem, kernel, machine))
            if kernel.centred and kernel.spanned:
                m = max(problem.components, start_landmarks(problem.rows, problem.components))
                paths.append(_landmarks(problem, kernel, machine, m))
    allowed = problem.allowed
    return [path for path in paths if allowed is None or path.name in allowed]


def explicit_bytes(
    rows: int, features: int, components: int, room: float, threads: int, *, given: bool
) -> tuple[bool, float]:
    """Tell whether explicit features are made whole; return what they and coordinates take.

    Parameters
    ----------
    rows, features, components : int
        n, D and k.
    room : float
        Bytes that may be taken.
    threads : int
        Each makes a block of features where they are not made whole.
    given : bool
        Whether the features are the rows themselves.
    """
    made, beside = 8.0 * rows * features, _COORDINATES * rows * components
    whole = made <= room / 2 or rows < features
    if given:
        return whole, beside
    block = min(_FEATURE_TILE, max(4e5, 0.04 * made))
    return whole, beside + (made + 3 * 4e5 if whole else 4.0 * threads * block)


def _primal(p: Problem, kernel: KernelCost, features: int) -> Path:
    """PCA of the explicit features: its cheapest path, with the features to be made."""
    _, beside = explicit_bytes(
        p.rows, features, p.components, p.room, p.threads, given=kernel.given
    )
    beside += p.data_bytes  # the model keeps the rows
    inner = dataclasses.replace(
        p, kernel=None, cols=max(features, 1), allowed=None, gram_flops=None
    )
    if not kernel.given:
        inner = dataclasses.replace(inner, nnz=None, itemsize=8)
    inner = dataclasses.replace(
        inner, components=min(p.components, p.rows, inner.cols), held=p.held + beside
    )
    best = min(candidates(inner), key=lambda path: (path.bytes > inner.room, path.seconds))
    made = 8.0 * p.rows * features
    return dataclasses.replace(
        best,
        name="primal",
        bytes=int(best.bytes + beside),
        seconds=best.seconds + made / 1e9,
        note=f"PCA of {features:,} explicit features ({best.name})",
    )


def _made(p: Problem, kernel: KernelCost, machine: Machine, itemsize: int) -> float:
    """Return the seconds of making half of the matrix."""
    n = float(p.rows)
    made = 0.5 * n * n * kernel.flops / machine.rate(machine.symmetric, itemsize)
    return made + 0.5 * n * n * kernel.exponentials / machine.rate(
        machine.exponentials, itemsize
    )


def _build(p: Problem, kernel: KernelCost, machine: Machine, itemsize: int) -> float:
    """Return the seconds of the matrix: half of it made, all of it written."""
    n = float(p.rows)
    return (
        _made(p, kernel, machine, itemsize)
        + n * n * itemsize / (machine.touch * machine.threads)
        + 1e-3
    )


def _made_bytes(p: Problem) -> float:
    """Return what tiles take while a matrix is made: up to three of a thread."""
    return min(16.0 * p.rows**2, 24.0 * _TILE * p.threads)


def _lapack(p: Problem, kernel: KernelCost, machine: Machine) -> Path:
    n = float(p.rows)
    flops = 0.5 * n * n * kernel.flops + 9 * n**3
    # Negative eigenvalues are looked for among all, and turned.
    pairs = p.rows if kernel.whole or not kernel.centred else p.components
    seconds = _build(p, kernel, machine, 8) + lapack_seconds(p.rows, pairs, machine)
    held = 8.0 * n * n + max(lapack_bytes(p.rows, pairs), _made_bytes(p))
    held += 3 * p.data_bytes + 16.0 * n * p.components
    held += blas_buffers(n**3, p.threads)
    held += kernel.beside
    few = is_few(pairs + 1, p.rows)
    note = f"{'leading' if few else 'all'} pairs of the kernel matrix by LAPACK"
    solver = Exact(destroy=True)
    return Path("lapack", solver, 1, int(held), flops, seconds, "gram", 8, note)


def _stored(p: Problem, kernel: KernelCost, machine: Machine) -> Path:
    n, b = float(p.rows), block_width(p.components, p.rows)
    basis = min(p.rows, max(400, 12 * b, 4 * p.components + 6 * b))
    flops = 0.5 * n * n * kernel.flops + 2 * n * n * b * _STEPS
    step = 2 * n * n * b / machine.rate(machine.thin, p.itemsize)
    seconds = _build(p, kernel, machine, p.itemsize) + iterated_seconds(step)
    direct = lapack_seconds(p.rows, p.components, machine)
    most = int(min(_MOST, max(_FEWEST, 0.7 * direct / (step + STEP_CALLS))))
    krylov = Stored(BlockKrylov(block=b, max_passes=most, max_basis=basis), whole=False)
    held = p.itemsize * (n * n + machine.threads * 4.0 * _TILE) + 2 * p.data_bytes
    columns = 8.0 * n * (2.2 * min(basis, (_STEPS + 2) * b) + 4 * b + 2 * p.components)
    held += max(columns, _judged_bytes(p, kernel)) + blas_buffers(n * n * b, p.threads)
    held += kernel.beside
    note = f"stored matrix, block Krylov with {b} columns a product"
    if p.itemsize == 4:
        note = f"float32 {note}, its error measured"
    return Path("stored", krylov, 1, int(held), flops, seconds, "tol", p.itemsize, note)


def _judged_bytes(p: Problem, kernel: KernelCost) -> float:
    """Return what it takes to look for negative eigenvalues on a sample of the rows."""
    return 0.0 if kernel.centred else 32.0 * min(p.rows, _JUDGED) ** 2


def _tiles(p: Problem, kernel: KernelCost, machine: Machine) -> Path:
    """Products with tiles that are made again each time: O(n(p + b)) bytes."""
    n, k = float(p.rows), p.components
    b = min(p.rows, k + _BEYOND)
    m = start_landmarks(p.rows, k)
    lane = 12.0 * n * b + 3 * _TILE_BYTES
    held = 2 * p.data_bytes + lane + kernel.beside
    held += _feature_bytes(m, 1) + 8.0 * n * (7 * b + 3 * k)
    # What the landmarks are chosen with is gone before there is a basis.
    chosen = 16.0 * m * sampled_rows(p.rows, m, p.room)
    room = (p.room - held) / (8.0 * n * 2.2)  # that one thread leaves: digits depend on it
    basis = int(min(p.rows, max(6 * b, k + 4 * b), max(room, k + 2 * b)))
    chosen = max(chosen, _judged_bytes(p, kernel))
    held += max(8.0 * n * 2.2 * basis, chosen) + (machine.threads - 1) * lane
    held += _feature_bytes(m, p.threads) - _feature_bytes(m, 1)
    walk = _made(p, kernel, machine, p.itemsize)
    walk += 2 * n * n * b / machine.rate(machine.thin, p.itemsize)
    start = _feature_seconds(2 * n, m, p.cols, machine)
    flops = _WALKS * (0.5 * n * n * kernel.flops + 2 * n * n * b)
    krylov = BlockKrylov(block=b, max_passes=_MOST_WALKS, max_basis=basis)
    note = f"tiles made again for each of about {_WALKS} products with {b} columns"
    if p.itemsize == 4:
        note = f"float32 {note}, their error measured"
    seconds = _WALKS * walk + start
    passes = _MOST_WALKS
    return Path("tiles", krylov, passes, int(held), flops, seconds, "tol", p.itemsize, note)


def columns_beyond(values: Array | None = None, components: int = 0) -> int:
    """Return how many columns a block of tiles has beyond the axes wanted.

    Many make the intervals narrow: little is then left outside the block. Where known
    eigenvalues (m,) say that even these leave more than λ_k, few find the pairs as well.
    """
    if values is None:
        return _BEYOND
    left = float(np.linalg.norm(values[components + _BEYOND :]))
    return _FEW_BEYOND if left > 0 and left >= values[components - 1] else _BEYOND


def few_walks(path: Path, passes: int, columns: int | None = None) -> Path:
    """Return the path of tiles with a budget of passes, and nothing after them.

    Parameters
    ----------
    path : Path
        Of tiles.
    passes : int
        The most that it may make.
    columns : int or None
        Columns of the block where that is settled.
    """
    share = min(1.0, passes / _WALKS)
    krylov = path.solver
    assert isinstance(krylov, BlockKrylov)
    if columns is not None and columns < krylov.block:
        words = "with {} columns"
        note = path.note.replace(words.format(krylov.block), words.format(columns))
        fewer = dataclasses.replace(krylov, block=columns)
        path = dataclasses.replace(path, solver=fewer, note=note)
    path = dataclasses.replace(
        path, flops=share * path.flops, seconds=share * path.seconds, then=None
    )
    return path.with_passes(passes)


def _landmarks(p: Problem, kernel: KernelCost, machine: Machine, m: int) -> Path:
    """The axes among combinations of m rows, certified by what those leave of all rows."""
    n = float(p.rows)
    flops = n * (m * kernel.flops + 2.0 * m * m) + 9.0 * m**3
    few = sampled_rows(p.rows, m, p.room)
    seconds = _feature_seconds(n + 2.0 * few, m, p.cols, machine)
    seconds += m**3 / (machine.eigen * machine.threads)
    # The rows among which they are chosen are copied, and made ready in float64.
    chosen = 16.0 * few * m + (2 if p.itemsize == 8 else 5) * p.data_bytes * few / n
    held = kernel.beside + chosen + _feature_bytes(m, p.threads) + 16.0 * m * p.cols
    rate = machine.rate(machine.symmetric, 8)
    spare = 0.0 if p.time is None else max(p.time - seconds, 0.0) * rate * _SPARE
    draws = certifying_rows(n, m, p.cols, p.room - held, spare)
    held += 2.0 * draws**2 + draws * _drawn_bytes(m, p.cols)
    drawn = draws**2 * _drawn_flops(m, p.cols)
    flops, seconds = flops + drawn, seconds + drawn / rate
    note = f"{m:,} landmarks, one pass, certified by their residual"
    if draws:
        note = f"{note} and {draws:,} rows drawn by it"
    path = Path("landmarks", Exact(), 1, int(held), flops, seconds, "bound", 8, note)
    return dataclasses.replace(path, draws=draws)


def _landmarks_in_parts(p: Problem, kernel: KernelCost, machine: Machine, m: int) -> Path:
    """The same where rows lie: a pass samples them, a task chooses, the last pass sums."""
    one = dataclasses.replace(machine, threads=1)
    n, few = float(p.rows), float(kernel.sampled)
    flops = n * (m * kernel.flops + 2.0 * m * m) + 9.0 * m**3
    alone = _feature_seconds(2.0 * few, m, p.cols, one) + m**3 / one.eigen
    seconds = _feature_seconds(n, m, p.cols, one) + alone
    held = blas_buffers(float(m) ** 3, 1) + 64.0 * m * m + 16.0 * m * (p.cols + p.components)
    note = f"{m:,} landmarks, certified by their residual"
    price = kernel.passes, int(held), flops, seconds
    return spread(Path("landmarks", Exact(), *price, "bound", 8, note, alone=alone), p)


def _feature_bytes(m: int, threads: int) -> float:
    """Return the bytes of sums over landmark features: some m×m and a block a thread."""
    sums = 8.0 * ((6 + threads) * m * m + threads * 3 * _BLOCK * m)
    return sums + blas_buffers(float(_BLOCK) * m * m, threads)


def _feature_seconds(n: float, m: int, p: int, machine: Machine) -> float:
    return n * m * (2.0 * p + 20 + 2 * m) / machine.rate(machine.symmetric, 8)


def kernel_fallbacks(best: Path, paths: list[Path], problem: Problem) -> Path:
    """Return the chosen path with float64 and then LAPACK behind an iteration."""
    if best.name == "tiles" and best.products == 4:
        note, held = "float64 tiles, from the axes found", 2 * best.bytes
        after = dataclasses.replace(best, products=8, note=note, bytes=held)
        return dataclasses.replace(best, then=after if held <= problem.room else None)
    if best.name != "stored":
        return best
    n = problem.rows
    whole = 26.0 * n * n <= problem.room and best.products == 8
    assert isinstance(best.solver, Stored)
    each = dataclasses.replace(best, solver=dataclasses.replace(best.solver, whole=whole))
    if best.products == 8:
        return each
    wide = [p for p in paths if p.name == "lapack" and p.bytes <= problem.room]
    again = dataclasses.replace(
        best,
        products=8,
        note="float64 matrix",
        bytes=2 * best.bytes,
        solver=dataclasses.replace(best.solver, whole=bool(wide)),
    )
    return dataclasses.replace(each, then=again if again.bytes <= problem.room else None)


_TABLES = 40  # the rows themselves and 39 shuffled tables, at most
_ROWS = (100, 500)  # of a table, fewest and most
_CELLS = 2e6  # of a table, unless it has the fewest rows
_SHUFFLE = 1.5e8  # cells shuffled in a second
_VALUES = 4.0  # how much quicker eigenvalues are without their vectors


def shuffled_rows(rows: int, cols: int) -> int:
    """Return how many rows the tables have that are shuffled."""
    fewest, most = _ROWS
    return min(rows, max(fewest, min(most, int(_CELLS // max(cols, 1)))))


def shuffled_seconds(p: Problem) -> float:
    """Return the seconds of all shuffled tables: columns moved, matrices, eigenvalues."""
    kernel, machine = p.kernel, p.rates
    if kernel is None or not kernel.shuffled:
        return 0.0
    n = float(kernel.shuffled)
    made = (
        n
        * n
        * (
            kernel.flops / machine.rate(machine.symmetric, 8)
            + kernel.exponentials / machine.rate(machine.exponentials, 8)
        )
    )
    values = n**3 / (_VALUES * machine.eigen * machine.threads)
    return _TABLES * (n * p.cols / _SHUFFLE + made + values)


def with_choice(path: Path, p: Problem) -> Path:
    """Return the path with what choosing the number of axes adds to it."""
    seconds = shuffled_seconds(p)
    if not seconds:
        return path
    n = float(p.kernel.shuffled) if p.kernel is not None else 0.0
    held = max(path.bytes, int(32 * n * n + 24 * n * p.cols))
    return dataclasses.replace(path, seconds=path.seconds + seconds, bytes=held)


def choice_line(p: Problem) -> str:
    """Return what a plan says of the choice, or nothing."""
    seconds = shuffled_seconds(p)
    if not seconds or p.kernel is None:
        return ""
    return (
        f"     first {_TABLES} kernel matrices of {p.kernel.shuffled:,} rows at most,"
        f" {seconds:.2g} s of these: how many axes are beyond noise"
    )
