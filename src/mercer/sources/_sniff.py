"""How a table of text is laid out, by its first lines: delimiter and header."""

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError, warn
from mercer.sources._fields import Fields, find_fields, single_spaced
from mercer.sources._lines import Lines
from mercer.sources._text_cells import has_decimal_comma, is_number, is_value

_DELIMITERS = ",;\t| "
_LOOK = 100  # lines that the delimiter is sought in
_RISING = 10  # numbers in a row that do not rise by chance
_RISING_ROWS = 50  # rows that they are compared with
_WORD_ROWS = 4  # rows of words below which nothing is known of their first line
_AGAIN = 2  # times that a category comes on average, at least


def find_delimiter(head: Lines, kind: str) -> str:
    """Return the delimiter that cuts the first lines into equally many fields, best numbers.

    A candidate's worth is (share of lines with the usual number of fields) x (share of cells
    that are numbers, and a little). Where none cuts, there is one column and "," will do.
    """
    order = "\t" + _DELIMITERS.replace("\t", "") if kind == ".tsv" else _DELIMITERS
    few = _first(head, _LOOK)
    worths = {mark: _worth(few, mark) for mark in order}
    best = max(order, key=worths.__getitem__)
    return best if worths[best] > 0 else order[0]


def has_header(rows: Sequence[Sequence[str]], na: frozenset[str], label: str) -> bool:
    """Tell whether the first record holds names: no value, where others have values.

    Values are numbers, with a decimal comma too, dates, true and false. Where all cells are
    words, those of the first record are names if the others repeat theirs and never hold them.

    Ten numbers or more that rise all along, such as wavelengths, are names too where the rows
    below are of another kind; that is said in a warning. A first record that may be either is
    refused: words above numbers beside numbers, or numbers that count up as names do.

    Parameters
    ----------
    rows : sequence of records
        Cells of the first records.
    na : frozenset of str
        What counts as missing.
    label : str
        What messages call the file.
    """
    first, others = rows[0], rows[1:]
    words = [i for i, cell in enumerate(first) if cell not in na and not is_number(cell)]
    if not others:
        return len(words) == len(first)
    numbers = [i for i, cell in enumerate(first) if is_number(cell)]
    if not numbers:
        if not words or any(map(is_value, first)):
            return False
        seen = any(is_value(cell) for row in others for cell in row)
        return seen or _above_numbers(first, others, na) or _above_words(first, others, na)
    if _rises(first, others, numbers):
        shown = ", ".join(first[i] for i in numbers[:3])
        warn(
            "the first line was taken for names: numbers that rise from column to column",
            got=f"{label}, line 1: {shown}, ...",
            fix="pass header=False if it is a row, header=True if it is not",
            category=DataWarning,
        )
        return True
    for i in words:
        below = [row[i] for row in others if i < len(row) and row[i] not in na]
        if below and all(map(is_number, below)) and len(below) > 1:
            raise InputError(
                "the first line is neither names nor numbers",
                got=f"{label}, line 1: {first[i]!r} above numbers, beside "
                f"{first[numbers[0]]!r}",
                fix="say which it is: header=True or header=False",
            )
    if _numbered(first, others, numbers):
        raise InputError(
            "the first line may be names or numbers",
            got=f"{label}, line 1: " + ", ".join(map(repr, first[:5])),
            fix="say which it is: header=True or header=False",
        )
    return False


def _rises(
    first: Sequence[str], others: Sequence[Sequence[str]], numbers: Sequence[int]
) -> bool:
    """Tell whether the numbers of the first line are wavelengths or times above their rows.

    They rise or fall all along, which the rows below do not, and lie outside their range.
    """
    top = np.array([float(first[i]) for i in numbers])
    rows = [row for row in others if len(row) == len(first)][:_RISING_ROWS]
    if len(top) < _RISING or len(rows) < 3 or not _one_way(top[None])[0]:
        return False
    below = np.array(
        [[float(row[i]) if is_number(row[i]) else np.nan for i in numbers] for row in rows]
    )
    outside = ~((below >= top).any(axis=0) & (below <= top).any(axis=0))
    return bool(outside.mean() >= 0.9 and _one_way(below).mean() <= 0.1)


def _one_way(rows: Array) -> Array:
    """Tell which rows rise or fall from column to column."""
    steps = np.diff(rows, axis=1)
    return np.asarray((steps > 0).all(axis=1) | (steps < 0).all(axis=1))


def _above_numbers(
    first: Sequence[str], others: Sequence[Sequence[str]], na: frozenset[str]
) -> bool:
    """Tell whether words stand above numbers, or above nothing at all."""
    below = [cell for row in others for cell in row if cell not in na]
    if any(map(has_decimal_comma, first)):
        return any(map(is_number, below))
    return not below or any(is_number(cell) or has_decimal_comma(cell) for cell in below)


def _above_words(
    first: Sequence[str], others: Sequence[Sequence[str]], na: frozenset[str]
) -> bool:
    """Tell whether words stand above categories: below they come again, these never do."""
    if len(set(first)) < len(first) or len(others) < _WORD_ROWS or set(first) & na:
        return False
    repeating = 0
    for i, name in enumerate(first):
        below = [row[i] for row in others if i < len(row) and row[i] not in na]
        different = set(below)
        if name in different:
            return False
        repeating += _AGAIN * len(different) <= len(below)
    return repeating * 2 >= len(first)


def _numbered(
    first: Sequence[str], others: Sequence[Sequence[str]], numbers: Sequence[int]
) -> bool:
    """Tell whether the numbers of the first line count up like names: 0, 1, ... or years.

    It takes more than that: other cells beside them, or fractions below them.
    """
    below = [[row[i] for i in numbers if i < len(row)] for row in others]
    if not _counts_up([first[i] for i in numbers]) or _counts_up(below[0]):
        return False
    return len(numbers) < len(first) or any("." in cell for row in below for cell in row)


def _counts_up(cells: Sequence[str]) -> bool:
    if len(cells) < 2 or not all(cell.isdecimal() for cell in cells):
        return False
    return all(int(b) == int(a) + 1 for a, b in itertools.pairwise(cells))


def refuse_uneven_header(fields: Fields, label: str) -> None:
    """Refuse a header that has more or fewer names than the lines below have fields."""
    names, *counts = fields.counts.tolist()
    if not counts:
        return
    kinds, often = np.unique(counts, return_counts=True)
    usual = int(kinds[np.argmax(often)])
    # Where the next line or most lines have as many, it is the others that are wrong.
    if names == counts[0] or counts.count(names) >= often.max():
        return
    raise InputError(
        "the header must have one name for each field",
        got=f"{label}, line 1: {names} names, the lines below have {usual} fields",
        fix="give every column a name, or delete delimiters at the ends of lines",
    )


def _first(head: Lines, count: int) -> Lines:
    """Return the first lines of a head."""
    data = b"\n".join(head.data.split(b"\n", count)[:count])
    return dataclasses.replace(head, data=data.removesuffix(b"\n") + b"\n")


def _worth(head: Lines, mark: str) -> float:
    fields = find_fields(single_spaced(head) if mark == " " else head, mark, None)
    if not len(fields.ends):
        return 0.0
    kinds, often = np.unique(fields.counts, return_counts=True)
    usual = int(kinds[np.argmax(often)])
    if usual < 2:
        return 0.0
    cells = [cell for i in range(min(20, len(fields.ends))) for cell in fields.cells(i, 50)]
    good = sum(is_number(cell) or has_decimal_comma(cell) for cell in cells)
    return float(often.max() / often.sum()) * (0.1 + good / len(cells))
