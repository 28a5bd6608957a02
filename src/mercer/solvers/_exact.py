"""Exact: LAPACK on the matrix itself, or on its triangle."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import EPS, as_numpy, eigh, eigh_in_place, qr, svd, task
from mercer.operators import Operator
from mercer.solvers._certificate import Certificate, FloatArray
from mercer.solvers._solver import Goal, Solver
from mercer.solvers._spectrum import Spectrum


@final
@dataclasses.dataclass(frozen=True)
class Exact(Solver):
    """Full eigh (symmetric) or singular value decomposition (rectangular), in float64.

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
        values, vectors = eigh_in_place(op.consume()) if self.destroy else eigh(op.dense())
        found, k = as_numpy(values), min(goal.components, op.shape[0])
        top = float(np.max(np.abs(found), initial=0.0))
        error = goal.error + EPS * (8 + 4 * np.sqrt(op.shape[0])) * top
        certificate = Certificate.of(
            found[:k],
            found[: k + 1],
            np.zeros(k),
            error=error,
            tol=goal.tol,
            zero_level=goal.floor.at(top),
            psd=goal.psd,
        )
        total, squares = float(np.sum(found)), _power_sum(found, 2)
        return Spectrum.of(
            values[:k], vectors[:, :k], certificate, total=total, passes=1, squares=squares
        )


def _power_sum(values: FloatArray, exponent: int) -> float | None:
    """Return Σ|v|^exponent, or None where that leaves the range of float64."""
    with np.errstate(over="ignore", under="ignore"):
        found = float(np.sum(values**exponent))
    return found if 0 < found < np.inf else None
