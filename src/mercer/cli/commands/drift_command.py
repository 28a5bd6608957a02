"""The command ``mercer drift``: what has changed between a model and new rows."""

import sys
from typing import Any

import click

from mercer.cli._options import data_argument, speaking_options
from mercer.cli._stdin import opened
from mercer.cli._voice import COMPUTATION, Voice


@click.command()
@click.argument("model", type=click.Path())
@data_argument
@click.option(
    "--reference",
    metavar="FILE",
    type=click.Path(),
    help="Rows of the fit, or others like them: limits for rows that are not normal.",
)
@click.option(
    "--level",
    type=click.FloatRange(0.5, 1, max_open=True),
    default=0.95,
    show_default=True,
    help="One minus the chance of a false alarm.",
)
@click.option("--strict", is_flag=True, help="Exit 1 where something has changed.")
@speaking_options
def command(
    voice: Voice, model: str, data: str, reference: str | None, level: float, strict: bool
) -> None:
    r"""Say what has changed between the rows of the fit of MODEL and those of DATA.

    Means, variances, share of variance held by the axes, their directions, and rows above the
    limits of T² and Q, each with its chance where nothing has changed.

    \b
    mercer drift survey.mercer new.csv
    mercer drift line.mercer today.parquet --reference june.parquet --strict
    """
    with opened(data) as table, voice.working():
        changed = _run(voice, model, data, table, reference, level)
    if strict and changed:
        sys.exit(COMPUTATION)


def _run(
    voice: Voice, model: str, data: str, table: str, reference: str | None, level: float
) -> bool:
    """Say the result; return whether something has changed."""
    from mercer.cli._model_argument import loaded, rows_for
    from mercer.studies import drift

    found = loaded(model, data, "drift")
    made = rows_for(found, table)
    voice.note(*made.said)
    before: Any = None
    if reference is not None:
        before = rows_for(found, table, reference).rows
    result = drift(found, made.rows, reference=before, level=level)
    voice.note(*result.notes)
    document = {"model": model, "data": data, **result.document()}
    voice.result(result.table(), document)
    return result.changed
