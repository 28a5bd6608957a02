"""Summed: rows of which only their sums are left, in the place of a table."""

from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.operators import Moments, RunningMoments, RunningSvd
from mercer.sources import Source


@final
class Summed(Source):
    """What a stream has left behind, described like a table and like its source.

    Parameters
    ----------
    sums : RunningMoments or RunningSvd
        The sums; they are not changed.
    stored : dtype
        The coarsest type in which rows came: its rounding is in all that follows.
    products : dtype
        Precision of the axes.
    counted : int
        Rows, repeated ones counted as often as they stand.
    sparse : bool
        Whether rows came sparse: the origin then stays near zero.
    """

    array = None
    max_passes = 0.0
    weights = None

    def __init__(
        self,
        sums: RunningMoments | RunningSvd,
        stored: np.dtype[Any],
        products: np.dtype[Any],
        counted: int,
        sparse: bool,
    ) -> None:
        copied = sums.copy()
        self.sums = copied if sparse else copied.recentred(products)
        origin = self.sums.origin
        assert origin is not None
        self.origin: Array = origin
        self.exponent = self.sums.exponent
        self.dtype, self._products = stored, products
        self.shape = (counted, len(origin))

    @property
    def source(self) -> Source:
        """Itself: there is nothing behind the sums."""
        return self

    @property
    def products(self) -> np.dtype[Any]:
        """See `Source.products`."""
        return self._products

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`."""
        return 0

    def sample(self, count: int, among: Any = None) -> Array:
        """See `Source.sample`: there are no rows left."""
        return np.empty((0, self.shape[1]))

    def scatter(self) -> Moments:
        """Return the moments; the scatter may be overwritten."""
        return self.sums.moments()

    def first_bad_cell(self) -> tuple[int, int, float] | None:
        """See `Source.first_bad_cell`: every batch was looked at; only their span is left."""
        raise InputError(
            "the batches of the stream lie too far apart for sums in float64",
            got=f"a sum of squares of {self.sums.moments().raw_trace:.3g}",
            fix="divide the data by a constant, or fit all rows at once",
        )
