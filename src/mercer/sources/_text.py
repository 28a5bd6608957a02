"""Tables of delimited text: .csv, .tsv and .txt, also packed as .gz."""

import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError, warn
from mercer.sources._bytes import TextFile
from mercer.sources._cells import EXACT
from mercer.sources._columns import Columns, choose_columns
from mercer.sources._fields import (
    MOST_FIELDS,
    Fields,
    find_fields,
    kept,
    single_spaced,
    texts_of,
)
from mercer.sources._line_source import LineSource
from mercer.sources._lines import Lines
from mercer.sources._look import look
from mercer.sources._sniff import find_delimiter, has_header, refuse_uneven_header
from mercer.sources._text_cells import (
    NA,
    kind_of_column,
    not_a_number,
    read_cells,
    to_floats,
    to_floats_with_care,
)

_HEAD_ROWS = 1000
_HEAD_CELLS = 200_000


def open_text(
    path: str | Path,
    *,
    columns: Iterable[Any] | None = None,
    drop: Iterable[Any] | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    na: Iterable[str] = NA,
    encoding: str | None = None,
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
        How characters are written. None reads UTF-8, or what the mark at the beginning says.

    Notes
    -----
    Every line must have the same number of fields. Fields may stand in double quotes, where
    delimiters and newlines are text and a quote is written twice. Numbers have a decimal
    point: 3, -2.5, 1e5, inf; spaces around them do no harm. Columns of true and false are
    read as 1 and 0.
    """
    chosen = {"columns": columns, "drop": drop}
    return _open(Path(path), delimiter, header, na, encoding, **chosen)


def open_every(
    path: str | Path,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    na: Iterable[str] = NA,
    encoding: str | None = None,
) -> "TextSource":
    """Return the file with every column chosen, whatever it holds: for `texts`, not blocks.

    Parameters are those of `open_text`.
    """
    return _open(Path(path), delimiter, header, na, encoding, every=True)


def _open(
    path: Path,
    delimiter: str | None,
    header: bool | None,
    na: Iterable[str],
    encoding: str | None,
    **chosen: Any,
) -> "TextSource":
    marks = frozenset([na] if isinstance(na, str) else map(str, na))
    if header not in (None, True, False) or (header is not None and type(header) is int):
        raise InputError(
            "`header` says whether the first line holds names",
            got=f"header={header!r}",
            fix="pass True, False or None",
        )
    if delimiter is not None:
        _refuse_delimiter(delimiter)
    return TextSource(look(path, encoding), delimiter, header, marks, **chosen)


@final
class TextSource(LineSource):
    """Rows of a file of delimited text; see `open_text`.

    Attributes
    ----------
    kinds : dict of str to Kind
        What every column of the file holds by the head, analysed or not.
    na : frozenset of str
        What counts as missing.
    """

    _told = False  # of whole numbers that float64 cannot hold

    def __init__(
        self,
        file: TextFile,
        delimiter: str | None,
        header: bool | None,
        na: frozenset[str],
        *,
        columns: Iterable[Any] | None = None,
        drop: Iterable[Any] | None = None,
        every: bool = False,
    ) -> None:
        head = self._open(file)
        kind = Path(file.path.stem if file.packed else file.path.name).suffix.lower()
        self.na = na
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
        self._settle(rows, columns, drop, every)
        self.shape = (self._forecast(head), len(self.names or ()))

    def _settle(
        self,
        rows: list[list[str]],
        columns: Iterable[Any] | None,
        drop: Iterable[Any] | None,
        every: bool,
    ) -> None:
        """Settle the names, the kinds and the choice of columns by the head."""
        body = rows[1:] if self._header else rows
        if not body:
            raise InputError(
                "there is no row below the header",
                got=f"{self.label}, line 1: {', '.join(map(repr, rows[0][:5]))}",
                fix="check how the file was written, or pass header=False",
            )
        first = rows[0] if self._header else [""] * self._width
        names = [name or str(i) for i, name in enumerate(first)]
        kinds = [kind_of_column(cells, self.na) for cells in zip(*body, strict=True)]
        others = [None if every else kind.other for kind in kinds]
        chosen = choose_columns(names, others, columns, drop, self.label)
        self.kinds = dict(zip(names, kinds, strict=True))
        self._take(chosen)

    def _take(self, chosen: Columns) -> None:
        """Take on a choice of columns."""
        self.names, self.dropped = chosen.names, chosen.dropped
        self.at = np.asarray(chosen.at, np.intp)
        self._kept = tuple(sorted(set(chosen.at)))  # as they stand in the file
        place = {column: i for i, column in enumerate(self._kept)}
        self._order = None if chosen.at == self._kept else [place[c] for c in chosen.at]
        names, kinds = list(self.kinds), list(self.kinds.values())
        self._flags = [kinds[i].flags for i in self._kept]
        self._read_names = [names[i] for i in self._kept]

    def _rows(self, fields: Fields) -> list[list[str]]:
        """Return the cells of the first records."""
        count = min(_HEAD_ROWS + 1, max(3, _HEAD_CELLS // self._width), len(fields.ends))
        return [fields.cells(i) for i in range(count)]

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
        first, lines = lines.line == 1, self._prepared(lines)
        if not (first and self._header):
            return lines
        data = lines.data[self._header :]
        return dataclasses.replace(lines, data=data, line=lines.line_at(self._header))

    def _fields(self, lines: Lines) -> Fields:
        fields = find_fields(lines, self._delimiter, self.label)
        fields.refuse_ragged(self._width, self.label)
        return fields

    def _starts(self, lines: Lines) -> Array:
        return self._fields(lines).starts

    def _values(self, lines: Lines) -> Array:
        fields = self._fields(lines)
        text = kept(fields, self._width, self._kept)
        values = None
        if not any(self._flags):
            values = to_floats(text, len(self._kept), self._delimiter, self.na)
        if values is None or len(values) != len(fields.ends):
            values = self._careful(fields, text)
        self._tell_long(fields, values)
        return values if self._order is None else values[:, self._order]

    def _careful(self, fields: Fields, text: bytes) -> Array:
        """Return the numbers of a block that has odd spellings; name a cell of text."""
        cells = read_cells(text, self._delimiter)
        if len(cells) != len(fields.ends) * len(self._kept):
            rows = [fields.cells(i) for i in range(len(fields.ends))]
            cells = type(cells)([row[i] for row in rows for i in self._kept])
        values, wrong = to_floats_with_care(cells, self._flags, self.na)
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
        return self._delimiter, self._header, sorted(self.na), self.file.encoding


def _refuse_delimiter(delimiter: str) -> None:
    one = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()
    if not one or delimiter in '"\n\r\0':
        raise InputError(
            "a delimiter is one ASCII character, and no quote or newline",
            got=f"delimiter={delimiter!r}",
            fix=r"pass one such as ',', ';', '|', ' ' or '\t'",
        )
