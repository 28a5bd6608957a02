"""Spatial signs of rows as a source: what a linear method finds in them is robust."""

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.operators._centring import Centring
from mercer.operators.robust._rows_about_origin import (
    RowsAboutOrigin,
    deviations,
    norms,
    rounding_of,
)
from mercer.sources import BlockSource


@final
class SpatialSigns(BlockSource):
    """The rows u = x̃/‖x̃‖ about a spatial median; rows at the median are zero.

    Every row has length one, so that one row in n moves the scatter Σw uuᵀ by 1/n at most,
    however far out it is. At a median between the rows Σwu = 0, so that the scatter about
    the mean of the signs is the scatter itself. A median that stands on rows leaves a mean;
    `mirrored` then adds -u after each u, which doubles the scatter and has the mean zero.

    Parameters
    ----------
    rows : RowsAboutOrigin
        The rows.
    centring : Centring
        The median, and the factors of the columns.
    mirrored : bool
        Whether each sign is followed by its mirror image.
    """

    def __init__(self, rows: RowsAboutOrigin, centring: Centring, *, mirrored: bool) -> None:
        self.rows, self.centring, self.mirrored = rows, centring, mirrored
        n, p = rows.shape
        self.shape, self.dtype = (2 * n if mirrored else n, p), np.dtype(np.float64)
        inner = rows.source
        self.label = getattr(inner, "label", "the data")
        self.max_passes = inner.max_passes
        self.elsewhere = getattr(inner, "elsewhere", False)
        self.rate = getattr(inner, "rate", 1e9)

    def _read(self, rows: int, start: int) -> Iterator[Any]:
        for part, y in self.rows.blocks():
            u = signs(y, self.centring)
            stop = part.stop * (2 if self.mirrored else 1)
            if self.mirrored:
                u = np.stack([u, -u], axis=1).reshape(-1, u.shape[1])
            if stop > start:
                yield u[max(0, start - stop + len(u)) :]

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: no fit of signs is ever kept."""
        return f"signs {self.shape}"


def signs(y: Array, centring: Centring) -> Array:
    """Return x̃/‖x̃‖ (r, p), in place of y; a row at the median to rounding is zero."""
    d = deviations(y, centring)
    r = norms(d)
    on = r <= rounding_of(centring.offset, centring.factor)
    d /= np.where(on, 1.0, r)[:, None]
    d[on] = 0.0
    return d
