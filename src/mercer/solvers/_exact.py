"""Exact: LAPACK on the matrix itself, or on its triangle."""

import dataclasses
import math
from functools import partial
from typing import final

import numpy as np

from mercer.arrays import (
    EPS,
    as_numpy,
    eigh,
    eigh_in_place,
    interruptible,
    is_few,
    is_numpy,
    leading_eigh,
    qr,
    quiet_blas,
    svd,
    task,
)
from mercer.operators import Operator
from mercer.solvers._certificate import Certificate, FloatArray
from mercer.solvers._solver import Goal, Solver
from mercer.solvers._spectrum import Spectrum


@final
@dataclasses.dataclass(frozen=True)
class Exact(Solver):
    """Eigenpairs (symmetric) or singular value decomposition (rectangular), in float64.

    Of a symmetric matrix only the leading pairs are found where these are few: LAPACK then
    makes it tridiagonal as for all, and leaves the rest out.

    A tall rectangular A is first reduced to its triangle R, AᵀA = RᵀR, by QR of row blocks
    [Demmel2012]_, so that small singular values keep their digits and no copy of A is made.

    Parameters
    ----------
    destroy : bool
        Whether a stored symmetric matrix may be overwritten, which halves the memory.
    """

    destroy: bool = False

    def solve(self, op: Operator, goal: Goal, /) -> Spectrum:
        """See `Solver.solve`."""
        if op.symmetric:
            with task("all pairs"):
                return self._symmetric(op, goal)
        with task("all triplets"):
            (m, n), k = op.shape, min(goal.components, *op.shape)
            if m >= n:
                _, s, vt = svd(op.triangle())
                right = vt.T
            else:  # Aᵀ = QR first: the SVD is then of the small side only
                q, r = qr(op.dense().T)
                u, s, _ = svd(r)
                right = q @ u
            found = as_numpy(s)
            size = float(np.sqrt(np.sum(found**2)))
            # Each singular value is within δ of the truth: backward error of QR and SVD.
            small, tall = min(m, n), max(m, n)
            height = min(
                tall, max(256, 2 * small)
            )  # rows of a block, whose roundings may add up
            delta = EPS * (8 + 2 * np.sqrt(small) + height / 8 + tall / height) * size
            delta += goal.error
            lower, upper = np.maximum(found - delta, 0.0) ** 2, (found + delta) ** 2
            if n > m:  # AᵀA has n - m zeros more
                upper = np.append(upper, delta**2)
            top = float(np.max(found, initial=0.0))
            # Vectors are worse off: LAPACK's ?bdsqr neglects couplings up to 49 eps.
            backward = delta + 50 * EPS * top
            certificate = Certificate.of(
                found[:k] ** 2,
                upper[: k + 1],
                backward * (found[:k] + top + backward),  # ‖EᵀÂv‖ + ‖ÂᵀEv‖ + ‖EᵀEv‖
                error=0.0,
                tol=goal.tol,
                # Below its own error nothing can be told from zero.
                zero_level=max(goal.floor.at(top**2), float(delta) ** 2),
                lower=lower[:k],
                psd=True,
            )
            total, squares = float(np.sum(found**2)), _power_sum(found, 4)
            return Spectrum.of(
                s[:k] ** 2, right[:, :k], certificate, total=total, passes=1, squares=squares
            )

    def _symmetric(self, op: Operator, goal: Goal) -> Spectrum:
        n, k = op.shape[0], min(goal.components, op.shape[0])
        matrix = op.consume() if self.destroy else op.dense()
        if is_numpy(matrix) and goal.psd and is_few(k + 1, n):
            total, squares = float(np.trace(matrix)), _finite(float(np.vdot(matrix, matrix)))
            with quiet_blas(n):
                call = partial(leading_eigh, matrix, k + 1, destroy=self.destroy)
                values, vectors = interruptible(call, n // 2)  # it takes as long as all of half
            top = max(float(values[0]), 0.0)
        else:
            values, vectors = eigh_in_place(matrix) if self.destroy else eigh(matrix)
            every = as_numpy(values)
            total, squares = float(np.sum(every)), _power_sum(every, 2)
            top = max(float(every[0]), -float(every[-1]), 0.0) if n else 0.0
        found = as_numpy(values)
        error = goal.error + EPS * (8 + 4 * math.sqrt(n)) * top
        certificate = Certificate.of(
            found[:k],
            found[: k + 1],
            np.zeros(k),
            error=error,
            tol=goal.tol,
            zero_level=goal.floor.at(top),
            psd=goal.psd,
        )
        return Spectrum.of(
            values[:k], vectors[:, :k], certificate, total=total, passes=1, squares=squares
        )


def _power_sum(values: FloatArray, exponent: int) -> float | None:
    """Return Σ|v|^exponent, or None where that leaves the range of float64."""
    if exponent == 2:  # np.vdot says nothing of numbers that leave the range
        return _finite(float(np.vdot(values, values)))
    with np.errstate(over="ignore", under="ignore"):
        return _finite(float(np.sum(values**exponent)))


def _finite(found: float) -> float | None:
    """Return a sum, or None where it has left the range of float64."""
    return found if 0 < found < np.inf else None
