"""A kernel matrix centred by its products, stored or not; and the walk over its tiles."""

import abc
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

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
    entry_rounding,
    eps_of,
    thread_count,
    tile,
)
from mercer.operators._operator import Operator

_TILE_BYTES = 4e6  # of a tile, which stays near the core while it is worked on
_MIRRORED = 8  # rows of a mirrored tile that a user's function is asked for
_STRIP = 512  # rows of a tall block that are worked on at once
_LEAST = 5e-324  # between numbers whose products with EPS are zero
_WORTH_LANES = 2e6  # entries from which threads pay

Visit = Callable[[int, slice, slice, Array], None]


@dataclasses.dataclass(frozen=True)
class KernelSums:
    """What one walk over all tiles of k = D_√w·K·D_√w adds up, in float64.

    Attributes
    ----------
    along : ndarray of shape (n,)
        k·r.
    squares, trace, largest : float
        ‖k‖²_F, tr k and max|k_ij|.
    rounding : float
        A bound on the norm of what float64 arithmetic does to the entries as they are made.
    """

    along: Array
    squares: float
    trace: float
    largest: float
    rounding: float = 0.0


class CentredKernel(Operator):
    """A = P·k·P with k = D_√w·K·D_√w, P = I - rrᵀ, r = √(w/Σw); without weights A = HKH.

    k itself stays as it is: a block V loses its part along r before the product and again
    after it, so that no centred copy is made. The eigenvalues are those of the matrix in
    which row i stands w_i times.
    """

    symmetric = True
    direction: Array  # r
    sums: KernelSums
    dtype: np.dtype[Any]  # of the entries
    consumed: bool = False

    @abc.abstractmethod
    def times(self, v: Array) -> Array:
        """Return k·V (n, b) in float64, not centred; products are those of the entries."""

    def project(self, v: Array) -> Array:
        """Return PV."""
        return take_out(np.array(v, np.float64), self.direction)

    def matmat(self, v: Array, /) -> Array:
        """See `Operator.matmat`: 2n²b flops."""
        return take_out(self.times(self.project(v)), self.direction)

    def rmatmat(self, u: Array, /) -> Array:
        """See `Operator.rmatmat`."""
        return self.matmat(u)

    @property
    def trace(self) -> float:
        """tr A = tr k - rᵀkr."""
        return self.sums.trace - float(self.direction @ self.sums.along)

    @property
    def centred_squares(self) -> float:
        """‖A‖²_F = ‖k‖²_F - 2‖kr‖² + (rᵀkr)², as the sums give it."""
        along = self.sums.along
        middle = float(self.direction @ along)
        return max(self.sums.squares - 2 * float(along @ along) + middle**2, 0.0)

    @property
    def lost_squares(self) -> float:
        """What rounding may have taken from `centred_squares`."""
        return share_lost(self.dtype) * self.sums.squares

    @property
    def frobenius(self) -> float:
        """A bound on ‖A‖_F."""
        return float(np.sqrt(self.centred_squares + self.lost_squares))

    @property
    def trace_error(self) -> float:
        """A bound on what rounding does to `trace`: rᵀkr is a sum over all entries."""
        narrow = 64 * eps_of(self.dtype) * self.shape[0] * self.sums.largest
        return narrow if self.dtype.itemsize == 4 else self.entry_error

    @property
    def entry_error(self) -> float:
        """A bound on the norm of what float64 arithmetic does to A: entries, and centring."""
        each = EPS * self.sums.largest + _LEAST
        return 2 * self.shape[0] * each + self.sums.rounding


def share_lost(dtype: Any) -> float:
    """Return the share of ‖k‖²_F that rounding may have taken from ‖A‖²_F."""
    return float(16 * eps_of(dtype)) if np.dtype(dtype).itemsize == 4 else 1e3 * EPS


def take_out(v: Array, r: Array) -> Array:
    """Return V - r(rᵀV), written over V (n, b), some rows at a time."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is told later
        part = r @ v
        for start in range(0, len(v), _STRIP):
            rows = slice(start, start + _STRIP)
            v[rows] -= r[rows, None] * part
    return v


class TileWalk:
    """Makes the tiles I ≤ J of k = D_√w·K·D_√w, each once, on threads.

    One walk: n²p flops for a kernel of products or distances, and half the exponentials.

    Parameters
    ----------
    program : Node
        The kernel.
    side : Side
        The rows, prepared for it.
    weights : ndarray of shape (n,) or None
        Repeat counts.
    """

    def __init__(self, program: Node, side: Side, weights: Array | None) -> None:
        self.program, self.side, self.n = program, side, side.n
        self.root = None if weights is None else np.sqrt(weights)
        ones = np.ones(side.n) if self.root is None else self.root
        self.direction = ones / np.linalg.norm(ones)
        self.dtype = side_dtype(side)
        longest = int((_TILE_BYTES / self.dtype.itemsize) ** 0.5)
        self.tiles = Tiles(side.n, min(side.n, longest))
        count = len(self.tiles)
        self.pairs = [(i, j) for i in range(count) for j in range(i, count)]
        threads = thread_count() if side.n**2 > _WORTH_LANES else 1
        self.lanes = Lanes(min(threads, len(self.pairs)))

    def run(self, visit: Visit) -> None:
        """Call ``visit(lane, rows, columns, tile)`` for every tile I ≤ J."""

        def work(lane: int, pairs: Iterator[tuple[int, int]]) -> None:
            space = Workspace()
            buffer = np.empty(self.tiles.rows**2, self.dtype)
            for pair in pairs:
                i, j = (self.tiles[number] for number in pair)
                shape = (i.stop - i.start, j.stop - j.start)
                t = buffer[: shape[0] * shape[1]].reshape(shape)
                t = tile(self.program, self.side, self.side, i, j, t, space)
                if self.root is not None:
                    t *= self.root[i, None].astype(t.dtype)
                    t *= self.root[j].astype(t.dtype)
                visit(lane, i, j, t)

        with np.errstate(over="ignore", invalid="ignore"):
            self.lanes.over(self.pairs, work)

    def summed(self, visit: Visit, *, along: bool = True, pd: bool = False) -> KernelSums:
        """Run, and add up what certificates need; refuse k(x, y) ≠ k(y, x).

        Parameters
        ----------
        visit : callable
            See `run`.
        along : bool
            Whether k·r is summed here; a product may have it as a column, and adds it.
        pd : bool
            Whether K is psd, so that no entry is above the largest of its diagonal.
        """
        count, r = self.lanes.count, self.direction
        kr = np.zeros((count, self.n))
        squares, largest, apart = np.zeros(count), np.zeros(count), np.zeros(count)
        foreign, like = self.program.holds(Call), r.astype(self.dtype)

        def adding(lane: int, i: slice, j: slice, t: Array) -> None:
            if i == j:
                # What is above zero on one side is below on the other.
                apart[lane] = np.maximum(apart[lane], np.max(t - t.T, initial=0.0))
            elif foreign:
                apart[lane] = max(apart[lane], self._mirrored(i, j, t))
            if along and i != j:
                kr[lane, j] += like[i] @ t
            if along:
                kr[lane, i] += t @ like[j]
            # Row by row, then in float64: one float32 sum of a tile loses too many digits.
            each = np.sum(np.einsum("ij,ij->i", t, t), dtype=np.float64)
            squares[lane] += float(each) * (1 if i == j else 2)
            if i == j or not pd:
                most = max(float(t.max()), -float(t.min()))
                largest[lane] = np.maximum(largest[lane], most)
            visit(lane, i, j, t)

        self.run(adding)
        top, worst = float(largest.max(initial=0.0)), float(apart.max(initial=0.0))
        if worst > 1e-5 * top and np.isfinite(top):
            raise AsymmetryError(worst, top)
        root2 = np.ones(self.n) if self.root is None else self.root**2
        trace = float(np.sum(diagonal(self.program, self.side) * root2))
        size, wrong = float(squares.sum()), entry_rounding(self.program, self.side)
        rounding = wrong.norm(float(np.sum(root2)), size**0.5, trace)
        return KernelSums(kr.sum(axis=0), size, trace, top, rounding)

    def _mirrored(self, i: slice, j: slice, t: Array) -> float:
        """Return how far some rows of k(J, I) are from the tile, for a user's function."""
        few = slice(j.start, min(j.start + _MIRRORED, j.stop))
        back = tile(self.program, self.side, self.side, few, i)
        if self.root is not None:
            back = back * self.root[few, None] * self.root[i]
        return float(np.max(np.abs(back.T - t[:, : few.stop - few.start]), initial=0.0))


class AsymmetryError(ValueError):
    """k(x, y) and k(y, x) differ by more than rounding."""

    def __init__(self, difference: float, largest: float) -> None:
        super().__init__(f"k(x, y) - k(y, x) reaches {difference:.3g}, k itself {largest:.3g}")


def side_dtype(side: Side) -> np.dtype[Any]:
    """Return the precision in which the tiles of a side are made."""
    return np.dtype(np.float64 if side.like is None else str(side.like.dtype))
