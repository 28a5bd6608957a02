"""Angles between rows of length one, to full accuracy near 0 and near π.

θ = 2·asin(‖u-v‖/2), and π - 2·asin(‖u+v‖/2) where the chord is nearly a diameter: the cosine
alone loses half the digits at both ends.
"""

import math
from typing import Any

import numpy as np

from mercer.arrays._distances import Cloud, distances
from mercer.arrays._namespace import Array, is_numpy, namespace
from mercer.arrays._rows import rows_at, squares
from mercer.arrays._steps import clamp, in_place

_LONG = 1.99  # chords from which the other end is measured
_PAIRS = 2**20  # numbers held at once while long chords are measured again


def angles(a: Cloud, b: Cloud, rows: slice, cols: slice, *, out: Any) -> Array:
    """Return the angle between u_i and v_j as a tile; all rows must have length one."""
    t = distances(a, b, rows, cols, 1.0, out=out)
    if is_numpy(t):
        i, j = np.nonzero(t > _LONG)
        t = _angle(t)
        step = max(1, _PAIRS // max(1, int(a.raw.shape[1])))
        for s in range(0, len(i), step):
            at, to = i[s : s + step], j[s : s + step]
            total = a.raw[at + rows.start] + b.raw[to + cols.start]
            t[at, to] = math.pi - _angle(np.sqrt(squares(total)))
        return t
    xp = namespace(t)
    far = t > _LONG
    t = _angle(t)
    if not bool(xp.any(far)):
        return t
    x, y = rows_at(a.raw, rows), rows_at(b.raw, cols)
    total = xp.zeros_like(t)
    for c in range(int(x.shape[1])):
        d = x[:, c][:, None] + y[:, c][None, :]
        total = total + d * d
    return xp.where(far, math.pi - _angle(xp.sqrt(total)), t)


def _angle(chord: Array) -> Array:
    """Return 2·asin(chord/2), in place where the library allows it."""
    chord *= 0.5
    chord = in_place("asin", clamp(chord, most=1.0))
    chord *= 2.0
    return chord
