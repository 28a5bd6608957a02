"""Tables of counts: rows and columns without a count, and margins, are no part of them."""

import dataclasses
import re
from collections.abc import Sequence

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.tables._table_gaps import SettledGaps, said_out
from mercer.tables.looking._table_look import Look
from mercer.tables.preparing._made_columns import WideColumns
from mercer.tables.preparing._unanalysed_columns import kept_frames, texts

_MARGIN = re.compile(
    r"(grand|row|column|overall|table)?[ _.]*(totals?|sums?|all|margins?|gesamt|summe|somme|Σ)",
    re.IGNORECASE,
)
_ROWS = 1 << 14  # read in one go
_EQUAL = 1e-6  # relative difference of a margin and the sum that it is


def is_margin(name: str) -> bool:
    """Tell whether a row or column is called as margins are: Total, Sum, All.

    Examples
    --------
    >>> is_margin("Grand Total"), is_margin("Totalitarian")
    (True, False)
    """
    return bool(_MARGIN.fullmatch(name.strip()))


def without_margins(seen: Look, table: WideColumns, found: SettledGaps) -> SettledGaps:
    """Return what is left out of a table of counts, with what is said of it.

    A row or column that is called Total and is the sum of the others, and rows without a
    count; the missing ones were settled before.

    Parameters
    ----------
    seen : Look
        The table.
    table : WideColumns
        Its rows.
    found : SettledGaps
        What is left out for missing cells.
    """
    said, without = list(found.said), set(found.without.tolist())
    names = table.recipe.names
    stay = np.array([j not in without for j in range(len(names))])
    stay[_margin_columns(table, names, stay, said)] = False
    out = set(found.out.tolist())
    out |= _margin_rows(seen, table, stay, out, said)
    sums = _sums(table, np.flatnonzero(stay).tolist())
    empty = np.setdiff1d(np.flatnonzero(sums == 0), sorted(out))
    _say_empty(empty, len(sums), said)
    out |= set(empty.tolist())
    if len(sums) - len(out) < 2 or int(stay.sum()) < 2:
        raise _too_small(seen, len(sums) - len(out), int(stay.sum()))
    return dataclasses.replace(
        found,
        out=np.array(sorted(out), np.int64),
        without=np.flatnonzero(~stay),
        said=tuple(said),
    )


def _too_small(seen: Look, rows: int, columns: int) -> InputError:
    fix = "check which columns hold the counts: mercer look"
    if sum(column.kind == "text" for column in seen.columns) > 1:
        fix = "a table with a line per case is counted by --rows-by COL --columns-by COL"
    return InputError(
        "a table of counts has two rows and two columns at least",
        got=f"{seen.label}: {rows:,} row{'s' * (rows != 1)} and {columns:,}"
        f" column{'s' * (columns != 1)} with counts",
        fix=fix,
    )


def without_counts(table: WideColumns, out: Array) -> tuple[Array, list[str]]:
    """Return rows of another file that are left out, those without a count among them.

    Parameters
    ----------
    table : WideColumns
        The rows.
    out : array of int
        Rows that are left out already.
    """
    said = list[str]()
    sums = _sums(table, range(len(table.recipe.names)))
    empty = np.setdiff1d(np.flatnonzero(sums == 0), out)
    _say_empty(empty, len(sums), said)
    gone = np.union1d(out, empty).astype(np.int64)
    if len(gone) == len(sums):
        raise InputError(
            "no row has a count in the columns of the model",
            got=f"{table.source.label}: {len(sums):,} rows",
            fix="check that this is the right file",
        )
    return gone, said


def _sums(table: WideColumns, columns: Sequence[int]) -> Array:
    """Return the sums of the rows over some columns, (n,)."""
    at = np.asarray(columns, np.int64)
    blocks = [table.held] if table.held is not None else table.source.blocks(_ROWS)
    parts = [np.asarray(block[:, at].sum(axis=1)).reshape(-1) for block in blocks]
    return np.concatenate([np.empty(0), *parts])


def _say_empty(empty: Array, rows: int, said: list[str]) -> None:
    if len(empty):
        said.append(said_out(empty, rows, "no count"))


def _margin_columns(
    table: WideColumns, names: Sequence[str], stay: Array, said: list[str]
) -> list[int]:
    """Return the columns that are called as margins are and are the sums of all others."""
    able = [j for j in np.flatnonzero(stay).tolist() if is_margin(names[j])]
    if not able:
        return []
    total = _sums(table, np.flatnonzero(stay).tolist())
    own = {j: _sums(table, [j]) for j in able}
    gone = [j for j in able if _equal(own[j], total - own[j])]
    kept = [j for j in able if j not in gone]
    for where, what in (
        (gone, "is the sum of the others: a margin, left out"),
        (kept, "is not the sum of the others: analysed (--drop to leave it out)"),
    ):
        said += [f"column {names[j]!r} {what}" for j in where]
    return gone


def _margin_rows(
    seen: Look, table: WideColumns, stay: Array, out: set[int], said: list[str]
) -> set[int]:
    """Return the rows that are sums of all others, by their names and their cells."""
    name = next(iter(seen.named("id")), None)
    kind = {column.name: column.kind for column in seen.columns}
    if name is None or kind[name] != "text" or table.held is None:
        return set()
    asked = seen.asked
    frames = kept_frames(seen.path, (name,), _ROWS, asked.reading, stop=asked.rows)
    labels = [cell for frame in frames for cell in texts(frame, name)]
    able = [i for i, label in enumerate(labels) if is_margin(label) and i not in out]
    if not able:
        return set()
    cells = table.held[:, stay].astype(np.float64)
    cells[sorted(out)] = 0.0
    total = cells.sum(axis=0)
    gone = {i for i in able if _equal(cells[i], total - cells[i])}
    for i in able:
        what = "is the sum of the others: a margin, left out"
        if i not in gone:
            what = "is not the sum of the others: analysed as it is"
        said.append(f"row {i + 1:,} {labels[i]!r} {what}")
    return gone


def _equal(margin: Array, total: Array) -> bool:
    close = np.abs(margin - total) <= _EQUAL * np.maximum(np.abs(total), 1e-300)
    return bool(np.all(close))
