"""The bytes of a text file: unpacked, in UTF-8, a chunk at a time."""

import codecs
import dataclasses
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, final

from mercer.errors import InputError

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
        for chunk in _with_end(chunks):
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


def _with_end(chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield from chunks
    yield b""
