"""The exact answer, in float64, by a route that shares no code with any rival.

Columns are centred with their float64 mean before any product is formed; then the smaller
of the two Gram matrices is summed over blocks and handed to LAPACK.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy import sparse

BLOCK_BYTES = 64_000_000


@dataclass(frozen=True)
class Reference:
    """Leading eigenpairs of the covariance: values (k,), components (k, p), total variance."""

    values: NDArray[np.float64]
    components: NDArray[np.float64]
    total: float


def exact(x: Any, k: int) -> Reference:
    """Leading k pairs of C = (X - 1 m^T)^T (X - 1 m^T)/(n - 1), in float64.

    Parameters
    ----------
    x : array or sparse matrix of shape (n, p)
    k : int

    Notes
    -----
    Cost: three passes, n p min(n, p) multiply-adds, 8 min(n, p)^2 bytes twice over.
    """
    n, p = x.shape
    mean = column_mean(x)
    return _primal(x, mean, k) if p <= n else _dual(x, mean, k)


def column_mean(x: Any) -> NDArray[np.float64]:
    """Float64 column means in two passes: a first mean, then the mean of what it leaves."""
    n, p = x.shape
    total = np.zeros(p)
    for block in _row_blocks(x):
        total += block.sum(axis=0)
    first = total / n
    left = np.zeros(p)
    for block in _row_blocks(x):
        block -= first
        left += block.sum(axis=0)
    return np.asarray(first + left / n)


def _row_blocks(x: Any) -> Iterator[NDArray[np.float64]]:
    """Dense float64 copies of row blocks, free to be overwritten."""
    step = max(1, BLOCK_BYTES // (8 * x.shape[1]))
    for start in range(0, x.shape[0], step):
        block = x[start : start + step]
        if sparse.issparse(block):
            block = block.toarray()
        yield np.array(block, dtype=np.float64)


def _leading(gram: NDArray[np.float64], k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Largest k eigenpairs of a symmetric matrix, largest first."""
    size = gram.shape[0]
    values, vectors = scipy.linalg.eigh(
        gram, subset_by_index=(size - k, size - 1), overwrite_a=True, check_finite=False
    )
    return values[::-1], vectors[:, ::-1]


def _primal(x: Any, mean: NDArray[np.float64], k: int) -> Reference:
    n, p = x.shape
    gram = np.zeros((p, p))
    for block in _row_blocks(x):
        block -= mean
        gram += block.T @ block
    total = float(np.trace(gram)) / (n - 1)
    values, vectors = _leading(gram, k)
    return Reference(values / (n - 1), vectors.T.copy(), total)


def _dual(x: Any, mean: NDArray[np.float64], k: int) -> Reference:
    n = x.shape[0]
    gram = np.zeros((n, n))
    for _, block in _column_blocks(x, mean):
        gram += block @ block.T
    total = float(np.trace(gram)) / (n - 1)
    values, left = _leading(gram, k)
    components = np.empty((k, x.shape[1]))
    for columns, block in _column_blocks(x, mean):
        components[:, columns] = left.T @ block
    # Normalise by measured length, not by sqrt(value): a zero pair must not divide by zero.
    length = np.linalg.norm(components, axis=1, keepdims=True)
    return Reference(values / (n - 1), components / np.maximum(length, 1e-300), total)


def _column_blocks(
    x: Any, mean: NDArray[np.float64]
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Centred dense float64 copies of column blocks."""
    n, p = x.shape
    source = x.tocsc() if sparse.issparse(x) else x
    step = max(1, BLOCK_BYTES // (8 * n))
    for start in range(0, p, step):
        columns = slice(start, min(start + step, p))
        block = source[:, columns]
        if sparse.issparse(block):
            block = block.toarray()
        yield columns, np.asarray(block, dtype=np.float64) - mean[columns]


def digest(x: Any) -> str:
    """Short name of the values: BLAKE2 of shape, dtype and bytes."""
    h = hashlib.blake2b(f"{x.shape} {x.dtype}".encode(), digest_size=12)
    parts = (x.data, x.indices, x.indptr) if sparse.issparse(x) else (x,)
    for part in parts:
        flat = np.ascontiguousarray(part).reshape(-1)
        for start in range(0, flat.size, 1 << 23):
            h.update(flat[start : start + (1 << 23)].tobytes())
    return h.hexdigest()


def remembered(x: Any, k: int, folder: Path) -> Reference:
    """`exact`, kept in a file named after the digest of the data."""
    path = folder / f"{digest(x)}-k{k}.npz"
    if path.exists():
        with np.load(path) as kept:
            return Reference(kept["values"], kept["components"], float(kept["total"]))
    answer = exact(x, k)
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(path, values=answer.values, components=answer.components, total=answer.total)
    return answer


def value_error(values: NDArray[Any], reference: Reference) -> float:
    """Largest relative eigenvalue error max_i |v_i - lambda_i|/lambda_i over the k."""
    truth = reference.values[: len(values)]
    found = np.asarray(values, dtype=np.float64)
    if not np.all(np.isfinite(found)):
        return float("inf")
    return float(np.max(np.abs(found - truth) / truth))


def subspace_sine(components: NDArray[Any], reference: Reference) -> float:
    """Sine of the largest angle between the two k-dimensional subspaces.

    Parameters
    ----------
    components : array of shape (k, p)
        Rows that span the subspace; they are orthonormalised first.
    """
    found = np.asarray(components, dtype=np.float64)
    if not np.all(np.isfinite(found)):
        return 1.0
    q, _ = np.linalg.qr(found.T)
    truth = reference.components[: found.shape[0]].T
    # The residual, not sqrt(1 - cos^2), so that small angles keep their digits.
    rest = truth - q @ (q.T @ truth)
    return min(1.0, float(np.linalg.norm(rest, ord=2)))
