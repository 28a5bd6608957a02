"""Projection of new rows by tiles: Bᵀk_X(x), the kernel matrix never held whole."""

import dataclasses
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mercer.arrays import (
    Array,
    Lanes,
    Side,
    Tiles,
    Workspace,
    count_rows,
    prepare,
    rows_at,
    thread_count,
    tile,
)
from mercer.kernels import Kernel
from mercer.operators import side_dtype

if TYPE_CHECKING:
    from mercer.estimators.kernel._new_rows import Compressed

_TILE = 512  # new rows, and
_WIDE = 2048  # training rows, of a tile
_TALL = 2048  # new rows of a tile with few training rows
_WORTH_LANES = 1e5  # entries from which threads pay


@dataclasses.dataclass(eq=False)
class Projection:
    """Everything that new rows are measured against, prepared when it is first needed.

    Parameters
    ----------
    kernel : Kernel
        With numbers for parameters.
    rows : array or sparse matrix of shape (n, p)
        The training rows.
    dual : ndarray of shape (n, k)
        B.
    wide : bool
        Whether tiles of float32 rows are float64: coefficients of landmarks are large and
        of both signs.
    compressed : Compressed or None
        The same on landmarks, once that is asked for.
    """

    kernel: Kernel
    rows: Array
    dual: Array
    wide: bool = False
    compressed: "Compressed | None" = None

    @functools.cached_property
    def side(self) -> Side:
        """The training rows, prepared."""
        return prepare(self.kernel.program(), self._ready(self.rows))

    def _ready(self, rows: Array) -> Array:
        return rows.astype(np.float64) if self.wide and rows.dtype == np.float32 else rows

    def products(self, rows: Array) -> Array:
        """Return Bᵀk_X(x) for every row, (m, k) in float64: 2n(p + k) flops a row."""
        program, side, dual = self.kernel.program(), self.side, self.dual
        n = count_rows(rows)
        tall = _TALL if side.n <= _WIDE else _TILE
        mine, theirs = Tiles(n, min(tall, max(n, 1))), Tiles(side.n, _WIDE)
        out = np.zeros((n, dual.shape[1]))
        lanes = Lanes(min(thread_count(), len(mine)) if n * side.n > _WORTH_LANES else 1)

        def work(_lane: int, numbers: Iterator[int]) -> None:
            space = Workspace()
            buffer = np.empty(mine.rows * _WIDE, np.float64)
            for number in numbers:
                part = mine[number]
                new = prepare(program, self._ready(rows_at(rows, part)), other=side)
                dtype = side_dtype(new)
                for other in range(len(theirs)):
                    cols = theirs[other]
                    shape = (new.n, cols.stop - cols.start)
                    t = buffer.view(dtype)[: shape[0] * shape[1]].reshape(shape)
                    t = tile(program, new, side, slice(0, new.n), cols, t, space)
                    with np.errstate(over="ignore", invalid="ignore"):  # looked at as a whole
                        out[part] += np.asarray(t, dual.dtype) @ dual[cols]

        lanes.run(work, len(mine))
        return out
