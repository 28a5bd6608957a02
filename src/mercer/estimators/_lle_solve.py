"""The smallest pairs of M off the constant vector, certified in eigenvalues of M."""

import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import EPS, Array, gaussian, orthonormal, show_bytes
from mercer.errors import BudgetError
from mercer.operators import ShiftInverse, band_front
from mercer.planning import Path
from mercer.solvers import BlockKrylov, Certificate, Goal, Outcome, Spectrum

_SHIFT = 1e-9  # of ‖M‖: solves then keep seven digits along its null space
_SHARP = 1e-13  # tolerance on the inverse: residuals are then about 1e-6 of a value
_CELL = 12  # bytes of a cell of the factors and of its place
_C = 4.0  # units of rounding per row that an eigenvalue must exceed


def inverse_of(m: Any) -> ShiftInverse:
    """Return (M + σI)⁻¹ off the constant vector; σ = 1e-9·‖M‖."""
    n = m.shape[0]
    norm = float(np.max(abs(m).sum(axis=1)))
    return ShiftInverse(m, _SHIFT * norm, np.full(n, n**-0.5))


def refuse_full(m: Any, memory: int) -> None:
    """Refuse to factor M where its factors may not fit: those of points without a sheet.

    Factors in the order of Cuthill and McKee have 2n cells for each point of the mean front,
    12 bytes a cell; the order that is taken has fewer.
    """
    n = m.shape[0]
    front = band_front(m)
    needed = _CELL * 2 * n * front
    if needed > memory:
        raise BudgetError(
            "the factors of this matrix may not fit the memory allowed; none were made",
            got=f"{show_bytes(memory)} allowed, up to {show_bytes(needed)} needed: {n:,} rows,"
            f" fronts of {front:,.0f}",
            fix=f'allow memory="{show_bytes(1.05 * needed)}", take fewer neighbours, or fewer'
            " columns (by PCA)",
        )


def smallest(m: Any, path: Path, k: int, tol: float, seed: int) -> tuple[Spectrum, Array]:
    """Return the k pairs of M beside the constant vector, and their eigenvalues, ascending.

    The spectrum is that of the inverse, 1/(λ + σ), descending; its certificate holds λ.

    Parameters
    ----------
    m : sparse matrix of shape (n, n)
        M, psd, M1 = 0.
    path : Path
        lapack or inverse.
    k : int
        How many.
    tol : float
        Relative half-width of the interval of each λ.
    seed : int
        Of the first block.
    """
    op = inverse_of(m)
    solver = path.solver
    goal = Goal(k, min(_SHARP, tol), seed=seed, psd=True)
    if isinstance(solver, BlockKrylov):
        first = op.project(gaussian((op.shape[0], solver.block), op.like, seed))
        solver = dataclasses.replace(solver, start=first)
    found = solver.solve(op, goal)
    values, vectors, residual = _polished(op, np.asarray(found.right))
    certificate = _certified(op, found.certificate, values, residual, tol)
    spectrum = Spectrum.of(
        1.0 / (np.maximum(values, 0.0) + op.shift),
        vectors,
        certificate,
        total=None,
        passes=found.passes,
        outcome=Outcome.CONVERGED if certificate.met else Outcome.FLOOR,
    )
    return spectrum, values


def _polished(op: ShiftInverse, v: Array) -> tuple[Array, Array, Array]:
    """Return λ (k,), vectors and ‖Mv - λv‖ after one more solve and Rayleigh-Ritz with M.

    The solve takes out what is left along large eigenvalues, which M would show enlarged.
    """
    q = op.project(orthonormal(op.matmat(v), None, 0.0)[0])
    image = op.m @ q
    h = q.T @ image
    values, turn = np.linalg.eigh(0.5 * (h + h.T))
    vectors = q @ turn
    residual = np.linalg.norm(image @ turn - vectors * values, axis=0)
    return values, vectors, residual


def _certified(
    op: ShiftInverse, inverse: Certificate, values: Array, residual: Array, tol: float
) -> Certificate:
    """Return the certificate in eigenvalues of M.

    λ_i ≤ θ_i by Courant and Fischer; λ_i ≥ 1/upper_i - σ from that of the inverse. Both ends
    give way by the measured backward error of the solves. An angle is bounded in M and in
    the inverse, where gaps are wide, and the smaller bound holds.
    """
    k, wrong = len(values), op.backward_error()
    lower = np.maximum(1.0 / inverse.upper - op.shift - wrong, 0.0)
    lower = np.minimum(lower, np.maximum(values, 0.0))
    zero = _C * op.shape[0] * EPS * op.norm
    after = 1.0 / inverse.next_upper - op.shift - wrong if inverse.next_upper > 0 else np.inf
    # Certificates are of descending values: of -λ, whose intervals are turned round.
    turned = Certificate.of(
        -values,
        np.append(-lower, -after),
        residual + wrong,
        error=0.0,
        tol=tol,
        zero_level=zero,
        lower=-(values + wrong),
    )
    sine = np.minimum(turned.sine, inverse.sine + _share(wrong, turned.gap))
    return dataclasses.replace(
        turned,
        lower=np.maximum(-turned.upper, 0.0),
        upper=np.maximum(-turned.lower, 0.0),
        sine=np.minimum(sine, 1.0),
        next_upper=float(after) if np.isfinite(after) else 0.0,
        groups=tuple(group for group in turned.groups if len(group) <= k + 1),
    )


def _share(wrong: float, gap: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.where(gap > 0, wrong / np.where(gap > 0, gap, 1.0), 1.0)
