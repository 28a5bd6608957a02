"""OperatedEstimator: the walk of a method whose matrix is one operator, whatever the path."""

import abc
import dataclasses
import math
from typing import Any

import numpy as np

from mercer.arrays import EPS, Array
from mercer.estimators.walk._spectral_estimator import SpectralEstimator
from mercer.operators import Dense, Framed, Operator
from mercer.planning import Path, Problem
from mercer.solvers import Certificate, Floor, Goal, Spectrum, fix_signs

_FINE = 1e-10  # relative error that a stored matrix is solved to
_C = 4.0  # how many units of rounding per row or column an eigenvalue must exceed


@dataclasses.dataclass(frozen=True, eq=False)
class Operated:
    """What a method hands over to be solved.

    Attributes
    ----------
    op : Framed
        The matrix A (m, n); pairs are those of AᵀA, right vectors on its columns.
    trace : float
        ‖A‖²_F, the sum of all eigenvalues: the total inertia.
    found : Any
        Whatever the method's own `_scale` needs: masses, levels, names.
    size : float
        ‖diag(left)·T·diag(right)‖²_F before the level was taken out, 0 where none was: what
        rounding is relative to.
    """

    op: Framed
    trace: float
    found: Any = None
    size: float = 0.0


class OperatedEstimator(SpectralEstimator):
    """Abstract: a method is its operator, its scaling and its projection.

    A subclass writes `_operator(source, weights)`, `_shape(source)` (rows, columns and stored
    cells of A, known before it is built), `_wanted(shape)` (how many pairs to find), `_scale`
    and `_project`. This class plans and solves: LAPACK's SVD, the eigenproblem of AᵀA or AAᵀ,
    or block Krylov, with the certificate of each.
    """

    _usual_tol = 1e-6

    @abc.abstractmethod
    def _operator(self, source: Any, weights: Array | None) -> Operated:
        """Return the operator of the method, and what its scaling needs."""

    @abc.abstractmethod
    def _shape(self, source: Any) -> tuple[int, int, int | None]:
        """Return rows, columns and stored cells (None: dense) of A."""

    @abc.abstractmethod
    def _wanted(self, shape: tuple[int, int]) -> int:
        """Return the number of pairs to find for A of this shape."""

    def _problem(self, source: Any, weights: Array | None = None) -> Problem:
        m, n, stored = self._shape(source)
        return self._problem_of(source, (m, n), self._wanted((m, n)), nnz=stored)

    def _solve(self, source: Any, path: Path, weights: Array | None) -> tuple[Spectrum, Any]:
        """Return the leading pairs of AᵀA (right vectors on the columns) along one path.

        `source` is the operator here, an `Operated`.
        """
        asked: Operated = source
        wanted = self._wanted(asked.op.shape)
        spectrum = pairs(asked, path, wanted, self._tolerance(source), self._seed())
        return spectrum.padded(wanted), asked


def pairs(asked: Operated, path: Path, wanted: int, tol: float, seed: int = 0) -> Spectrum:
    """Return the `wanted` leading pairs of AᵀA along one path of the plan.

    Parameters
    ----------
    asked : Operated
        The operator.
    path : Path
        svd, gram, dual or krylov.
    wanted : int
        k; more than min(m, n) is cut.
    tol, seed
        Of the certificate and of random starts.
    """
    op = asked.op
    goal = _goal(asked, path, wanted, tol, seed)
    if asked.trace == 0 or goal.components == 0:
        return _nothing(goal, op.shape[1])
    if path.name == "svd":
        return path.solver.solve(op, goal)
    if path.name == "krylov":
        if op.shape[0] >= op.shape[1]:
            return path.solver.solve(op, goal)
        return features_from_samples(op, path.solver.solve(op.T, goal))
    # Steps on a stored matrix cost little beside making it: a few more give more digits.
    finer = dataclasses.replace(goal, tol=min(tol, _FINE))
    if path.name == "gram":
        found = path.solver.solve(Dense(op.gram(), symmetric=True), finer)
        return found.judged_by(tol)
    found = path.solver.solve(Dense(op.T.gram(), symmetric=True), finer)
    return features_from_samples(op, found.judged_by(tol))


def features_from_samples(op: Operator, spectrum: Spectrum) -> Spectrum:
    """Return the pairs with v = X̃ᵀu/‖X̃ᵀu‖ (p, k) for u; axes without variance are zero.

    ‖X̃ᵀX̃v - λv‖ = ‖X̃ᵀ(X̃X̃ᵀu - λu)‖/√λ, so that residuals grow by √(λ₁/λ). Far below the
    first eigenvalue, rounding leaves X̃ᵀu a little oblique; the later axis is then corrected
    against the earlier ones.
    """
    u, values = spectrum.right, np.maximum(spectrum.values, 0.0)
    level = max(spectrum.certificate.zero_level, 1e-15 * float(values[0]))
    alive = int(np.sum(values > level))
    v = op.rmatmat(u[:, :alive])
    v = v / np.linalg.norm(v, axis=0)
    if alive and values[alive - 1] < 1e-6 * values[0]:
        q, r = np.linalg.qr(v)
        v = q * np.where(np.diagonal(r) < 0, -1.0, 1.0)
    missing = np.zeros((v.shape[0], u.shape[1] - alive))
    growth = np.sqrt(values[0] / np.maximum(values, level))
    certificate = spectrum.certificate.with_residual(spectrum.certificate.residual * growth)
    right = np.concatenate([fix_signs(v), missing], axis=1)
    return dataclasses.replace(spectrum, right=right, certificate=certificate)


def _nothing(goal: Goal, order: int) -> Spectrum:
    """Return pairs of a matrix that is zero: no axis is determined."""
    k = goal.components
    certificate = Certificate.of(
        np.zeros(k),
        np.zeros(k + 1),
        np.zeros(k),
        error=0.0,
        tol=goal.tol,
        zero_level=goal.floor.absolute,
        psd=True,
    )
    right = np.zeros((order, k))
    return Spectrum.of(np.zeros(k), right, certificate, total=0.0, passes=0)


def _goal(asked: Operated, path: Path, wanted: int, tol: float, seed: int) -> Goal:
    """Return what is asked of the solver, with the rounding that A itself carries.

    Cells of A are differences of numbers whose squares sum to about `size`, so that A is
    known to δ = c·eps·√size only: a singular value to δ, an eigenvalue to 2δ‖A‖ + δ², and a
    matrix that is squared to c·eps·‖A‖² more. What lies below is no axis, however small the
    whole inertia is.
    """
    m, n = asked.op.shape
    trace, size = asked.trace, max(asked.trace, asked.size)
    unit, each = _C * max(m, n) * EPS, EPS * (8 + 4 * math.sqrt(max(m, n)))
    delta = each * math.sqrt(size)
    error = 2 * delta * math.sqrt(trace) + delta**2
    if path.name == "svd":
        floor = Floor(unit**2, unit**2 * size)
        error = delta
    else:
        floor = Floor(unit, unit * math.sqrt(size * trace) + unit**2 * size)
        error += 0.0 if path.name == "krylov" else each * trace
    components = min(wanted, m, n)
    return Goal(components, tol, floor, trace * (1 + unit), error, seed, psd=True)
