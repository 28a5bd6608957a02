"""Scaling: what columns are multiplied by, once their variances are known."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError

LEAST_SPREAD = 1e-152  # in the unit of the largest cells, whose squares keep their digits


@final
@dataclasses.dataclass(frozen=True)
class Scaling:
    """Division by standard deviations, weights of columns, or both.

    Parameters
    ----------
    standardize : bool
        Whether columns are divided by their standard deviations.
    root_weight : ndarray of shape (p,) or None
        √weights of the columns.
    """

    standardize: bool
    root_weight: Array | None

    def factor_of(self, variances: Array, step: Array | float, start: int = 0) -> Array | None:
        """Return the multipliers of columns `start`, …, or None where all are one.

        A column that varies no more than its rounding `step` is constant: dividing by its
        standard deviation would blow rounding up to variance one. One whose squares leave the
        range of float64 beside those of the largest is refused.
        """
        if not self.standardize and self.root_weight is None:
            return None
        factor = np.ones_like(variances)
        if self.standardize:
            refuse_lost((variances > 0) & (variances < LEAST_SPREAD**2), start)
            constant = is_constant(variances, step)
            factor = 1 / np.sqrt(np.where(constant, 1.0, variances))
        if self.root_weight is not None:
            factor = factor * self.root_weight[start : start + len(variances)]
        return factor


def refuse_lost(lost: Array, start: int = 0) -> None:
    """Refuse columns `start`, … that vary, but too little for squares beside the largest."""
    which = np.flatnonzero(lost)
    if which.size:
        raise InputError(
            "columns differ too much in size to be standardised together",
            got=f"column {start + which[0]}, 10^150 times smaller than the largest, or more",
            fix="divide the largest columns by a constant first, or drop one of them",
        )


def exact_means(rows: Array, means: Array) -> Array:
    """Return the means of columns, those of constant columns exact.

    A sum of n equal numbers divided by n, with weights or without, may be off by a rounding.
    What it leaves of a constant column is no spread, and nothing may be divided by it.

    Parameters
    ----------
    rows : ndarray of shape (n,) or (n, p)
        The rows that count, at least one.
    means : ndarray of shape () or (p,)
        Their means as they were added up.

    Examples
    --------
    >>> rows = np.full(7, 0.1)
    >>> bool(rows.mean() == 0.1), bool(exact_means(rows, rows.mean()) == 0.1)
    (False, True)
    """
    low = np.min(rows, axis=0)
    return np.where(low == np.max(rows, axis=0), low, means)


def is_constant(variances: Array, step: Array | float) -> Array:
    """Tell which columns vary no more than storing them has rounded: var ≤ step²/12."""
    return np.asarray(variances <= np.square(step) / 12)
