"""A table in words: a line for each thing worth saying."""

import itertools
from collections.abc import Iterator, Sequence

from mercer.tables._columns import Column

_KINDS = {
    "number": ("number", "numbers"),
    "integer": ("whole number", "whole numbers"),
    "flag": ("flag (0 or 1)", "flags (0 or 1)"),
    "text": ("text", "of text"),
    "date": ("date", "dates"),
    "empty": ("empty", "empty"),
    "other": ("other", "other"),
}
_ROLES = {
    "active": "analysed",
    "id": "names the rows",
    "color": "colours pictures",
    "weights": "weights",
    "sup": "supplementary",
    "target": "names the groups",
    "rows": "makes the rows",
    "columns": "makes the columns",
    "count": "counts the lines",
    "out": "left out",
}


def said_lines(
    label: str,
    rows: int,
    columns: Sequence[Column],
    notes: Sequence[str],
    missing: bool = True,
) -> tuple[str, ...]:
    """Return lines about a table; neighbours that are alike share one.

    Parameters
    ----------
    label : str
        What the file is called.
    rows : int
        Number of rows.
    columns : sequence of Column
        All columns.
    notes : sequence of str
        What else was noticed.
    missing : bool
        Whether missing cells are counted.
    """
    lines = [f"{label}: {rows:,} rows, {len(columns):,} columns"]
    lines += [_line(group) for group in alike(columns)]
    return (*lines, *(_missing(columns, rows) if missing else ()), *notes)


def alike(columns: Sequence[Column]) -> Iterator[list[Column]]:
    """Yield runs of neighbours of the same kind, role and reason."""
    for _, run in itertools.groupby(columns, lambda c: (c.kind, c.role, c.why)):
        yield list(run)


def _line(group: Sequence[Column]) -> str:
    first = group[0]
    why = f" ({first.why})" if first.why else ""
    kinds = _KINDS[first.kind]
    what = kinds[0] if len(group) == 1 else f"{len(group):,} {kinds[1]}"
    return f"{_named(group)}: {what}, {_ROLES[first.role]}{why}"


def _named(group: Sequence[Column]) -> str:
    if len(group) <= 2:
        return ", ".join(column.name for column in group)
    return f"{group[0].name}..{group[-1].name}"


def _missing(columns: Sequence[Column], rows: int) -> list[str]:
    """Say how many cells of the analysis are missing, and where most of them are."""
    active = [c for c in columns if c.role == "active" and c.kind != "text"]
    count = sum(column.missing for column in active)
    if not count:
        return []
    cells = rows * len(active)
    worst = max(active, key=lambda column: column.missing)
    share = f"{100 * count / cells:.2g} %"
    holders = sum(column.missing > 0 for column in active)
    where = f"in {holders:,} columns, most in {worst.name} ({worst.missing:,})"
    if holders == 1:
        where = f"all in {worst.name}"
    return [f"{count:,} of {cells:,} cells missing ({share}), {where}"]


def table_lines(columns: Sequence[Column], most: int) -> tuple[str, ...]:
    """Return the columns as aligned lines under a header; more than `most` are grouped."""
    groups = [[c] for c in columns] if len(columns) <= most else list(alike(columns))
    rows: list[tuple[str, ...]] = [
        ("column", "kind", "use", "missing", "mean", "sd", "least", "largest", "")
    ]
    rows += [_cells(group) for group in groups]
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    left = {0, 1, 2, 8}
    return tuple(
        "  ".join(
            cell.ljust(w) if i in left else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, wide, strict=True))
        ).rstrip()
        for row in rows
    )


def _cells(group: Sequence[Column]) -> tuple[str, ...]:
    first = group[0]
    missing = sum(column.missing for column in group)
    lows = [column.low for column in group if column.low is not None]
    highs = [column.high for column in group if column.high is not None]
    alone = (first.mean, first.deviation) if len(group) == 1 else (None, None)
    values = (*alone, min(lows, default=None), max(highs, default=None))
    numbers = ["" if value is None else f"{value:.4g}" for value in values]
    count = f" ({len(group):,} columns)" if len(group) > 2 else ""
    return (
        _named(group) + count,
        first.kind,
        first.role,
        f"{missing:,}" if missing else "",
        *numbers,
        first.why,
    )
