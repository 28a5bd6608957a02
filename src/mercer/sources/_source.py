"""Source: a table of numbers with a shape, a price per pass and a sample."""

import abc
from typing import Any

import numpy as np

from mercer.arrays import Array


class Source(abc.ABC):
    """Numeric rows that can be walked `max_passes` times.

    A source owns no statistics and does no arithmetic: it says what there is, and hands
    out rows.
    """

    array: Any  # what holds the rows; None where they are read block by block
    shape: tuple[int, int]
    dtype: np.dtype[Any]  # as stored
    nnz: int | None = None  # stored cells of a sparse source
    max_passes: float = float("inf")

    @property
    def nbytes(self) -> int:
        """Bytes that one pass reads: those of dense rows, where a kind says nothing else."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    @abc.abstractmethod
    def sample(self, count: int, among: Any = None) -> Array:
        """Return at most `count` rows spread evenly over the whole, dense, as floats.

        `among` (row numbers, ascending) restricts the choice.
        """

    @abc.abstractmethod
    def first_bad_cell(self) -> tuple[int, int, float] | None:
        """Return (row, column, value) of the first NaN or infinity, or None."""

    @property
    def products(self) -> np.dtype[Any]:
        """The precision in which products of this data are exact enough: float32 stays."""
        return self.dtype if self.dtype == np.float32 else np.dtype(np.float64)
