"""Words for numbers: counts, shares, lists, without a wrong plural.

What an axis weighs, in words: which columns it sets against which.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.arrays import Array


def count(number: int, thing: str) -> str:
    """Return "no rows", "1 row", "1,234 rows".

    Examples
    --------
    >>> count(0, "row"), count(1, "row"), count(1234, "row")
    ('no rows', '1 row', '1,234 rows')
    """
    if number == 1:
        return f"1 {thing}"
    return f"{number:,} {thing}s" if number else f"no {thing}s"


def axes_of(number: int) -> str:
    """Return "no axes", "1 axis", "2 axes".

    Examples
    --------
    >>> axes_of(0), axes_of(1), axes_of(2)
    ('no axes', '1 axis', '2 axes')
    """
    return "1 axis" if number == 1 else f"{number or 'no'} axes"


def percent(share: float) -> str:
    """Return a share in per cent with the figures it deserves.

    Examples
    --------
    >>> percent(0.1234), percent(0.9996), percent(0.00012), percent(0)
    ('12.3 %', 'over 99.9 %', '0.012 %', '0 %')
    """
    hundred = 100 * share
    if hundred == 0:
        return "0 %"
    if 99.95 < hundred < 100 - 1e-9:  # a sum of shares may miss one by rounding
        return "over 99.9 %"
    return f"{hundred:.1f} %" if hundred >= 0.1 else f"{hundred:.2g} %"


def listed(words: Sequence[str], most: int = 5) -> str:
    """Return "a, b and c", or the first few and how many more; never "and 1 more".

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"] * 9, most=2), listed(["a"] * 3, most=2)
    ('a, b and c', 'a, a and 7 more', 'a, a and a')
    """
    if len(words) > most + 1:
        return ", ".join(words[:most]) + f" and {len(words) - most:,} more"
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def axes_named(first: int, last: int) -> str:
    """Return "PC3", "PC3 and PC4" or "PC3 to PC6", counted from 1.

    Examples
    --------
    >>> axes_named(3, 3), axes_named(3, 4), axes_named(3, 6)
    ('PC3', 'PC3 and PC4', 'PC3 to PC6')
    """
    if last - first < 2:
        return " and ".join(f"PC{axis}" for axis in range(first, last + 1))
    return f"PC{first} to PC{last}"


def short(thing: Any) -> str:
    """Return what something is called, with numbers of four figures.

    Examples
    --------
    >>> short("rbf(lengthscale=0.644053572867971)")
    'rbf(lengthscale=0.6441)'
    """
    return re.sub(
        r"\d+\.\d{4,}(e[-+]?\d+)?", lambda found: f"{float(found.group()):.4g}", str(thing)
    )


def finite(value: float) -> float | None:
    """Return a number for a table, or None where it is not finite."""
    return float(value) if np.isfinite(value) else None


def chance(p: float) -> str:
    """Return "p < 0.001" or "p = 0.012"."""
    return "p < 0.001" if p < 1e-3 else f"p = {p:.2g}"


def other_rows(model: Any, rows: int) -> list[str]:
    """Return a fact where the rows of a page are not as many as those of the fit."""
    before = int(model.n_samples_)
    return [] if before == rows else [f"the model was fitted to {before:,} rows, not to these"]


def axis_names(ratio: Any, axes: int, called: str = "axis ") -> tuple[list[str], list[str]]:
    """Return names of axes, "PC1", and the same with their shares, "PC1 (12.3 %)".

    Parameters
    ----------
    ratio : array of shape (k,) or None
        Shares of the variance; None where they have no meaning.
    axes : int
        How many are named.
    called : str
        What stands before the number.
    """
    names = [f"{called}{a + 1}" for a in range(axes)]
    if ratio is None:
        return names, names
    return names, [f"{name} ({percent(float(ratio[a]))})" for a, name in enumerate(names)]


def spectrum_rows(
    called: str, values: Array, bounds: Any, ratio: Array, most: int
) -> tuple[tuple[Any, ...], ...]:
    """Return name, value, error at most, share and sum of shares in per cent, by axis.

    Parameters
    ----------
    called : str
        What stands before the number of an axis.
    values, ratio : arrays of shape (k,)
        Values, and their shares.
    bounds : object with `lower` and `upper`
        Intervals that hold the values, of the first ones at least.
    most : int
        Axes that are listed.
    """
    sums, rows = np.cumsum(ratio), []
    for i, value in enumerate(values[:most]):
        error = None
        if i < len(bounds.lower):
            error = float(max(bounds.upper[i] - value, value - bounds.lower[i], 0.0))
        shares = 100 * float(ratio[i]), 100 * float(sums[i])
        rows.append((f"{called}{i + 1}", float(value), error, *shares))
    return tuple(rows)


def number(value: float) -> str:
    """Return a number with four figures."""
    return f"{value:,.4g}"


_WEIGHS = 0.5  # of the largest weight: a column that an axis is named after
_NAMED = 4  # columns, or runs of them, on each side


def axis_in_words(weights: Array, names: Sequence[str], *, in_order: bool = False) -> str:
    """Return what an axis sets against what: "sets a and b against c".

    Columns count whose weight is at least half of the largest. Those named first have
    positive weights: rows with large values there lie high on the axis.

    Parameters
    ----------
    weights : array of shape (p,)
        The axis.
    names : sequence of p str
        Of the columns.
    in_order : bool
        Whether the columns follow each other, as wavelengths do; then runs of them are named.
    """
    size = np.abs(weights)
    order = np.argsort(-size, kind="stable")
    heavy = [int(j) for j in order if size[j] >= _WEIGHS * size[order[0]]]
    up = [j for j in heavy if weights[j] > 0]
    down = [j for j in heavy if weights[j] < 0]
    if up and down:
        sides = [_named(side, size, names, in_order) for side in (up, down)]
        return f"sets {sides[0]} against {sides[1]}"
    together, verb = (up, "grows with") if up else (down, "falls with")
    if len(together) == 1:
        whole = float(np.sum(weights**2))
        much = size[together[0]] ** 2 > 0.5 * whole
        return (
            f"is mostly {names[together[0]]}" if much else f"weighs {names[together[0]]} most"
        )
    most = "most columns: " if len(together) > len(names) // 2 > 2 else ""
    return f"{verb} {most}{_named(together, size, names, in_order)}"


def _named(columns: list[int], size: Array, names: Sequence[str], in_order: bool) -> str:
    if not in_order:
        return listed([names[j] for j in columns], _NAMED)
    runs = _runs(sorted(columns))
    runs.sort(key=lambda run: -float(np.sum(size[run[0] : run[1] + 1] ** 2)))
    return listed([_run(names[a], names[b], b - a + 1) for a, b in runs], 3)


def _run(first: str, last: str, length: int) -> str:
    return first if length == 1 else f"{first} to {last}"


def _runs(columns: list[int]) -> list[tuple[int, int]]:
    """Return the first and last of each run of neighbours."""
    breaks = [i for i in range(1, len(columns)) if columns[i] > columns[i - 1] + 1]
    starts, ends = [0, *breaks], [*(i - 1 for i in breaks), len(columns) - 1]
    return [(columns[a], columns[b]) for a, b in zip(starts, ends, strict=True)]
