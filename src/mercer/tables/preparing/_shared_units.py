"""Whether columns say that they share a unit: by their names, their range, or their sum."""

import re
from collections.abc import Sequence

import numpy as np

from mercer.arrays import Array
from mercer.tables.looking._column_facts import Column
from mercer.tables.looking._set_aside import words_of_name

_IN_BRACKETS = re.compile(r".*[(\[]\s*([^()\[\]]+?)\s*[)\]]\s*")
_UNITS = {
    "mm", "cm", "m", "km", "in", "inch", "inches", "ft", "feet", "mi", "miles", "g", "mg", "kg",
    "ug", "lb", "lbs", "oz", "s", "sec", "ms", "min", "mins", "h", "hr", "hrs", "days", "years",
    "usd", "eur", "gbp", "dollars", "euro", "pct", "percent", "perc", "c", "f", "k", "celsius",
    "hz", "khz", "db", "v", "mv", "a", "w", "kw", "kwh", "pa", "hpa", "kpa", "bar", "mmhg",
    "ppm", "ppb", "ml", "l", "ha", "sqm", "sqft", "count", "counts",
}  # fmt: skip
_CALENDARS = (
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
)
_NUMBERED = re.compile(r"(.*?)[ _.]?(\d+(?:\.\d+)?)")
_LEAST = 3  # columns from which on a likeness is no chance
_ANSWERS = 10  # largest answer on a scale
_LETTERS = 3  # of a word that names share, at least
_WHOLE = 0.01  # by which sums of parts may differ from 1 or 100
_WIDE = 10.0  # of the largest standard deviation to the smallest, of numbered columns
_ROWS = 5  # whose sums tell


def shared_unit(columns: Sequence[Column]) -> str:
    """Return in words what says that columns share a unit; "" where nothing does.

    Parameters
    ----------
    columns : sequence of Column
        The columns of numbers that are analysed.
    """
    names = [column.name for column in columns]
    if len(columns) < 2:
        return ""
    for found in (_unit(names), _calendar(names), _series(columns), _scale(columns)):
        if found:
            return found
    return _word(names)


def _unit(names: Sequence[str]) -> str:
    """Return the unit that all names carry: in brackets, or as their last word."""
    brackets = [_IN_BRACKETS.fullmatch(name) for name in names]
    if all(brackets):
        units = {found[1] for found in brackets if found}
        return f"all in {units.pop()}" if len(units) == 1 else ""
    last = {(words_of_name(name) or ("",))[-1] for name in names}
    if len(last) == 1 and last <= _UNITS and all(len(words_of_name(n)) > 1 for n in names):
        return f"all in {last.pop()}"
    return ""


def _calendar(names: Sequence[str]) -> str:
    """Tell of names that are months or days of the week: one thing, measured again."""
    short = [name.strip().lower()[:3] for name in names]
    for known in _CALENDARS:
        if len(names) >= _LEAST and len(set(short)) == len(short) and set(short) <= set(known):
            return "one thing measured again, month by month or day by day"
    return ""


def _series(columns: Sequence[Column]) -> str:
    """Tell of numbered names: years and wavelengths; q1, q2, ... only where they are alike."""
    if len(columns) < _LEAST:
        return ""
    found = [_NUMBERED.fullmatch(column.name) for column in columns]
    stems = {match[1].lower() for match in found if match}
    if not all(found) or len(stems) != 1:
        return ""
    years = all(1500 <= float(match[2]) <= 2200 for match in found if match)
    if not years and "" not in stems and not _alike(columns):
        return ""
    return "one thing measured again, by their names"


def _alike(columns: Sequence[Column]) -> bool:
    """Tell whether standard deviations lie within a factor of ten, and so do ranges."""
    known = [c for c in columns if c.deviation is not None and c.low is not None]
    sds = [c.deviation for c in known if c.deviation]
    if not sds or max(sds) > _WIDE * min(sds):
        return False
    lows = [c.low for c in known if c.low is not None]
    highs = [c.high for c in known if c.high is not None]
    return (max(lows) - min(lows)) <= max(highs) - min(lows) and min(highs) > max(lows)


def _scale(columns: Sequence[Column]) -> str:
    """Tell of answers on one scale: whole numbers from one least to one largest, few."""
    whole = all(column.kind in ("integer", "flag") for column in columns)
    ends = {(column.low, column.high) for column in columns}
    if not whole or len(ends) != 1 or len(columns) < _LEAST:
        return ""
    low, high = ends.pop()
    if low is None or high is None or not (low in (0, 1) and high <= _ANSWERS):
        return ""
    return f"answers on one scale, {low:g} to {high:g}"


def _word(names: Sequence[str]) -> str:
    """Return a word that all names share beside others: "temp" in temp_max, temp_min."""
    every = [set(words_of_name(name)) for name in names]
    shared = set.intersection(*every)
    words = sorted(w for w in shared if len(w) >= _LETTERS and not w.isdigit())
    if not words or any(len(own) < 2 for own in every):
        return ""
    return f"all of one kind by their names ({words[0]})"


def parts_of_a_whole(rows: Array | None) -> str:
    """Tell of rows that sum to 1 or to 100, cell by cell not below zero: shares of one whole.

    Parameters
    ----------
    rows : array (n, p) or None
        The columns; None where they are not held.
    """
    if rows is None or rows.shape[1] < 2 or len(rows) < _ROWS or np.isnan(rows).any():
        return ""
    sums = rows.sum(axis=1)
    for whole in (1.0, 100.0):
        if rows.min() >= 0 and np.all(np.abs(sums - whole) <= _WHOLE * whole):
            return f"parts of a whole: rows sum to {whole:g}"
    return ""
