"""Recipe: what was made of a table, as plain data; how roles and kinds of columns choose it."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

from mercer.errors import InputError
from mercer.sources import other_columns
from mercer.tables._table_gaps import listed
from mercer.tables.looking._table_look import Column, Look


@final
@dataclasses.dataclass(frozen=True)
class Recipe:
    """What was made of a table, as plain data, so that it can be made of another one.

    Attributes
    ----------
    columns : tuple of str
        The columns of the file that are read: numbers, dates, categories. Where rows and
        columns were exchanged, its rows if no column names them, else nothing.
    names : tuple of str
        The columns of the analysis; more than `columns` where categories were encoded.
    id : str or None
        The column that names the rows.
    dates : tuple of str
        Those that are dates and count in days since 1970.
    orders : dict of str to str
        How dates in text are written: "iso", "day" or "month" first.
    levels : dict of str to tuple of str
        The categories of every column that was encoded, in their order.
    transpose : bool
        Whether rows and columns were exchanged.
    reading : dict
        Options of `mercer.scan`.
    table : str
        What the method takes, see `Asked.table`.
    categories : dict of str to {"text", "whole"}
        Columns that are categories as they are: text, or whole numbers.
    cross : tuple of str
        Columns that were counted against each other: that of the rows, that of the columns,
        and that of the counts where there is one.
    scales : dict of str to float
        What columns are divided by, where the method itself does not.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]
    id: str | None = None
    dates: tuple[str, ...] = ()
    orders: dict[str, str] = dataclasses.field(default_factory=dict)
    levels: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    transpose: bool = False
    reading: dict[str, Any] = dataclasses.field(default_factory=dict)
    table: str = "numbers"
    categories: dict[str, str] = dataclasses.field(default_factory=dict)
    cross: tuple[str, ...] = ()
    scales: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of the file that are numbers already."""
        made = {*self.dates, *self.levels, *self.categories}
        return tuple(name for name in self.columns if name not in made)

    def plain(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return dataclasses.asdict(self)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "Recipe":
        """Return the recipe that `plain` was made of."""
        parts = dict(plain)
        for name in ("columns", "names", "dates", "cross"):
            parts[name] = tuple(parts.get(name, ()))
        levels = parts.get("levels", {})
        parts["levels"] = {name: tuple(found) for name, found in levels.items()}
        return cls(**parts)


NUMBERS = ("number", "integer", "flag")
_LEVELS = 50  # categories of one column; more are names, not categories
_ROWS = 1 << 14  # read in one go


def chosen(seen: Look) -> tuple[Recipe, dict[str, str]]:
    """Return the recipe of the active columns, and what is said of some of them.

    Columns of numbers come first, then dates, then categories, each in the order of the file.
    Categories are found in one walk.
    """
    asked, active = seen.asked, [column for column in seen.columns if column.role == "active"]
    numbers = tuple(column.name for column in active if column.kind in NUMBERS)
    dates = [column for column in active if column.kind == "date"]
    texts = [column for column in active if column.kind == "text"]
    if dates and asked.dates != "number":
        raise _refused("dates", "--dates number to count them in days", dates, seen)
    if texts and asked.categorical != "encode":
        raise _refused("text", "--categorical encode to make columns of 0 and 1", texts, seen)
    said = {
        column.name: f"{column.name!r} counts in days since 1970-01-01 (--dates number)"
        for column in dates
    }
    _refuse_unclear(dates, seen)
    names = [column.name for column in texts]
    levels, gone = levels_of(seen.path, names, asked.reading, asked.rows) if names else ({}, {})
    filled = asked.missing not in ("rows", "columns", "error")
    said |= {
        name: _encoded(name, len(found), gone[name] if filled else 0)
        for name, found in levels.items()
    }
    given = tuple(column.name for column in dates)
    recipe = Recipe(
        columns=(*numbers, *given, *names),
        names=(*numbers, *made_names(given, levels)),
        id=next(iter(seen.named("id")), None),
        dates=given,
        orders={column.name: column.words for column in dates if column.words},
        levels=levels,
        reading=dict(asked.reading),
        table=asked.table,
    )
    _refuse_none(recipe, seen)
    _refuse_twins(recipe, seen)
    return recipe, said


def narrower(recipe: Recipe, gone: set[str]) -> Recipe:
    """Return the recipe without some columns of the file."""
    dates = tuple(name for name in recipe.dates if name not in gone)
    levels = {name: found for name, found in recipe.levels.items() if name not in gone}
    numbers = tuple(name for name in recipe.numbers if name not in gone)
    return dataclasses.replace(
        recipe,
        columns=(*numbers, *dates, *levels),
        names=(*numbers, *made_names(dates, levels)),
        dates=dates,
        orders={name: how for name, how in recipe.orders.items() if name in dates},
        levels=levels,
    )


def _encoded(name: str, count: int, missing: int) -> str:
    line = f"{name!r}: {count} categories, a column of 0 and 1 for each (--categorical encode)"
    if missing:
        cells = "missing cell is" if missing == 1 else "missing cells are"
        line += f"; {missing:,} {cells} 0 in all of them"
    return line


def _refuse_unclear(dates: list[Column], seen: Look) -> None:
    unclear = [column.name for column in dates if column.words == "unclear"]
    if unclear:
        raise InputError(
            "these dates can be read in two ways: day or month first (--dates number)",
            got=f"{seen.label}: {listed([repr(name) for name in unclear])}",
            fix="write them as 2024-12-31, or leave the column out with --drop",
        )


def _refused(what: str, fix: str, columns: list[Column], seen: Look) -> InputError:
    return InputError(
        f"columns of {what} cannot be analysed as they are",
        got=f"{seen.label}: {listed([repr(column.name) for column in columns])}",
        fix=f"{fix}, or --drop to leave them out",
    )


def _refuse_none(recipe: Recipe, seen: Look) -> None:
    if not recipe.names:
        shown = listed([f"{column.name!r} ({column.kind})" for column in seen.columns])
        raise InputError(
            "no column is left to analyse",
            got=f"{seen.label}: {len(seen.columns)} columns; {shown}",
            fix="name columns of numbers with --columns, or take --categorical encode",
        )


def _refuse_twins(recipe: Recipe, seen: Look) -> None:
    """Refuse a category that would be called like another column."""
    if len(set(recipe.names)) < len(recipe.names):
        twin = next(name for name in recipe.names if recipe.names.count(name) > 1)
        raise InputError(
            "two columns of the analysis would have the same name (--categorical encode)",
            got=f"{seen.label}: {twin!r}",
            fix="leave one of them out with --drop, or rename it",
        )


def made_names(dates: Sequence[str], levels: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the names of made columns: "date", "species=Adelie", "species=Gentoo"."""
    return (*dates, *(f"{name}={level}" for name, found in levels.items() for level in found))


def levels_of(
    path: Any, names: Sequence[str], reading: Mapping[str, Any], stop: int | None
) -> tuple[dict[str, tuple[str, ...]], dict[str, int]]:
    """Return the categories of columns of text, sorted, and how many cells are missing.

    One walk over the rows before `stop`. More than 50 in one column are refused, as soon as
    they are met.
    """
    import polars as pl

    found: dict[str, set[str]] = {name: set() for name in names}
    gone, at = dict.fromkeys(names, 0), 0
    for frame in other_columns(path, names, rows=_ROWS, reading=reading):
        frame = frame if stop is None else frame.head(max(0, stop - at))
        at += frame.height
        for name, seen in found.items():
            gone[name] += frame[name].null_count()
            seen.update(frame[name].cast(pl.String).drop_nulls().unique().to_list())
            if len(seen) > _LEVELS:
                raise InputError(
                    f"more than {_LEVELS} categories are not encoded",
                    got=f"{Path(path).name}: {name!r} has {len(seen)} different texts in"
                    f" {at:,} rows",
                    fix=f"leave it out with --drop {name}, or name the rows by it with --id",
                )
        if stop is not None and at >= stop:
            break
    return {name: tuple(sorted(seen)) for name, seen in found.items()}, gone
