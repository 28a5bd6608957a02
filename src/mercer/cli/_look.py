"""The command ``mercer look``: what a table holds, and what would be made of it."""

import dataclasses
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from mercer.cli._layout import aligned
from mercer.cli._options import asked_from, data_argument, data_options, speaking_options
from mercer.cli._stdin import opened
from mercer.cli._voice import Voice

if TYPE_CHECKING:
    from mercer.tables import Column, Look

_MANY = 40  # columns above which those that are alike share a line
_NAME = 28  # letters of a name that are shown
_HEAD = ("column", "kind", "role", "missing", "mean", "sd", "low", "high", "")


@click.command()
@data_argument
@data_options
@speaking_options
def command(voice: Voice, data: str, **options: Any) -> None:
    r"""Show kind, role and missing cells of each column of DATA.

    Nothing is changed. DATA is a file (CSV, TSV, Parquet, Arrow, JSON lines, .npy,
    HDF5, Zarr ...), or - for stdin.

    \b
    Examples:
      mercer look survey.csv
      mercer look survey.csv --id name --drop 'q1*,7-9'
      mercer look genes.tsv --transpose
      gzip -dc log.csv.gz | mercer look - --json
    """
    from mercer.tables import look

    asked = asked_from(options)
    with opened(data) as path, voice.working():
        seen = dataclasses.replace(look(path, asked), path=data)
    voice.result(text_of(seen, every=voice.verbose), {"data": seen})


def text_of(seen: "Look", *, every: bool) -> str:
    """Return a table of the columns and what else was noticed.

    Parameters
    ----------
    seen : Look
        What was found.
    every : bool
        Whether every column has a line; else those that are alike share one in wide tables.
    """
    head = f"{seen.label}: {seen.rows:,} rows, {_counted(seen.columns)}"
    rows: list[tuple[str, ...]] = [_HEAD]
    for _, group in groupby(seen.columns, _likeness):
        alike = list(group)
        fold = len(seen.columns) > _MANY and len(alike) > 2 and not every
        rows += [_folded(alike)] if fold else [_one(column) for column in alike]
    notes = ["", *seen.notes] if seen.notes else []
    return "\n".join([head, "", *aligned(rows, words=3), *notes])


def _counted(columns: "tuple[Column, ...]") -> str:
    """Return how many columns have which role."""
    names = {"active": "analysed", "out": "left out", "color": "for colour", "id": "names rows"}
    roles = dict.fromkeys(["active", *(column.role for column in columns)])
    counts = [(role, sum(column.role == role for column in columns)) for role in roles]
    parts = ", ".join(f"{count:,} {names.get(role, role)}" for role, count in counts)
    return f"{len(columns):,} columns ({parts})"


def _likeness(column: "Column") -> tuple[str, str, str]:
    return column.kind, column.role, column.why


def _one(column: "Column") -> tuple[str, ...]:
    numbers = (column.mean, column.deviation, column.low, column.high)
    missing = f"{column.missing:,}" if column.missing else ""
    shown = (column.kind, column.role, missing, *map(_short, numbers), column.why)
    return (_cut(column.name), *shown)


def _folded(group: "list[Column]") -> tuple[str, ...]:
    """Return the line of columns that are alike: their range, and that of their spreads."""
    first, last = group[0], group[-1]
    lows = [column.low for column in group if column.low is not None]
    highs = [column.high for column in group if column.high is not None]
    spreads = [column.deviation for column in group if column.deviation is not None]
    missing = sum(column.missing for column in group)
    about = f"{len(group):,} columns"
    if spreads:
        about += f", sd {_short(min(spreads))} to {_short(max(spreads))}"
    ends = (_short(min(lows, default=None)), _short(max(highs, default=None)))
    shown = f"{missing:,}" if missing else ""
    why = "; ".join(filter(None, (about, first.why)))
    name = f"{_cut(first.name, 12)} … {_cut(last.name, 12)}"
    return (name, first.kind, first.role, shown, "", "", *ends, why)


def _cut(name: str, most: int = _NAME) -> str:
    line = " ".join(name.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
