"""How numbers are written in a column of text: decimal commas, thousands, signs, units.

The rule. A mark is the decimal mark where it stands once and not before exactly three digits,
or behind another mark; it parts thousands where it stands several times, or before another one.
"1.234" alone may be either: a point is then the decimal point and a comma parts thousands,
unless another column of the file, the delimiter ";" or the user says that decimals have a
comma. A unit is one sign or word in every cell: of money, or behind a number and known, or
behind a space; "s1" and "1a" are names.
"""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, final

_GAPS = " '’\u00a0\u202f"  # between thousands, besides a point or a comma
_BODY = re.compile(r"[+-]?[\d.,'’ \u00a0\u202f]*\d(?:[eE][+-]?\d+)?|[+-]?\d[\d.,]*")
_CELL = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>[^\d+\-.,\s]{{0,3}})[ \u00a0]?(?P<body>{_BODY.pattern})"
    r"[ \u00a0]?(?P<after>[^\d\s][^\d]{0,9})?"
)
_POINT = re.compile(
    rf"[+-]?(\d{{1,3}}([,{_GAPS}])\d{{3}}(\2\d{{3}})*|\d+)(\.\d+)?([eE][+-]?\d+)?"
)
_COMMA = re.compile(
    rf"[+-]?(\d{{1,3}}([.{_GAPS}])\d{{3}}(\2\d{{3}})*|\d+)(,\d+)?([eE][+-]?\d+)?"
)
_EITHER = re.compile(r"[+-]?\d{1,3}[.,]\d{3}|[+-]?\d+")
_MONEY = {
    "$",
    "€",
    "£",
    "¥",
    "₹",
    "US$",
    "R$",
    "C$",
    "A$",
    "USD",
    "EUR",
    "GBP",
    "CHF",
    "Rs",
    "Rs.",
}
_UNITS = {
    "%", "‰", "°", "°C", "°F", "mm", "cm", "m", "km", "in", "ft", "mi", "g", "mg", "kg", "lb",
    "lbs", "oz", "s", "ms", "min", "h", "hrs", "km/h", "mph", "Hz", "kHz", "MHz", "GHz", "W",
    "kW", "kWh", "V", "A", "Pa", "hPa", "kPa", "bar", "mmHg", "ml", "l", "L", "MB", "GB",
    "KB", "ha", "K",
}  # fmt: skip


@final
@dataclasses.dataclass(frozen=True)
class Spelling:
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : str
        "." or ",".
    before, after : str
        What stands around every number: "$", "%", "kg"; "" for nothing.
    """

    decimal: str = "."
    before: str = ""
    after: str = ""

    @property
    def around(self) -> str:
        """What stands around numbers, for people."""
        return self.before or self.after

    def numbers(self, cells: Any) -> Any:
        """Return a polars Series of text as floats, null where a cell spells no number."""
        import polars as pl

        text = cells
        if self.around:
            text = text.str.replace_all(self.around, "", literal=True).str.strip_chars()
        # A sign may stand before or behind "$".
        gaps = f"[{_GAPS}" + ("." if self.decimal == "," else ",") + "]"
        found = text.str.replace_all(gaps, "")
        if self.decimal == ",":
            found = found.str.replace(",", ".", literal=True)
        pattern = _COMMA if self.decimal == "," else _POINT
        plain = text.str.contains(f"^(?:{_without_backreference(pattern.pattern)})$")
        return pl.select(pl.when(plain).then(found)).to_series().cast(pl.Float64, strict=False)


def _without_backreference(pattern: str) -> str:
    """Return a pattern for a matcher that has no references back: any mark goes."""
    marks = re.search(r"\(\[(.*?)\]\)", pattern)
    assert marks is not None
    return pattern.replace(r"\2", f"[{marks[1]}]")


def spelling_of(cells: Sequence[str], decimal: str | None) -> Spelling | None:
    """Return how all of some cells are written as numbers, None where they are not.

    Parameters
    ----------
    cells : sequence of str
        Cells that are not missing.
    decimal : {".", ","} or None
        The decimal mark, where the user or other columns have said it.
    """
    if not cells:
        return None
    found = [_CELL.fullmatch(cell) for cell in cells]
    parts = [match for match in found if match is not None]
    if len(parts) < len(cells):
        return None
    if not all(map(_has_unit, parts)):
        return None
    before = {match["before"] for match in parts}
    after = {(match["after"] or "").strip() for match in parts}
    if len(before) > 1 or len(after) > 1:
        return None
    mark, unit = before.pop(), after.pop()
    if mark and unit:
        return None
    bodies = [match["sign"] + match["body"].strip() for match in parts]
    chosen = decimal_of(bodies, decimal)
    return None if chosen is None else Spelling(chosen, mark, unit)


def _has_unit(cell: "re.Match[str]") -> bool:
    """Tell whether what stands around a number is a unit: money, known, or behind a space."""
    before, after = cell["before"], cell["after"] or ""
    spaced = cell[0].removesuffix(after)[-1:] in " \u00a0"
    good = not after or spaced or after.strip() in _MONEY | _UNITS
    return good and (not before or before in _MONEY)


def decimal_of(bodies: Sequence[str], decimal: str | None) -> str | None:
    """Return the decimal mark with which all of some numbers can be read, None where none is.

    Parameters
    ----------
    bodies : sequence of str
        Numbers without units.
    decimal : {".", ","} or None
        What is taken where both can be meant.
    """
    point, comma = (all(map(one.fullmatch, bodies)) for one in (_POINT, _COMMA))
    if point and comma:
        return decimal or "."
    return "." if point else "," if comma else None


def says_decimal(cells: Sequence[str]) -> str:
    """Return the decimal mark that some cells prove, "" where they prove none.

    Parameters
    ----------
    cells : sequence of str
        Cells of one column that are not missing.

    Examples
    --------
    >>> says_decimal(["1.234,5"]), says_decimal(["1,234"]), says_decimal(["3,5", "4"])
    (',', '', ',')
    """
    found = [_CELL.fullmatch(cell) for cell in cells]
    if not all(match is not None and _has_unit(match) for match in found):
        return ""
    bodies = [match["sign"] + match["body"].strip() for match in found if match]
    if all(map(_EITHER.fullmatch, bodies)):
        return ""
    point, comma = (all(map(one.fullmatch, bodies)) for one in (_POINT, _COMMA))
    return "" if point == comma else "." if point else ","


def is_written_number(cell: str) -> bool:
    """Tell whether a cell spells a number in some way: "1.234,5", "$ 12", "12 kg".

    Examples
    --------
    >>> is_written_number("1 234,5"), is_written_number("12 kg"), is_written_number("kg 12 a")
    (True, True, False)
    """
    return spelling_of([cell], None) is not None
