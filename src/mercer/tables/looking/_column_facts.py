"""What a column holds, before anybody says what it is used for; dates that are text."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.sources import Held
from mercer.tables.looking._column_numbers import (
    Numbers,
    count_distinct,
    is_serial,
    likely_codes,
)

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
_NEARLY = 0.9  # share of different values from which on a column names the rows
_NAMED = 0.5  # the same where it is called a name
_NAMES = re.compile(r"(.*[ _.])?(names?|label|title|model|make|item)", re.IGNORECASE)
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
    nearly : bool
        Whether nine of ten values are different, or half of them in a column called "name".
    partly : bool
        Whether there are more rows than those that were looked at for `distinct`.
    counts : bool
        Whether it counts the rows: 0, 1, 2, ... or 1, 2, 3, ...
    mean, deviation, low, high : float or None
        Of numbers.
    serial : bool
        Whether its whole numbers count rows, or groups of rows, by the head.
    codes : tuple of float
        Values of numbers that may stand for missing cells, by the head.
    """

    name: str
    kind: str
    words: str = ""
    missing: int = 0
    infinite: int = 0
    distinct: int | None = None
    unique: bool = False
    nearly: bool = False
    partly: bool = False
    counts: bool = False
    mean: float | None = None
    deviation: float | None = None
    low: float | None = None
    high: float | None = None
    serial: bool = False
    codes: tuple[float, ...] = ()

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
                nearly=found.rows > (distinct or 0) >= _NEARLY * found.rows,
                counts=j in found.counting and found.rows >= _COUNTED,
                mean=_finite(means[j]),
                deviation=_finite(deviations[j]),
                low=float(found.low[j]),
                high=float(found.high[j]),
                serial=whole and is_serial(head[:, j]),
                codes=likely_codes(head[:, j]),
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
    share = _NAMED if _NAMES.fullmatch(name) else _NEARLY
    return Facts(
        name,
        kind,
        words,
        missing,
        distinct=distinct,
        unique=bool(unique),
        nearly=not missing and not unique and distinct >= share * len(cells),
    )


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


_ISO = re.compile(
    r"\d{4}([-/])\d{1,2}\1\d{1,2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?"
)
_SHORT = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})( \d{1,2}:\d{2}(:\d{2})?)?")
UNCLEAR = "unclear"
_CLOCK = r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?(Z|[+-]\d{2}:?\d{2})?"
_ISO_PARTS = rf"^(\d{{4}})[-/](\d{{1,2}})[-/](\d{{1,2}})(?:[T ]{_CLOCK})?$"
_SHORT_PARTS = rf"^(\d{{1,2}})[./-](\d{{1,2}})[./-](\d{{4}}|\d{{2}})(?: {_CLOCK})?$"
# The parts of a date, and which of them are year, month and day.
_PARTS = {
    "iso": (_ISO_PARTS, (1, 2, 3)),
    "day": (_SHORT_PARTS, (3, 2, 1)),
    "month": (_SHORT_PARTS, (3, 1, 2)),
}


def date_order(cells: Sequence[str]) -> str | None:
    """Return how dates are written, or None where some cell is no date.

    Parameters
    ----------
    cells : sequence of str
        Some cells of a column, none of them missing.

    Returns
    -------
    str or None
        "iso" (2024-03-01, 2024-03-01 12:30:00Z), "day" (31.12.2024) or "month" (12/31/2024)
        first, "unclear" where both could be meant.
    """
    if not cells:
        return None
    if all(_ISO.fullmatch(cell) for cell in cells):
        return "iso"
    found = [_SHORT.fullmatch(cell) for cell in cells]
    pairs = [(int(one[1]), int(one[3])) for one in found if one is not None]
    if len(pairs) < len(cells) or min(min(pair) for pair in pairs) < 1:
        return None
    first, second = max(a for a, _ in pairs), max(b for _, b in pairs)
    if first <= 12 and second <= 12:
        return UNCLEAR
    if first <= 31 and second <= 12:
        return "day"
    return "month" if first <= 12 and second <= 31 else None


def days(cells: Any, order: str | None = None) -> Any:
    """Return dates as days since 1970-01-01, a polars Series of floats; null for no date.

    Parameters
    ----------
    cells : polars Series
        Dates, times with a date, or text.
    order : {"iso", "day", "month"} or None
        How text is written, as `date_order` says; None for columns that have a type. Times
        without a zone count as UTC.
    """
    import polars as pl

    if cells.dtype == pl.String:
        cells = _parsed(cells, order or "iso")
    if cells.dtype == pl.Date:
        return cells.to_physical().cast(pl.Float64)
    return cells.dt.epoch("us").cast(pl.Float64) / 86_400e6


def _parsed(cells: Any, order: str) -> Any:
    """Return text as times; what is no date is null."""
    import polars as pl

    pattern, at = _PARTS[order]
    part = [pl.col("cell").str.extract(pattern, i) for i in range(8)]
    number = [one.cast(pl.Int64, strict=False) for one in part]
    year, month, day = (number[i] for i in at)
    century = pl.when(year < 70).then(2000).when(year < 100).then(1900).otherwise(0)
    text = pl.format("{}-{}-{}", year + century, month, day)
    date = text.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us"))
    clock = number[4].fill_null(0) * 3600 + number[5].fill_null(0) * 60
    zone = part[7].str.replace(":", "")
    east = [zone.str.slice(i, 2).cast(pl.Int64, strict=False).fill_null(0) for i in (1, 3)]
    sign = pl.when(zone.str.starts_with("-")).then(-1).otherwise(1)
    clock -= sign * (east[0] * 3600 + east[1] * 60)
    seconds = part[6].cast(pl.Float64, strict=False).fill_null(0.0) + clock
    late = pl.duration(microseconds=(seconds * 1e6).round(0).cast(pl.Int64))
    return cells.alias("cell").to_frame().select(found=date + late)["found"]
