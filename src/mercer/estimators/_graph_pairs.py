"""Leading pairs of a graph's matrix S along one path, certified as pairs of S itself."""

import dataclasses
import math
from typing import Any

import numpy as np

from mercer.arrays import EPS, Array, eigh, orthonormal, task
from mercer.operators import Filtered, NormalisedGraph, ShiftInverse
from mercer.planning import Path
from mercer.solvers import BlockKrylov, Certificate, Floor, Goal, Outcome, Spectrum

_INNER = 1e-6  # share of tol asked of a map of S: vectors need half of the digits of values
_SHIFT = (1e-10, 1e-5)  # least and most that is added to the Laplacian before it is inverted
_ROUNDS = 15  # times that a filter is set again by what the last one found
_FIRST = 10  # products with S that set the first one
_BETWEEN, _LAST = 3, 30  # products with a filter while it moves, and with the last one
_APART = 0.05  # least distance from λ_k to where it begins to rise, in units of 1 - λ_k
_STILL = 0.02  # change of 1 - λ_k at which it has come to rest
_RISE = 3.0  # logarithm of what it makes of λ_k


def graph_pairs(
    op: NormalisedGraph, path: Path, k: int, tol: float, gap: float, seed: int
) -> Spectrum:
    """Return the k leading pairs of S beside r, values λ descending, vectors of norm one.

    Parameters
    ----------
    op : NormalisedGraph
        S and r.
    path : Path
        lapack, filter or inverse.
    k : int
        At most n - 1.
    tol : float
        Half-width wanted for λ, relative to 1 - λ.
    gap : float
        A guess of 1 - λ₂.
    seed : int
        Of random starts.
    """
    if path.name == "lapack":
        return _by_lapack(op, k, tol)
    assert isinstance(path.solver, BlockKrylov)
    if path.name == "filter":
        return _by_filter(op, path.solver, k, tol, seed)
    shift = min(max(_SHIFT[0], 1e-2 * gap), _SHIFT[1])
    with task("factors"):
        turned = ShiftInverse(op.laplacian(), shift, op.direction)
    found = path.solver.solve(turned, _goal(k, _INNER * tol, seed))
    bounds = 1.0 - turned.values(np.maximum(_upper(found), EPS)) + _wrong(op, turned, found)
    return _settled(op, found, bounds, tol)


def _wrong(op: NormalisedGraph, turned: ShiftInverse, found: Spectrum) -> float:
    """Return how far I - S is from the matrix whose inverse was applied, measured.

    ‖(I - S + σI)x - v‖/‖x‖ for the products x of the pairs v, and the rounding of S.
    """
    assert found.image is not None
    x = found.image
    left = (1.0 + turned.shift) * x - op.walked(x) - found.right
    size = np.linalg.norm(x, axis=0)
    measured = float(np.max(np.linalg.norm(op.project(left), axis=0) / size))
    return measured + float(op.error)


def _goal(k: int, tol: float, seed: int) -> Goal:
    return Goal(k, max(tol, 256 * EPS), Floor(), None, 0.0, seed, psd=True)


def _upper(found: Spectrum) -> Array:
    """Return the upper bounds (k + 1,) of a certificate; the last holds for all others."""
    return np.append(found.certificate.upper, found.certificate.next_upper)


def _by_lapack(op: NormalisedGraph, k: int, tol: float) -> Spectrum:
    n, r = op.shape[0], op.direction
    whole = op.dense()
    whole -= r[:, None] * r[None, :]  # r itself comes last
    mu, vectors = eigh(whole)
    error = EPS * (8 + 4 * math.sqrt(n))
    bounds = op.values(mu[: min(k + 1, n - 1)]) + error
    with np.errstate(divide="ignore"):
        return _settled(op, None, bounds, tol, np.asarray(vectors[:, :k]))


def _by_filter(
    op: NormalisedGraph, solver: BlockKrylov, k: int, tol: float, seed: int
) -> Spectrum:
    """Raise the filter by what the last one found, until the pairs are certified.

    It begins to rise at the last of some Ritz values more than are wanted. While these still
    move, a few products are enough; then one run settles the pairs and proves them.
    """
    wide = min(max(solver.block, k + 1), op.shape[0] - 1)
    first = dataclasses.replace(solver, max_passes=_FIRST)
    found = first.solve(op, _goal(wide, 1e-3, seed))
    best = _settled(op, found, op.values(_upper(found)), tol)
    products, before = _FIRST, math.inf
    for turn in range(_ROUNDS):
        left = max(1.0 - float(best.values[k - 1]), 16 * EPS)
        cut = min(float(best.values[-1]), 1.0 - (1.0 + _APART) * left)
        if cut <= -1.0 + left:
            break
        rise = math.acosh(1.0 + 2.0 * (1.0 - left - cut) / (1.0 + cut))
        filtered = Filtered(op, max(2, math.ceil(_RISE / rise)), cut)
        settled = before - left <= _STILL * left
        before = left
        turned = dataclasses.replace(
            solver, start=best.right, max_passes=_LAST if settled else _BETWEEN
        )
        goal = _goal(k, _INNER * tol, seed + turn) if settled else _goal(wide, 1e-2, seed)
        found = turned.solve(filtered, goal)
        products += filtered.degree * found.passes
        bounds = filtered.values(_upper(found))
        now = _settled(op, found, bounds, tol)
        if settled and (now.certificate.met or turn == _ROUNDS - 1):
            return dataclasses.replace(now, passes=products)
        if not settled:
            best = now
    return dataclasses.replace(_first_of(best, k), passes=products)


def _first_of(found: Spectrum, k: int) -> Spectrum:
    """Return the first k pairs of a spectrum."""
    return dataclasses.replace(
        found,
        values=found.values[:k],
        right=found.right[:, :k],
        certificate=found.certificate.first(k),
        outcome=Outcome.BUDGET,
    )


def _settled(
    op: NormalisedGraph,
    found: Spectrum | None,
    bounds: Array,
    tol: float,
    vectors: Array | None = None,
) -> Spectrum:
    """Return the pairs of S in the space that a map of S has found, and what is proved.

    Rayleigh-Ritz with I - S: Ritz values are lower bounds of λ, `bounds` (k + 1,) upper ones.
    The space is that of the map's products, one step nearer than its vectors.
    """
    block = vectors if found is None else found.image
    assert block is not None
    q, _ = orthonormal(op.project(block), None, 0.0)
    m = q - op.walked(q)
    h = q.T @ m
    small, turn = np.linalg.eigh((h + h.T) / 2)
    u = q @ turn
    residual = np.linalg.norm(m @ turn - u * small, axis=0) + op.error
    values = 1.0 - small
    certificate = _certified(values, small, bounds, residual, op.error, tol)
    outcome = None if certificate.met or found is None else found.outcome
    if outcome is Outcome.CONVERGED:
        outcome = None  # the map was settled: what is missing is arithmetic
    passes = 1 if found is None else found.passes
    return Spectrum.of(values, u, certificate, total=None, passes=passes, outcome=outcome)


def _certified(
    values: Array, small: Array, bounds: Array, residual: Array, error: float, tol: float
) -> Certificate:
    """Return the certificate of λ, its widths measured by 1 - λ, on which maps depend."""
    lazy: dict[str, Any] = {"error": error, "tol": tol, "zero_level": 0.0, "psd": True}
    found = Certificate.of(1.0 + values, 1.0 + bounds, residual, **lazy)
    half = 0.5 * (found.upper - found.lower) / np.maximum(small, EPS)
    after = 1.0 + float(bounds[-1]) + error if len(bounds) > len(values) else 0.0
    return dataclasses.replace(
        found,
        lower=found.lower - 1.0,
        upper=found.upper - 1.0,
        converged=half <= tol,
        reached=float(np.max(half, initial=0.0)),
        zero_level=-1.0,
        next_upper=after - 1.0,
    )
