"""The sparse matrices of locally linear methods: sums of one small psd matrix a point."""

from collections.abc import Callable

import numpy as np
import scipy.sparse
from scipy.sparse import csr_matrix

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators.manifold._barycentric_weights import (
    barycentric,
    differences,
    own_weights,
    tiles_of,
)

METHODS = ("standard", "modified", "hessian", "ltsa")
_FLAT = 1e-12  # share of the largest squared extent below which a direction has none
_LOOKED_AT = 500  # neighbourhoods that are looked at for their dimensions

Local = Callable[[Array, Array], tuple[Array, Array]]


def local_matrix(rows: Array, indices: Array, d: int, method: str, reg: float) -> csr_matrix:
    """Return M (n, n), CSR, psd, M1 = 0: small for coordinates that are locally linear.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
        The rows.
    indices : ndarray of shape (n, k)
        Nearest rows of each, itself left out.
    d : int
        Dimensions of the sheet.
    method : {"standard", "modified", "hessian", "ltsa"}
        Which local matrix.
    reg : float
        Penalty of the barycentric weights.
    """
    n, k = indices.shape
    if method == "standard":
        _refuse_thin(rows, indices, d)
        w = own_weights(rows, indices, reg)
        ends = np.arange(0, n * k + 1, k)
        lost = scipy.sparse.eye_array(n, format="csr") - scipy.sparse.csr_array(
            (w.ravel(), indices.ravel(), ends), shape=(n, n)
        )
        return scipy.sparse.csr_array(lost.T @ lost)
    if method == "modified":
        return _modified(rows, indices, d, reg)
    indices = _with_strangers(indices)
    blocks = np.empty((len(indices), k, k))
    for part in tiles_of(len(indices), k, rows.shape[1]):
        tangent = _tangents(rows, indices[part], d, part.start)
        made = _hessian if method == "hessian" else _alignment
        blocks[part] = made(tangent)
    return _summed(indices, blocks, n)


def strangers(indices: Array) -> Array:
    """Return the rows that are no other row's neighbour."""
    return np.flatnonzero(np.bincount(indices.ravel(), minlength=len(indices)) == 0)


def _with_strangers(indices: Array) -> Array:
    """Return neighbourhoods (n + s, k), one more for each row that is in none.

    Tangents and second derivatives tie a row to the neighbourhoods it is in, and not to its
    own: a row in none could stand anywhere. It stands in its own in place of the farthest.
    """
    alone = strangers(indices)
    if not len(alone):
        return indices
    own = np.concatenate([alone[:, None].astype(indices.dtype), indices[alone, :-1]], axis=1)
    return np.concatenate([indices, own])


def _tangents(rows: Array, indices: Array, d: int, start: int) -> Array:
    """Return the d leading left singular vectors (r, k, d) of centred neighbourhoods."""
    near = differences(rows[indices[:, 0]], rows, indices)
    near -= near.mean(axis=1, keepdims=True)
    vectors, squares = _left(near)
    _refuse_flat(squares, d, start)
    return vectors[:, :, :d]


def _left(near: Array) -> tuple[Array, Array]:
    """Return left singular vectors (r, k, q) and squared singular values (r, q), q ≥ 1.

    In units of the largest entry; by the Gram matrix where there are more columns than rows.
    """
    size = np.max(np.abs(near), axis=(1, 2), keepdims=True)
    near = near / np.where(size > 0, size, 1.0)
    if near.shape[2] <= near.shape[1]:
        vectors, values, _ = np.linalg.svd(near, full_matrices=False)
        return vectors, values**2
    values, vectors = np.linalg.eigh(near @ near.transpose(0, 2, 1))
    return vectors[:, :, ::-1], np.maximum(values[:, ::-1], 0.0)


def _alignment(tangent: Array) -> Array:
    """I - 11ᵀ/k - UUᵀ: what no linear function of the tangent space explains [Zhang2004]_."""
    k = tangent.shape[1]
    return np.asarray(np.eye(k) - 1.0 / k - tangent @ tangent.transpose(0, 2, 1))


def _hessian(tangent: Array) -> Array:
    """HᵀH with H the second derivatives, least squares on the neighbours [Donoho2003]_.

    H is the part of the d(d+1)/2 products u_au_b that is orthogonal to 1 and to all u_a,
    orthonormalised; neighbourhoods in which a product depends on the others leave it out.
    """
    r, k, d = tangent.shape
    pairs = [(a, b) for a in range(d) for b in range(a, d)]
    products = np.stack([tangent[:, :, a] * tangent[:, :, b] for a, b in pairs], axis=2)
    ones = np.full((r, k, 1), k**-0.5)
    q, upper = np.linalg.qr(np.concatenate([ones, tangent, products], axis=2))
    sizes = np.abs(np.diagonal(upper, axis1=1, axis2=2)[:, 1 + d :])
    h = q[:, :, 1 + d :] * (sizes > _FLAT**0.5)[:, None, :]
    return np.asarray(h @ h.transpose(0, 2, 1))


def _modified(rows: Array, indices: Array, d: int, reg: float) -> csr_matrix:
    """M of several weight vectors a point, s_i of them [Zhang2007]_.

    With C the projector on the s_i directions in which a neighbourhood extends least,
    α = ‖C1‖/√s and b = C1/α, the weights W_i fulfil W_iW_iᵀ = C + (1-α)(bwᵀ + wbᵀ)
    + s(1-α)²wwᵀ and W_i1 = b + s(1-α)w: no Householder matrix is needed.
    """
    n, k = indices.shape
    blocks = np.empty((n, k + 1, k + 1))
    tiles = tiles_of(n, k, rows.shape[1])
    squares = np.zeros((n, k))
    for part in tiles:
        found = _left(differences(rows[part], rows, indices[part]))[1]
        _refuse_flat(found, d, part.start)
        squares[part, : found.shape[1]] = found[:, :k]
    counts = np.maximum(_weight_counts(squares, d), k - min(k, rows.shape[1]))
    for part in tiles:
        blocks[part] = _weighted(
            differences(rows[part], rows, indices[part]), counts[part], reg
        )
    whole = np.concatenate([np.arange(n)[:, None], indices], axis=1)
    return _summed(whole, blocks, n)


def _weight_counts(squares: Array, d: int) -> Array:
    """Return s_i (n,): as many least directions as hold less than the usual share of extent."""
    k = squares.shape[1]
    head = np.cumsum(squares, axis=1)
    total = head[:, -1]
    usual = max(float(np.median((total - head[:, d - 1]) / head[:, d - 1])), _FLAT)
    ratios = (total[:, None] - head[:, :-1]) / head[:, :-1]  # heads of 1, 2, … k - 1
    counts = np.sum(ratios < usual, axis=1)
    return np.clip(counts, 1, max(k - d, 1))


def _weighted(apart: Array, counts: Array, reg: float) -> Array:
    """Return the local matrices (r, k + 1, k + 1) of points and neighbours."""
    w = barycentric(apart, reg)
    r, k = w.shape
    vectors, _ = _left(apart)
    found = np.empty((r, k + 1, k + 1))
    for s in np.unique(counts):
        at = np.flatnonzero(counts == s)
        top = vectors[at][:, :, : k - s]
        c = np.eye(k) - top @ top.transpose(0, 2, 1)
        ones = c.sum(axis=2)
        alpha = np.linalg.norm(ones, axis=1) / s**0.5
        b = ones / np.where(alpha > _FLAT, alpha, np.inf)[:, None]
        left = (1.0 - alpha)[:, None]
        inner = left[:, :, None] * b[:, :, None] * w[at][:, None, :]
        inner = c + inner + inner.transpose(0, 2, 1)
        inner += s * (left**2)[:, :, None] * w[at][:, :, None] * w[at][:, None, :]
        edge = -(b + s * left * w[at])
        found[at, 0, 0] = s
        found[at, 0, 1:], found[at, 1:, 0] = edge, edge
        found[at, 1:, 1:] = inner
    return found


def _summed(indices: Array, blocks: Array, n: int) -> csr_matrix:
    """Return Σ_i S_iᵀB_iS_i (n, n) as CSR, S_i picking the points of block i."""
    q = indices.shape[1]
    rows = np.repeat(indices, q, axis=1).ravel()
    columns = np.tile(indices, (1, q)).ravel()
    made = scipy.sparse.coo_array((blocks.ravel(), (rows, columns)), shape=(n, n))
    found = scipy.sparse.csr_array(made)
    return scipy.sparse.csr_array(0.5 * (found + found.T))


def _refuse_flat(squares: Array, d: int, start: int) -> None:
    """Refuse neighbourhoods that have fewer than d dimensions, naming the first."""
    if squares.shape[1] >= d:
        thin = squares[:, d - 1] <= _FLAT * squares[:, 0]
        if not thin.any():
            return
        row, extent = int(np.argmax(thin)), squares
        have = int(np.sum(extent[row] > _FLAT * max(extent[row, 0], 1e-300)))
        raise InputError(
            f"{d} axes need neighbourhoods of {d} dimensions",
            got=f"the neighbours of row {start + row} span {have}",
            fix="drop duplicates, take more neighbours or fewer axes",
        )
    raise InputError(
        f"{d} axes need rows of {d} columns or more",
        got=f"neighbourhoods of {squares.shape[1]} dimensions",
        fix=f"ask for at most {squares.shape[1]} axes",
    )


def _refuse_thin(rows: Array, indices: Array, d: int) -> None:
    """Refuse rows of which no neighbourhood has d dimensions: points on a line, say."""
    n = len(indices)
    at = np.arange(0, n, max(1, n // _LOOKED_AT))
    squares = _left(differences(rows[at], rows, indices[at]))[1]
    if squares.shape[1] >= d and np.any(squares[:, d - 1] > _FLAT * squares[:, 0]):
        return
    have = int(np.max(np.sum(squares > _FLAT * squares[:, :1], axis=1)))
    raise InputError(
        f"{d} axes need neighbourhoods of {d} dimensions",
        got=f"those of {len(at):,} rows looked at span {have} at most",
        fix=f"ask for at most {max(have, 1)} axes, or take more neighbours",
    )
