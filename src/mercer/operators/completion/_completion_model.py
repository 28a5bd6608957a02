"""Completion: missing cells as a model of the rows expects them, given the cells there are.

What a completion leaves open: draws of missing cells, and the spread of coordinates.
"""

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, final

import numpy as np

from mercer.arrays import Array, Lanes, Tiles, is_sparse, thread_count
from mercer.operators._centring import Centring
from mercer.operators.completion._compiled_expectation import (
    CompiledExpectation,
    is_worth_compiling,
)
from mercer.operators.completion._expectation import Expectation, Expected

_WORTH_LANES = 5e5  # cells below which starting threads costs more than it saves
_TILE = 1e6  # bytes of rows that are completed at a time: they stay in the cache


@final
@dataclasses.dataclass(frozen=True)
class Completion:
    """What missing cells are filled with: x̂ = mean + (Vz)/f, z from the observed cells.

    Rows are analysed as y = (x - mean)·f·2^-exponent, y ~ N(0, V diag(λ - s²) Vᵀ + s²I).
    With o the observed cells of a row, z = E[coordinates | y_o] solves

        (s²/(λ - s²) + V_oᵀV_o) z = V_oᵀ y_o.

    That is the posterior mean of probabilistic PCA, and the fixed point of "replace the
    missing cells by V diag((λ - s²)/λ) Vᵀ ŷ" of regularised iterative PCA. Cells that are
    there are never changed.

    Parameters
    ----------
    centring : Centring
        Origin, mean, power of two and column factors f.
    axes : ndarray of shape (p, k)
        V, orthonormal columns.
    values : ndarray of shape (k,)
        λ, dividing by n, in units of 4^exponent.
    noise : float
        s², in the same unit.
    """

    centring: Centring
    axes: Array
    values: Array
    noise: float

    @property
    def mean(self) -> Array:
        """Column means (p,) in the units of the data."""
        return self.centring.mean

    @property
    def offset(self) -> Array:
        """That mean, rounded to float64, minus the origin (p,), in units of 2^exponent."""
        apart = self.mean * 0.5 - self.centring.origin * 0.5
        return np.ldexp(apart, 1 - self.centring.exponent)

    @property
    def loadings(self) -> Array:
        """W = V diag(λ - s²)^½ (p, k): the covariance of y is WWᵀ + s²I."""
        return self.axes * np.sqrt(np.maximum(self.values - self.noise, 0.0))

    def filled(self, block: Any, refuse: Callable[[], None] | None = None) -> Any:
        """Return rows (r, p) with their missing cells filled, in the type they have.

        Sparse rows keep their stored cells; those that are NaN are filled. Where nothing is
        missing, the same object comes back. `refuse` is called where a cell is infinite.
        """
        if block.dtype.kind != "f":
            return block
        if is_sparse(block):
            if refuse is not None and np.isinf(block.data).any():
                refuse()
            return self._filled_sparse(block)
        cut = tiles_of(block)
        # The first tile with a gap ends the search, so that it costs a pass only without any.
        if not any(np.isnan(np.min(block[part], initial=np.inf)) for part in cut):
            if refuse is not None and any(np.isinf(block[part]).any() for part in cut):
                refuse()
            return block
        out = np.empty_like(block, order="C")
        lanes = lanes_of(block)
        fast = CompiledExpectation.of(self) if is_worth_compiling(block.size) else None
        infinite = list[slice]()

        def work(_lane: int, parts: Iterator[slice]) -> None:
            fill = partial(_fill, Expectation(self)) if fast is None else fast.fill
            for part in parts:
                doubtful = fill(out[part], block[part])
                if doubtful and refuse is not None and np.isinf(block[part]).any():
                    infinite.append(part)

        lanes.over(cut, work)
        if refuse is not None and infinite:
            refuse()
        return out

    def _filled_sparse(self, block: Any) -> Any:
        gaps = np.flatnonzero(np.isnan(block.data))
        if gaps.size == 0:
            return block
        expectation = Expectation(self)
        rows = np.searchsorted(block.indptr, gaps, side="right") - 1
        data = block.data.copy()
        for part in tiles_of(block):
            first, last = np.searchsorted(rows, [part.start, part.stop])
            if first == last:
                continue
            back = expectation.back(expectation.of(block[part]).rows)
            here = slice(first, last)
            data[gaps[here]] = back[rows[here] - part.start, block.indices[gaps[here]]]
        out = block.copy()
        out.data = data
        return out

    def scores(self, block: Any) -> Array:
        """Return z (r, k), the expected coordinates of rows, in units of 2^exponent."""
        expectation = Expectation(self)
        parts = [expectation.of(block[part]).coordinates.T.copy() for part in tiles_of(block)]
        spread = np.sqrt(np.maximum(self.values - self.noise, 0.0))
        return np.concatenate(parts) * spread if parts else np.empty((0, len(self.values)))

    def posterior(self, block: Any) -> Array:
        """Return the covariance (r, k, k) of the coordinates given the observed cells.

        diag(λ - s²)^½ · s²(s²I + W_oᵀW_o)⁻¹ · diag(λ - s²)^½, in units of 4^exponent. A
        missing cell of y has the variance s² + v·posterior·vᵀ, v its row of V.
        """
        expectation = Expectation(self)
        k = len(self.values)
        spread = np.sqrt(np.maximum(self.values - self.noise, 0.0))
        out = np.empty((block.shape[0], k, k))
        for part in tiles_of(block) if k else []:
            root = expectation.of(block[part], every=True).roots
            out[part] = np.einsum("abr,cbr->rac", root, root)
        out *= expectation.ridge * spread[:, None] * spread
        return out


def _fill(expectation: Expectation, out: Array, block: Array) -> bool:
    """Write a tile with its missing cells filled; see `CompiledExpectation.fill`."""
    found = expectation.of(block, blend=False)
    if not found.count:
        out[...] = block
        return True
    kind = np.int64 if out.dtype.itemsize == 8 else np.int32
    filled = expectation.values(found)
    spare = found.fill if filled is found.rows else found.rows
    values = filled.astype(out.dtype, copy=False).view(kind)
    keep = found.keep.astype(kind, copy=False)
    held = np.ascontiguousarray(block).view(kind)
    # x̂ ^ ((x̂ ^ x) & keep): three walks, where `where` would guess every cell.
    space = spare.view(kind) if spare.dtype == out.dtype else None
    mixed = np.bitwise_xor(values, held, out=space)
    np.bitwise_and(mixed, keep, out=mixed)
    np.bitwise_xor(values, mixed, out=out.view(kind))
    return True


def lanes_of(block: Any) -> Lanes:
    """Return the threads that are worth starting for the rows of a block."""
    few = float(block.shape[0]) * block.shape[1] < _WORTH_LANES
    return Lanes(1 if few else min(thread_count(), len(tiles_of(block))))


def empty_rows(block: Any) -> Array:
    """Return the numbers of the rows without an observed cell."""
    if is_sparse(block):
        gaps = np.add.reduceat(np.append(np.isnan(block.data), False), block.indptr[:-1])
        full = np.diff(block.indptr) == block.shape[1]
        return np.flatnonzero(full & (gaps == block.shape[1]))
    rows = np.arange(block.shape[0])
    for column in range(block.shape[1]):  # few rows are left after the first columns
        rows = rows[np.isnan(block[rows, column])]
        if rows.size == 0:
            break
    return rows


def tiles_of(block: Any, most: float = _TILE) -> list[slice]:
    """Return the parts of a block (r, p) that stay in the cache while they are completed."""
    rows, columns = block.shape
    return [*Tiles.of(rows, columns, 8, most_bytes=most, longest=4096)]


def drawn(completion: Completion, block: Any, rng: np.random.Generator) -> Any:
    """Return rows (r, p) with their missing cells drawn, in the type they have.

    Given its observed cells o a row has the coordinates u ~ N(û, s²(s²I + W_oᵀW_o)⁻¹), and
    y = Wu + N(0, s²I) in its missing cells. Cells of one row are drawn together, so that they
    go with each other. Sparse rows keep their stored cells; those that are NaN are drawn.
    """
    if block.dtype.kind != "f":
        return block
    expectation = Expectation(completion)
    out: Any = block.copy() if is_sparse(block) else np.array(block)
    cells: Any = out.data if is_sparse(out) else out
    for part in tiles_of(block):
        found = expectation.of(block[part], every=True)
        if not found.count:
            continue
        rows = expectation.back(_open_rows(expectation, found, rng))
        if is_sparse(out):
            here = slice(out.indptr[part.start], out.indptr[part.stop])
            lengths = np.diff(out.indptr[part.start : part.stop + 1])
            at = np.repeat(np.arange(len(lengths)), lengths), out.indices[here]
            gaps = np.isnan(cells[here])
            cells[here] = np.where(gaps, rows[at], cells[here])
        else:
            np.copyto(cells[part], rows, where=found.missing, casting="unsafe")
    return out


def _open_rows(expectation: Expectation, found: Expected, rng: np.random.Generator) -> Array:
    """Return y (r, p) whose missing cells are draws."""
    u = found.coordinates
    if expectation.width:
        noise = rng.standard_normal(u.shape)
        u = u + np.sqrt(expectation.ridge) * np.einsum("abr,br->ar", found.roots, noise)
    rows = u.T @ expectation.loadings.T
    rows[found.missing] += np.sqrt(expectation.noise) * rng.standard_normal(
        int(np.count_nonzero(found.missing))
    )
    return rows


def projected(completion: Completion, block: Any, axes: Array) -> tuple[Array, Array]:
    """Return the expected coordinates ŷA (r, q) of rows, and their variances (r, q).

    With m the missing cells of a row and a column of A, the variance is
    s²(Σ_m a_j² + gᵀ(s²I + W_oᵀW_o)⁻¹g), g = Σ_m a_j w_j; complete rows have none. Both are
    in the unit of the completion.

    Parameters
    ----------
    completion : Completion
        The model of the rows.
    block : array or CSR matrix of shape (r, p)
        Rows with NaN where a cell is missing.
    axes : ndarray of shape (p, q)
        A, in the scale in which the completion analyses the rows.
    """
    expectation = Expectation(completion)
    n, q = block.shape[0], axes.shape[1]
    scores, variances = np.empty((n, q)), np.zeros((n, q))
    k, squares = expectation.width, axes**2
    products = (axes[:, :, None] * expectation.loadings[:, None, :]).reshape(len(axes), q * k)
    for part in tiles_of(block):
        found = expectation.of(block[part], every=True)
        scores[part] = found.rows @ axes
        if not found.count:
            continue
        gaps = found.missing.astype(np.float64)
        own = expectation.noise * (gaps @ squares)
        if k:
            turned = np.einsum("bar,rqb->raq", found.roots, (gaps @ products).reshape(-1, q, k))
            own += expectation.ridge * np.einsum("raq,raq->rq", turned, turned)
        variances[part] = own
    return scores, variances
