"""The command ``mercer plan``: the dry run of a fit."""

import time
from typing import Any

import click

from mercer.cli._built import adapted, built
from mercer.cli._known_methods import method_of
from mercer.cli._options import (
    asked_from,
    data_argument,
    data_options,
    method_options,
    speaking_options,
)
from mercer.cli._stdin import opened
from mercer.cli._voice import Voice


@click.command()
@data_argument
@method_options
@data_options
@speaking_options
def command(
    voice: Voice,
    data: str,
    method: str,
    components: str,
    settings: tuple[str, ...],
    **given: Any,
) -> None:
    r"""Show how a fit to DATA would be computed, and what it would cost.

    DATA is looked at once, as `mercer fit` would do; nothing is fitted. Ends with code
    5 where it would not fit in the memory allowed.

    \b
    Examples:
      mercer plan cells.parquet
      mercer plan cells.parquet -k 50 --memory 2GB
      mercer plan rings.csv --method kernel-pca --kernel 'rbf(lengthscale=2)' -k 5
    """
    asked = asked_from(given)
    model = built(method, components=components, settings=settings, **given)
    with opened(data) as path, voice.working():
        seen, ready, made, seconds = planned(path, asked, method, model)
    for line in ready.said:
        voice.note(line)
    voice.note(f"looked at {seen.rows:,} rows in {seconds:.2g} s")
    remark = method_of(method).remark
    text = f"{made}\n  {remark}" if remark else str(made)
    voice.result(text, _document(data, method, model, seen, ready, made, seconds))


def planned(path: str, asked: Any, method: str, model: Any) -> tuple[Any, Any, Any, float]:
    """Return what was seen, what was made of it, the plan, and the seconds of the look.

    Parameters
    ----------
    path : str
        A file.
    asked : Asked
        The user's word on its columns.
    method : str
        The name of the method.
    model : estimator
        Of that method; it is told what to do about units and missing cells.
    """
    from mercer.estimators import plan
    from mercer.tables import look, prepared

    began = time.perf_counter()
    seen = look(path, asked)
    seconds = time.perf_counter() - began
    ready = prepared(seen)
    adapted(method, model, ready)
    return seen, ready, plan(model, ready.rows, sample_weight=ready.weights), seconds


def _document(
    data: str, method: str, model: Any, seen: Any, ready: Any, made: Any, seconds: float
) -> dict[str, Any]:
    left = [column.name for column in seen.columns if column.role == "out"]
    return {
        "data": {
            "path": data,
            "rows": ready.shape[0],
            "columns": ready.shape[1],
            "left_out": left,
            "look_seconds": seconds,
        },
        "method": method,
        "parameters": {name: _shown(value) for name, value in model.get_params().items()},
        "said": ready.said,
        "problem": made.problem,
        "chosen": made.chosen,
        "bytes": made.bytes,
        "seconds": made.chosen.seconds,
        "rejected": [
            {"name": path.name, "bytes": path.bytes, "seconds": path.seconds, "reason": why}
            for path, why in made.rejected
        ],
        "remark": made.remark,
    }


def _shown(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)
