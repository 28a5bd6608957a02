"""look(): what each column of a table holds, and what it will be used for."""

import dataclasses
import warnings
from pathlib import Path
from typing import Any, final

from mercer.errors import DataWarning, InputError
from mercer.sources import BlockSource, scan
from mercer.tables._asked import Asked


@final
@dataclasses.dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "integer", "flag", "text", "date", "empty", "other"}
        What it holds.
    role : {"active", "id", "color", "weights", "sup", "out"}
        What it is used for.
    why : str
        Why it has that role, in words; "" where there is nothing to say.
    missing : int
        Cells that are missing.
    distinct : int or None
        Different values among the rows that were looked at; None where nobody counted.
    mean, deviation, low, high : float or None
        Of numbers: mean, standard deviation (n - 1), least and largest.
    """

    name: str
    kind: str
    role: str
    why: str = ""
    missing: int = 0
    distinct: int | None = None
    mean: float | None = None
    deviation: float | None = None
    low: float | None = None
    high: float | None = None


@final
@dataclasses.dataclass(frozen=True)
class Look:
    """What a table holds; nothing was changed.

    Attributes
    ----------
    path : str
        The file, as it was given.
    label : str
        What messages call it.
    rows : int
        Number of rows.
    columns : tuple of Column
        Every column, in the order of the file.
    asked : Asked
        What the user said.
    notes : tuple of str
        What else was noticed: rows that are twice there, rows without a number.
    """

    path: str
    label: str
    rows: int
    columns: tuple[Column, ...]
    asked: Asked
    notes: tuple[str, ...] = ()

    def named(self, role: str) -> tuple[str, ...]:
        """Return the names of the columns that have a role."""
        return tuple(column.name for column in self.columns if column.role == role)


def look(path: Any, asked: Asked | None = None) -> Look:
    """Return what each column of a file holds and will be used for; one walk over the rows.

    Parameters
    ----------
    path : path
        A file that `mercer.scan` opens.
    asked : Asked or None
        What the user says of the columns.
    """
    asked = asked or Asked()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        source = scan(
            Path(path), columns=asked.columns, drop=asked.drop or None, **asked.reading
        )
    if not isinstance(source, BlockSource):
        raise InputError(
            "a table is looked at in a file", got=type(source).__name__, fix="pass a path"
        )
    names = source.names or tuple(map(str, range(source.shape[1])))
    active = tuple(Column(name, "number", "active") for name in names)
    left = tuple(Column(name, "text", "out", why) for name, why in source.dropped)
    return Look(str(path), source.label, source.shape[0], active + left, asked)
