"""Tiles: a tall array walked in blocks that fit the cache, through reused buffers.

The few things done to a block (shift, unit, weights, sums, products) are here, because
they are written in place where the library allows it and functionally where it does not.

Products of a stored matrix with a thin block, on the threads of a pass.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.arrays._namespace import Array, is_numpy, namespace
from mercer.arrays.threads._thread_lanes import Lanes, thread_count

_SHORT = 256  # rows whose float32 squares are summed before they go to float64


@dataclasses.dataclass(frozen=True)
class Tiles:
    """Cuts 0…n into blocks of `rows`; the last one may be shorter.

    Parameters
    ----------
    n : int
        Length of the axis that is cut.
    rows : int
        Length of a block.
    """

    n: int
    rows: int

    @classmethod
    def of(
        cls, n: int, width: int, itemsize: int, *, most_bytes: float, longest: int
    ) -> "Tiles":
        """Return blocks of at most `most_bytes` and `longest` rows, at least 16."""
        rows = int(most_bytes // max(1, width * itemsize))
        return cls(n, max(1, min(max(16, rows), longest, n)))

    def __len__(self) -> int:
        """Return the number of blocks."""
        return -(-self.n // self.rows)

    def __getitem__(self, block: int) -> slice:
        """Return the slice of one block; it never reaches past the end."""
        start = block * self.rows
        return slice(start, min(start + self.rows, self.n))

    def __iter__(self) -> Iterator[slice]:
        """Yield the slices of all blocks."""
        return map(self.__getitem__, range(len(self)))


def scratch(shape: tuple[int, int], dtype: Any, like: Array, order: str = "C") -> Array | None:
    """Return space to write a block into, or None where arrays cannot be written in place."""
    if not is_numpy(like):
        return None
    return np.empty(shape, dtype, order="F" if order == "F" else "C")


def shifted(block: Array, origin: Array, out: Array | None) -> Array:
    """Return ``block - origin``, written into `out` where there is one.

    It is done in the widest of the three precisions: for data within a factor two of the
    origin it is exact (Sterbenz), which is why centring comes before every product.
    """
    if out is None:
        return block - origin
    view = out[: block.shape[0], : block.shape[1]]
    wide = np.result_type(block, origin, view)  # else float32 - float32 would round first
    np.subtract(block, origin, out=view, dtype=wide, casting="same_kind")
    return view


def in_units(y: Array, exponent: int) -> Array:
    """Return y·2^-exponent, exactly and in place; two steps reach every exponent."""
    half = exponent // 2
    y *= 2.0**-half
    y *= 2.0 ** -(exponent - half)
    return y


def column_sums(y: Array, root: Array | None) -> Array:
    """Return Σ_i root_i·y_i as float64 (p,), by one product with a row."""
    xp = namespace(y)
    row = xp.ones((y.shape[0],), dtype=y.dtype) if root is None else root
    return xp.astype(row @ y, xp.float64)


def column_squares(y: Array) -> Array:
    """Return Σ_i y_i² per column as float64 (p,); short runs keep float32 sums exact enough."""
    xp = namespace(y)
    n = y.shape[0]
    if is_numpy(y):
        if y.dtype == np.float64:
            return np.asarray(np.einsum("ij,ij->j", y, y))
        parts = [y[i : i + _SHORT] for i in range(0, n, _SHORT)]
        total = np.zeros(y.shape[1])
        for part in parts:
            total += np.einsum("ij,ij->j", part, part)
        return total
    return xp.sum(xp.astype(y * y, xp.float64), axis=0)


def column_ends(y: Array) -> tuple[Array, Array]:
    """Return the least and the largest cells of columns, each (p,)."""
    if is_numpy(y):
        return y.min(axis=0), y.max(axis=0)
    xp = namespace(y)
    return xp.min(y, axis=0), xp.max(y, axis=0)


def add_gram(total: Array, y: Array, space: Array | None) -> Array:
    """Add YᵀY (p, p) to the float64 `total` in place; return the product just added."""
    xp = namespace(y)
    # NumPy sees that both factors are one array and does half the work (?syrk).
    product = y.T @ y if space is None else np.matmul(y.T, y, out=space)
    total += xp.astype(product, xp.float64, copy=False)
    return product


_WORTH_LANES = 2e7  # flops below which starting threads costs more than it saves
_BLOCKS = 16  # of rows


def symmetric_times(a: Array, v: Array) -> Array:
    """Return A V (n, b) in float64 for symmetric A (n, n), as Σ over row blocks V_Iᵀ A_I.

    The wide side last is what BLAS does best, and the sums of the blocks are float64 where
    the products are float32.
    """
    n, b = v.shape
    tiles = Tiles(n, -(-n // _BLOCKS))
    lanes = Lanes(min(thread_count(), len(tiles)) if 2.0 * n * n * b > _WORTH_LANES else 1)
    thin = np.ascontiguousarray(v.T, a.dtype)
    sums = [np.zeros((b, n)) for _ in range(lanes.count)]

    def work(lane: int, parts: Iterator[slice]) -> None:
        for part in parts:
            sums[lane] += thin[:, part] @ a[part]

    lanes.over(tiles, work)
    return sum(sums[1:], sums[0]).T
