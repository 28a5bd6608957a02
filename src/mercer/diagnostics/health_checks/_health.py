"""health(): what in the data changes how axes are read, the most important first."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.diagnostics.health_checks import _column_checks as of_columns
from mercer.diagnostics.health_checks import _map_checks as of_maps
from mercer.diagnostics.health_checks._findings import Finding
from mercer.diagnostics.health_checks._health_input import (
    AXES,
    ROWS,
    HealthInput,
    checked,
    numbered,
    units,
)
from mercer.errors import InputError

_ALL = (
    of_columns.chosen_columns,
    of_columns.units_differ,
    of_maps.dominating_rows,
    of_maps.series,
    of_maps.arch,
    of_maps.optimism,
    of_maps.planes,
    of_columns.copies,
    of_maps.repeated_rows,
    of_columns.long_tails,
    of_columns.constants,
)
# Sums of columns and axes of rows left out are those of PCA, not of a kernel.
_LINEAR = (of_columns.chosen_columns, of_maps.optimism, of_columns.copies)


def health(
    table: Array | None,
    scores: Array,
    variances: Array,
    *,
    names: Sequence[str] | None = None,
    row_names: Any = None,
    groups: Any = None,
    inseparable: tuple[tuple[int, ...], ...] = (),
    following: float = 0.0,
    rows: float | None = None,
    linear: bool = True,
) -> tuple[Finding, ...]:
    """Return the findings about a fit, the most important first; at most one for each code.

    docs/warnings.md has every code with its rule and the reason for its threshold. Only the
    first 10 axes are looked at, and 5000 rows of the table.

    Parameters
    ----------
    table : ndarray of shape (m, p) or None
        Rows as they were analysed, scaled where the fit scales; some of them, evenly
        spread, are enough. None leaves out what needs them.
    scores : ndarray of shape (n, k)
        Coordinates, not whitened, in the order of the rows.
    variances : ndarray of shape (k,)
        Variances of the axes.
    names : sequence of str or None
        Of the columns.
    row_names : sequence or None
        Of the rows of `scores`.
    groups : sequence of length m or None
        Group of every row of `table`.
    inseparable : tuple of tuple of int
        Axes that arithmetic cannot tell apart, as `certificate_.groups`.
    following : float
        Variance of the axis after the last, where it is known.
    rows : float or None
        Rows behind the axes; None for those of `scores`.
    linear : bool
        Whether the axes are those of PCA; False for kernels.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 4)) * [1000, 1, 1, 1]
    >>> found = health(X, X[:, :1], [1e6], names=["mass", "a", "b", "c"])
    >>> [finding.code for finding in found]
    ['M104']
    """
    known = names, row_names, groups, inseparable, following, rows
    seen = seen_of(table, scores, variances, *known)
    checks = [check for check in _ALL if linear or check not in _LINEAR]
    found = (check(seen) for check in checks)
    return tuple(finding for finding in found if finding is not None)


def seen_of(
    table: Array | None,
    scores: Array,
    variances: Array,
    names: Sequence[str] | None = None,
    row_names: Any = None,
    groups: Any = None,
    inseparable: tuple[tuple[int, ...], ...] = (),
    following: float = 0.0,
    rows: float | None = None,
) -> HealthInput:
    """Return a fit as the checks see it; the parameters are those of `health`."""
    Z = checked(scores, "coordinates")
    k = min(Z.shape[1], AXES)
    values = np.asarray(variances, np.float64)
    if values.shape != (Z.shape[1],):
        raise InputError(
            "every axis has a variance",
            got=f"coordinates of {Z.shape[1]} axes, variances of shape {values.shape}",
            fix="pass explained_variance_ with the coordinates",
        )
    X = np.zeros((len(Z), 0)) if table is None else checked(table, "a table")
    X, labels = _some(X, numbered(groups, len(X)))
    if names is not None and len(names) != X.shape[1]:
        raise InputError(
            "names are those of the columns",
            got=f"{len(names)} names, {X.shape[1]} columns",
            fix="pass one name for each column",
        )
    columns, sizes = units(X)
    relative, after = _relative(values, following, Z)
    return HealthInput(
        table=columns,
        sizes=sizes,
        scores=units(Z[:, :k])[0],
        variances=relative[:k],
        following=float(relative[k]) if k < len(relative) else after,
        rows=float(len(Z) if rows is None else rows),
        columns=_column_names(names, X.shape[1]),
        row_names=row_names,
        groups=labels,
        inseparable=inseparable,
    )


def _some(table: Array, labels: Array | None) -> tuple[Array, Array | None]:
    """Return at most 5000 rows, evenly spread, and their labels."""
    m = len(table)
    if m <= ROWS:
        return table, labels
    at = np.linspace(0, m - 1, ROWS).round().astype(np.int64)
    return table[at], None if labels is None else labels[at]


def _relative(values: Array, following: float, scores: Array) -> tuple[Array, float]:
    """Return variances in units of the first; of coordinates where they left the range."""
    if not len(values):
        return values, 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        first = float(values[0])
    if np.isfinite(values).all() and first > np.finfo(np.float64).tiny:
        return values / first, min(
            max(float(following), 0.0) / first, float(values[-1]) / first
        )
    own = units(scores)[1] ** 2
    return own / (float(np.max(own)) or 1.0), 0.0


def _column_names(names: Sequence[str] | None, p: int) -> Sequence[str]:
    return [f"column {j}" for j in range(p)] if names is None else [str(n) for n in names]
