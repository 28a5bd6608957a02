"""The command ``mercer plan``: the dry run of a fit."""

from typing import TYPE_CHECKING, Any

import click

from mercer.cli._options import (
    asked_from,
    data_argument,
    data_options,
    method_options,
    speaking_options,
    table_options,
)
from mercer.cli._stdin import opened
from mercer.cli._voice import Voice
from mercer.methods import COMMANDS

if TYPE_CHECKING:
    from mercer.cli.fitting._fit_stages import Fitting


@click.command()
@data_argument
@method_options
@data_options
@table_options
@speaking_options
def command(voice: Voice, data: str, **options: Any) -> None:
    r"""Show how a fit to DATA would be computed, and what it would cost.

    DATA is looked at once, as `mercer fit` would do; nothing is fitted. Ends with code
    5 where it would not fit in the memory allowed.

    \b
    Examples:
      mercer plan cells.parquet
      mercer plan cells.parquet -k 50 --memory 2GB
      mercer plan rings.csv --method kernel-pca --kernel rbf -k 5
    """
    from mercer.cli.fitting._fit_stages import ready, unplanned
    from mercer.cli.fitting._new_estimator import built_as

    asked = asked_from(options)
    with opened(data) as path, voice.working():
        # What it says is said here, and the plan is the result.
        make = built_as(options)
        have = ready(Voice(quiet=True), path, asked, options["method"], make)
    voice.note(*have.said, f"looked at {have.seen.rows:,} rows in {have.seconds['look']:.2g} s")
    text = str(have.plan or unplanned(have.model, have.made))
    text = "\n  ".join([text, *_not_priced(have)])
    voice.result(text, _document(data, have))


def _not_priced(have: "Fitting") -> list[str]:
    """Return what the seconds of the plan leave out."""
    remark = COMMANDS[have.method].remark
    lines = [remark] if remark else []
    if have.made.missing in ("em", "ppca", "fill"):
        lines.append("missing cells are filled first, in passes that are not priced here")
    return lines


def _document(data: str, have: "Fitting") -> dict[str, Any]:
    shape = dict(zip(("rows", "columns"), have.made.shape, strict=True))
    from mercer.cli.fitting._fit_stages import parameters_of

    return {
        "data": {
            "path": data,
            **shape,
            "left_out": have.seen.named("out"),
            "look_seconds": have.seconds["look"],
        },
        "method": have.method,
        "parameters": parameters_of(have.model),
        "said": have.said,
        "not_priced": _not_priced(have),
        **_foreseen(have.plan),
    }


def _foreseen(plan: Any) -> dict[str, Any]:
    """Return the plan as plain values; there is none for rows that are read once."""
    if plan is None:
        return {"problem": None, "chosen": None, "rejected": [], "time": ""}
    return {
        "problem": plan.problem,
        "chosen": plan.chosen,
        "bytes": plan.bytes,
        "seconds": plan.chosen.seconds,
        "rejected": [
            {"name": path.name, "bytes": path.bytes, "seconds": path.seconds, "reason": why}
            for path, why in plan.rejected
        ],
        "time": plan.remark,
    }
