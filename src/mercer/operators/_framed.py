"""Framed: a table between two diagonal matrices, with a rank-one level taken out of it."""

import math
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import Array, Lanes, Tiles, add_gram, is_sparse, thread_count, triangle
from mercer.operators._base import Operator
from mercer.operators._csr import in_dtype, row_view, sparse_tiles

_WORTH_LANES = 2e7  # flops below which starting threads costs more than it saves
_CELLS = 2_000_000  # of a block that is written down
_BESIDE = 10  # stored cells of a block for each column of the table


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
        self.tiles = self._sparse_tiles() if self.sparse else whole

    def _sparse_tiles(self) -> Tiles:
        """Return row blocks with many cells beside the (n, b) sums that each is added to."""
        m, n = self.shape
        enough = math.ceil(_BESIDE * n * m / max(self.cells, 1.0))
        return Tiles(m, max(sparse_tiles(self.table).rows, min(enough, -(-m // 4))))

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

    def matmat(self, v: Array, /) -> Array:
        """See `Operator.matmat`."""
        thin, along = self._thin(v)
        out = np.empty((self.shape[0], v.shape[1]))

        def work(_lane: int, numbers: Iterator[int]) -> None:
            for number in numbers:
                part = self.tiles[number]
                y = self.stored(part) @ thin
                y -= self.level[part, None] * along
                np.multiply(self.left[part, None], y, out=out[part])

        self._lanes(v.shape[1]).run(work, len(self.tiles))
        return out

    def rmatmat(self, u: Array, /) -> Array:
        """See `Operator.rmatmat`."""
        thin = np.ascontiguousarray(self.left[:, None] * u)
        lanes = self._lanes(u.shape[1])
        total = np.zeros((lanes.count, self.shape[1], u.shape[1]))

        def work(lane: int, numbers: Iterator[int]) -> None:
            for number in numbers:
                part = self.tiles[number]
                total[lane] += self.stored(part).T @ thin[part]

        lanes.run(work, len(self.tiles))
        return self._unthin(total.sum(axis=0), self.level @ thin)

    def _unthin(self, w: Array, along: Array) -> Array:
        return np.asarray(self.right[:, None] * (w - self.profile[:, None] * along))

    def gram_matmat(self, q: Array, /) -> Array:
        """See `Operator.gram_matmat`: one reading of the table, 4·nnz·b flops."""
        thin, along = self._thin(q)
        lanes = self._lanes(q.shape[1])
        total = np.zeros((lanes.count, self.shape[1], q.shape[1]))
        levels = np.zeros((lanes.count, q.shape[1]))

        def work(lane: int, numbers: Iterator[int]) -> None:
            for number in numbers:
                part = self.tiles[number]
                rows = self.stored(part)
                y = rows @ thin
                y -= self.level[part, None] * along
                y *= self.left[part, None] ** 2
                total[lane] += rows.T @ y
                levels[lane] += self.level[part] @ y

        lanes.run(work, len(self.tiles))
        return self._unthin(total.sum(axis=0), levels.sum(axis=0))

    def block(self, part: slice) -> Array:
        """Return some rows of A, written down."""
        if self.sparse:
            rows = self.stored(part).toarray()
            rows -= self.level[part, None] * self.profile
            return self._between(rows, part, slice(None))
        return self._cut(part, slice(None))

    def _cut(self, part: slice, columns: slice) -> Array:
        """Return some rows and columns of A, of a table that is held as an array."""
        cells = self.level[part, None] * self.profile[columns]
        np.subtract(self.table[part, columns], cells, out=cells)
        return self._between(cells, part, columns)

    def _between(self, cells: Array, part: slice, columns: slice) -> Array:
        cells *= self.left[part, None]
        cells *= self.right[columns]
        return np.asarray(cells)

    def gram(self) -> Array:
        """Return AᵀA (n, n): blocks of rows are written down, nothing is subtracted after."""
        if self.counted is not None:
            return self.counted()
        total = np.zeros((self.shape[1], self.shape[1]))
        for number in range(len(self.written)):
            add_gram(total, self.block(self.written[number]), None)
        return total

    def dense(self) -> Array:
        """See `Operator.dense`."""
        return self.block(slice(0, self.shape[0]))

    def triangle(self) -> Array:
        """See `Operator.triangle`: blocks of rows one after another."""
        found = np.empty((0, self.shape[1]))
        for number in range(len(self.written)):
            found = triangle(np.concatenate([found, self.block(self.written[number])]))
        return found

    @property
    def T(self) -> "FramedColumns":  # noqa: N802 - the array API's name
        """The transpose Aᵀ (n, m)."""
        return FramedColumns(self)


@final
class FramedColumns(Operator):
    """The transpose Aᵀ (n, m) of a framed table, for tables with more columns than rows."""

    def __init__(self, base: Framed) -> None:
        self.base = base
        self.shape = (base.shape[1], base.shape[0])
        self.like = base.like

    def matmat(self, v: Array, /) -> Array:
        """See `Operator.matmat`."""
        return self.base.rmatmat(v)

    def rmatmat(self, u: Array, /) -> Array:
        """See `Operator.rmatmat`."""
        return self.base.matmat(u)

    def gram(self) -> Array:
        """Return AAᵀ (m, m): blocks of columns, or of A's rows times A where it is sparse."""
        base, (n, m) = self.base, self.shape
        total = np.zeros((m, m))
        if base.sparse:
            for number in range(len(base.written)):
                part = base.written[number]
                total[:, part] = base.matmat(base.block(part).T)
            return np.asarray((total + total.T) / 2)
        tiles = Tiles(n, max(1, min(n, max(2 * m, _CELLS // max(m, 1)))))
        for number in range(len(tiles)):
            add_gram(total, base._cut(slice(0, m), tiles[number]).T, None)
        return total

    @property
    def T(self) -> Framed:  # noqa: N802 - the array API's name
        """The matrix A (m, n) itself."""
        return self.base
