"""The paths of an unfolding that keeps distances, and what each costs."""

from mercer.planning._geodesic_paths import geodesic_paths
from mercer.planning._paths import Path
from mercer.planning._problem import Problem
from mercer.solvers import Exact

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
    held = 8.0 * (e * e + 14.0 * n * n) + 8.0 * 3 * 256 * e + 2 * p.data_bytes + 32e6
    return Path(name, Exact(), 1, int(held), flops, seconds, "gram", 8, note)
