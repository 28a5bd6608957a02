"""Landmarks: a few rows S that stand for all, K ≈ K_XS K_SS⁻¹ K_SX = FFᵀ."""

import dataclasses
from collections.abc import Iterator
from functools import cached_property
from typing import Any, final

import numpy as np
from scipy.linalg.lapack import dpstrf

from mercer.arrays import (
    Array,
    Lanes,
    Side,
    Tiles,
    Workspace,
    as_rows,
    interruptible,
    is_sparse,
    thread_count,
)
from mercer.kernels import Kernel
from mercer.operators._frames import (
    FLOOR,
    Frame,
    middle_row,
    program_of,
    residuals,
    whiten,
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
        rows = as_rows(rows)
        origin = middle_row(kernel, rows)
        frame = Frame.of(program, rows, origin)
        x = frame.ready(rows)
        k, scale = frame.diagonal(x)
        alive = np.flatnonzero(k > FLOOR[8] * scale)
        if alive.size < x.n:
            rows = rows[alive]
            frame = Frame.of(program, rows, origin)
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

    def features(self, rows: Any, dtype: Any = np.float64) -> tuple[Array, Array]:
        """Return F (r, m) with rows f(x), and r(x) (r,) in float64.

        2mp + m² flops a row. Tiles are float64, also for float32 rows, unless `dtype` is
        float32 and the rows are.
        """
        rows = as_rows(rows)
        n = int(rows.shape[0])
        f, r = np.empty((n, self.m), dtype), np.empty(n)
        bench, tiles = self.bench(rows, dtype), self._tiles(n)
        busy = n * (self.m + 1) > _WORTH_LANES
        lanes = Lanes(min(thread_count(), len(tiles)) if busy else 1)

        def work(_lane: int, numbers: Iterator[int]) -> None:
            space, buffer = Workspace(), bench.buffer(tiles.rows)
            for number in numbers:
                part = tiles[number]
                columns, r[part], _ = bench.block(rows[part], buffer, space)
                f[part] = columns.T

        lanes.run(work, len(tiles))
        return f, r

    def blocks(
        self, rows: Any, dtype: Any = np.float64
    ) -> Iterator[tuple[slice, Array, Array]]:
        """Yield (which rows, F, r) block by block; the arrays are the reader's own."""
        rows = as_rows(rows)
        bench, tiles, space = self.bench(rows, dtype), self._tiles(rows.shape[0]), Workspace()
        for number in range(len(tiles)):
            part = tiles[number]
            f, r, _ = bench.block(rows[part], bench.buffer(tiles.rows), space)
            yield part, f.T.astype(dtype, copy=False), r

    def bench(self, rows: Any, dtype: Any) -> "Bench":
        """Return the place where blocks of such rows become features."""
        narrow = np.dtype(dtype) == np.float32 and as_rows(rows).dtype == np.float32
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
    frame: Frame
    triangle: Array
    dtype: Any

    @classmethod
    def of(cls, landmarks: Landmarks, dtype: Any) -> "Bench":
        """Return the bench of landmarks in float64 or float32."""
        program = program_of(landmarks.kernel)
        frame = Frame.of(program, landmarks.rows, landmarks.origin, dtype)
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


def complete_pivots(frame: Frame, x: Side, k: Array) -> tuple[Array, Array]:
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
    return (a != b).nnz == 0 if is_sparse(a) else bool(np.array_equal(a, b))
