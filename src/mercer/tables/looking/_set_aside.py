"""Numbers that measure nothing: when, where, which one, one of two; set aside by a rule.

The names of columns, word by word.
"""

import dataclasses
import re
from collections.abc import Callable, Collection, Sequence
from typing import final

from mercer.tables.looking._column_facts import Facts

Role = tuple[str, str]  # and the reason for it
COLOURS = 4  # columns that colour pictures without being asked
_FEW = 12  # values that colours tell apart
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+|#")

_NUMBERED = re.compile(r"(.*?[^\d]|)\d+")
# What the last word of a name says, and the values that agree with it: least and largest.
_TIMES = {
    "year": ((1500, 2200),),
    "month": ((0, 12),),
    "week": ((0, 53),),
    "weekday": ((0, 7),),
    "day": ((0, 31), (0, 366)),
    "hour": ((0, 24), (0, 2400)),
    "minute": ((0, 60),),
    "second": ((0, 60),),
    "quarter": ((1, 4),),
    "decade": ((0, 9), (1500, 2200)),
}
_SPELT = {
    "yr": "year", "yyyy": "year", "jahr": "year", "annee": "year", "ano": "year",
    "mon": "month", "mnth": "month", "mth": "month", "monat": "month", "mois": "month",
    "wk": "week", "dow": "weekday", "doy": "day", "tag": "day", "jour": "day", "dy": "day",
    "hr": "hour", "hh": "hour", "stunde": "hour", "mins": "minute", "sec": "second",
    "qtr": "quarter",
}  # fmt: skip
_SERIALS = {
    "number", "no", "nr", "num", "nummer", "numero", "id", "ids", "index", "idx", "serial",
    "seq", "sequence", "obs", "observation", "subject", "patient", "respondent", "record",
    "row", "stratum", "strata", "individual", "case", "#",
}  # fmt: skip
_CODES = {
    "code", "codes", "zip", "zipcode", "postcode", "postal", "plz", "fips", "isbn", "phone",
    "tel", "telephone", "barcode", "account", "cluster", "group", "class", "key",
}  # fmt: skip
_NORTH, _EAST = {"lat", "latitude", "northing"}, {"lon", "long", "lng", "longitude", "easting"}


def words_of_name(name: str) -> tuple[str, ...]:
    """Return the words of a column's name in small letters.

    Examples
    --------
    >>> words_of_name("pooled.stratum"), words_of_name("SampleNumber"), words_of_name("t_max2")
    (('pooled', 'stratum'), ('sample', 'number'), ('t', 'max', '2'))
    """
    return tuple(word.lower() for word in _WORD.findall(name))


def when(column: Facts) -> str:
    """Return what time a column of whole numbers tells: "year", "hour"; "" where none."""
    words = words_of_name(column.name)
    if not words or column.kind != "integer" or column.low is None or column.high is None:
        return ""
    word = _SPELT.get(words[-1], words[-1])
    agrees = any(
        low <= column.low and column.high <= high for low, high in _TIMES.get(word, ())
    )
    return word if agrees else ""


def numbers_rows(column: Facts) -> bool:
    """Tell whether a column of whole numbers is called as serial numbers are."""
    words = words_of_name(column.name)
    called = bool(words) and words[-1] in _SERIALS
    return called and column.kind == "integer" and (column.distinct or 0) > _FEW


def is_place(columns: Sequence[Facts]) -> frozenset[int]:
    """Return which columns are coordinates on a map: one north, and one east beside it."""
    last = [(words_of_name(column.name) or ("",))[-1] for column in columns]
    first = [(words_of_name(column.name) or ("",))[0] for column in columns]
    found: list[set[int]] = []
    for able in (_NORTH, _EAST):
        found.append({i for i, w in enumerate(zip(first, last, strict=True)) if {*w} & able})
    return frozenset(found[0] | found[1]) if all(found) else frozenset()


def two_values(column: Facts) -> bool:
    """Tell whether a column of whole numbers has two values alone."""
    return column.kind == "flag" or (column.kind == "integer" and column.distinct == 2)


@final
@dataclasses.dataclass(frozen=True)
class _Stage:
    """A reason to set columns aside, and how many others must be left."""

    least: int
    why: Callable[[Facts], str]


def _of_time(column: Facts) -> str:
    word = when(column)
    return f"tells when ({word})" if word else ""


def _of_serial(column: Facts) -> str:
    if column.kind == "integer" and (column.serial or numbers_rows(column)):
        return "counts: a serial number"
    return ""


def _of_code(column: Facts) -> str:
    words = words_of_name(column.name)
    coded = bool(words) and words[-1] in _CODES and column.kind == "integer"
    return "a code by its name" if coded else ""


def _of_two(column: Facts) -> str:
    if not two_values(column) or column.low is None:
        return ""
    return f"two values ({column.low:g} and {column.high:g})"


_STAGES = (_Stage(1, _of_time), _Stage(1, _of_serial), _Stage(2, _of_code), _Stage(2, _of_two))
_PLACES = 3  # other numbers, from which on coordinates are set aside


def set_aside(
    found: list[Role],
    columns: Sequence[Facts],
    taken: Collection[int],
    *,
    picks: bool,
    flags: bool,
) -> None:
    """Leave out, or for colours, numbers that would be analysed and measure nothing.

    Times, then serial numbers, codes, columns of two values and coordinates; of each kind only
    while enough others are left, so that a table of them is analysed all the same.

    Parameters
    ----------
    found : list of (str, str)
        Role and reason of every column; changed.
    columns : sequence of Facts
        All columns of the file.
    taken : collection of int
        Those that the user has named.
    picks : bool
        Whether columns may be picked for colours.
    flags : bool
        Whether columns of two values are numbers to the method.
    """
    able = [i for i, (role, _) in enumerate(found) if role == "active" and i not in taken]
    able = [i for i in able if columns[i].is_number]
    family = _families([columns[i] for i in able])
    for stage in _STAGES[: None if flags else -1]:
        gone = {i: why for i in able if (why := stage.why(columns[i]))}
        gone = {i: why for i, why in gone.items() if columns[i].name not in family}
        _leave(found, columns, gone, stage.least, picks)
        able = [i for i in able if found[i][0] == "active"]
    _name_by_time(found, columns, taken)
    places = is_place(columns)
    gone = {i: "a place on the map" for i in able if i in places}
    _leave(found, columns, gone, _PLACES, picks=False)


def _families(columns: Sequence[Facts]) -> set[str]:
    """Return the names of columns that are numbered in a row of others: pixels, questions.

    What some of them measure, all do, though one may have two values alone.
    """
    stems = dict[str, list[Facts]]()
    for column in columns:
        found = _NUMBERED.fullmatch(column.name)
        if found:
            stems.setdefault(found[1], []).append(column)
    whole = [own for own in stems.values() if sum(not two_values(one) for one in own) >= 2]
    return {one.name for own in whole for one in own}


def _leave(
    found: list[Role], columns: Sequence[Facts], gone: dict[int, str], least: int, picks: bool
) -> None:
    left = sum(role == "active" for role, _ in found) - len(gone)
    if left < least:
        return
    for i, why in gone.items():
        colours = sum(role == "color" for role, _ in found)
        shows = why.startswith("tells when") or (columns[i].distinct or 0) <= _FEW
        role = "color" if picks and shows and colours < COLOURS else "out"
        keep = f": --columns {columns[i].name} to analyse it" if role == "out" else ""
        found[i] = (role, why + keep)


def _name_by_time(found: list[Role], columns: Sequence[Facts], taken: Collection[int]) -> None:
    """Name the rows by years that are all different, where a counter or nothing does."""
    named = [i for i, (role, _) in enumerate(found) if role == "id"]
    if any(not columns[i].counts or i in taken for i in named):
        return
    for i, column in enumerate(columns):
        if i not in taken and column.unique and when(column) == "year":
            for other in named:
                found[other] = ("out", "counts the rows")
            found[i] = ("id", "years, all different")
            return
