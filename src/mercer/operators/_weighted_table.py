"""Framed: a table between two diagonal matrices, with a rank-one level taken out of it."""

from collections.abc import Callable, Iterator
from typing import Any, Literal, final

import numpy as np

from mercer.arrays import Array, Lanes, Tiles, add_gram, is_sparse, thread_count, triangle
from mercer.operators._operator import Operator, Transposed
from mercer.operators.sparse._csr_blocks import (
    add_product,
    add_transposed,
    in_dtype,
    row_view,
    sparse_tiles,
)

_WORTH_LANES = 2e7  # flops below which starting threads costs more than it saves
_TASTED = 8  # one block in so many gives a start
_WORTH_CELLS = 1e6  # cells to write down, likewise
_SHARED = 1000  # columns up to which every lane has a Gram matrix of its own, as in the plan
_CELLS = 250_000  # of a block that is written down
_IN_CACHE = 1 << 16  # of a part of it that stays in the cache


@final
class Framed(Operator):
    """A = diag(left)·(T - level·profileᵀ)·diag(right) for a table T (m, n), dense or sparse.

    The one matrix behind the methods of tables. Correspondence analysis: T the counts over
    their total, level and profile the masses r and c, left and right r^-½ and c^-½. Weighted
    PCA of any columns: level 1, profile the means, left √w, right the factors of the columns.
    The level is taken out of every product, so that a sparse T stays sparse.

    Parameters
    ----------
    table : ndarray or CSR matrix of shape (m, n)
        T; it is read, never written to.
    left, level : ndarray of shape (m,)
        Of the rows.
    right, profile : ndarray of shape (n,)
        Of the columns.
    counted : function or None
        Returns AᵀA (n, n) anew where there is a quicker way than products of rows, such as
        counting pairs of categories.
    """

    def __init__(
        self,
        table: Any,
        *,
        left: Array,
        right: Array,
        level: Array,
        profile: Array,
        counted: Callable[[], Array] | None = None,
    ) -> None:
        self.counted = counted
        self.table, self.left, self.right = table, left, right
        self.level, self.profile = level, profile
        self.shape = (int(table.shape[0]), int(table.shape[1]))
        self.like = np.empty((0, 0))
        self.sparse = is_sparse(table)
        m, n = self.shape
        whole = Tiles(m, max(1, min(m, max(2 * n, _CELLS // max(n, 1)))))
        self.written = whole  # blocks of A that are written down
        self.cells = float(table.nnz if self.sparse else m * n)
        self.tiles = sparse_tiles(table) if self.sparse else whole
        # Cells are written down as the table has them: to transpose costs more than to count.
        by_rows = self.sparse or not np.isfortran(table)
        self.order: Literal["C", "F"] = "C" if by_rows else "F"

    def stored(self, part: slice) -> Any:
        """Return some rows of T in float64, shared where they are so."""
        if self.sparse:
            return in_dtype(row_view(self.table, part), np.float64)
        return self.table[part].astype(np.float64, copy=False)

    def _lanes(self, width: int) -> Lanes:
        worth = 4.0 * self.cells * width > _WORTH_LANES
        return Lanes(min(thread_count(), len(self.tiles)) if worth else 1)

    def _thin(self, v: Array) -> tuple[Array, Array]:
        thin = np.ascontiguousarray(self.right[:, None] * v)
        return thin, self.profile @ thin

    def _image(self, part: slice, rows: Any, thin: Array, along: Array, out: Array) -> Array:
        """Return (T - level·profileᵀ)·thin for some rows, written into `out`."""
        y = out[: part.stop - part.start]
        if self.sparse:
            np.multiply(self.level[part, None], -along, out=y)
            add_product(rows, thin, y)
            return y
        np.matmul(rows, thin, out=y)
        y -= self.level[part, None] * along
        return y

    def matmat(self, v: Array, /) -> Array:
        """See `Operator.matmat`."""
        thin, along = self._thin(v)
        out = np.empty((self.shape[0], v.shape[1]))

        def work(_lane: int, parts: Iterator[slice]) -> None:
            for part in parts:
                y = self._image(part, self.stored(part), thin, along, out[part])
                y *= self.left[part, None]

        self._lanes(v.shape[1]).over(self.tiles, work)
        return out

    def rmatmat(self, u: Array, /) -> Array:
        """See `Operator.rmatmat`."""
        thin = np.ascontiguousarray(self.left[:, None] * u)
        lanes = self._lanes(u.shape[1])
        total = np.zeros((lanes.count, self.shape[1], u.shape[1]))

        def work(lane: int, parts: Iterator[slice]) -> None:
            for part in parts:
                self._add(self.stored(part), thin[part], total[lane])

        lanes.over(self.tiles, work)
        return self._unthin(total.sum(axis=0), self.level @ thin)

    def _add(self, rows: Any, y: Array, total: Array) -> None:
        """Add Tᵀy of some rows to `total`."""
        if self.sparse:
            add_transposed(rows, y, total)
        else:
            total += rows.T @ y

    def _unthin(self, w: Array, along: Array) -> Array:
        return np.asarray(self.right[:, None] * (w - self.profile[:, None] * along))

    def gram_matmat(self, q: Array, /) -> Array:
        """See `Operator.gram_matmat`: one reading of the table, 4·nnz·b flops."""
        return self._gram_matmat(q, 1)

    def taste(self, q: Array, /) -> Array:
        """See `Operator.taste`: every eighth block of rows, where there are many."""
        return self._gram_matmat(q, _TASTED) if len(self.tiles) >= 2 * _TASTED else q

    def _gram_matmat(self, q: Array, step: int) -> Array:
        """Return AᵀAQ from every `step`-th block of rows."""
        thin, along = self._thin(q)
        lanes = self._lanes(q.shape[1])
        total = np.zeros((lanes.count, self.shape[1], q.shape[1]))
        levels = np.zeros((lanes.count, q.shape[1]))
        space = np.empty((lanes.count, self.tiles.rows, q.shape[1]))

        def work(lane: int, parts: Iterator[slice]) -> None:
            for part in parts:
                rows = self.stored(part)
                y = self._image(part, rows, thin, along, space[lane])
                y *= self.left[part, None] ** 2
                self._add(rows, y, total[lane])
                levels[lane] += self.level[part] @ y

        lanes.over([*self.tiles][::step], work)
        return self._unthin(total.sum(axis=0), levels.sum(axis=0))

    def space(self, *shape: int) -> Array:
        """Return room for cells that are written down, in the order of the table."""
        return np.empty(shape) if self.order == "C" else np.empty(shape[::-1]).T

    def block(self, part: slice) -> Array:
        """Return some rows of A, written down."""
        return self._cells(part, right=True)

    def half(self, part: slice, space: Array | None = None) -> Array:
        """Return some rows of diag(left)·(T - level·profileᵀ), written down (into `space`).

        Sums of their squares and products are scaled by `right` afterwards, which is less
        work than to scale every cell.
        """
        return self._cells(part, right=False, space=space)

    def _cells(self, part: slice, *, right: bool, space: Array | None = None) -> Array:
        """Return some rows of A; a few rows or columns at a time, while they are cached."""
        height, width = part.stop - part.start, self.shape[1]
        cells = self.space(height, width) if space is None else space[:height]
        long, across = (height, width) if self.order == "C" else (width, height)
        few = Tiles(long, max(1, _IN_CACHE // max(across, 1)))

        def work(_lane: int, pieces: Iterator[slice]) -> None:
            for piece in pieces:
                rows, columns = piece, slice(0, width)
                if self.order == "F":
                    rows, columns = slice(0, height), piece
                out = cells[rows, columns]
                at = slice(part.start + rows.start, part.start + rows.stop)
                np.multiply(self.level[at, None], self.profile[columns], out=out)
                table = self.stored(at).toarray() if self.sparse else self.table[at, columns]
                np.subtract(table, out, out=out)
                out *= self.left[at, None]
                if right:
                    out *= self.right[columns]

        large = height * width > _WORTH_CELLS
        Lanes(min(thread_count(), len(few)) if large else 1).over(few, work)
        return cells

    def gram(self) -> Array:
        """Return AᵀA (n, n): blocks of rows are written down, nothing is subtracted after."""
        if self.counted is not None:
            return self.counted()
        (m, n), tiles = self.shape, self.written
        if n <= _SHARED and m * n > _WORTH_CELLS:  # a lane each to the end: BLAS never waits
            tiles = Tiles(m, max(1, int(min(_WORTH_CELLS, 0.1 * m * n)) // n))
        lanes = Lanes(1 if tiles is self.written else min(thread_count(), len(tiles)))
        # Fresh pages cost as much as the cells: every block is written where the last was.
        total, product = np.zeros((2, lanes.count, n, n))
        space = [self.space(tiles.rows, n) for _ in range(lanes.count)]

        def work(lane: int, parts: Iterator[slice]) -> None:
            for part in parts:
                add_gram(total[lane], self.half(part, space[lane]), product[lane])

        lanes.over(tiles, work)
        found = total[0]
        for other in total[1:]:
            found += other
        found *= self.right[:, None]
        found *= self.right
        return np.asarray(found)

    def dense(self) -> Array:
        """See `Operator.dense`."""
        return self.block(slice(0, self.shape[0]))

    def triangle(self) -> Array:
        """See `Operator.triangle`: blocks of rows one after another."""
        found = np.empty((0, self.shape[1]))
        for part in self.written:
            found = triangle(np.concatenate([found, self._cells(part, right=True)]))
        return found

    @property
    def T(self) -> "Framed | SparseFramedColumns":  # noqa: N802 - the array API's name
        """The transpose Aᵀ (n, m): that of Tᵀ between the same vectors, changed about."""
        if self.sparse:
            return SparseFramedColumns(self)
        return Framed(
            self.table.T,
            left=self.right,
            right=self.left,
            level=self.profile,
            profile=self.level,
        )


@final
class SparseFramedColumns(Transposed):
    """The transpose Aᵀ (n, m) of a sparse framed table, which stays in rows."""

    def __init__(self, base: Framed) -> None:
        super().__init__(base)
        self.base = base

    def gram(self) -> Array:
        """Return AAᵀ (m, m): A times blocks of its rows."""
        base, m = self.base, self.shape[1]
        total = np.zeros((m, m))
        for part in base.written:
            total[:, part] = base.matmat(base.block(part).T)
        return np.asarray((total + total.T) / 2)
