"""Tables that hold variables in rows, as tables of genes do: turned round, in memory."""

import difflib
import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources import BlockSource, KeptRows
from mercer.tables._recipe import NUMBERS, Recipe
from mercer.tables._table_gaps import gaps_of, left_out, listed, refuse_missing, settled
from mercer.tables._table_reading import as_frame, held_rows, opened, refuse_large
from mercer.tables.looking._column_facts import Column
from mercer.tables.looking._table_look import Look
from mercer.tables.preparing._prepared_rows import Prepared, made_of
from mercer.tables.preparing._shared_units import shared_unit
from mercer.tables.preparing._table_scales import alike, deviations_of, divided, standardized
from mercer.tables.preparing._unanalysed_columns import kept_frames, texts

_COPIES = 3  # of the table at once: the whole, turned round, and as a frame
_ROWS = 1 << 14  # read in one go


def prepared_transposed(
    seen: Look, fills: bool | Collection[str], memory: float | None
) -> Prepared:
    """Return columns of the file as rows: n samples of p variables, which were rows.

    Parameters
    ----------
    seen : Look
        What `look` found in the file as it stands.
    fills : bool or collection of str
        See `prepared`.
    memory : float or None
        Bytes that may be taken.
    """
    asked = seen.asked
    _refuse_beside(seen)
    samples = _samples(seen)
    id_ = next(iter(seen.named("id")), None)
    source = _cut(opened(seen.path, samples, asked.reading), asked.rows, seen.rows)
    turned = _turned(source, memory)
    variables = _variables(seen.path, id_, turned.shape[1], asked.reading, asked.rows)
    said = [
        f"rows and columns exchanged (--transpose): {len(samples):,} rows,"
        f" {len(variables):,} columns named by {'their number' if id_ is None else repr(id_)}"
    ]
    said += _left_out([c.name for c in seen.columns if c.role == "out" and c.kind == "text"])
    every = () if id_ else variables
    turned, variables, dull = _varying(turned, variables, seen.label)
    spread = dict(zip(variables, deviations_of(turned), strict=True))
    gaps = gaps_of(turned)
    found = settled(asked.missing, gaps, variables, seen.label, fills)
    turned = np.delete(turned, found.out, axis=0) if len(found.out) else turned
    if len(found.without):
        turned, variables = _without(turned, variables, found.without)
    deviations = [spread[name] for name in variables]
    # Variables in rows are of one kind, as genes are, unless their sizes say otherwise.
    unit = shared_unit(_as_columns(variables, turned, deviations)) or alike(deviations)
    divided, line = standardized(asked.standardize, variables, deviations, False, unit)
    said += [*dull, *found.said, *([line] if line else [])]
    kept = np.delete(np.arange(gaps.rows), found.out)
    recipe = Recipe(every, variables, id_, transpose=True, reading=dict(asked.reading))
    return made_of(
        as_frame(turned, variables),
        recipe,
        gaps,
        found.out,
        said,
        missing=found.missing,
        path=seen.path,
        standardize=divided,
        row_names=tuple(samples[i] for i in kept),
    )


def _as_columns(
    names: Sequence[str], turned: Array, deviations: Sequence[float | None]
) -> list[Column]:
    """Return what is known of variables that were rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a variable without a cell
        lows, highs = np.nanmin(turned, axis=0).tolist(), np.nanmax(turned, axis=0).tolist()
    parts = zip(names, lows, highs, deviations, strict=True)
    return [
        Column(name, "number", "active", low=low, high=high, deviation=sd)
        for name, low, high, sd in parts
    ]


def transposed_again(
    path: Any, recipe: Recipe, kinds: Mapping[str, str], missing: str, memory: float | None
) -> Prepared:
    """Return the samples of another file: its columns of numbers, as rows.

    Parameters
    ----------
    path : path
        The file; it must have the variables of the recipe, by name and in any order.
    recipe : Recipe
        How the rows of the fit were made.
    kinds : mapping of str to str
        What each column of the file holds.
    missing : {"raise", "em", "ppca"}
        Whether the model fills missing cells.
    memory : float or None
        Bytes that may be taken.
    """
    label = Path(path).name
    samples = [name for name, kind in kinds.items() if kind in NUMBERS and name != recipe.id]
    if not samples:
        raise InputError(
            "no column of numbers is there to be a row (--transpose)",
            got=f"{label}: {len(kinds)} columns",
            fix="pass a file with variables in rows, as the one of the fit",
        )
    source = opened(path, samples, recipe.reading)
    _refuse_large(source.shape, memory, label)
    turned = None if recipe.id else _turned(source, memory)
    count = None if turned is None else turned.shape[1]
    found = _variables(path, recipe.id, count, recipe.reading, None)
    if recipe.id is None and len(found) != len(recipe.columns):
        raise InputError(
            "without names of variables there must be as many rows as in the fit (--transpose)",
            got=f"{label}: {len(found):,} rows, and {len(recipe.columns):,} in the fit",
            fix="fit a table whose first column names the variables",
        )
    at = _places(recipe.names, found, label)
    turned = (_turned(source, memory) if turned is None else turned)[:, at]
    gaps = gaps_of(turned)
    if missing == "raise" and gaps.total:
        raise refuse_missing(gaps, recipe.names, label, "")
    out, lines = left_out(gaps, label, missing)
    kept = np.delete(np.arange(gaps.rows), out)
    texts_left = [name for name, kind in kinds.items() if kind == "text" and name != recipe.id]
    return made_of(
        divided(as_frame(turned[kept], recipe.names), recipe, memory),
        recipe,
        gaps,
        out,
        (*_left_out(texts_left), *lines),
        missing=missing,
        path=path,
        row_names=tuple(samples[i] for i in kept),
    )


def _samples(seen: Look) -> tuple[str, ...]:
    """Return the columns that become rows; they must hold numbers."""
    active = [column for column in seen.columns if column.role == "active"]
    odd = [column for column in active if column.kind not in NUMBERS]
    if odd:
        option = "--dates number" if odd[0].kind == "date" else "--categorical encode"
        raise InputError(
            f"{option} makes columns of one, and --transpose makes it a row",
            got=f"{seen.label}: {listed([repr(column.name) for column in odd])}",
            fix=f"leave {option} out, or store the table with variables in columns",
        )
    return tuple(column.name for column in active)


def _varying(
    turned: Array, variables: tuple[str, ...], label: str
) -> tuple[Array, tuple[str, ...], list[str]]:
    """Return the variables that vary, and what is said of those that do not."""
    there = ~np.isnan(turned)
    low = np.min(turned, axis=0, where=there, initial=np.inf)
    high = np.max(turned, axis=0, where=there, initial=-np.inf)
    said = []
    for which, what in ((low > high, "without a number"), (low == high, "constant")):
        at = np.flatnonzero(which)
        if len(at):
            shown = listed([repr(variables[i]) for i in at[:10]], len(at))
            verb = "is" if len(at) == 1 else "are"
            of = f"{len(at):,} of {len(variables):,} variables"
            said.append(f"{of} {verb} {what} and left out: {shown}")
    dull = np.flatnonzero(low >= high)
    if len(dull) == len(variables):
        raise InputError(
            "no variable varies (--transpose)",
            got=f"{label}: {len(turned):,} columns of numbers, {len(variables):,} rows",
            fix="check which columns hold the samples: --columns",
        )
    if len(dull) == 0:
        return turned, variables, said
    return *_without(turned, variables, dull), said


def _without(
    turned: Array, variables: tuple[str, ...], at: Array
) -> tuple[Array, tuple[str, ...]]:
    gone = set(at.tolist())
    names = tuple(name for i, name in enumerate(variables) if i not in gone)
    return np.delete(turned, at, axis=1), names


def _turned(source: BlockSource, memory: float | None) -> Array:
    """Return the transpose of the whole table, (columns, rows); refused where it is large."""
    _refuse_large(source.shape, memory, source.label)
    held = held_rows(source, float("inf"))
    if held is None:
        raise InputError(
            "sparse rows are not turned round (--transpose)",
            got=f"{source.label}: {source.nnz or 0:,} stored cells",
            fix="write the table with its variables in columns",
        )
    return np.ascontiguousarray(held.T)


def _refuse_large(shape: tuple[int, int], memory: float | None, label: str) -> None:
    (n, p), fix = (
        shape,
        "allow more with --memory, or write the table with variables in columns",
    )
    what = "the whole table must be held to exchange rows and columns; nothing was read"
    refuse_large(_COPIES * 8.0 * n * p, memory, what, f"{label}: {n:,} x {p:,}", fix)


def _cut(source: BlockSource, stop: int | None, rows: int) -> BlockSource:
    return source if source.counted and stop is None else KeptRows(source, (), stop, rows=rows)


def _variables(
    path: Any, id_: str | None, count: int | None, reading: Mapping[str, Any], stop: int | None
) -> tuple[str, ...]:
    """Return the names of the rows of the file, which are variables; none is there twice."""
    if id_ is None:
        return tuple(f"row {i + 1}" for i in range(count or 0))
    frames = kept_frames(path, [id_], _ROWS, reading, stop=stop)
    names = tuple(cell for frame in frames for cell in texts(frame, id_))
    seen = dict[str, int]()
    for row, name in enumerate(names):
        if name in seen or name == "":
            what = "is empty" if name == "" else f"is the same as of row {seen[name] + 1}"
            raise InputError(
                "every row must have a name of its own to become a column (--transpose)",
                got=f"{Path(path).name}: {id_!r} of row {row + 1} {what}"
                + (f", {name!r}" if name else ""),
                fix="rename the rows, or name another column with --id",
            )
        seen[name] = row
    return names


def _places(wanted: Sequence[str], found: Sequence[str], label: str) -> list[int]:
    """Return where the variables of a model stand among those found."""
    at = {name: i for i, name in enumerate(found)}
    lacking = [name for name in wanted if name not in at]
    if lacking:
        near = difflib.get_close_matches(lacking[0], list(found), n=1)
        raise InputError(
            f"{len(lacking):,} of {len(wanted):,} variables of the model are not there",
            got=f"{label}: no row is called {listed([repr(name) for name in lacking])}",
            fix=f"did you mean {near[0]!r}?" if near else "pass a file with the same variables",
        )
    return [at[name] for name in wanted]


def _left_out(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    return [f"columns of text are left out: {listed([repr(name) for name in names])}"]


def _refuse_beside(seen: Look) -> None:
    if seen.asked.table != "numbers":
        alike = "rows and columns are alike to it" if seen.asked.table == "counts" else ""
        raise InputError(
            "this method does not take a table with variables in rows (--transpose)",
            got=f"{seen.label}: a table of {seen.asked.table}",
            fix=f"leave --transpose out{': ' + alike if alike else ''}",
        )
    for role in ("weights", "sup", "color"):
        named = seen.named(role)
        if named:
            raise InputError(
                f"--{role} names a column, and --transpose makes columns rows",
                got=f"{seen.label}: --{role} {', '.join(named[:5])} --transpose",
                fix=f"leave --{role} out, or store the table with variables in columns",
            )
