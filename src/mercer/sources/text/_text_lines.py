"""Whole lines of a text file, in blocks."""

import dataclasses
from collections.abc import Generator
from typing import final

import numpy as np

from mercer.errors import InputError
from mercer.sources.text._text_bytes import Chunks, TextFile, undecodable

LONGEST = 32 << 20  # bytes of one line; more is not a table


@final
@dataclasses.dataclass(frozen=True)
class Lines:
    r"""Some whole records of a file.

    Attributes
    ----------
    data : bytes
        UTF-8; every record ends with \n.
    line : int
        Number of the first line in the file, from 1.
    cut : bool
        Whether the last line of the file is here and had no newline.
    """

    data: bytes
    line: int
    cut: bool = False

    def line_at(self, offset: int) -> int:
        """Return the number of the line that holds the byte at `offset`."""
        return self.line + self.data.count(b"\n", 0, offset)


def whole_lines(chunks: Chunks, quotes: bool) -> Generator[Lines, None, None]:
    """Yield the lines of a file in blocks of about the size of the chunks.

    With `quotes`, a newline between double quotes ends no record. Empty lines at the end of
    the file are left out.
    """
    held, line = b"", 1
    for chunk in chunks:
        held += chunk
        end = _without_empty(held, _last_end(held, quotes))
        if end:
            yield _checked(Lines(held[:end], line), chunks.file)
            line += held.count(b"\n", 0, end)
            held = held[end:]
        elif len(held) > LONGEST:
            raise _endless(held, line, chunks.file, quotes)
    held = held.rstrip(b"\r\n")
    if len(held) > LONGEST or (quotes and held.count(b'"') % 2):
        raise _endless(held, line, chunks.file, quotes)
    if held:
        yield _checked(Lines(held + b"\n", line, cut=True), chunks.file)


def _last_end(data: bytes, quotes: bool) -> int:
    """Return where the last whole record ends, 0 where none does."""
    if not quotes or b'"' not in data:
        return data.rfind(b"\n") + 1
    cells = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(cells == ord("\n"))
    marks = np.flatnonzero(cells == ord('"'))
    outside = ends[np.searchsorted(marks, ends) % 2 == 0]
    return int(outside[-1]) + 1 if outside.size else 0


def _without_empty(data: bytes, end: int) -> int:
    """Return where the last record before `end` ends that is no empty line, or 0.

    Empty lines wait: they are an error only where another line follows.
    """
    begin = max(0, end - 4096)  # seldom more: no copy of the whole
    if not data[begin:end].strip(b"\r\n"):
        begin = 0
    text = data[begin:end].rstrip(b"\r\n")
    return data.index(b"\n", begin + len(text)) + 1 if text else 0


def _checked(lines: Lines, file: TextFile) -> Lines:
    """Return the lines with plain newlines; NUL bytes and broken characters are refused."""
    at = lines.data.find(b"\0")
    if at >= 0:
        raise InputError(
            "text holds no NUL bytes",
            got=f"{file.label}, line {lines.line_at(at)}: {_around(lines.data, at)}",
            fix="the file is damaged or no text: write it again",
        )
    if not lines.data.isascii():
        try:
            lines.data.decode()
        except UnicodeDecodeError as error:
            raise undecodable(error, file, lines.line) from None
    if b"\r" not in lines.data:
        return lines
    data = lines.data.replace(b"\r\n", b"\n")
    if lines.cut and lines.line == 1 and data.count(b"\r") > data.count(b"\n"):
        raise InputError(
            "lines must end with a newline",
            got=f"{file.label}: its lines end with a carriage return alone",
            fix="save it with the line ends of Unix or Windows",
        )
    return dataclasses.replace(lines, data=data)


def _around(data: bytes, at: int) -> str:
    return repr(data[max(0, at - 10) : at + 10].decode("utf-8", "replace"))


def _endless(held: bytes, line: int, file: TextFile, quotes: bool) -> InputError:
    """Return the refusal of a line that does not end."""
    if quotes and b'"' in held:
        at = _suspect_quote(held)
        before = held.count(b"\n", 0, at)
        return InputError(
            "a quote is opened and never closed",
            got=f"{file.label}, line {line + before}: {_around(held, at)}",
            fix="close it; a quote inside a quoted field is written twice",
        )
    return InputError(
        f"a line is longer than {LONGEST >> 20} MB",
        got=f"{file.label}, line {line}: {_around(held, 10)}...",
        fix="check that the file is a table with one row per line",
    )


def _suspect_quote(held: bytes) -> int:
    """Return the first quote that follows a letter or digit, else the last one."""
    marks = np.flatnonzero(np.frombuffer(held, np.uint8) == ord('"'))
    for at in marks[::2].tolist():
        if held[at - 1 : at].isalnum():
            return int(at)
    return int(marks[-1])
