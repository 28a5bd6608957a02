"""Stored: leading pairs of a matrix in memory, by iteration while that pays."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array, binary_exponent, eigh, gaussian, is_numpy
from mercer.operators import Dense, Operator
from mercer.solvers._block_krylov import BlockKrylov
from mercer.solvers._exact import Exact
from mercer.solvers._solver import Goal, Solver
from mercer.solvers._spectrum import Outcome, Spectrum

_HELD = 0.5  # share of the trace that the largest columns must hold to be begun with
_TIMES = 3  # times as many of them as the first block has columns
_FRESH = 8  # random columns of that block, for axes that lie in all the other columns


@final
@dataclasses.dataclass(frozen=True)
class Stored(Solver):
    """Block Krylov with a budget of about half a full eigenproblem, then LAPACK.

    Flat spectra have no leading pairs that an iteration could tell from the rest; there
    the full eigenproblem is cheaper, and it needs no further pass over the data.

    Where a few columns hold half of the trace, as the frequent words of texts or the loud
    channels of an instrument do, the iteration begins with their own leading axes, and with
    a block of twice as many columns as are wanted: that ends in half the steps.

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
        found = self._begun(op, goal).solve(op, goal)
        again = self.whole and found.outcome is Outcome.BUDGET
        return Exact(destroy=True).solve(op, goal) if again else found

    def _begun(self, op: Operator, goal: Goal) -> BlockKrylov:
        """Return the iteration with its first block."""
        krylov = self.krylov
        known = krylov.start is not None or not (op.symmetric and goal.psd)
        if known or not isinstance(op, Dense) or not is_numpy(op.a):
            return krylov
        width = max(krylov.block, 2 * goal.components)
        start = largest_columns(op.a, width, goal.seed)
        if start is None:
            return krylov
        passes = max(1, krylov.max_passes * krylov.block // width)
        return dataclasses.replace(krylov, block=width, max_passes=passes, start=start)


def largest_columns(a: Array, width: int, seed: int) -> Array | None:
    """Return a block (n, width) turned to the leading axes of the largest columns of psd A.

    With S those of the largest diagonal and U the leading axes of A_SS, it is A_S U, which
    is what one product of A with these axes would give, at the cost of a part of it. None
    where S holds less than half of the trace, or most of the columns.
    """
    order = len(a)
    size = np.diagonal(a)
    count = _TIMES * width
    if 2 * count > order:
        return None
    chosen = np.sort(np.argpartition(-size, count)[:count])
    if not np.sum(size[chosen]) > _HELD * np.sum(size):
        return None
    # Entries beyond 1e154 have no square.
    part = np.ldexp(a[:, chosen], -binary_exponent(float(np.max(size))))
    axes = eigh(part[chosen])[1][:, : width - _FRESH]
    fresh = gaussian((order, _FRESH), a, seed)
    return np.concatenate([part @ axes, fresh], axis=1)
