"""Checks of columns: units, copies and sums, constants, long tails."""

import numpy as np

from mercer.arrays import Array
from mercer.diagnostics._findings import Finding, listed
from mercer.diagnostics._seen import Seen

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


def units_differ(seen: Seen) -> Finding | None:
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


def copies(seen: Seen) -> Finding | None:
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


def _summed(seen: Seen, among: Array) -> str | None:
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


def constants(seen: Seen) -> Finding | None:
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


def long_tails(seen: Seen) -> Finding | None:
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
