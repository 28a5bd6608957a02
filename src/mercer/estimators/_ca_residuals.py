"""Residuals of a table of counts from independence, cell by cell."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array, show_bytes
from mercer.errors import BudgetError
from mercer.estimators._ca_table import Counts


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Residuals:
    """How far the cells of a table are from their expected counts E = Rcᵀ.

    Attributes
    ----------
    standardised : ndarray of shape (m, n)
        Pearson's (N - E)/√E; the squares of a fitted table sum to χ².
    adjusted : ndarray of shape (m, n)
        The same over √((1 - r)(1 - c)): about standard normal where rows and columns are
        independent, so that beyond ±2 a cell deserves a look.
    """

    standardised: Array
    adjusted: Array


def residuals(counts: Counts, profile: Array, total: float, memory: int) -> Residuals:
    """Return the residuals of rows from the profile c (n,) of the columns at fit.

    Parameters
    ----------
    counts : Counts
        Rows.
    profile : ndarray of shape (n,)
        Masses c; cells of a column without mass have no residual.
    total : float
        g of the fit, in the units of the counts.
    memory : int
        Bytes that may be taken: two tables, and one on the way.
    """
    m, n = counts.shape
    if 24 * m * n > memory:
        raise BudgetError(
            "residuals of every cell do not fit the memory allowed; nothing was allocated",
            got=f"{m:,} x {n:,} cells, {show_bytes(24 * m * n)} of {show_bytes(memory)}",
            fix="pass some of the rows, or allow more `memory`",
        )
    table = counts.table.toarray() if counts.nnz is not None else counts.table
    expected = counts.rows[:, None] * profile
    root = np.sqrt(expected)
    found = np.zeros((m, n))
    np.subtract(table, expected, out=found, where=expected > 0)
    np.divide(found, root, out=found, where=root > 0)
    if counts.exponent:
        found = np.ldexp(found, counts.exponent // 2) * 2.0 ** (0.5 * (counts.exponent % 2))
    left = np.maximum(1 - counts.rows / total, 0.0)[:, None] * (1 - profile)
    np.sqrt(left, out=root)
    adjusted = np.divide(found, root, out=np.zeros((m, n)), where=root > 0)
    return Residuals(found, adjusted)
