"""Sums of repeat counts, and which are refused: one rule for rows here and in parts."""

import math

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError

_MOST = 2.0**53  # rows up to which float64 counts one by one
Sum = tuple[float, float]


def sum_of(counts: Array) -> Sum:
    """Return Σw as two numbers, the rounded sum and what it lacks; infinite past float64.

    Pairs are added, and what an addition loses is added up apart: the error is that of
    n·eps² and not of eps, so that a sum of exactly one is one however rows are cut. Above
    2^53 it will be refused, and is told to float64.
    """
    if np.max(counts, initial=0.0) > _MOST:
        with np.errstate(over="ignore"):
            return float(np.sum(counts)), 0.0
    rest = 0.0
    while len(counts) > 1:
        half = len(counts) // 2
        one, other = counts[:half], counts[half : 2 * half]
        both = one + other
        taken = both - one
        rest += float(np.sum((one - (both - taken)) + (other - taken)))
        counts = np.concatenate([both, counts[2 * half :]])
    total = float(counts[0]) if len(counts) else 0.0
    return total + rest, rest - ((total + rest) - total)


def joined_sums(one: Sum, other: Sum) -> Sum:
    """Return the sum of two sets of counts."""
    return sum_of(np.array([one[0], other[0], one[1], other[1]]))


def refuse_sum(total: float, rows: str, *, few: bool = False) -> None:
    """Refuse repeat counts that leave no variance, or more rows than can be counted.

    Parameters
    ----------
    total : float
        Their sum.
    rows : str
        Over which rows it is taken, for the message.
    few : bool
        Whether more rows follow, so that none or one is enough.
    """
    if total > _MOST:
        size = f"sum {total:.3g}" if math.isfinite(total) else "a sum above 1.8e+308"
        raise InputError(
            "weights are repeat counts; so many rows cannot be counted",
            got=f"{size} over {rows}; the most is 2**53, {_MOST:.3g}",
            fix=("" if math.isfinite(total) else "take w / w.max(), then ")
            + "rescale: w * (len(w) / w.sum())",
        )
    if few or total > 1:
        return
    if total == 0:
        raise InputError(
            "all sample weights are zero",
            got=f"{rows}, every weight zero",
            fix="give at least two rows a positive weight",
        )
    raise InputError(
        "weights are repeat counts; their sum must exceed 1",
        got=f"sum {total:g} over {rows}",
        fix="rescale: w * len(w) / w.sum()",
    )
