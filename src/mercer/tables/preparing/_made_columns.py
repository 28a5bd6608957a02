"""Columns of numbers that are made of dates and of categories.

The columns of an analysis, side by side: numbers as they are, and those made of others.
"""

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources import (
    BlockSource,
    FileIds,
    KeptRows,
    WidenedSource,
    files_of,
    other_columns,
)
from mercer.tables._recipe import Recipe, made_names
from mercer.tables._table_reading import (
    as_frame,
    held_rows,
    opened,
    print_of,
    size_of,
)
from mercer.tables.looking._column_facts import days

_ROWS = 1 << 14  # read in one go
TOLD = 3  # unknown categories that are named
_RATE = 1.2e7  # bytes of a file that are read and encoded per second, roughly


@final
class MadeColumns(BlockSource):
    """Days since 1970-01-01 for dates; a column of 0 and 1 for every category of text.

    A missing date is NaN. Text that is missing, or no known category, is 0 in all columns of
    its categories; what the last walk met of both is counted.

    Parameters
    ----------
    path : path
        The file.
    recipe : Recipe
        Columns of dates and how they are written, columns of text and their categories.
    rows : int or None
        How many rows the file has, where somebody has counted them.
    where : BlockSource or None
        Numbers of the same file, which know where a row stands.

    Attributes
    ----------
    unseen : Counter of str
        How often a column held text that is none of its categories.
    examples : dict of str to dict
        Some of those texts.
    absent : Counter of str
        How often the text of a column was missing.
    """

    rate = _RATE
    names: tuple[str, ...]

    def __init__(
        self,
        path: Any,
        recipe: Recipe,
        rows: int | None = None,
        where: BlockSource | None = None,
    ) -> None:
        self.path, self.label, self.recipe = Path(path), Path(path).name, recipe
        self.dates, self.levels = recipe.dates, recipe.levels
        self.names = made_names(self.dates, self.levels)
        self.dtype = np.dtype(np.float64)
        self.counted = rows is not None
        self.shape = (1 if rows is None else rows, len(self.names))
        self.unseen, self.absent, self.where = Counter[str](), Counter[str](), where
        self.examples: dict[str, dict[str, None]] = {}

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`: the whole file is looked through."""
        return size_of(self.path)

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        del rows  # short frames would cost more than they are worth
        self.unseen.clear()
        self.absent.clear()
        self.examples.clear()
        wanted, at = (*self.dates, *self.levels), 0
        for frame in other_columns(self.path, wanted, rows=_ROWS, reading=self.recipe.reading):
            if at + frame.height > start:
                skip = max(0, start - at)
                yield self._numbers(frame.slice(skip), at + skip)
            at += frame.height

    def _numbers(self, frame: Any, start: int) -> Array:
        """Return the columns made of a frame whose first row has the number `start`."""
        out = np.zeros((frame.height, self.shape[1]))
        for at, name in enumerate(self.dates):
            out[:, at] = self._days(frame[name], at, start)
        at = len(self.dates)
        for name, known in self.levels.items():
            codes = self._codes(frame[name], known)
            there = np.flatnonzero(codes >= 0)
            out[there, at + codes[there]] = 1.0
            at += len(known)
        return out

    def _days(self, cells: Any, column: int, start: int) -> Array:
        """Return dates as days, NaN where one is missing; what is no date is refused."""
        import polars as pl

        if cells.dtype == pl.Null:
            return np.full(len(cells), np.nan)
        if cells.dtype not in (pl.String, pl.Date, pl.Datetime):
            raise _not_a_date(self.place(start, column), cells[0])
        order = self.recipe.orders.get(cells.name)
        found = days(cells, order)
        if cells.dtype == pl.String and order not in (None, "iso"):
            # 2024-12-31 can be read in one way alone, however the others are written.
            found = found.fill_null(days(cells, "iso"))
        wrong = np.flatnonzero((found.is_null() & cells.is_not_null()).to_numpy())
        if wrong.size:
            raise _not_a_date(self.place(start + int(wrong[0]), column), cells[int(wrong[0])])
        return np.asarray(found.fill_null(np.nan).to_numpy())

    def _codes(self, series: Any, known: tuple[str, ...]) -> Array:
        """Return the number of every cell's category, -1 where it has none."""
        import polars as pl

        text = series.cast(pl.String)
        codes = text.replace_strict(
            list(known), list(range(len(known))), default=-1, return_dtype=pl.Int64
        )
        found = codes.fill_null(-1).to_numpy()
        gone = text.is_null().to_numpy()
        if gone.any():
            self.absent[series.name] += int(gone.sum())
        odd = np.flatnonzero((found < 0) & ~gone)
        if odd.size:
            self.unseen[series.name] += odd.size
            told = self.examples.setdefault(series.name, {})
            if len(told) < TOLD:
                some = text.gather(odd).unique(maintain_order=True).to_list()
                told.update(dict.fromkeys(some[: TOLD - len(told)]))
        return np.asarray(found)

    def place(self, row: int, column: int) -> str:
        """See `BlockSource.place`: the line, where numbers stand beside that know it."""
        name = self.names[column]
        if self.where is None:
            return f"{self.label}, row {row}, column {name!r}"
        return f"{self.where.place(row, 0).rpartition(', column ')[0]}, column {name!r}"

    def _files(self) -> tuple[Path, ...]:
        return (self.path,) if self.path.is_file() else ()

    def files(self) -> FileIds:
        """See `Source.files`."""
        return files_of(self.path)

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: the file, and the columns that are made."""
        mark = (print_of(self.path), self.recipe.plain())
        return hashlib.sha256(repr(mark).encode()).hexdigest()


def _not_a_date(place: str, cell: Any) -> InputError:
    """Return the refusal of a cell that is no date, or one that can be read in two ways."""
    return InputError(
        "a cell cannot be read as a date",
        got=f"{place}: {str(cell)[:40]!r}",
        fix="write it like the others, best as 2024-12-31, or take --dates ignore",
    )


@final
@dataclasses.dataclass(frozen=True, eq=False)
class WideColumns:
    """The rows of a file as a recipe makes them.

    Attributes
    ----------
    recipe : Recipe
        What was made.
    whole : BlockSource
        All rows of the file.
    made : MadeColumns or None
        Those columns that are made of dates and categories.
    held : array of shape (n, p) or None
        The rows, where they are few enough to be held.
    source : BlockSource
        The rows that are read: those before `stop`.
    stop : int or None
        Where reading stops.
    """

    recipe: Recipe
    whole: BlockSource
    made: MadeColumns | None
    held: Array | None
    source: BlockSource
    stop: int | None

    def without(self, out: Array) -> Any:
        """Return what can be fitted: the rows but for those left out."""
        if self.held is not None:
            rows = np.delete(self.held, out, axis=0) if len(out) else self.held
            return as_frame(rows, self.recipe.names)
        if len(out) == 0:
            return self.source
        return KeptRows(self.whole, out, self.stop, rows=self._known)

    @property
    def _known(self) -> int | None:
        """Rows of the file, as far as they are read, where they were counted."""
        return self.source.shape[0] if self.source.counted else None


def wide(
    path: Any,
    recipe: Recipe,
    *,
    stop: int | None,
    rows: int | None,
    memory: float | None = None,
) -> WideColumns:
    """Return the rows of a file as the recipe makes them; held where they are few.

    Parameters
    ----------
    path : path
        The file.
    recipe : Recipe
        Which columns, and what is made of them.
    stop : int or None
        Read only so many rows.
    rows : int or None
        How many rows are read, where somebody has counted them.
    memory : float or None
        Bytes that may be taken; None for 80 % of what is free.
    """
    numbers = opened(path, recipe.numbers, recipe.reading) if recipe.numbers else None
    made = None
    if recipe.dates or recipe.levels:
        made = MadeColumns(path, recipe, rows if stop is None else None, numbers)
    parts = [part for part in (numbers, made) if part is not None]
    whole = parts[0] if len(parts) == 1 else WidenedSource(parts)
    uncounted = rows is not None and not whole.counted
    cut = stop is not None and not (whole.counted and whole.shape[0] <= stop)
    source = KeptRows(whole, (), stop, rows=rows) if cut or uncounted else whole
    return WideColumns(recipe, whole, made, held_rows(source, memory=memory), source, stop)
