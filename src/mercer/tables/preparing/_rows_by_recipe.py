"""prepared_again(): the rows of another file, made as a recipe says."""

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import InputError
from mercer.sources import schema_of
from mercer.tables._recipe import Recipe
from mercer.tables._table_gaps import Gaps, gaps_of, left_out, listed, refuse_missing
from mercer.tables._table_reading import known_options
from mercer.tables.preparing._count_tables import without_counts
from mercer.tables.preparing._made_columns import TOLD, MadeColumns, WideColumns, wide
from mercer.tables.preparing._prepared_rows import Prepared, made_of
from mercer.tables.preparing._square_tables import as_distances
from mercer.tables.preparing._table_scales import divided

_NAMED = 5


def prepared_again(
    path: Any,
    recipe: Recipe,
    *,
    missing: str = "raise",
    rows: int | None = None,
    memory: float | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Prepared:
    """Return the rows of another file, made as the recipe says; one walk over them.

    Columns are found by their names, in whatever order they stand; others are not read. Rows
    without a cell are left out.

    Parameters
    ----------
    path : path
        The file; it must have the columns of the recipe.
    recipe : Recipe
        How the rows of the fit were made.
    missing : {"raise", "em", "ppca", "passive", "level", "fill", "rows"}
        Whether the model fills missing cells; where it does not, they are refused, or rows
        that have some are left out.
    rows : int or None
        Read only so many rows.
    memory : float or None
        See `prepared`.
    reading : mapping or None
        Options of `mercer.scan` for this file; those of the fit hold where they can.
    """
    label = Path(path).name
    own = {**known_options(path, recipe.reading), **(reading or {})}
    recipe = dataclasses.replace(recipe, reading=own)
    kinds = {name: held.kind for name, held in schema_of(path, **recipe.reading).items()}
    needed = recipe.columns
    if recipe.transpose:
        needed = () if recipe.id is None else (recipe.id,)
    _refuse_lacking(needed, list(kinds), label)
    if recipe.transpose:
        from mercer.tables.preparing._transposed_tables import transposed_again

        return transposed_again(path, recipe, kinds, missing, memory)
    if recipe.cross:
        from mercer.tables.preparing._long_tables import crossed_again

        return crossed_again(path, recipe, rows, memory)
    if recipe.categories or recipe.table in ("categories", "mixed"):
        from mercer.tables.preparing._category_tables import framed_again

        return framed_again(path, recipe, missing, rows, memory)
    table = wide(path, recipe, stop=rows, rows=None, memory=memory)
    gaps = gaps_of(table.source if table.held is None else table.held, recipe.levels)
    if gaps.total and missing == "raise":
        raise refuse_missing(gaps, recipe.columns, label, _first(table, gaps))
    out, lines = left_out(gaps, label, missing)
    said = [*_said_made(table.made), *lines]
    if recipe.table == "counts":
        out, empty = without_counts(table, out)
        said += empty
    kept = divided(as_distances(table.without(out), recipe), recipe, memory)
    return made_of(
        kept, recipe, gaps, out, said, kinds=kinds, missing=missing, path=path, stop=rows
    )


def _first(table: WideColumns, gaps: Gaps) -> str:
    """Return where the first missing cell stands."""
    row = int(gaps.some[0])
    held = table.held
    cells = next(table.source._read(1, row))[0] if held is None else held[row]
    column = int(np.flatnonzero(np.isnan(cells))[0])
    return f"; the first at {table.source.place(row, column)}"


def _refuse_lacking(wanted: Sequence[str], there: Sequence[str], label: str) -> None:
    known = set(there)
    lacking = [name for name in wanted if name not in known]
    if not lacking:
        return
    shown = [_with_nearest(name, there) for name in lacking[:_NAMED]]
    raise InputError(
        f"the file lacks {len(lacking):,} of the {len(wanted):,} columns of the model",
        got=f"{label}: no column {listed(shown, len(lacking))}",
        fix="rename the columns as in the table of the fit, or pass another file",
    )


def _with_nearest(name: str, there: Sequence[str]) -> str:
    small = {other.lower(): other for other in reversed(there)}
    near = difflib.get_close_matches(name.lower(), list(small), n=1)
    return f"{name!r}" + (f" (nearest: {small[near[0]]!r})" if near else "")


def _said_made(made: MadeColumns | None) -> list[str]:
    """Return what is said of text that is no category of the fit, and of missing text."""
    if made is None:
        return []
    said = []
    for name, count in made.unseen.items():
        told = list(made.examples[name])
        more = " and others" if len(told) == TOLD else ""
        cells = "1 cell holds a category" if count == 1 else f"{count:,} cells hold categories"
        said.append(
            f"{name!r}: {cells} that the fit did not have, 0 in all columns:"
            f" {', '.join(repr(cell[:40]) for cell in told)}{more}"
        )
    for name, count in made.absent.items():
        cells = "1 missing cell is" if count == 1 else f"{count:,} missing cells are"
        said.append(f"{name!r}: {cells} 0 in all its columns")
    return said
