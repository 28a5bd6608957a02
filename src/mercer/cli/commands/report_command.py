"""The command ``mercer report``: fit a table, or take a model, and write the page."""

import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from mercer.cli._options import (
    asked_from,
    data_options,
    method_options,
    speaking_options,
    table_options,
)
from mercer.cli._stdin import opened, spare
from mercer.cli._voice import Voice
from mercer.cli.fitting._new_estimator import built
from mercer.errors import InputError
from mercer.methods import COMMANDS, method_of

_NAMED = 20_000  # rows whose names go into the page
_WORTH = 2.0  # seconds of a page of which there is a word


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="[MODEL] DATA")
@click.option(
    "-o", "--output", metavar="FILE", help="The page; default: DATA's name with .html."
)
@click.option("--title", metavar="WORDS", help="Title of the page.")
@click.option("--force", is_flag=True, help="Replace a page that is there already.")
@data_options
@table_options
@method_options
@speaking_options
def command(voice: Voice, files: tuple[str, ...], **options: Any) -> None:
    r"""Write one HTML page about a table: verdict, map, columns, rows, how it was computed.

    The page is one file. It needs no server and no network, and can be sent by mail.

    \b
    mercer report survey.csv
    mercer report survey.csv --color region -o survey.html
    mercer report survey.mercer survey.csv
    """
    from mercer.report import report

    wanted = {name: options.pop(name) for name in ("output", "title", "force")}
    if len(files) > 2:
        raise click.UsageError("a report takes one file, or a model and a file.")
    began = time.perf_counter()
    path = _target(files, wanted)
    with opened(files[-1]) as data:
        if len(files) == 2:
            model, made, given = _of_model(files[0], data, files)
        else:
            model, made, given = _of_table(voice, data, options, files)
        page = report(
            model,
            made.rows,
            title=wanted["title"] or _title(model, files[-1]),
            row_names=_row_names(made),
            colours={name: _values(*made.coded(name)) for name in made.color},
            y=made.y,
            data="made.rows",
            command=_command(),
            **given,
        )
    page.save(path)
    size = len(page.html) / 1e6
    voice.note(f"{size:.2f} MB in {time.perf_counter() - began:.1f} s")
    said = {"page": str(path), "bytes": len(page.html.encode()), "verdict": page.page.verdict}
    voice.result("\n".join([*page.page.verdict, "", str(path)]), said)


def _target(files: tuple[str, ...], wanted: dict[str, Any]) -> Path:
    """Return where the page goes; what stands there is not replaced without --force."""
    from mercer.report._html_report import refuse_page
    from mercer.sources import path_of

    name = Path(files[-1]).name.removesuffix(".gz")
    default = Path((Path(name).stem if name != "-" else "report") + ".html")
    path = default if wanted["output"] is None else path_of(wanted["output"])
    if path.exists() and not wanted["force"]:
        raise InputError(
            "the page is there already",
            got=str(path),
            fix="give another name with -o, or --force",
        )
    refuse_page(path, f"-o {path}")
    for file in files:
        spare(path, file, f"-o {path}")
    return path


def _of_table(
    voice: Voice, data: Any, options: dict[str, Any], files: tuple[str, ...]
) -> tuple[Any, Any, dict[str, Any]]:
    """Fit a table as `mercer fit` does; return the model, its rows, and what the page tells."""
    from mercer.cli.fitting import _fit_stages as _fitted
    from mercer.report import column_table

    asked = asked_from(options)
    options = _with_axes(options)
    have = _fitted.ready(voice, str(data), asked, options["method"], built(**options))
    foreseen = _foreseen(voice, have)
    done = _fitted.fitted(voice, have)
    pixels = done.made.pixels
    return (
        done.model,
        done.made,
        {
            "choice": _choice(done.model, done.made),
            "sample_weight": done.made.weights,
            "opening": python_rows(files[-1], done.seen.asked),
            "seconds": done.seconds,
            "said": done.said,
            "foreseen": foreseen,
            "columns": column_table(done.seen),
            "sup": _sup(done.made),
            "care": _care(done.seen),
            "grid": pixels and (pixels.side, pixels.places),
        },
    )


def _with_axes(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with two axes for a map, where nobody said how many."""
    source = click.get_current_context().get_parameter_source("components")
    typed = source is not None and source is not click.core.ParameterSource.DEFAULT
    if typed or COMMANDS[options["method"]].has_variances:
        return options
    return options | {"components": None}


def _foreseen(voice: Voice, have: Any) -> list[str]:
    """Say what the page takes beside the fit, and return the line; none for small tables."""
    from mercer.report import page_cost
    from mercer.sources import BlockSource

    if have.plan is None or hasattr(have.model, "kernel"):
        return []
    if not method_of(have.model).has_variances:
        return []
    cost = page_cost(
        have.made.shape,
        read_seconds=have.foreseen.get("rows", 0.0),
        colours=len(have.made.color),
        held=not isinstance(have.made.rows, BlockSource),
    )
    stages = {name: spent for name, spent in have.foreseen.items() if name != "rows"}
    whole = f"; {sum(stages.values()) + cost.seconds:.2g} s with the fit and all before it"
    if cost.seconds > _WORTH:
        voice.note(str(cost) + whole)
    return [str(cost)]


def _of_model(model: str, data: Any, files: tuple[str, ...]) -> tuple[Any, Any, dict[str, Any]]:
    """Return a model that was fitted before, the rows of a file, and what the page tells."""
    from mercer.cli._model_argument import loaded, rows_for

    found = loaded(model, str(data), "report")
    made = rows_for(found, data)
    return found, made, {"said": made.said, "opening": _again(files)}


def _title(model: Any, file: str) -> str:
    return f"{type(model).__name__} of {Path(file).name if file != '-' else 'a table'}"


def _row_names(made: Any) -> Any:
    """Return the names of the rows, or a way to those of few; else their numbers, from 1."""
    if made.shape[0] > _NAMED and made.row_names is None:
        if made.id is not None:
            return made.names_at
        return None if made.kept is None else lambda rows: _numbered(made, rows)
    labels = made.labels()
    if labels is None:
        return [f"row {row}" for row in made.numbers_at(np.arange(made.shape[0])).tolist()]
    return labels


def _numbered(made: Any, rows: Any) -> dict[int, str]:
    """Return some rows by their numbers in the file, from 1."""
    found = made.numbers_at(rows).tolist()
    return {int(row): f"row {number}" for row, number in zip(rows, found, strict=True)}


def _values(at: Any, levels: Any) -> Any:
    """Return a column as numbers where all cells are, and more than twelve; else as text.

    A missing cell is NaN among numbers and has a level of its own among text.
    """
    from mercer.report import MISSING, Levels
    from mercer.sources import NA

    lacks = np.array([text in NA for text in levels.tolist()], bool)
    try:
        numbers = np.array([float(text) for text in levels[~lacks].tolist()])
    except ValueError:
        numbers = np.empty(0)
    if len(np.unique(numbers[np.isfinite(numbers)])) > 12:
        whole = np.full(len(levels), np.nan)
        whole[~lacks] = numbers
        return whole[at]
    first = int(np.argmax(lacks)) if lacks.any() else 0
    place = np.where(lacks, first, np.arange(len(levels)))  # all that lack are one level
    return Levels(place[at], np.where(lacks, MISSING, levels))


def _sup(made: Any) -> dict[str, Any]:
    """Return the supplementary columns by name."""
    from mercer.tables import supplementary

    found = supplementary(made)
    return dict(zip(found.names, found.numbers.T, strict=True)) | {
        name: _values(*np.unique(labels, return_inverse=True)[::-1])
        for name, labels in found.labels.items()
    }


def _care(seen: Any) -> list[str]:
    """Return a line on columns that were analysed as numbers and may be codes."""
    codes = [c.name for c in seen.columns if c.role == "active" and "if it is a code" in c.why]
    if not codes:
        return []
    named = ", ".join(codes[:5]) + (f" and {len(codes) - 5} more" if len(codes) > 5 else "")
    if len(codes) == 1:
        return [f"{named} has few values; if it is a code, leave it out (--drop)"]
    return [f"{named} have few values; if they are codes, leave them out (--drop)"]


def python_rows(path: str, asked: Any) -> str:
    """Return the lines of Python that read the rows of a table as the command line does."""
    import dataclasses

    blank = type(asked)()
    given = {
        field.name: getattr(asked, field.name)
        for field in dataclasses.fields(asked)
        if getattr(asked, field.name) != getattr(blank, field.name)
    }
    words = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return (
        "from mercer.tables import Asked, look, prepared\n\n"
        f"made = prepared(look({path!r}, Asked({words})))\n"
    )


def _again(files: tuple[str, ...]) -> str:
    """Return the lines of Python that read a table as a saved model wants it."""
    return (
        "from mercer.tables import Recipe, prepared_again\n\n"
        f"before = mercer.load({files[0]!r})\n"
        f"made = prepared_again({files[-1]!r}, Recipe.of(before.notes_['recipe']))\n"
    )


def _choice(model: Any, made: Any) -> Any:
    """Return how many components by every rule, where the rows are complete and in memory."""
    import warnings

    from mercer.estimators import PCA
    from mercer.sources import BlockSource
    from mercer.studies import how_many

    if type(model) is not PCA or model.n_components != "auto" or made.weights is not None:
        return None
    if isinstance(made.rows, BlockSource) or made.missing != "raise":
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return how_many(made.rows, standardize=model.standardize)


def _command() -> str:
    import shlex
    import sys

    return shlex.join(["mercer", *sys.argv[1:]])
