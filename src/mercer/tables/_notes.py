"""What else is worth knowing of a table: repeated rows, copies of columns, a wrong turn."""

import dataclasses
import re
from collections.abc import Sequence
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.tables._asked import Asked
from mercer.tables._columns import Column
from mercer.tables._kinds import DISGUISES, Facts
from mercer.tables._numbers import Numbers

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
class Walk:
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
    walked: Walk | None,
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
    walked : Walk or None
        What the walk over the numbers left.
    asked : Asked
        What the user said.
    """
    lines = list(_turned(facts, rows, asked))
    lines += _disguised(facts)
    if walked is not None and not asked.transpose:
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


def _copies(facts: Sequence[Facts], columns: Sequence[Column], walked: Walk) -> list[str]:
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


def _of_rows(columns: Sequence[Column], rows: int, walked: Walk) -> list[str]:
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
