"""Missing cells counted, for those who refuse them."""

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import Array, as_numpy, is_sparse
from mercer.errors import InputError
from mercer.sources._block_source import BlockSource, MissingCellError, Source, bad_cell_error
from mercer.sources.parts._distributed_source import PartBlocks, SpreadSource

_ROWS = 4096  # rows looked at in one go
_NAMED = 5  # columns that are named


def missing_counts(source: Source) -> tuple[int, Array]:
    """Return the number of rows and of missing cells per column (p,): one walk."""
    if isinstance(source, SpreadSource):
        found: tuple[int, Array] = source.reduce(_MissingCounts(), title="missing cells")
        return found
    rows, counts = 0, np.zeros(source.shape[1], np.int64)
    for block in _blocks(source):
        rows += block.shape[0]
        if is_sparse(block):
            at = block.indices[np.isnan(block.data)] if block.dtype.kind == "f" else []
            counts += np.bincount(at, minlength=len(counts))
        elif block.dtype.kind == "f":
            counts += np.count_nonzero(np.isnan(block), axis=0)
    return rows, counts


def has_missing(source: Source) -> bool:
    """Tell whether a cell is missing; of rows that are held nothing is copied."""
    if source.dtype.kind != "f":
        return False
    if isinstance(source, SpreadSource):
        return bool(missing_counts(source)[1].any())
    for block in _blocks(source):
        cells = block.data if is_sparse(block) else block
        if np.isnan(np.min(cells, initial=np.inf)):
            return True
    return False


@final
class _MissingCounts:
    """Rows, and missing cells per column, of every part."""

    def part(self, rows: PartBlocks, weights: Array | None) -> tuple[int, Array]:
        return missing_counts(rows)

    def merge(self, one: tuple[int, Array], other: tuple[int, Array]) -> tuple[int, Array]:
        return one[0] + other[0], one[1] + other[1]


def refuse_infinite(source: Source, names: Any = None) -> None:
    """Name the first infinite cell, if there is one: one walk; missing ones are passed over."""
    start = 0
    for block in _blocks(source):
        stored = block.data if is_sparse(block) else block
        if block.dtype.kind == "f" and np.any(np.isinf(stored)):
            dense = block.toarray() if is_sparse(block) else block
            row, column = (int(i) for i in np.argwhere(np.isinf(dense))[0])
            name = "" if names is None else f" ({str(names[column])!r})"
            place = f"row {start + row}, column {column}{name}"
            if isinstance(source, BlockSource):
                place = source.place(start + row, column)
            raise bad_cell_error(place, float(dense[row, column]))
        start += block.shape[0]


def _blocks(source: Source) -> Iterator[Any]:
    if isinstance(source, BlockSource):
        yield from source.blocks(source._few)
        return
    for start in range(0, source.shape[0], _ROWS):
        part = source.array[start : start + _ROWS]
        yield part if is_sparse(part) else as_numpy(part)


def counted_error(source: Source, place: str, names: Any, fix: str) -> InputError | None:
    """Return the refusal of missing cells with their counts; `place` is that of the first.

    Of rows in parts it is that of any, since they are not read in order. None where the rows
    cannot be read once more.
    """
    if isinstance(source, BlockSource) and source.walks >= source.max_passes:
        return None
    rows, counts = missing_counts(source)
    names = source.names if isinstance(source, BlockSource | SpreadSource) else names
    most = np.argsort(-counts, kind="stable")[:_NAMED]
    most = np.sort(most[counts[most] > 0])
    shown = ", ".join(
        f"{f'column {j}' if names is None else repr(str(names[j]))} {counts[j]:,}" for j in most
    )
    columns = int(np.count_nonzero(counts))
    left = columns - len(most)
    more = f" and {left} more column{'s' if left > 1 else ''}" if left else ""
    which = "one" if isinstance(source, SpreadSource) else "the first"
    return MissingCellError(
        f"X contains NaN; {int(counts.sum()):,} of {rows * len(counts):,} cells are missing, in"
        f" {columns:,} of {len(counts):,} columns",
        got=f"{shown}{more}; {which} is NaN at {place}",
        fix=fix,
    )
