"""Where the fields of delimited text begin and end, found on the bytes with NumPy."""

import dataclasses
import re
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources.text._text_lines import Lines

MOST_FIELDS = 100_000
_NEWLINE, _QUOTE = ord("\n"), ord('"')


@final
@dataclasses.dataclass(frozen=True)
class Fields:
    """Records of text cut into fields.

    Attributes
    ----------
    lines : Lines
        The text.
    stops : array (m,)
        Offsets of the delimiters and newlines outside quotes, in order.
    ends : array (r,)
        Which of the stops are newlines: record i is stops[ends[i - 1] + 1 : ends[i] + 1].
    """

    lines: Lines
    stops: Array
    ends: Array

    @property
    def counts(self) -> Array:
        """Fields of each record, (r,)."""
        return np.diff(self.ends, prepend=-1)

    @property
    def starts(self) -> Array:
        """Offsets where the records begin, (r,)."""
        return np.concatenate([[0], self.stops[self.ends[:-1]] + 1])

    def start(self, record: int) -> int:
        """Return the offset where a record begins."""
        return int(self.stops[self.ends[record - 1]]) + 1 if record else 0

    def line(self, record: int) -> int:
        """Return the number of the line where a record begins."""
        return self.lines.line_at(self.start(record))

    def cells(self, record: int, most: int = MOST_FIELDS) -> list[str]:
        """Return the first fields of a record, without quotes and surrounding spaces."""
        first = int(self.ends[record - 1]) + 1 if record else 0
        stops = self.stops[first : int(self.ends[record]) + 1][:most].tolist()
        begins = [self.start(record), *(stop + 1 for stop in stops[:-1])]
        data = self.lines.data
        return [_plain(data[a:b]) for a, b in zip(begins, stops, strict=True)]

    def first(self, count: int) -> "Fields":
        """Return those of the first records."""
        stops = self.stops[: int(self.ends[count - 1]) + 1]
        lines = dataclasses.replace(self.lines, data=self.lines.data[: int(stops[-1]) + 1])
        return Fields(lines, stops, self.ends[:count])

    def refuse_ragged(self, expected: int, label: str) -> None:
        """Refuse the first record that has not `expected` fields, and empty lines."""
        rows = len(self.ends)
        even = len(self.stops) == rows * expected and bool(
            np.all(self.ends == np.arange(1, rows + 1) * expected - 1)
        )
        # A line without a byte is one empty field: only one column could mistake it.
        if even and (expected > 1 or not np.any(np.diff(self.stops, prepend=-1) == 1)):
            return
        empty = np.diff(self.stops[self.ends], prepend=-1) == 1
        bad = int(np.flatnonzero((self.counts != expected) | empty)[0])
        found, line = int(self.counts[bad]), self.line(bad)
        if empty[bad]:
            what, fix = "an empty line stands between the rows", "delete the line"
        elif bad == rows - 1 and self.lines.cut and found < expected:
            what, fix = "the last line is cut", "copy or write the file again"
        else:
            what = "every line must have the same number of fields"
            fix = "correct the line, or put fields that hold the delimiter in double quotes"
        raise InputError(
            what,
            got=f"{label}, line {line}: {found} field{'s' * (found > 1)}, expected {expected}: "
            + shown(self.lines.data[self.start(bad) :]),
            fix=fix,
        )


def find_fields(lines: Lines, delimiter: str, label: str | None) -> Fields:
    """Return where the fields of whole records stand.

    A quoted field begins with a double quote and ends with one; a quote inside is written
    twice. Delimiters and newlines inside quotes are text. Other quotes are refused, unless
    `label` is None.
    """
    data = np.frombuffer(lines.data, np.uint8)
    newline = data == _NEWLINE
    stop = (data == ord(delimiter)) | newline
    if b'"' in lines.data:
        quote = data == _QUOTE
        if label is not None:
            _refuse_stray(lines, np.flatnonzero(quote), ord(delimiter), label)
        stop &= ~np.logical_xor.accumulate(quote)  # not inside quotes
    stops = np.flatnonzero(stop)
    ends = np.flatnonzero(newline[stops])
    return Fields(lines, stops, ends)


def single_spaced(lines: Lines) -> Lines:
    """Return the lines with one space between fields and none at either end."""
    data = lines.data
    if b"  " in data:
        data = re.sub(rb" {2,}", b" ", data)
    data = data.replace(b" \n", b"\n").replace(b"\n ", b"\n").removeprefix(b" ")
    return dataclasses.replace(lines, data=data)


def kept(fields: Fields, expected: int, at: tuple[int, ...]) -> bytes:
    r"""Return the fields of columns `at` (ascending), each ended by \n, row by row.

    Needs records of `expected` fields each.
    """
    whole = len(at) == expected
    if whole and b'"' not in fields.lines.data:
        codes = bytes([fields.lines.data[fields.stops[0]]])
        return fields.lines.data.replace(codes, b"\n")
    data = np.frombuffer(fields.lines.data, np.uint8).copy()
    data[fields.stops] = _NEWLINE
    if whole:
        return data.tobytes()
    # Marks where a run of fields begins that stay or go: true inside those that stay.
    stays = np.zeros(expected, bool)
    stays[list(at)] = True
    turns = np.flatnonzero(stays != np.roll(stays, 1))
    begins = np.concatenate([[0], fields.stops[:-1] + 1]).reshape(-1, expected)
    turn = np.zeros(len(data), bool)
    turn[begins[:, turns]] = True
    turn[0] = stays[0]
    return bytes(data[np.logical_xor.accumulate(turn)])


def texts_of(fields: Fields, expected: int, at: tuple[int, ...]) -> list[list[str]]:
    """Return the cells of columns `at` (ascending), column by column, as `Fields.cells` does.

    Needs records of `expected` fields each.
    """
    if b'"' not in fields.lines.data:
        cells = kept(fields, expected, at).decode().split("\n")
        return [[cell.strip(" \t") for cell in cells[j : -1 : len(at)]] for j in range(len(at))]
    data = fields.lines.data
    begins = np.concatenate([[0], fields.stops[:-1] + 1]).reshape(-1, expected)
    stops = fields.stops.reshape(-1, expected)
    columns = list[list[str]]()
    for j in at:
        ends = zip(begins[:, j].tolist(), stops[:, j].tolist(), strict=True)
        columns.append([_plain(data[a:b]) for a, b in ends])
    return columns


def _refuse_stray(lines: Lines, marks: Array, delimiter: int, label: str) -> None:
    """Refuse quotes that neither begin nor end a field."""
    data = np.frombuffer(lines.data, np.uint8)
    allowed = np.zeros(256, bool)
    allowed[[delimiter, _NEWLINE, _QUOTE]] = True
    opens, closes = marks[::2], marks[1::2]
    before = np.where(opens > 0, data[opens - 1], _NEWLINE)
    bad = [*opens[~allowed[before]].tolist(), *closes[~allowed[data[closes + 1]]].tolist()]
    ends = (bytes([delimiter]), b"\n", b"")
    for at in sorted(bad):
        # Spaces between a delimiter and a quote do no harm.
        opening = np.searchsorted(marks, at) % 2 == 0
        side = lines.data[max(0, at - 100) : at] if opening else lines.data[at + 1 : at + 100]
        near = side.rstrip(b" ")[-1:] if opening else side.lstrip(b" ")[:1]
        if near not in ends:
            line = lines.data[lines.data.rfind(b"\n", 0, at) + 1 :]
            raise InputError(
                "a quote stands inside a field",
                got=f"{label}, line {lines.line_at(at)}: {shown(line)}",
                fix="put the whole field in double quotes, and write the quote inside twice",
            )


def shown(data: bytes) -> str:
    """Return the beginning of some text, up to the end of its line, for a message."""
    text = data[:200].decode("utf-8", "replace").split("\n", 1)[0]
    return repr(text if len(text) <= 40 else text[:40] + "...")


def _plain(cell: bytes) -> str:
    text = cell.decode().strip(" \t")
    if len(text) >= 2 and text[0] == text[-1] == '"':
        text = text[1:-1].replace('""', '"').strip(" \t")
    return text
