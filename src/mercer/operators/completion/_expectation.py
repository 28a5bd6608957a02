"""Expectation: what a model of the rows expects of their missing cells, many rows at once.

For each row it solves a small positive system. Matrices are packed, each entry a vector over
the rows: row `first(j) + i - j` of an array (k(k+1)/2, r) holds the entries (i, j), i ≥ j, of
r matrices. That is the order of ``np.triu_indices(k)`` with its two halves exchanged. A factor
L holds 1/L_jj on its diagonal, so that nothing is divided twice.
"""

import math
from typing import TYPE_CHECKING, Any, final

import numpy as np

from mercer.arrays import Array, in_units, is_sparse

if TYPE_CHECKING:
    from mercer.operators.completion._completion_model import Completion

_LEAST = 1e-12  # of the largest variance: noise that keeps rows with few cells solvable
_GLANCE = 16  # one row of so many shows whether most rows have a gap
_HUGE = 100  # exponent near which a difference may overflow


@final
class Expectation:
    """One completion made ready: what it expects of many rows at once, by products.

    W_oᵀW_o of all rows of a tile is mask (r, p) times the products W_a∘W_b (p, k(k+1)/2).
    Rows are taken about the mean rounded to float64: what that leaves out is below the
    rounding of a filled cell. Not for several threads at a time: its space is used again.

    Parameters
    ----------
    completion : Completion
        The model.
    dtype : dtype
        Precision of the products: float64, or float32 for a pass on the way.
    """

    def __init__(self, completion: "Completion", dtype: Any = np.float64) -> None:
        self.centring = centring = completion.centring
        self.dtype = np.dtype(dtype)
        self._bits = np.dtype(np.int64 if self.dtype.itemsize == 8 else np.int32)
        self._one = self.dtype.type(1.0).view(self._bits)
        self.loadings = np.ascontiguousarray(completion.loadings, self.dtype)
        self.width = k = self.loadings.shape[1]
        top = float(completion.values[0]) if k else 0.0
        self.noise = completion.noise
        self.ridge = max(completion.noise, _LEAST * top) or 1.0
        one, other = np.triu_indices(k)
        self.pairs = np.ascontiguousarray((self.loadings[:, one] * self.loadings[:, other]).T)
        self.diagonal = np.flatnonzero(one == other)
        self.shift = centring.mean
        whole = self.loadings.T @ self.loadings
        whole.flat[:: k + 1] += self.ridge
        self.whole = np.linalg.solve(whole, self.loadings.T).T if k else self.loadings
        self._make_space((0, len(self.loadings)))

    @np.errstate(invalid="ignore", over="ignore")
    def of(self, block: Any, *, every: bool = False, blend: bool = True) -> "Expected":
        """Return what is expected of the rows (r, p) of a tile, in space that is used again.

        Complete rows need no solve; `every` asks for one all the same. Without `blend` the
        missing cells of the rows are left at zero.
        """
        dense = block.toarray() if is_sparse(block) else np.ascontiguousarray(block)
        if len(self._missing) < len(dense):
            self._make_space(dense.shape)
        rows, keep, fill = self._space[:, : len(dense)]
        self._analysed(dense, rows)
        missing = np.isnan(rows, out=self._missing[: len(dense)])
        count = int(np.count_nonzero(missing))
        if count == 0 and not every:
            return Expected(rows, missing, np.zeros(0, np.intp), count, self)
        # Bits instead of `where`: branches on random masks cost ten times as much.
        bits = keep.view(self._bits)
        signs = np.subtract(missing.view(np.int8), 1, out=self._signs[: len(dense)])
        np.copyto(bits, signs)  # all ones where a cell is observed, else zero
        np.bitwise_and(rows.view(self._bits), bits, out=rows.view(self._bits))
        at: Any = slice(None)
        some = missing[::_GLANCE].any(axis=1)
        if not every and 2 * np.count_nonzero(some) < len(some):
            at = np.flatnonzero(missing.any(axis=1))
        found = Expected(rows, missing, at, count, self)
        found.keep, found.fill = bits, fill
        if self.width:
            # (s²I + W_oᵀW_o) u = W_oᵀy_o for all rows that need it.
            np.bitwise_and(bits, self._one, out=fill.view(self._bits))
            matrix = self.pairs @ fill[at].T
            matrix[self.diagonal] += self.ridge
            found.triangles = factored(matrix)
            found.right = self.loadings.T @ rows[at].T
            found.inner = solved(found.triangles, found.right)
            wrong = ~np.isfinite(found.inner)
            if wrong.any():  # an infinite cell: whoever reads it refuses
                found.inner[:, wrong.any(axis=0)] = 0.0
            if blend:
                self._blend(found)
        return found

    def _make_space(self, shape: tuple[int, int]) -> None:
        self._space = np.empty((3, *shape), self.dtype)
        self._missing, self._signs = np.empty(shape, bool), np.empty(shape, np.int8)

    def _analysed(self, dense: Array, rows: Array) -> None:
        """Write y = (x - mean)·f·2^-exponent into `rows`, NaN where nothing is known."""
        centring, shift = self.centring, self.shift
        huge = 2 if centring.exponent > _HUGE else 0
        if huge:
            dense, shift = dense * 0.25, shift * 0.25
        np.subtract(dense, shift, out=rows, dtype=np.float64, casting="same_kind")
        if centring.exponent:
            in_units(rows, centring.exponent - huge)
        if centring.factor is not None:
            rows *= centring.factor

    def back(self, rows: Array) -> Array:
        """Return y (r, p) in the units of the data, in the same place."""
        centring = self.centring
        if centring.factor is not None:
            rows /= centring.factor
        if centring.exponent:
            in_units(rows, -centring.exponent)
        rows += self.shift
        return rows

    def values(self, found: "Expected") -> Array:
        """Return x̂ = Wu/f + mean (r, p) in the units of the data, for the missing cells."""
        centring = self.centring
        if centring.exponent or not self.width or not isinstance(found.at, slice):
            if self.width:
                self._blend(found)
                np.invert(found.keep, out=found.keep)
            return self.back(found.rows)
        factor = 1.0 if centring.factor is None else centring.factor
        plane = np.vstack([self.loadings.T / factor, self.shift])
        inner = np.vstack([found.inner, np.ones(len(found.rows))])
        return np.matmul(inner.T, plane, out=found.fill)

    def _blend(self, found: "Expected") -> None:
        """Fill the missing cells of the rows, which are zero, with Wu; turn `keep` round."""
        at, rows, kind = found.at, found.rows, self._bits
        gaps: Array = np.invert(found.keep, out=found.keep)
        if isinstance(at, slice):
            fill = np.matmul(found.inner.T, self.loadings.T, out=found.fill)
        else:
            fill, gaps = found.inner.T @ self.loadings.T, gaps[at]
        np.bitwise_and(fill.view(kind), gaps, out=fill.view(kind))
        if isinstance(at, slice):
            rows += fill
        else:
            rows[at] += fill


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
    count : int
        Missing cells.
    triangles : ndarray of shape (k(k+1)/2, m)
        Cholesky factors of the rows `at`.
    right, inner : ndarray of shape (k, m)
        W_oᵀy_o and u = (s²I + W_oᵀW_o)⁻¹W_oᵀy_o of the rows `at`.
    keep : ndarray of int of shape (r, p)
        All bits where a cell is observed, none elsewhere; not set where none is missing.
    fill : ndarray of shape (r, p)
        Space.
    """

    keep: Array
    fill: Array
    triangles: Array
    right: Array
    inner: Array

    def __init__(
        self, rows: Array, missing: Array, at: Any, count: int, ready: Expectation
    ) -> None:
        self.rows, self.missing, self.at, self.count = rows, missing, at, count
        self._ready = ready

    @property
    def coordinates(self) -> Array:
        """u (k, r) of all rows."""
        if isinstance(self.at, slice) and self._ready.width:
            return self.inner
        u = (self.rows @ self._ready.whole).T
        if self.count and self._ready.width:
            u[:, self.at] = self.inner
        return u

    @property
    def roots(self) -> Array:
        """L⁻ᵀ (k, k, m) of the rows `at`: L⁻ᵀL⁻¹ is the inverse of s²I + W_oᵀW_o."""
        return inverted(self.triangles).transpose(1, 0, 2)


_SMALL = 24  # order up to which one call per entry beats LAPACK, one call per matrix


def columns_of(packed: Array) -> list[Array]:
    """Return the columns of the lower triangle, (k - j, r) each, as views."""
    k, start, found = (math.isqrt(8 * packed.shape[0] + 1) - 1) // 2, 0, list[Array]()
    for j in range(k):
        found.append(packed[start : start + k - j])
        start += k - j
    return found


def factored(packed: Array) -> Array:
    """Return L with LLᵀ = A for r matrices A, in their place."""
    columns = columns_of(packed)
    if len(columns) > _SMALL:
        return _by_lapack(packed, columns)
    for j, column in enumerate(columns):
        np.sqrt(column[0], out=column[0])
        np.divide(1.0, column[0], out=column[0])
        column[1:] *= column[0]
        for i in range(1, len(column)):
            columns[j + i] -= column[i:] * column[i]
    return packed


def _by_lapack(packed: Array, columns: list[Array]) -> Array:
    k = len(columns)
    whole = np.zeros((packed.shape[1], k, k))
    for j, column in enumerate(columns):
        whole[:, j:, j] = column.T
    found = np.linalg.cholesky(whole)
    for j, column in enumerate(columns):
        column[:] = found[:, j:, j].T
        np.divide(1.0, column[0], out=column[0])
    return packed


def solved(triangles: Array, right: Array) -> Array:
    """Return u (k, r) with LLᵀu = b for b = `right` (k, r)."""
    columns = columns_of(triangles)
    u = right.copy()
    for j, column in enumerate(columns):
        u[j] *= column[0]
        u[j + 1 :] -= column[1:] * u[j]
    for j in range(len(columns) - 1, -1, -1):
        column = columns[j]
        if len(column) > 1:
            u[j] -= np.einsum("ir,ir->r", column[1:], u[j + 1 :])
        u[j] *= column[0]
    return u


def inverted(triangles: Array) -> Array:
    """Return L⁻¹ (k, k, r), not packed."""
    columns = columns_of(triangles)
    k = len(columns)
    out = np.zeros((k, k, triangles.shape[1]))
    for j, column in enumerate(columns):
        out[j, : j + 1] = (out[j, : j + 1] * -1) * column[0]
        out[j, j] = column[0]
        # What is left of the rows below: Σ_{c≤j} L_ic (L⁻¹)_c.
        for i in range(1, len(column)):
            out[j + i, : j + 1] += column[i] * out[j, : j + 1]
    return out


def log_determinants(triangles: Array) -> Array:
    """Return ln det A = 2 Σ ln L_jj of every matrix (r,)."""
    diagonal = np.stack([column[0] for column in columns_of(triangles)])
    return np.asarray(-2 * np.sum(np.log(diagonal), axis=0))
