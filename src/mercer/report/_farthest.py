"""Farthest: the rows farthest out, kept whole while all are walked."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array

KEPT = 20  # by each of the two distances: what a table of the farthest rows lists


@final
@dataclasses.dataclass(frozen=True)
class Farthest:
    """The rows of largest T², and those of largest Q, so far.

    Whatever the limits of the two turn out to be, the rows farthest beyond one of them are
    among these.

    Attributes
    ----------
    at : array of shape (f,)
        Their numbers, ascending.
    rows : array of shape (f, p)
        As they were analysed.
    t2, q : array of shape (f,)
        Their distances.
    """

    at: Array
    rows: Array
    t2: Array
    q: Array

    @classmethod
    def none(cls, p: int) -> "Farthest":
        """Return that of no rows of p columns."""
        return cls(np.empty(0, np.int64), np.empty((0, p)), np.empty(0), np.empty(0))

    def with_rows(self, start: int, rows: Array, t2: Array, q: Array) -> "Farthest":
        """Return that of these rows and of a block of further ones.

        Parameters
        ----------
        start : int
            Number of the first row of the block.
        rows : array of shape (r, p)
            The block.
        t2, q : array of shape (r,)
            Distances of its rows.
        """
        new = np.union1d(_largest(t2), _largest(q))
        at = np.concatenate([self.at, start + new])
        far, away = np.concatenate([self.t2, t2[new]]), np.concatenate([self.q, q[new]])
        kept = np.union1d(_largest(far), _largest(away))
        whole = np.concatenate([self.rows, rows[new]])
        return Farthest(at[kept], whole[kept], far[kept], away[kept])


def _largest(values: Array) -> Array:
    """Return the places of the largest values."""
    if len(values) <= KEPT:
        return np.arange(len(values))
    return np.argpartition(-values, KEPT - 1)[:KEPT]
