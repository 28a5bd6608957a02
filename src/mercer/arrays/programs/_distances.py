"""Euclidean distances by one product, and by differences where a product would cancel.

‖x-y‖² = ‖x̂‖² + ‖ŷ‖² - 2x̂ᵀŷ with x̂ = (x - o)·w·2^-e: about a provisional origin o, because
distances do not change with it, and in a unit 2^e, because then no square overflows.
The product has an error of ε(‖x̂‖² + ‖ŷ‖²). Pairs closer than that allows are measured again
as Σ(x-y)², from the rows as they are stored.

Angles between rows of length one, to full accuracy near 0 and near π.

θ = 2·asin(‖u-v‖/2), and π - 2·asin(‖u+v‖/2) where the chord is nearly a diameter: the cosine
alone loses half the digits at both ends.
"""

import dataclasses
import math
from typing import Any

import numpy as np

from mercer.arrays._namespace import (
    Array,
    asarray_like,
    is_numpy,
    is_sparse,
    itemsize,
    namespace,
)
from mercer.arrays._tiles import in_units, shifted
from mercer.arrays.programs._program_rows import (
    as_rows,
    columns_of,
    products,
    rows_at,
    scaled,
    squares,
    unit_exponent,
)
from mercer.arrays.programs._scalar_steps import clamp, in_place, strips
from mercer.errors import InputError

_NARROW = 2.0**120  # factors of float32 numbers below this overflow for far rows only
_SAMPLE = 256  # rows that place the origin
_PAIRS = 2**20  # numbers held at once while close pairs are measured again
_FEW = 128  # columns up to which a pass over a tile costs much beside the product
_CROWD = 8  # from one pair in so many on, the whole tile is measured again
# Largest ‖x̂‖² + ‖ŷ‖², in units of the kernel, at which a smooth kernel takes the product as
# it is: an absolute error of 1e-12 (float64) or 1e-5 (float32) in the squared distance.
_SMOOTH = {8: 4096.0, 4: 64.0}
# Share of ‖x̂‖² + ‖ŷ‖² under which a squared distance is measured again: what is above has a
# relative error of at most 2e-12 (float64) or 1e-5 (float32).
_CLOSE = {8: 1e-4, 4: 1e-2}


@dataclasses.dataclass(frozen=True)
class PointCloud:
    """One set of rows, ready for distances.

    Parameters
    ----------
    raw : Array (n, p)
        The chosen columns as stored; differences are taken from these.
    rows : Array (n, p)
        x̂: centred, scaled and in the unit 2^exponent.
    half : Array (n,)
        ½‖x̂‖², computed from the rounded x̂.
    origin : Array (p,) or None
        o in float64; None means zero, which sparse rows need.
    multipliers : tuple of float or None
        w, one for each column.
    exponent : int
        e.
    most : float
        The largest ‖x̂‖².
    """

    raw: Array
    rows: Array
    half: Array
    origin: Array | None
    multipliers: tuple[float, ...] | None
    exponent: int
    most: float


def make_cloud(
    rows: Any,
    columns: tuple[int, ...] | None,
    multipliers: tuple[float, ...] | None,
    other: PointCloud | None,
) -> PointCloud:
    """Return rows (n, p) made ready, in the frame of `other` where there is one."""
    raw = columns_of(as_rows(rows), columns)
    if other is not None and is_sparse(raw) and other.origin is not None:
        raw = raw.toarray()  # the rows they are measured against are dense as well
    sparse = is_sparse(raw)
    own = None if sparse or other is not None else _origin(raw)
    origin = own if other is None else other.origin
    y = raw.astype(np.float64) if sparse else _centred(raw, origin)
    if multipliers is not None:
        y = scaled(y, multipliers)
    exponent = unit_exponent(y) if other is None else other.exponent
    with np.errstate(over="ignore"):
        y = in_units(y, exponent)
        norms = squares(y)
    xp = namespace(norms)
    most = float(xp.max(norms)) if norms.shape[0] else 0.0
    half = xp.astype(0.5 * norms, xp.float64 if sparse else y.dtype)
    return PointCloud(raw, y, half, origin, multipliers, exponent, most)


def _origin(raw: Array) -> Array:
    """Return the median of a sample, column by column: one outlier cannot carry it away."""
    n = int(raw.shape[0])
    step = max(1, -(-n // _SAMPLE))
    xp = namespace(raw)
    sample = xp.sort(raw[::step, :], axis=0)
    if n == 0:
        return xp.zeros((int(raw.shape[1]),), dtype=xp.float64)
    return xp.astype(sample[int(sample.shape[0]) // 2, :], xp.float64)


def _centred(raw: Array, origin: Array | None) -> Array:
    """Return raw - origin as a new array: subtracted in float64, kept as the data are."""
    with np.errstate(over="ignore", invalid="ignore"):
        if origin is None:
            return raw * 1.0
        if is_numpy(raw):
            return shifted(raw, origin, np.empty(raw.shape, raw.dtype))
        xp = namespace(raw)
        return xp.astype(xp.astype(raw, xp.float64) - origin[None, :], raw.dtype)


def _in_unit(y: Array, exponent: int) -> Array:
    """Return y·2^-exponent as a new array."""
    half = exponent // 2
    with np.errstate(over="ignore"):
        return y * 2.0**-half * 2.0 ** -(exponent - half)


def _unit(cloud: PointCloud, scale: float) -> float:
    """Return scale·2^e, the length in the kernel of one unit."""
    try:
        unit = math.ldexp(scale, cloud.exponent)
    except OverflowError:
        unit = math.inf
    if not math.isfinite(unit):
        raise InputError(
            "distances between these rows are past the largest number",
            got=f"rows of size 2^{cloud.exponent}, multiplied by {scale:.3g}",
            fix="divide the data by their largest value",
        )
    return unit


def reach(a: PointCloud, b: PointCloud, scale: float) -> float:
    """Return a bound on scale²·‖x-y‖² over all pairs: ‖x̂-ŷ‖² ≤ 2‖x̂‖² + 2‖ŷ‖²."""
    unit = _unit(a, scale)
    return 2.0 * unit * unit * (a.most + b.most)  # infinite, not an error


def lost_to_products(
    cloud: PointCloud, scale: float, *, smooth: bool, falls: bool
) -> tuple[float, float]:
    """Return what a distance among these rows loses, in roundings of a sum over columns.

    An absolute and a relative part: of d² = scale²·‖x-y‖² where it is `smooth`, else of d.
    With S the largest ‖x̂‖² + ‖ŷ‖² in units of the kernel, d² by one product is off by S. Where
    close pairs are measured again, those that are not have d² ≥ c·S' of their own: d² is off
    by 1/c of itself, and d by S/2d ≤ ½√(S/c), or by ½/c of itself: that is more, but less to
    a kernel which `falls` so fast that large distances do not matter.
    """
    unit = _unit(cloud, scale)
    wide, close = 2 * cloud.most * unit * unit, _CLOSE[itemsize(cloud.half)]
    if smooth:
        again = not wide <= _SMOOTH[itemsize(cloud.half)]
        return (0.0, 1 / close) if again else (wide, 0.0)
    flat = 0.5 * math.sqrt(wide / close)
    return (0.0, 0.5 / close) if falls and flat > 1 / close else (flat, 0.0)


def squared_distances(
    a: PointCloud,
    b: PointCloud,
    rows: slice,
    cols: slice,
    scale: float,
    *,
    factor: float,
    out: Any,
) -> Array:
    """Return factor·scale²·‖x_i-y_j‖² as a tile, smooth kernels' accuracy."""
    unit = _unit(a, scale)
    whole = -2 * factor * unit * unit
    if not math.isfinite(whole):
        raise InputError(
            "squared distances between these rows are past the largest number",
            got=f"distances of about {unit:.3g}",
            fix="divide the data by their largest value",
        )
    t, close = _half_negative(a, b, rows, cols, unit * unit, out, whole)
    if close:
        t = _measured_again(t, a, b, rows, cols)
        if itemsize(t) == 4 and abs(whole) > _NARROW:  # in two steps: zeros stay zeros
            t *= abs(whole) ** 0.5
            whole = math.copysign(abs(whole) ** 0.5, whole)
        if whole != 1:
            with np.errstate(over="ignore", invalid="ignore"):  # far rows of a narrow type
                t *= whole
    return t


def distances(
    a: PointCloud, b: PointCloud, rows: slice, cols: slice, scale: float, *, out: Any
) -> Array:
    """Return scale·‖x_i-y_j‖ as a tile, every number to relative accuracy."""
    t, _ = _half_negative(a, b, rows, cols, 0.0, out)
    t = _measured_again(t, a, b, rows, cols)
    t *= -2.0
    t = in_place("sqrt", t)
    t *= _unit(a, scale)
    return t


def _half_negative(
    a: PointCloud,
    b: PointCloud,
    rows: slice,
    cols: slice,
    unit: float,
    out: Any,
    factor: float = 1.0,
) -> tuple[Array, bool]:
    """Return -½‖x̂-ŷ‖² ≤ 0 by one product, and whether close pairs need a second look.

    It is multiplied by `factor` where they need none.
    """
    close = not (a.most + b.most) * unit <= _SMOOTH[itemsize(a.half if out is None else out)]
    factor = 1.0 if close else factor
    x, y = rows_at(a.rows, rows), rows_at(b.rows, cols)
    h, g = a.half[rows], b.half[cols]
    with np.errstate(over="ignore", invalid="ignore"):
        few = out is not None and x.shape[1] <= _FEW
        if few and not close and not (is_sparse(x) or is_sparse(y)):
            t = _in_one_product(x, y, h, g, factor, out)
            return (_zero_diagonal(t, rows, cols) if a is b else t), False
        t = products(x, y, out)
        if out is None:
            t = clamp(t - h[:, None] - g[None, :], most=0.0)
            t = t if factor == 1 else t * factor
        else:
            for part in strips(t):
                strip = t[part]
                strip -= h[part, None]
                strip -= g[None, :]
                np.minimum(strip, 0.0, out=strip)
                if factor != 1:
                    strip *= factor
    if a is b:
        t = _zero_diagonal(t, rows, cols)
    return t, close


def _in_one_product(x: Array, y: Array, h: Array, g: Array, factor: float, out: Any) -> Array:
    """Return factor·(xᵀy - h - g), held on its side of zero, as (f·x, -f·h, -f)ᵀ(y, 1, g).

    Two columns more in the product save three passes over the tile.
    """
    p = x.shape[1]
    left, right = np.empty((len(x), p + 2), out.dtype), np.empty((len(y), p + 2), out.dtype)
    np.multiply(x, factor, out=left[:, :p], casting="same_kind")
    np.multiply(h, -factor, out=left[:, p], casting="same_kind")
    left[:, p + 1] = -factor
    right[:, :p], right[:, p], right[:, p + 1] = y, 1.0, g
    t = np.matmul(left, right.T, out=out)
    np.minimum(t, 0.0, out=t) if factor > 0 else np.maximum(t, 0.0, out=t)
    return t


def _zero_diagonal(t: Array, rows: slice, cols: slice) -> Array:
    """Return the tile with exact zeros where both rows are the same."""
    start, stop = max(rows.start, cols.start), min(rows.stop, cols.stop)
    if start >= stop:
        return t
    if isinstance(t, np.ndarray):
        i = np.arange(start, stop)
        t[i - rows.start, i - cols.start] = 0.0
        return t
    xp = namespace(t)
    same = _places(t, rows, cols, xp)
    return xp.where(same, xp.zeros_like(t), t)


def _places(t: Array, rows: slice, cols: slice, xp: Any) -> Array:
    i = asarray_like(np.arange(rows.start, rows.stop), t, xp.int64)
    j = asarray_like(np.arange(cols.start, cols.stop), t, xp.int64)
    return i[:, None] == j[None, :]


def _measured_again(t: Array, a: PointCloud, b: PointCloud, rows: slice, cols: slice) -> Array:
    """Return the tile with close pairs measured by differences."""
    if 0 in t.shape:
        return t
    close = _CLOSE[itemsize(t)]
    xp = namespace(t)
    # A number that is not finite comes from a square past the largest number: measure it too.
    first = -0.5 * close * (a.most + b.most)
    near = ~(t < first) if math.isfinite(first) else xp.ones_like(t, dtype=xp.bool)
    if not is_numpy(t):
        if a is b:
            near = near & ~_places(t, rows, cols, xp)
        if not bool(xp.any(near)):
            return t
        near = near & ~(t < -close * (a.half[rows][:, None] + b.half[cols][None, :]))
        return xp.where(near, _by_columns(a, b, rows, cols), t)
    count = int(np.count_nonzero(near))
    if count * _CROWD > t.size:  # the largest norm may be an outlier's: look pair by pair
        with np.errstate(over="ignore"):
            near &= ~(t < -close * (a.half[rows][:, None] + b.half[cols][None, :]))
        count = int(np.count_nonzero(near))
    if count == 0:
        return t
    if count * _CROWD > t.size and not is_sparse(a.raw) and not is_sparse(b.raw):
        return _all_again(t, a, b, rows, cols)
    return _pairs_again(t, near, a, b, rows, cols)


def _pairs_again(
    t: Array, near: Array, a: PointCloud, b: PointCloud, rows: slice, cols: slice
) -> Array:
    """Write -½Σ(x-y)² of the pairs that are near into a NumPy tile."""
    i, j = np.nonzero(near)
    step = max(1, _PAIRS // max(1, int(a.raw.shape[1])))
    for s in range(0, len(i), step):
        at, to = i[s : s + step], j[s : s + step]
        with np.errstate(over="ignore"):
            d = a.raw[at + rows.start] - b.raw[to + cols.start]
            d = _in_unit(scaled(d.astype(np.float64), a.multipliers), a.exponent)
            t[at, to] = -0.5 * squares(d)
    return t


def _all_again(t: Array, a: PointCloud, b: PointCloud, rows: slice, cols: slice) -> Array:
    """Write -½Σ(x-y)² of all pairs of a NumPy tile, some rows at a time."""
    from scipy.spatial.distance import cdist

    weights = {} if a.multipliers is None else {"w": np.square(a.multipliers)}
    y = _in_unit(b.raw[cols].astype(np.float64), a.exponent)
    step = max(1, _PAIRS // max(1, t.shape[1]))
    for s in range(0, t.shape[0], step):
        part = slice(rows.start + s, min(rows.start + s + step, rows.stop))
        x = _in_unit(a.raw[part].astype(np.float64), a.exponent)
        with np.errstate(over="ignore"):
            found = cdist(x, y, "sqeuclidean", **weights)
            np.multiply(found, -0.5, out=t[s : s + step], casting="same_kind")
    return t


def _by_columns(a: PointCloud, b: PointCloud, rows: slice, cols: slice) -> Array:
    """Return -½Σ(x-y)² of all pairs, one column at a time, on any library."""
    x, y = a.raw[rows, :], b.raw[cols, :]
    xp = namespace(x)
    total = xp.zeros((int(x.shape[0]), int(y.shape[0])), dtype=x.dtype)
    for c in range(int(x.shape[1])):
        d = _in_unit(x[:, c][:, None] - y[:, c][None, :], a.exponent)
        if a.multipliers is not None:
            d = d * a.multipliers[c]
        total = total - 0.5 * d * d
    return total


_LONG = 1.99  # chords from which the other end is measured
_ANGLE_PAIRS = 2**20  # numbers held at once while long chords are measured again


def angles(a: PointCloud, b: PointCloud, rows: slice, cols: slice, *, out: Any) -> Array:
    """Return the angle between u_i and v_j as a tile; all rows must have length one."""
    t = distances(a, b, rows, cols, 1.0, out=out)
    if is_numpy(t):
        i, j = np.nonzero(t > _LONG)
        t = _angle(t)
        step = max(1, _ANGLE_PAIRS // max(1, int(a.raw.shape[1])))
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
