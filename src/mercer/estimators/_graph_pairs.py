"""Leading pairs of a graph's matrix S along one path, certified as pairs of S itself."""

import dataclasses
import math
from typing import Any

import numpy as np

from mercer.arrays import EPS, Array, eigh, gaussian, orthonormal, task
from mercer.operators import Filtered, NormalisedGraph, ShiftInverse
from mercer.planning import Path
from mercer.solvers import BlockKrylov, Certificate, Floor, Goal, Outcome, Spectrum

_INNER = 1e-6  # share of tol asked of a map of S: vectors need half of the digits of values
_SHIFT = (1e-10, 1e-5)  # least and most that is added to the Laplacian before it is inverted
_ROUNDS = 12  # times that a filter is set again by what the last one found
_FIRST = 10  # products with S that set the first one
_WIDER = 1.3  # of 1 - λ_k is where a filter begins to rise
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
        lapack, krylov, filter or inverse.
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
    if path.name == "inverse":
        shift = min(max(_SHIFT[0], 1e-2 * gap), _SHIFT[1])
        with task("factors"):
            turned = ShiftInverse(op.laplacian(), shift, op.direction)
        found = path.solver.solve(turned, _goal(k, _INNER * tol, seed))
        error, upper = turned.backward_error(seed), _upper(found)
        bounds = 1.0 - turned.values(np.maximum(upper, EPS)) + error
        return _settled(op, found, bounds, tol)
    found = path.solver.solve(op, _goal(k, _INNER * tol * min(1.0, gap), seed))
    return _settled(op, found, op.values(_upper(found)), tol)


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
    """Raise the filter by what the last one found, until the pairs are certified."""
    b, products = solver.block, _FIRST
    first = dataclasses.replace(solver, max_passes=_FIRST)
    found = first.solve(op, _goal(k, 1e-3, seed))
    best = _settled(op, found, op.values(_upper(found)), tol)
    for turn in range(_ROUNDS):
        left = max(1.0 - float(best.values[-1]), 16 * EPS)
        if best.certificate.met or left >= 2.0 / _WIDER:
            break
        degree = max(2, math.ceil(_RISE / math.sqrt(2 * (_WIDER - 1) * left)))
        filtered = Filtered(op, degree, 1.0 - _WIDER * left)
        more = gaussian((op.shape[0], max(0, b - k)), op.like, seed, 500 + turn)
        start = np.concatenate([best.right, more], axis=1)
        turned = dataclasses.replace(solver, start=start)
        found = turned.solve(filtered, _goal(k, _INNER * tol, seed + turn + 1))
        products += degree * found.passes
        best = _settled(op, found, filtered.values(_upper(found)), tol)
    return dataclasses.replace(best, passes=products)


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
