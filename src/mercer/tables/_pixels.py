"""Pixels: the columns of a table that are the points of square pictures."""

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import final

from mercer.tables._columns import Column

_LEAST = 8  # pixels on a side
_BLANK = 0.75  # of the pixels may be the same in all pictures, at most


@final
@dataclasses.dataclass(frozen=True)
class Pixels:
    """A square picture in every row.

    Attributes
    ----------
    side : int
        Pixels on a side.
    places : tuple of int
        Place of every analysed column in the picture, line by line from 0.
    low, high : float
        Darkest and lightest value.
    """

    side: int
    places: tuple[int, ...]
    low: float
    high: float

    def line(self) -> str:
        """Return what is assumed, and how to have it otherwise."""
        return (
            f"columns are the pixels of pictures, {self.side} x {self.side}, {self.low:g} to"
            f" {self.high:g}: only centred (--standardize yes to divide by sd)"
        )


def pixels_of(columns: Sequence[Column], active: Sequence[str]) -> Pixels | None:
    """Return the picture that the numbers of a table make up, or None.

    Told by names that are numbered in turn (x0, x1, …; 1x1, 1x2, …), a square number of them,
    and one least value: pixels have one unit, though edges vary less than the middle. Those
    that are the same in all pictures are left out of the analysis, and keep their place.

    Parameters
    ----------
    columns : sequence of Column
        Of the table, in order.
    active : sequence of str
        Names of the columns that are analysed.
    """
    points = [c for c in columns if c.role == "active" or _constant(c)]
    side = math.isqrt(len(points))
    if side < _LEAST or side * side != len(points) or not _in_turn(points, side):
        return None
    own = {column.name: place for place, column in enumerate(points)}
    if any(name not in own for name in active) or len(active) < (1 - _BLANK) * len(points):
        return None
    lows = {column.low for column in points}
    highs = [column.high for column in points if column.high is not None]
    if len(lows) != 1 or None in lows or not highs:
        return None
    low = lows.pop()
    assert low is not None
    return Pixels(side, tuple(own[name] for name in active), low, max(highs))


def _constant(column: Column) -> bool:
    return column.role == "out" and column.why.startswith("constant")


def _in_turn(points: Sequence[Column], side: int) -> bool:
    """Tell whether the names count: one stem and running numbers, or line and column."""
    names = [column.name for column in points]
    if re.fullmatch(r"\D*\d+\D+\d+", names[0]):  # 1x1, p00_00, r0c0
        parts = [re.split(r"(\d+)", name) for name in names]
        stems = {tuple(part[::2]) for part in parts}
        places = [(int(part[1]), int(part[3])) for part in parts if len(part) == 5]
        top, left = places[0]
        turn = [(top + i, left + j) for i in range(side) for j in range(side)]
        return len(stems) == 1 and places == turn
    found = [re.fullmatch(r"(.*?)(\d+)", name) for name in names]
    first = found[0]
    if first is None:
        return False
    stem, start = first[1], int(first[2])
    return all(
        match is not None and match[1] == stem and int(match[2]) == start + i
        for i, match in enumerate(found)
    )
