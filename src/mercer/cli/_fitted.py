"""From a file to a fitted model: look, say what is assumed, plan, fit."""

import dataclasses
import inspect
import time
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, final

import numpy as np

from mercer.arrays import parse_bytes
from mercer.cli._built import built
from mercer.cli._voice import Voice
from mercer.errors import InputError
from mercer.estimators import plan, progress
from mercer.sources import BlockSource
from mercer.tables import Asked, Look, Prepared, look, prepared

# Where a method has no rule of its own for -k auto: what is taken, and what is said.
_INSTEAD = {
    "kernel-pca": ("2", "2 components are taken; give another number with -k"),
    "robust-pca": ("0.9", "as many as hold 90 % of the variance are taken; or give -k"),
}
# The method options where nothing is typed.
DEFAULTS: dict[str, Any] = {
    "method": "pca",
    "components": "auto",
    "kernel": None,
    "tol": None,
    "memory": None,
    "time": None,
    "seed": 0,
    "settings": (),
}
_HELD = 1 << 28  # bytes of rows that a method which wants them in memory may get


@final
@dataclasses.dataclass(frozen=True)
class Fitted:
    """A model, and all that was known on the way to it.

    Attributes
    ----------
    seen : Look
        The table.
    made : Prepared
        The rows that were fitted.
    model : estimator
        With its parameters, fitted.
    plan : Plan or None
        What was foreseen; None where rows are read once and fitted on landmarks.
    said : tuple of str
        Every assumption, a line each.
    seconds : dict of str to float
        What looking and fitting took.
    """

    seen: Look
    made: Prepared
    model: Any
    plan: Any
    said: tuple[str, ...]
    seconds: dict[str, float]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the analysis."""
        return self.made.recipe.names


@final
@dataclasses.dataclass(frozen=True)
class Ready:
    """Rows and an estimator that can be fitted to them; see `Fitted`."""

    seen: Look
    made: Prepared
    model: Any
    plan: Any
    said: tuple[str, ...]
    looked: float


def ready(voice: Voice, path: str, asked: Asked, options: Mapping[str, Any]) -> Ready:
    """Look at a file, say what is assumed, and plan; nothing is fitted.

    Parameters
    ----------
    voice : Voice
        Who says it.
    path : str
        The file.
    asked : Asked
        What the user says of its columns.
    options : mapping
        The method options.
    """
    began = time.perf_counter()
    seen = look(path, asked)
    made = prepared(seen)
    said = list(assumptions(seen, made))
    model = _estimator(made, options, said)
    made = _held(made, model)
    for line in said:
        voice.note(line)
    foreseen = _planned(voice, model, made)
    return Ready(seen, made, model, foreseen, tuple(said), time.perf_counter() - began)


def fitted(voice: Voice, have: Ready, checkpoint: str | None = None) -> Fitted:
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
    if have.made.weights is not None:
        given["sample_weight"] = have.made.weights
    if checkpoint is not None:
        given["checkpoint"] = checkpoint
        if "checkpoint" not in inspect.signature(have.model.fit).parameters:
            raise InputError(
                "this method keeps no checkpoint",
                got=f"--checkpoint {checkpoint} with {type(have.model).__name__}",
                fix="leave it out, or use --method pca",
            )
    began = time.perf_counter()
    with nullcontext() if voice.quiet else progress():
        have.model.fit(have.made.rows, **given)
    seconds = {"look": have.looked, "fit": time.perf_counter() - began}
    return Fitted(have.seen, have.made, have.model, have.plan, have.said, seconds)


def assumptions(seen: Look, made: Prepared) -> tuple[str, ...]:
    """Return what is assumed of a table, a line each."""
    said = dict.fromkeys([*made.said, *seen.notes])
    return tuple(said)


def _estimator(made: Prepared, options: Mapping[str, Any], said: list[str]) -> Any:
    """Return the estimator that was asked for, with what the table asks for."""
    method, components = options["method"], options["components"]
    plain = built(method)
    known = plain.get_params(deep=False)
    if components == "auto" and not _takes(plain, "n_components", "auto"):
        components, words = _INSTEAD[method]
        said.append(f"{method} has no rule of its own for -k auto: {words}")
    own: dict[str, Any] = {}
    if made.standardize:
        _refuse_without(method, known, "standardize", "--standardize no")
        own["standardize"] = True
    if made.missing != "raise":
        fix = "--missing rows or --missing columns leaves them out"
        _refuse_without(method, known, "missing", fix)
        if not _takes(plain, "missing", made.missing):
            raise InputError(
                f"{method} cannot fill missing cells that way",
                got=f"--missing {made.missing}",
                fix="use --missing em",
            )
        own["missing"] = made.missing
    rest = ("kernel", "tol", "memory", "time", "seed", "settings")
    given = {name: options[name] for name in rest}
    return built(method, components=components, **own, **given)


def _takes(model: Any, parameter: str, word: str) -> bool:
    """Tell whether a parameter may be this word."""
    rules = type(model)._parameter_constraints.get(parameter, ())
    return any(word in getattr(rule, "options", ()) for rule in rules)


def _refuse_without(method: str, known: Mapping[str, Any], name: str, fix: str) -> None:
    if name not in known:
        raise InputError(
            f"{method} cannot do what the table asks for",
            got=f"{method} has no parameter {name!r}",
            fix=fix,
        )


def _held(made: Prepared, model: Any) -> Prepared:
    """Return rows in memory for a method that is exact only there, where they are few."""
    rows = made.rows
    if not isinstance(rows, BlockSource) or hasattr(model, "_coordinates"):
        return made
    memory = model._budget() if model.memory is None else parse_bytes(model.memory)
    n, p = rows.shape
    if not rows.counted or rows.nnz is not None or 8 * n * p > min(_HELD, memory / 4):
        return made
    import polars as pl

    table = np.concatenate(list(rows.blocks(max(1, n))))
    names = list(made.recipe.names)
    return dataclasses.replace(made, rows=pl.from_numpy(table, schema=names), shape=table.shape)


def _planned(voice: Voice, model: Any, made: Prepared) -> Any:
    """Say the plan, and return it."""
    if isinstance(made.rows, BlockSource) and not hasattr(model, "_coordinates"):
        voice.note(
            f"plan: {made.shape[0]:,} x {made.shape[1]:,}, read once, fitted on landmarks"
        )
        return None
    foreseen = plan(model, made.rows, sample_weight=made.weights)
    voice.note(str(foreseen))
    return foreseen
