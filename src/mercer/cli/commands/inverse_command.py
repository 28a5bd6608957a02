"""The command ``mercer inverse``: rows from coordinates."""

import re
import time
from collections.abc import Iterator
from typing import Any

import click

from mercer.cli._options import rows_out, speaking_options
from mercer.cli._outputs import NAME, ROW
from mercer.cli._stdin import opened
from mercer.cli._voice import Voice

_BLOCK = 1 << 14  # rows that are made in one go


@click.command()
@click.argument("model", type=click.Path())
@click.argument("scores", type=click.Path())
@rows_out
@speaking_options
def command(voice: Voice, model: str, scores: str, output: str, force: bool) -> None:
    r"""Write the rows that have the coordinates of SCORES, in the columns of the fit.

    SCORES has the columns PC1, PC2, … of MODEL, as `mercer transform` writes them; its
    other columns are left aside. Dates come back as days since 1970, categories as the
    numbers between 0 and 1 that stand for them.

    \b
    Examples:
      mercer inverse survey.mercer map.csv -o rebuilt.csv
      mercer transform m.mercer new.csv | mercer inverse m.mercer - | head -3
    """
    from mercer.cli._outputs import refuse_scores

    if output == "-" and voice.as_json:
        raise click.UsageError("--json and rows would both write to stdout: give -o.")
    path = refuse_scores(output, option="-o", inputs=[model, scores], force=force)
    began = time.perf_counter()
    with opened(scores) as table, voice.working():
        rows, columns = _run(voice, model, table, path)
    seconds = time.perf_counter() - began
    voice.note(f"{rows:,} rows, {columns} columns, {seconds:.2f} s")
    if path is not None:
        document = {
            "model": model,
            "scores": scores,
            "rows": rows,
            "columns": columns,
            "seconds": seconds,
            "outputs": {"rows": str(path)},
        }
        voice.result(str(path), document)


def _run(voice: Voice, model: str, scores: str, path: Any) -> tuple[int, int]:
    from mercer.cli._coordinates_table import Beside, write_coordinates
    from mercer.cli._model_argument import axes_of, loaded, recipe_of

    found = loaded(model, scores, "inverse")
    recipe = recipe_of(found)
    if recipe.dates:
        voice.note(f"{', '.join(recipe.dates)}: written as days since 1970")
    if recipe.levels:
        voice.note(f"{', '.join(recipe.levels)}: written as numbers, one per category")
    made = _opened(scores, axes_of(found), recipe)
    names = list(recipe.names)
    beside = Beside(made, taken=names)
    rows = write_coordinates(path, _rows(found, made.rows), names, beside, raw=False)
    return rows, len(names)


def _opened(scores: str, axes: list[str], recipe: Any) -> Any:
    """Return the coordinates of a file, its columns checked."""
    from pathlib import Path

    from mercer.errors import InputError
    from mercer.sources import schema_of
    from mercer.tables import Recipe, prepared_again

    if not axes:
        raise InputError(
            "the model has no axes: no component was beyond noise",
            got="a model of 0 components",
            fix="fit it with -k 2 or another number",
        )
    there = list(schema_of(scores))
    bare = [str(i) for i in range(len(there))] == there  # an array has no names
    kinds = {*axes, *(name for name in there if re.fullmatch(r"PC\d+", name))}
    found = there if bare else [name for name in there if name in kinds]
    if len(found) != len(axes) or not (bare or set(found) == set(axes)):
        raise InputError(
            f"the model has the coordinates {axes[0]} to {axes[-1]}",
            got=f"{Path(scores).name}: "
            + (f"{len(there)} columns" if bare else _listed(found)),
            fix="pass what mercer transform wrote with this model",
        )
    columns = tuple(there if bare else axes)
    names = [name for name in (recipe.id, NAME, ROW) if name in there and not bare]
    return prepared_again(scores, Recipe(columns, columns, names[0] if names else None))


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return shown or "no column is called PC1, PC2, ..."


def _rows(model: Any, coordinates: Any) -> Iterator[Any]:
    """Yield rows from coordinates, block by block."""
    if hasattr(coordinates, "blocks"):
        blocks = coordinates.blocks(_BLOCK)
    else:
        whole = coordinates.to_numpy()
        blocks = (whole[at : at + _BLOCK] for at in range(0, len(whole), _BLOCK))
    for block in blocks:
        yield model.inverse_transform(block)
