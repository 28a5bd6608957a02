"""Tables of delimited text: .csv, .tsv and .txt, also packed as .gz.

How a table of text is laid out, by its first lines: delimiter and header.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np

from mercer.arrays import EXACT, Array
from mercer.errors import DataWarning, InputError, warn
from mercer.sources._column_choice import Chosen, ColumnChoice
from mercer.sources.text._line_source import LineSource
from mercer.sources.text._number_spelling import is_written_number, says_decimal
from mercer.sources.text._text_bytes import TextFile, look
from mercer.sources.text._text_cells import (
    NA,
    Kind,
    has_decimal_comma,
    is_number,
    is_value,
    kind_of_column,
    not_a_number,
    read_cells,
    to_floats,
    to_floats_with_care,
    words_for_missing,
)
from mercer.sources.text._text_fields import (
    MOST_FIELDS,
    Fields,
    find_fields,
    kept,
    single_spaced,
    texts_of,
)
from mercer.sources.text._text_lines import Lines

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
    if first[0] == "" and len(words) + 1 >= len(first) - len(numbers) and _corner(rows, na):
        return True
    if not numbers:
        if not words or any(map(is_value, first)):
            return False
        seen = any(is_value(cell) or is_written_number(cell) for row in others for cell in row)
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


def _corner(rows: Sequence[Sequence[str]], na: frozenset[str]) -> bool:
    """Tell whether the first cell alone of a table is empty: names of rows stand below it."""
    (corner, *names), others = rows[0], rows[1:]
    below = [row[0] for row in others]
    filled = all(names) and all(cell not in na for cell in below)
    return corner == "" and filled and len(set(names)) == len(names) and len(set(below)) > 1


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
    return not below or any(is_value(cell) or is_written_number(cell) for cell in below)


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
    good = sum(
        is_number(cell) or has_decimal_comma(cell) or is_written_number(cell) for cell in cells
    )
    return float(often.max() / often.sum()) * (0.1 + good / len(cells))


_HEAD_ROWS = 1000
_HEAD_CELLS = 200_000
_PROVING = 2000  # columns that are asked for their decimal mark
_AT_ONCE = 40_000  # cells of the head that are held as text


def open_text(
    path: Path,
    *,
    columns: Chosen = None,
    drop: Chosen = None,
    delimiter: str | None = None,
    header: bool | None = None,
    na: Iterable[str] = NA,
    encoding: str | None = None,
    decimal: str | None = None,
) -> "TextSource":
    """Return the rows of a file of delimited text; only its head is read.

    Parameters
    ----------
    path : path
        A .csv, .tsv or .txt file; one that ends with .gz is unpacked while it is read.
    columns, drop : names or positions, or None
        Columns to use, or not to use. By default all that hold numbers in the first lines
        (1,000 or 1 MB); the others are named in a warning.
    delimiter : str or None
        One character. None finds it in the first lines among comma, semicolon, tab, bar and
        space; several spaces count as one.
    header : bool or None
        Whether the first line holds names. None takes it for names where it has no number
        and other lines have some. Without names columns are called "0", "1", ...
    na : iterable of str
        What counts as missing in a column of numbers, and becomes NaN. In a column of text
        these are text. A column that is missing in all first lines counts as numbers.
    encoding : str or None
        How characters are written. None reads UTF-8, or what the mark at the beginning says;
        where the first lines are neither, Windows-1252.
    decimal : {".", ","} or None
        The decimal mark. None finds it column by column: "1.234,5" has a comma, "1,234.5" a
        point; "1.234" and "1,234" alone are read with a point, unless another column or the
        delimiter ";" says that decimals have a comma.

    Notes
    -----
    Every line must have the same number of fields. Fields may stand in double quotes, where
    delimiters and newlines are text and a quote is written twice. Numbers are 3, -2.5, 1e5,
    inf; also with decimal commas, marks between thousands, or one sign or unit in all cells of
    the column ($, %, kg). Columns of true and false are read as 1 and 0. Lines of comment
    before the table (# or %) are left out, and names that stand twice are numbered.
    """
    chosen = {"columns": columns, "drop": drop}
    return opened(path, delimiter, header, na, encoding, decimal, **chosen)


def opened(
    path: Path,
    delimiter: str | None,
    header: bool | None,
    na: Iterable[str],
    encoding: str | None,
    decimal: str | None = None,
    **chosen: Any,
) -> "TextSource":
    """Return the file; with ``every=True`` all columns are chosen, for `texts`, not blocks."""
    marks = frozenset([na] if isinstance(na, str) else map(str, na))
    if header not in (None, True, False) or (header is not None and type(header) is int):
        raise InputError(
            "`header` says whether the first line holds names",
            got=f"header={header!r}",
            fix="pass True, False or None",
        )
    if delimiter is not None:
        _refuse_delimiter(delimiter)
    if decimal not in (None, ".", ","):
        raise InputError(
            "a decimal mark is a point or a comma",
            got=f"decimal={decimal!r}",
            fix="pass '.' or ','",
        )
    return TextSource(
        look(path, encoding, guess=True), delimiter, header, marks, decimal, **chosen
    )


_RATE, _PACKED_RATE = 1.5e8, 5e7  # bytes that become rows in a second, plain and packed


@final
class TextSource(LineSource):
    """Rows of a file of delimited text; see `open_text`.

    Attributes
    ----------
    kinds : dict of str to Kind
        What every column of the file holds by the head, analysed or not.
    na : frozenset of str
        What counts as missing.
    unmet : set of str
        What was said to be missing, and was met nowhere so far.
    """

    _told = False  # of whole numbers that float64 cannot hold

    def __init__(
        self,
        file: TextFile,
        delimiter: str | None,
        header: bool | None,
        na: frozenset[str],
        decimal: str | None = None,
        *,
        columns: Chosen = None,
        drop: Chosen = None,
        every: bool = False,
    ) -> None:
        head = self._open(file)
        self.rate = _PACKED_RATE if file.packed else _RATE
        kind = Path(file.path.stem if file.packed else file.path.name).suffix.lower()
        self.na, self._decimal = na, decimal
        self._marks = [
            float(mark) for mark in na if is_number(mark) and "nan" not in mark.lower()
        ]
        self.unmet = {*na} - {*NA}  # shared by all that are narrowed from this one
        self._comments = _comments(head)
        head = _without(head, self._comments)
        self._delimiter = delimiter or find_delimiter(head, kind)
        head = self._prepared(head)
        fields = find_fields(head, self._delimiter, self.label)
        self._width = int(fields.counts[0])
        self._refuse_wide(fields)
        rows = self._rows(fields)
        names = has_header(rows, na, self.label) if header is None else header
        self._header = 0  # bytes of the header
        if names:
            refuse_uneven_header(fields, self.label)
            self._header = int(fields.stops[fields.ends[0]]) + 1
        fields.refuse_ragged(self._width, self.label)
        self._settle(fields, rows, columns, drop, every)
        self.shape = (self._forecast(head), len(self.names or ()))

    def _settle(
        self, fields: Fields, rows: list[list[str]], columns: Chosen, drop: Chosen, every: bool
    ) -> None:
        """Settle the names, the kinds and the choice of columns by the head."""
        if len(rows) == bool(self._header):
            raise InputError(
                "there is no row below the header",
                got=f"{self.label}, line 1: {', '.join(map(repr, rows[0][:5]))}",
                fix="check how the file was written, or pass header=False",
            )
        first = rows[0] if self._header else [""] * self._width
        names = [_unquoted(name) or str(i) for i, name in enumerate(first)]
        kinds = self._kinds(fields)
        _say_spellings(names, kinds, self.label)
        self._pick(_unique(names, self.label), kinds, columns, drop, every)

    def _kinds(self, fields: Fields) -> list[Kind]:
        """Return what each column holds by the first records, some columns at a time."""
        head = fields.first(self._looked_at(fields, _HEAD_CELLS))
        few, kinds, parts = max(1, _AT_ONCE // len(head.ends)), list[Kind](), range(0)
        begin = 1 if self._header else 0
        self._take_words(head, begin, few)
        sure = self._decimal is not None
        if self._decimal is None:
            self._decimal, sure = self._decimal_of(head)
        for at in range(0, self._width, few):
            parts = range(at, min(at + few, self._width))
            for cells in texts_of(head, self._width, tuple(parts)):
                kinds.append(kind_of_column(cells[begin:], self.na, self._decimal, sure))
        return kinds

    def _take_words(self, head: Fields, begin: int, few: int) -> None:
        """Take words that stand for missing among numbers, such as "?", and say so."""
        found = dict[str, str]()
        for at in range(0, min(self._width, _PROVING), few):
            part = tuple(range(at, min(at + few, self._width)))
            for place, cells in zip(part, texts_of(head, self._width, part), strict=True):
                for word in words_for_missing(cells[begin:], self.na):
                    name = head.cells(0)[place] if begin else str(place)
                    found.setdefault(word, name)
        if found:
            self.na |= frozenset(found)
            shown = ", ".join(f"{word!r} among the numbers of {n}" for word, n in found.items())
            warn(
                "words were read as missing cells",
                got=f"{self.label}: {shown}",
                fix="correct these cells where they mean something else",
                category=DataWarning,
            )

    def _decimal_of(self, head: Fields) -> tuple[str | None, bool]:
        """Return the decimal mark that some column proves, or else the delimiter suggests.

        And whether it is proved.
        """
        if b"," not in head.lines.data and self._delimiter != ";":
            return None, False
        begin, few = 1 if self._header else 0, max(1, _AT_ONCE // len(head.ends))
        said = set[str]()
        for at in range(0, min(self._width, _PROVING), few):
            part = tuple(range(at, min(at + few, self._width)))
            for cells in texts_of(head, self._width, part):
                present = [cell for cell in cells[begin:] if cell not in self.na]
                if present:
                    said.add(says_decimal(present))
        said.discard("")
        if len(said) == 1:
            return said.pop(), True
        return ("," if not said and self._delimiter == ";" else None), False

    def _take(self, chosen: ColumnChoice) -> None:
        """Take on a choice of columns."""
        self.names, self.dropped = chosen.names, chosen.dropped
        self.at = np.asarray(chosen.at, np.intp)
        self._kept = tuple(sorted(set(chosen.at)))  # as they stand in the file
        place = {column: i for i, column in enumerate(self._kept)}
        self._order = None if chosen.at == self._kept else [place[c] for c in chosen.at]
        names, kinds = list(self.kinds), list(self.kinds.values())
        self._flags = [kinds[i].flags for i in self._kept]
        self._spellings = [kinds[i].spelling for i in self._kept]
        self._read_names = [names[i] for i in self._kept]

    def _rows(self, fields: Fields) -> list[list[str]]:
        """Return the cells of the first records, by which a header is told."""
        return [fields.cells(i) for i in range(self._looked_at(fields, _AT_ONCE))]

    def _looked_at(self, fields: Fields, cells: int) -> int:
        """Return how many records are looked at where so many cells may be."""
        return min(_HEAD_ROWS + 1, max(3, cells // self._width), len(fields.ends))

    def _refuse_wide(self, fields: Fields) -> None:
        if self._width > MOST_FIELDS:
            raise InputError(
                f"a table of text may have {MOST_FIELDS:,} columns",
                got=f"{self.label}, line 1: {self._width:,} fields",
                fix="transpose the table, or store it as .npy or .parquet",
            )

    def _prepared(self, lines: Lines) -> Lines:
        return single_spaced(lines) if self._delimiter == " " else lines

    def _body(self, lines: Lines) -> Lines:
        first = lines.line == 1
        lines = self._prepared(_without(lines, self._comments) if first else lines)
        if not (first and self._header):
            return lines
        data = lines.data[self._header :]
        return dataclasses.replace(lines, data=data, line=lines.line_at(self._header))

    def _fields(self, lines: Lines) -> Fields:
        fields = find_fields(lines, self._delimiter, self.label)
        fields.refuse_ragged(self._width, self.label)
        if self.unmet:
            self.unmet -= {mark for mark in self.unmet if mark.encode() in lines.data}
        return fields

    def _starts(self, lines: Lines) -> Array:
        return self._fields(lines).starts

    def _values(self, lines: Lines) -> Array:
        fields = self._fields(lines)
        text = kept(fields, self._width, self._kept)
        values = None
        if not any(self._flags) and not any(self._spellings):
            values = to_floats(text, len(self._kept), self._delimiter, self.na)
        if values is None or len(values) != len(fields.ends):
            values = self._careful(fields, text)
        self._tell_long(fields, values)
        for mark in self._marks:  # however it is written: -999, -999.0
            found = values == mark
            if found.any():
                same = {one for one in self.unmet if is_number(one) and float(one) == mark}
                self.unmet -= same
                values = np.where(found, np.nan, values)
        return values if self._order is None else values[:, self._order]

    def _careful(self, fields: Fields, text: bytes) -> Array:
        """Return the numbers of a block that has odd spellings; name a cell of text."""
        cells = read_cells(text, self._delimiter)
        if len(cells) != len(fields.ends) * len(self._kept):
            rows = [fields.cells(i) for i in range(len(fields.ends))]
            cells = type(cells)([row[i] for row in rows for i in self._kept])
        odd = self._spellings if any(self._spellings) else ()
        values, wrong = to_floats_with_care(cells, self._flags, self.na, odd)
        if wrong.any():
            row, column = (int(i) for i in np.argwhere(wrong)[0])
            name, flags = self._read_names[column], self._flags[column]
            place = f"{self.label}, line {fields.line(row)}, column {name!r}"
            raise not_a_number(place, fields.cells(row)[self._kept[column]], name, flags)
        return values

    def _tell_long(self, fields: Fields, values: Array) -> None:
        """Warn once of a whole number with more digits than float64 holds."""
        if self._told or not np.any(np.abs(values) >= EXACT):
            return
        for row, column in np.argwhere(np.abs(values) >= EXACT):
            cell = fields.cells(int(row))[self._kept[column]].strip(' \t"')
            if cell.lstrip("+-").isdigit():
                self._told = True
                name = self._read_names[column]
                warn(
                    "integers beyond 2^53 are rounded to float64",
                    got=f"{self.label}, line {fields.line(int(row))}, column {name!r}: {cell}",
                    fix="subtract a constant before they are written, or drop the column",
                    category=DataWarning,
                )
                return

    def texts(self, at: tuple[int, ...]) -> Iterator[list[list[str]]]:
        """Yield the cells of the columns `at` (ascending) as text, column by column.

        They are as they stand in the file, without quotes and surrounding spaces.
        """
        self.hold_files()
        for lines in self._walk():
            yield texts_of(self._fields(lines), self._width, at)
        self.hold_files()

    def _options(self) -> tuple[Any, ...]:
        how = self._delimiter, self._header, sorted(self.na), self.file.encoding
        return (*how, self._decimal, self._comments)


def _comments(head: Lines) -> int:
    """Return the bytes of the lines of comment that stand before a table.

    A comment of as many fields as the line below it, where no other comment stands, is its
    header: ``#id,a,b``.
    """
    end, data = 0, head.data
    for mark in (b"#", b"%", b"//"):
        if not data.startswith(mark):
            continue
        lines = 0
        while data.startswith((mark, b"\n"), end) and data.find(b"\n", end) >= 0:
            end = data.index(b"\n", end) + 1
            lines += 1
        first, below = data[:end].strip(), data[end : data.find(b"\n", end)]
        alike = any(0 < first.count(d) == below.count(d) for d in (b",", b";", b"\t"))
        return 0 if lines == 1 and alike else end
    return 0


def _without(lines: Lines, count: int) -> Lines:
    """Return the lines behind so many bytes."""
    if not count:
        return lines
    line = lines.line_at(count)
    return dataclasses.replace(lines, data=lines.data[count:], line=line)


def _unquoted(name: str) -> str:
    """Return a name without single quotes around it, or the mark of a comment before it."""
    name = name.removeprefix("#").strip() if name.startswith("#") and len(name) > 1 else name
    return name[1:-1] if len(name) > 2 and name[0] == name[-1] == "'" else name


def _unique(names: Sequence[str], label: str) -> list[str]:
    """Return names of which those that stand again are numbered; that is said."""
    taken, out, twins = set(names), list[str](), list[str]()
    seen = set[str]()
    for name in names:
        new, number = name, 2
        while new in seen or (new != name and new in taken):
            new, number = f"{name}_{number}", number + 1
        if new != name:
            twins.append(f"{new} for the next {name}")
        seen.add(new)
        out.append(new)
    if twins:
        warn(
            "names that stand twice are numbered",
            got=f"{label}: {', '.join(twins[:5])}" + (", ..." if len(twins) > 5 else ""),
            fix="rename the columns in the file to have other names",
            category=DataWarning,
        )
    return out


def _say_spellings(names: Sequence[str], kinds: Sequence[Kind], label: str) -> None:
    """Warn once of columns whose numbers are not written plainly, and how they are read."""
    for decimal, example in ((",", "1.234,5 is 1234.5"), (".", "1,234.5 is 1234.5")):
        some = [
            (name, kind.spelling)
            for name, kind in zip(names, kinds, strict=True)
            if kind.spelling is not None and kind.spelling.decimal == decimal
        ]
        if some:
            around = list(dict.fromkeys(one.around for _, one in some if one.around))
            without = f", {', '.join(around[:5])} left out" if around else ""
            shown = ", ".join(name for name, _ in some[:5]) + (", ..." if len(some) > 5 else "")
            words = "a decimal comma" if decimal == "," else "a decimal point"
            warn(
                f"numbers are read with {words} ({example}{without}): {shown}",
                got=label,
                fix="pass decimal='.' or decimal=',' where that is wrong",
                category=DataWarning,
            )


def _refuse_delimiter(delimiter: str) -> None:
    one = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()
    if not one or delimiter in '"\n\r\0':
        raise InputError(
            "a delimiter is one ASCII character, and no quote or newline",
            got=f"delimiter={delimiter!r}",
            fix=r"pass one such as ',', ';', '|', ' ' or '\t'",
        )
