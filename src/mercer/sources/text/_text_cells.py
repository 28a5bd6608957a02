"""What a cell of text holds: numbers, missing values, truth values, or text."""

import contextlib
import dataclasses
import re
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources.text._number_spelling import Spelling, is_written_number, spelling_of

NA = ("", "NA", "NaN", "nan", "null")  # what counts as missing
_NUMBER = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|infinity|nan)",
    re.IGNORECASE,
)
_COMMA = re.compile(r"[+-]?[0-9.]*,[0-9]+([eE][+-]?[0-9]+)?")
_DATE = re.compile(
    r"[0-9]{4}([-/])[0-9]{1,2}\1[0-9]{1,2}([T ].*)?|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}"
)
_CODE = re.compile(r"0[0-9]+")
_FLAGS = {"true": 1.0, "false": 0.0}


@final
@dataclasses.dataclass(frozen=True)
class Kind:
    """What a column holds: numbers, truth values (read as 1 and 0), or else `other`.

    `zeros` tells of whole numbers that begin with a zero, as codes do: 007; `spelling` of
    numbers that are not written plainly.
    """

    flags: bool = False
    other: str | None = None
    zeros: bool = False
    spelling: Spelling | None = None


def is_number(cell: str) -> bool:
    """Tell whether a cell without surrounding spaces spells a number, inf or nan."""
    return _NUMBER.fullmatch(cell) is not None


def has_decimal_comma(cell: str) -> bool:
    """Tell whether a cell looks like a number with a comma for its point."""
    return _COMMA.fullmatch(cell) is not None


def is_value(cell: str) -> bool:
    """Tell whether a cell holds what no name is: a number, a date, true or false."""
    plain = is_number(cell) or has_decimal_comma(cell)
    return plain or cell.lower() in _FLAGS or _DATE.fullmatch(cell) is not None


def kind_of_column(
    cells: Sequence[str], na: frozenset[str], decimal: str | None = None, sure: bool = False
) -> Kind:
    """Return what a column holds by some of its cells; all missing counts as numbers.

    Parameters
    ----------
    cells : sequence of str
        The first cells.
    na : frozenset of str
        What counts as missing.
    decimal : {".", ","} or None
        The decimal mark of the file, where it is known.
    sure : bool
        Whether it is, and later cells may have it though none of these has.
    """
    present = [cell for cell in cells if cell not in na]
    odd = [cell for cell in present if not is_number(cell)]
    if not odd:
        if decimal == "," and (sure or any("." in cell for cell in present)):
            spelling = spelling_of(present, ",")
            if spelling is not None and spelling.decimal == ",":
                return Kind(spelling=spelling)
        return Kind(zeros=any(map(_CODE.fullmatch, present)))
    if len(odd) == len(present) and all(cell.lower() in _FLAGS for cell in odd):
        return Kind(flags=True)
    if all(_DATE.fullmatch(cell) for cell in odd):
        return Kind(other="dates")
    spelling = spelling_of(present, decimal)
    if spelling is not None:
        return Kind(spelling=spelling)
    few = len(odd) <= 0.1 * len(present)  # a column of numbers with a word in it
    return Kind(other=f"text such as {_short(odd[0])}" if few else "text")


# Words that mean missing where all other cells of a column are numbers.
_LACKS = {
    "?", "-", "--", "---", ".", "..", "*", "n/a", "#n/a", "na", "n.a.", "nan", "none", "null",
    "nil", "unknown", "missing", "unk", "not available", "not known", "#value!", "#div/0!", "–",
    "—", "k.a.", "s.d.", "n.d.", "nd",
}  # fmt: skip
_MOSTLY = 0.5  # share of numbers from which on such a word among them means missing


def words_for_missing(cells: Sequence[str], na: frozenset[str]) -> frozenset[str]:
    """Return words that stand for missing among the numbers of a column: "?", "unknown".

    None where another word stands there, or where less than half of the cells are numbers.

    Parameters
    ----------
    cells : sequence of str
        Its first cells.
    na : frozenset of str
        What counts as missing anyway.
    """
    present = [cell for cell in cells if cell not in na]
    odd = {cell for cell in present if not is_written_number(cell) and not is_number(cell)}
    if not odd or not all(cell.lower() in _LACKS for cell in odd):
        return frozenset()
    numbers = sum(cell not in odd for cell in present)
    return frozenset(odd) if numbers >= _MOSTLY * len(present) else frozenset()


def to_floats(text: bytes, columns: int, delimiter: str, na: frozenset[str]) -> Array | None:
    r"""Return the numbers of cells that end with \n, (r, columns), missing ones as NaN.

    None where a cell spells no number, or has spaces behind it.
    """
    import polars as pl

    if "" not in na:
        return None  # polars takes empty cells for missing
    # Looking for missing values costs a quarter of the time: first only those that would
    # else be numbers other than NaN, and the rest where words are met.
    needed = [mark for mark in na if is_number(mark) and not mark.lower().endswith("nan")]
    for marks in (needed or None, sorted(na)):
        with contextlib.suppress(pl.exceptions.PolarsError):
            frame = pl.read_csv(
                text,
                has_header=False,
                separator=delimiter,
                schema={"cell": pl.Float64},
                null_values=marks,
            )
            if frame.height % columns == 0:
                return frame["cell"].fill_null(np.nan).to_numpy().reshape(-1, columns)
    return None


def read_cells(text: bytes, delimiter: str) -> Any:
    r"""Return cells that end with \n as a polars Series of text."""
    import polars as pl

    frame = pl.read_csv(text, has_header=False, separator=delimiter, schema={"cell": pl.String})
    return frame["cell"].fill_null("")


def to_floats_with_care(
    cells: Any,
    flags: Sequence[bool],
    na: frozenset[str],
    spellings: Sequence[Spelling | None] = (),
) -> tuple[Array, Array]:
    """Return (values, wrong): the numbers as `to_floats`, and which cells are none.

    Parameters
    ----------
    cells : polars Series
        Text, row by row.
    flags : sequence of bool
        Which columns hold truth values.
    na : frozenset of str
        What counts as missing.
    spellings : sequence of Spelling or None
        How the numbers of the columns are written; empty where all are written plainly.
    """
    import polars as pl

    cells = cells.str.strip_chars(' \t"')
    values = cells.cast(pl.Float64, strict=False)
    missing = cells.is_in(sorted(na)).to_numpy().reshape(-1, len(flags))
    wrong = values.is_null().to_numpy().reshape(missing.shape) & ~missing
    numbers = values.fill_null(np.nan).to_numpy().reshape(missing.shape)
    for column, spelling in enumerate(spellings):
        if spelling is not None:
            found = spelling.numbers(cells.gather_every(len(flags), column))
            wrong[:, column] = found.is_null().to_numpy() & ~missing[:, column]
            numbers = numbers.copy() if not numbers.flags.writeable else numbers
            numbers[:, column] = found.fill_null(np.nan).to_numpy()
    if any(flags):
        truth = cells.str.to_lowercase().replace_strict(_FLAGS, default=None)
        found = truth.cast(pl.Float64).fill_null(np.nan).to_numpy().reshape(missing.shape)
        numbers = np.where(flags, found, numbers)
        wrong = np.where(flags, np.isnan(found) & ~missing, wrong)
    return np.where(missing, np.nan, numbers), wrong


def not_a_number(place: str, cell: Any, column: str, flags: bool = False) -> InputError:
    """Return the refusal of a cell that holds no number."""
    if isinstance(cell, str) and is_written_number(cell):
        fix = "write it like the other numbers of the column, or pass decimal=','"
    else:
        fix = f"correct the cell, or leave the column out with drop={column!r}"
    what = "true nor false" if flags else "a number"
    return InputError(
        f"a cell holds {'neither ' if flags else 'text, not '}{what}",
        got=f"{place}: {_short(cell)}",
        fix=fix,
    )


def _short(cell: Any) -> str:
    text = repr(cell)
    return text if len(text) <= 40 else text[:37] + "..." + text[-1]
