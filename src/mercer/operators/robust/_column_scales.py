"""Medians and robust scales of columns, exact, from walks that keep a few counts a column."""

import numpy as np

from mercer.arrays import Array
from mercer.operators.robust._rows_about_origin import RowsAboutOrigin

_NORMAL = 1.482602218505602  # 1/Φ⁻¹(3/4): what makes a MAD a standard deviation
_DIGIT = 8  # bits that one walk settles
_SIGN = np.uint64(1 << 63)
_TIE = 1e-12  # of all weight: half of equal fractions is half


def column_scales(rows: RowsAboutOrigin, counts: Array) -> Array:
    """Return 1.4826·median|y - median| of every column (p,), with repeat counts.

    A column with more than half of its cells equal would have none: of the cells that differ
    it takes 1.4826·MAD·√(their share). A constant column has the scale zero.

    Cost: eighteen walks, nine more where such columns are.
    """
    p = rows.shape[1]
    middle = column_medians(rows, counts)
    scale = column_medians(rows, counts, about=middle)
    still = scale == 0
    if np.any(still):
        differ = np.zeros(p)
        for part, y in rows.blocks():
            differ += counts[part] @ (y != middle)
        some = column_medians(rows, counts, about=middle, totals=differ)
        share = np.sqrt(differ / float(np.sum(counts)))
        scale = np.where(still & (differ > 0), some * share, scale)
    return _NORMAL * scale


def column_medians(
    rows: RowsAboutOrigin,
    counts: Array,
    about: Array | None = None,
    totals: Array | None = None,
) -> Array:
    """Return the median of y, or of |y - about|, in every column (p,): at most nine walks.

    Floating numbers sort like whole numbers made of their bits; each walk counts the values
    of the next eight bits among those that agree so far. No row is kept. Where half of the
    weight ends at that value, the next one is looked for, and the median is between them.

    Parameters
    ----------
    rows : RowsAboutOrigin
        The rows.
    counts : ndarray of shape (n,)
        Repeat counts.
    about : ndarray of shape (p,) or None
        Centres; distances from them are taken then.
    totals : ndarray of shape (p,) or None
        Σw of the cells that differ from `about`; only these count then.
    """
    p, width = rows.shape[1], 1 << _DIGIT
    found, below, upto = np.zeros(p, np.uint64), np.zeros(p), np.zeros(p)
    half = np.full(p, float(np.sum(counts))) / 2 if totals is None else totals / 2
    columns = np.arange(p) * width
    for shift in range(64 - _DIGIT, -1, -_DIGIT):
        seen = np.zeros(p * width)
        for part, y in rows.blocks():
            keys = _keys(y, about)
            digits = ((keys >> np.uint64(shift)) & np.uint64(width - 1)).astype(np.int64)
            agrees = (keys ^ found) >> np.uint64(shift) < np.uint64(width)
            if totals is not None:
                agrees &= keys != _SIGN  # zero: a cell that does not differ
            weight = np.where(agrees, counts[part][:, None], 0.0)
            seen += np.bincount((digits + columns).ravel(), weight.ravel(), p * width)
        reached = below[:, None] + np.cumsum(seen.reshape(p, width), axis=1)
        digit = np.argmax(reached >= half[:, None] * (1 - _TIE), axis=1)
        upto = reached[np.arange(p), digit]
        before = np.maximum(digit - 1, 0)
        below = np.where(digit > 0, reached[np.arange(p), before], below)
        found |= digit.astype(np.uint64) << np.uint64(shift)
    tied = upto <= half * (1 + _TIE)
    if not np.any(tied):
        return _values(found)
    above = np.where(tied, _next_keys(rows, counts, about, found), found)
    return 0.5 * _values(found) + 0.5 * _values(above)


def _next_keys(
    rows: RowsAboutOrigin, counts: Array, about: Array | None, found: Array
) -> Array:
    """Return the next keys (p,) of rows that count, or those found: one walk."""
    none = np.uint64(np.iinfo(np.uint64).max)
    least = np.full(rows.shape[1], none)
    for part, y in rows.blocks():
        keys = _keys(y, about)
        keys[~((keys > found) & (counts[part] > 0)[:, None])] = none
        least = np.minimum(least, keys.min(axis=0, initial=none))
    return np.where(least == none, found, least)


def _keys(y: Array, about: Array | None) -> Array:
    """Return whole numbers that sort as the values do."""
    y = np.abs(y - about) if about is not None else y + 0.0  # no -0.0
    bits = np.ascontiguousarray(y).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _values(keys: Array) -> Array:
    bits = np.where(keys & _SIGN, keys ^ _SIGN, ~keys)
    return bits.view(np.float64)
