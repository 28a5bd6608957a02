"""opened(): a file that a command line names; ``-`` is what comes in on stdin."""

import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mercer.errors import InputError

if TYPE_CHECKING:
    from mercer.sources import FileIds

_LOOK = 4096  # bytes that tell what comes in

# What a file begins with, and how its name then ends.
_ENDS = (
    (b"PAR1", ".parquet"),
    (b"ARROW1", ".arrow"),
    (b"\xff\xff\xff\xff", ".arrow"),
    (b"\x93NUMPY", ".npy"),
    (b"\x89HDF", ".h5"),
    (b"{", ".ndjson"),
)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@contextmanager
def opened(path: str) -> Iterator[str]:
    """Give a path that can be read more than once; addresses of a network are refused.

    ``-`` is copied to a temporary file, which is removed afterwards. Its kind is known by its
    first bytes; what is nothing else is CSV.

    Parameters
    ----------
    path : str
        As typed.
    """
    if _ADDRESS.match(path):
        raise InputError(
            "nothing is fetched from a network",
            got=path,
            fix="fetch it to a file first, and give the name of that file",
        )
    if not path:  # a variable of a shell that is not set; to others it is the folder itself
        raise InputError(
            "the name of the file is empty", got="''", fix="name a file, or - for stdin"
        )
    refuse_echo(path)
    if path != "-":
        yield path
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError(
            "nothing comes in on stdin",
            got=f"-, and stdin is {'closed' if sys.stdin is None else 'a terminal'}",
            fix="name a file, or let another program write: cat table.csv | mercer look -",
        )
    with tempfile.TemporaryDirectory(prefix="mercer-") as folder:
        yield str(_copied(sys.stdin.buffer, Path(folder)))


def files_named(path: str) -> "FileIds":
    """Return the files that a command line names; ``-`` is the one behind stdin, if any."""
    from mercer.sources import files_of

    return ids_of_stream(sys.stdin) if path == "-" else files_of(path)


def refuse_echo(path: str) -> None:
    """Refuse to read a file into which stdout or stderr goes."""
    if files_named(path) & (ids_of_stream(sys.stdout) | ids_of_stream(sys.stderr)):
        raise InputError(
            "the output would take the place of the input",
            got=f"{path}, and what the command says goes into the same file",
            fix="send it to another file",
        )


def spare(target: Path, path: str, said: str) -> None:
    """Refuse to write what a command line reads; `said` is the option with its words."""
    from mercer.sources import refuse_own_input

    refuse_own_input(target, files_named(path) if path == "-" else path, said=said)


def ids_of_stream(stream: Any) -> "FileIds":
    """Return the file behind stdin or stdout; a pipe or a terminal is none."""
    from mercer.sources import id_of_open

    try:
        return id_of_open(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return frozenset()


def _copied(stream: IO[bytes], folder: Path) -> Path:
    """Return a file with all that the stream holds."""
    head = stream.read(_LOOK)
    path = folder / f"stdin{end_of(head)}"
    with path.open("wb") as file:
        file.write(head)
        shutil.copyfileobj(stream, file, 1 << 20)
    return path


def end_of(head: bytes) -> str:
    """Return how the name of a file ends that begins with these bytes.

    Examples
    --------
    >>> end_of(b"PAR1..."), end_of(b'{"a": 1}'), end_of(b"a,b")
    ('.parquet', '.ndjson', '.csv')
    """
    if head.startswith(b"\x1f\x8b"):
        return end_of(_unpacked(head)) + ".gz"
    if head.startswith(b"PK\x03\x04") and b".npy" in head[:200]:
        return ".npz"
    bare = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \r\n\t")
    for begin, end in _ENDS:
        if head.startswith(begin) or (begin == b"{" and bare.startswith(begin)):
            return end
    return ".csv"


def _unpacked(head: bytes) -> bytes:
    """Return what the first bytes of a packed file hold; nothing where they are damaged."""
    try:
        return zlib.decompressobj(wbits=31).decompress(head, _LOOK)
    except zlib.error:
        return b""
