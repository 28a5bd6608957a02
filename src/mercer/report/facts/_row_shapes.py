"""What kind of thing a row is: a picture, a curve, or a list of numbers."""

import numpy as np

from mercer.arrays import Array

_CLEARLY = 0.15  # by so much neighbours in a picture correlate more than pixels by chance
_SMOOTH = 0.1  # of 1 - correlation by chance: what neighbours on a curve may lack
_LEAST = 6  # pixels on a side
_LONG = 2.0  # of a picture: its longer side over the shorter, at most
_LOOKED_AT = 500  # rows that shapes are told by
_CURVE = 20  # columns from which numbers in a row may be a curve


def image_shape(rows: Array) -> tuple[int, int] | None:
    """Return (height, width) where the columns are the pixels of a picture, else None.

    Told by the numbers: columns across and down correlate more than columns by chance, and
    the end of a line does not correlate so with the beginning of the next. Of all shapes with
    that many pixels, none much longer than wide, the one whose lines fit best.

    Parameters
    ----------
    rows : array of shape (n, p)
        Centred rows.
    """
    n, p = rows.shape
    sides = [h for h in range(_LEAST, p // _LEAST + 1) if p % h == 0]
    shapes = [(h, p // h) for h in sides if 1 / _LONG <= h * h / p <= _LONG]
    if not shapes or n < 10:
        return None
    table = _scaled(rows[:: -(-n // _LOOKED_AT)])
    chance = _by_chance(table)
    fits = {shape: _fit(table.reshape(-1, *shape), chance) for shape in shapes}
    best = max(shapes, key=lambda shape: fits[shape])
    return best if fits[best] > _CLEARLY else None


def _fit(cells: Array, chance: float) -> float:
    """Return by how much neighbours correlate more than by chance, and than across a seam."""
    across = float(np.mean(cells[:, :, 1:] * cells[:, :, :-1]))
    down = float(np.mean(cells[:, 1:] * cells[:, :-1]))
    seam = float(np.mean(cells[:, 1:, 0] * cells[:, :-1, -1]))
    return min(across, down) - max(seam, chance)


def is_curve(rows: Array) -> bool:
    """Tell whether every row is a curve: each column is much like the next.

    Parameters
    ----------
    rows : array of shape (n, p)
        Centred rows.
    """
    n, p = rows.shape
    if p < _CURVE or n < 5:
        return False
    table = _scaled(rows)
    neighbours = float(np.mean(table[:, 1:] * table[:, :-1]))
    return 1 - neighbours < _SMOOTH * (1 - _by_chance(table))


def _scaled(rows: Array) -> Array:
    """Return the columns with variance one; those that do not vary stay zero."""
    deviations = np.sqrt(np.mean(rows**2, axis=0))
    return np.asarray(rows / np.where(deviations > 0, deviations, 1.0))


def _by_chance(table: Array) -> float:
    """Return the mean correlation of two columns taken by chance."""
    p = table.shape[1]
    whole, own = float(np.mean(np.sum(table, axis=1) ** 2)), float(np.mean(table**2)) * p
    return float((whole - own) / (p * (p - 1)))
