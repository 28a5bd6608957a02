"""Centred rows as an operator: A = diag(√w)(X - 1·meanᵀ)·diag(factor), never written down."""

from collections.abc import Iterator
from typing import Any, final

from mercer.arrays import Array, Tiles, eps_of, namespace, scratch
from mercer.operators._centring import Centring
from mercer.operators._operator import CentredOperator, Operator
from mercer.operators._rounding import Probe
from mercer.operators.rows._dense_rows import LONGEST, DenseRows, Rows

_TASTE = 8  # one block in so many gives a first idea of the leading axes
_CACHE = 3e6  # bytes of a block that is still close to the core at its second product


def product_error(wrong: Array, block: Array, inner: Array, *, weighted: bool) -> float:
    """Return twice the worst ‖wrong_j‖ / (‖B‖_F·‖inner_j‖) over columns j of a float32 product.

    Summed over blocks by Cauchy and Schwarz, this bounds the error of a whole pass by
    ‖A‖_F·‖Aq‖ times the ratio. Other blocks have other ratios: in a row that holds most of the
    weight x - o, √w and their product round by half a unit each, once in B and once in Bᵀ,
    which no sum over rows evens out.
    """
    xp = namespace(wrong)
    size = float(xp.linalg.vector_norm(block)) * xp.linalg.vector_norm(inner, axis=0)
    norms = xp.linalg.vector_norm(wrong, axis=0)
    sound = size > 0
    ratio = xp.where(sound, norms / xp.where(sound, size, xp.ones_like(size)), 0.0 * norms)
    unit = eps_of("float32")
    least = 1.5 * unit if weighted else unit / 4
    return 2 * max(float(xp.max(ratio)), least) + unit / 2  # x - o may round elsewhere too


@final
class CentredRows(CentredOperator):
    """The centred data X̃ (n, p), as products over row blocks.

    One pass of `gram_matmat` reads each block once: Y = BQ - 1(offsetᵀQ) and
    W += BᵀY - offset(1ᵀY), with B already about the origin. Both sides are centred;
    XᵀXQ - n·mean·meanᵀQ would be the forbidden difference of raw squares.

    Parameters
    ----------
    rows : Rows
        Dense rows about their origin.
    centring : Centring
        The mean and the column factors.
    """

    rows: Rows

    def __init__(self, rows: Rows, centring: Centring) -> None:
        super().__init__(rows, centring)
        self._probes: dict[int, Probe] = {}  # by lane; they last over all passes

    def _thin(self, q: Array, dtype: Any) -> tuple[Array, Array]:
        """Return factor∘Q and offsetᵀ(factor∘Q) of shape (b,), rounded to `dtype`."""
        xp, offset = namespace(q), self.centring.offset
        q = xp.astype(self.centring.thin(q), offset.dtype, copy=False)  # torch mixes no types
        return xp.astype(q, dtype), xp.astype(offset @ q, dtype)

    def scores(self, v: Array) -> Array:
        """Return X̃V (n, b) in the precision of the data."""
        rows, (n, p) = self.rows, self.shape
        xp = namespace(v)
        q, level = self._thin(v, rows.dtype)
        tiles = rows.tiles(_CACHE)
        lanes = rows.lanes(2.0 * n * p * v.shape[1], 1, len(tiles))
        out = xp.empty((n, v.shape[1]), dtype=rows.dtype)

        def work(_lane: int, parts: Iterator[slice]) -> None:
            buffer = scratch((tiles.rows, p), rows.products, rows.like, rows.order)
            for part in parts:
                out[part, :] = self._level(rows.block(part, buffer) @ q, level, part)

        lanes.over(tiles, work)
        return out

    def _level(self, y: Array, level: Array, part: slice) -> Array:
        """Take the mean out of a product (r, b) of rows that carry √w."""
        root = self.rows._root_of(part, y.dtype)
        y -= level if root is None else root[:, None] * level[None, :]
        return y

    def matmat(self, v: Array, /) -> Array:
        """See `Operator.matmat`."""
        xp = namespace(v)
        return xp.astype(self.scores(v), xp.float64, copy=False)

    def rmatmat(self, u: Array, /) -> Array:
        """See `Operator.rmatmat`."""
        rows, (n, p) = self.rows, self.shape
        xp = namespace(u)
        tiles = rows.tiles(_CACHE)
        lanes = rows.lanes(2.0 * n * p * u.shape[1], 1, len(tiles))
        total = [xp.zeros((p, u.shape[1]), dtype=xp.float64) for _ in range(lanes.count)]
        sums = [xp.zeros((u.shape[1],), dtype=xp.float64) for _ in range(lanes.count)]

        def work(lane: int, parts: Iterator[slice]) -> None:
            buffer = scratch((tiles.rows, p), rows.products, rows.like, rows.order)
            for part in parts:
                y = xp.astype(u[part, :], rows.dtype)
                total[lane] += rows.block(part, buffer).T @ y
                root = rows._root_of(part, y.dtype)
                sums[lane] += xp.sum(y if root is None else root[:, None] * y, axis=0)

        lanes.over(tiles, work)
        return self.centring.unthin(sum(total[1:], total[0]), sum(sums[1:], sums[0]))

    def gram_matmat(self, q: Array, /) -> Array:
        """See `Operator.gram_matmat`: one pass, 4npb flops."""
        return self._pass(q, 1)

    def taste(self, q: Array, /) -> Array:
        """See `Operator.taste`: every eighth block of rows."""
        return self._pass(q, _TASTE) if len(self.rows.tiles(_CACHE)) >= 2 * _TASTE else q

    def _pass(self, q: Array, every: int) -> Array:
        rows, (n, p), width = self.rows, self.shape, q.shape[1]
        xp = namespace(q)
        thin, level = self._thin(q, rows.dtype)
        tiles = rows.tiles(_CACHE)
        some = [*tiles][::every]
        lanes = rows.lanes(4.0 * n * p * width, 1, len(some))
        total = [xp.zeros((width, p), dtype=xp.float64) for _ in range(lanes.count)]
        sums = [xp.zeros((width,), dtype=xp.float64) for _ in range(lanes.count)]

        def work(lane: int, parts: Iterator[slice]) -> None:
            probe = self._probes.setdefault(lane, Probe(rows.products))
            buffer = scratch((tiles.rows, p), rows.products, rows.like, rows.order)
            for part in parts:
                b = rows.block(part, buffer)
                y = self._level(b @ thin, level, part)
                product = y.T @ b  # (b, p): the wide side last is what BLAS does best
                total[lane] += product
                root = rows._root_of(part, y.dtype)
                along = xp.sum(y if root is None else root[:, None] * y, axis=0)
                sums[lane] += along
                if probe.due(float(xp.linalg.vector_norm(y))):
                    self._measure(q, part, product.T, along)

        lanes.over(some, work)
        return self.centring.unthin(sum(total[1:], total[0]).T, sum(sums[1:], sums[0]))

    def _measure(self, q: Array, part: slice, product: Array, sums: Array) -> None:
        """Repeat one block in float64, from the stored values; keep twice the worst ratio.

        Means and factors are taken as they are in the whole: they change how errors add up.
        """
        xp = namespace(q)
        thin, level = self._thin(q, xp.float64)
        shape = (part.stop - part.start, self.shape[1])
        buffer = scratch(shape, "float64", self.rows.like)
        wide = xp.astype(self.rows.block(part, buffer), xp.float64, copy=False)
        y = self._level(wide @ thin, level, part)
        block = xp.astype(self.rows.centred_block(part, buffer, self.centring), xp.float64)
        product, sums = (xp.astype(each, xp.float64) for each in (product, sums))
        found = self.centring.unthin(product, sums)
        weighted = self.rows.root is not None
        ratio = product_error(found - block.T @ y, block, y, weighted=weighted)
        self.product_error = max(self.product_error, ratio)

    def dense(self) -> Array:
        """See `Operator.dense`."""
        xp = namespace(self.like)
        tiles = self.rows.tiles(_CACHE)
        out = xp.empty(self.shape, dtype=xp.float64)
        for part in tiles:
            shape = (tiles.rows, self.shape[1])
            buffer = scratch(shape, self.rows.products, self.rows.like)
            out[part, :] = self.rows.centred_block(part, buffer, self.centring)
        return out

    @property
    def T(self) -> "CentredColumns":  # noqa: N802 - the array API's name
        """The transpose X̃ᵀ (p, n), iterated on the side of the samples."""
        assert isinstance(self.rows, DenseRows)
        return CentredColumns(self.rows, self.centring)


@final
class CentredColumns(Operator):
    """The transposed centred data X̃ᵀ (p, n), as products over column blocks.

    For short, wide data the iterate lives on the smaller side, in R^n.

    Parameters
    ----------
    rows : DenseRows
        Dense rows about their origin.
    centring : Centring
        The mean and the column factors.
    """

    def __init__(self, rows: DenseRows, centring: Centring) -> None:
        self.rows, self.centring = rows, centring
        self.shape = (rows.shape[1], rows.shape[0])
        self.like = rows.like[:, :0]
        self._probes: dict[int, Probe] = {}
        n, p = rows.shape
        most = max(4e5, min(_CACHE, 0.1 * n * p * rows.products.itemsize))
        self.tiles = Tiles.of(p, n, rows.products.itemsize, most_bytes=most, longest=LONGEST)

    def _columns(self, part: slice, buffer: Array | None) -> Array:
        """Return columns (n, c) about their origin, without mean, factor and √w."""
        rows = self.rows
        return rows.about_origin(rows.source.array[:, part], rows.origin[part], buffer)

    def _rooted(self, u: Array) -> Array:
        root = self.rows.root
        return u if root is None else namespace(u).astype(root, u.dtype)[:, None] * u

    def _inner(self, y: Array, thin: Array, sums: Array, part: slice) -> Array:
        """Return the mean-free YᵀU (c, b): centring is done on the thin side."""
        xp = namespace(y)
        t = y.T @ thin
        t -= xp.astype(self.centring.offset[part][:, None] * sums[None, :], t.dtype)
        return t

    def matmat(self, v: Array, /) -> Array:
        """See `Operator.matmat`: X̃ᵀU for U of shape (n, b)."""
        rows, (p, n), xp = self.rows, self.shape, namespace(v)
        rooted = self._rooted(v)
        thin, sums = xp.astype(rooted, rows.dtype), xp.sum(rooted, axis=0)
        lanes = rows.lanes(2.0 * n * p * v.shape[1], 1, len(self.tiles))
        out = xp.empty((p, v.shape[1]), dtype=xp.float64)

        def work(_lane: int, parts: Iterator[slice]) -> None:
            buffer = scratch((n, self.tiles.rows), rows.products, rows.like, rows.order)
            for part in parts:
                t = self._inner(self._columns(part, buffer), thin, sums, part)
                out[part, :] = xp.astype(t, xp.float64)

        lanes.over(self.tiles, work)
        return self.centring.thin(out)

    def rmatmat(self, u: Array, /) -> Array:
        """See `Operator.rmatmat`: X̃V for V of shape (p, b)."""
        return CentredRows(self.rows, self.centring).matmat(u)

    def gram_matmat(self, q: Array, /) -> Array:
        """See `Operator.gram_matmat`: X̃(X̃ᵀU) in one pass over column blocks."""
        return self._pass(q, 1)

    def taste(self, q: Array, /) -> Array:
        """See `Operator.taste`: every eighth block of columns."""
        return self._pass(q, _TASTE) if len(self.tiles) >= 2 * _TASTE else q

    def _pass(self, q: Array, every: int) -> Array:
        rows, c, (p, n), xp = self.rows, self.centring, self.shape, namespace(q)
        rooted, width = self._rooted(q), q.shape[1]
        thin, sums = xp.astype(rooted, rows.dtype), xp.sum(rooted, axis=0)
        some = [*self.tiles][::every]
        lanes = rows.lanes(4.0 * n * p * width, 1, len(some))
        total = [xp.zeros((n, width), dtype=xp.float64) for _ in range(lanes.count)]
        level = [xp.zeros((width,), dtype=xp.float64) for _ in range(lanes.count)]

        def work(lane: int, parts: Iterator[slice]) -> None:
            probe = self._probes.setdefault(lane, Probe(rows.products))
            buffer = scratch((n, self.tiles.rows), rows.products, rows.like, rows.order)
            for part in parts:
                y = self._columns(part, buffer)
                t = self._inner(y, thin, sums, part)
                if c.factor is not None:
                    t *= xp.astype(c.factor[part] ** 2, t.dtype)[:, None]
                product = y @ t
                total[lane] += product
                along = c.offset[part] @ xp.astype(t, xp.float64)
                level[lane] += along
                if probe.due(float(xp.linalg.vector_norm(t))):
                    self._measure(rooted, sums, part, product - along[None, :])

        lanes.over(some, work)
        out = sum(total[1:], total[0]) - sum(level[1:], level[0])[None, :]
        return self._rooted(out)

    def _measure(self, thin: Array, sums: Array, part: slice, product: Array) -> None:
        """See `CentredRows._measure`."""
        xp = namespace(thin)
        buffer = scratch((self.shape[1], part.stop - part.start), "float64", self.rows.like)
        wide = xp.astype(self._columns(part, buffer), xp.float64, copy=False)
        inner = self._inner(wide, thin, sums, part)
        factor = self.centring.factor
        scale = xp.ones_like(wide[0, :]) if factor is None else factor[part]
        inner = inner * scale[:, None]
        block = self._rooted((wide - self.centring.offset[part]) * scale)
        wrong, weighted = self._rooted(product) - block @ inner, self.rows.root is not None
        ratio = product_error(wrong, block, inner, weighted=weighted)
        self.product_error = max(self.product_error, ratio)

    def dense(self) -> Array:
        """See `Operator.dense`."""
        return CentredRows(self.rows, self.centring).dense().T

    @property
    def T(self) -> CentredRows:  # noqa: N802 - the array API's name
        """The transpose X̃ (n, p)."""
        return CentredRows(self.rows, self.centring)
