"""The command ``mercer inverse``: rows from coordinates."""

import time
from collections.abc import Iterator
from typing import Any

import click

from mercer.cli._options import speaking_options
from mercer.cli._stdin import opened
from mercer.cli._voice import Voice


@click.command()
@click.argument("model", type=click.Path())
@click.argument("scores", type=click.Path())
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    help=".parquet, .csv, .tsv, .npy, or - for CSV on stdout (the default).",
)
@click.option("--force", is_flag=True, help="Replace the output if it is there already.")
@speaking_options
def command(voice: Voice, model: str, scores: str, output: str, force: bool) -> None:
    r"""Write the rows that have the coordinates of SCORES, in the columns of the fit.

    SCORES has the columns PC1, PC2, … of MODEL, as `mercer transform` writes them; its
    other columns are left aside. Dates come back as days since 1970, categories as the
    numbers between 0 and 1 that stand for them.

    \b
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
    from mercer.cli._beside import Beside
    from mercer.cli._coordinates import write_coordinates
    from mercer.cli._models import axes_of, loaded, recipe_of

    found = loaded(model, scores, "inverse")
    recipe = recipe_of(found)
    made = [*recipe.dates, *recipe.levels]
    if made:
        voice.note(f"stay as numbers: {', '.join(made)}")
    source = _opened(scores, axes_of(found))
    beside = Beside(scores, taken=recipe.names)
    names = list(recipe.names)
    return write_coordinates(path, _rows(found, source), names, beside, raw=False), len(names)


def _opened(scores: str, names: list[str]) -> Any:
    """Return the coordinates of a file, its columns checked."""
    import warnings
    from pathlib import Path

    from mercer.errors import DataWarning, InputError
    from mercer.sources import scan

    path, k = Path(scores), len(names)
    if not k:
        raise InputError(
            "the model has no axes: no component was beyond noise",
            got="n_components_ = 0",
            fix="fit it with -k 2 or another number",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        whole = scan(path)
    there = getattr(whole, "names", None)
    if there is None:
        if whole.shape[1] != k:
            raise InputError(
                f"the model has {k} coordinates",
                got=f"{path.name}: {whole.shape[1]} columns",
                fix="pass what mercer transform wrote with this model",
            )
        return whole
    axes = [name for name in there if name[:2] == "PC" and name[2:].isdigit()]
    if set(axes) != set(names):
        raise InputError(
            f"the model has the coordinates {names[0]} to {names[-1]}",
            got=f"{path.name}: {', '.join(axes) or 'none of them'}",
            fix="pass what mercer transform wrote with this model",
        )
    return scan(path, columns=names)


def _rows(model: Any, source: Any) -> Iterator[Any]:
    """Yield rows from coordinates, block by block."""
    blocks = source.blocks(1 << 14) if hasattr(source, "blocks") else iter([source.array])
    for block in blocks:
        yield model.inverse_transform(block)
