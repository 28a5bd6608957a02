"""Checks of columns: units, copies and sums, constants, long tails.

Check of groups: whether columns were chosen because they tell the groups apart.
"""

import numpy as np
import scipy.special

from mercer.arrays import Array
from mercer.diagnostics.health_checks._findings import Finding, listed
from mercer.diagnostics.health_checks._health_input import HealthInput, axis

_NEARLY_ALL = 0.9  # of the variance
_LARGER = 5.0  # times the median deviation of the others
_SAME_UNIT = 100  # columns from which only a single one is a matter of its unit
_COPY = 1e-6  # one less the correlation of copies
_ALL_PAIRS = 500  # columns up to which every pair is looked at
_NEXT = 8  # columns after one in the order of products, of which it may be a copy
_SUM = 1e-10  # of the variance of a column, left by others that make it up
_SUMMED = 300  # columns of which sums are looked for
_NAMED = 6  # columns that one sum may have to be named
_WEIGHT = 1e-4  # of a column in a sum, in standard deviations
_COUNTS = 0.5  # of an even share of the variance: below it a column moves no axis
_OFTEN = 20.0  # cells, at least, that a copy must rest on where only some rows are looked at
_TAIL = 0.5  # of the variance of a column, in a hundredth of its cells


def units_differ(seen: HealthInput) -> Finding | None:
    """M104: 90 % of the variance in one column, or in a tenth of up to 100 columns."""
    sizes = seen.sizes[seen.sizes > 0]
    p = len(sizes)
    if p < 2:
        return None
    order = np.argsort(-seen.sizes, kind="stable")
    shares = np.cumsum(seen.sizes[order] ** 2)
    shares /= shares[-1]
    few = int(np.searchsorted(shares, _NEARLY_ALL)) + 1
    most = max(1, p // 10) if p <= _SAME_UNIT else 1
    rest = float(np.median(np.sort(sizes)[:-few])) if few < p else np.inf
    smallest = float(seen.sizes[order[few - 1]])
    if few > most or smallest < _LARGER * rest:
        return None
    names = [seen.columns[j] for j in order[:few]]
    who = "one column has" if few == 1 else f"{few} of {p} columns have"
    return Finding(
        "M104",
        f"{who} nearly all the variance: the axes show units, not structure",
        f"{listed(names)}: {_percent(float(shares[few - 1]))} of the variance of {p} columns;"
        f" deviation {float(seen.sizes[order[0]]) / rest:,.0f} times the median of the others",
        "standardise the columns (standardize=True, --standardize yes),"
        " unless all have the same unit",
    )


def _percent(share: float) -> str:
    return f"{share:.0%}" if share < 0.995 else f"{share:.2%}"


def copies(seen: HealthInput) -> Finding | None:
    """M109: columns of correlation one, and columns that others make up exactly."""
    alive = np.flatnonzero(seen.sizes > 0)
    m = seen.table.shape[0]
    if seen.rows > m:  # two columns may differ in rows that nobody looked at
        alive = alive[m * m / np.sum(seen.table[:, alive] ** 4, axis=0) >= _OFTEN]
    if len(alive) < 2 or m < 4:
        return None
    groups, lone = _copied(seen.table[:, alive])
    parts = [listed([seen.columns[alive[j]] for j in g], 3) for g in groups[:3]]
    said = []
    if groups:
        more = f", and {len(groups) - 3} such sets more" if len(groups) > 3 else ""
        said.append(f"copies up to unit and sign: {'; '.join(parts)}{more}")
    if (summed := _summed(seen, alive[lone])) is not None:
        said.append(summed)
    if not said:
        return None
    return Finding(
        "M109",
        "columns repeat what others say, and count more than once",
        "; ".join(said),
        "keep one of the copies, and leave a total or one part of a whole out",
    )


def _copied(table: Array) -> tuple[list[list[int]], Array]:
    """Return sets of columns that are copies, and one column of each set and all others."""
    root = np.arange(table.shape[1])
    for i, j in _alike(table):
        root[root == root[max(i, j)]] = root[min(i, j)]
    names, counts = np.unique(root, return_counts=True)
    sets = [np.flatnonzero(root == r).tolist() for r in names[counts > 1]]
    return sets, names


def _alike(table: Array) -> list[tuple[int, int]]:
    """Return pairs of columns of correlation ±1.

    All pairs of few columns. Of many, copies have the same product with any vector: columns
    are sorted by one, and those that are near each other by three are compared.
    """
    m, p = table.shape
    if p <= _ALL_PAIRS:
        near = np.abs(table.T @ table) > (1 - _COPY) * m
        return [(int(i), int(j)) for i, j in np.argwhere(np.triu(near, 1))]
    marks = np.random.default_rng(0).standard_normal((3, m)) @ table
    marks = np.abs(marks)
    order = np.argsort(marks[0], kind="stable")
    reach = 5 * np.sqrt(2 * _COPY * m)  # a product of copies differs by √(2·1e-6·m)
    found = []
    for step in range(1, _NEXT + 1):
        first, second = order[:-step], order[step:]
        close = np.all(np.abs(marks[:, first] - marks[:, second]) < reach, axis=0)
        for i, j in zip(first[close].tolist(), second[close].tolist(), strict=True):
            if abs(float(table[:, i] @ table[:, j])) > (1 - _COPY) * m:
                found.append((i, j))
    return found


def _summed(seen: HealthInput, among: Array) -> str | None:
    """Return which columns add up to a constant, in words, or None.

    All that vary, as parts of a whole do; or a few with some weights: the first column that
    earlier ones make up, with those that do. A sum of many with weights is no sum that
    somebody made: neighbours in a spectrum are nearly such.
    """
    U = seen.table[:, among]
    m, p = U.shape
    if p < 3 or p > _SUMMED or m < p + 2:
        return None
    sizes = seen.sizes[among] / np.max(seen.sizes[among])
    whole = U @ sizes
    if float(whole @ whole) / m <= _SUM * float(sizes @ sizes):
        return f"every row adds up to the same: {listed([seen.columns[j] for j in among])}"
    left = np.diag(np.linalg.qr(U, mode="r")) ** 2 / m
    for last in (int(j) for j in np.flatnonzero(left <= _SUM)):
        weights = np.linalg.lstsq(U[:, :last], U[:, last], rcond=None)[0]
        behind = np.flatnonzero(np.abs(weights) > _WEIGHT)
        if 2 <= len(behind) <= _NAMED:
            names = listed([seen.columns[among[j]] for j in behind], _NAMED)
            return f"{seen.columns[among[last]]} is made up of {names}"
    return None


def constants(seen: HealthInput) -> Finding | None:
    """M110: columns without variance."""
    still = np.flatnonzero(seen.sizes == 0)
    (m, p), some = seen.table.shape, seen.rows > seen.table.shape[0]
    if not still.size or m < 2:
        return None
    rarely = "hardly varies" if len(still) == 1 else "hardly vary"
    never = "does not vary" if len(still) == 1 else "do not vary"
    who = "a column" if len(still) == 1 else f"{len(still):,} columns"
    where = f", constant in the {m:,} rows looked at" if some else ""
    return Finding(
        "M110",
        f"{who} {rarely if some else never}",
        f"{listed([seen.columns[int(j)] for j in still])}, of {p:,} columns{where}",
        "leave them out; they say nothing about these rows",
    )


def long_tails(seen: HealthInput) -> Finding | None:
    """M111: half of the variance of a column that counts in a hundredth of its cells."""
    m, p = seen.table.shape
    few = m // 100
    if few < 1 or not p:
        return None
    squares = seen.table**2
    top = np.partition(squares, m - few, axis=0)[m - few :]
    shares = np.sum(top, axis=0) / m
    # A column far below an even share of the variance moves no axis, whatever its tail.
    shares *= seen.sizes**2 >= _COUNTS * np.mean(seen.sizes**2)
    found = [int(j) for j in np.argsort(-shares, kind="stable") if shares[j] > _TAIL]
    if not found:
        return None
    named = [f"{seen.columns[j]} ({shares[j]:.0%})" for j in found]
    many = "a column has" if len(found) == 1 else f"{len(found):,} of {p:,} columns have"
    return Finding(
        "M111",
        f"{many} a long tail: a few cells decide",
        f"share of the variance in the farthest 1 % of cells: {listed(named, 3)}",
        "take logarithms or roots of amounts and counts; check the farthest cells",
    )


_FEWEST = 8  # columns, as if independent, in which an edge can be seen
_EDGE = 0.2  # largest p-value of columns that may have been chosen
_PILED = 5.0  # columns, as if independent, with p-values in the upper half below the edge,
_SHARE = 1 / 8  # and at least this share of them


def chosen_columns(seen: HealthInput) -> Finding | None:
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


def _apart(seen: HealthInput, g: int) -> str:
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
