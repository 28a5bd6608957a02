"""look(): what each column of a table holds, and what it will be used for."""

import dataclasses
import itertools
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np

from mercer.arrays import Array, advance, is_sparse, task
from mercer.errors import DataWarning, InputError
from mercer.operators import fetched
from mercer.sources import open_columns
from mercer.tables.looking._column_facts import Column, Facts, number_facts, other_facts
from mercer.tables.looking._column_numbers import Numbers
from mercer.tables.looking._column_roles import is_code, names_rows, roles, suggested
from mercer.tables.looking._table_judgement import (
    AUTO,
    Judgement,
    TableEvidence,
    judged,
    with_count,
)
from mercer.tables.looking._table_notes import NotesWalk, notes, said_lines, table_lines
from mercer.tables.looking._table_request import Asked, by_name, meant, words_of

HEAD = 10_000  # rows by which text and dates are judged
_HEAD_CELLS = 4_000_000
_BLOCK_CELLS = 1 << 20

__all__ = ["HEAD", "Column", "Judgement", "Look", "look"]


@final
@dataclasses.dataclass(frozen=True)
class Look:
    """What a table holds; nothing was changed.

    Attributes
    ----------
    path : str
        The file, as it was given.
    label : str
        What messages call it.
    rows : int
        Number of rows.
    columns : tuple of Column
        Every column, in the order of the file.
    asked : Asked
        What the user said.
    notes : tuple of str
        What else was noticed: rows that are twice there, rows without a number.
    judged : Judgement or None
        What the table was taken for, where the user has not said.
    """

    path: str
    label: str
    rows: int
    columns: tuple[Column, ...]
    asked: Asked
    notes: tuple[str, ...] = ()
    judged: Judgement | None = None

    def named(self, role: str) -> tuple[str, ...]:
        """Return the names of the columns that have a role."""
        return tuple(column.name for column in self.columns if column.role == role)

    def said(self, *, missing: bool = True) -> tuple[str, ...]:
        """Return a line for each thing worth saying; neighbours that are alike share one.

        Parameters
        ----------
        missing : bool
            Whether missing cells are counted; `prepared` says what becomes of them.
        """
        lines = said_lines(self.label, self.rows, self.columns, self.notes, missing)
        return lines if self.judged is None else (lines[0], self.judged.why, *lines[1:])

    def table(self, most: int = 60) -> tuple[str, ...]:
        """Return the columns as lines to show; more than `most` are grouped."""
        return table_lines(self.columns, most)


def look(path: Any, asked: Asked | None = None) -> Look:
    """Return what each column of a file holds and will be used for; one walk over the rows.

    Numbers are looked at in every row, text and dates in the first 10,000.

    Parameters
    ----------
    path : path
        A file that `mercer.scan` opens.
    asked : Asked or None
        What the user says of the columns.
    """
    asked = asked or Asked()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        file = _File(Path(path), asked)
        try:
            facts, rows, walked = file.facts()
        except InputError as error:
            raise _with_advice(error) from None
    label, asked, found = file.label, file.asked, None
    if rows == 1 and not asked.transpose:
        raise InputError(
            "one row alone has no variance",
            got=f"{label}: 1 row",
            fix="two are needed at least; --transpose where rows are variables",
        )
    if asked.table == AUTO:
        found, asked = judged(_evidence(facts, rows, walked, asked, label), asked, label)
    asked, counted = with_count(facts, asked)
    given = roles(facts, asked, label)
    columns = tuple(_column(one, *role) for one, role in zip(facts, given, strict=True))
    said = (*notes(facts, columns, rows, walked, asked), *counted, *_spoken(caught))
    unmet = sorted(file.columns.unmet)
    if unmet:
        said = (*said, f"no cell holds {', '.join(map(repr, unmet))} (--na)")
    return Look(str(path), label, rows, columns, asked, said, found)


def _evidence(
    facts: list[Facts], rows: int, walked: NotesWalk | None, asked: Asked, label: str
) -> TableEvidence:
    """Return what a table is judged by: what its columns would be to a method of numbers."""
    plain = dataclasses.replace(asked, table="numbers", target=None, category=(), count=None)
    plain = dataclasses.replace(plain, rows_by=None, columns_by=None, groups=())
    parts = tuple(role for role, _ in suggested(facts, plain, label))
    names = () if walked is None else walked.names
    head = np.empty((0, 0)) if walked is None else walked.head
    return TableEvidence(tuple(facts), parts, rows, names, head)


def _with_advice(error: InputError) -> InputError:
    """Return a refusal of text among numbers with the option that makes it missing."""
    if error.what.startswith("a cell holds text"):
        fix = f"{error.fix}; if it means missing, --na and that word"
        return InputError(error.what, got=error.got, fix=fix)
    return error


def _column(facts: Facts, role: str, why: str) -> Column:
    shared = {field.name for field in dataclasses.fields(Column)} - {"role", "why"}
    return Column(role=role, why=why, **{name: getattr(facts, name) for name in shared})


def _spoken(caught: Sequence[warnings.WarningMessage]) -> tuple[str, ...]:
    """Return warnings about the data as lines, each once; of others, warn again."""
    lines = list[str]()
    for warning in caught:
        if not issubclass(warning.category, DataWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
            continue
        what, _, rest = str(warning.message).partition("\n")
        place = rest.partition("\n")[0].strip().removeprefix("got: ")
        if not what.startswith("columns that do not hold numbers"):
            lines.append(f"{what} ({place})")
    return tuple(dict.fromkeys(lines))


@final
class _File:
    """A file that is being looked at."""

    def __init__(self, path: Path, asked: Asked) -> None:
        self.label = path.name
        self.columns = open_columns(path, **asked.reading)
        self.schema = self.columns.schema
        self.names = list(self.schema)
        self.asked = by_name(asked, self.names, self.label)
        self.walked = self._walked()

    def _walked(self) -> list[str]:
        """Return the columns of numbers that are read: dropped ones may hold anything."""
        asked = self.asked
        dropped = self._places(asked.drop, "--drop")
        if asked.columns is not None:
            wanted = set[int]()
            for name in ("columns", "id", "weights", "target", "color", "sup"):
                wanted |= self._places(words_of(asked, name), f"--{name}")
            wanted |= {i for i, name in enumerate(self.names) if self._may_name(i, name)}
        else:
            wanted = set(range(len(self.names)))
        kept = {self.names[i] for i in wanted - dropped}
        numbers = [name for name, held in self.schema.items() if held.is_number]
        return [name for name in numbers if name in kept or not self.columns.chooses]

    def _may_name(self, place: int, name: str) -> bool:
        return place == 0 or names_rows(name, place, self.names)

    def _places(self, words: Sequence[str], option: str) -> set[int]:
        return {i for found in meant(words, self.names, option, self.label) for i in found}

    def facts(self) -> tuple[list[Facts], int, NotesWalk | None]:
        """Return the facts of all columns, the number of rows, and the walk with its head."""
        found = {name: Facts(name, held.kind, held.words) for name, held in self.schema.items()}
        walk: NotesWalk | None = None
        rows = 0
        if self.walked:
            with task("look at the rows"):
                numbers, head = self._walk()
            types = [self.schema[name] for name in self.walked]
            every = number_facts(self.walked, types, numbers, head)
            found |= {facts.name: facts for facts in every}
            walk, rows = NotesWalk(tuple(self.walked), numbers, head), numbers.rows
        # Lists, structures and the like are not read: nothing is made of them.
        others = [n for n, held in self.schema.items() if held.kind in ("text", "date")]
        few = min(HEAD, self.asked.rows or HEAD)
        frame = next(self.columns.frames(others, few, as_written=True), None)
        for series in [] if frame is None else frame.iter_columns():
            held = self.schema[series.name]
            facts = other_facts(series, held.kind, held.words, self.columns.na)
            found[series.name] = facts
        if not self.walked:
            rows = self._count(others[:1])
        if rows > HEAD:
            found |= {name: dataclasses.replace(found[name], partly=True) for name in others}
        return list(found.values()), rows, walk

    def _count(self, names: Sequence[str]) -> int:
        frames = self.columns.frames(names, HEAD, as_written=True)
        rows = sum(int(frame.height) for frame in frames)
        return rows if self.asked.rows is None else min(rows, self.asked.rows)

    def _walk(self) -> tuple[Numbers, Array]:
        source = self.columns.numbers(self.walked)
        self.label = source.label
        p = len(self.walked)
        step = max(64, _BLOCK_CELLS // p)
        blocks = _first_rows(fetched(source, step), self.asked.rows)
        first = next(blocks, None)
        if first is None:
            raise InputError(
                "the table has no rows", got=self.label, fix="check how it was written"
            )
        place = {name: i for i, name in enumerate(self.names)}
        kept = [
            j
            for j, name in enumerate(self.walked)
            if names_rows(name, place[name], self.names) or is_code(name)
        ]
        numbers = Numbers(p, kept, self._compared(first))
        most, heads = max(1, min(HEAD, _HEAD_CELLS // p)), list[Array]()
        for block in itertools.chain([first], blocks):
            room = most - sum(map(len, heads))
            if room > 0:
                part = block[:room]
                heads.append(np.array(part.toarray() if is_sparse(part) else part, np.float64))
            numbers.add(block)
            n = max(source.shape[0], numbers.rows)
            advance(numbers.rows, n, f"{numbers.rows:,} of {n:,} rows")
        return numbers, np.concatenate(heads)

    def _compared(self, first: Any) -> Array:
        """Return which of the numbers tell rows apart: all but those that name the rows."""
        if is_sparse(first):
            return np.arange(0)
        place = {name: i for i, name in enumerate(self.names)}
        asked = None
        if self.asked.columns is not None:
            asked = self._places(self.asked.columns, "--columns")
        able = [
            (asked is None or place[name] in asked)
            and not (place[name] and self._may_name(place[name], name))
            for name in self.walked
        ]
        if place[self.walked[0]] == 0:
            able[0] &= not bool(np.all(np.diff(first[:, 0].astype(np.float64)) == 1))
        return np.flatnonzero(able)


def _first_rows(blocks: Iterator[Any], rows: int | None) -> Iterator[Any]:
    """Yield blocks until so many rows have gone by."""
    for block in blocks:
        if rows is None:
            yield block
            continue
        yield block[:rows]
        rows -= min(rows, block.shape[0])
        if not rows:
            return
