"""Coordinates block by block, and the table that is written of them.

Columns that stand beside the coordinates: the names of the rows, and colours.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.cli._outputs import GROUP, NAME, ROW
from mercer.estimators.walk._coordinate_files import text_writer, writer_of
from mercer.sources import BlockSource
from mercer.tables import Prepared

_PIECE = 1 << 16  # rows that are read in one go


class Beside:
    """Columns of a file that go with its rows, handed out in pieces of any length.

    Without names of rows there is a column of their numbers, counted from 1 in the file.

    Parameters
    ----------
    made : Prepared
        The rows.
    others : sequence of str
        Columns beside the one that names the rows.
    numbers : iterable of str
        Those of `others` that are numbers, which text files hold as text.
    taken : iterable of str
        Names that other columns have already; one that is taken gets a stroke at its end.
    """

    def __init__(
        self,
        made: Prepared,
        others: Sequence[str] = (),
        *,
        numbers: Iterable[str] = (),
        taken: Iterable[str] = (),
    ) -> None:
        self._made, self._numbers, self._at = made, set(numbers), 0
        turned = made.row_names is not None
        own = [] if made.id is None or turned else [made.id]
        self.names = own + [name for name in others if name != made.id]
        self._numbered = not own
        self._frames = iter(made.beside(self.names, _PIECE) if self.names else ())
        self._held: Any = None
        occupied = set(taken)
        counted = made.recipe.cross[0] if made.recipe.cross else NAME
        self._row = _free(counted if turned else ROW, occupied if self._numbered else set())
        self._called = {name: _free(name, occupied) for name in self.names}

    @property
    def id(self) -> str | None:
        """What the column that names the rows is called in the frames, if there is one."""
        if self._made.row_names is not None:
            return self._row
        return None if self._numbered else self._called[self.names[0]]

    def called(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Return columns of the file with what they are called in the frames."""
        return [(name, self._called[name]) for name in names]

    def take(self, count: int) -> Any:
        """Return the columns of the next `count` rows as a polars frame."""
        import polars as pl

        start, self._at = self._at, self._at + count
        out = pl.DataFrame()
        if self._numbered:
            out = pl.DataFrame({self._row: self._numbered_rows(start, count)})
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

    def _numbered_rows(self, start: int, count: int) -> Any:
        if self._made.row_names is not None:
            return list(self._made.row_names[start : start + count])
        return self._made.numbers_at(np.arange(start, start + count))

    def _next(self, count: int) -> Any:
        import polars as pl

        parts = [] if self._held is None else [self._held]
        while not parts or sum(map(len, parts)) < count:
            parts.append(next(self._frames))
        whole = pl.concat(parts) if len(parts) > 1 else parts[0]
        self._held = whole[count:]
        return whole[:count]

    def _typed(self, frame: Any) -> Any:
        """Return text that is numbers as numbers."""
        import polars as pl

        text = [
            called
            for name, called in self._called.items()
            if name in self._numbers and frame.schema[called] == pl.String
        ]
        cells = (pl.col(name).str.strip_chars() for name in text)
        return frame.with_columns(*(cell.cast(pl.Float64, strict=False) for cell in cells))


class WithGroups:
    """Columns beside the coordinates, and the group that a model gives to each row.

    Parameters
    ----------
    beside : Beside
        The other columns.
    model : estimator
        With `predict`, or with `labels_` for the rows of its fit.
    rows : polars.DataFrame, BlockSource or None
        The rows, in order; None for those of the fit.
    """

    def __init__(self, beside: Beside, model: Any, rows: Any = None) -> None:
        self._beside, self._at = beside, 0
        if rows is None:
            self._groups = np.asarray(model.labels_)
            return
        blocks = rows.blocks(_PIECE) if hasattr(rows, "blocks") else [rows]
        self._groups = np.concatenate([np.asarray(model.predict(block)) for block in blocks])

    def take(self, count: int) -> Any:
        """Return the columns of the next `count` rows as a polars frame."""
        import polars as pl

        start, self._at = self._at, self._at + count
        frame = self._beside.take(count)
        name = _free(GROUP, set(frame.columns))
        return frame.with_columns(pl.Series(name, self._groups[start : self._at]))


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


_ROWS = 1 << 16  # of a block for methods that only take rows in memory


def coordinates(model: Any, rows: Any) -> Iterator[Array]:
    """Yield the coordinates of rows in memory or in a file, block by block.

    Parameters
    ----------
    model : estimator
        Fitted.
    rows : polars.DataFrame or BlockSource
        As `mercer.tables` makes them.
    """
    if hasattr(model, "_streamed"):
        yield from model._streamed(rows)
        return
    if not isinstance(rows, BlockSource):
        for at in range(0, rows.shape[0], _ROWS):
            yield model.transform(rows[at : at + _ROWS])
        return
    import polars as pl

    names = getattr(model, "feature_names_in_", None)
    for block in rows.blocks(_ROWS):
        named = None if names is None else pl.from_numpy(block, schema=list(names))
        yield model.transform(block if named is None else named)


def fit_coordinates(model: Any, rows: Any) -> Iterator[Array]:
    """Yield the coordinates of the rows of the fit.

    A map keeps them; what it says of the same rows as new ones may differ a little.

    Parameters
    ----------
    model : estimator
        Fitted to `rows`.
    rows : polars.DataFrame, CSR array or BlockSource
        As `mercer.tables` makes them.
    """
    for name in ("embedding_", "row_coordinates_"):
        found = getattr(model, name, None)
        if found is not None and len(found) == rows.shape[0]:
            yield found
            return
    yield from coordinates(model, rows)


def write_coordinates(
    path: Path | None, parts: Iterator[Array], names: list[str], beside: Beside, *, raw: bool
) -> int:
    """Write a table of coordinates with the columns beside them; return the number of rows.

    Parameters
    ----------
    path : Path or None
        The file; None writes CSV to stdout.
    parts : iterator of ndarray of shape (r, k)
        The coordinates.
    names : list of k str
        The names of the axes.
    beside : Beside
        What stands before them.
    raw : bool
        Whether text that a spreadsheet would calculate stays as it is.
    """
    if path is None:
        sys.stdout.flush()
        file = sys.stdout.buffer
        with text_writer(file, names, raw=raw) as write:
            done = _written(write, parts, beside)
        file.flush()
        return done
    with writer_of(path, names, raw=raw) as write:
        return _written(write, parts, beside)


def _written(write: Any, parts: Iterator[Array], beside: Beside) -> int:
    rows = 0
    for part in parts:
        write(part, beside.take(len(part)))
        rows += len(part)
    return rows
