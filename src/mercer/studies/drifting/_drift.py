"""drift(): what has changed between a fitted model and new rows."""

import dataclasses
import math
from typing import Any, final

import numpy as np
from sklearn.base import clone

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators import PCA, KernelPCA, RobustPCA
from mercer.sources import Source, is_scannable, scan
from mercer.studies._plain_result import plain
from mercer.studies._study_rows import readable_twice
from mercer.studies.drifting import _drift_comparisons as found
from mercer.studies.drifting._drift_axes import Turn, between, turned
from mercer.studies.drifting._drift_comparisons import (
    Alarms,
    Captured,
    ComparedColumns,
    Comparison,
)
from mercer.studies.drifting._drift_kernel import kernel_parts
from mercer.studies.drifting._drift_laws import axis_spreads, captured_change
from mercer.studies.drifting._drift_limits import (
    AlarmLimits,
    Reference,
    kept_limits,
    lawful,
    reference_of,
)
from mercer.studies.drifting._rows_after import After, after, dense_rows
from mercer.studies.drifting._rows_before import Before, before

_FEWEST = 5  # rows without which nothing can be said of change
_HEAVY = 4.5  # fourth moment from which tests that expect normal rows are rough
_REACH = 1e50  # of deviations, and of their inverses, whose squares are weights of columns
_NONE = "no change beyond chance"


@final
@dataclasses.dataclass(frozen=True)
class Drift:
    """What has changed between the rows of a fit and new rows.

    Attributes
    ----------
    rows, fitted_rows : int and float
        New rows, and rows of the fit.
    comparisons : tuple of Comparison
        Every question asked, the least likely answer first.
    columns : ComparedColumns or None
        Shifts and ratios of deviations; None for kernel PCA.
    captured : Captured or None
        Share of variance that the axes hold.
    turns : tuple of Turn
        Angles of axes, or of planes of axes whose variances are near.
    angles : ndarray of shape (k,)
        Principal angles between the plane of the model and that of the new rows, in degrees.
    t2, q : Alarms
        Rows above the limits.
    limits : AlarmLimits
        The limits, and where they are from.
    level : float
        A difference is a change where its chance is below 1 - level.
    notes : tuple of str
        What was assumed.
    """

    rows: int
    fitted_rows: float
    comparisons: tuple[Comparison, ...]
    columns: ComparedColumns | None
    captured: Captured | None
    turns: tuple[Turn, ...]
    angles: Array
    t2: Alarms
    q: Alarms
    limits: AlarmLimits
    level: float
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything has changed beyond chance."""
        return any(one.changed for one in self.comparisons)

    @property
    def verdict(self) -> str:
        """What has changed, the least likely first; or that nothing has beyond chance."""
        said = [one.says for one in self.comparisons if one.changed]
        return "\n".join(said) if said else _NONE

    def document(self) -> dict[str, Any]:
        """Return everything as plain data."""
        parts = {
            "rows": self.rows,
            "fitted_rows": self.fitted_rows,
            "level": self.level,
            "changed": self.changed,
            "verdict": self.verdict.splitlines(),
        }
        names = ("comparisons", "captured", "turns", "angles", "t2", "q", "limits", "columns")
        more = {name: plain(getattr(self, name)) for name in names}
        return {**parts, **more, "notes": list(self.notes)}

    def table(self) -> str:
        """Return the verdict, and a table of all that was compared."""
        head = f"{self.rows:,} new rows beside {self.fitted_rows:,.10g} rows of the fit:"
        wide = max(len(one.what) for one in self.comparisons)
        lines = [
            f"{'*' if one.changed else ' '} {one.what.ljust(wide)}  {_chance(one.chance)}"
            for one in self.comparisons
        ]
        title = f"  {'compared'.ljust(wide)}  chance"
        return "\n".join([head, self.verdict, "", title, *lines])

    def __str__(self) -> str:
        """Return the verdict, the table, and what was assumed."""
        return "\n".join([self.table(), *(["", *self.notes] if self.notes else [])])


def drift(model: Any, X: Any, *, reference: Any = None, level: float = 0.95) -> Drift:
    """Return what has changed between a fitted model and new rows, in numbers and words.

    Means of the columns (Student, Holm over columns), of the coordinates (Hotelling) and
    outside the plane (Dempster); total variance; share of it that the axes hold, against
    what new rows like those of the fit would show, which is less than at fit; covariances in
    the frame of the axes, which arise when axes turn; rows above the limits of T² and Q;
    standard deviations of columns where those at fit are known. Every chance is corrected
    for the number of questions, so that rows like those of the fit raise any alarm in 5 % of
    cases or fewer.

    Parameters
    ----------
    model : PCA, RobustPCA or KernelPCA
        Fitted. For RobustPCA new rows that lie apart do not count, by a fit of their own;
        those that the model calls outlying are counted.
    X : array, sparse matrix, frame, or what `scan` takes, of shape (m, p)
        New rows, five or more, that can be read twice. Missing cells are filled where the
        model fills them.
    reference : the same, or None
        Rows of the fit, or others that are known to be like them: they say how large
        deviations and T² and Q were, whatever their distribution. 2000 are looked at.
    level : float
        One minus the chance of an alarm where nothing has changed; also the share of rows
        below the limits, which are those kept with the model (``notes_["limits"]``), or
        from the reference, or from laws of normal rows.

    Returns
    -------
    Drift
        With `changed`, `verdict`, `comparisons`, numbers, and a table as text.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 6)) * [5, 3, 1, 1, 1, 1]
    >>> model = mercer.PCA(2).fit(X[:300])
    >>> mercer.drift(model, X[300:]).verdict
    'no change beyond chance'
    >>> mercer.drift(model, X[300:] + [0, 0, 2, 0, 0, 0]).changed
    True
    """
    if not 0.5 <= level < 1:
        raise InputError(
            "the level of a test lies between 0.5 and 1", got=f"level={level}", fix="pass 0.95"
        )
    if isinstance(model, KernelPCA):
        return Drift(**kernel_parts(model, X, reference, level))
    known = before(model)
    source, kept, said = _new_rows(model, X)
    theirs = _axes_of(model, known, source, kept)
    count = int(theirs.n_samples_) if kept is None else int(np.count_nonzero(kept))
    _refuse_few(count)
    new = after(known, source, np.asarray(theirs.mean_, np.float64), count, kept)
    looked = None if reference is None else _reference(model, known, reference, level)
    asked = {}
    if isinstance(model, RobustPCA):
        asked["outlying rows"] = found.outlying(model, model.is_outlier(source))
    return _compared(model, known, new, theirs, looked, level, said, asked)


def _new_rows(model: PCA, X: Any) -> tuple[Source, Array | None, list[str]]:
    """Return the rows, filled where the model fills; which count; and what was assumed."""
    source = model._admit(scan(X) if is_scannable(X) else X, reset=False)
    source = readable_twice(source, "drift does not look at rows in parts yet")
    filled = model._completed(source)
    said = []
    if filled is not source:
        said.append(
            "Missing cells, if any, are filled by the model, which hides part of a change."
        )
    if not isinstance(model, RobustPCA):
        return filled, None, said
    again = clone(model).set_params(n_components=max(1, int(model.rank_)))
    kept = again.fit(source).weights_ > 0
    said.append(f"{np.count_nonzero(~kept)} of {len(kept):,} rows lie apart and do not count.")
    return filled, kept, said


def _axes_of(model: PCA, known: Before, source: Source, kept: Array | None) -> PCA:
    """Return the PCA of the new rows, in the units of the model."""
    count = source.shape[0] if kept is None else int(np.count_nonzero(kept))
    counted = getattr(source, "counted", True)
    if counted:
        _refuse_few(count)
    p = len(known.mean)
    weight = None if model.scale_ is None else _weights_of(np.asarray(model.scale_))
    k = max(1, min(known.k, p, count - 1 if counted else known.k))
    weights = None if kept is None else kept.astype(np.float64)
    return PCA(k, feature_weight=weight, memory=model.memory).fit(source, sample_weight=weights)


def _weights_of(scale: Array) -> Array:
    """Return 1/s² (p,), or refuse deviations s whose squares are no weights."""
    if np.min(scale) <= 1 / _REACH or np.max(scale) >= _REACH:
        raise InputError(
            "columns of such size cannot be compared with new rows",
            got=f"deviations at fit from {np.min(scale):.3g} to {np.max(scale):.3g}",
            fix="divide the columns by constants, here and at fit",
        )
    return 1 / scale**2


def _refuse_few(count: int) -> None:
    if count < _FEWEST:
        raise InputError(
            "too few rows to speak of change",
            got=f"{count} rows that count",
            fix=f"pass at least {_FEWEST} rows",
        )


def _reference(model: PCA, known: Before, given: Any, level: float) -> Reference:
    """Return what rows of the fit say."""
    source, kept, _ = _new_rows(model, given)
    table = dense_rows(source, kept)
    if len(table) < _FEWEST:
        raise InputError(
            "too few rows for a reference",
            got=f"{len(table)} rows",
            fix=f"pass at least {_FEWEST} rows like those of the fit",
        )
    return reference_of(known, (table - known.mean) * known.factor, level)


def _compared(
    model: PCA,
    known: Before,
    new: After,
    theirs: PCA,
    looked: Reference | None,
    level: float,
    said: list[str],
    asked: dict[str, tuple[float, str]],
) -> Drift:
    expected, least, most = known.expected(new.rest_squares)
    limits = kept_limits(model, known, level) or (looked and looked.limits)
    limits = limits or lawful(known, new, expected, least, level)
    deviations = known.deviations if looked is None else looked.deviations
    rows = known.rows if looked is None else looked.rows
    columns = found.columns_of(known, new, deviations, rows)
    captured, chance = _captured(known, new, looked, (expected, least, most))
    turns = turned(known, new, np.asarray(theirs.components_[: theirs.rank_], np.float64))
    t2, q = found.alarms_of(new.t2, limits.t2), found.alarms_of(new.q, limits.q)
    limit, bias = 1 - level, _bias(model, known)
    robust = isinstance(model, RobustPCA) and model.method == "spherical"
    asked["means of the columns"] = found.column_means(columns, limit)
    if columns.ratio_chance is not None:
        asked["deviations of the columns"] = found.column_ratios(columns, limit)
    if known.k:
        groups = [one.axes for one in turns]
        ratios = axis_spreads(known, new, groups, (least, most), bias)
        asked["mean within the plane"] = found.plane_mean(known, new)
        asked["directions of the axes"] = found.axes_turned(turns, limit)
        if not robust:
            asked["variances along the axes"] = found.axis_variances(turns, *ratios, limit)
    if new.rest > 0 and known.rest > 0:
        asked["mean outside the plane"] = found.outside_mean(known, new)
    if robust:
        said.append('Variances of method="spherical" are no sums of squares: not compared.')
    else:
        asked["total variance"] = found.total_variance(known, new, bias)
    if captured is not None and not robust:
        asked["variance captured"] = found.variance_captured(captured, chance, known.k)
    for name, alarms in (("T²", t2), ("Q", q)):
        if alarms.limit is not None and not robust:
            asked[f"rows above the {name} limit"] = found.alarms_found(
                name, alarms, limits, new.rows
            )
    return Drift(
        rows=new.rows,
        fitted_rows=known.rows,
        comparisons=found.settled(asked, level),
        columns=columns,
        captured=captured,
        turns=turns,
        angles=between(known.axes, np.asarray(theirs.components_[: theirs.rank_])),
        t2=t2,
        q=q,
        limits=limits,
        level=level,
        notes=tuple(said + _assumed(new, limits, deviations)),
    )


def _captured(
    known: Before, new: After, looked: Reference | None, range_: tuple[Array, Array, Array]
) -> tuple[Captured | None, float]:
    """Return the shares of variance that the axes hold, and the chance of the one now."""
    if not (known.k and known.rest > 0 and new.total > 0):
        return None, 1.0
    middle, least, most = (float(np.sum(part)) / known.total for part in range_)
    rows = known.rows
    if looked is not None and looked.inside is not None:
        middle = least = most = looked.inside
        rows = looked.rows
    now = 1 - new.rest / new.total
    error = now * (1 - now) * math.sqrt(new.swing / new.rows)
    fit = 1 - known.rest / known.total
    return Captured(fit, middle, now, error), captured_change(new, least, most, rows)


def _bias(model: PCA, known: Before) -> float:
    """Return E s₀²/s₀²: dividing by deviations that were found adds to variances."""
    standard = bool(model.standardize) and known.rows > 3
    return (known.rows - 1) / (known.rows - 3) if standard else 1.0


def _assumed(new: After, limits: AlarmLimits, deviations: Array | None) -> list[str]:
    said = [f"Limits of T² and Q: {limits.source}."]
    if limits.source.startswith("from laws"):
        said[0] = (
            f"Limits of T² and Q: {limits.source}; a reference gives limits that hold for"
            " others too."
        )
    if deviations is None:
        said.append(
            "Deviations of the columns at fit are known only nearly, from the axes: their"
            " ratios are not tested. A reference, or a standardised fit, knows them."
        )
    if new.fourth > _HEAVY:
        said.append(
            f"The rows have heavy tails (fourth moment {new.fourth:.1f}, normal 3): false"
            " alarms are more common than said."
        )
    return said


def _chance(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"
