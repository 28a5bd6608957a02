"""The paths to the leading pairs of a graph's matrix, and what each costs.

The paths to the smallest pairs of a sparse matrix: through its inverse.
"""

import dataclasses
import math

from mercer.planning._principal_paths import Path, block_width
from mercer.planning._problem import GraphCost, Machine, Problem, blas_buffers
from mercer.solvers import BlockKrylov, Exact

_SMALL = 400  # points up to which LAPACK is as fast as anything
_DENSE = (
    3000  # and of a full kernel: its gap is not known, and a filter may need very many steps
)
_FEW = 4  # an iteration pays for at most one axis in so many
_COLUMNS = 110  # right sides that a certified iteration on the inverse solves
_LOG_FILL = 0.4  # cells of the factors per stored cell and binary digit of n, measured
_FRONT_FILL = 10.0  # and per square of the mean front
_FILLED = 0.6  # of the cells foreseen, those that there most often are
_FACTOR = 2.5e7  # cells of the factors that are made in a second, one thread
_FRONT = 2.2  # largest dense block, in mean fronts
_SWEEP = 8e9  # flops per second of its factors, and of triangular solves
_STEPS = 8.0  # products with S per 1/√gap, a block wide
_LEAST_STEPS = 300  # of a filter: it is set anew a few times
_PRODUCT = 1e-4  # seconds of a product that has nothing to do
_CALLS = 6e-3  # and of an iteration
_PROBED = 16  # columns that probe what is left out
_SOME = 3.0  # how much sooner LAPACK finds some pairs than all of them


_LISTED = 200.0  # bytes a neighbour, while lists become a symmetric matrix
_KEPT = 80.0  # bytes a neighbour of the graph, its normalised matrix and its lists
_SEARCH = 4e6  # bytes that a search takes, whatever the rows


def joined_bytes(rows: int, cols: float, neighbours: int | None) -> tuple[float, float]:
    """Return the most bytes that making a graph of rows takes, and those that are kept of it.

    Parameters
    ----------
    rows, cols : float
        Rows, and cells of each.
    neighbours : int or None
        Edges of a row, about half of those at a point; None joins all pairs.
    """
    n, placed = float(rows), 8.0 * rows * cols
    if neighbours is None:
        return 2 * placed + 24.0 * n * n + _SEARCH, placed + 16.0 * n * n
    lists = n * (neighbours + 1)
    return 2 * placed + _LISTED * lists + _SEARCH, placed + _KEPT * lists


def graph_candidates(problem: Problem) -> list[Path]:
    """Return the paths that can do the leading pairs of a graph, most digits first."""
    graph = problem.graph
    assert graph is not None
    machine = problem.rates
    paths = [_lapack(problem, machine)]
    few = _DENSE if problem.nnz is None else _SMALL
    if problem.rows > few and _FEW * problem.components <= problem.rows:
        paths.append(_filter(problem, machine, graph))
        if problem.nnz is not None:
            paths.append(_inverse(problem, machine, graph))
    allowed = problem.allowed
    return [path for path in paths if allowed is None or path.name in allowed]


def graph_fallbacks(best: Path, paths: list[Path], problem: Problem) -> Path:
    """Return the chosen path with those behind it that promise more and fit."""
    later = [p for p in paths if p.name not in (best.name, "filter")]
    later = [p for p in later if best.name != "lapack" and p.bytes <= problem.room]
    if problem.time is not None:
        later = [p for p in later if best.seconds + p.seconds <= problem.time]
    chain: Path | None = None
    for path in sorted(later, key=lambda path: -path.seconds):
        chain = dataclasses.replace(path, then=chain)
    return dataclasses.replace(best, then=chain)


def foreseen_gap(rows: int, front: float) -> float:
    """Return a guess of 1 - λ₂: a chain of n/front steps has (π·front/n)²/4."""
    return min(1.0, (math.pi * front / rows) ** 2 / 4)


def _stored(p: Problem) -> float:
    """Return the stored cells of the matrix."""
    return float(p.rows) ** 2 if p.nnz is None else float(p.nnz)


def _block(p: Problem) -> int:
    return min(p.rows, p.components + max(2, p.components // 2))


def _lapack(p: Problem, machine: Machine) -> Path:
    n = float(p.rows)
    seconds = n**3 / (machine.eigen * machine.threads) + 1e-3
    if _SOME * p.components <= n:
        seconds /= _SOME
    held = (28.0 if n > _SMALL else 48.0) * n * n + blas_buffers(n**3, p.threads)
    note = "leading pairs by LAPACK"
    return Path("lapack", Exact(), 1, int(held), 9 * n**3, seconds, "all", 8, note)


def _inverse(p: Problem, machine: Machine, graph: GraphCost) -> Path:
    """Pairs of (I - S + σI)^-1 by a sparse factorisation: few products, however small the gap.

    Fill and time are foreseen from the front of a band ordering: graphs of curves and
    surfaces have a narrow one, those of rows in many dimensions do not.
    """
    n, front = float(p.rows), graph.front
    fill = _LOG_FILL * _stored(p) * math.log2(max(n, 2)) + _FRONT_FILL * front**2
    flops = (_FRONT * front) ** 3 * 2 / 3 + 4.0 * fill * _COLUMNS
    there = _FILLED * fill
    swept = 4.0 * there * _COLUMNS / (_SWEEP * machine.threads)  # the factors have one thread
    seconds = there / _FACTOR + (_FRONT * front) ** 3 * 2 / 3 / _SWEEP + swept + _CALLS
    seconds *= Machine.stream / machine.stream
    block = min(p.rows, max(3, p.components // 3))
    basis = max(60, 4 * p.components + 4 * block)
    held = 24.0 * fill + 48.0 * _stored(p) + 8.0 * n * (2.2 * basis + 3 * _PROBED)
    solver = BlockKrylov(block=block, max_passes=60, max_basis=basis)
    note = f"factors of the Laplacian, about {fill:,.0f} cells, block Krylov on the inverse"
    return Path("inverse", solver, 15, int(held), flops, seconds, "tol", 8, note)


def _filter(p: Problem, machine: Machine, graph: GraphCost) -> Path:
    """Pairs of a Chebyshev polynomial of S: bounded memory, whatever the graph."""
    n, b = float(p.rows), _block(p)
    steps = int(2 * _STEPS / math.sqrt(foreseen_gap(p.rows, graph.front)))
    steps = max(_LEAST_STEPS, steps)
    flops = 2.0 * steps * (_stored(p) + 4 * n) * b
    seconds = _seconds(p, machine, steps * b) + 4.0 * n * b * steps / 1e9
    seconds += steps * _PRODUCT + _CALLS
    held = 24.0 * _stored(p) + 8.0 * n * (2.2 * 8 * b + 6 * b + 3 * _PROBED)
    solver = BlockKrylov(block=b, max_passes=12, max_basis=8 * b)
    note = f"Chebyshev filter, about {steps:,} products of {b} columns"
    return Path("filter", solver, steps, int(held), flops, seconds, "tol", 8, note)


def _seconds(p: Problem, machine: Machine, columns: float) -> float:
    """Return the seconds of products of S with so many columns."""
    pair = machine.thin if p.nnz is None else machine.sparse
    return 2.0 * _stored(p) * columns / machine.rate(pair, 8)


_INVERSE_SMALL = 300  # order up to which LAPACK is as fast as an iteration
_INVERSE_FEW = 8  # an iteration pays for at most one axis in so many
_FILL = 0.5  # cells of the factors per cell of the matrix and per doubling of a sheet's points
_INVERSE_FACTOR = 2e9  # flops per second of a sparse factorisation
_SOLVE = 2e9  # flops per second of triangular solves
_PASSES = 8


def inverse_paths(p: Problem) -> list[Path]:
    """Return the paths of a problem whose smallest pairs are wanted, most digits first.

    The factors of a matrix whose graph is a sheet have about n·log n cells; those of points
    that fill a space of many dimensions have more, up to n²/2, so that this is a forecast.
    """
    n, k = float(p.rows), p.components
    cells = min(_FILL * math.log2(n + 1) * float(p.nnz or n), 0.5 * n * n)
    factor = cells * cells / n
    held = 24.0 * cells + 40.0 * float(p.nnz or n)
    seconds = factor / _INVERSE_FACTOR + n**3 / (p.rates.eigen * p.rates.threads) + 1e-3
    price = 1, int(held + 40.0 * n * n), factor + 13.0 * n**3, seconds
    note = "sparse factors, all pairs of the inverse by LAPACK"
    whole = Path("lapack", Exact(), *price, "gram", 8, note)
    if n <= _INVERSE_SMALL or _INVERSE_FEW * k > n:
        return [whole]
    b = block_width(k, p.rows, sparse=True)
    basis = min(p.rows, max(100, 12 * b))
    flops = factor + 4.0 * cells * b * _PASSES
    seconds = factor / _INVERSE_FACTOR + 4.0 * cells * b * _PASSES / _SOLVE + 1e-3
    price = _PASSES, int(held + 8.0 * n * (2.2 * basis + 6 * b)), flops, seconds
    note = f"sparse factors, block Krylov on the inverse with {b} columns a solve"
    krylov = BlockKrylov(block=b, max_basis=basis)
    return [whole, Path("inverse", krylov, *price, "tol", 8, note)]
