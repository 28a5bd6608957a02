"""Projection of new rows by tiles: Bᵀk_X(x), the kernel matrix never held whole."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.arrays import (
    Array,
    Lanes,
    Side,
    Tiles,
    Workspace,
    prepare,
    thread_count,
    tile,
)
from mercer.kernels import Kernel
from mercer.operators import side_dtype

_TILE = 512  # new rows, and
_WIDE = 2048  # training rows, of a tile
_WORTH_LANES = 1e5  # entries from which threads pay


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
    """

    def __init__(self, kernel: Kernel, rows: Any, dual: Array) -> None:
        self.program, self.rows, self.dual = kernel.program(), rows, dual
        self._side: Side | None = None

    @property
    def side(self) -> Side:
        """The training rows, prepared."""
        if self._side is None:
            self._side = prepare(self.program, self.rows)
        return self._side

    def products(self, rows: Any) -> Array:
        """Return Bᵀk_X(x) for every row, (m, k) in float64: 2n(p + k) flops a row."""
        program, side, dual = self.program, self.side, self.dual
        new = prepare(program, rows, other=side)
        mine, theirs = Tiles(new.n, _TILE), Tiles(side.n, _WIDE)
        out = np.zeros((new.n, dual.shape[1]))
        lanes = Lanes(min(thread_count(), len(mine)) if new.n * side.n > _WORTH_LANES else 1)

        def work(_lane: int, numbers: Iterator[int]) -> None:
            space = Workspace()
            buffer = np.empty(_TILE * _WIDE, side_dtype(new))
            for number in numbers:
                part = mine[number]
                for other in range(len(theirs)):
                    cols = theirs[other]
                    shape = (part.stop - part.start, cols.stop - cols.start)
                    t = buffer[: shape[0] * shape[1]].reshape(shape)
                    t = tile(program, new, side, part, cols, t, space)
                    out[part] += np.asarray(t, dual.dtype) @ dual[cols]

        lanes.run(work, len(mine))
        return out
