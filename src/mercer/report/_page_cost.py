"""What the page takes beside the fit: seconds and bytes, foreseen from the shape alone."""

import dataclasses
from typing import final

from mercer.arrays import show_bytes
from mercer.report.facts._linear_summary import BLOCK, SHOWN, held_rows
from mercer.report.facts._row_cloud import MOST_ROWS, SAMPLE

_CELL = 9e-9  # seconds to centre, project and square a number
_ROW = 5e-6  # seconds to look at, order and pack a row
_CUBE = 2.5e-9  # seconds of the variances of noise, times p³
_START = 2.5  # seconds: libraries, pictures, tables, text
_BLOCKS = 4  # copies of a block that are there at one time
_HELD = 6  # copies of the rows that are held, while they are studied
_BYTES = 40_000_000  # pictures, tables, text


@final
@dataclasses.dataclass(frozen=True)
class PageCost:
    """A forecast.

    Attributes
    ----------
    seconds : float
        Of the page, without the fit.
    bytes : int
        Memory at its highest, without the rows where they are held.
    held : bool
        Whether the rows are in memory.
    """

    seconds: float
    bytes: int
    held: bool = False

    def __str__(self) -> str:
        """Return a line."""
        took = f"about {self.seconds:.2g} s"
        beside = " beside the rows in memory" if self.held else ""
        return f"page: one more walk, {took}, up to {show_bytes(self.bytes)}{beside}"


def page_cost(
    shape: tuple[int, int],
    *,
    read_seconds: float = 0.0,
    colours: int = 0,
    held: bool = False,
) -> PageCost:
    """Return what a page about a linear model takes.

    Bytes: four blocks, six times the rows that are studied cell by cell, per row coordinates
    twice, T² and Q twice and what packs them, three matrices of order p.

    Parameters
    ----------
    shape : tuple of int
        (n, p).
    read_seconds : float
        Of one walk over the file; 0 for rows in memory.
    colours : int
        Columns to colour by; each is one more walk over one column.
    held : bool
        Whether the rows are in memory.
    """
    n, p = shape
    rank, drawn = min(n, p), SAMPLE if n > MOST_ROWS else n
    draws = 60 if rank <= 256 else 20
    seconds = read_seconds + _CELL * n * p + _ROW * (drawn + 0.2 * colours * n)
    seconds += draws * _CUBE * rank**3 + _START
    studied = 8 * held_rows(n, p) * p
    block = min(BLOCK, 8 * n * p)
    sampled = 24 * n if n > MOST_ROWS else 0  # numbers of the rows, while some are drawn
    rows = (
        sampled + n * (8 * SHOWN + 32 + 5 * colours) + drawn * (12 * SHOWN + 48 + 8 * colours)
    )
    space = _BLOCKS * block + _HELD * studied + rows + 24 * rank**2 + _BYTES
    return PageCost(seconds, int(space), held)
