"""The command ``mercer look``: what a table holds, and what would be made of it."""

from typing import Any

import click

from mercer.cli._options import asked_from, data_options, speaking_options
from mercer.cli._voice import Voice


@click.command()
@click.argument("data")
@data_options
@speaking_options
def command(voice: Voice, data: str, **options: Any) -> None:
    r"""Show kind, role and missing cells of each column; nothing is changed.

    \b
    mercer look survey.csv
    mercer look cells.parquet --json
    """
    from mercer.tables import look

    seen = look(data, asked_from(options))
    wide = max((len(column.name) for column in seen.columns), default=0)
    lines = [f"{c.name.ljust(wide)}  {c.kind:8}  {c.role:8}  {c.why}" for c in seen.columns]
    voice.result("\n".join(lines), {"data": seen})
