"""The paths of an embedding by shortest paths in a graph, and what each costs.

The paths of an unfolding that keeps distances, and what each costs.
"""

import dataclasses

from mercer.planning._principal_paths import Path
from mercer.planning._problem import Problem, blas_buffers
from mercer.solvers import Exact

_BLOCK = 4e6  # distances that are worked on at once
_EACH = 3000.0  # bytes a point of the graph, and of the paths that are looked at again
_STEP = 5e-7  # seconds in which a search from one point settles another: Dijkstra, one thread


def landmark_count(rows: int, components: int) -> int:
    """Return how many landmarks "auto" takes: 50 an axis and at least 500, or all points."""
    return min(rows, max(500, 50 * components))


def geodesic_paths(problem: Problem, matrix: list[Path]) -> list[Path]:
    """Return the paths of geodesic distances: all pairs, or those from landmarks.

    Parameters
    ----------
    problem : Problem
        With a kernel whose entries are shortest paths.
    matrix : list of Path
        The paths that would solve its matrix if it were there.
    """
    kernel, n = problem.kernel, float(problem.rows)
    assert kernel is not None
    if kernel.landmarks is not None:
        return [_landmarks(problem, kernel.landmarks)]
    return [
        dataclasses.replace(
            path,
            bytes=path.bytes + int(_EACH * n),
            seconds=path.seconds + _STEP * n * n,
            note=f"shortest paths of all pairs; {path.note}",
        )
        for path in matrix
        if path.name in ("lapack", "stored")
    ]


def _landmarks(p: Problem, m: int) -> Path:
    """Paths from m landmarks, LAPACK on their matrix, and all points placed by them."""
    n, machine = float(p.rows), p.rates
    held = 8.0 * m * n + 40.0 * m * m + 2 * p.data_bytes + 32.0 * n * p.components
    held += 16.0 * n * (4 * p.components + 8) + 500.0 * n  # places on more axes
    held += 24.0 * min(m * n, _BLOCK)
    seconds = _STEP * m * n + m**3 / (machine.eigen * machine.threads)
    seconds += 2.0 * n * m * p.components / machine.rate(machine.thin, 8)
    flops = 9.0 * m**3 + 2.0 * n * m * p.components
    note = f"shortest paths from {m:,} landmarks, the others placed by them"
    solver = Exact(destroy=True)
    return Path("landmarks", solver, 1, int(held), flops, seconds, "gram", 8, note)


_STEPS = 20  # Newton steps, typical
_ROOT = 0.6  # speed of a Cholesky factor beside a symmetric product
_GATHER = 6e-9  # seconds for an entry of the system, one thread
_SHARE = 0.6  # bars per row and neighbour: many a row is the neighbour of its neighbours


def bar_count(rows: int, neighbours: int) -> int:
    """Return how many bars a graph of neighbours is foreseen to have."""
    return max(1, min(int(_SHARE * rows * neighbours), rows * (rows - 1) // 2))


def unfolding_paths(problem: Problem) -> list[Path]:
    """Return the path of all rows, or that of landmarks with the others placed by them.

    Parameters
    ----------
    problem : Problem
        With a kernel that says how many neighbours each row has.
    """
    kernel = problem.kernel
    assert kernel is not None
    if kernel.landmarks is None:
        return [_interior(problem, problem.rows, "interior", "Newton steps on all rows")]
    m = kernel.landmarks
    note = f"Newton steps on {m:,} landmarks, the others placed by them"
    inner = _interior(problem, m, "landmarks", note)
    (way,) = geodesic_paths(problem, [])
    held = inner.bytes + way.bytes
    seconds = inner.seconds + way.seconds
    flops = inner.flops + way.flops
    return [Path("landmarks", Exact(), 1, held, flops, seconds, "bound", 8, note)]


def _interior(p: Problem, points: int, name: str, note: str) -> Path:
    """n² tables and a system of e equations, factored at every step."""
    assert p.kernel is not None
    n, e, machine = float(points), float(bar_count(points, p.kernel.bars)), p.rates
    flops = _STEPS * (e**3 / 3 + 14.0 * n**3)
    rate = _ROOT * machine.rate(machine.symmetric, 8)
    seconds = flops / rate + _STEPS * _GATHER * e * e / 2 + 1e-2
    held = 8.0 * (e * e + 14.0 * n * n) + 8.0 * 3 * 256 * e + 2 * p.data_bytes
    held += blas_buffers(e**3, p.threads)
    return Path(name, Exact(), 1, int(held), flops, seconds, "gram", 8, note)
