"""What the columns of a file are, and those beside the numbers: text, dates, categories."""

import abc
import dataclasses
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, final

from mercer.errors import DataWarning, InputError
from mercer.sources._scan import opener_of, refuse_unknown, scan
from mercer.sources.files._plain_files import plain_file

# Who opens a file that has columns of other kinds than numbers: module of this room.
_TABLES = {
    "text._delimited_text": "text._text_columns",
    "text._json_lines": "text._text_columns",
    "files._parquet": "files._typed_columns",
    "files._arrow": "files._typed_columns",
}


@final
@dataclasses.dataclass(frozen=True)
class Held:
    """What a column holds, by the head of the file or by its types.

    Attributes
    ----------
    kind : {"number", "integer", "flag", "text", "date", "empty", "other"}
        What it is; text has no types, so that its whole numbers are "number" too.
    words : str
        More of it: "categories", "lists", "with decimal commas".
    """

    kind: str
    words: str = ""

    @property
    def is_number(self) -> bool:
        """Whether `scan` reads it as numbers."""
        return self.kind in ("number", "integer", "flag")


class FileColumns(abc.ABC):
    """Abstract: every column of a file, whatever it holds.

    Attributes
    ----------
    path : Path
        The file.
    schema : dict of str to Held
        What each column holds, in the order of the file.
    na : frozenset of str
        Text that counts as missing.
    chooses : bool
        Whether some of its numbers can be read without the others.
    """

    chooses: bool = True
    unmet: Iterable[str] = ()  # words said to be missing that were met nowhere so far
    path: Path
    schema: dict[str, Held]
    na: frozenset[str] = frozenset([""])

    @abc.abstractmethod
    def numbers(self, names: Sequence[str]) -> Any:
        """Return the source of these columns of numbers, as `scan` does."""

    def frames(self, names: Sequence[str], rows: int, *, as_written: bool) -> Iterator[Any]:
        """Yield these columns as polars frames of `rows` rows, the last may be shorter.

        See `other_columns`.
        """
        absent = [name for name in names if name not in self.schema]
        if absent:
            raise InputError(
                f"there is no column {absent[0]!r}",
                got=f"{self.path.name}: {len(self.schema)} columns, "
                + ", ".join(map(repr, list(self.schema)[:5])),
                fix="choose among the columns there",
            )
        return _even(self._read(names, rows, as_written), rows) if names else iter(())

    @abc.abstractmethod
    def _read(self, names: Sequence[str], rows: int, as_written: bool) -> Iterator[Any]:
        """Yield frames of these columns, of any length."""


def open_columns(path: Any, **reading: Any) -> FileColumns:
    """Return the columns of a file, whatever they hold; nothing is walked.

    Parameters
    ----------
    path : path
        A file that `scan` opens.
    **reading
        Options of `scan` except columns and drop.
    """
    path = plain_file(Path(path))
    module, function = opener_of(path)
    if module not in _TABLES:
        return _NumberColumns(path, scan(path, **reading))
    opener = getattr(import_module(f"mercer.sources.{_TABLES[module]}"), function)
    refuse_unknown(opener, reading)
    found: FileColumns = opener(path, **reading)
    return found


def schema_of(path: Any, **reading: Any) -> dict[str, Held]:
    """Return what each column of a file holds, in the order of the file; nothing is walked.

    Parameters are those of `open_columns`.
    """
    return dict(_again(path, reading).schema)


def _again(path: Any, reading: Mapping[str, Any]) -> FileColumns:
    """Return the columns of a file that was looked at before: what was said holds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return open_columns(path, **reading)


def other_columns(
    path: Any,
    names: Sequence[str],
    *,
    rows: int,
    reading: Mapping[str, Any] | None = None,
    as_written: bool = False,
) -> Iterator[Any]:
    """Yield columns of any kind as polars frames of `rows` rows, the last may be shorter.

    The rows are those of the blocks of `scan`, in their order. Cells of delimited text and
    JSON are text, numbers too; those of Parquet and Arrow have the types of the file, and
    categories are text.

    Parameters
    ----------
    path : path
        A file that `scan` opens.
    names : sequence of str
        The columns, in the order of the frames.
    rows : int
        Rows of a frame.
    reading : mapping or None
        Options of `scan` except columns and drop.
    as_written : bool
        Whether cells of delimited text stay as they stand; else what counts as missing is
        null, "NA" too.
    """
    return _again(path, reading or {}).frames(names, rows, as_written=as_written)


@final
class _NumberColumns(FileColumns):
    """A file of which all columns are numbers of one type."""

    chooses = False

    def __init__(self, path: Path, source: Any) -> None:
        self.path, self._source = path, source
        names = source.names or [str(i) for i in range(source.shape[1])]
        kind = {"b": "flag", "i": "integer", "u": "integer"}.get(source.dtype.kind, "number")
        self.schema = dict.fromkeys(names, Held(kind))

    def numbers(self, names: Sequence[str]) -> Any:
        """See `FileColumns.numbers`: all columns, since some kinds of file have no choice."""
        assert len(names) == len(self.schema)
        return self._source

    def _read(self, names: Sequence[str], rows: int, as_written: bool) -> Iterator[Any]:
        import polars as pl

        every = list(self.schema)
        at = [every.index(name) for name in names]
        for block in self._source.blocks(rows):
            part = block[:, at]
            part = part.toarray() if hasattr(part, "toarray") else part
            yield pl.DataFrame(dict(zip(names, part.T, strict=True)))


def _even(frames: Iterator[Any], rows: int) -> Iterator[Any]:
    """Yield the same rows in frames of exactly `rows`."""
    import polars as pl

    held, count = list[Any](), 0
    for frame in frames:
        at = 0
        while count + frame.height - at >= rows:
            held.append(frame.slice(at, rows - count))
            yield pl.concat(held) if len(held) > 1 else held[0]
            at += rows - count
            held, count = [], 0
        if at < frame.height:
            held.append(frame.slice(at))
            count += frame.height - at
    if count:
        yield pl.concat(held) if len(held) > 1 else held[0]
