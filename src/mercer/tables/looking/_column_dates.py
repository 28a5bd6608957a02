"""Dates written as text: which way they are written, and their days since 1970."""

import re
from collections.abc import Sequence
from typing import Any

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?")
_SHORT = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})( \d{1,2}:\d{2}(:\d{2})?)?")
UNCLEAR = "unclear"
_CLOCK = r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?(Z|[+-]\d{2}:?\d{2})?"
_ISO_PARTS = rf"^(\d{{4}})-(\d{{2}})-(\d{{2}})(?:[T ]{_CLOCK})?$"
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
