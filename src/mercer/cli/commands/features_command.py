"""The command ``mercer features``: a table whose products are a kernel, from a table."""

import dataclasses
import time as clock
from pathlib import Path
from typing import Any

import click

from mercer.cli._options import (
    asked_from,
    chosen,
    data_argument,
    data_options,
    raw_csv,
    rows_out,
    speaking_options,
)
from mercer.cli._stdin import opened
from mercer.cli._voice import Voice

_LOOKED_AT = 1e9  # bytes of features of the rows among which landmarks are chosen
_CLASSES = {"landmarks": "LandmarkFeatures", "random": "RandomFeatures"}


@click.command()
@data_argument
@rows_out
@click.option("--model", metavar="MODEL", help="Write the map: NAME.mercer.")
@chosen(
    "--by",
    tuple(_CLASSES),
    "Rows chosen among those of the table, with a bound; or random waves, without one.",
)
@click.option(
    "-m",
    "--features",
    "count",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Columns to make, at most.",
)
@click.option("--kernel", default="rbf", show_default=True, metavar="KERNEL", help="Which.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default="0",
    help="Of random draws.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Others: sampler and tol of landmarks, orthogonal of random features.",
)
@raw_csv
@data_options
@speaking_options
def command(
    voice: Voice,
    data: str,
    output: str,
    force: bool,
    model: str | None,
    by: str,
    count: int,
    kernel: str,
    seed: int,
    settings: tuple[str, ...],
    raw_csv: bool,
    **options: Any,
) -> None:
    r"""Write features of the rows of DATA whose products are the kernel, F F' ~ K.

    Any linear method on them sees what the kernel sees. The map is kept with --model, for
    mercer transform MODEL NEW.

    \b
    Examples:
      mercer features rings.csv -m 50 -o rings_features.parquet
      mercer features cells.parquet -m 500 --model map.mercer -o f.npy
      mercer features rings.csv --by random -m 1000 | head -3
    """
    import mercer
    from mercer.cli._outputs import refuse_model, refuse_scores, refuse_twins

    if output == "-" and voice.as_json:
        raise click.UsageError("--json and features would both write to stdout: give -o.")
    path = refuse_scores(output, option="-o", inputs=[data], force=force)
    kept = None if model is None else refuse_model(model, inputs=[data], force=force)
    refuse_twins({"-o": path, "--model": kept})
    made = _built(by, count, kernel, seed, settings)
    began = clock.perf_counter()
    with opened(data) as table, voice.working():
        document = _run(voice, table, asked_from(options), made, path, raw=raw_csv)
        if kept is not None:
            made.notes_ = document.pop("notes") | {"data": {"file": Path(data).name}}
            mercer.save(made, kept)
    document.pop("notes", None)
    document |= {"data": data, "by": by, "seconds": clock.perf_counter() - began}
    document["outputs"] = {
        "features": None if path is None else str(path),
        "model": None if kept is None else str(kept),
    }
    voice.note(document["said"], f"{document['seconds']:.2f} s")
    written = [str(one) for one in (path, kept) if one is not None]
    if path is not None:
        voice.result("\n".join(written), document)


def _built(by: str, count: int, kernel: str, seed: int, settings: tuple[str, ...]) -> Any:
    """Return the map that is asked for; what it does not take is wrong usage."""
    from mercer.cli.fitting._new_estimator import built_of
    from mercer.methods import METHODS

    width = "n_landmarks" if by == "landmarks" else "n_features"
    given = {width: count, "kernel": kernel, "random_state": seed}
    return built_of(f"features --by {by}", METHODS[_CLASSES[by]].load(), given, settings)


def _run(
    voice: Voice, data: str, asked: Any, model: Any, path: Path | None, *, raw: bool
) -> dict[str, Any]:
    """Fit the map and write the features; return what is said of them."""
    from mercer.analysis import assumptions
    from mercer.cli._coordinates_table import Beside, coordinates, write_coordinates
    from mercer.cli._model_argument import axes_of
    from mercer.cli._voice import plain
    from mercer.tables import look, prepared

    seen = look(data, dataclasses.replace(asked, table="numbers"))
    made = prepared(seen, fills=(), scales="table")
    said = assumptions(seen, made)
    voice.note(*said)
    looked = _fitted(model, made)
    names = axes_of(model)
    beside = Beside(made, made.color, taken=names)
    rows = write_coordinates(path, coordinates(model, made.rows), names, beside, raw=raw)
    return {
        "rows": rows,
        "features": len(names),
        "kernel": str(model.kernel_),
        "said": f"{rows:,} rows, {len(names)} features, {model.kernel_}: "
        + _left(model, looked, rows),
        "residual_share": _share(model),
        "assumptions": list(said),
        "notes": plain({"recipe": made.recipe.plain(), "said": said}),
    }


def _fitted(model: Any, made: Any) -> int:
    """Fit the map to all rows, or to some, evenly spread; return to how many."""
    import numpy as np

    from mercer.cli.fitting._row_judgement import some_rows

    n = made.shape[0]
    most = max(1000, int(_LOOKED_AT / (24 * model.get_params().get("n_landmarks", 100))))
    some = some_rows(made.rows, -(-n // most))
    if isinstance(some, np.ndarray):
        import polars as pl

        some = pl.from_numpy(some, schema=list(made.recipe.names))
    given = {}
    if made.weights is not None and hasattr(model, "orthogonal"):
        given["sample_weight"] = np.asarray(made.weights)[:: -(-n // most)]
    model.fit(some, **given)
    return int(some.shape[0])


def _share(model: Any) -> float | None:
    """Return the share of Σk(x, x) that landmarks leave; random features have no bound."""
    if not hasattr(model, "residual_"):
        return None
    from mercer.arrays import Array

    held: Array = (model.factor_**2).sum()
    return float(model.residual_trace_ / (model.residual_trace_ + held))


def _left(model: Any, looked: int, rows: int) -> str:
    """Return how near the products are to the kernel, in words."""
    share = _share(model)
    if share is None:
        return "products miss the kernel by about 1/sqrt(features); nothing bounds it"
    among = "" if looked == rows else f" (of {looked:,} rows, evenly spread)"
    return f"{100 * share:.2g} % of the sum of k(x, x) is left over{among}"
