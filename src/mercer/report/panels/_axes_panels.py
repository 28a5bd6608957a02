"""How many components, and how much each carries: the scree plot and all rules.

What the axes are made of: weights, correlations, contributions, quality of columns.

How much another sample would change the axes: resampled fits, or the normal law.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer import plots
from mercer.arrays import Array
from mercer.diagnostics import correlations
from mercer.estimators import PCA
from mercer.report._page_parts import Part, Picture, Section, Table
from mercer.report._page_words import (
    axes_named,
    axis_in_words,
    count,
    listed,
    percent,
    spectrum_rows,
)
from mercer.report._row_labels import colours_of
from mercer.report.facts._linear_summary import LinearSummary, is_curve
from mercer.report.facts._map_groups import between, grouped
from mercer.selection import noise_quantiles
from mercer.studies import bootstrap

_LISTED = 12
_LARGE = 256  # columns, beyond which variances of noise hardly differ by draw


def components_section(seen: LinearSummary) -> Section:
    """Return the section on components: words, scree, spectrum, rules."""
    wide = seen.wide
    words = [] if seen.choice is None else [seen.choice.reason]
    noise = _noise(seen)
    picture = Picture(
        plots.scree(
            wide.explained_variance_,
            wide.lower,
            wide.upper,
            wide.explained_variance_ratio_,
            null=noise,
            null_words="90 % of what noise gives",
            k=None if seen.choice is None else seen.k,
        ),
        "The band: normal noise in as many rows, with the variances of these columns."
        * (noise is not None),
    )
    parts: list[Part] = [picture, _spectrum(seen)]
    if seen.choice is not None:
        parts.append(_rules(seen))
    return Section("components", "Components", tuple(words), tuple(parts))


def _noise(seen: LinearSummary) -> Array | None:
    """Return the band (2, r) of the variances of noise, by rank; None for few rows."""
    largest = float(np.max(seen.columns))
    rows = seen.n if seen.weights is None else float(np.sum(seen.weights))
    if not largest > 1e-300 or rows <= 2:  # a share of less is not finite
        return None
    draws = 60 if min(rows, len(seen.columns)) <= _LARGE else 20
    band = largest * noise_quantiles(rows, seen.columns / largest, draws=draws)
    return band[:, : len(seen.wide.explained_variance_)]


def _spectrum(seen: LinearSummary) -> Table:
    wide = seen.wide
    ratio, most = np.asarray(wide.explained_variance_ratio_), max(_LISTED, seen.k)
    rows = spectrum_rows("PC", wide.explained_variance_, wide, ratio, most)
    return Table(
        "Variances",
        ("component", "variance", "error at most", "share %", "sum %"),
        rows,
        note="Error: of the arithmetic, certified; what another sample would change is under "
        "Stability. Marked: components of the verdict.",
        chosen=tuple(range(min(seen.k, len(rows)))),
    )


def _rules(seen: LinearSummary) -> Table:
    assert seen.choice is not None
    rows = tuple((rule.name, rule.k, rule.about) for rule in seen.choice.rules)
    return Table(
        "How many, by every rule",
        ("rule", "components", "what it asks"),
        rows,
        note="The first rule decides.",
        chosen=(0,),
    )


_AXES = 4  # that are described in words and in the table
_CIRCLE = 60  # columns that a circle can bear
_LISTED_COLUMNS = 60  # columns of the table


def variables_section(seen: LinearSummary, sup: Mapping[str, Any] | None = None) -> Section:
    """Return the section on columns: each axis in words, pictures, and tables.

    Parameters
    ----------
    seen : LinearSummary
        All numbers of the page.
    sup : mapping of str to n values, or None
        Supplementary columns: not analysed, but set against the axes.
    """
    axes = min(_AXES, len(seen.wide.components_), max(seen.k, 2))
    ratio = seen.wide.explained_variance_ratio_
    curve = is_curve(seen.held)
    words = [
        f"PC{a + 1} ({percent(float(ratio[a]))}) "
        f"{axis_in_words(seen.wide.components_[a], seen.names, in_order=curve)}."
        for a in range(axes)
    ]
    found = _correlations(seen, axes)
    poor = [seen.names[j] for j in np.flatnonzero(np.sum(found[:, :axes] ** 2, axis=1) < 0.2)]
    if 0 < len(poor) < len(seen.names):
        first = "the first axis" if axes == 1 else f"the first {axes} axes"
        less = "less than 20 % of each" if len(poor) > 1 else "less than 20 % of it"
        words.append(f"Hardly seen on {first}: {listed(poor)} ({less}).")
    if seen.k < axes:
        words.append(f"{_which(seen.k, axes)} not beyond noise: do not name after columns.")
    parts: list[Part] = []
    shown = ratio[: len(seen.wide.components_)]
    if axes > 1 and len(seen.names) <= _CIRCLE:
        note = (
            "An arrow is the correlation of a column with both axes; long arrows are well seen "
            "on this plane, and the angle between two long ones tells their correlation."
        )
        parts.append(Picture(plots.circle(found, seen.names, ratio=shown), note))
    picture = plots.loadings(seen.wide.components_, seen.names, axes=tuple(range(min(axes, 2))))
    parts.append(Picture(picture))
    parts += _tables(seen, found, axes)
    if sup:
        parts.append(_beside(seen, sup, min(axes, seen.Z.shape[1])))
    return Section("variables", "Columns", tuple(words), tuple(parts))


def _which(k: int, axes: int) -> str:
    """Return which axes are shown though they are not of the verdict."""
    return f"{axes_named(k + 1, axes)} {'is' if k + 1 == axes else 'are'}"


def _correlations(seen: LinearSummary, axes: int) -> Array:
    """Return the correlations (p, axes) of the columns with the axes."""
    count = max(axes, min(2, len(seen.wide.components_)))
    return correlations(
        np.asarray(seen.wide.components_[:count], np.float64),
        np.asarray(seen.wide.explained_variance_[:count], np.float64),
        seen.columns,
    )


def _tables(seen: LinearSummary, found: Array, axes: int) -> list[Part]:
    """Return two tables that are not wide: correlations, and weights with their shares."""
    heavy = np.argsort(-np.sum(found[:, :axes] ** 2, axis=1), kind="stable")[:_LISTED_COLUMNS]
    order = np.sort(heavy) if len(seen.names) <= _LISTED_COLUMNS else heavy
    V = np.asarray(seen.wide.components_[:axes], np.float64)
    pcs = [f"PC{a + 1}" for a in range(axes)]
    left = len(seen.names) - len(order)
    verb = "is" if left == 1 else "are"
    more = f" The {count(left, 'column')} least seen {verb} not listed." if left else ""
    seen_on = [
        (
            seen.names[j],
            *(float(r) for r in found[j, :axes]),
            100 * float(np.sum(found[j, :axes] ** 2)),
        )
        for j in order
    ]
    weights = [
        (seen.names[j], *(float(v) for v in V[:, j]), *(100 * float(v**2) for v in V[:, j]))
        for j in order
    ]
    return [
        Table(
            "Columns and axes",
            ("column", *(f"correlation {name}" for name in pcs), "seen %"),
            tuple(seen_on),
            note="Correlation of the column with the coordinates. Seen: share of the column's "
            f"variance on these axes.{more}",
        ),
        Table(
            "Weights of the columns",
            ("column", *(f"{name} weight" for name in pcs), *(f"% of {name}" for name in pcs)),
            tuple(weights),
            note=f"Weight: entry of the axis. %: the column's part in the axis.{more}",
        ),
    ]


def _beside(seen: LinearSummary, sup: Mapping[str, Any], axes: int) -> Table:
    """Return how columns that were not analysed go with the axes: r, or η² of groups."""
    Z = np.asarray(seen.Z[:, :axes], np.float64)
    rows = tuple(
        (name, *_against(values[seen.at], Z))
        for name, values in colours_of(sup, seen.n).items()
    )
    return Table(
        "Supplementary columns",
        ("column", "measure", *(f"correlation PC{a + 1}" for a in range(axes))),
        rows,
        note="They had no part in the axes. r: correlation with the coordinates, of rows where "
        "the cell is known. η²: share of the coordinates' variance between the groups.",
    )


def _against(values: Array, Z: Array) -> list[Any]:
    if values.dtype.kind in "fiu":
        there = np.isfinite(values)
        pairs = [(values[there], z) for z in Z[there].T]
        return ["r", *(_correlation(x, z) for x, z in pairs)]
    there, at, groups = grouped(values)
    if not groups:
        return ["more than 12 groups", *[None] * Z.shape[1]]
    centred = Z[there] - Z[there].mean(axis=0)
    return ["η²", *(between(centred[:, a : a + 1], at, groups) for a in range(Z.shape[1]))]


def _correlation(x: Array, z: Array) -> float | None:
    if len(x) < 3 or not (np.ptp(x) > 0 and np.ptp(z) > 0):
        return None
    return float(np.corrcoef(x, z)[0, 1])


_DRAWS = 100
_WORK = 2e10  # operations that resampling may take
_UNSURE_AXES = 8
_FEWEST = 5  # rows that can be resampled


def stability_section(seen: LinearSummary) -> Section:
    """Return the section on sampling errors: of variances and of directions."""
    # Two more than are read: an axis may have its twin among those.
    axes = min(_UNSURE_AXES, len(seen.wide.components_), max(seen.k, 2) + 2)
    n, p = seen.held.shape
    if n == seen.n and 2.0 * _DRAWS * n * p * min(n, p) < _WORK and n >= _FEWEST:
        return _resampled(seen, min(axes, n - 2, p))
    return _by_the_normal_law(seen, axes)


def _resampled(seen: LinearSummary, axes: int) -> Section:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Rows are held as they were scaled; columns that are scaled anew keep their weights.
        own = getattr(seen.model, "feature_weight", None) if seen.standardised else None
        like = PCA(axes, standardize=seen.standardised, feature_weight=own)
        found = bootstrap(like, seen.held, draws=_DRAWS, sample_weight=seen.weights)
    shares = found.shares
    rows = tuple(
        (
            f"PC{j + 1}",
            100 * float(shares.value[j]),
            100 * float(shares.low[j]),
            100 * float(shares.high[j]),
            float(np.round(found.angles[j], 1)),
        )
        for j in range(len(found.angles))
    )
    beyond = axes < seen.k
    further = f" Axes after PC{axes} were not looked at." if beyond else ""
    table = Table(
        "Axes in resampled tables",
        ("axis", "share %", "from %", "to %", "turns by °"),
        rows,
        note=f"{_DRAWS} tables drawn from these rows with replacement; 95 % intervals; the "
        "median angle between the axis and its like in a drawn table." + further,
    )
    return Section("stability", "Stability", (found.verdict,), (table,))


def _by_the_normal_law(seen: LinearSummary, axes: int) -> Section:
    """Return standard errors for normal rows: λ√(2/n), and the angle of each axis."""
    values = np.asarray(seen.wide.explained_variance_, np.float64)
    angles = normal_angles(values, seen.n)[:axes]
    error = np.sqrt(2 / max(seen.n - 1, 1))
    ratio = seen.wide.explained_variance_ratio_
    rows = tuple(
        (f"PC{j + 1}", 100 * float(ratio[j]), float(100 * ratio[j] * error), float(angles[j]))
        for j in range(axes)
    )
    table = Table(
        "Sampling errors",
        ("axis", "share %", "± %", "turns by °"),
        rows,
        note="For normal rows: λ√(2/n), and the root mean square angle to the axis of another "
        "sample. The table is too large, or too small, to be resampled.",
    )
    poor = [f"PC{j + 1}" for j in range(axes) if angles[j] > 30]
    words = "Another sample would turn none of these axes by more than 30°."
    if poor:
        words = f"Another sample would turn {', '.join(poor)} by more than 30°: read planes."
    return Section("stability", "Stability", (words,), (table,))


def normal_angles(values: Array, rows: float) -> Array:
    """Return how far axes turn in another sample of normal rows, in degrees.

    sin²θ_i ≈ Σ_{j≠i} λ_iλ_j/(n(λ_i - λ_j)²), over the variances that are known.

    Parameters
    ----------
    values : array of shape (m,)
        Variances, descending.
    rows : float
        Rows of a sample.
    """
    apart = values[:, None] - values[None, :]
    np.fill_diagonal(apart, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = values[:, None] * values[None, :] / apart**2
    squares = np.nansum(parts, axis=1) / max(rows, 1)
    return np.asarray(np.degrees(np.arcsin(np.sqrt(np.clip(squares, 0, 1)))))
