"""The paths of a principal component analysis and what each costs."""

import dataclasses
import math

from mercer.arrays import is_few, show_bytes
from mercer.operators import gram_bytes, panel_rows, sketch_rank
from mercer.planning._distributed_cost import spread
from mercer.planning._problem import Machine, Problem, blas_buffers
from mercer.solvers import BlockKrylov, Exact, Solver, Stored

_SMALL = 600  # order up to which LAPACK's full eigenproblem is as fast as an iteration
_SURE = 1.5  # how much slower LAPACK may be, which takes as long for every spectrum
_SETTLED = 4  # steps of an iteration on a matrix of which few axes stand out
_STEPS = 5  # passes that enlarge the space, typical at tol 1e-6
_FEW_PASSES = 15  # products after which all pairs are quicker
_CHECKS = 3  # and passes with sixteen probes
_IN_MEMORY = (3, 1)  # both for tables in memory; what needs more gives way to the next path
_MOST = (40, 600)  # passes of an iteration on rows that are read again, and on rows in memory
_WORKSPACE = 18.0  # bytes per entry that LAPACK's full eigenproblem takes, in place
_BAND = 130  # columns that LAPACK takes beside the matrix for some pairs, and two for each
_SOME = 6.0  # times as quick as all pairs are a few, of large matrices
_SQUARES = (2e-8, 1.2e-8)  # seconds that each entry takes beside, for all pairs and for some
_VECTOR = 4e-10  # seconds for each entry of the matrix and each vector
_CALL = 2e-4  # seconds of a fit that has nothing to do
STEP_CALLS = 1.2e-3  # seconds of a step of an iteration that has nothing to do
_BLOCK_CALLS = 3e-5  # of a block of rows
_WIDE_ANYWAY = 1e9  # flops up to which float32 data is simply multiplied in float64
_LANES = 1000  # columns up to which each thread keeps its own sums


class PathEndedError(ArithmeticError):
    """A path has shown on its way that it will miss `tol`: the next one is taken."""


@dataclasses.dataclass(frozen=True)
class Path:
    """One way to solve the problem, with its forecast."""

    name: str
    solver: Solver
    passes: int
    bytes: int
    flops: float
    seconds: float
    digits: str  # "all", "gram" (what is below eps·λ₁ is lost), "tol", or "bound" (no promise)
    products: int  # bytes of a product: 4 or 8
    note: str
    then: "Path | None" = None
    alone: float = 0.0  # of the seconds, those that do not grow with the rows
    worker_bytes: int = 0  # that the process of a worker takes at most, where rows are in parts
    network: int = 0  # bytes that go over the network in one pass
    threads: int = 0  # that the work is held to, where more have no space; 0 is all there are
    draws: int = 0  # rows drawn on the way, to bound what landmarks leave

    def line(self) -> str:
        """Return the path as one line of the plan."""
        passes = f"{self.passes} pass" + ("es" if self.passes > 1 else "")
        return (
            f"{self.name:10s}{passes:>9s}{show_bytes(self.bytes):>10s}"
            f"{self.flops:9.1e} flop{self.seconds:9.2g} s   {self.note}"
        )

    def within(self, passes: int, worth: float = math.inf) -> "Path":
        """Return the same iterative path, given up after so many passes.

        Sooner where more than `worth` of them are foreseen to be left.
        """
        assert isinstance(self.solver, BlockKrylov)
        solver = dataclasses.replace(self.solver, max_passes=passes, worth=worth)
        return dataclasses.replace(self, solver=solver)

    def with_passes(self, passes: int) -> "Path":
        """Return the same iterative path with a budget of passes."""
        note = f"{self.note}, at most {passes} passes"
        return dataclasses.replace(self.within(passes), passes=passes, note=note)


def candidates(problem: Problem) -> list[Path]:
    """Return the paths that can do the problem, most digits first."""
    if problem.nnz is not None:  # sparse products are float64 whatever the data
        problem = dataclasses.replace(problem, itemsize=8)
    machine = problem.rates
    if problem.parts:  # priced for one thread, and then for all of them
        machine = dataclasses.replace(machine, threads=1)
    tall = problem.rows >= problem.cols
    paths = [_svd(problem, machine)]
    paths.append(_gram(problem, machine) if tall else _dual(problem, machine))
    if problem.parts and not tall:  # n×n numbers would have to be gathered
        paths[-1] = _gram(problem, machine)
    elif problem.allowed is not None and "gram" in problem.allowed and not tall:
        paths.append(_gram(problem, machine))
    if 3 * problem.components <= problem.smaller and problem.smaller > 20:
        paths.append(_krylov(problem, machine))
    if problem.block_bytes and problem.max_passes < 2:  # where sums do not fit, and rows go
        paths.append(sketch_path(problem, sketch_rank(problem.components, problem.cols)))
    paths = [(spread if problem.parts else _streamed)(path, problem) for path in paths]
    paths = [_compared(path, problem) for path in paths]
    allowed = problem.allowed
    return [path for path in paths if allowed is None or path.name in allowed]


def _streamed(path: Path, p: Problem) -> Path:
    """Return the path with what reading rows block by block adds to its forecast.

    Two blocks are in memory, and one more while it is parsed; reading goes on beside the
    arithmetic.
    """
    if not p.block_bytes:
        return path
    m, passes, held = float(p.cols), path.passes, path.bytes + 3.5 * p.block_bytes
    if path.name == "gram":  # sums of all blocks, of one, and the space of a product
        held += 8 * m * m * (2 if p.kept else 1)
    if path.name == "dual":
        panels = max(1, math.ceil(p.rows / panel_rows(p.cols, p.block_bytes)))
        passes, held = 2 + panels, held + 4.5 * p.block_bytes + 8.0 * p.rows**2
        if p.kept:
            held += 8.0 * p.rows**2 + 16 * m * p.components + 0.5 * p.block_bytes
    if path.name == "krylov" and p.kept:
        assert isinstance(path.solver, BlockKrylov)
        held += 8 * m * path.solver.block * passes
    if path.name == "krylov" and p.rows < p.cols:  # one pass a step needs the wide side
        held += 8.0 * (m - p.rows) * _basis(block_width(p.components, p.smaller), 0, p.smaller)
    seconds = max(path.seconds, passes * p.read_seconds)
    return dataclasses.replace(path, passes=passes, bytes=int(held), seconds=seconds)


def _compared(path: Path, p: Problem) -> Path:
    """Return the path with the pass that compares two halves of rows elsewhere."""
    if not (p.compared and p.block_bytes) or path.name in ("gram", "sketch"):
        return path
    threads = p.workers.threads if p.workers is not None else 1
    reading = p.read_seconds / min(threads, max(1, p.parts))
    return dataclasses.replace(path, passes=path.passes + 1, seconds=path.seconds + reading)


def block_width(components: int, order: int, sparse: bool = False) -> int:
    """Return b: the fewest flops at the speed of products with that many columns.

    A small block needs fewer columns in all; dense products want it wide, sparse ones do
    not care.
    """
    width = 10 + components // 8 if sparse else 18 + (3 * components) // 5
    return min(order, width)


def _basis(block: int, components: int, order: int) -> int:
    """Return the columns kept before a restart: flat spectra need hundreds."""
    return min(order, max(400, 12 * block, 4 * components + 6 * block))


def _svd(p: Problem, machine: Machine) -> Path:
    n, m = max(p.rows, p.cols), p.smaller
    flops = 2.0 * n * m * m + 12.0 * m**3
    tall = p.rows >= p.cols
    block = min(p.rows, max(256, 2 * m)) * m
    held = 8 * (3 * block + 6 * m * m) if tall else 8 * (4.5 * n * m + 6 * m * m)
    held += blas_buffers(flops, p.threads)
    seconds = flops / (machine.reflect * machine.threads) + 1.5 * _CALL
    seconds += _BLOCK_CALLS * n / max(256, 2 * m) if tall else 0.0
    note = "QR of row blocks, then LAPACK's SVD" if tall else "LAPACK's SVD of the centred data"
    alone = 12.0 * m**3 / (machine.reflect * machine.threads)
    return Path("svd", Exact(), 2, int(held), flops, seconds, "all", 8, note, alone=alone)


def _small_solver(
    order: int, p: Problem, machine: Machine, beside: float
) -> tuple[Solver, float, float, str]:
    """Return solver, seconds, bytes and words for the leading pairs of a stored matrix.

    `beside` are the bytes that the path takes for other things at the same time.
    """
    direct, taken = (
        lapack_seconds(order, p.components, machine),
        lapack_bytes(order, p.components),
    )
    b = block_width(p.components, order)
    step = 2.0 * order * order * b / machine.rate(machine.thin, 8)
    iterated = iterated_seconds(step)
    if direct <= _SURE * iterated or 8 * p.components > order:
        words = "leading" if is_few(p.components + 1, order) else "all"
        return Exact(destroy=True), direct, taken, f"{words} pairs by LAPACK"
    basis = _basis(b, p.components, order)
    # A flat spectrum ends in LAPACK, if the memory allows its workspace.
    whole = beside + 8.0 * order**2 + taken <= p.room
    worth = direct / step
    most = int(min(100, max(15, worth))) if whole else _MOST[1]
    krylov = BlockKrylov(block=b, max_passes=most, max_basis=basis)
    solver = Stored(dataclasses.replace(krylov, worth=worth) if whole else krylov, whole)
    space = 8.0 * order * (2.2 * min(basis, most * b) + 4 * b)
    space = max(space, taken if whole else 0.0)
    words = "leading pairs by block Krylov"
    if whole:
        words += f", {direct:.2g} s of LAPACK where they are too close"
    return solver, iterated, space, words


def iterated_seconds(step: float) -> float:
    """Return the seconds of an iteration on a stored matrix, from those of a product."""
    return 2 * _SETTLED * step + _SETTLED * STEP_CALLS


def lapack_seconds(order: int, components: int, machine: Machine) -> float:
    """Return the seconds of LAPACK for the leading pairs of a symmetric matrix.

    All of them where these are not few. Up to some hundreds it is done on one thread.
    """
    some = is_few(components + 1, order)
    rate = machine.eigen * (_SOME if some else 1.0) * (machine.threads if order > _SMALL else 1)
    seconds = order**3 / rate + _SQUARES[some] * order**2
    return seconds + (_VECTOR * order**2 * components if some else 0.0)


def lapack_bytes(order: int, components: int) -> float:
    """Return the bytes that LAPACK takes for them beside the matrix, which it destroys."""
    if is_few(components + 1, order):
        return 8.0 * order * (2 * components + _BAND)
    return _WORKSPACE * order**2


def _all_at_once(order: int, components: int) -> bool:
    """Tell whether LAPACK's full eigenproblem is as quick as an iteration."""
    return order <= _SMALL or 8 * components > order


def leading_solver(order: int, components: int) -> Solver | None:
    """Return the solver for few pairs of a stored matrix where all of them were planned.

    The space of LAPACK's full eigenproblem is there, should the iteration not end. None
    where that is as quick.
    """
    if _all_at_once(order, components):
        return None
    b = block_width(components, order)
    basis = _basis(b, components, order)
    return Stored(BlockKrylov(block=b, max_passes=_FEW_PASSES, max_basis=basis), True)


def settled(path: Path, p: Problem) -> Path:
    """Return a direct path as it follows an iteration on the data.

    What that could not settle, one on the matrix will not either: LAPACK solves it.
    """
    if path.name not in ("gram", "dual"):
        return path
    order, machine = p.cols if path.name == "gram" else p.rows, p.rates
    _, iterated, _, _ = _small_solver(order, p, machine, 0.0)
    alone = lapack_seconds(order, p.components, machine)
    return dataclasses.replace(
        path,
        solver=Exact(destroy=True),
        seconds=path.seconds - iterated + alone,
        alone=max(0.0, path.alone - iterated) + alone,
        note=path.note.split(",")[0] + ", LAPACK",
    )


def _widened(p: Problem, flops: float) -> Problem:
    """Return the problem with float64 products where these cost next to nothing."""
    return dataclasses.replace(p, itemsize=8) if flops <= _WIDE_ANYWAY else p


def _gram(p: Problem, machine: Machine) -> Path:
    n, m = float(p.rows), p.cols
    flops = n * m * m if p.gram_flops is None else p.gram_flops
    p = _widened(p, flops)
    seconds = flops / machine.symmetric_rate(m, p.itemsize)
    seconds += 2 * p.data_bytes / (machine.stream * machine.threads)  # read and shifted
    if p.nnz is not None:
        seconds += p.nnz / (0.05e9 * machine.threads)  # column sums and the parting of columns
    solver, more, space, words = _small_solver(m, p, machine, blas_buffers(flops, p.threads))
    lanes = machine.threads if m <= _LANES and flops > 2e7 else 1
    sums = float(lanes * m * m * (8 + p.itemsize))
    buffers = lanes * min(16e6, max(4e5, 0.1 * n * m * p.itemsize))
    if p.nnz is not None:
        sums, buffers = gram_bytes(p.nnz, m, machine.threads), 0.0
    held = max(sums + buffers, 8 * m * m + space) + blas_buffers(flops, p.threads)
    note = f"one-pass Gram matrix, {words}"
    seconds += more + _CALL
    price = 1, int(held), flops, seconds
    return Path("gram", solver, *price, "gram", p.itemsize, note, alone=more)


def _dual(p: Problem, machine: Machine) -> Path:
    n, m = p.rows, float(p.cols)
    flops = m * n * n
    p = _widened(p, flops)
    seconds = flops / machine.symmetric_rate(n, p.itemsize) + 2 * _CALL
    seconds += 4 * p.data_bytes / machine.stream
    beside = 24 * m * p.components + blas_buffers(flops, p.threads)
    solver, more, space, words = _small_solver(n, p, machine, beside)
    buffers = min(16e6, 4000.0 * n * p.itemsize)
    held = max(n * n * (8 + p.itemsize) + buffers, 8 * n * n + space) + beside
    note = f"Gram matrix of the samples, {words}"
    return Path("dual", solver, 2, int(held), flops, seconds + more, "gram", p.itemsize, note)


def _krylov(p: Problem, machine: Machine) -> Path:
    b = block_width(p.components, p.smaller, sparse=p.nnz is not None)
    steps, checks = (_STEPS, _CHECKS) if p.nnz is None else (2 * _STEPS + 3, _CHECKS)
    if p.nnz is None and not p.block_bytes:
        steps, checks = _IN_MEMORY
    cells = float(p.rows) * p.cols if p.nnz is None else float(p.nnz)
    rate = machine.rate(machine.thin if p.nnz is None else machine.sparse, p.itemsize)
    if p.read_seconds > 4.0 * cells * b / rate:  # reading is the cost: fewer, wider passes
        b, steps = min(p.smaller, 2 * b), max(3, steps - 2)
    columns = b * steps + 16 * checks
    flops = 4.0 * cells * columns
    basis = _basis(b, p.components, p.smaller)
    width = p.smaller
    here = 6.0 * width * (steps * b) ** 2
    flops += here
    passes = steps + checks
    seconds = flops / rate + (passes + 1) * p.data_bytes / (machine.stream * machine.threads)
    seconds += passes * STEP_CALLS
    lanes = machine.threads
    buffers = lanes * (min(4e6, max(4e5, 0.1 * p.data_bytes)) + 16.0 * width * b)
    held = 8.0 * width * (2.2 * basis + 4 * b) + buffers + 16.0 * p.cols * p.components
    held += blas_buffers(flops, p.threads)
    most = _MOST[0 if p.block_bytes else 1]
    solver = BlockKrylov(block=b, max_passes=most, max_basis=basis)
    note = f"fused block Krylov, {b} columns a pass"
    price = passes + 1, int(held), flops, seconds
    return Path("krylov", solver, *price, "tol", p.itemsize, note, alone=here / rate)


def sketch_path(p: Problem, rank: int) -> Path:
    """Return the path of rows that are seen once: `rank` leading directions are kept."""
    flops = 8.0 * rank * p.cols * p.rows
    held = 8.0 * p.cols * (5 * rank + 2) + blas_buffers(flops, p.threads)
    seconds = flops / p.rates.rate(p.rates.thin, 8)
    note = f"{rank} leading directions kept on the way"
    return Path("sketch", Exact(), 1, int(held), flops, seconds, "bound", 8, note)
