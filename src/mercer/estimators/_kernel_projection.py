"""Projection of new rows by tiles: Bᵀk_X(x), the kernel matrix never held whole."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.arrays import (
    Array,
    Lanes,
    Node,
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


@dataclasses.dataclass(frozen=True)
class Projection:
    """Everything that new rows are measured against.

    Attributes
    ----------
    program : Node
        The kernel.
    side : Side
        The training rows, prepared.
    dual : ndarray of shape (n, k)
        B.
    """

    program: Node
    side: Side
    dual: Array

    @classmethod
    def of(cls, kernel: Kernel, rows: Any, dual: Array) -> "Projection":
        """Return the projection onto the axes of training rows (n, p)."""
        program = kernel.program()
        return cls(program, prepare(program, rows), dual)

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
