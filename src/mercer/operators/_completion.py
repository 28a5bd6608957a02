"""Completion: missing cells as a model of the rows expects them, given the cells there are."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import Array, Tiles, in_units, is_sparse
from mercer.operators._centring import Centring
from mercer.operators._cholesky import factored, inverted, solved

_TILE = 1e6  # bytes of rows that are completed at a time: they stay in the cache
_LEAST = 1e-12  # of the largest variance: noise that keeps rows with few cells solvable
_HUGE = 100  # exponent near which a difference may overflow


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
    def loadings(self) -> Array:
        """W = V diag(λ - s²)^½ (p, k): the covariance of y is WWᵀ + s²I."""
        return self.axes * np.sqrt(np.maximum(self.values - self.noise, 0.0))

    def filled(self, block: Any) -> Any:
        """Return rows (r, p) with their missing cells filled, in the type they have.

        Sparse rows keep their stored cells; those that are NaN are filled. Where nothing is
        missing, the same object comes back.
        """
        if block.dtype.kind != "f":
            return block
        if is_sparse(block):
            return self._filled_sparse(block)
        if not np.isnan(np.min(block, initial=np.inf)):
            return block
        expectation = Expectation(self)
        out = np.array(block)
        for part in tiles_of(block):
            found = expectation.of(block[part])
            if found.any_missing:
                np.copyto(
                    out[part],
                    expectation.back(found.rows),
                    where=found.missing,
                    casting="unsafe",
                )
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
        parts = [expectation.of(block[part]).coordinates.T for part in tiles_of(block)]
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
        for part in tiles_of(block):
            root = expectation.of(block[part], every=True).roots
            out[part] = np.einsum("abr,cbr->rac", root, root)
        out *= spread[:, None] * spread
        return out


@final
class Expectation:
    """One completion made ready: what it expects of many rows at once, by products.

    W_oᵀW_o of all rows of a tile is mask (r, p) times the products W_a∘W_b (p, k(k+1)/2).

    Parameters
    ----------
    completion : Completion
        The model.
    """

    def __init__(self, completion: Completion) -> None:
        self.centring = completion.centring
        self.loadings = np.ascontiguousarray(completion.loadings)
        k = self.loadings.shape[1]
        top = float(completion.values[0]) if k else 0.0
        self.noise = completion.noise
        self.ridge = max(completion.noise, _LEAST * top) or 1.0
        self.below = np.tril_indices(k)
        self.pairs = np.ascontiguousarray(
            (self.loadings[:, self.below[0]] * self.loadings[:, self.below[1]]).T
        )
        self.width = k

    def of(self, block: Any, *, every: bool = False) -> "Expected":
        """Return what is expected of the rows (r, p) of a tile.

        Complete rows need no solve; `every` asks for one all the same.
        """
        dense = block.toarray() if is_sparse(block) else block
        missing = np.isnan(dense)
        rows = self._analysed(dense)
        np.copyto(rows, 0.0, where=missing)
        gaps = missing.any(axis=1)
        at: Any = slice(None) if every or np.mean(gaps) > 0.5 else np.flatnonzero(gaps)
        some = bool(gaps.any())
        found = Expected(rows, missing, at, some)
        if self.width == 0 or not (some or every):
            found.coordinates = (
                (rows @ self._whole).T if self.width else np.zeros((0, len(rows)))
            )
            return found
        self._solve(found)
        return found

    @property
    def _whole(self) -> Array:
        """W(s²I + WᵀW)⁻¹ (p, k): coordinates of complete rows."""
        w = self.loadings
        if self.width == 0:
            return w
        return np.linalg.solve(w.T @ w + self.ridge * np.eye(self.width), w.T).T

    def _analysed(self, dense: Array) -> Array:
        """Return y = (x - mean)·f·2^-exponent as float64, NaN where nothing is known."""
        centring = self.centring
        huge = 2 if centring.exponent > _HUGE else 0
        origin = centring.origin
        if huge:
            dense, origin = dense * 0.25, origin * 0.25
        rows = np.subtract(dense, origin, dtype=np.float64)
        if centring.exponent:
            in_units(rows, centring.exponent - huge)
        rows -= centring.offset
        if centring.factor is not None:
            rows *= centring.factor
        return rows

    def back(self, rows: Array) -> Array:
        """Return y (r, p) in the units of the data."""
        centring = self.centring
        if centring.factor is not None:
            rows = rows / centring.factor
        rows = rows + centring.offset
        if centring.exponent:
            half = centring.exponent // 2
            rows *= 2.0**half
            rows *= 2.0 ** (centring.exponent - half)
        return np.asarray(rows + centring.origin)

    def _solve(self, found: "Expected") -> None:
        """Solve (s²I + W_oᵀW_o) u = W_oᵀy_o for all rows that need it, and fill Wu."""
        k, at = self.width, found.at
        missing, rows = found.missing[at], found.rows
        whole = isinstance(at, slice)
        seen = (~missing).astype(np.float64)
        products = self.pairs @ seen.T
        matrix = np.empty((k, k, seen.shape[0]))
        matrix[self.below] = products
        matrix[range(k), range(k)] += self.ridge
        right = self.loadings.T @ (rows if whole else rows[at]).T
        found.triangles = factored(matrix)
        found.right = right
        inner = solved(found.triangles, right)
        fill = inner.T @ self.loadings.T
        if whole:
            found.coordinates = inner
            np.copyto(rows, fill, where=missing)
            return
        here = rows[at]
        np.copyto(here, fill, where=missing)
        rows[at] = here
        found.coordinates = (rows @ self._whole).T
        found.coordinates[:, at] = inner


@final
class Expected:
    """What is expected of the rows of one tile.

    Attributes
    ----------
    rows : ndarray of shape (r, p)
        y with its missing cells filled.
    missing : ndarray of bool of shape (r, p)
        Which cells those are.
    at : slice or ndarray of int
        The rows that were solved for.
    any_missing : bool
        Whether there are any.
    coordinates : ndarray of shape (k, r)
        u = (s²I + W_oᵀW_o)⁻¹W_oᵀy_o.
    triangles : ndarray of shape (k, k, m)
        Cholesky factors of the rows `at`.
    right : ndarray of shape (k, m)
        W_oᵀy_o of the rows `at`.
    """

    coordinates: Array
    triangles: Array
    right: Array

    def __init__(self, rows: Array, missing: Array, at: Any, any_missing: bool) -> None:
        self.rows, self.missing, self.at, self.any_missing = rows, missing, at, any_missing

    @property
    def roots(self) -> Array:
        """L⁻ᵀ (k, k, m) of the rows `at`: L⁻ᵀL⁻¹ is the inverse of s²I + W_oᵀW_o."""
        return inverted(self.triangles).transpose(1, 0, 2)


def empty_rows(block: Any) -> Array:
    """Return the numbers of the rows without an observed cell."""
    if is_sparse(block):
        gaps = np.add.reduceat(np.append(np.isnan(block.data), False), block.indptr[:-1])
        full = np.diff(block.indptr) == block.shape[1]
        return np.flatnonzero(full & (gaps == block.shape[1]))
    return np.flatnonzero(np.isnan(block).all(axis=1))


def tiles_of(block: Any, most: float = _TILE) -> list[slice]:
    """Return the parts of a block (r, p) that stay in the cache while they are completed."""
    rows, columns = block.shape
    cut = Tiles.of(rows, columns, 8, most_bytes=most, longest=4096)
    return [cut[number] for number in range(len(cut))]
