"""Whether given groups lie apart on the map, whether chance could do that, and what differs."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.report._page_words import listed, percent
from mercer.report._row_labels import MISSING, Levels, levels_of
from mercer.report.facts._linear_summary import LinearSummary

_DRAWS = 199
_MOST = 12  # groups
_SOME = 20_000  # rows that chance is well known from
_COLUMNS = 3  # to colour by, that the verdict speaks of
_DIFFERS = 0.1  # of a column between the groups: what is worth naming
_FEW = 10  # cells, at least, that a difference rests on
_FREE = 0.2  # of the variance between groups on another axis, beyond that on the plane


def separation(seen: LinearSummary) -> list[str]:
    """Return a sentence for each of the first columns to colour by.

    Groups: η² = 1 - (variance within groups)/(variance) over the plane of the first two
    components. Numbers: the share R² of their variance that the plane explains. The column is
    shuffled 199 times; chance is the share of shuffles that reach as much.
    """
    said = []
    for name, values in list(seen.colours.items())[:_COLUMNS]:
        sentence = told_apart(name, values[seen.at], seen.Z)
        if sentence and "beyond chance" not in sentence:
            there, at, groups = grouped(values[seen.held_at])
            more = _differences(seen.held[there], at, groups, seen.names) if groups else ""
            sentence = f"{sentence} {more}".strip()
        said += [sentence] if sentence else []
    return said


def grouped(values: Any) -> tuple[Array, Array, int]:
    """Return which rows have a group, the group of each of these, and how many there are.

    Columns with one group or more than twelve have none.
    """
    cells = values.levels if isinstance(values, Levels) else values
    numbers = cells.dtype.kind in "fiu"
    there = np.isfinite(cells) if numbers else (cells != MISSING) & (cells != "")
    there = there[values.at] if isinstance(values, Levels) else there
    levels, at, _ = levels_of(values[there])
    return there, at, len(levels) if 2 <= len(levels) <= _MOST else 0


def told_apart(name: str, values: Any, Z: Array, axes: Sequence[str] = ()) -> str:
    """Return how a column lies on the map, or "" where it is neither groups nor numbers.

    Parameters
    ----------
    name : str
        Of the column.
    values : array of shape (n,)
        Its cells.
    Z : array of shape (n, s)
        Coordinates.
    axes : sequence of s str
        What the axes are called; empty for PC1, PC2 and so on.
    """
    there, at, groups = grouped(values)
    if np.count_nonzero(there) < 4 or not (groups or values.dtype.kind in "fiu"):
        return ""
    Z = np.asarray(Z[there], np.float64)
    Z = Z - Z.mean(axis=0)
    if not groups:
        step = max(1, -(-len(Z) // _SOME))
        numbers = np.asarray(values[there], np.float64)
        return _along(name, numbers[::step], Z[::step, :2] - Z[::step, :2].mean(axis=0))
    found, p = between(Z[:, :2], at, groups), _chance_apart(Z[:, :2], at, groups)
    if p > 0.05:
        plane = (
            f"The centres of the {groups} groups of {name} do not lie apart on the map beyond "
            f"chance (they explain {percent(found)} of it, p = {p:.2g}); shapes were not "
            "compared."
        )
    else:
        apart = "far" if found > 0.6 else "partly" if found > 0.2 else "slightly"
        plane = (
            f"The {groups} groups of {name} lie {apart} apart: they explain {percent(found)} "
            f"of the map (p ≤ {p:.2g} by shuffling), though the axes were found without them."
        )
    return plane + _elsewhere(Z, at, groups, found, axes)


def _elsewhere(Z: Array, at: Array, groups: int, found: float, axes: Sequence[str]) -> str:
    """Say so where an axis beyond the plane tells the groups apart much better."""
    shares = [between(Z[:, a : a + 1], at, groups) for a in range(2, Z.shape[1])]
    if not shares or max(shares) < found + _FREE:
        return ""
    best = int(np.argmax(shares)) + 2
    # The best of several axes was taken, so chance has as many tries.
    if _chance_apart(Z[:, best : best + 1], at, groups) * len(shares) > 0.05:
        return ""
    name = axes[best] if axes else f"PC{best + 1}"
    return f" {name} tells them apart better: they explain {percent(max(shares))} of it."


def _chance_apart(Z: Array, at: Array, groups: int) -> float:
    """Return the chance of groups as far apart; known well from some of many rows."""
    step = max(1, -(-len(Z) // _SOME))
    Z, at = Z[::step] - Z[::step].mean(axis=0), at[::step]
    return _chance(lambda drawn: between(Z, drawn, groups), at, between(Z, at, groups))


def _along(name: str, values: Array, plane: Array) -> str:
    """Return how numbers follow the plane: R² of a line through it."""
    values = values - values.mean()
    whole = float(values @ values)
    if whole <= 0:
        return ""
    basis = np.linalg.qr(plane)[0]

    def share(column: Array) -> float:
        return float(np.sum((basis.T @ column) ** 2)) / whole

    found = share(values)
    p = _chance(share, values, found)
    if p > 0.05:
        return (
            f"{name} does not follow the map beyond chance (the plane explains "
            f"{percent(found)} of it, p = {p:.2g})."
        )
    how = "closely" if found > 0.6 else "partly" if found > 0.2 else "slightly"
    return (
        f"{name} follows the map {how}: the plane explains {percent(found)} of its variance "
        f"(p ≤ {p:.2g} by shuffling)."
    )


def _chance(measure: Callable[[Array], float], column: Array, found: float) -> float:
    """Return the share of shuffles that reach as much as was found."""
    rng = np.random.default_rng(0)
    # Groups of one row explain all, however they are shuffled: rounding must not tell.
    least = found * (1 - 1e-9)
    reached = sum(measure(rng.permutation(column)) >= least for _ in range(_DRAWS))
    return float((reached + 1) / (_DRAWS + 1))


def _differences(rows: Array, at: Array, groups: int, names: Sequence[str]) -> str:
    """Say in which columns the groups differ most: η² of each."""
    if len(rows) <= groups:
        return ""
    largest = np.max(np.abs(rows), axis=0)
    rows = rows / np.where(largest > 0, largest, 1.0)  # fourth powers stay in range
    size = np.sum(rows**2, axis=0)
    rows -= rows.mean(axis=0)
    counts = np.bincount(at, minlength=groups)
    sums = np.zeros((groups, rows.shape[1]))
    np.add.at(sums, at, rows)
    apart = np.sum(sums**2 / np.maximum(counts, 1)[:, None], axis=0)
    whole = np.sum(rows**2, axis=0)
    # A column that hardly ever varies lies between groups by the chance of a few cells.
    often = whole**2 >= min(_FEW, len(rows) / 3) * np.sum(rows**4, axis=0)
    share = np.divide(apart, whole, out=np.zeros(len(whole)), where=whole > 1e-24 * size)
    share *= often
    top = [int(j) for j in np.argsort(-share, kind="stable")[:3] if share[j] > _DIFFERS]
    if not top:
        return ""
    said = listed([f"{names[j]} ({100 * share[j]:.0f} %)" for j in top])
    return f"They differ most in {said}; in brackets, how much of the column lies between them."


def between(Z: Array, at: Array, groups: int) -> float:
    """Return η², the share of the variance of centred coordinates that lies between groups."""
    counts = np.bincount(at, minlength=groups)
    found = 0.0
    for column in Z.T:
        sums = np.bincount(at, weights=column, minlength=groups)
        found += float(np.sum(sums**2 / np.maximum(counts, 1)))
    return found / max(float(np.sum(Z**2)), 1e-300)
