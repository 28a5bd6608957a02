"""Measures of two rows: what is kept of each set of rows, the tile, the diagonal."""

import math
from typing import Any

import numpy as np

from mercer.arrays._angles import angles
from mercer.arrays._distances import (
    Cloud,
    distances,
    make_cloud,
    reach,
    squared_distances,
)
from mercer.arrays._namespace import Array, is_numpy, namespace
from mercer.arrays._programs import Measure
from mercer.arrays._rows import (
    as_rows,
    columns_of,
    is_sparse,
    refuse_negative,
    refuse_sparse,
    row_sums,
    rows_at,
    scaled,
    squares,
)
from mercer.errors import InputError

EUCLIDEAN = ("sqdist", "dist", "angle")
COUNTS = ("chi2", "chi2sum", "minsum")
Key = tuple[str, tuple[int, ...] | None, tuple[float, ...] | None]


def key_of(measure: Measure) -> Key:
    """Return what two measures must share to use the same prepared rows.

    One number that scales all columns is not part of it: it is done to the result, so that
    a sum of kernels with several lengthscales keeps one copy of the rows.
    """
    family = "distance" if measure.kind in EUCLIDEAN else "plain"
    return family, measure.columns, measure.multipliers


def prepare_measure(measure: Measure, rows: Any, other: Any) -> Any:
    """Return what the measure needs of one set of rows: a `Cloud`, or scaled columns."""
    if measure.kind in EUCLIDEAN:
        return make_cloud(rows, measure.columns, measure.multipliers, other)
    held = columns_of(as_rows(rows), measure.columns)
    return scaled(held, measure.multipliers)


def check_measure(measure: Measure, held: Any, other: Any) -> None:
    """Refuse rows on which the measure is not defined."""
    rows = held.raw if isinstance(held, Cloud) else held
    if other is not None:
        known = other.raw if isinstance(other, Cloud) else other
        if int(known.shape[1]) != int(rows.shape[1]):
            raise InputError(
                "two sets of rows must have the same columns",
                got=f"{int(rows.shape[1])} columns, {int(known.shape[1])} in the other set",
                fix="pass rows with the columns that the first set has",
            )
    if measure.kind in EUCLIDEAN or measure.kind == "dot":
        return
    refuse_sparse(rows, measure.kind)
    if measure.kind in COUNTS:
        refuse_negative(rows, measure.kind)


def measure_tile(
    measure: Measure, a: Any, b: Any, rows: slice, cols: slice, out: Any, factor: float
) -> Array:
    """Return factor·m(x_i, y_j) as a tile, written into `out` where there is one."""
    scale = measure.number
    if measure.kind == "sqdist":
        return squared_distances(a, b, rows, cols, scale, factor=factor, out=out)
    if measure.kind == "dist":
        t = distances(a, b, rows, cols, scale, out=out)
    elif measure.kind == "angle":
        t = angles(a, b, rows, cols, out=out)
    elif measure.kind == "dot":
        t = _dot(rows_at(a, rows), rows_at(b, cols), out)
        factor *= scale * scale
    else:
        x, y = a[rows, :], b[cols, :]
        t = _compared(measure.kind, x, y, out)
        factor *= 1.0 if measure.kind == "hamming" else abs(scale)
    if factor != 1:
        t *= factor
    return t


def largest(measure: Measure, a: Any, b: Any) -> float:
    """Return a bound on |m(x, y)| over all pairs, where one is known, else infinity."""
    return reach(a, b, measure.number) if measure.kind == "sqdist" else math.inf


def measure_diagonal(measure: Measure, held: Any) -> Array:
    """Return m(x_i, x_i) as float64 (n,)."""
    if measure.kind == "dot":
        return squares(held) * measure.number**2
    if measure.kind in ("chi2sum", "minsum"):
        return row_sums(held) * abs(measure.number)
    rows = held.rows if isinstance(held, Cloud) else held
    if is_sparse(rows):
        return np.zeros(rows.shape[0])
    xp = namespace(rows)
    return xp.zeros((int(rows.shape[0]),), dtype=xp.float64)


def _dot(x: Array, y: Array, out: Any) -> Array:
    if is_sparse(x) or is_sparse(y):
        product = x @ y.T
        product = product.toarray() if is_sparse(product) else np.asarray(product)
        if out is None:
            return product
        np.copyto(out, product, casting="same_kind")
        return out
    return x @ y.T if out is None else np.matmul(x, y.T, out=out)


def _compared(kind: str, x: Array, y: Array, out: Any) -> Array:
    """Return a measure that is a sum over columns of a function of two numbers."""
    if out is not None and is_numpy(x) and kind in ("l1", "hamming"):
        from scipy.spatial.distance import cdist

        metric = "cityblock" if kind == "l1" else "hamming"
        if x.shape[1] == 0:
            out[...] = 0.0
        else:
            np.copyto(out, cdist(x, y, metric), casting="same_kind")
        return out
    xp = namespace(x)
    width = int(x.shape[1])
    shape = (int(x.shape[0]), int(y.shape[0]))
    total = xp.zeros(shape, dtype=x.dtype) if out is None else out
    if out is not None:
        out[...] = 0.0
    for c in range(width):
        u, v = x[:, c][:, None], y[:, c][None, :]
        if kind == "minsum":
            total += xp.minimum(u, v)
        elif kind == "l1":
            total += xp.abs(u - v)
        elif kind == "hamming":
            total += xp.astype(u != v, x.dtype) / width
        else:
            total += _chi2(kind, u, v, xp)
    return total


def _chi2(kind: str, u: Array, v: Array, xp: Any) -> Array:
    """Return (u-v)²/(u+v), or 2uv/(u+v), without squares that overflow; 0/0 is 0."""
    s = u + v
    s = xp.where(s > 0, s, xp.ones_like(s))
    if kind == "chi2":
        d = u - v
        return d * (d / s)
    return 2 * u * (v / s)
