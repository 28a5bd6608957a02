"""Columns of any kind in delimited text and in lines of JSON: all of them as text."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, final

from mercer.sources._other_columns import FileColumns, Held
from mercer.sources.text import _delimited_text as _text
from mercer.sources.text import _json_lines as _ndjson
from mercer.sources.text._text_cells import NA, Kind


def open_text(
    path: Path,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    na: Iterable[str] = NA,
    encoding: str | None = None,
    decimal: str | None = None,
) -> "TextColumns":
    """Return the columns of a file of delimited text; the parameters are those of `scan`."""
    return TextColumns(_text.opened(path, delimiter, header, na, encoding, decimal, every=True))


def open_ndjson(path: Path) -> "TextColumns":
    """Return the keys of a file with one JSON object per line."""
    return TextColumns(_ndjson.open_every(path))


@final
class TextColumns(FileColumns):
    """Every column of a file whose cells are text."""

    def __init__(self, source: Any) -> None:
        self._source, self.path = source, source.path
        self.na, self.unmet = getattr(source, "na", self.na), getattr(source, "unmet", ())
        self.schema = {name: _held(kind) for name, kind in source.kinds.items()}
        source.hold_files()

    def numbers(self, names: Sequence[str]) -> Any:
        """See `FileColumns.numbers`: the head is not read again."""
        return self._source.narrowed(names)

    def _read(self, names: Sequence[str], rows: int, as_written: bool) -> Iterator[Any]:
        import polars as pl

        every = {name: i for i, name in enumerate(self.schema)}
        at = sorted(every[name] for name in names)
        order = [at.index(every[name]) for name in names]
        marks = [] if as_written else sorted(self.na)
        for cells in self._source.texts(tuple(at)):
            frame = pl.DataFrame(
                [pl.Series(n, cells[i], pl.String) for n, i in zip(names, order, strict=True)]
            )
            if marks:
                present = pl.when(~pl.all().is_in(marks)).then(pl.all())
                frame = frame.with_columns(present.name.keep())
            yield frame


def _held(kind: Kind) -> Held:
    if kind.flags:
        return Held("flag")
    if kind.other is None:
        return Held("number", "with leading zeros" if kind.zeros else "")
    if kind.other == "dates":
        return Held("date")
    if kind.other.startswith("text"):
        return Held("text", kind.other.removeprefix("text").strip())
    return Held("other", kind.other)
