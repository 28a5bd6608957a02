"""Choosing landmarks: randomly pivoted Cholesky in blocks, and plainer samplers beside it.

Row i becomes the next pivot with probability ∝ w_i·r_i, r the diagonal of what is left of K
[Chen2025]_. Done one by one, n·m numbers go through memory for every pivot. In blocks
[Epperly2025]_: b rows are drawn from the law as it stands, and taken or refused in turn by
the ratio of their residual now to that at the draw, which needs a b × b block only. The
pivots have exactly the law of the plain algorithm; the n × m work is products of matrices.

.. [Chen2025] Chen, Epperly, Tropp, Webber. Randomly pivoted Cholesky. Communications on
   Pure and Applied Mathematics 78 (2025) 995.
.. [Epperly2025] Epperly, Tropp, Webber. Embrace rejection: kernel matrix approximation by
   accelerated randomly pivoted Cholesky. arXiv 2410.03969.

All rows made ready once, for tiles with any few of them: what samplers look at.
"""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import (
    Array,
    Lanes,
    Side,
    Tiles,
    Workspace,
    kernel_rows,
    prepare,
    single_threaded_blas,
    thread_count,
)
from mercer.errors import InputError
from mercer.kernels import Kernel
from mercer.operators.kernel_matrices._landmarks import (
    FLOOR,
    LandmarkFrame,
    Landmarks,
    complete_pivots,
    in_precision,
    middle_row,
    program_of,
    refuse_negative,
    spread,
    whiten,
)

_ROWS = 2048  # of a tile of all rows with new pivots
_SAMPLE = 256  # rows that lend their middle and their unit to all
_WORTH_LANES = 1e5  # entries from which threads pay


@final
@dataclasses.dataclass(frozen=True, eq=False)
class PivotTable:
    """Rows (n, p) made ready block by block, their weights and k̃(x, x).

    Attributes
    ----------
    kernel : Kernel
        With numbers for parameters.
    rows : array or CSR matrix of shape (n, p)
        As they came.
    frame : LandmarkFrame
        Some of them, whose middle and unit all others share.
    origin : array of shape (1, p) or None
        The row o of a cpd kernel.
    sides : list of Side
        The rows, block by block.
    tiles : Tiles
        The blocks.
    weights : ndarray of shape (n,)
        Repeat counts; ones where none were given.
    given : ndarray of shape (n,) or None
        Repeat counts as they were given.
    diagonal, scale : ndarray of shape (n,)
        k̃(x, x), and the size of the numbers it is made of.
    dtype : dtype
        The precision of the tiles.
    """

    kernel: Kernel
    rows: Any
    frame: LandmarkFrame
    origin: Any
    sides: list[Side]
    tiles: Tiles
    weights: Array
    given: Array | None
    diagonal: Array
    scale: Array
    dtype: Any

    @classmethod
    def of(cls, kernel: Kernel, rows: Any, weights: Array | None, dtype: Any) -> "PivotTable":
        """Return the table of rows (n, p); tiles are float32 where rows and `dtype` are."""
        program, rows = program_of(kernel), kernel_rows(rows)
        n = int(rows.shape[0])
        narrow = np.dtype(dtype) == np.float32 and rows.dtype == np.float32
        at = np.float32 if narrow else np.float64
        origin = middle_row(kernel, rows)
        frame = LandmarkFrame.of(program, rows[spread(n, _SAMPLE)], origin, at)
        tiles = Tiles(n, _ROWS)
        sides = [frame.ready(rows[part]) for part in tiles]
        ends = [frame.diagonal(side) for side in sides]
        diagonal = np.concatenate([k for k, _ in ends])
        scale = np.concatenate([s for _, s in ends])
        refuse_negative(diagonal, scale, at, kernel)
        w = np.ones(n) if weights is None else np.asarray(weights, np.float64)
        clear = np.maximum(diagonal, 0.0)
        return cls(kernel, rows, frame, origin, sides, tiles, w, weights, clear, scale, at)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.rows.shape[0])

    def few(self, picked: Array, dtype: Any = np.float64) -> LandmarkFrame:
        """Return the frame of some rows."""
        program, lent = self.frame.program, self.frame.side
        if np.dtype(dtype) != self.dtype:  # a middle in float64, which float32 rows share
            lent = prepare(program, in_precision(self.rows[spread(self.n, _SAMPLE)], dtype))
        return LandmarkFrame.of(program, self.rows[picked], self.origin, dtype, lent)

    def sweep(self, picked: Array, act: Callable[[slice, Array, Array], None]) -> None:
        """Call ``act(which rows, tile, scratch)`` on every block; a tile has picked rows."""
        frame, width = self.few(picked, self.dtype), len(picked)
        busy = self.n * width > _WORTH_LANES
        lanes = Lanes(min(thread_count(), len(self.tiles)) if busy else 1)

        def work(_lane: int, blocks: Iterator[tuple[slice, Side]]) -> None:
            space = Workspace()
            buffers = np.empty((2, width * min(_ROWS, self.n)), self.dtype)
            for part, side in blocks:
                out, scratch = (b[: width * side.n].reshape(width, side.n) for b in buffers)
                act(part, frame.tile(side, out, space), scratch)

        lanes.over(zip(self.tiles, self.sides, strict=True), work)

    def draw(self, law: Array, count: int, rng: np.random.Generator) -> Array:
        """Return row numbers drawn with probability ∝ law, with repetition."""
        ends = np.cumsum(law)
        places = np.searchsorted(ends, rng.random(count) * ends[-1], side="right")
        # A draw that rounds to the very end belongs to the last row that has a share.
        return np.minimum(places, int(np.flatnonzero(law)[-1]))


SAMPLERS = ("pivoted", "uniform", "kmeans++")
_FIRST, _LEAST, _MOST = 16, 8, 256  # rows drawn at once


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Factor:
    """K ≈ FFᵀ on the rows that landmarks were chosen from; N = K - FFᵀ is not negative.

    Attributes
    ----------
    landmarks : Landmarks
        S and L.
    indices : ndarray of shape (m,)
        Which rows they are, in the order of the pivots.
    f : ndarray of shape (n, m)
        F, float64 or float32, in the order of Fortran.
    residual : ndarray of shape (n,)
        The diagonal of N, float64.
    diagonal : ndarray of shape (n,)
        k̃(x, x), float64.
    weights : ndarray of shape (n,) or None
        Repeat counts.
    """

    landmarks: Landmarks
    indices: Array
    f: Array
    residual: Array
    diagonal: Array
    weights: Array | None = None

    @property
    def trace(self) -> float:
        """t = Σ w_i·r_i: no eigenvalue of K̃ is above that of FFᵀ, centred, by more than t."""
        if self.weights is None:
            return float(np.sum(self.residual))
        return float(self.weights @ self.residual)


def choose(
    kernel: Kernel,
    rows: Any,
    most: int,
    *,
    sampler: Any = "pivoted",
    weights: Array | None = None,
    stop: float = 0.0,
    seed: Any = 0,
    dtype: Any = np.float64,
) -> Factor:
    """Return landmarks among the rows and the factor F of all rows.

    n·m·(2p + 2m) flops, n·m numbers.

    Parameters
    ----------
    kernel : Kernel
        With numbers for parameters; pd or cpd, or unknown and then found out.
    rows : array or sparse matrix of shape (n, p)
        The rows.
    most : int
        The most landmarks.
    sampler : {"pivoted", "uniform", "kmeans++"} or array of int
        "pivoted" draws ∝ w·r; "uniform" draws rows alike; "kmeans++" draws ∝ w·(squared
        distance in feature space to the nearest landmark); numbers of rows are taken in
        their order. Rows that depend on earlier ones are dropped.
    weights : ndarray of shape (n,) or None
        Repeat counts; rows of weight zero are not drawn and not counted.
    stop : float
        Enough are chosen when t ≤ stop·Σ w k(x, x).
    seed : int, sequence of int or numpy.random.Generator
        Where the draws come from.
    dtype : dtype
        float64, or float32 for F at half the memory; the residuals are float64.
    """
    table = PivotTable.of(kernel, rows, weights, dtype)
    rng = np.random.default_rng(seed)
    most = max(0, min(int(most), table.n))
    growth = Growth(table, most, np.dtype(dtype))
    with single_threaded_blas():  # sweeps have threads of their own; the rest is small
        if isinstance(sampler, str) and sampler == "pivoted":
            _pivoted(growth, stop, rng)
        else:
            rows = _listed(sampler, table, most, rng)
            _in_turn(growth, _steady(table, rows) if isinstance(sampler, str) else rows, stop)
    return growth.factor()


def select(
    kernel: Kernel,
    rows: Any,
    most: int,
    *,
    among: int = 20_000,
    sampler: Any = "pivoted",
    weights: Array | None = None,
    stop: float = 0.0,
    seed: Any = 0,
) -> tuple[Landmarks, Array]:
    """Return landmarks and their row numbers, looked for among at most `among` rows.

    The rows looked at are evenly spread over those of positive weight, so that the cost does
    not grow with n. See `choose` for the parameters.
    """
    rows = kernel_rows(rows)
    n = int(rows.shape[0])
    held = np.arange(n) if weights is None else np.flatnonzero(weights)
    picked = held[spread(len(held), among)] if len(held) else held
    part = None if weights is None else np.asarray(weights)[picked]
    few = rows if len(picked) == n else rows[picked]
    found = choose(kernel, few, most, sampler=sampler, weights=part, stop=stop, seed=seed)
    return found.landmarks, picked[found.indices]


class Growth:
    """F, L and the residuals while pivots are added.

    The small blocks are float64 whatever the precision of F, so that L is good to rounding.
    """

    def __init__(self, table: PivotTable, most: int, dtype: Any) -> None:
        self.table, self.most, self.dtype = table, most, dtype
        # By columns: those that an early stop leaves out are never touched.
        self.f = np.empty((table.n, most), dtype, order="F")
        self.triangle = np.zeros((most, most), order="F")
        self.indices = np.empty(most, np.int64)
        self.residual = table.diagonal.copy()
        self.floor = FLOOR[dtype.itemsize] * table.scale
        self.count = 0

    def law(self) -> Array:
        """Return w·r (n,), zero where r may be rounding."""
        return self.table.weights * np.where(self.residual > self.floor, self.residual, 0.0)

    def enough(self, stop: float) -> bool:
        """Tell whether t ≤ stop·Σ w k(x, x)."""
        w = self.table.weights
        return float(w @ self.residual) <= stop * float(w @ self.table.diagonal)

    def add(self, drawn: Array, chance: Array) -> int:
        """Take what the draw leaves of rows `drawn` (b,) as pivots; return how many.

        Parameters
        ----------
        drawn : ndarray of shape (b,)
            Row numbers; repetitions are refused by their residual.
        chance : ndarray of shape (b,)
            Row j is taken where its residual now is above chance_j.
        """
        table, i = self.table, self.count
        frame, space = table.few(drawn), Workspace()
        b = len(drawn)
        h = frame.tile(frame.side, np.empty((b, b)), space)
        left = np.zeros((i, b))
        if i:
            known = table.few(self.indices[:i])
            left = known.tile(frame.side, np.empty((i, b)), space)
            left = whiten(self.triangle[:i, :i], left)
            h -= left.T @ left
        # Where the sums kept in F say more than rounding and this block says less, nothing is
        # left: the row would be drawn and refused for ever.
        done = drawn[np.diag(h) <= self.floor[drawn]]
        self.residual[done] = np.minimum(self.residual[done], self.floor[done])
        level = np.maximum(chance, self.floor[drawn])
        kept, inner = _taken(h, level, self.most - i)
        if kept.size:
            self._extend(drawn[kept], left[:, kept], inner)
        return int(kept.size)

    def _extend(self, pivots: Array, left: Array, inner: Array) -> None:
        """Append the rows inner⁻¹(K_SX - leftᵀFᵀ) of new pivots to Fᵀ; take them from r."""
        i, j = self.count, self.count + len(pivots)
        f, r = self.f.T, self.residual
        low = inner.astype(self.table.dtype)
        thin = np.ascontiguousarray(left.T, self.dtype)

        def act(part: slice, t: Array, scratch: Array) -> None:
            if i:
                known = scratch if scratch.dtype == f.dtype else None
                t -= np.matmul(thin, f[:i, part], out=known)
            f[i:j, part] = whiten(low, t)
            new = f[i:j, part]
            r[part] -= np.einsum("ij,ij->j", new, new, dtype=np.float64)

        self.table.sweep(pivots, act)
        self.triangle[i:j, :i], self.triangle[i:j, i:j] = left.T, inner
        self.indices[i:j] = pivots
        self.count = j
        refuse_negative(r, self.table.scale, self.dtype, self.table.kernel)
        np.maximum(r, 0.0, out=r)
        r[pivots] = 0.0

    def factor(self) -> Factor:
        """Return what was found."""
        m, table = self.count, self.table
        picked = self.indices[:m].copy()
        triangle = np.asfortranarray(self.triangle[:m, :m])
        marks = Landmarks(table.kernel, table.rows[picked], triangle, table.origin)
        f, r = self.f[:, :m], self.residual
        return Factor(marks, picked, f, r, table.diagonal, table.given)


def _taken(h: Array, level: Array, room: int) -> tuple[Array, Array]:
    """Return which of b rows are taken in turn, and the triangle of their block.

    Row i is taken where h_ii > level_i, h what is left of the block (b, b) by then.
    """
    kept: list[int] = []
    columns = np.zeros((len(h), len(h)))
    for i in range(len(h)):
        if len(kept) == room:
            break
        if h[i, i] > level[i]:
            column = h[i:, i] / np.sqrt(h[i, i])
            h[i:, i:] -= np.outer(column, column)
            columns[i:, len(kept)] = column
            kept.append(i)
    picked = np.array(kept, np.int64)
    return picked, np.tril(columns[picked, : len(kept)])


def _pivoted(growth: Growth, stop: float, rng: np.random.Generator) -> None:
    """Grow by randomly pivoted Cholesky until there are enough."""
    width = _FIRST
    while growth.count < growth.most and not growth.enough(stop):
        law = growth.law()
        if not np.any(law):
            break
        drawn = growth.table.draw(law, width, rng)
        taken = growth.add(drawn, rng.random(width) * growth.residual[drawn])
        if 2 * taken >= width:  # the width follows what is known before the next draw
            width = min(2 * width, _MOST)
        elif 4 * taken < width:
            width = max(width // 2, _LEAST)


def _in_turn(growth: Growth, listed: Array, stop: float) -> None:
    """Grow by listed rows, those that depend on others left out."""
    for start in range(0, len(listed), _MOST):
        if growth.count == growth.most or growth.enough(stop):
            break
        drawn = listed[start : start + _MOST]
        growth.add(drawn, np.zeros(len(drawn)))


def _steady(table: PivotTable, listed: Array) -> Array:
    """Return the independent rows of a list, the largest pivot first.

    A small pivot in front of large features would multiply their rounding by 1/√FLOOR.
    """
    listed = listed[table.diagonal[listed] > FLOOR[8] * table.scale[listed]]
    if not listed.size:
        return listed
    frame = table.few(listed)
    return listed[complete_pivots(frame, frame.side, table.diagonal[listed])[0]]


def _listed(sampler: Any, table: PivotTable, most: int, rng: np.random.Generator) -> Array:
    """Return the row numbers that a sampler lists."""
    if not isinstance(sampler, str):
        listed = np.asarray(sampler)
        if listed.ndim == 1 and listed.dtype.kind in "iu":
            if listed.size and not -table.n <= listed.min() <= listed.max() < table.n:
                raise InputError(
                    "a landmark must be one of the rows",
                    got=f"row numbers from {listed.min()} to {listed.max()}, {table.n} rows",
                    fix="give numbers from 0 to one less than the number of rows",
                )
            return listed.astype(np.int64) % table.n
    elif sampler == "uniform":
        return rng.permutation(np.flatnonzero(table.weights))[:most]
    elif sampler == "kmeans++":
        return _far_apart(table, most, rng)
    raise InputError(
        "landmarks are chosen by a sampler with a name, or listed",
        got=f"sampler={sampler!r}",
        fix=f"pass one of {', '.join(SAMPLERS)}, or an array of row numbers",
    )


def _far_apart(table: PivotTable, most: int, rng: np.random.Generator) -> Array:
    """Return rows drawn ∝ w·D², D the distance in feature space to the nearest drawn before.

    The first is drawn ∝ w. The same rejection in blocks as for pivots keeps the law.
    """
    if most == 0 or not np.any(table.weights):
        return np.zeros(0, np.int64)
    k, floor = table.diagonal, FLOOR[8] * table.scale
    nearest = np.full(table.n, np.inf)
    found: list[int] = []
    drawn, chance = table.draw(table.weights, 1, rng), np.zeros(1)
    while True:
        frame = table.few(drawn)
        h = frame.tile(frame.side, np.empty((len(drawn), len(drawn))), Workspace())
        apart = np.maximum(k[drawn, None] - 2 * h + k[None, drawn], 0.0)
        now, kept = nearest[drawn], list[int]()
        for i in range(len(drawn)):
            if now[i] > max(chance[i], floor[drawn[i]]) and len(found) + len(kept) < most:
                kept.append(i)
                now = np.minimum(now, apart[i])
        picked = drawn[kept]
        if len(picked):
            found += picked.tolist()
            _nearer(table, picked, nearest)
        law = table.weights * np.where(nearest > floor, nearest, 0.0)
        if len(found) >= most or not np.any(law):
            return np.array(found[:most], np.int64)
        drawn = table.draw(law, min(_MOST, max(_LEAST, len(found))), rng)
        chance = rng.random(len(drawn)) * nearest[drawn]


def _nearer(table: PivotTable, picked: Array, nearest: Array) -> None:
    """Lower `nearest` (n,) to the squared distances from the picked rows."""
    k = table.diagonal

    def act(part: slice, t: Array, _scratch: Array) -> None:
        best = np.min(k[picked, None] - 2.0 * t, axis=0) + k[part]
        nearest[part] = np.minimum(nearest[part], np.maximum(best, 0.0))

    table.sweep(picked, act)
    nearest[picked] = 0.0
