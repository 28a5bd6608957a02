"""Solver: one method. Goal: what is asked of it, in numbers."""

import abc
import dataclasses

from mercer.operators import Operator
from mercer.solvers._certificate import FloatArray
from mercer.solvers._spectrum import Spectrum


@dataclasses.dataclass(frozen=True)
class Floor:
    """The level at and below which an eigenvalue counts as zero.

    Parameters
    ----------
    relative : float
        Share of the largest eigenvalue that arithmetic cannot resolve.
    absolute : float
        Level that the rounding of the stored data alone would give.
    """

    relative: float = 0.0
    absolute: float = 0.0

    def at(self, top: float) -> float:
        """Return the floor for a largest eigenvalue `top`."""
        return max(self.relative * max(top, 0.0), self.absolute)


@dataclasses.dataclass(frozen=True)
class Goal:
    """What a solver is asked for.

    Parameters
    ----------
    components : int
        k, the number of leading pairs.
    tol : float
        Largest max(upper - θ, θ - lower) / max(lower, floor) wanted over the k eigenvalues.
    floor : Floor
        When an eigenvalue counts as zero.
    trace : float or None
        An upper bound on the sum of all eigenvalues, where it is known.
    error : float
        Bound on the spectral norm of the error already in a stored matrix.
    seed : int
        Start of the random numbers.
    psd : bool
        Whether no eigenvalue can be negative; intervals then begin at zero.
    known : ndarray of shape (m,) or None
        Lower bounds on the eigenvalues, descending, where some are known beforehand.
    """

    components: int
    tol: float = 1e-6
    floor: Floor = Floor()
    trace: float | None = None
    error: float = 0.0
    seed: int = 0
    psd: bool = False
    known: FloatArray | None = None


class Solver(abc.ABC):
    """A way to the leading eigenpairs (symmetric A) or right singular pairs (rectangular A)."""

    @abc.abstractmethod
    def solve(self, op: Operator, goal: Goal, /) -> Spectrum:
        """Return the `goal.components` leading pairs with their certificate.

        Eigenvalues are those of A (symmetric) or of AᵀA (rectangular).
        """
