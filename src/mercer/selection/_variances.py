"""Variances: what is known of a spectrum, all of it or its leading part."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError


@final
@dataclasses.dataclass(frozen=True)
class Variances:
    """Leading eigenvalues λ₁ ≥ … ≥ λ_r of a covariance matrix, and the sum of all of them.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Leading eigenvalues, descending; those below zero are rounding and count as zero.
    total : float
        Sum of all eigenvalues, known or not.
    rows : float
        n, the number of rows (Σw where they are weighted), at least 2.
    columns : int
        p.

    Examples
    --------
    >>> known = Variances.of([6.0, 3.0, 1.0], rows=50, columns=8, total=12.0)
    >>> known.complete, known.rank
    (False, 8)
    """

    values: Array
    total: float
    rows: float
    columns: int

    @classmethod
    def of(
        cls, values: Any, *, rows: float, columns: int, total: float | None = None
    ) -> "Variances":
        """Return checked variances; `total` is their sum where none is given."""
        found = np.maximum(np.asarray(values, np.float64), 0.0)
        if found.ndim != 1 or not np.isfinite(found).all() or np.any(np.diff(found) > 0):
            raise InputError(
                "eigenvalues must be finite numbers in descending order",
                got=f"an array of shape {found.shape}",
                fix="pass np.sort(values)[::-1]",
            )
        if rows < 2 or len(found) > columns:
            raise InputError(
                "eigenvalues need at least two rows, and are no more than the columns",
                got=f"{rows:g} rows, {len(found)} eigenvalues, {columns} columns",
                fix="pass the n and p of the table that gave the eigenvalues",
            )
        known = float(np.sum(found))
        return cls(found, known if total is None else max(float(total), known), rows, columns)

    @property
    def rank(self) -> int:
        """The most eigenvalues that can differ from zero, min(n - 1, p)."""
        return int(min(np.ceil(self.rows * (1 - 1e-12)) - 1, self.columns))

    @property
    def complete(self) -> bool:
        """Whether every eigenvalue that can differ from zero is known."""
        return len(self.values) >= self.rank

    def leading(self, above: Array) -> int | None:
        """Return how many leading values exceed their bound; None where that is not known.

        Parameters
        ----------
        above : ndarray of shape (rank,)
            Bound of every eigenvalue.
        """
        r = min(len(self.values), self.rank)
        failed = np.flatnonzero(self.values[:r] <= above[:r])
        if failed.size:
            return int(failed[0])
        return r if self.complete else None
