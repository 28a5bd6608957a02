"""Coordinates of columns and categories: the table that --columns-out writes."""

from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.cli._family_findings import column_names
from mercer.cli._fitted import Fitted
from mercer.cli._known_methods import page_of
from mercer.cli._names import axis_names
from mercer.cli._usage import UsageError
from mercer.diagnostics import loadings
from mercer.errors import InputError
from mercer.estimators._written import writer_of

_COLUMN = "column"


def refuse_stdout(path: str) -> None:
    """Refuse stdout, which is for the result or the rows."""
    if path == "-":
        raise UsageError(
            "coordinates of columns go to a file",
            got="--columns-out -",
            fix="name a file that ends in .csv, .tsv, .parquet or .npy",
        )


def refuse_placeless(method: str, model: Any) -> None:
    """Refuse --columns-out for methods whose axes are no mixtures of columns."""
    if page_of(model) in ("kernel", "manifold") or hasattr(model, "kernel"):
        raise InputError(
            "this method has no coordinates of columns (--columns-out)",
            got=f"--method {method}",
            fix="leave it out; rows go to --scores",
        )


def write_columns(done: Fitted, path: Path, raw: bool) -> None:
    """Write a row for each column of the analysis, or each category.

    Its name, its coordinates PC1, PC2, … and, where the method has them, its mass, its share
    of the inertia of every axis (contribution) and how well each axis shows it (cos2).
    Supplementary columns of counts come last, without mass and contribution.

    Parameters
    ----------
    done : Fitted
        The model and the table.
    path : Path
        The file.
    raw : bool
        Whether text that a spreadsheet would calculate stays as it is.
    """
    import polars as pl

    model = done.model
    found = places_of(model)
    assert found is not None  # `refuse_placeless` came first
    names = column_names(model, done.names)
    k = found.shape[1]
    cells = {axis: found[:, i] for i, axis in enumerate(axis_names(k))}
    if path.suffix.lower() != ".npy":
        cells |= _beside(model, k)
    for name, one in beside_columns(done).items():
        names = [*names, name]
        placed = dict(zip(axis_names(k), one["axes"], strict=True))
        cells = {key: np.append(part, placed.get(key, np.nan)) for key, part in cells.items()}
    table = np.column_stack([np.asarray(part, np.float64) for part in cells.values()])
    with writer_of(path, list(cells), raw=raw) as write:
        write(table, pl.DataFrame({_COLUMN: names}))


def places_of(model: Any) -> Array | None:
    """Return coordinates of the columns (J, k), or correlations with the axes, or None."""
    for name in ("column_coordinates_", "structure_", "loadings_"):
        found = getattr(model, name, None)
        if found is not None:
            return np.asarray(found, np.float64)
    if hasattr(model, "components_") and hasattr(model, "explained_variance_"):
        return np.asarray(loadings(model.components_, model.explained_variance_), np.float64)
    return None


def _beside(model: Any, k: int) -> dict[str, Array]:
    cells = dict[str, Array]()
    for name, called in (("column_masses_", "mass"), ("column_inertias_", "inertia")):
        if getattr(model, name, None) is not None:
            cells[called] = np.asarray(getattr(model, name))
    for name, called in (("column_contributions_", "contribution"), ("column_cos2_", "cos2")):
        found = getattr(model, name, None)
        if found is not None:
            cells |= {f"{called}_{i + 1}": np.asarray(found)[:, i] for i in range(k)}
    return cells


def beside_columns(done: Fitted) -> dict[str, dict[str, Any]]:
    """Return the places of supplementary columns of counts on the axes, by name."""
    from mercer.tables import supplementary

    if not done.made.sup or not hasattr(done.model, "supplementary_columns"):
        return {}
    found = supplementary(done.made)
    if not found.names:
        return {}
    places = np.asarray(done.model.supplementary_columns(found.numbers))
    return {
        name: {"kind": "place", "axes": [float(x) for x in row]}
        for name, row in zip(found.names, places, strict=True)
    }
