"""The command ``mercer demo``: a whole analysis of a real data set."""

import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from mercer.cli._datasets import FILES, GROUPS, Dataset, known, load
from mercer.cli._options import AUTO, speaking_options
from mercer.cli._outputs import ROW, axis_names
from mercer.cli._voice import Voice
from mercer.cli.fitting._axis_lines import components_for, spectrum_table, what_was_found
from mercer.diagnostics import sampling_error
from mercer.errors import InputError
from mercer.estimators import PCA, progress
from mercer.estimators.walk._coordinate_files import writer_of
from mercer.studies import how_many

__all__ = ["command", "run"]

_ROWS = 10
_OWN = "mercer-demo"


@click.command()
@click.argument("name", default="digits", metavar="[NAME]")
@click.option(
    "-o",
    "--output",
    default=_OWN,
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder for the coordinates and the page.",
)
@click.option("--force", is_flag=True, help="Replace files that are there already.")
@speaking_options
def command(voice: Voice, name: str, output: Path, force: bool) -> None:
    r"""Analyse a real data set: digits, iris, wine, breast_cancer or penguins.

    Prints the plan, the spectrum with its error bounds and what was found; writes the
    coordinates (CSV) and the report (HTML), which any browser opens.

    \b
    Examples:
      mercer demo
      mercer demo penguins -o pictures
    """
    known(name)
    # A folder that only the demo fills is its own.
    if not force and output != Path(_OWN):
        for kind in ("csv", "html"):
            _refuse_there(output / f"{name}.{kind}")
    if name in FILES:
        _run_file(voice, name, _folder(output))
    else:
        run(name, output, voice)


def run(name: str, output: Path, voice: Voice | None = None) -> None:
    """Fit, print plan, spectrum and findings; write ``NAME.csv`` and ``NAME.html``.

    Parameters
    ----------
    name : str
        A data set of :mod:`mercer.cli._datasets`.
    output : Path
        Folder to write into; made where missing.
    voice : Voice or None
        Who speaks.
    """
    voice = voice or Voice()
    data = load(name)
    folder = _folder(output)
    began = time.perf_counter()
    model = PCA(standardize=data.standardize)
    with progress():
        Z = np.asarray(model.fit_transform(data.table))
    seconds = time.perf_counter() - began
    voice.note(f"fitted in {seconds:.2f} s")
    choice = how_many(data.X, standardize=data.standardize)
    numbers = [f"row {i + 1}" for i in range(len(Z))]
    given = {"seconds": {"fit": seconds}, "choice": choice, "row_names": numbers}
    paths = (
        _coordinates(folder, data, model, Z),
        _page(folder, data, model, data.table, command=f"mercer demo {name}", **given),
    )
    lines = [*_lines(data, model, Z), "", *map(str, paths)]
    voice.result("\n".join(lines), _document(name, model, seconds, paths))


def _lines(data: Dataset, model: PCA, Z: Any) -> list[str]:
    n, p = data.X.shape
    units = (
        "differ in unit: standardised" if data.standardize else "share one unit: only centred"
    )
    ratio, certificate = model.explained_variance_ratio_, model.certificate_
    spectrum = model.explained_variance_, certificate.lower, certificate.upper
    constant = [
        f for f, span in zip(data.features, np.ptp(data.X, axis=0), strict=True) if not span
    ]
    found = what_was_found(
        ratio,
        model.components_,
        data.features,
        rank=model.rank_,
        groups=certificate.groups,
        constant=constant,
    )
    return [
        f"{data.name}: {data.about}",
        f"{n} rows, {p} columns; the columns {units}\n",
        f"{model.plan_}\n",
        *spectrum_table(*spectrum, sampling_error(Z), ratio, rows=_ROWS),
        "",
        *found,
    ]


def _document(name: str, model: PCA, seconds: float, paths: Any) -> dict[str, Any]:
    return {
        "name": name,
        "variance": model.explained_variance_,
        "ratio": model.explained_variance_ratio_,
        "lower": model.certificate_.lower,
        "upper": model.certificate_.upper,
        "seconds": seconds,
        "outputs": dict(zip(("scores", "page"), map(str, paths), strict=True)),
    }


def _run_file(voice: Voice, name: str, folder: Path) -> None:
    """Analyse a table with text and missing cells, as ``mercer fit`` does."""
    from mercer.analysis import page_of_table
    from mercer.cli.fitting import _fit_findings as _findings
    from mercer.cli.fitting._fit_stages import fitted, ready
    from mercer.cli.fitting._new_estimator import built_as
    from mercer.cli.fitting._row_judgement import judged
    from mercer.tables import Asked

    about, file = FILES[name]
    make = built_as({"method": AUTO, "components": "all"})
    done = fitted(voice, ready(voice, str(file), Asked(), AUTO, make))
    model = done.model
    looked = judged(model, done.made)
    labels = np.asarray(done.made.labels("species"))
    data = Dataset(
        name, about, np.empty((0, 0)), labels, list(done.names), bool(done.made.standardize)
    )
    page = page_of_table(
        _chosen(model, done.made),
        done.seen,
        done.made,
        title=f"{name}: {about}",
        command=f"mercer demo {name}",
        seconds=done.seconds,
        said=done.said,
    )
    paths = (
        _coordinates(folder, data, model, looked.scores, done.made.numbers_at(looked.at)),
        page.save(folder / f"{name}.html"),
    )
    # What `mercer report` says of the file, then every component.
    text = [*page.page.verdict, "", *_findings.lines(done, looked), "", *map(str, paths)]
    document = _findings.document(done, looked)
    document |= _document(name, model, done.seconds["fit"], paths)
    voice.result("\n".join(text), document)


def _refuse_there(path: Path) -> None:
    if path.exists():
        raise InputError(
            "the file is there already", got=str(path), fix="add --force to replace it"
        )


def _folder(output: Path) -> Path:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            "the output folder cannot be made", got=f"{output}: {error.strerror}", fix="pass -o"
        ) from error
    return output


def _coordinates(folder: Path, data: Dataset, model: PCA, Z: Any, rows: Any = None) -> Path:
    """Write the rows on the components that carry 90 %, and on two at least."""
    import polars as pl

    need = components_for(model.explained_variance_ratio_, 0.9) or Z.shape[1]
    kept = min(max(need, 2), Z.shape[1])
    path = folder / f"{data.name}.csv"
    numbers = np.arange(1, len(Z) + 1) if rows is None else rows
    with writer_of(path, axis_names(kept)) as write:
        write(Z[:, :kept], pl.DataFrame({ROW: numbers, "label": data.labels.tolist()}))
    return path


def _chosen(model: PCA, made: Any) -> PCA:
    """Return the same fit with as many components as carry more than noise."""
    from sklearn.base import clone

    found: PCA = clone(model).set_params(n_components="auto")
    found.fit(made.rows, sample_weight=made.weights)
    return found


def _page(folder: Path, known_as: Dataset, model: PCA, rows: Any, **given: Any) -> Path:
    """Write the report, with the groups as colours."""
    from mercer.report import report

    made = report(
        model,
        rows,
        title=f"{known_as.name}: {known_as.about}",
        colours={GROUPS[known_as.name]: known_as.labels},
        **given,
    )
    return made.save(folder / f"{known_as.name}.html")
