"""The work of ``mercer fit``, from the checks of its outputs to the files written.

Coordinates of columns and categories: the table that --columns-out writes.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer.arrays import Array
from mercer.cli._coordinates_table import (
    Beside,
    WithGroups,
    fit_coordinates,
    write_coordinates,
)
from mercer.cli._model_argument import axes_of
from mercer.cli._outputs import axis_names, refuse_model, refuse_scores, refuse_twins
from mercer.cli._stdin import opened, spare
from mercer.cli._usage import UsageError
from mercer.cli._voice import Voice, plain
from mercer.cli.fitting import _fit_findings as _findings
from mercer.cli.fitting import _fit_stages as _fitted
from mercer.cli.fitting._family_findings import column_names
from mercer.cli.fitting._fit_stages import Fitting
from mercer.cli.fitting._new_estimator import built
from mercer.cli.fitting._row_judgement import RowJudgement, findings, judged, related
from mercer.diagnostics import loadings
from mercer.errors import InputError
from mercer.estimators.walk._coordinate_files import writer_of
from mercer.methods import method_of
from mercer.sources import path_of
from mercer.tables import Asked

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
    if method_of(model).page in ("kernel", "manifold") or hasattr(model, "kernel"):
        raise InputError(
            "this method has no coordinates of columns (--columns-out)",
            got=f"--method {method}",
            fix="leave it out; rows go to --scores",
        )


def write_columns(done: Fitting, path: Path, raw: bool) -> None:
    """Write a row for each column of the analysis, or each category.

    Its name, its coordinates PC1, PC2, … and, where the method has them, its mass, its share
    of the inertia of every axis (contribution) and how well each axis shows it (cos2).
    Supplementary columns of counts come last, without mass and contribution.

    Parameters
    ----------
    done : Fitting
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
        cells |= _columns_beside(model, k)
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


def _columns_beside(model: Any, k: int) -> dict[str, Array]:
    cells = dict[str, Array]()
    for name, called in (("column_masses_", "mass"), ("column_inertias_", "inertia")):
        if getattr(model, name, None) is not None:
            cells[called] = np.asarray(getattr(model, name))
    for name, called in (("column_contributions_", "contribution"), ("column_cos2_", "cos2")):
        found = getattr(model, name, None)
        if found is not None:
            cells |= {f"{called}_{i + 1}": np.asarray(found)[:, i] for i in range(k)}
    return cells


def beside_columns(done: Fitting) -> dict[str, dict[str, Any]]:
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


def run(
    voice: Voice,
    data: str,
    asked: Asked,
    options: Mapping[str, Any],
    wanted: Mapping[str, Any],
) -> None:
    """Fit, say and write.

    Parameters
    ----------
    voice : Voice
        Who speaks.
    data : str
        The file, as typed.
    asked : Asked
        What the user says of its columns.
    options : mapping
        The method options.
    wanted : mapping
        output, scores, columns_out, checkpoint, force and raw_csv.
    """
    outputs = _outputs(data, wanted)

    def make(method: str) -> Any:
        model = built(**(dict(options) | {"method": method}))
        if outputs["columns"] is not None:
            refuse_placeless(method, model)
        return model

    with opened(data) as path:
        writes = wanted["scores"] is not None
        have = _fitted.ready(voice, path, asked, options["method"], make, writes=writes)
        done = _done(voice, have, wanted["checkpoint"])
        with voice.working():
            looked, beside = _looked(done)
            _write(done, looked, data, outputs, wanted)
    text = _findings.lines(done, looked, **beside)
    text += [str(path) for path in outputs.values() if path is not None]
    if wanted["scores"] == "-":  # stdout is taken
        voice.note("\n".join(text))
        return
    said = _findings.document(done, looked, **beside)
    said["data"]["path"] = data
    voice.result("\n".join(text), said | {"seconds": done.seconds, "outputs": outputs})


def _done(voice: Voice, have: Fitting, checkpoint: str | None) -> Fitting:
    try:
        return _fitted.fitted(voice, have, checkpoint)
    except KeyboardInterrupt:
        if checkpoint and Path(checkpoint).exists():
            voice.note(f"kept in {checkpoint}: the same command goes on from there")
        raise


def _write(
    done: Fitting,
    looked: RowJudgement,
    data: str,
    outputs: Mapping[str, Path | None],
    wanted: Mapping[str, Any],
) -> None:
    """Write the model and the coordinates where they were asked for."""
    began = time.perf_counter()
    if outputs["model"] is not None:
        done.model.notes_ = _notes(done, looked, data)
        mercer.save(done.model, outputs["model"])
    if wanted["scores"] is not None:
        _write_scores(done, outputs["scores"], wanted["raw_csv"])
    if outputs["columns"] is not None:
        write_columns(done, outputs["columns"], wanted["raw_csv"])
    done.seconds["write"] = time.perf_counter() - began


def _outputs(data: str, wanted: Mapping[str, Any]) -> dict[str, Path | None]:
    rules = {"inputs": [data], "force": wanted["force"]}
    model = None if wanted["output"] is None else refuse_model(wanted["output"], **rules)
    scores = None
    if wanted["scores"] is not None:
        scores = refuse_scores(wanted["scores"], option="--scores", **rules)
    kept, columns = wanted["checkpoint"], None
    if kept is not None:
        spare(path_of(kept), data, f"--checkpoint {kept}")
    if wanted["columns_out"] is not None:
        refuse_stdout(wanted["columns_out"])
        columns = refuse_scores(wanted["columns_out"], option="--columns-out", **rules)
    refuse_twins(
        {
            "-o": model,
            "--scores": scores,
            "--columns-out": columns,
            "--checkpoint": None if kept is None else Path(kept),
        }
    )
    return {"model": model, "scores": scores, "columns": columns}


def _notes(done: Fitting, looked: RowJudgement, data: str) -> dict[str, Any]:
    """Return what a model file keeps of the table it was fitted to: no rows, no folders."""
    found: dict[str, Any] = plain(
        {
            "recipe": done.made.recipe.plain(),
            "data": {
                "file": Path(data).name,
                "rows": done.model.n_samples_,
                "columns": len(done.names),
            },
            "limits": looked.limits,
            "said": done.said,
        }
    )
    return found


def _write_scores(done: Fitting, path: Path | None, raw: bool) -> None:
    names = axes_of(done.model)
    parts = fit_coordinates(done.model, done.made.rows)
    beside: Any = _beside(done, done.made.color, taken=names)
    if hasattr(done.model, "labels_"):
        beside = WithGroups(beside, done.model)
    write_coordinates(path, parts, names, beside, raw=raw)


def _beside(done: Fitting, others: Sequence[str], taken: Iterable[str] = ()) -> Beside:
    """Return the names of the rows and other columns."""
    kinds = {c.name: c.kind for c in done.seen.columns}
    numbers = [name for name in others if kinds.get(name) in ("number", "integer", "flag")]
    return Beside(done.made, others, numbers=numbers, taken=taken)


def _looked(done: Fitting) -> tuple[RowJudgement, dict[str, Any]]:
    """Return rows that were looked at after the fit, and what other columns say of them."""
    began = time.perf_counter()
    model, made = done.model, done.made
    looked = judged(model, made)
    beside = _beside(done, [*made.sup, *made.color[:1]])
    frame = beside.pick(looked.at) if beside.names or beside.id else None
    ids = groups = None
    sup: dict[str, Any] = {}
    if frame is not None:
        ids = None if beside.id is None else frame[beside.id].to_list()
        named = dict(beside.called([*made.sup, *made.color[:1]]))
        sup = {name: related(frame[named[name]], looked.scores) for name in made.sup}
        sup |= beside_columns(done)
        if made.color:
            groups = frame[named[made.color[0]]].fill_null("").to_list()
    names = ids or made.numbers_at(looked.at).tolist()
    found = findings(model, looked, done.names, names, groups)
    done.seconds["rows"] = time.perf_counter() - began
    return looked, {"ids": ids, "sup": sup, "health": found}
