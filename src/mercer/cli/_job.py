"""The work of ``mercer fit``, from the checks of its outputs to the files written."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

import mercer
from mercer.cli import _findings, _fitted
from mercer.cli._beside import Beside
from mercer.cli._coordinates import axis_names, coordinates, write_coordinates
from mercer.cli._judged import Judged, judged
from mercer.cli._outputs import refuse_model, refuse_scores, refuse_twins
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
        output, scores, checkpoint, force and raw_csv.
    """
    model_path, scores_path = _outputs(data, wanted)
    have = _fitted.ready(voice, data, asked, options)
    try:
        done = _fitted.fitted(voice, have, wanted["checkpoint"])
    except KeyboardInterrupt:
        if wanted["checkpoint"] and Path(wanted["checkpoint"]).exists():
            voice.note(f"kept in {wanted['checkpoint']}: the same command goes on from there")
        raise
    looked = judged(done.model, done.made)
    began = time.perf_counter()
    if model_path is not None:
        done.model.notes_ = _notes(done, looked)
        mercer.save(done.model, model_path)
    if wanted["scores"] is not None:
        _write_scores(done, scores_path, wanted["raw_csv"])
    done.seconds["write"] = time.perf_counter() - began
    _say(voice, done, looked, {"model": model_path, "scores": scores_path}, wanted["scores"])


def _outputs(data: str, wanted: Mapping[str, Any]) -> tuple[Path | None, Path | None]:
    rules = {"inputs": [data], "force": wanted["force"]}
    model = None if wanted["output"] is None else refuse_model(wanted["output"], **rules)
    scores = None
    if wanted["scores"] is not None:
        scores = refuse_scores(wanted["scores"], option="--scores", **rules)
    kept = wanted["checkpoint"]
    refuse_twins(
        {"-o": model, "--scores": scores, "--checkpoint": None if kept is None else Path(kept)}
    )
    return model, scores


def _notes(done: _fitted.Fitted, looked: Judged) -> dict[str, Any]:
    """Return what a model file keeps of the table it was fitted to: no rows, no folders."""
    found: dict[str, Any] = plain(
        {
            "recipe": done.made.recipe.plain(),
            "data": {
                "file": Path(done.seen.path).name,
                "rows": done.model.n_samples_,
                "columns": len(done.names),
            },
            "limits": looked.limits,
            "said": done.said,
        }
    )
    return found


def _write_scores(done: _fitted.Fitted, path: Path | None, raw: bool) -> None:
    names = axis_names(done.model.n_components_)
    parts = coordinates(done.model, done.made.rows)
    write_coordinates(path, parts, names, Beside(None, done.made.kept), raw=raw)


def _say(
    voice: Voice,
    done: _fitted.Fitted,
    looked: Judged,
    outputs: Mapping[str, Path | None],
    scores: str | None,
) -> None:
    text = _findings.lines(done, looked)
    text += [str(path) for path in outputs.values() if path is not None]
    if scores == "-":  # stdout is taken
        for line in text:
            click.echo(line, err=True)
        return
    said = _findings.document(done, looked)
    said |= {"seconds": done.seconds, "outputs": outputs}
    voice.result("\n".join(text), said)
