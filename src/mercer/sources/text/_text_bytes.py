"""The bytes of a text file: unpacked, in UTF-8, a chunk at a time.

What a text file is, by its name and its first bytes.
"""

import codecs
import dataclasses
import gzip
import itertools
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, final

from mercer.errors import DataWarning, InputError, warn

_BOMB_BYTES = 100_000_000  # unpacked bytes from which on the packing ratio is watched
_BOMB_RATIO = 1000


@final
@dataclasses.dataclass(frozen=True)
class TextFile:
    """A text file that has been looked at.

    Attributes
    ----------
    path : Path
        Where it is.
    packed : bool
        Whether it is packed by gzip.
    encoding : str
        How its characters are written.
    mark : int
        Length of the byte order mark at its beginning.
    """

    path: Path
    packed: bool
    encoding: str
    mark: int

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.path.name

    @property
    def nbytes(self) -> int:
        """Its size as stored."""
        return self.path.stat().st_size


@final
class Chunks:
    """The text of a file as UTF-8, in chunks of about `size` bytes; one walk.

    Attributes
    ----------
    packed : int
        Bytes of the file as stored that have been read so far.
    given : int
        Bytes of UTF-8 that have been handed out so far.
    """

    def __init__(self, file: TextFile, size: int) -> None:
        self.file, self.size = file, size
        self.packed = self.given = 0

    def __iter__(self) -> Iterator[bytes]:
        """Yield the chunks; the mark is left out."""
        plain = self._unpacked()
        for chunk in plain if self.file.encoding == "utf-8" else self._decoded(plain):
            self.given += len(chunk)
            yield chunk

    def _unpacked(self) -> Iterator[bytes]:
        file, count = self.file, 0
        with file.path.open("rb") as raw:
            stream = gzip.GzipFile(fileobj=raw) if file.packed else raw
            read_some(stream, file.mark, file.label, 0)
            while chunk := read_some(stream, self.size, file.label, count):
                count += len(chunk)
                self.packed = raw.tell()
                if count > _BOMB_BYTES and count > _BOMB_RATIO * self.packed:
                    raise InputError(
                        "a packed file unpacks to far more than a table would",
                        got=f"{file.label}: {count:,} bytes out of {self.packed:,}",
                        fix="check where it comes from; unpack it yourself if it is sound",
                    )
                yield chunk

    def _decoded(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(self.file.encoding)()
        line, behind = 1, 0  # behind: characters of the line that earlier chunks held
        for chunk in itertools.chain(chunks, [b""]):
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                raise undecodable(error, self.file, line, behind) from None
            line += text.count("\n")
            behind = len(text) - text.rfind("\n") - 1 + (0 if "\n" in text else behind)
            if text:
                yield text.encode("utf-8", "replace")


def undecodable(
    error: UnicodeDecodeError, file: TextFile, line: int, behind: int = 0
) -> InputError:
    """Return the refusal of bytes that are no characters in the file's encoding.

    The bytes begin in line `line`, `behind` characters after its beginning.
    """
    before = error.object[: error.start].decode(error.encoding, "replace")
    place = len(before) - before.rfind("\n") + (0 if "\n" in before else behind)
    line += before.count("\n")
    found = error.object[error.start : error.end][:4].hex(" ")
    latin = "latin-1" if file.encoding == "utf-8" else "utf-8"
    return InputError(
        f"the text is not {file.encoding.upper()}",
        got=f"{file.label}, line {line}, character {place}: byte {found}",
        fix=f"name how it is written, such as encoding={latin!r}, or save it as UTF-8",
    )


def read_some(stream: gzip.GzipFile | IO[bytes], size: int, label: str, count: int) -> bytes:
    """Return at most `size` bytes; a broken archive is refused."""
    try:
        return stream.read(size)
    except EOFError:
        what = "the packed file ends too early"
    except (zlib.error, gzip.BadGzipFile) as error:
        what = f"the packed file is damaged ({error})"
    raise InputError(
        what,
        got=f"{label}, after {count:,} unpacked bytes",
        fix="copy or download the file again; `gzip -t` tests it",
    )


_GUESSED = 1 << 20  # bytes by which the encoding is guessed
_LOOK = 4096  # bytes that tell what a file is

# What a file begins with when it is not text, and what to call it.
_DISGUISES = (
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy file"),
    (b"\x1f\x8b", "packed by gzip"),
    (b"BZh", "packed by bzip2"),
    (b"\xfd7zXZ", "packed by xz"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file"),
    (b"SQLite format", "an SQLite database"),
    (b"%PDF-", "a PDF document"),
)
# Marks at the beginning of a file, the longer ones first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def look(path: Path, encoding: str | None = None, guess: bool = False) -> TextFile:
    """Return what a text file is by its first bytes; what is no text is refused.

    Parameters
    ----------
    path : Path
        A file; one whose name ends with .gz is unpacked while it is read.
    encoding : str or None
        How characters are written. None takes the mark at the beginning, UTF-8 without one.
    guess : bool
        Whether what is no UTF-8 may be Windows-1252.
    """
    packed = path.suffix.lower() == ".gz"
    with path.open("rb") as raw:
        if packed and raw.read(2) not in (b"\x1f\x8b", b""):
            raise InputError(
                "the file is not packed by gzip, as its name says",
                got=path.name,
                fix="take .gz off its name",
            )
        raw.seek(0)
        stream = gzip.GzipFile(fileobj=raw) if packed else raw
        head = read_some(stream, _LOOK, path.name, 0)
    _refuse_disguise(head, path.name, packed)
    name, mark = _encoding(head, encoding, path.name)
    if guess and encoding is None and name == "utf-8" and not mark:
        name = _guessed(path, packed)
    return TextFile(path, packed, name, mark)


def _guessed(path: Path, packed: bool) -> str:
    """Return "utf-8", or "cp1252" where the first megabyte is none; that is said."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as raw:
        stream = gzip.GzipFile(fileobj=raw) if packed else raw
        head = read_some(stream, _GUESSED, path.name, 0)
    if head.isascii() or b"\0" in head:
        return "utf-8"
    try:
        decoder.decode(head)
    except UnicodeDecodeError as error:
        # Where letters of UTF-8 stand before, the file is damaged; the codec has no 81, 8d, ...
        if not head[: error.start].isascii() or {*head} & {0x81, 0x8D, 0x8F, 0x90, 0x9D}:
            return "utf-8"
        warn(
            "the text is not UTF-8 and was read as Windows-1252",
            got=f"{path.name}: byte {head[error.start : error.start + 1].hex()}",
            fix="pass encoding='utf-8' or another where that is wrong",
            category=DataWarning,
        )
        return "cp1252"
    return "utf-8"


def _encoding(head: bytes, wanted: str | None, label: str) -> tuple[str, int]:
    """Return the codec and the length of the mark."""
    name = None if wanted is None else _codec(wanted)
    for mark, marked in _MARKS:
        general = marked.removesuffix("-le").removesuffix("-be")
        if head.startswith(mark) and name in (None, marked, general, general + "-sig"):
            return marked, len(mark)
    if name in ("utf-16", "utf-32"):
        raise InputError(
            f"{wanted} needs a mark at the beginning of the file, or the order of its bytes",
            got=f"{label} begins with {head[:4].hex(' ')}",
            fix=f"pass encoding='{name}-le' or encoding='{name}-be'",
        )
    nulls = head[1::2].count(0), head[::2].count(0)
    if name is None and max(nulls) > 0.4 * len(head) / 2:
        order = "le" if nulls[0] > nulls[1] else "be"
        raise InputError(
            "the text looks like UTF-16 without a mark: line 1 holds NUL bytes",
            got=f"{label} begins with {head[:8].hex(' ')}",
            fix=f"pass encoding='utf-16-{order}', or save the file as UTF-8",
        )
    return ("utf-8" if name in (None, "utf-8-sig", "ascii") else name), 0


def _codec(wanted: str) -> str:
    try:
        name = codecs.lookup(wanted).name
        "a".encode(name)  # refuses codecs that do not make text
        codecs.getincrementaldecoder(name)
    except (LookupError, TypeError):
        raise InputError(
            "there is no such encoding",
            got=f"encoding={wanted!r}",
            fix="use a name that Python knows, such as 'utf-8', 'utf-16-le' or 'latin-1'",
        ) from None
    return name


def _refuse_disguise(head: bytes, label: str, packed: bool) -> None:
    found = next((what for magic, what in _DISGUISES if head.startswith(magic)), None)
    if found is None and head[:200].lstrip().lower().startswith(
        (b"<!doctype", b"<html", b"<?xml")
    ):
        found = "a web page"
    if found is None:
        return
    fix = "give the file the end of name that it should have"
    if b"[Content_Types].xml" in head or b"xl/" in head:
        found, fix = "an Excel workbook (.xlsx)", "save the sheet as CSV"
    elif "zip archive" in found:
        fix = "unpack it first"
    elif found == "packed by gzip" and not packed:
        fix = f"call it {label}.gz"
    elif found.startswith("packed"):
        fix = "unpack it first, or pack it by gzip"
    inside = "inside its packing " if packed else ""
    raise InputError(
        "the file is not text",
        got=f"{label}: by its first bytes {inside}it is {found}",
        fix=fix,
    )
