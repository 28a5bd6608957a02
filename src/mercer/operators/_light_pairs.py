"""LᵀL of thin columns: one triangle of it, in strips that lanes share."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.arrays import Array, Lanes
from mercer.operators._csr import columns_from, row_view, stacked

_STRIPS = 4  # more leave out more pairs, up to half of them, and copy more cells
_MOST_ENTRIES = 20_000_000  # of a strip of the product, which may be full: 240 MB


def add_pairs(total: Array, blocks: list[Any], lanes: Lanes) -> None:
    """Add the upper triangle of LᵀL (l, l), and some of what is below, to `total`.

    L is the stack of the CSR `blocks`. Strip I, …, of rows of LᵀL needs only the columns of L
    from I on. A strip belongs to one lane, so that the lanes write where no other does.
    """
    light = stacked(blocks)
    turned = light.T.tocsr()
    bounds = _bounds(turned.indptr, max(_STRIPS, 2 * lanes.count))
    order = _evenly(len(bounds) - 1, lanes.count)

    def work(_lane: int, numbers: Iterator[int]) -> None:
        rest, start = light, 0
        for number in numbers:  # in the order of the columns, so that less is left each time
            low, high = bounds[order[number]], bounds[order[number] + 1]
            rest, start = columns_from(rest, low - start) if low > start else rest, low
            _add_rows(total[low:high, low:], row_view(turned, slice(low, high)) @ rest)

    lanes.run(work, len(order))


def mirror(total: Array) -> None:
    """Copy the upper triangle of a matrix onto the lower one, strip by strip."""
    step = 256
    for low in range(0, len(total), step):
        high = min(low + step, len(total))
        corner = total[low:high, low:high]
        corner[...] = np.triu(corner) + np.triu(corner, 1).T
        total[high:, low:high] = total[low:high, high:].T


def _add_rows(total: Array, product: Any) -> None:
    """Add a CSR matrix to a dense one, a few rows at a time."""
    step = max(1, 250_000 // max(1, product.shape[1]))
    for low in range(0, product.shape[0], step):
        part = slice(low, min(low + step, product.shape[0]))
        total[part] += row_view(product, part).toarray()


def _bounds(ends: Array, count: int) -> list[int]:
    """Return where strips begin and end: `count` of about equally many cells, none empty.

    Strips with more entries than may be held at once are cut again.
    """
    size = len(ends) - 1
    wanted = np.linspace(0, ends[-1], count + 1)[1:-1]
    bounds = [0]
    for end in [*np.searchsorted(ends, wanted), size]:
        while end > bounds[-1]:
            longest = max(1, _MOST_ENTRIES // (size - bounds[-1]))
            bounds.append(min(int(end), bounds[-1] + longest))
    return bounds


def _evenly(strips: int, lanes: int) -> list[int]:
    """Return the strips in an order that gives each lane long and short ones.

    Strip i multiplies what strips i, i + 1, … hold, so the work falls from one to the next;
    lane j takes places j, j + lanes, …: every second row of them is turned round.
    """
    order = list[int]()
    for turn, low in enumerate(range(0, strips, lanes)):
        row = range(low, min(low + lanes, strips))
        order += row if turn % 2 == 0 else reversed(row)
    return order
