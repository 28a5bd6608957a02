"""The command ``mercer report``: fit a table, or take a model, and write the page."""

import time
from pathlib import Path
from typing import Any

import click

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
    from mercer.analysis import row_names, values_of
    from mercer.report import report

    wanted = {name: options.pop(name) for name in ("output", "title", "force")}
    if len(files) > 2:
        raise click.UsageError("a report takes one file, or a model and a file.")
    began = time.perf_counter()
    path = _target(files, wanted)
    with opened(files[-1]) as data:
        if len(files) == 2:
            model, made, given = _of_model(files[0], data, files)
            title = wanted["title"] or _title(model, files[-1])
            given |= {"title": title, "row_names": row_names(made), "command": _command()}
            given["colours"] = {name: values_of(*made.coded(name)) for name in made.color}
            page = report(model, made.rows, y=made.y, data="made.rows", **given)
            document = dict[str, Any]()
        else:
            page, document = _of_table(voice, data, options, files, wanted["title"])
    page.save(path)
    size = len(page.html) / 1e6
    voice.note(f"{size:.2f} MB in {time.perf_counter() - began:.1f} s")
    said = {"page": str(path), "bytes": len(page.html.encode()), "verdict": page.page.verdict}
    voice.result("\n".join([*page.page.verdict, "", str(path)]), said | document)


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
    voice: Voice, data: Any, options: dict[str, Any], files: tuple[str, ...], title: str | None
) -> tuple[Any, dict[str, Any]]:
    """Fit a table as `mercer fit` does; return its page, and what was done as plain data."""
    from mercer.analysis import page_of_table, python_rows
    from mercer.cli.fitting import _fit_stages as _fitted

    asked = asked_from(options)

    def make(method: str) -> Any:
        return built(**_with_axes(options | {"method": method}))

    have = _fitted.ready(voice, str(data), asked, options["method"], make)
    foreseen = _foreseen(voice, have)
    done = _fitted.fitted(voice, have)
    page = page_of_table(
        done.model,
        done.seen,
        done.made,
        title=title or _title(done.model, files[-1]),
        opening=python_rows(files[-1], done.seen.asked),
        seconds=done.seconds,
        said=done.said,
        foreseen=foreseen,
        command=_command(),
    )
    return page, {"analysis": _analysed(done)}


def _analysed(done: Any) -> dict[str, Any]:
    """Return what was analysed, and how, as plain data."""
    seen, made = done.seen, done.made
    judged, cross = seen.judged, made.recipe.cross
    left = {column.name: column.why for column in seen.columns if column.role == "out"}
    return {
        "method": done.method,
        "kind": None if judged is None else judged.kind,
        "rows": made.shape[0],
        "columns": list(cross[:2] if cross else made.recipe.columns),
        "names": made.id,
        "weights": cross[2] if len(cross) > 2 else next(iter(seen.named("weights")), None),
        "scaled": bool(made.standardize or made.recipe.scales),
        "filled": made.n_missing,
        "colours": list(made.color),
        "left_out": left,
        "said": done.said,
    }


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


def _again(files: tuple[str, ...]) -> str:
    """Return the lines of Python that read a table as a saved model wants it."""
    return (
        "from mercer.tables import Recipe, prepared_again\n\n"
        f"before = mercer.load({files[0]!r})\n"
        f"made = prepared_again({files[-1]!r}, Recipe.of(before.notes_['recipe']))\n"
    )


def _command() -> str:
    import shlex
    import sys

    return shlex.join(["mercer", *sys.argv[1:]])
