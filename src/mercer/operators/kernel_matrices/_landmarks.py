"""Landmarks: a few rows S that stand for all, K ≈ K_XS K_SS⁻¹ K_SX = FFᵀ.

Tiles of a positive kernel against a few rows, and the triangle that whitens them.

A kernel that is positive on differences only (cpd) becomes
k̃(x, y) = k(x, y) - k(x, o) - k(o, y) + k(o, o) with a row o as origin: it is positive
definite and has the same centred matrix HKH. For a pd kernel k̃ = k.
"""

import dataclasses
from collections.abc import Iterator
from functools import cached_property
from typing import Any, final

import numpy as np
import scipy.linalg.blas as blas
from scipy.linalg.lapack import dpstrf

from mercer.arrays import (
    Array,
    Given,
    Lanes,
    Node,
    Side,
    Tiles,
    Workspace,
    diagonal,
    entry_rounding,
    interruptible,
    is_objects,
    is_sparse,
    kernel_rows,
    prepare,
    thread_count,
    tile,
)
from mercer.errors import InputError, NotSupportedError
from mercer.kernels import Flag, Kernel

# Share of k̃(x, x) under which no pivot is taken. Rounding ε of the kernel grows to ε·‖β‖² in
# a residual, β = K_SS⁻¹k_S(x), and ‖β‖² may reach 1/FLOOR: a row far from landmarks that are
# nearly dependent is extrapolated to. A lower floor would make residuals noise.
FLOOR = {8: 1e-10, 4: 8e-6}
# Share of k̃(x, x) below zero that no rounding explains.
_IMPOSSIBLE = {8: 1e-2, 4: 0.3}
_SAMPLE = 256  # rows among which the origin is found
_PANEL = 64  # rows of a triangle that are solved at once


@final
@dataclasses.dataclass(frozen=True)
class LandmarkFrame:
    """Rows y_1 … y_m made ready, so that tiles k̃(y_j, x_i) of any x can be made.

    Parameters
    ----------
    program : Node
        The kernel.
    side : Side
        The rows y.
    origin : Side or None
        The row o.
    level : ndarray of shape (m,) or None
        k(o, y_j) - k(o, o).
    peak : float
        k(o, o), and 0 without an origin.
    dtype : dtype
        The precision of the tiles.
    """

    program: Node
    side: Side
    origin: Side | None
    level: Array | None
    peak: float
    dtype: Any

    @classmethod
    def of(
        cls,
        program: Node,
        rows: Any,
        origin: Any = None,
        dtype: Any = np.float64,
        like: Side | None = None,
    ) -> "LandmarkFrame":
        """Return the frame of rows (m, p); `like` lends its unit and its middle."""
        side = prepare(program, in_precision(rows, dtype), like)
        if origin is None:
            return cls(program, side, None, None, 0.0, dtype)
        at = prepare(program, in_precision(origin, dtype), side if like is None else like)
        peak = float(diagonal(program, at)[0])
        level = tile(program, at, side, slice(0, 1), slice(0, side.n))[0] - peak
        return cls(program, side, at, level.astype(dtype), peak, dtype)

    def ready(self, rows: Any) -> Side:
        """Return the side of new rows (r, p)."""
        return prepare(self.program, in_precision(rows, self.dtype), self.side)

    def tile(self, x: Side, out: Array, space: Workspace) -> Array:
        """Return k̃(y_j, x_i) as (m, r), written into `out`: a column for each new row."""
        every = slice(0, x.n)
        t = tile(self.program, self.side, x, slice(0, self.side.n), every, out, space)
        if self.origin is not None and self.level is not None:
            t -= tile(self.program, self.origin, x, slice(0, 1), every)
            t -= self.level[:, None]
        return t

    def diagonal(self, x: Side) -> tuple[Array, Array]:
        """Return k̃(x, x) and the size of the numbers it is made of, (r,) in float64."""
        k = diagonal(self.program, x)
        if self.origin is None or self.level is None:
            return k, np.abs(k)
        to = tile(self.program, x, self.origin, slice(0, x.n), slice(0, 1))[:, 0]
        to = to.astype(np.float64)
        # k(x, y) and k(o, y) cancel where x is near o, however far y is.
        wide = abs(self.peak) + float(np.max(np.abs(self.level), initial=0.0))
        return k - 2 * to + self.peak, np.abs(k) + 2 * np.abs(to) + wide


def frame_rounding(frame: LandmarkFrame) -> tuple[float, float]:
    """Return what an entry k̃(y_i, y_j) may lose: a share of d_i·d_j, and what has no scale.

    A cpd kernel is made of four entries, which cancel.
    """
    lost = entry_rounding(frame.program, frame.side)
    if frame.origin is None:
        return lost.own + lost.ends, lost.flat
    flat = lost.plain.flat + (lost.own * lost.size if lost.own else 0.0)
    return 0.0, 4 * flat


def in_precision(rows: Any, dtype: Any) -> Any:
    """Return rows of numbers as `dtype`; nothing is copied that has it."""
    rows = kernel_rows(rows)
    return rows if rows.dtype == dtype or is_objects(rows) else rows.astype(dtype)


def program_of(kernel: Kernel) -> Node:
    """Return the tile program of a kernel that may have landmarks; refuse the others."""
    program = kernel.program()
    if program.holds(Given):
        raise NotSupportedError(
            "landmarks need rows and a kernel of two rows",
            got=f"{kernel!r}, whose values are given as a matrix",
            fix="pass the rows and the kernel, or use the whole matrix",
        )
    if kernel.flag is Flag.INDEFINITE:
        raise InputError(
            "landmarks need a positive definite kernel, or one that is so on differences",
            got=f"{kernel!r}, which is indefinite",
            fix="use the whole matrix, or a kernel that is positive definite",
        )
    return program


def middle_row(kernel: Kernel, rows: Any) -> Any:
    """Return a row o (1, p) in the middle of the others for a cpd kernel, None for a pd one.

    Of at most 256 rows the one with the least mean ‖φ(x) - φ(y)‖², so that k̃(x, x) is small.
    """
    if kernel.flag is not Flag.CPD:
        return None
    rows = kernel_rows(rows)
    sample = rows[spread(int(rows.shape[0]), _SAMPLE)]
    side = prepare(kernel.program(), in_precision(sample, np.float64))
    every = slice(0, side.n)
    k = tile(kernel.program(), side, side, every, every)
    best = int(np.argmin(np.diag(k) - 2 * k.mean(axis=1)))
    return sample[best : best + 1].copy()


def spread(n: int, most: int) -> Array:
    """Return at most `most` of the numbers 0 … n - 1, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))


def whiten(triangle: Array, t: Array) -> Array:
    """Return L⁻¹T in place, T (m, r) in the order of C: f(x) = L⁻¹k_S(x) column by column.

    r·m² flops, by panels: BLAS multiplies more than twice as fast as it solves.

    Parameters
    ----------
    triangle : ndarray of shape (m, m)
        L, lower, of the type of T.
    t : ndarray of shape (m, r)
        Contiguous; it is written over.
    """
    wide = t.dtype == np.float64
    solve, multiply = (blas.dtrsm, blas.dgemm) if wide else (blas.strsm, blas.sgemm)
    for start in range(0, t.shape[0] if t.size else 0, _PANEL):
        part = slice(start, min(start + _PANEL, t.shape[0]))
        panel = t[part].T
        if start:
            known = np.asfortranarray(triangle[part, :start])
            multiply(-1.0, t[:start].T, known, 1.0, panel, trans_b=1, overwrite_c=1)
        low = np.asfortranarray(triangle[part, part])
        solve(1.0, low, panel, side=1, lower=1, trans_a=1, overwrite_b=1)
    return t


def residuals(f: Array, k: Array, scale: Array, dtype: Any, kernel: Kernel) -> Array:
    """Return r = max(0, k̃(x, x) - ‖f(x)‖²) in float64 (r,), f (m, r)."""
    r = k - np.einsum("ij,ij->j", f, f, dtype=np.float64)
    refuse_negative(r, scale, dtype, kernel)
    return np.maximum(r, 0.0)


def refuse_negative(r: Array, scale: Array, dtype: Any, kernel: Kernel) -> None:
    """Refuse a residual that is below zero by more than rounding: k is then not positive.

    Of a kernel that is known to be positive it can only be rounding.
    """
    impossible = r < -_IMPOSSIBLE[np.dtype(dtype).itemsize] * scale
    impossible &= not kernel.flag.centred
    if np.any(impossible):
        row = int(np.argmax(impossible))
        raise InputError(
            "the kernel is not positive definite: a squared distance is negative",
            got=f"‖φ(x) - Pφ(x)‖² = {r[row]:.6g}, k(x, x) of size {scale[row]:.3g}",
            fix="use the whole matrix with a rule for negative eigenvalues, or another kernel",
        )
    if not np.all(np.isfinite(r)):
        raise InputError(
            "kernel values must be finite numbers",
            got=f"a residual of {r[int(np.argmin(np.isfinite(r)))]}",
            fix="remove missing and infinite cells, or divide the data by their largest value",
        )


_TILE_BYTES = 1.5e6  # of a block of features, which stays near the core
_MOST_ROWS = 4096
_WORTH_LANES = 1e5  # entries from which threads pay


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Landmarks:
    """Rows S with K_SS = LLᵀ: f(x) = L⁻¹k_S(x) and r(x) = k(x, x) - ‖f(x)‖² ≥ 0.

    f(x) are the coordinates of φ(x) in the span of the landmarks, and r(x) is the squared
    distance to that span: f(x)ᵀf(y) ≈ k(x, y), and r(x) says how new a row is.

    Parameters
    ----------
    kernel : Kernel
        With numbers for parameters; pd or cpd, or unknown and then found out.
    rows : array or CSR matrix of shape (m, p)
        The landmarks in the order of the pivots.
    triangle : ndarray of shape (m, m)
        L, lower, float64.
    origin : array of shape (1, p) or None
        The row o of a cpd kernel, whose place k(x, y) - k(x, o) - k(o, y) + k(o, o) takes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> X = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> marks = Landmarks.of(Linear(), X)
    >>> marks.m  # two of the three rows span the others
    2
    >>> f, r = marks.features(X)
    >>> bool(np.allclose(f @ f.T, X @ X.T)), bool(np.allclose(r, 0))
    (True, True)
    """

    kernel: Kernel
    rows: Array
    triangle: Array
    origin: Array | None = None

    @classmethod
    def of(cls, kernel: Kernel, rows: Any) -> "Landmarks":
        """Return landmarks of given rows (m, p), those that depend on others dropped.

        Cholesky with complete pivoting of K_SS, scaled to a unit diagonal: m³/3 flops.
        """
        program = program_of(kernel)
        rows = kernel_rows(rows)
        origin = middle_row(kernel, rows)
        frame = LandmarkFrame.of(program, rows, origin)
        x = frame.ready(rows)
        k, scale = frame.diagonal(x)
        alive = np.flatnonzero(k > FLOOR[8] * scale)
        if alive.size < x.n:
            rows = rows[alive]
            frame = LandmarkFrame.of(program, rows, origin)
            x, k = frame.ready(rows), k[alive]
        keep, triangle = complete_pivots(frame, x, k)
        return cls(kernel, rows[keep], np.asfortranarray(triangle), origin)

    @property
    def m(self) -> int:
        """The number of landmarks."""
        return int(self.triangle.shape[0])

    def subset(self, m: int) -> "Landmarks":
        """Return the first m landmarks: L[:m, :m], because pivots are nested."""
        cut = np.asfortranarray(self.triangle[:m, :m])
        return dataclasses.replace(self, rows=self.rows[:m].copy(), triangle=cut)

    def same(self, other: "Landmarks") -> bool:
        """Tell whether both give the same features, bit for bit."""
        if self is other:
            return True
        return (
            self.kernel == other.kernel
            and _equal(self.rows, other.rows)
            and np.array_equal(self.triangle, other.triangle)
            and _equal(self.origin, other.origin)
        )

    @property
    def steady(self) -> bool:
        """Whether float32 features keep digits: no pivot is near the rounding of float32."""
        pivots = np.diag(self.triangle) ** 2
        sizes = np.sum(self.triangle**2, axis=1)
        return bool(np.all(pivots > FLOOR[4] * sizes))

    @property
    def entry_rounding(self) -> tuple[float, float]:
        """What an entry of K_SS may lose: a share of d_s·d_s', and what has no scale."""
        return frame_rounding(self._wide.frame)

    @property
    def side(self) -> Side:
        """The landmarks as tiles of other rows need them."""
        return self._wide.frame.side

    def features(self, rows: Any, dtype: Any = np.float64) -> tuple[Array, Array]:
        """Return F (r, m) with rows f(x), and r(x) (r,) in float64.

        2mp + m² flops a row. Tiles are float64, also for float32 rows, unless `dtype` is
        float32 and the rows are.
        """
        rows = kernel_rows(rows)
        n = int(rows.shape[0])
        f, r = np.empty((n, self.m), dtype), np.empty(n)
        bench, tiles = self.bench(rows, dtype), self._tiles(n)
        busy = n * (self.m + 1) > _WORTH_LANES
        lanes = Lanes(min(thread_count(), len(tiles)) if busy else 1)

        def work(_lane: int, parts: Iterator[slice]) -> None:
            space, buffer = Workspace(), bench.buffer(tiles.rows)
            for part in parts:
                columns, r[part], _ = bench.block(rows[part], buffer, space)
                f[part] = columns.T

        lanes.over(tiles, work)
        return f, r

    def blocks(
        self, rows: Any, dtype: Any = np.float64
    ) -> Iterator[tuple[slice, Array, Array]]:
        """Yield (which rows, F, r) block by block; the arrays are the reader's own."""
        rows = kernel_rows(rows)
        bench, tiles, space = self.bench(rows, dtype), self._tiles(rows.shape[0]), Workspace()
        for part in tiles:
            f, r, _ = bench.block(rows[part], bench.buffer(tiles.rows), space)
            yield part, f.T.astype(dtype, copy=False), r

    def bench(self, rows: Any, dtype: Any) -> "Bench":
        """Return the place where blocks of such rows become features."""
        narrow = np.dtype(dtype) == np.float32 and kernel_rows(rows).dtype == np.float32
        return self._narrow if narrow else self._wide

    @cached_property
    def _wide(self) -> "Bench":
        return Bench.of(self, np.float64)

    @cached_property
    def _narrow(self) -> "Bench":
        return Bench.of(self, np.float32)

    def _tiles(self, n: int) -> Tiles:
        return Tiles.of(n, self.m, 8, most_bytes=_TILE_BYTES, longest=_MOST_ROWS)

    def __getstate__(self) -> dict[str, Any]:
        # What is prepared from the fields is prepared again where it is needed.
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


@final
@dataclasses.dataclass(frozen=True)
class Bench:
    """Landmarks in one precision, ready for blocks of rows."""

    kernel: Kernel
    frame: LandmarkFrame
    triangle: Array
    dtype: Any

    @classmethod
    def of(cls, landmarks: Landmarks, dtype: Any) -> "Bench":
        """Return the bench of landmarks in float64 or float32."""
        program = program_of(landmarks.kernel)
        frame = LandmarkFrame.of(program, landmarks.rows, landmarks.origin, dtype)
        triangle = np.asfortranarray(landmarks.triangle, dtype)
        return cls(landmarks.kernel, frame, triangle, np.dtype(dtype))

    def buffer(self, rows: int) -> Array:
        """Return space for the features of so many rows."""
        return np.empty(rows * len(self.triangle), self.dtype)

    def block(self, rows: Any, buffer: Array, space: Workspace) -> tuple[Array, Array, Array]:
        """Return f as columns (m, r), a part of `buffer`, residuals and k̃(x, x), (r,)."""
        x: Side = self.frame.ready(rows)
        m = len(self.triangle)
        t = self.frame.tile(x, buffer[: m * x.n].reshape(m, x.n), space)
        f = whiten(self.triangle, t)
        k, scale = self.frame.diagonal(x)
        return f, residuals(f, k, scale, self.dtype, self.kernel), k


def complete_pivots(frame: LandmarkFrame, x: Side, k: Array) -> tuple[Array, Array]:
    """Return which rows are independent, the largest pivot first, and their triangle.

    `frame` holds the same rows as `x`, and `k` is their diagonal, positive.
    """
    if x.n == 0:
        return np.zeros(0, np.int64), np.zeros((0, 0))
    root = np.sqrt(k)
    a = frame.tile(x, np.empty((x.n, x.n)), Workspace()) / root[:, None] / root
    found = interruptible(lambda: dpstrf(a, tol=FLOOR[8], lower=1), x.n)
    keep = np.asarray(found[1])[: int(found[2])] - 1
    return keep, np.tril(found[0])[: len(keep), : len(keep)] * root[keep, None]


def _equal(a: Any, b: Any) -> bool:
    """Tell whether two sets of rows, dense, sparse or None, hold the same numbers."""
    if a is None or b is None:
        return a is b
    if a.shape != b.shape or is_sparse(a) != is_sparse(b):
        return False
    if is_objects(a) and is_objects(b):
        return all(x is y or bool(np.array_equal(x, y)) for x, y in zip(a, b, strict=True))
    return (a != b).nnz == 0 if is_sparse(a) else bool(np.array_equal(a, b))
