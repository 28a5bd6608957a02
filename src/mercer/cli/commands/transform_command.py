"""The command ``mercer transform``: coordinates of new rows, streamed."""

import time
from typing import Any

import click

from mercer.cli._options import chosen, data_argument, raw_csv, rows_out, speaking_options
from mercer.cli._stdin import opened
from mercer.cli._usage import UsageError
from mercer.cli._voice import Voice


@click.command()
@click.argument("model", type=click.Path())
@data_argument
@rows_out
@raw_csv
@chosen(
    "--missing",
    ("model", "rows"),
    "Missing cells: as the model does, or leave out rows that have some.",
)
@click.option(
    "--predict", is_flag=True, help="Write the group of each row too, as lda and kda see it."
)
@speaking_options
def command(
    voice: Voice,
    model: str,
    data: str,
    output: str,
    force: bool,
    raw_csv: bool,
    missing: str,
    predict: bool,
) -> None:
    r"""Write the coordinates of the rows of DATA on the axes of MODEL.

    DATA needs the columns of the fit, in any order; others are left aside. Its id column
    comes first where it has one, else `row`, counted from 1.

    \b
    Examples:
      mercer transform survey.mercer new.csv -o new_map.csv
      mercer transform cells.mercer more.parquet | head -3
      mercer transform lda.mercer new.csv --predict -o groups.csv
    """
    from mercer.cli._outputs import refuse_scores

    if output == "-" and voice.as_json:
        raise click.UsageError("--json and coordinates would both write to stdout: give -o.")
    path = refuse_scores(output, option="-o", inputs=[model, data], force=force)
    began = time.perf_counter()
    with opened(data) as table, voice.working():
        rows, columns = _run(
            voice, model, table, path, raw=raw_csv, missing=missing, predict=predict
        )
    seconds = time.perf_counter() - began
    voice.note(f"{rows:,} rows, {columns} coordinates, {seconds:.2f} s")
    if path is not None:
        document = {
            "model": model,
            "data": data,
            "rows": rows,
            "components": columns,
            "seconds": seconds,
            "outputs": {"scores": str(path)},
        }
        voice.result(str(path), document)


def _run(
    voice: Voice, model: str, data: str, path: Any, *, raw: bool, missing: str, predict: bool
) -> tuple[int, int]:
    """Write the coordinates; return how many rows and columns they have."""
    from mercer.cli._coordinates_table import Beside, WithGroups, coordinates, write_coordinates
    from mercer.cli._model_argument import axes_of, loaded, rows_for

    found = loaded(model, data, "transform")
    if predict and not hasattr(found, "predict"):
        raise UsageError(
            "the method knows no groups (--predict)",
            got=f"{model}: {type(found).__name__}",
            fix="leave it out; groups are of lda and kda",
        )
    made = rows_for(found, data, missing="rows" if missing == "rows" else None)
    voice.note(*made.said)
    names = axes_of(found)
    parts = coordinates(found, made.rows)
    beside: Any = Beside(made, taken=names)
    if predict:
        beside = WithGroups(beside, found, made.rows)
    return write_coordinates(path, parts, names, beside, raw=raw), len(names)
