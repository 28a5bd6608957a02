"""A stored kernel matrix, built by symmetric tiles and centred by its products."""

import dataclasses
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import (
    EPS,
    Array,
    Call,
    Lanes,
    Node,
    Side,
    Tiles,
    Workspace,
    diagonal,
    eps_of,
    symmetric_times,
    task,
    thread_count,
    tile,
)
from mercer.operators._base import Operator

_TILE_BYTES = 4e6  # of a tile, which stays near the core while it is worked on
_ROWS = 512  # of the stored matrix that are centred in one go
_LARGE = 4000  # rows from which a part of the matrix gives a first idea of its axes
_TASTE = 8  # one row in so many
_MIRRORED = 8  # rows of a mirrored tile that a user's function is asked for
_WORTH_LANES = 2e6  # entries from which threads pay


@final
class KernelMatrix(Operator):
    """A = P·D_√w·K·D_√w·P with P = I - rrᵀ, r = √(w/Σw): the centred kernel matrix.

    Without weights A = HKH. K itself is kept as it is; a block V loses its part along r
    before the product and again after it, so that no centred copy is made. Its eigenvalues
    are those of the matrix in which row i stands w_i times.

    Parameters
    ----------
    k : ndarray of shape (n, n)
        D_√w·K·D_√w, float64 or float32.
    direction : ndarray of shape (n,)
        r.
    along : ndarray of shape (n,)
        k·r, summed in float64.
    squares, raw_trace, largest : float
        ‖k‖²_F, tr k and max|k_ij|.
    """

    symmetric = True

    def __init__(
        self,
        k: Array,
        direction: Array,
        along: Array,
        squares: float,
        raw_trace: float,
        largest: float,
    ) -> None:
        self.k, self.direction, self.along = k, direction, along
        self.squares, self.raw_trace, self.largest = squares, raw_trace, largest
        self.shape = (int(k.shape[0]), int(k.shape[0]))
        self.like = np.empty((0, 0))
        self.dtype, self.consumed = k.dtype, False

    def project(self, v: Array) -> Array:
        """Return PV."""
        return v - self.direction[:, None] * (self.direction @ v)[None, :]

    def times(self, v: Array) -> Array:
        """Return k·V (n, b) in float64, not centred; products are those of the matrix."""
        return symmetric_times(self.k, v)

    def matmat(self, v: Array, /) -> Array:
        """See `Operator.matmat`: 2n²b flops."""
        return self.project(self.times(self.project(v)))

    def taste(self, q: Array, /) -> Array:
        """See `Operator.taste`: every eighth row of a large matrix."""
        q = self.project(q)
        if self.shape[0] < _LARGE:
            return q
        few = np.ascontiguousarray(q[::_TASTE].T, self.dtype)
        return self.project(np.asarray((few @ self.k[::_TASTE]).T, np.float64))

    def rmatmat(self, u: Array, /) -> Array:
        """See `Operator.rmatmat`."""
        return self.matmat(u)

    def dense(self) -> Array:
        """See `Operator.dense`."""
        return self._centred(self.k.astype(np.float64))

    def consume(self, below: float = 0.0) -> Array:
        """Return A - below·rrᵀ, written over the stored matrix where that is float64.

        A has the eigenvalue 0 along r, which carries no variance; `below` moves it away from
        the others, so that no solver mixes it with them.
        """
        k, self.k, self.consumed = self.k, None, True
        return self._centred(np.asarray(k, np.float64), below)

    def _centred(self, a: Array, below: float = 0.0) -> Array:
        tiles, r = Tiles(self.shape[0], _ROWS), self.direction
        for number in range(len(tiles)):
            part = tiles[number]
            a[part] -= self._levels(part)
            if below:
                a[part] -= (below * r[part])[:, None] * r[None, :]
        return a

    def _levels(self, part: slice) -> Array:
        """Return what centring takes from some rows: r·mᵀ + m·rᵀ with m = kr - ½(rᵀkr)r."""
        r = self.direction
        mean = self.along - 0.5 * float(r @ self.along) * r
        found: Array = r[part, None] * mean[None, :] + mean[part, None] * r[None, :]
        return found

    def measured_squares(self) -> float:
        """Return ‖A‖²_F entry by entry: one reading of the matrix."""
        tiles, total = Tiles(self.shape[0], _ROWS), 0.0
        for number in range(len(tiles)):
            part = tiles[number]
            rows = self.k[part] - self._levels(part)
            total += float(np.vdot(rows, rows))
        return total

    @property
    def trace(self) -> float:
        """tr A = tr k - rᵀkr."""
        return self.raw_trace - float(self.direction @ self.along)

    @property
    def centred_squares(self) -> float:
        """‖A‖²_F = ‖k‖²_F - 2‖kr‖² + (rᵀkr)², as the sums give it."""
        middle = float(self.direction @ self.along)
        return max(self.squares - 2 * float(self.along @ self.along) + middle**2, 0.0)

    @property
    def lost_squares(self) -> float:
        """What rounding may have taken from `centred_squares`."""
        unit = 16 * eps_of(self.dtype) if self.dtype.itemsize == 4 else 1e3 * EPS
        return unit * self.squares

    @property
    def frobenius(self) -> float:
        """A bound on ‖A‖_F."""
        return float(np.sqrt(self.centred_squares + self.lost_squares))

    @property
    def entry_error(self) -> float:
        """A bound on the norm of what rounding each float64 entry does to A."""
        return 2 * self.shape[0] * EPS * self.largest


def kernel_matrix(
    program: Node,
    side: Side,
    weights: Array | None = None,
    dtype: Any = np.float64,
) -> KernelMatrix:
    """Return the stored matrix of a program: tiles I ≤ J only, each written twice.

    One pass: n²p flops for a kernel of products or distances, and half the exponentials.
    Trace, Frobenius norm and k·r are summed on the way.

    Parameters
    ----------
    program : Node
        The kernel.
    side : Side
        The rows, prepared for it.
    weights : ndarray of shape (n,) or None
        Repeat counts.
    dtype : dtype
        float64, or float32 to halve the memory.
    """
    n = side.n
    root = np.ones(n) if weights is None else np.sqrt(weights)
    r = root / np.linalg.norm(root)
    tiles = Tiles(n, min(n, int((_TILE_BYTES / side_dtype(side).itemsize) ** 0.5)))
    count = len(tiles)
    pairs = [(i, j) for i in range(count) for j in range(i, count)]
    lanes = Lanes(min(thread_count(), len(pairs)) if n * n > _WORTH_LANES else 1)
    k = np.empty((n, n), dtype)
    along = np.zeros((lanes.count, n))
    squares, largest = np.zeros(len(pairs)), np.zeros(len(pairs))
    asymmetry = np.zeros(len(pairs))
    foreign = calls(program)

    def work(lane: int, numbers: Iterator[int]) -> None:
        space = Workspace()
        buffer = np.empty((tiles.rows, tiles.rows), side_dtype(side))
        for number in numbers:
            i, j = (tiles[index] for index in pairs[number])
            t = buffer.reshape(-1)[: (i.stop - i.start) * (j.stop - j.start)]
            t = t.reshape(i.stop - i.start, j.stop - j.start)
            t = tile(program, side, side, i, j, t, space)
            if i == j:
                asymmetry[number] = float(np.max(np.abs(t - t.T), initial=0.0))
            elif foreign:  # a user's function: some rows of the mirrored tile
                few = slice(j.start, min(j.start + _MIRRORED, j.stop))
                back = tile(program, side, side, few, i)
                apart = np.abs(back.T - t[:, : few.stop - few.start])
                asymmetry[number] = float(np.max(apart, initial=0.0))
            if weights is not None:
                t *= root[i, None].astype(t.dtype)
                t *= root[j].astype(t.dtype)
            k[i, j] = t
            if i != j:
                k[j, i] = t.T
                along[lane, j] += r[i].astype(t.dtype) @ t
            along[lane, i] += t @ r[j].astype(t.dtype)
            squares[number] = float(np.vdot(t, t)) * (1 if i == j else 2)
            largest[number] = max(float(t.max()), -float(t.min()))

    with task("kernel matrix"), np.errstate(over="ignore", invalid="ignore"):
        lanes.run(work, len(pairs))
    _symmetric(asymmetry, largest)
    trace = float(np.sum(diagonal(program, side) * root**2))
    return KernelMatrix(
        k, r, along.sum(axis=0), float(squares.sum()), trace, float(largest.max())
    )


def calls(program: Node) -> bool:
    """Tell whether a program asks a function of the user for its tiles."""
    parts = [getattr(program, field.name) for field in dataclasses.fields(program)]
    inner = [part for part in parts if isinstance(part, Node)]
    return isinstance(program, Call) or any(calls(part) for part in inner)


class AsymmetryError(ValueError):
    """k(x, y) and k(y, x) differ by more than rounding."""

    def __init__(self, difference: float, largest: float) -> None:
        super().__init__(f"k(x, y) - k(y, x) reaches {difference:.3g}, k itself {largest:.3g}")


def _symmetric(asymmetry: Array, largest: Array) -> None:
    top = float(largest.max(initial=0.0))
    worst = float(asymmetry.max(initial=0.0))
    if worst > 1e-5 * top and np.isfinite(top):
        raise AsymmetryError(worst, top)


def side_dtype(side: Side) -> Any:
    """Return the precision in which the tiles of a side are made."""
    return np.dtype(np.float64 if side.like is None else str(side.like.dtype))


def measured_error(product: Array, exact_rows: Array, picked: Array, q: Array) -> Array:
    """Return bounds (k,) on ‖(k̂ - k)q_j‖ of a float32 matrix k̂, its products included.

    On random rows the products are repeated with entries made in float64; twice the largest
    difference is charged to every row.

    Parameters
    ----------
    product : ndarray of shape (n, k)
        k̂q as `KernelMatrix.times` gives it.
    exact_rows : ndarray of shape (s, n)
        Rows of k in float64.
    picked : ndarray of shape (s,)
        Which rows they are.
    q : ndarray of shape (n, k)
        Unit vectors.
    """
    wrong = product[picked] - exact_rows @ q
    return np.asarray(2 * np.sqrt(len(product)) * np.max(np.abs(wrong), axis=0))
