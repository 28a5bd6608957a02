"""Weights along blocks of rows, and rows that stand several times as rows with a weight."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mercer.arrays import Array, Tiles
from mercer.estimators.kernel._decoder import dense
from mercer.estimators.walk._spectral_estimator import repeat_counts
from mercer.operators import wrong_weights

_BLOCK = 2048  # rows that are looked at together


def cut_along(blocks: Iterable[Any], weights: Any) -> Iterator[tuple[Any, Array | None]]:
    """Yield every block with its weights, cut from those (n,) of all rows; None has none.

    The weights are checked before the first block, their number as far as it can be known:
    too few at the block that they do not reach, too many at the end.
    """
    if weights is None:
        for block in blocks:
            yield block, None
        return
    given = len(weights) if np.ndim(weights) == 1 else 0
    counts, at = repeat_counts(weights, given), 0
    for block in blocks:
        start, at = at, at + _height(block)
        if at > given:
            raise wrong_weights(at, given)
        yield block, counts[start:at]
    if at < given:
        raise wrong_weights(at, given)


def _height(block: Any) -> int:
    return int(block.shape[0]) if hasattr(block, "shape") else len(block)


def twins(rows: Any) -> tuple[Array, Array] | None:
    """Return the first of each set of equal rows (m,) and the set of every row (n,).

    None where all rows differ. Sets are in the order of their first rows.
    """
    n = int(rows.shape[0])
    seen, sets, first = dict[bytes, int](), np.empty(n, np.int64), list[int]()
    tiles = Tiles(n, _BLOCK)
    for number in range(len(tiles)):
        part = tiles[number]
        block = np.ascontiguousarray(dense(rows[part])) + 0.0  # -0 is 0
        for row, cells in enumerate(block, part.start):
            found = seen.setdefault(hashlib.blake2b(cells, digest_size=16).digest(), len(seen))
            sets[row] = found
            if found == len(first):
                first.append(row)
    return None if len(first) == n else (np.array(first), sets)


def added_up(values: Array, sets: Array, count: int) -> Array:
    """Return the sums (count, …) of `values` (n, …) over each set."""
    out = np.zeros((count, *values.shape[1:]))
    np.add.at(out, sets, values)
    return out
