"""From roles and kinds of columns to a recipe: what is read, and what is made of it."""

import dataclasses

from mercer.errors import InputError
from mercer.tables._recipe import Recipe
from mercer.tables._table_gaps import listed
from mercer.tables.looking._table_look import Column, Look
from mercer.tables.preparing._made_columns import levels_of, made_names

NUMBERS = ("number", "integer", "flag")


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
