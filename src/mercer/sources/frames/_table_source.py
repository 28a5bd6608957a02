"""What files and queries of typed columns share: their rows, and refusals in three lines."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mercer.errors import InputError
from mercer.sources._block_source import Block, BlockSource
from mercer.sources.frames._numeric_columns import Cells

SLICE = 1 << 23  # bytes of one slice, where every slice costs the reading of what holds it
_FOREIGN = {"pyarrow", "polars", "pyo3_runtime", "narwhals", "duckdb", "_duckdb"}


class TableSource(BlockSource):
    """Abstract: rows of a table whose columns have names and types.

    Attributes
    ----------
    cells : Cells
        The columns that are used, and how they become floats.
    """

    names: tuple[str, ...]

    def _adopt(self, cells: Cells, n: int) -> None:
        """Take on the columns, and the number of rows."""
        self.cells, self.label, self.dtype = cells, cells.label, cells.dtype
        self.names, self.dropped = cells.names, cells.dropped
        self.shape = (n, len(cells.at))

    def _whole(self, blocks: Iterator[Block], start: int) -> Iterator[Block]:
        """Yield the blocks; refuse another number of rows than was found at the opening."""
        count = start
        for block in blocks:
            count += block.shape[0]
            yield block
        if count != self.shape[0]:
            raise self._torn(
                f"{self.label}: {count:,} rows were read, {self.shape[0]:,} announced"
            )

    def _torn(self, got: str) -> InputError:
        """Return the refusal of a table with another number of rows than it announces."""
        return InputError(
            "the number of rows is not the one found when it was opened",
            got=got,
            fix="let nothing write to it meanwhile; write the file again",
        )


@contextmanager
def readable(label: str, what: str) -> Iterator[None]:
    """Turn what a library says about broken data into three lines that name them."""
    try:
        yield
    except (OSError, MemoryError, UnicodeError) as error:
        raise _refusal(label, what, error) from error
    except BaseException as error:
        # polars panics on some broken files, and a panic is no Exception.
        if type(error).__module__.split(".")[0] not in _FOREIGN:
            raise
        raise _refusal(label, what, error) from error


def _refusal(label: str, what: str, error: BaseException) -> InputError:
    said = " ".join(str(error).split())
    return InputError(
        f"{what} cannot be read",
        got=f"{label}: {said[:160] or type(error).__name__}",
        fix="check that it is whole and of that kind; write it again",
    )


def spread(at: Sequence[int], lazy: Any, start: int, stop: int, rows: int) -> Iterator[Any]:
    """Yield columns `at` and rows `start` to `stop` of a lazy polars frame: polars frames.

    Every slice is a query of its own, so that it takes more than `rows` where these are few.
    """
    chosen = columns_at(lazy, at)
    step = max(rows, SLICE // (8 * len(at)))
    for first in range(start, stop, step):
        found = chosen.slice(first, min(step, stop - first)).collect()
        yield from found.iter_slices(rows)
        del found  # before the next is made


def columns_at(lazy: Any, at: Sequence[int]) -> Any:
    """Return a lazy polars frame of the columns at these places, in that order."""
    import polars as pl

    names = lazy.collect_schema().names()
    if any(name.startswith("^") and name.endswith("$") for name in names):
        # polars would take such a name for a pattern, however it is asked for.
        plain = [f"column {place}" for place in range(len(names))]
        lazy, names = lazy.rename(dict(zip(names, plain, strict=True))), plain
    return lazy.select([pl.col(names[place]) for place in at])
