"""How much another sample would change the axes: resampled fits, or the normal law."""

import warnings

import numpy as np

from mercer.arrays import Array
from mercer.estimators import PCA
from mercer.report._parts import Section, Table
from mercer.report._seen import Seen
from mercer.studies import bootstrap

_DRAWS = 100
_WORK = 2e10  # operations that resampling may take
_AXES = 8
_FEWEST = 5  # rows that can be resampled


def stability_section(seen: Seen) -> Section:
    """Return the section on sampling errors: of variances and of directions."""
    # Two more than are read: an axis may have its twin among those.
    axes = min(_AXES, len(seen.wide.components_), max(seen.k, 2) + 2)
    n, p = seen.held.shape
    if n == seen.n and 2.0 * _DRAWS * n * p * min(n, p) < _WORK and n >= _FEWEST:
        return _resampled(seen, min(axes, n - 2, p))
    return _by_the_normal_law(seen, axes)


def _resampled(seen: Seen, axes: int) -> Section:
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


def _by_the_normal_law(seen: Seen, axes: int) -> Section:
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
