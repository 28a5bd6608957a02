"""What an axis weighs, in words: which columns it sets against which."""

from collections.abc import Sequence

import numpy as np

from mercer.arrays import Array
from mercer.report._words import listed

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
