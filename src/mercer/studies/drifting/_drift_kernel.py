"""Drift of a kernel PCA: coordinates, and distances from the axes in feature space."""

import dataclasses
import math
import warnings
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.diagnostics import HeldOut, can_tell, fewest_rows, t2
from mercer.errors import AccuracyWarning, DataWarning, InputError, NotSupportedError
from mercer.estimators import KernelPCA
from mercer.estimators.kernel._fitted_kernel import FittedKernel
from mercer.estimators.walk._parameters import check_fitted
from mercer.kernels import Precomputed
from mercer.sources import BlockSource, Source, SpreadSource, scan
from mercer.studies._study_rows import evenly
from mercer.studies.drifting import _drift_comparisons as found
from mercer.studies.drifting._drift_comparisons import Captured
from mercer.studies.drifting._drift_laws import captured_change
from mercer.studies.drifting._drift_limits import AlarmLimits
from mercer.studies.drifting._rows_after import After, after
from mercer.studies.drifting._rows_before import Before

_FOLDS = 10
_MOST = 1000  # rows that axes are found from without some of them
_FEWEST = 30  # rows of the fit without which there are no limits
_BLOCK = 1000  # rows that are compared with those of the fit at a time


@final
@dataclasses.dataclass(frozen=True)
class KernelPlaces:
    """Rows by the axes of a kernel.

    Attributes
    ----------
    scores : ndarray of shape (m, k)
        Coordinates.
    t2 : ndarray of shape (m,)
        Σ z_j²/λ_j.
    rest : ndarray of shape (m,) or None
        k̃(x, x) - ‖z‖², the squared distance from the axes; None where the rows of the fit
        were not kept.
    """

    scores: Array
    t2: Array
    rest: Array | None


def seen(model: KernelPCA, source: Source) -> KernelPlaces:
    """Return coordinates and distances of rows by a fitted kernel PCA."""
    k, fitted = int(model.rank_), FittedKernel.of(model)
    scores = np.asarray(model._project(source), np.float64)[:, :k]
    far = t2(scores, np.asarray(model.explained_variance_[:k]))
    rows = fitted.frame.ready(source)
    if fitted.rows is None or fitted.model is not None:
        return KernelPlaces(scores, far, None)
    kernel, kept = fitted.seen, fitted.rows
    shares = fitted.frame.shares(int(kept.shape[0]))
    middle = sum(
        float(shares[at] @ kernel.block(kept[at], kept) @ shares) for at in _parts(kept)
    )
    whole = np.concatenate(
        [
            kernel.diag(rows[at]) - 2 * np.asarray(kernel.block(rows[at], kept)) @ shares
            for at in _parts(rows)
        ]
    )
    return KernelPlaces(
        scores, far, np.maximum(whole + middle - np.sum(scores**2, axis=1), 0.0)
    )


def _parts(rows: Any) -> list[slice]:
    n = int(rows.shape[0])
    return [slice(at, min(at + _BLOCK, n)) for at in range(0, n, _BLOCK)]


def left_out(model: KernelPCA, rows: Any) -> KernelPlaces | None:
    """Return rows, as the kernel sees them, by axes found without them; None where too few.

    Parameters
    ----------
    model : KernelPCA
        Its kernel and number of axes are used.
    rows : array of shape (n, p)
        1000 at most are taken, evenly spread.
    """
    rows = rows[evenly(int(rows.shape[0]), _MOST)]
    n, k = int(rows.shape[0]), int(model.rank_)
    if n < _FEWEST or k > n - n // _FOLDS - 2:
        return None
    fold = np.random.default_rng(0).permutation(n) % _FOLDS
    parts, at = [], []
    for number in range(_FOLDS):
        out = np.flatnonzero(fold == number)
        blank = KernelPCA(k, kernel=FittedKernel.of(model).seen, indefinite=model.indefinite)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # that of the model was said
            warnings.simplefilter("ignore", AccuracyWarning)
            blank.fit(rows[np.flatnonzero(fold != number)])
        parts.append(seen(blank, blank._admit(rows[out], reset=False)))
        at.append(out)
    order = np.argsort(np.concatenate(at))
    rests = [np.zeros(0) if part.rest is None else part.rest for part in parts]
    scores = np.zeros((0, k))  # axes differ from fold to fold
    whole = np.concatenate([part.t2 for part in parts])[order]
    return KernelPlaces(scores, whole, np.concatenate(rests)[order])


def kernel_parts(model: KernelPCA, X: Any, reference: Any, level: float) -> dict[str, Any]:
    """Return the parts of a `Drift` of a kernel PCA.

    Compared are the mean of the coordinates (Hotelling), rows above the limits of T² and of
    the distance from the axes, and the share of variance that the axes hold; limits and share
    come from rows left out: the reference, or those that the model keeps.
    """
    check_fitted(model)
    if not model.rank_:
        raise InputError(
            "a kernel PCA without an axis has nothing to compare",
            got=f"{model.n_components_} components, none beyond noise",
            fix="fit it again with a number of components, such as n_components=2",
        )
    new = seen(model, _admitted(model, X))
    m = len(new.t2)
    if m < 5:
        raise InputError(
            "too few rows to speak of change", got=f"{m} rows", fix="pass at least 5 rows"
        )
    before, fitted = None, FittedKernel.of(model)
    if reference is not None:
        before = left_out(model, fitted.frame.ready(_admitted(model, reference)))
    elif fitted.rows is not None and fitted.model is None:
        before = left_out(model, fitted.rows)
    known, sums = _frame(model, new)
    limits = _limits(before, level, reference is not None)
    asked = {}
    if known.k:
        asked["mean within the plane"] = found.plane_mean(known, sums)
    shares, alarms = None, {}
    for name, values, limit in (("T²", new.t2, limits.t2), ("Q", new.rest, limits.q)):
        known_values = np.zeros(m) if values is None else values
        alarms[name] = found.alarms_of(known_values, math.inf if values is None else limit)
        if alarms[name].limit is not None:
            asked[f"rows above the {name} limit"] = found.alarms_found(
                name, alarms[name], limits, m
            )
    if before is not None and new.rest is not None and known.k:
        shares, chance = _captured(model, new, before, sums)
        asked["variance captured"] = found.variance_captured(shares, chance, known.k)
    return {
        "rows": m,
        "fitted_rows": known.rows,
        "comparisons": found.settled(asked, level),
        "columns": None,
        "captured": shares,
        "turns": (),
        "angles": np.zeros(0),
        "t2": alarms["T²"],
        "q": alarms["Q"],
        "limits": limits,
        "level": level,
        "notes": (f"Limits of T² and Q: {limits.source}. Q is counted in feature space.",),
    }


def _admitted(model: KernelPCA, X: Any) -> Source:
    fitted = FittedKernel.of(model)
    if isinstance(fitted.given, Precomputed) or not fitted.frame.numeric:
        raise NotSupportedError(
            "drift needs a kernel of rows of numbers",
            got=repr(fitted.given),
            fix="fit KernelPCA to rows, with the kernel as a function",
        )
    source = model._admit(X, reset=False)
    if isinstance(source, BlockSource | SpreadSource):
        raise NotSupportedError(
            "drift of a kernel PCA needs rows in memory",
            got=source.label,
            fix="load the rows first, or some of them",
        )
    return source


def _frame(model: KernelPCA, new: KernelPlaces) -> tuple[Before, After]:
    """Return the coordinates as rows whose axes are their columns."""
    k = int(model.rank_)
    variances = np.asarray(model.explained_variance_[:k], np.float64)
    names = tuple(f"PC{j + 1}" for j in range(k))
    weights = FittedKernel.of(model).frame.weights
    rows = float(model.n_samples_ if weights is None else np.sum(weights))
    ones, nearly = np.ones(k), np.sqrt(variances)
    known = Before(rows, names, 0 * ones, ones, np.eye(k), variances, 0.0, None, nearly)
    return known, after(known, scan(new.scores), new.scores.mean(axis=0), len(new.t2))


def _limits(before: KernelPlaces | None, level: float, given: bool) -> AlarmLimits:
    if before is None:
        words = "none; a reference gives them"
        return AlarmLimits(math.inf, math.inf, level, 0.0, words)
    rest = before.rest if before.rest is not None and before.rest.size else before.t2
    whose = "of the reference" if given else "of the fit"
    n = len(before.t2)
    if not can_tell(n, level):
        words = f"none: {n:,} rows {whose}, {100 * level:g} % takes {fewest_rows(level)}"
        return AlarmLimits(math.inf, math.inf, level, n, words)
    far, away = HeldOut(before.t2[None], rest[None]).limits(level)
    return AlarmLimits(far, away, level, n, f"from {n:,} rows {whose}, left out in turn")


def _captured(
    model: KernelPCA, new: KernelPlaces, before: KernelPlaces, sums: After
) -> tuple[Captured, float]:
    """Return the shares of variance in feature space, and the chance of the one now."""
    assert new.rest is not None
    assert before.rest is not None
    inside, outside = float(np.trace(sums.along)), float(np.mean(new.rest))
    norms = np.sum((new.scores - new.scores.mean(axis=0)) ** 2, axis=1)
    apart = norms / max(inside, 1e-300) - new.rest / max(outside, 1e-300)
    fit = float(np.sum(model.explained_variance_ratio_[: model.rank_]))
    total = fit and float(np.sum(model.explained_variance_[: model.rank_])) / fit
    expected = 1 - min(float(np.mean(before.rest)) / total, 1.0) if total else 0.0
    now = inside / (inside + outside) if inside + outside > 0 else 0.0
    moved = dataclasses.replace(
        sums, total=inside + outside, rest=outside, swing=float(np.var(apart))
    )
    rows = float(len(before.t2))
    error = now * (1 - now) * math.sqrt(moved.swing / len(new.t2))
    chance = captured_change(moved, expected, expected, rows)
    return Captured(fit, expected, now, error), chance
