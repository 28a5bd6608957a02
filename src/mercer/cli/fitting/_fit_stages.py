"""From a file to a fitted model: look, say what is assumed, plan, fit."""

import dataclasses
import inspect
import time
import warnings
from collections.abc import Callable
from typing import Any, final

from mercer.analysis import assumptions, ready_rows
from mercer.cli._options import AUTO, asked_for
from mercer.cli._voice import Voice
from mercer.errors import DataWarning, InputError
from mercer.estimators import plan
from mercer.methods import COMMANDS, method_of
from mercer.selection import choice_seconds
from mercer.sources import BlockSource
from mercer.tables import Asked, Look, Prepared, look

_WORTH = 0.5  # seconds still to come of which there is a word
_SHOWN = 10  # coordinates that are foreseen where their number is not known yet
_WRITTEN = 7e7  # bytes of coordinates that are written per second


@final
@dataclasses.dataclass(frozen=True)
class Fitting:
    """A model, its rows, and all that is known on the way: ready to be fitted, then fitted.

    Attributes
    ----------
    method : str
        Its name.
    seen : Look
        The table.
    made : Prepared
        The rows of the fit.
    model : estimator
        With its parameters.
    plan : Plan or None
        What was foreseen; None where rows are read once and fitted on landmarks.
    foreseen : dict of str to float
        Seconds of every stage, as they were foreseen.
    said : tuple of str
        Every assumption, a line each.
    seconds : dict of str to float
        What looking took, then fitting.
    """

    method: str
    seen: Look
    made: Prepared
    model: Any
    plan: Any
    foreseen: dict[str, float]
    said: tuple[str, ...]
    seconds: dict[str, float]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the analysis."""
        return self.made.recipe.names


def ready(
    voice: Voice,
    path: str,
    asked: Asked,
    method: str,
    make: Callable[[str], Any],
    *,
    writes: bool = False,
) -> Fitting:
    """Look at a file, say what is assumed, and plan; nothing is fitted.

    Parameters
    ----------
    voice : Voice
        Who says it.
    path : str
        The file.
    asked : Asked
        What the user says of its columns.
    method : str
        The name of the method, or "auto" for the one that fits the table.
    make : callable
        Returns an estimator of the method that it is given; what was typed wrongly is refused
        before the file is read.
    writes : bool
        Whether coordinates will be written.
    """
    began = time.perf_counter()
    model = make("pca" if method == AUTO else method)
    with voice.working():
        seen = look(path, asked_for(method, asked, model))
        if method == AUTO:
            assert seen.judged is not None
            method = seen.judged.method
            model = make(method)
            asked_for(method, dataclasses.replace(seen.asked, standardize="auto"), model)
        made = ready_rows(seen, method, model)
    said = assumptions(seen, made)
    voice.note(*said)
    looked = time.perf_counter() - began
    found = _planned(voice, method, model, made)
    stages = {"start": began - voice.began, "look": looked}
    stages |= stages_of(found, made, writes=writes)
    if method_of(model).has_variances and model.n_components == "auto" and "fit" in stages:
        stages["fit"] += choice_seconds(*made.shape)
    if sum(stages.values()) - stages["start"] - looked > _WORTH:
        shown = ", ".join(f"{name} {seconds:.2g} s" for name, seconds in stages.items())
        voice.note(f"about {sum(stages.values()):.2g} s in all: {shown}")
    return Fitting(method, seen, made, model, found, stages, said, {"look": looked})


def stages_of(found: Any, made: Prepared, *, writes: bool) -> dict[str, float]:
    """Return the seconds that the stages after the look are foreseen to take.

    A file is walked once more for rows to look at, and once for its coordinates.
    """
    if found is None:
        return {}
    walk = found.problem.read_seconds if isinstance(made.rows, BlockSource) else 0.0
    stages = {"fit": float(found.chosen.seconds), "rows": float(walk)}
    if writes:
        cells = made.shape[0] * min(found.problem.components, _SHOWN)
        stages["write"] = walk + 8 * cells / _WRITTEN
    return stages


def fitted(voice: Voice, have: Fitting, checkpoint: str | None = None) -> Fitting:
    """Fit what is ready, with bars on a terminal.

    Parameters
    ----------
    voice : Voice
        Who is silent where it was told so.
    have : Ready
        Rows and the estimator.
    checkpoint : str or None
        File in which the sums are kept.
    """
    given: dict[str, Any] = {}
    takes = inspect.signature(have.model.fit).parameters
    if have.made.weights is not None:
        given["sample_weight"] = have.made.weights
    if have.made.y is not None:
        given["y"] = have.made.y
    if checkpoint is not None:
        given["checkpoint"] = checkpoint
        if "checkpoint" not in takes:
            raise InputError(
                "this method keeps no checkpoint",
                got=f"--checkpoint {checkpoint} with {type(have.model).__name__}",
                fix="leave it out, or use --method pca",
            )
    began = time.perf_counter()
    with voice.working(), warnings.catch_warnings():
        # It is an answer, which the result gives.
        warnings.filterwarnings("ignore", "no (component|axis) beyond", DataWarning)
        have.model.fit(have.made.rows, **given)
    have.seconds["fit"] = time.perf_counter() - began
    return have


def parameters_of(model: Any) -> dict[str, Any]:
    """Return the parameters of a model, those that are no plain values as text."""
    given = model.get_params(deep=False)
    plain = (bool, int, float, type(None))
    return {name: v if isinstance(v, plain) else str(v) for name, v in given.items()}


def unplanned(model: Any, made: Prepared) -> str:
    """Return a line where there is no plan: rows that are read once."""
    n, p = made.shape
    if isinstance(made.rows, BlockSource) and not hasattr(model, "_streamed"):
        return f"plan: {n:,} x {p:,}, read once, fitted on landmarks"
    return ""


def _planned(voice: Voice, method: str, model: Any, made: Prepared) -> Any:
    """Say the plan, and return it."""
    if unplanned(model, made):
        voice.note(unplanned(model, made))
        return None
    foreseen = plan(model, made.rows, sample_weight=made.weights)
    voice.note(str(foreseen))
    if COMMANDS[method].remark:
        voice.note(f"  {COMMANDS[method].remark}")
    return foreseen
