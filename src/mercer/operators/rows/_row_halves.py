"""Halves: the rows in two parts of alternating runs, for sums that are compared."""

import numpy as np

from mercer.operators._centring import Moments
from mercer.operators.rows._dense_rows import Rows
from mercer.operators.rows._running_moments import RunningMoments

_RUNS = 32  # that a table is cut into, at least: an order of the rows then falls into both

Halves = tuple[RunningMoments, RunningMoments]


def run_length(rows: int, longest: int) -> int:
    """Return how many rows in turn belong to one half."""
    return max(1, min(longest, -(-rows // _RUNS)))


def half_runs(start: int, stop: int, run: int) -> tuple[list[slice], list[slice]]:
    """Return the rows of either half among start … stop, counted from `start`.

    Run i belongs to the half that the number of ones in i, written in twos, has: 0110 1001 …
    Long runs keep neighbours that are alike together; a trend falls evenly into both halves.

    Parameters
    ----------
    start, stop : int
        Rows of a block.
    run : int
        Rows of a run.

    Examples
    --------
    >>> half_runs(0, 4, 1)
    ([slice(0, 1, None), slice(3, 4, None)], [slice(1, 2, None), slice(2, 3, None)])
    """
    found: tuple[list[slice], list[slice]] = ([], [])
    at = start
    while at < stop:
        number = at // run
        end = min((number + 1) * run, stop)
        found[number.bit_count() % 2].append(slice(at - start, end - start))
        at = end
    return found


def scatter_by_halves(rows: Rows) -> tuple[Moments, Halves | None]:
    """Return the moments of all rows, and those of two halves: one pass, np² flops.

    The halves are None where one of them weighs nothing.
    """
    n = rows.shape[0]
    runs = half_runs(0, n, run_length(n, rows.tiles().rows))
    if not all(rows.weight_of(half) > 0 for half in runs):
        return rows.scatter(), None
    counts = [sum(run.stop - run.start for run in half) for half in runs]
    parts = [
        RunningMoments.of(rows, moments, count)
        for moments, count in zip(rows.scatters(runs), counts, strict=True)
    ]
    whole, halves = joined(*parts)
    return whole.moments(), halves


def joined(
    first: RunningMoments, second: RunningMoments
) -> tuple[RunningMoments, Halves | None]:
    """Return the sums of both halves together, and the halves in one unit.

    They are None where one of them weighs nothing.
    """
    if first.total == 0 or second.total == 0:
        return first.copy().merge(second), None
    whole = first.copy().merge(second)  # which brings the second to the unit of both
    first.in_unit(whole.exponent)
    return whole, (first, second)


def weightless(weights: np.ndarray | None, runs: list[slice]) -> bool:
    """Tell whether rows are none, or weigh nothing: they have no mean."""
    if not runs:
        return True
    return weights is not None and not any(np.any(weights[run]) for run in runs)
