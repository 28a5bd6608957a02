"""Rows that pass through a feature map block by block: φ(X) is never held whole."""

from collections.abc import Callable
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.sources._base import Source

_CHECK_ROWS = 1024  # rows mapped in one go when a bad cell is searched


class _Lazy:
    """What ``array[rows, columns]`` would be, made when asked for."""

    def __init__(self, phi: Callable[[Any], Array], rows: Any) -> None:
        self.phi, self.rows = phi, rows

    def __getitem__(self, key: tuple[Any, Any]) -> Array:
        rows, columns = key
        return np.asarray(self.phi(self.rows[rows]))[:, columns]


@final
class MappedSource(Source):
    """φ(X) of shape (n, D) for rows X in memory.

    Parameters
    ----------
    phi : function
        Takes rows and returns (r, D) numbers.
    rows : array of shape (n, p)
        X.
    """

    def __init__(self, phi: Callable[[Any], Array], rows: Any) -> None:
        first = np.asarray(phi(rows[:1]))
        self.array = _Lazy(phi, rows)
        self.shape = (int(rows.shape[0]), int(first.shape[1]))
        self.dtype = first.dtype

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def sample(self, count: int, among: Any = None) -> Array:
        """See `Source.sample`."""
        rows = np.arange(self.shape[0]) if among is None else np.asarray(among)
        rows = rows[:: max(1, -(-len(rows) // count))]
        return np.asarray(self.array[rows, slice(None)], dtype=self.products)

    def first_bad_cell(self) -> tuple[int, int, float] | None:
        """See `Source.first_bad_cell`."""
        for start in range(0, self.shape[0], _CHECK_ROWS):
            block = self.array[slice(start, start + _CHECK_ROWS), slice(None)]
            bad = np.argwhere(~np.isfinite(block))
            if bad.size:
                row, column = (int(i) for i in bad[0])
                return start + row, column, float(block[row, column])
        return None
