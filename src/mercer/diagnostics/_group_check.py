"""Check of groups: whether columns were chosen because they tell the groups apart."""

import numpy as np
import scipy.special

from mercer.arrays import Array
from mercer.diagnostics._findings import Finding
from mercer.diagnostics._seen import Seen, axis

_FEWEST = 8  # columns, as if independent, in which an edge can be seen
_EDGE = 0.2  # largest p-value of columns that may have been chosen
_PILED = 5.0  # columns, as if independent, with p-values in the upper half below the edge,
_SHARE = 1 / 8  # and at least this share of them


def chosen_columns(seen: Seen) -> Finding | None:
    """M105: every column tells the groups apart, with p-values that end at an edge.

    p_j is the p-value of the F test of column j. Of columns that were not chosen some have p
    up to 1, or, where all differ, very few lie near the largest. Columns chosen for small p
    among many that say nothing have p_j spread evenly between 0 and an edge. So: max p below
    0.2, and five or more p_j above max p/2; correlated columns count for fewer.
    """
    if seen.groups is None or len(seen.groups) != seen.table.shape[0]:
        return None
    alive = seen.sizes > 0
    table = seen.table[:, alive]
    m, p = table.shape
    g = int(seen.groups.max()) + 1
    if p < _FEWEST or m < g + 3 or g > m // 2:
        return None
    means, chances = _f_tests(table, seen.groups, g)
    edge = float(np.max(chances))
    if edge > _EDGE:
        return None
    free = _independent(table - means[seen.groups], m - g)
    piled = float(np.sum(chances > edge / 2)) * free / p
    if free < _FEWEST or piled < max(_PILED, _SHARE * free):
        return None
    return Finding(
        "M105",
        "the columns look chosen by the groups: then their distance along PC1 is no result",
        f"all {p:,} columns differ between the {g} groups, with p-values that pile up below"
        f" {edge:.2g}, as the best of some {p / edge:,.0f} columns of noise would;"
        f"{_apart(seen, g)}",
        "choose columns without the groups, or redo the choice for shuffled labels:"
        " shuffling after the choice cannot see it",
    )


def _f_tests(table: Array, groups: Array, g: int) -> tuple[Array, Array]:
    """Return the means (g, p) of groups, and the p-value of every column (p,) of mean zero."""
    m = len(groups)
    members = (groups == np.arange(g)[:, None]).astype(np.float64)
    counts = np.sum(members, axis=1)[:, None]
    means = members @ table / counts
    between = np.sum(counts * means**2, axis=0)
    left = np.maximum(np.einsum("ij,ij->j", table, table) - between, 0.0)
    ratio = between / (g - 1) / np.maximum(left / (m - g), 1e-300)
    return means, scipy.special.fdtrc(g - 1, m - g, ratio)


def _independent(within: Array, freedom: int) -> float:
    """Return how many independent columns have as unequal a correlation spectrum.

    p²/Σr_ij², from which the part 1/freedom that chance gives every r² is taken out.
    """
    norms = np.sqrt(np.sum(within**2, axis=0))
    U = within / np.where(norms > 0, norms, 1.0)
    p = U.shape[1]
    small = U.T @ U if p <= len(U) else U @ U.T
    squares = float(np.sum(small**2)) - p
    squares -= p * (p - 1) / freedom
    return float(p * p / (p + max(squares, 0.0)))


def _apart(seen: Seen, g: int) -> str:
    """Return how far apart two groups lie along PC1, in words."""
    assert seen.groups is not None
    if g != 2 or not seen.scores.shape[1] or len(seen.scores) != len(seen.groups):
        return ""
    first, second = (seen.scores[seen.groups == i, 0] for i in (0, 1))
    pooled = np.sqrt(
        (np.var(first) * len(first) + np.var(second) * len(second)) / len(seen.groups)
    )
    if pooled <= 0:
        return ""
    return f" {abs(float(first.mean() - second.mean())) / pooled:.1f} sd apart on {axis(0)};"
