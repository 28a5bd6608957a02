"""Sides: what a tile program keeps of one set of rows, and the tiles it makes of two.

Measures of two rows: what is kept of each set of rows, the tile, the diagonal.
"""

import dataclasses
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mercer.arrays._namespace import Array, asarray_like, is_numpy, is_sparse, namespace
from mercer.arrays.programs._distances import (
    PointCloud,
    angles,
    distances,
    make_cloud,
    reach,
    squared_distances,
)
from mercer.arrays.programs._program_rows import (
    as_rows,
    columns_of,
    count_rows,
    given_to,
    products,
    refuse_negative,
    refuse_sparse,
    row_sums,
    rows_at,
    scaled,
    squares,
)
from mercer.arrays.programs._scalar_steps import apply_steps, exp_floor
from mercer.arrays.programs._tile_programs import (
    Apply,
    Call,
    ConstantNode,
    Ends,
    Given,
    Join,
    Measure,
    Node,
    Through,
    Unit,
)
from mercer.errors import InputError, NotSupportedError

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
    """Return what the measure needs of one set of rows: a `PointCloud`, or scaled columns."""
    if measure.kind in EUCLIDEAN:
        return make_cloud(rows, measure.columns, measure.multipliers, other)
    held = columns_of(as_rows(rows), measure.columns)
    return scaled(held, measure.multipliers)


def check_measure(measure: Measure, held: Any, other: Any) -> None:
    """Refuse rows on which the measure is not defined."""
    rows = held.raw if isinstance(held, PointCloud) else held
    if other is not None:
        known = other.raw if isinstance(other, PointCloud) else other
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
        factor *= scale * scale
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is told later
            t = products(rows_at(a, rows), rows_at(b, cols), out)
            if factor != 1:
                t *= factor
        return t
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
    rows = held.rows if isinstance(held, PointCloud) else held
    if is_sparse(rows):
        return np.zeros(rows.shape[0])
    xp = namespace(rows)
    return xp.zeros((int(rows.shape[0]),), dtype=xp.float64)


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


_CALLED = 32  # rows of a user's function at a time when only its diagonal is wanted
Path = tuple[int, ...]


class Workspace:
    """Scratch tiles that are used again; one for each thread.

    Examples
    --------
    >>> space = Workspace()
    >>> with space.borrow((2, 3), np.float64) as tile:
    ...     tile.shape
    (2, 3)
    """

    def __init__(self) -> None:
        self._idle: list[Any] = []

    @contextmanager
    def borrow(self, shape: tuple[int, ...], dtype: Any) -> Iterator[Any]:
        """Lend an array of that shape, not initialised, until the block ends."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        held = self._idle.pop() if self._idle else np.empty(0, np.uint8)
        if held.size < size:
            held = np.empty(size, np.uint8)
        yield held[:size].view(dtype).reshape(shape)
        self._idle.append(held)


@dataclasses.dataclass(frozen=True)
class Side:
    """Everything that a program needs of one set of rows, computed once.

    Parameters
    ----------
    rows : rows of data
        As they were given.
    n : int
        How many.
    held : dict
        Centred or scaled rows by measure; g(x), k(x, x)^-½ and mapped rows by place.
    like : Array or None
        An empty array of the library and the precision of the tiles; None where rows are
        not numbers.
    """

    rows: Any
    n: int
    held: dict[Any, Any]
    like: Array | None


def prepare(program: Node, rows: Any, other: Side | None = None) -> Side:
    """Return the side of `rows` (n, p), in the frame (origin, unit) of `other` if given.

    Parameters
    ----------
    program : Node
        The program that tiles will be asked of.
    rows : array, SciPy sparse matrix, or a sequence where the program maps it first
        The rows. They are never written to.
    other : Side or None
        The side that tiles will be made with; None where it is this one.
    """
    held: dict[Any, Any] = {}
    like = _like(rows)
    side = Side(rows, count_rows(rows), held, like)
    _fill(program, (), side, other)
    if like is None:
        like = next((s.like for s in held.values() if isinstance(s, Side)), None)
        side = dataclasses.replace(side, like=like)
    return side


def _like(rows: Any) -> Array | None:
    """Return an empty array in the precision of tiles, or None where rows are no numbers."""
    if is_sparse(rows):
        return np.empty((0, 0), np.float32 if rows.dtype == np.float32 else np.float64)
    if not hasattr(rows, "dtype") or (is_numpy(rows) and rows.dtype.kind not in "fiub"):
        return None
    if is_numpy(rows):
        return np.empty((0, 0), np.float32 if rows.dtype == np.float32 else np.float64)
    xp = namespace(rows)
    dtype = rows.dtype if rows.dtype in (xp.float32, xp.float64) else xp.float64
    return asarray_like(np.empty((0, 0)), rows, dtype)


def _fill(node: Node, path: Path, side: Side, other: Side | None) -> None:
    """Put what `node` and the nodes below it need into ``side.held``."""
    held, known = side.held, None if other is None else other.held
    if isinstance(node, Measure):
        key = key_of(node)
        before = None if known is None else known[key]
        if key not in held:
            held[key] = prepare_measure(node, side.rows, before)
        check_measure(node, held[key], before)
    elif isinstance(node, Given):
        held["given"] = as_rows(side.rows)
    elif isinstance(node, Through):
        below = None if known is None else known[path]
        held[path] = prepare(node.argument, _mapped(node, side), below)
    elif isinstance(node, Ends):
        _fill(node.argument, (*path, 0), side, other)
        held[path] = _numbers(given_to(node.g, side.rows), side)
    elif isinstance(node, Unit):
        _fill(node.argument, (*path, 0), side, other)
        held[path] = _inverse_roots(_diagonal(node.argument, (*path, 0), side))
    elif isinstance(node, Apply):
        _fill(node.argument, (*path, 0), side, other)
    elif isinstance(node, Join):
        _fill(node.left, (*path, 0), side, other)
        _fill(node.right, (*path, 1), side, other)


def _mapped(node: Through, side: Side) -> Any:
    """Return ψ of all rows; of other rows than float32 the tiles are made in float64."""
    found = given_to(node.psi, side.rows)
    if count_rows(found) != side.n:
        raise InputError(
            "a map of rows must return as many rows",
            got=f"{count_rows(found)} rows for {side.n}",
            fix="return one row for each row, also for a block of one",
        )
    narrow = side.like is not None and str(side.like.dtype).endswith("float32")
    if not narrow and (is_numpy(found) or is_sparse(found)) and found.dtype == np.float32:
        return found.astype(np.float64)
    return found


def _numbers(values: Any, side: Side) -> Array:
    """Return what g gave as float64 (n,), in the library of the rows."""
    if not hasattr(values, "dtype"):
        values = np.asarray(values, dtype=np.float64)
    if tuple(values.shape) != (side.n,):
        raise InputError(
            "a function of rows must return one number for each row",
            got=f"shape {tuple(values.shape)} for {side.n} rows",
            fix=f"return an array of shape ({side.n},), for example g(X)[:, 0]",
        )
    if side.like is not None and not is_numpy(side.like) and is_numpy(values):
        return asarray_like(values, side.like, namespace(side.like).float64)
    xp = namespace(values)
    return xp.astype(values, xp.float64)


def _inverse_roots(values: Array) -> Array:
    """Return k(x, x)^-½, and 0 where k(x, x) is 0; refuse what is below."""
    xp = namespace(values)
    if values.shape[0] and float(xp.min(values)) < 0:
        row = int(xp.argmin(values))
        raise InputError(
            "a kernel can be normalised only where k(x, x) is not negative",
            got=f"k(x, x) = {float(values[row]):.6g} in row {row}",
            fix="normalise a kernel that is positive definite",
        )
    there = values > 0
    safe = xp.where(there, values, xp.ones_like(values))
    return xp.where(there, 1 / xp.sqrt(safe), xp.zeros_like(values))


def tile(
    program: Node,
    a: Side,
    b: Side,
    rows: slice,
    cols: slice,
    out: Any = None,
    space: Workspace | None = None,
) -> Array:
    """Return the block k(x_i, y_j), i in `rows` of `a`, j in `cols` of `b`.

    Parameters
    ----------
    program : Node
        The program both sides were prepared for.
    a, b : Side
        The two sets of rows; the same object where they are one set.
    rows, cols : slice
        Plain ranges with start and stop.
    out : NumPy array (r, c) or None
        Where to write; its rows must be contiguous. None makes a new array.
    space : Workspace or None
        Scratch tiles that are kept between calls.
    """
    like = a.like
    if like is None or is_numpy(like):
        dtype = np.float64 if like is None else like.dtype
        if out is None:
            out = np.empty((rows.stop - rows.start, cols.stop - cols.start), dtype)
        return _run(program, (), a, b, rows, cols, out, space or Workspace())
    made = _run(program, (), a, b, rows, cols, None, space or Workspace())
    return namespace(made).astype(made, like.dtype, copy=False)


def _run(
    node: Node, path: Path, a: Side, b: Side, rows: slice, cols: slice, out: Any, space: Any
) -> Array:
    """Return the tile of one node; on NumPy it is always written into `out`."""
    if isinstance(node, Measure):
        key = key_of(node)
        return measure_tile(node, a.held[key], b.held[key], rows, cols, out, 1.0)
    if isinstance(node, Apply):
        return _stepped(node, path, a, b, rows, cols, out, space)
    if isinstance(node, Join):
        return _join(node, path, a, b, rows, cols, out, space)
    if isinstance(node, Through):
        return _run(node.argument, (), a.held[path], b.held[path], rows, cols, out, space)
    if isinstance(node, Ends | Unit):
        t = _run(node.argument, (*path, 0), a, b, rows, cols, out, space)
        xp = namespace(t)
        t *= xp.astype(a.held[path][rows], t.dtype)[:, None]
        t *= xp.astype(b.held[path][cols], t.dtype)[None, :]
        return t
    return _leaf(node, a, b, rows, cols, out)


def _stepped(
    node: Apply, path: Path, a: Side, b: Side, rows: slice, cols: slice, out: Any, space: Any
) -> Array:
    """Return a tile after a run of scalar steps, all done to one strip before the next."""
    steps: list[tuple[str, tuple[float, ...]]] = []
    inner: Node = node
    while isinstance(inner, Apply):
        steps.insert(0, (inner.step, inner.constants))
        inner, path = inner.argument, (*path, 0)
    if isinstance(inner, Measure) and steps[0][0] == "affine":
        key = key_of(inner)  # the factor joins those that the measure has anyway
        factor, constant = steps.pop(0)[1]
        t = measure_tile(inner, a.held[key], b.held[key], rows, cols, out, factor)
        if constant:
            steps.insert(0, ("affine", (1.0, constant)))
        elif steps and steps[0][0] == "exp":
            most = abs(factor) * largest(inner, a.held[key], b.held[key])
            if most < -exp_floor(t):  # no exponent is near the end of the numbers
                steps[0] = ("exp_near", ())
    else:
        t = _run(inner, path, a, b, rows, cols, out, space)
    return apply_steps(steps, t, space) if steps else t


def _join(
    node: Join, path: Path, a: Side, b: Side, rows: slice, cols: slice, out: Any, space: Any
) -> Array:
    t = _run(node.left, (*path, 0), a, b, rows, cols, out, space)
    right = (*path, 1)
    if isinstance(node.right, ConstantNode):
        constants = (1.0, node.right.value) if node.how == "add" else (node.right.value, 0.0)
        return apply_steps([("affine", constants)], t, space)
    if out is None:
        other = _run(node.right, right, a, b, rows, cols, None, space)
        return t + other if node.how == "add" else t * other
    with space.borrow(t.shape, t.dtype) as scratch:
        _run(node.right, right, a, b, rows, cols, scratch, space)
        if node.how == "add":
            t += scratch
        else:
            t *= scratch
    return t


def _leaf(node: Node, a: Side, b: Side, rows: slice, cols: slice, out: Any) -> Array:
    shape = (rows.stop - rows.start, cols.stop - cols.start)
    if isinstance(node, ConstantNode):
        found = np.full(shape, node.value)
    elif isinstance(node, Given):
        found = a.held["given"][rows, cols]
        found = found.toarray() if is_sparse(found) else found
    else:
        assert isinstance(node, Call)
        found = _called(node, rows_at(a.rows, rows), rows_at(b.rows, cols), shape)
    if out is not None:
        np.copyto(out, found, casting="same_kind")
        return out
    if is_numpy(found):
        return asarray_like(found, a.like)
    xp = namespace(found)
    return xp.asarray(found, dtype=a.like.dtype, copy=True) if a.like is not None else found


def _called(node: Call, x: Any, y: Any, shape: tuple[int, int]) -> Any:
    """Return what the user's function gives, once its shape is right."""
    found = given_to(node.function, x, y)
    if not hasattr(found, "dtype"):
        found = np.asarray(found, dtype=np.float64)
    if tuple(found.shape) != shape:
        raise InputError(
            "a kernel function must return one number for each pair of rows",
            got=f"shape {tuple(found.shape)} for {shape[0]} and {shape[1]} rows",
            fix="return an array of that shape; Function.pairwise(f) takes f(row, row)",
        )
    return found


def diagonal(program: Node, side: Side) -> Array:
    """Return k(x_i, x_i) as float64 (n,), without a matrix."""
    return _diagonal(program, (), side)


def _diagonal(node: Node, path: Path, side: Side) -> Array:
    if isinstance(node, Measure):
        return measure_diagonal(node, side.held[key_of(node)])
    if isinstance(node, Apply):
        t = _diagonal(node.argument, (*path, 0), side)
        return apply_steps([(node.step, node.constants)], t, Workspace())
    if isinstance(node, Join):
        left = _diagonal(node.left, (*path, 0), side)
        right = _diagonal(node.right, (*path, 1), side)
        return left + right if node.how == "add" else left * right
    if isinstance(node, Through):
        return _diagonal(node.argument, (), side.held[path])
    if isinstance(node, Ends):
        ends = side.held[path]
        return _diagonal(node.argument, (*path, 0), side) * ends * ends
    if isinstance(node, Unit):
        xp = namespace(side.held[path])
        return xp.astype(side.held[path] > 0, xp.float64)
    return _leaf_diagonal(node, side)


def _leaf_diagonal(node: Node, side: Side) -> Array:
    if isinstance(node, ConstantNode):
        values = np.full(side.n, node.value)
        if side.like is None or is_numpy(side.like):
            return values
        return asarray_like(values, side.like, namespace(side.like).float64)
    if isinstance(node, Given):
        return _given_diagonal(side)
    assert isinstance(node, Call)
    parts = []
    for start in range(0, side.n, _CALLED):
        block = rows_at(side.rows, slice(start, min(start + _CALLED, side.n)))
        count = count_rows(block)
        found = _called(node, block, block, (count, count))
        xp = namespace(found)
        parts.append(xp.astype(xp.linalg.diagonal(found), xp.float64))
    return namespace(parts[0]).concat(parts) if parts else np.zeros(0)


def _given_diagonal(side: Side) -> Array:
    matrix = side.held["given"]
    if int(matrix.shape[0]) != int(matrix.shape[1]):
        raise NotSupportedError(
            "a given matrix of new rows does not hold k(x, x) of those rows",
            got=f"a matrix of shape {tuple(int(s) for s in matrix.shape)}",
            fix="pass a kernel and rows, or do without quantities that need k(x, x)",
        )
    if is_sparse(matrix):
        return np.asarray(matrix.diagonal(), dtype=np.float64)
    xp = namespace(matrix)
    return xp.astype(xp.linalg.diagonal(matrix), xp.float64)
