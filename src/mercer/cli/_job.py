"""The work of ``mercer fit``, from the checks of its outputs to the files written."""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import mercer
from mercer.cli import _findings, _fitted
from mercer.cli._beside import Beside, numbers_of
from mercer.cli._built import built
from mercer.cli._columns_out import (
    beside_columns,
    refuse_placeless,
    refuse_stdout,
    write_columns,
)
from mercer.cli._coordinates import fit_coordinates, write_coordinates
from mercer.cli._judged import Judged, findings, judged, related
from mercer.cli._models import axes_of
from mercer.cli._outputs import refuse_model, refuse_scores, refuse_twins
from mercer.cli._stdin import opened
from mercer.cli._voice import Voice, plain
from mercer.tables import Asked


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
    model = built(**options)
    if outputs["columns"] is not None:
        refuse_placeless(options["method"], model)
    with opened(data) as path:
        writes = wanted["scores"] is not None
        have = _fitted.ready(voice, path, asked, options["method"], model, writes=writes)
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


def _done(voice: Voice, have: _fitted.Ready, checkpoint: str | None) -> _fitted.Fitted:
    try:
        return _fitted.fitted(voice, have, checkpoint)
    except KeyboardInterrupt:
        if checkpoint and Path(checkpoint).exists():
            voice.note(f"kept in {checkpoint}: the same command goes on from there")
        raise


def _write(
    done: _fitted.Fitted,
    looked: Judged,
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


def _notes(done: _fitted.Fitted, looked: Judged, data: str) -> dict[str, Any]:
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


def _write_scores(done: _fitted.Fitted, path: Path | None, raw: bool) -> None:
    names = axes_of(done.model)
    parts = fit_coordinates(done.model, done.made.rows)
    beside = _beside(done, done.made.color, taken=names)
    write_coordinates(path, parts, names, beside, raw=raw)


def _beside(done: _fitted.Fitted, others: Sequence[str], taken: Iterable[str] = ()) -> Beside:
    """Return the names of the rows and other columns."""
    kinds = {c.name: c.kind for c in done.seen.columns}
    numbers = [name for name in others if kinds.get(name) in ("number", "integer", "flag")]
    return Beside(done.made, others, numbers=numbers, taken=taken)


def _looked(done: _fitted.Fitted) -> tuple[Judged, dict[str, Any]]:
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
    names = ids or numbers_of(made, looked.at).tolist()
    found = findings(model, looked, done.names, names, groups)
    done.seconds["rows"] = time.perf_counter() - began
    return looked, {"ids": ids, "sup": sup, "health": found}
