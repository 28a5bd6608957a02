"""All rows made ready once, for tiles with any few of them: what samplers look at."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import (
    Array,
    Lanes,
    Side,
    Tiles,
    Workspace,
    as_rows,
    prepare,
    thread_count,
)
from mercer.kernels import Kernel
from mercer.operators._frames import (
    Frame,
    in_precision,
    middle_row,
    program_of,
    refuse_negative,
    spread,
)

_ROWS = 2048  # of a tile of all rows with new pivots
_SAMPLE = 256  # rows that lend their middle and their unit to all
_WORTH_LANES = 1e5  # entries from which threads pay


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """Rows (n, p) made ready block by block, their weights and k̃(x, x).

    Attributes
    ----------
    kernel : Kernel
        With numbers for parameters.
    rows : array or CSR matrix of shape (n, p)
        As they came.
    frame : Frame
        Some of them, whose middle and unit all others share.
    origin : array of shape (1, p) or None
        The row o of a cpd kernel.
    sides : list of Side
        The rows, block by block.
    tiles : Tiles
        The blocks.
    weights : ndarray of shape (n,)
        Repeat counts; ones where none were given.
    given : ndarray of shape (n,) or None
        Repeat counts as they were given.
    diagonal, scale : ndarray of shape (n,)
        k̃(x, x), and the size of the numbers it is made of.
    dtype : dtype
        The precision of the tiles.
    """

    kernel: Kernel
    rows: Any
    frame: Frame
    origin: Any
    sides: list[Side]
    tiles: Tiles
    weights: Array
    given: Array | None
    diagonal: Array
    scale: Array
    dtype: Any

    @classmethod
    def of(cls, kernel: Kernel, rows: Any, weights: Array | None, dtype: Any) -> "Table":
        """Return the table of rows (n, p); tiles are float32 where rows and `dtype` are."""
        program, rows = program_of(kernel), as_rows(rows)
        n = int(rows.shape[0])
        narrow = np.dtype(dtype) == np.float32 and rows.dtype == np.float32
        at = np.float32 if narrow else np.float64
        origin = middle_row(kernel, rows)
        frame = Frame.of(program, rows[spread(n, _SAMPLE)], origin, at)
        tiles = Tiles(n, _ROWS)
        sides = [frame.ready(rows[tiles[number]]) for number in range(len(tiles))]
        ends = [frame.diagonal(side) for side in sides]
        diagonal = np.concatenate([k for k, _ in ends])
        scale = np.concatenate([s for _, s in ends])
        refuse_negative(diagonal, scale, at, kernel)
        w = np.ones(n) if weights is None else np.asarray(weights, np.float64)
        clear = np.maximum(diagonal, 0.0)
        return cls(kernel, rows, frame, origin, sides, tiles, w, weights, clear, scale, at)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.rows.shape[0])

    def few(self, picked: Array, dtype: Any = np.float64) -> Frame:
        """Return the frame of some rows."""
        program, lent = self.frame.program, self.frame.side
        if np.dtype(dtype) != self.dtype:  # a middle in float64, which float32 rows share
            lent = prepare(program, in_precision(self.rows[spread(self.n, _SAMPLE)], dtype))
        return Frame.of(program, self.rows[picked], self.origin, dtype, lent)

    def sweep(self, picked: Array, act: Callable[[slice, Array, Array], None]) -> None:
        """Call ``act(which rows, tile, scratch)`` on every block; a tile has picked rows."""
        frame, width = self.few(picked, self.dtype), len(picked)
        busy = self.n * width > _WORTH_LANES
        lanes = Lanes(min(thread_count(), len(self.tiles)) if busy else 1)

        def work(_lane: int, numbers: Iterator[int]) -> None:
            space = Workspace()
            buffers = np.empty((2, width * min(_ROWS, self.n)), self.dtype)
            for number in numbers:
                side = self.sides[number]
                out, scratch = (b[: width * side.n].reshape(width, side.n) for b in buffers)
                act(self.tiles[number], frame.tile(side, out, space), scratch)

        lanes.run(work, len(self.tiles))

    def draw(self, law: Array, count: int, rng: np.random.Generator) -> Array:
        """Return row numbers drawn with probability ∝ law, with repetition."""
        ends = np.cumsum(law)
        places = np.searchsorted(ends, rng.random(count) * ends[-1], side="right")
        # A draw that rounds to the very end belongs to the last row that has a share.
        return np.minimum(places, int(np.flatnonzero(law)[-1]))
