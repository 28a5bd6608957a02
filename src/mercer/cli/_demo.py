"""The command ``mercer demo``: a whole analysis of a real data set."""

import csv
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from mercer import plots
from mercer.cli._datasets import Dataset, load
from mercer.cli._words import components_for, spectrum_table, what_was_found
from mercer.diagnostics import sampling_error
from mercer.errors import InputError
from mercer.estimators import PCA, progress

__all__ = ["run"]

_ROWS = 10


def run(name: str, output: Path) -> None:
    """Fit, print plan, spectrum and findings; write ``NAME.csv`` and ``NAME.svg``.

    Parameters
    ----------
    name : str
        A data set of :mod:`mercer.cli._datasets`.
    output : Path
        Folder to write into; made where missing.
    """
    data = load(name)
    folder = _folder(output)
    began = time.perf_counter()
    model = PCA(standardize=data.standardize)
    with progress():
        Z = np.asarray(model.fit_transform(data.X))
    seconds = time.perf_counter() - began
    click.echo(f"fitted in {seconds:.2f} s", err=True)

    n, p = data.X.shape
    click.echo(f"{data.name}: {data.about}")
    units = (
        "differ in unit: standardised" if data.standardize else "share one unit: only centred"
    )
    click.echo(f"{n} rows, {p} columns; the columns {units}\n")
    click.echo(f"{model.plan_}\n")
    values, lower, upper, ratio = _spectrum(model)
    _print(spectrum_table(values, lower, upper, sampling_error(Z), ratio, rows=_ROWS))
    click.echo()
    constant = [
        f for f, span in zip(data.features, np.ptp(data.X, axis=0), strict=True) if not span
    ]
    _print(
        what_was_found(
            model.explained_variance_ratio_,
            model.components_,
            data.features,
            rank=model.rank_,
            groups=model.certificate_.groups,
            constant=constant,
        )
    )
    click.echo()
    for path in (_coordinates(folder, data, model, Z), _picture(folder, data, model, Z)):
        click.echo(str(path))


def _folder(output: Path) -> Path:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            "the output folder cannot be made", got=f"{output}: {error.strerror}", fix="pass -o"
        ) from error
    return output


def _print(lines: list[str]) -> None:
    for line in lines:
        click.echo(line)


def _spectrum(model: PCA) -> tuple[Any, Any, Any, Any]:
    certificate = model.certificate_
    return (
        model.explained_variance_,
        certificate.lower,
        certificate.upper,
        model.explained_variance_ratio_,
    )


def _coordinates(folder: Path, data: Dataset, model: PCA, Z: Any) -> Path:
    """Write the rows on the components that carry 90 %, and on two at least."""
    need = components_for(model.explained_variance_ratio_, 0.9) or Z.shape[1]
    kept = min(max(need, 2), Z.shape[1])
    path = folder / f"{data.name}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["row", "label", *(f"PC{i + 1}" for i in range(kept))])
        for i, (label, z) in enumerate(zip(data.labels, Z[:, :kept], strict=True)):
            table.writerow([i, label, *(repr(float(v)) for v in z)])
    return path


def _picture(folder: Path, data: Dataset, model: PCA, Z: Any) -> Path:
    values, lower, upper, ratio = _spectrum(model)
    panels = [
        plots.scree(values, lower, upper, ratio),
        plots.scores(Z, data.labels, ratio=ratio),
        plots.loadings(model.components_, data.features),
    ]
    n, p = data.X.shape
    scaled = "standardised" if data.standardize else "centred"
    note = f"{data.about}; PCA of {n} x {p} {scaled} numbers"
    path = folder / f"{data.name}.svg"
    path.write_text(plots.figure(panels, title=data.name, note=note), encoding="utf-8")
    return path
