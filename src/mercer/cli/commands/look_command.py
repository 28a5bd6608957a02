"""The command ``mercer look``: what a table holds, and what would be made of it."""

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from mercer.cli._options import (
    asked_from,
    data_argument,
    data_options,
    method_option,
    speaking_options,
    table_options,
)
from mercer.cli._stdin import opened
from mercer.cli._voice import Voice

if TYPE_CHECKING:
    from mercer.tables import Look

_MANY = 40  # columns above which those that are alike share a line
_ROLES = {
    "active": "analysed",
    "id": "for names",
    "color": "for colour",
    "weights": "for weights",
    "sup": "supplementary",
    "target": "for groups",
    "rows": "for rows",
    "columns": "for columns",
    "count": "for counts",
    "out": "left out",
}


@click.command()
@data_argument
@data_options
@table_options
@method_option("Look as this method would; see `mercer methods`.")
@speaking_options
def command(voice: Voice, data: str, method: str, **options: Any) -> None:
    r"""Show kind, role and missing cells of each column of DATA.

    Nothing is changed. DATA is a file (CSV, TSV, Parquet, Arrow, JSON lines, .npy,
    HDF5, Zarr ...), or - for stdin. Columns that are alike share a line in wide
    tables; -v shows each.

    \b
    Examples:
      mercer look survey.csv
      mercer look survey.csv --id name --drop 'q1*,7-9'
      mercer look genes.tsv --transpose
      mercer look survey.csv --method mca
      gzip -dc log.csv.gz | mercer look - --json
    """
    from mercer.cli._options import asked_for
    from mercer.tables import look

    asked = asked_for(method, asked_from(options))
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
    columns = len(seen.columns)
    counts = [(len(seen.named(role)), words) for role, words in _ROLES.items()]
    uses = ", ".join(f"{count:,} {words}" for count, words in counts if count)
    head = f"{seen.label}: {seen.rows:,} rows, {columns:,} columns ({uses})"
    table = seen.table(columns if every else _MANY)
    notes = [line for line in (_turned(seen), _missing(seen), *seen.notes) if line]
    judged = [] if seen.judged is None else [seen.judged.why]
    return "\n".join([head, *judged, "", *table, *([""] if notes else []), *notes])


def _turned(seen: "Look") -> str:
    """Return what becomes of rows and columns where they are exchanged, or nothing."""
    rows = len(seen.named("active"))
    turned = f"transposed: {rows:,} rows of {seen.rows:,} variables would be analysed"
    return turned if seen.asked.transpose else ""


def _missing(seen: "Look") -> str:
    """Return how many of the cells to be analysed are missing, or nothing."""
    active = [column for column in seen.columns if column.role == "active"]
    count, cells = sum(column.missing for column in active), seen.rows * len(active)
    share = 100 * count / max(1, cells)
    return f"{count:,} of {cells:,} analysed cells missing ({share:.2g} %)" if count else ""
