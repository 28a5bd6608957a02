"""The inverse of a sparse symmetric matrix: its leading pairs are the smallest ones of M."""

from collections.abc import Iterator
from typing import Any, final

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from mercer.arrays import EPS, Array, Lanes, thread_count
from mercer.errors import InputError
from mercer.operators._operator import Operator
from mercer.operators.kernel_matrices._centred_kernel import take_out

_PROBES = 4  # columns with which the backward error of the solves is measured


@final
class ShiftInverse(Operator):
    """A = P(M + σI)⁻¹P, M sparse, symmetric and psd, P = I - rrᵀ: μ = 1/(λ + σ).

    r is an eigenvector of M that is known already, such as the constant one: it is taken out
    before each solve and after it, so that the leading pairs are the smallest ones of M
    beside it. M is factored once, by SuperLU with a symmetric ordering and no pivoting,
    which a positive definite matrix does not need.

    Parameters
    ----------
    m : sparse matrix of shape (n, n)
        M; it is not changed.
    shift : float
        σ > 0 where M is singular: far above rounding, ε·‖M‖, far below what is sought.
    direction : ndarray of shape (n,) or None
        r, of norm one; None takes nothing out.

    Attributes
    ----------
    fill : int
        Stored cells of both factors, 12 bytes each.
    norm : float
        ‖M‖_∞, a bound on its largest eigenvalue.
    """

    symmetric = True
    sharp = True

    def __init__(self, m: Any, shift: float = 0.0, direction: Array | None = None) -> None:
        n = int(m.shape[0])
        self.m = scipy.sparse.csr_array(m, dtype=np.float64)
        self.shift, self.direction = float(shift), direction
        self.shape, self.like = (n, n), np.empty((0, 0))
        self.norm = float(np.max(abs(self.m).sum(axis=1), initial=0.0))
        shifted = self.m + self.shift * scipy.sparse.eye_array(n)
        try:
            self._factors = scipy.sparse.linalg.splu(
                scipy.sparse.csc_array(shifted),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError:
            raise _singular(n, self.shift, self.norm) from None
        self.fill = int(self._factors.nnz)

    def matmat(self, v: Array, /) -> Array:
        """See `Operator.matmat`: two triangular solves, 4·fill flops a column."""
        found = self._solved(self.project(v))
        if not np.all(np.isfinite(found)):
            raise _singular(self.shape[0], self.shift, self.norm)
        return found if self.direction is None else take_out(found, self.direction)

    def _solved(self, b: Array) -> Array:
        """Return (M + σI)⁻¹B, the columns shared among threads: SuperLU has one of its own."""
        lanes = Lanes(min(thread_count(), int(b.shape[1])))
        ends = np.linspace(0, b.shape[1], lanes.count + 1).astype(np.int64)
        found = np.empty(b.shape)

        def work(_lane: int, blocks: Iterator[int]) -> None:
            for block in blocks:
                part = slice(ends[block], ends[block + 1])
                found[:, part] = self._factors.solve(np.asfortranarray(b[:, part]))

        lanes.run(work, lanes.count)
        return found

    def rmatmat(self, u: Array, /) -> Array:
        """See `Operator.rmatmat`."""
        return self.matmat(u)

    def project(self, v: Array) -> Array:
        """Return PV; an iteration that starts from such a block never meets r again."""
        v = np.array(v, np.float64)
        return v if self.direction is None else take_out(v, self.direction)

    def values(self, mu: Array) -> Array:
        """Return λ = 1/μ - σ, the eigenvalues of M."""
        return np.asarray(1.0 / np.asarray(mu) - self.shift)

    def backward_error(self, seed: int = 0) -> float:
        """Return how far M is from the matrix whose inverse was applied, measured.

        max ‖(M + σI)x - b‖/‖x‖ over solves of random right sides b and of what comes out,
        which lies along the smallest pairs; rounding of M itself, ε·‖M‖, is added.
        """
        random = np.random.default_rng(seed)
        b, worst = random.standard_normal((self.shape[0], _PROBES)), 0.0
        for _ in range(3):
            b = self.project(b)
            x = np.asarray(self._factors.solve(b))
            wrong = self.m @ x + self.shift * x - b
            sizes = np.linalg.norm(x, axis=0)
            worst = max(worst, float(np.max(np.linalg.norm(wrong, axis=0) / sizes)))
            b = x / sizes
        return worst + EPS * self.norm


def _singular(n: int, shift: float, norm: float) -> InputError:
    return InputError(
        "a matrix without an inverse cannot be turned round",
        got=f"order {n}, shift {shift:.3g}, norm {norm:.3g}",
        fix="pass a shift well above eps times the norm",
    )
