"""The paths to the smallest pairs of a sparse matrix: through its inverse."""

import math

from mercer.planning._paths import Path, block_width
from mercer.planning._problem import Problem
from mercer.solvers import BlockKrylov, Exact

_SMALL = 300  # order up to which LAPACK is as fast as an iteration
_FEW = 8  # an iteration pays for at most one axis in so many
_FILL = 0.5  # cells of the factors per cell of the matrix and per doubling of a sheet's points
_FACTOR = 2e9  # flops per second of a sparse factorisation
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
    whole = Path(
        "lapack",
        Exact(),
        1,
        int(held + 40.0 * n * n),
        factor + 13.0 * n**3,
        factor / _FACTOR + n**3 / (p.rates.eigen * p.rates.threads) + 1e-3,
        "gram",
        8,
        "sparse factors, all pairs of the inverse by LAPACK",
    )
    if n <= _SMALL or _FEW * k > n:
        return [whole]
    b = block_width(k, p.rows, sparse=True)
    basis = min(p.rows, max(100, 12 * b))
    flops = factor + 4.0 * cells * b * _PASSES
    iterated = Path(
        "inverse",
        BlockKrylov(block=b, max_basis=basis),
        _PASSES,
        int(held + 8.0 * n * (2.2 * basis + 6 * b)),
        flops,
        factor / _FACTOR + 4.0 * cells * b * _PASSES / _SOLVE + 1e-3,
        "tol",
        8,
        f"sparse factors, block Krylov on the inverse with {b} columns a solve",
    )
    return [whole, iterated]
