"""Facts: what a column holds, before anybody says what it is used for.

Column: one column of a table, and what it is used for.
"""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.sources import Held
from mercer.tables.looking._column_dates import date_order
from mercer.tables.looking._column_numbers import Numbers, count_distinct

_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?|[+-]?\d{1,3}(\.\d+)?")
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?|[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COUNTED = 5  # rows from which on 1, 2, 3, ... is no chance
_SIGNED = re.compile(r"[$€£¥]\s?[+-]?[\d.,]*\d|[+-]?\d[\d.,]*\s?[$€£¥%]|[+-]?\d+([.,]\d+)*")
# How numbers are written that are not read, and what to write instead.
DISGUISES = {
    "with commas between thousands": "write 1234 for 1,234",
    "with decimal commas": "write 3.5 for 3,5",
    "with signs": "write 12 for $12 or 12 %",
}
_TESTED = 1000  # cells that tell whether text spells dates or numbers
_MOSTLY = 0.3  # share of numbers from which on one other word may mean missing
_LONG = 100  # letters from which on text does not name a row


@final
@dataclasses.dataclass(frozen=True)
class Facts:
    """What is known of one column.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "integer", "flag", "text", "date", "empty", "other"}
        What it holds.
    words : str
        More of it: "categories", "with decimal commas"; of dates, how they are written.
    missing, infinite : int
        Cells that are missing, and that are infinite.
    distinct : int or None
        Different values among the rows of the head that are not missing; None where nobody
        counted.
    unique : bool
        Whether no value occurs twice and none is missing.
    partly : bool
        Whether there are more rows than those that were looked at for `distinct`.
    counts : bool
        Whether it counts the rows: 0, 1, 2, ... or 1, 2, 3, ...
    mean, deviation, low, high : float or None
        Of numbers.
    """

    name: str
    kind: str
    words: str = ""
    missing: int = 0
    infinite: int = 0
    distinct: int | None = None
    unique: bool = False
    partly: bool = False
    counts: bool = False
    mean: float | None = None
    deviation: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def is_number(self) -> bool:
        """Whether its cells are numbers."""
        return self.kind in ("number", "integer", "flag")

    @property
    def disguised(self) -> bool:
        """Whether it holds numbers that are written in a way that is not read."""
        return self.kind == "text" and self.words in DISGUISES

    @property
    def constant(self) -> bool:
        """Whether it holds one number alone."""
        known = self.is_number and self.low is not None and not self.infinite
        return known and self.low == self.high


def number_facts(
    names: Sequence[str], held: Sequence[Held], found: Numbers, head: Array
) -> list[Facts]:
    """Return the facts of columns of numbers.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    held : sequence of Held
        What they hold, as the file has it.
    found : Numbers
        What the walk found.
    head : array (h, p)
        The first rows.
    """
    means, deviations = found.mean, found.deviations
    all_facts = []
    for j, name in enumerate(names):
        missing = int(found.rows - found.counts[j] - found.infinite[j])
        facts = Facts(name, "empty", missing=missing, infinite=int(found.infinite[j]))
        if found.counts[j]:
            whole = bool(found.whole[j])
            distinct = _distinct(j, found, head) if whole else None
            kind = "integer" if whole else "number"
            if held[j].kind == "flag" or (whole and (found.low[j], found.high[j]) == (0, 1)):
                kind = "flag"
            facts = dataclasses.replace(
                facts,
                kind=kind,
                words=held[j].words if whole else "",
                distinct=distinct,
                unique=distinct == found.rows,
                counts=j in found.counting and found.rows >= _COUNTED,
                mean=_finite(means[j]),
                deviation=_finite(deviations[j]),
                low=float(found.low[j]),
                high=float(found.high[j]),
            )
        elif found.infinite[j]:
            facts = dataclasses.replace(facts, kind="number")
        all_facts.append(facts)
    return all_facts


def _finite(value: float) -> float | None:
    """Return a number, or None where there is none, or none that float64 holds."""
    return float(value) if np.isfinite(value) else None


def _distinct(column: int, found: Numbers, head: Array) -> int:
    every = found.distinct(column)
    values = head[:, column]
    return count_distinct(values[np.isfinite(values)]) if every is None else every


def other_facts(cells: Any, kind: str, words: str, na: frozenset[str]) -> Facts:
    """Return the facts of a column of text or dates, by its head.

    Parameters
    ----------
    cells : polars Series
        The cells of the head, as they are written.
    kind, words : str
        What the file says of them.
    na : frozenset of str
        Text that counts as missing.
    """
    import polars as pl

    name = cells.name
    gone = cells.is_null()
    if cells.dtype == pl.String:
        gone = gone | cells.is_in(sorted(na)).fill_null(value=True)
    missing = int(gone.sum())
    present = cells.filter(~gone)
    if not len(present):
        return Facts(name, "empty", missing=missing)
    distinct = present.n_unique()
    unique = not missing and distinct == len(cells)
    if cells.dtype == pl.String:
        kind, words = _spelt(present, words)
        if kind == "text" and not unique:
            # "NA" may be a code of a country; a name of a row is never left empty.
            named = (cells.fill_null("") != "").all()
            unique = named and cells.n_unique() == len(cells)
        if unique and int(cells.str.len_chars().max() or 0) > _LONG:
            words = words or "long"
    return Facts(name, kind, words, missing, distinct=distinct, unique=bool(unique))


def _spelt(present: Any, words: str) -> tuple[str, str]:
    """Return kind and words of text: dates, numbers in disguise, or text."""
    step = max(1, len(present) // _TESTED)
    cells = present.gather_every(step).to_list()
    order = date_order(cells)
    if order is not None:
        return "date", order
    if all(_NUMBER.fullmatch(cell) for cell in cells):
        return "text", "that spells numbers"
    if all(_THOUSANDS.fullmatch(cell) for cell in cells):
        return "text", "with commas between thousands"
    if all(_COMMA.fullmatch(cell) for cell in cells):
        return "text", "with decimal commas"
    if all(_SIGNED.fullmatch(cell) for cell in cells):
        return "text", "with signs"
    if not words:
        odd = {cell for cell in cells if not _NUMBER.fullmatch(cell)}
        numbers = sum(cell not in odd for cell in cells)
        if len(odd) == 1 and numbers > _MOSTLY * len(cells):
            return "text", f"such as {odd.pop()!r}"
    return "text", words


@final
@dataclasses.dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "integer", "flag", "text", "date", "empty", "other"}
        What it holds.
    role : str
        What it is used for: "active", "id", "color", "weights", "sup", "target", "rows",
        "columns", "count" or "out".
    why : str
        Why it has that role, in words; "" where there is nothing to say.
    missing : int
        Cells that are missing; of text and dates, among the first 10,000 rows.
    distinct : int or None
        Different values among the rows that were looked at; None where nobody counted.
    mean, deviation, low, high : float or None
        Of numbers: mean, standard deviation (n - 1), least and largest.
    words : str
        More of its kind: "with decimal commas"; of dates that are written as text, what
        comes first ("iso", "day", "month" or "unclear").
    """

    name: str
    kind: str
    role: str
    why: str = ""
    missing: int = 0
    distinct: int | None = None
    mean: float | None = None
    deviation: float | None = None
    low: float | None = None
    high: float | None = None
    words: str = ""
