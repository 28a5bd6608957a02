"""Cross-validated reconstruction: how well held-out rows are rebuilt from k coordinates."""

import dataclasses
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from mercer.errors import AccuracyWarning, DataWarning, MercerError
from mercer.estimators import KernelPCA
from mercer.studies._tuning import Candidate, brief

_LARGEST_RANK = 0.25  # effective rank, in rows, from which a kernel sees no structure

Folds = Sequence[tuple[Any, Any]]


def look(model: KernelPCA, rows: Any) -> Candidate:
    """Return the candidate of an unfitted model with its effective rank, or why it is out."""
    n = int(rows.shape[0])
    try:
        with _quietly():
            rank = float(model.fit(rows).effective_rank_)
    except MercerError as error:
        return Candidate(model.kernel, verdict=error.what)
    found = Candidate(model.kernel, rank)
    if not found.linear and rank > _LARGEST_RANK * n:
        verdict = f"effective rank {rank:.0f} is above a quarter of {n} rows"
        return dataclasses.replace(found, verdict=verdict)
    return found


def rebuild(one: Candidate, model: KernelPCA, rows: Any, folds: Folds) -> Candidate:
    """Return the candidate with the mean R² of held-out rows, and its standard error.

    With R²_f of fold f = 1 … F, score = mean R²_f and error = sd(R²_f)/√F.

    Cost: F fits and F decoders.
    """
    try:
        with _quietly(), np.errstate(over="ignore", invalid="ignore"):
            scores = [model.fit(rows[kept]).score(rows[held]) for kept, held in folds]
    except MercerError as error:
        return dataclasses.replace(one, verdict=error.what)
    if not np.all(np.isfinite(scores)):
        return dataclasses.replace(one, verdict="the R² of held-out rows is not finite")
    spread = float(np.std(scores, ddof=1)) / len(scores) ** 0.5
    return dataclasses.replace(one, score=float(np.mean(scores)), error=spread)


@contextmanager
def _quietly() -> Iterator[None]:
    """Silence what a single fit would say: the curve says it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", AccuracyWarning)
        yield


def simplest(curve: Sequence[Candidate]) -> tuple[Candidate, Candidate]:
    """Return the choice by the rule of one standard error, and the best candidate.

    Among those within one standard error of the best mean, linear is the simplest, then
    the lowest effective rank, which is the longest lengthscale.
    """
    able = [one for one in curve if one.admitted and one.score is not None]
    best = max(able, key=_score)
    near = [one for one in able if _score(one) >= _score(best) - (best.error or 0.0)]
    return min(near, key=lambda one: (not one.linear, one.effective_rank)), best


def _score(one: Candidate) -> float:
    return -np.inf if one.score is None else one.score


def reason(chosen: Candidate, best: Candidate, curve: Sequence[Candidate], k: int) -> str:
    """Return the choice in plain sentences."""
    linear = next(one for one in curve if one.linear)
    axes = "1 component" if k == 1 else f"{k} components"
    top = f"R² {best.score:.3f} ± {best.error:.3f} with {brief(best.kernel)}"
    words = [f"Held-out rows are rebuilt from {axes} best at {top}."]
    if chosen.linear and not best.linear:
        words.append(
            f"Linear reaches {linear.score:.3f}, within one standard error,"
            " and is the simplest."
        )
    elif chosen.linear:
        words.append("No other kernel rebuilds them better.")
    else:
        if chosen is not best:
            words.append(
                f"{brief(chosen.kernel)} is the simplest within one standard error"
                f" ({chosen.score:.3f})."
            )
        words.append(f"Linear reaches {linear.score:.3f}.")
    return " ".join(words)
