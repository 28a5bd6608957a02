"""Parquet: one file, a folder of files, or a pattern with *."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError, NotSupportedError
from mercer.sources._cells import Cells
from mercer.sources._files import fingerprint_of
from mercer.sources._parquet_parts import Part, open_part
from mercer.sources._tables import TableSource

_PIECE = 1 << 23  # bytes of rows that are decoded in one go: pyarrow takes several times that


def open_parquet(path: Path, *, columns: Any = None, drop: Any = None) -> "ParquetSource":
    """Return the rows of a Parquet file, of all files of a folder, or of a pattern.

    Parameters
    ----------
    path : Path
        A file; a folder, of which the files ``*.parquet`` are taken; or a pattern. Files
        follow each other by name, and must have the same columns in the same order.
    columns, drop : names or positions, or None
        Columns to use, or not to use; None uses all that hold numbers.
    """
    path = Path(path)
    parts = open_parts(path)
    label = path.name if len(parts) == 1 else f"{path.name} ({len(parts)} files)"
    return ParquetSource(parts, label, columns, drop)


def open_parts(path: Path) -> list[Part]:
    """Return the files meant, which have the same columns in the same order."""
    parts = [open_part(file) for file in _files(path)]
    for part in parts[1:]:
        _check_same(parts[0], part)
    return parts


def _files(path: Path) -> list[Path]:
    """Return the files meant, by name."""
    if path.is_file():
        return [path]
    if path.is_dir():
        inside = sorted(path.iterdir())
        hive = [part for part in inside if part.is_dir() and "=" in part.name]
        if hive:
            raise NotSupportedError(
                "folders that hold a column in their names are not read",
                got=f"{path.name} holds {hive[0].name}",
                fix="pass a pattern for the files, or polars.scan_parquet(folder)",
            )
        deeper = next((p for p in inside if p.is_dir() and any(p.rglob("*.parquet"))), None)
        if deeper is not None:
            raise NotSupportedError(
                "folders inside a folder of Parquet files are not read",
                got=f"{path.name} holds {deeper.name}, with Parquet files in it",
                fix='pass a pattern for the files, such as "folder/**/*.parquet"',
            )
        found = [part for part in inside if part.suffix.lower() in {".parquet", ".pq"}]
    else:
        base = path.parent
        while not base.is_dir():  # the pattern may begin in the name of a folder
            base = base.parent
        found = sorted(base.glob(str(path.relative_to(base))))
    # Names that begin with _ or . are notes of the program that wrote the folder.
    found = [part for part in found if part.is_file() and part.name[0] not in "_."]
    if not found:
        raise InputError(
            "there is no Parquet file here",
            got=str(path),
            fix="check the folder, or the pattern",
        )
    return found


def _check_same(first: Part, part: Part) -> None:
    """Refuse a file whose columns are not those of the first, by name and order."""
    ours, theirs = list(first.schema), list(part.schema)
    if ours == theirs:
        return
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), -1)
    if at >= 0:
        said = f"column {at} is {theirs[at]!r}, and {ours[at]!r} in {first.path.name}"
    elif len(theirs) > len(ours):
        said = f"column {theirs[len(ours)]!r} is not in {first.path.name}"
    else:
        said = f"column {ours[len(theirs)]!r} of {first.path.name} is missing"
    raise InputError(
        "all Parquet files must have the same columns in the same order",
        got=f"{part.path.name}: {said}",
        fix="write the files alike, or scan them one by one",
    )


def _take_in(cells: Cells, part: Part) -> None:
    """Take in the types of one more file; refuse it where a used column holds no numbers."""
    types = list(part.schema.values())
    odd = cells.misfit(types, part.stored)
    if odd is not None:
        raise InputError(
            "a column must hold numbers in all Parquet files",
            got=f"{part.path.name}: {odd[0]!r} holds {odd[1]}",
            fix=f"leave the column out with drop={odd[0]!r}",
        )
    cells.widen(types)


@final
class ParquetSource(TableSource):
    """Rows of Parquet files, one after another; a walk holds a batch and a page per column.

    Attributes
    ----------
    verified : bool
        Whether all files carry checksums, and these are checked on the way: damage that
        leaves a file readable is then found. Checking needs pyarrow.
    """

    rate = 2e8

    def __init__(self, parts: list[Part], label: str, columns: Any, drop: Any) -> None:
        self.parts = parts
        cells = Cells(parts[0].schema, parts[0].stored, columns, drop, label)
        for part in parts[1:]:
            _take_in(cells, part)
        self._ends = np.cumsum([part.rows for part in parts])
        self._adopt(cells, int(self._ends[-1]))
        self.verified = all(part.verified for part in parts if part.rows)
        if not self.verified:
            logging.getLogger("mercer").info(
                "%s: no checksums, or no pyarrow to check them; damage may go unnoticed",
                label,
            )

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        for number, part in enumerate(self.parts):
            begin = int(self._ends[number]) - part.rows
            if start < self._ends[number]:
                yield from self._part(part, rows, max(0, start - begin))

    def _part(self, part: Part, rows: int, start: int) -> Iterator[Array]:
        count, every = start, range(len(self.names))
        few = max(1, min(rows, _PIECE // (8 * len(self.names))))
        for frame in part.read(self.names, few, start):
            block = self.cells.block(frame, every)
            count += block.shape[0]
            yield block
            del frame, block  # or the next piece would be read beside this one
        if count != part.rows:
            raise InputError(
                "the Parquet file does not hold the rows that its end announces",
                got=f"{part.path.name}: {count:,} rows were read, {part.rows:,} announced",
                fix="write or fetch it again, and check that it is whole",
            )

    def place(self, row: int, column: int) -> str:
        """See `BlockSource.place`: the file, and the row within it."""
        number = int(np.searchsorted(self._ends, row, side="right"))
        part = self.parts[min(number, len(self.parts) - 1)]
        inside = row - (int(self._ends[number - 1]) if number else 0)
        return f"{part.path.name}, row {inside}, column {column} ({self.names[column]!r})"

    def _files(self) -> tuple[Path, ...]:
        return tuple(part.path for part in self.parts)

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: of all files, and the columns that are used."""
        paths = [part.path for part in self.parts]
        return fingerprint_of(paths, self.names, [path.name for path in paths])
