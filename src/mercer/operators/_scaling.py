"""Scaling: what columns are multiplied by, once their variances are known.

Columns of very different size: refused together, or each taken in a power of two of its own.
"""

import dataclasses
from collections.abc import Callable
from typing import TypeVar, final

import numpy as np

from mercer.arrays import Array, Tiles, is_sparse
from mercer.errors import InputError
from mercer.sources import BlockSource, MappedSource, Source, SparseSource, SpreadSource

Found = TypeVar("Found")
_TALL = 4096  # rows that are looked at in one go

LEAST_SPREAD = 1e-152  # in the unit of the largest cells, whose squares keep their digits


@final
@dataclasses.dataclass(frozen=True)
class Scaling:
    """Division by standard deviations, weights of columns, or both.

    Parameters
    ----------
    standardize : bool
        Whether columns are divided by their standard deviations.
    root_weight : ndarray of shape (p,) or None
        √weights of the columns.
    """

    standardize: bool
    root_weight: Array | None

    def factor_of(self, variances: Array, step: Array | float, start: int = 0) -> Array | None:
        """Return the multipliers of columns `start`, …, or None where all are one.

        A column that varies no more than its rounding `step` is constant: dividing by its
        standard deviation would blow rounding up to variance one. One whose squares have lost
        digits beside those of the largest is refused; one of which nothing is left is told
        from a constant one by `Rows.vanished`.
        """
        if not self.standardize and self.root_weight is None:
            return None
        factor = np.ones_like(variances)
        if self.standardize:
            refuse_lost((variances > 0) & (variances < LEAST_SPREAD**2), start)
            constant = is_constant(variances, step)
            factor = 1 / np.sqrt(np.where(constant, 1.0, variances))
        if self.root_weight is not None:
            factor = factor * self.root_weight[start : start + len(variances)]
        return factor


class ColumnsApartError(InputError):
    """Columns whose squares have no common unit in float64."""


def refuse_lost(lost: Array, start: int = 0) -> None:
    """Refuse columns `start`, … that vary, but too little for squares beside the largest."""
    which = np.flatnonzero(lost)
    if which.size:
        raise ColumnsApartError(
            "columns differ too much in size to be standardised together",
            got=f"column {start + which[0]}, 10^150 times smaller than the largest, or more",
            fix="divide the largest columns by a constant first, or drop one of them",
        )


def in_levels(source: Source, act: Callable[[Source], Found]) -> tuple[Found, Array | None]:
    """Return what ``act(source)`` gives, and None; where columns lie too far apart, of levels.

    Then the powers (p,) of `levelled` are returned; see `Centring.unlevelled`.

    Parameters
    ----------
    source : Source
        The rows.
    act : function
        Takes a source; what it finds must not depend on the units of columns.
    """
    try:
        return act(source), None
    except ColumnsApartError as refusal:
        level, powers = levelled(source, refusal)
    return act(level), powers


def levelled(source: Source, refusal: ColumnsApartError) -> tuple[Source, Array]:
    """Return rows whose columns are each in units of 2^power, exactly, and the powers (p,).

    Rows that are not in memory are refused.
    """
    if isinstance(source, BlockSource | SpreadSource):
        raise refusal
    powers = _powers(source)
    if is_sparse(source.array):
        csr = source.array.astype(np.float64)
        csr.data = np.ldexp(csr.data, -powers[csr.indices])
        return SparseSource(csr), powers
    return MappedSource(lambda rows: np.ldexp(rows, -powers), source.array), powers


def _powers(source: Source) -> Array:
    """Return e (p,) with 2^(e-1) ≤ max|x_j| < 2^e, 0 for nothing."""
    largest = np.zeros(source.shape[1])
    for part in Tiles(source.shape[0], _TALL):
        block = source.array[part, :]
        if is_sparse(block):
            top = np.asarray(abs(block).max(axis=0).todense()).ravel()
        else:
            top = np.max(np.abs(block), axis=0, initial=0.0)
        largest = np.maximum(largest, top)
    return np.frexp(largest)[1]


def exact_means(rows: Array, means: Array) -> Array:
    """Return the means of columns, those of constant columns exact.

    A sum of n equal numbers divided by n, with weights or without, may be off by a rounding.
    What it leaves of a constant column is no spread, and nothing may be divided by it.

    Parameters
    ----------
    rows : ndarray of shape (n,) or (n, p)
        The rows that count, at least one.
    means : ndarray of shape () or (p,)
        Their means as they were added up.

    Examples
    --------
    >>> rows = np.full(7, 0.1)
    >>> bool(rows.mean() == 0.1), bool(exact_means(rows, rows.mean()) == 0.1)
    (False, True)
    """
    low = np.min(rows, axis=0)
    return np.where(low == np.max(rows, axis=0), low, means)


def is_constant(variances: Array, step: Array | float) -> Array:
    """Tell which columns vary no more than storing them has rounded: var ≤ step²/12."""
    return np.asarray(variances <= np.square(step) / 12)
