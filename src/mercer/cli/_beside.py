"""Columns that stand beside the coordinates: the names of the rows, and colours."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mercer.arrays import Array

ROW = "row"  # the name of the column of row numbers, where the rows have no names
_PIECE = 1 << 16  # rows that are read in one go


class Beside:
    """Columns of a file that go with its rows, handed out in pieces of any length.

    Without names of rows there is a column of their numbers, counted from 0 in the file.

    Parameters
    ----------
    path : path
        The file.
    id_ : str or None
        The column that names the rows.
    others : sequence of str
        Further columns.
    reading : mapping
        Options of `mercer.scan`.
    kept : array of int or None
        Which rows of the file are used; None for all.
    numbers : iterable of str
        Those of `others` that are numbers, which text files hold as text.
    taken : iterable of str
        Names that other columns have already; one that is taken gets a stroke at its end.
    """

    def __init__(
        self,
        path: Any,
        id_: str | None = None,
        others: Sequence[str] = (),
        *,
        reading: Mapping[str, Any] | None = None,
        kept: Array | None = None,
        numbers: Iterable[str] = (),
        taken: Iterable[str] = (),
    ) -> None:
        self.names = ([] if id_ is None else [id_]) + [n for n in others if n != id_]
        self._numbered = id_ is None
        self._kept, self._at = kept, 0
        self._numbers = set(numbers)
        self._frames = _frames(path, self.names, dict(reading or {}), kept)
        self._held: Any = None
        occupied = set(taken) | ({ROW} if id_ is None else set())
        self._called = {name: _free(name, occupied) for name in self.names}
        self._row = _free(ROW, set(taken))

    def take(self, count: int) -> Any:
        """Return the columns of the next `count` rows as a polars frame."""
        import polars as pl

        start, self._at = self._at, self._at + count
        out = pl.DataFrame()
        if self._numbered:
            rows = np.arange(start, start + count)
            out = pl.DataFrame({self._row: rows if self._kept is None else self._kept[rows]})
        if self.names:
            found = self._next(count).rename(self._called)
            out = pl.concat([out, self._typed(found)], how="horizontal")
        return out

    def pick(self, at: Array) -> Any:
        """Return the columns of the rows with these numbers, ascending, as a polars frame."""
        import polars as pl

        parts, start = [], self._at
        last = int(at[-1]) + 1 if len(at) else 0
        while start < last:
            count = min(_PIECE, last - start)
            first, end = np.searchsorted(at, [start, start + count])
            parts.append(self.take(count)[at[first:end] - start])
            start += count
        return pl.concat(parts) if parts else self.take(0)

    def _next(self, count: int) -> Any:
        import polars as pl

        parts = [] if self._held is None else [self._held]
        while sum(map(len, parts)) < count:
            parts.append(next(self._frames))
        whole = pl.concat(parts) if len(parts) > 1 else parts[0]
        self._held = whole[count:]
        return whole[:count]

    def _typed(self, frame: Any) -> Any:
        """Return text that is numbers as numbers."""
        import polars as pl

        for name, called in self._called.items():
            if name in self._numbers and frame.schema[called] == pl.String:
                frame = frame.with_columns(_numbers(frame[called]))
        return frame


def _numbers(series: Any) -> Any:
    import polars as pl

    return series.str.strip_chars().cast(pl.Float64, strict=False)


def _frames(
    path: Any, names: list[str], reading: dict[str, Any], kept: Array | None
) -> Iterator[Any]:
    """Yield the columns of the rows that are used."""
    if not names:
        return
    from mercer.sources import other_columns

    at = 0
    for frame in other_columns(path, names, rows=_PIECE, reading=reading, as_written=True):
        here = slice(None)
        if kept is not None:
            first, last = np.searchsorted(kept, [at, at + len(frame)])
            here = kept[first:last] - at
        at += len(frame)
        yield frame[here]


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
