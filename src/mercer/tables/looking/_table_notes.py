"""What else is worth knowing of a table: repeated rows, copies of columns, a wrong turn.

A table in words: a line for each thing worth saying.
"""

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.tables.looking._column_facts import DISGUISES, Column, Facts
from mercer.tables.looking._column_numbers import Numbers
from mercer.tables.looking._table_request import Asked

_TURNED = 3  # columns per row from which on a table may be turned
_VARIABLES = re.compile(
    r"(genes?|probes?|probe_?sets?|features?|transcripts?|proteins?|peptides?|metabolites?|otus?"
    r"|taxon|taxa|snps?|markers?|cpgs?|symbol|ensembl|hgnc|wavelengths?|wavenumbers?|variables?)"
    r"([ _.]?(ids?|names?|symbols?))?",
    re.IGNORECASE,
)
_REAL = 1000  # values that a column of real numbers may have, at least
_BY_CHANCE = 100  # ways to fill a row, per row, below which equal rows are no wonder


@final
@dataclasses.dataclass(frozen=True)
class NotesWalk:
    """What a walk over the numbers left.

    Attributes
    ----------
    names : tuple of str
        The columns that were walked.
    numbers : Numbers
        What was found.
    head : array (h, p)
        The first rows.
    """

    names: tuple[str, ...]
    numbers: Numbers
    head: Array


def notes(
    facts: Sequence[Facts],
    columns: Sequence[Column],
    rows: int,
    walked: NotesWalk | None,
    asked: Asked,
) -> tuple[str, ...]:
    """Return a line for each thing that was noticed.

    Parameters
    ----------
    facts : sequence of Facts
        What is known of the columns.
    columns : sequence of Column
        The same with their roles.
    rows : int
        Number of rows.
    walked : NotesWalk or None
        What the walk over the numbers left.
    asked : Asked
        What the user said.
    """
    lines = list(_turned(facts, rows, asked))
    lines += _disguised(facts)
    if walked is not None and not asked.transpose:
        lines += _codes(facts, columns, walked)
        lines += _copies(facts, columns, walked)
        lines += _of_rows(columns, rows, walked)
    return tuple(lines)


def _turned(facts: Sequence[Facts], rows: int, asked: Asked) -> list[str]:
    """Say that the rows may be the variables, by their number or by what names them."""
    first = facts[0]
    if asked.transpose or first.kind != "text" or not first.unique:
        return []
    if len(facts) > _TURNED * rows:
        return [
            f"{len(facts):,} columns and {_rows(rows)}, with names in the first column:"
            " if the rows are the variables, --transpose"
        ]
    if _VARIABLES.fullmatch(first.name) and sum(one.is_number for one in facts) > 1:
        return [f"rows are named by {first.name}: if they are the variables, --transpose"]
    return []


def _disguised(facts: Sequence[Facts]) -> list[str]:
    """Name columns of numbers that are written in ways that are not read."""
    lines = list[str]()
    for words, fix in DISGUISES.items():
        names = [one.name for one in facts if one.disguised and one.words == words]
        if names:
            lines.append(f"{_listed(names)}: numbers {words}, not read; {fix}")
    return lines


def _codes(facts: Sequence[Facts], columns: Sequence[Column], walked: NotesWalk) -> list[str]:
    """Name values that may stand for missing cells, and the option that takes them so."""
    place, found = {name: j for j, name in enumerate(walked.names)}, dict[float, list[str]]()
    for one, column in zip(facts, columns, strict=True):
        if column.role == "active":
            for code in one.codes:
                found.setdefault(code, []).append(one.name)
    lines = list[str]()
    for code, names in found.items():
        times = sum(int((walked.head[:, place[name]] == code).sum()) for name in names)
        lines.append(
            f"{times:,} cells of {_listed(names)} hold {code:g}, far from all others: a code"
            f" for missing cells? --na {code:g} takes it so"
        )
    return lines


def _copies(facts: Sequence[Facts], columns: Sequence[Column], walked: NotesWalk) -> list[str]:
    """Name active columns that are equal: by what the walk found, and in the first rows."""
    place = {name: j for j, name in enumerate(walked.names)}
    groups: dict[tuple[object, ...], list[str]] = {}
    for one, column in zip(facts, columns, strict=True):
        if column.role == "active" and one.is_number and not one.constant:
            key = (one.missing, one.mean, one.deviation, one.low, one.high)
            groups.setdefault(key, []).append(one.name)
    pairs = list[str]()
    for first, *others in groups.values():
        cells = walked.head[:, place[first]]
        for name in others:
            if np.array_equal(walked.head[:, place[name]], cells, equal_nan=True):
                pairs.append(f"{name} of {first}")
    if not pairs:
        return []
    what = "1 column is a copy" if len(pairs) == 1 else f"{len(pairs):,} columns are copies"
    return [f"{what} of another: {_listed(pairs)}"]


def _of_rows(columns: Sequence[Column], rows: int, walked: NotesWalk) -> list[str]:
    """Count rows that are there twice, and rows without a number."""
    place = set(walked.names)
    compared = {walked.names[j] for j in walked.numbers.compared}
    active = [c for c in columns if c.role == "active" and c.name in place]
    if not compared.issuperset(column.name for column in active):
        return []  # they were compared without a column that turned out to be a number
    lines = list[str]()
    count = walked.numbers.repeated()
    if count and _by_chance(active, rows) > _BY_CHANCE * rows:
        lines.append(f"{_rows(count)} with the same numbers as an earlier one")
    if walked.numbers.blank:
        lines.append(f"{_rows(walked.numbers.blank)} without a number")
    return lines


def _by_chance(active: Sequence[Column], rows: int) -> float:
    """Return in how many ways a row can be filled, or enough of them."""
    ways = 1.0
    for column in active:
        real = column.kind == "number"
        ways *= max(rows, _REAL) if real else max(1, column.distinct or 1)
        if ways > _BY_CHANCE * rows:
            break
    return ways


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


_KINDS = {
    "number": ("number", "numbers"),
    "integer": ("whole number", "whole numbers"),
    "flag": ("flag (0 or 1)", "flags (0 or 1)"),
    "text": ("text", "of text"),
    "date": ("date", "dates"),
    "empty": ("empty", "empty"),
    "other": ("other", "other"),
}
_ROLES = {
    "active": "analysed",
    "id": "names the rows",
    "color": "colours pictures",
    "weights": "weights",
    "sup": "supplementary",
    "target": "names the groups",
    "rows": "makes the rows",
    "columns": "makes the columns",
    "count": "counts the lines",
    "out": "left out",
}


def said_lines(
    label: str,
    rows: int,
    columns: Sequence[Column],
    notes: Sequence[str],
    missing: bool = True,
) -> tuple[str, ...]:
    """Return lines about a table; neighbours that are alike share one.

    Parameters
    ----------
    label : str
        What the file is called.
    rows : int
        Number of rows.
    columns : sequence of Column
        All columns.
    notes : sequence of str
        What else was noticed.
    missing : bool
        Whether missing cells are counted.
    """
    lines = [f"{label}: {rows:,} rows, {len(columns):,} columns"]
    lines += [_line(group) for group in alike(columns)]
    return (*lines, *(_missing(columns, rows) if missing else ()), *notes)


def alike(columns: Sequence[Column]) -> Iterator[list[Column]]:
    """Yield runs of neighbours of the same kind, role and reason."""
    for _, run in itertools.groupby(columns, lambda c: (c.kind, c.role, c.why)):
        yield list(run)


def _line(group: Sequence[Column]) -> str:
    first = group[0]
    why = f" ({first.why})" if first.why else ""
    kinds = _KINDS[first.kind]
    what = kinds[0] if len(group) == 1 else f"{len(group):,} {kinds[1]}"
    return f"{_named(group)}: {what}, {_ROLES[first.role]}{why}"


def _named(group: Sequence[Column]) -> str:
    if len(group) <= 2:
        return ", ".join(column.name for column in group)
    return f"{group[0].name}..{group[-1].name}"


def _missing(columns: Sequence[Column], rows: int) -> list[str]:
    """Say how many cells of the analysis are missing, and where most of them are."""
    active = [c for c in columns if c.role == "active" and c.kind != "text"]
    count = sum(column.missing for column in active)
    if not count:
        return []
    cells = rows * len(active)
    worst = max(active, key=lambda column: column.missing)
    share = f"{100 * count / cells:.2g} %"
    holders = sum(column.missing > 0 for column in active)
    where = f"in {holders:,} columns, most in {worst.name} ({worst.missing:,})"
    if holders == 1:
        where = f"all in {worst.name}"
    return [f"{count:,} of {cells:,} cells missing ({share}), {where}"]


def table_lines(columns: Sequence[Column], most: int) -> tuple[str, ...]:
    """Return the columns as aligned lines under a header; more than `most` are grouped."""
    groups = [[c] for c in columns] if len(columns) <= most else list(alike(columns))
    rows: list[tuple[str, ...]] = [
        ("column", "kind", "use", "missing", "mean", "sd", "least", "largest", "")
    ]
    rows += [_cells(group) for group in groups]
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    left = {0, 1, 2, 8}
    return tuple(
        "  ".join(
            cell.ljust(w) if i in left else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, wide, strict=True))
        ).rstrip()
        for row in rows
    )


def _cells(group: Sequence[Column]) -> tuple[str, ...]:
    first = group[0]
    missing = sum(column.missing for column in group)
    lows = [column.low for column in group if column.low is not None]
    highs = [column.high for column in group if column.high is not None]
    alone = (first.mean, first.deviation) if len(group) == 1 else (None, None)
    values = (*alone, min(lows, default=None), max(highs, default=None))
    numbers = ["" if value is None else f"{value:.4g}" for value in values]
    count = f" ({len(group):,} columns)" if len(group) > 2 else ""
    return (
        _named(group) + count,
        first.kind,
        first.role,
        f"{missing:,}" if missing else "",
        *numbers,
        first.why,
    )
