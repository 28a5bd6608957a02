"""Walks: one pass over a source block by block, told of, read ahead, and kept on the way."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from mercer.arrays import Array, advance, ahead, show_bytes, task, unheard
from mercer.sources import BlockSource


class Sums(Protocol):
    """What a walk adds up: it can be kept as arrays and be restored from them."""

    def keep(self) -> dict[str, Array]:
        """Return the sums as arrays."""

    def restore(self, kept: dict[str, Array], *, ended: bool) -> bool:
        """Go back to what `keep` returned; False where that does not belong to this walk."""


class Journal(Protocol):
    """Keeps the sums of walks, so that a killed fit goes on where it was."""

    block: int | None  # rows of a block, where that is settled

    def kept(self, walk: str) -> tuple[dict[str, Array], int, bool] | None:
        """Return the sums of a walk, the rows in them, and whether it had ended; or None."""

    def note(self, walk: str, sums: Sums, rows: int, *, ended: bool) -> None:
        """Take note of the sums after so many rows; it is up to the journal when to write."""


def fold(
    source: BlockSource,
    rows: int,
    sums: Sums,
    step: Callable[[slice, Any], None],
    *,
    walk: str,
    title: str = "rows",
    journal: Journal | None = None,
) -> int:
    """Call ``step(part, block)`` for every block in order and return the number of rows.

    Parameters
    ----------
    source : BlockSource
        Where the rows are.
    rows : int
        Rows of a block.
    sums : Sums
        What `step` adds to.
    step : function
        Takes the row numbers and the rows of a block.
    walk : str
        What a journal calls this walk, such as "gram 1".
    title : str
        What people are told it is, such as "pass 1".
    journal : Journal or None
        Where a checkpoint is kept. What it holds of this walk is not read again.
    """
    start = 0
    kept = None if journal is None else journal.kept(walk)
    if kept is not None:
        arrays, start, ended = kept
        known = sums.restore(arrays, ended=ended)
        start = start if known else 0
        if ended and known:
            source.shape, source.counted = (start, source.shape[1]), True
            return start
    with task(title):
        for block in fetched(source, rows, start):
            part = slice(start, start + block.shape[0])
            with unheard():
                step(part, block)
            start = part.stop
            _tell(source, start)
            if journal is not None:
                journal.note(walk, sums, start, ended=False)
    if journal is not None:
        journal.note(walk, sums, start, ended=True)
    return start


def fetched(source: BlockSource, rows: int, start: int = 0) -> Iterator[Any]:
    """Return the blocks of a source, each read ahead where another thread may do that."""
    blocks = source.blocks(rows, start)
    return ahead(blocks) if source.elsewhere else blocks


def _tell(source: BlockSource, rows: int) -> None:
    n = max(source.shape[0], rows)
    size = show_bytes(source.nbytes * rows / n)
    about = "" if source.counted else "about "
    words = f"{rows:,} of {about}{n:,} rows, {size} of {show_bytes(source.nbytes)}"
    advance(rows, n, words)
