"""Stored: leading pairs of a matrix in memory, by iteration while that pays."""

import dataclasses
from typing import final

from mercer.operators import Operator
from mercer.solvers._base import Goal, Solver
from mercer.solvers._block_krylov import BlockKrylov
from mercer.solvers._exact import Exact
from mercer.solvers._spectrum import Outcome, Spectrum


@final
@dataclasses.dataclass(frozen=True)
class Stored(Solver):
    """Block Krylov with a budget of about half a full eigenproblem, then LAPACK.

    Flat spectra have no leading pairs that an iteration could tell from the rest; there
    the full eigenproblem is cheaper, and it needs no further pass over the data.

    Parameters
    ----------
    krylov : BlockKrylov
        The iteration, its `max_passes` being the budget.
    whole : bool
        Whether the full eigenproblem may follow: it takes 16 bytes per entry, and the
        matrix is lost.
    """

    krylov: BlockKrylov
    whole: bool = True

    def solve(self, op: Operator, goal: Goal, /) -> Spectrum:
        """See `Solver.solve`."""
        found = self.krylov.solve(op, goal)
        again = self.whole and found.outcome is Outcome.BUDGET
        return Exact(destroy=True).solve(op, goal) if again else found
