"""Loops over the stored cells of sparse rows, in the form that Numba compiles.

Cells lie as in a CSR matrix: row i holds cells ends[i] to ends[i + 1], their columns rising.
Every index is unsigned: machine code then need not ask whether it counts from the end.
"""

import numpy as np

from mercer.arrays import Array


def add_columns(ends: Array, columns: Array, cells: Array, weights: Array, sums: Array) -> None:
    """Add Σw, Σwx and Σwx² (3, p) of the stored cells of rows with weights w (r,)."""
    for i in range(len(weights)):
        w = weights[i]
        for a in range(np.uint64(ends[i]), np.uint64(ends[i + 1])):
            j, x = columns[a], np.float64(cells[a])
            sums[0, j] += w
            sums[1, j] += w * x
            sums[2, j] += w * x * x


def add_pairs(
    ends: Array,
    columns: Array,
    cells: Array,
    weights: Array,
    low: np.uint64,
    high: np.uint64,
    at: Array,
    total: Array,
) -> None:
    """Add rows `low` to `high` of the upper triangle of XᵀWX (p, p) to `total`.

    Two cells of a row are multiplied with those after them at a time, so that these are read
    half as often.

    Parameters
    ----------
    ends, columns, cells : ndarray
        The cells of r rows.
    weights : ndarray of shape (r,)
        w.
    low, high : uint64
        The strip of `total` that is added to: one that stays in the cache.
    at : ndarray of uint64 of shape (r,)
        Cells of each row before which all columns are below `low`; moved on to `high`.
    total : ndarray of shape (p, p)
        What is added to.
    """
    one = np.uint64(1)
    for i in range(len(at)):
        a, end, w = at[i], np.uint64(ends[i + 1]), weights[i]
        while a < end and columns[a] < low:
            a += one
        while a < end and columns[a] < high:
            first, x = total[columns[a]], cells[a] * w
            first[columns[a]] += x * cells[a]
            a += one
            if a < end and columns[a] < high:
                second, y = total[columns[a]], cells[a] * w
                for b in range(a, end):
                    j, z = columns[b], np.float64(cells[b])
                    first[j] += x * z
                    second[j] += y * z
                a += one
            else:
                for b in range(a, end):
                    first[columns[b]] += x * cells[b]
        at[i] = a
