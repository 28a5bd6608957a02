"""The matrix of multiple correspondence analysis, its square from counts, and its rows."""

from functools import cached_property
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.estimators._categories import Coded
from mercer.estimators._mca_levels import Active
from mercer.estimators._operated import Operated
from mercer.operators import Framed


class Categories:
    """A = diag(√w/Q)·(Z - 1pᵀ)·diag(c^-½), with Z (n, J) the indicator of levels that count.

    w are the masses of the rows, p the shares of the levels, c = p/Q their masses. Where all
    levels count this is the matrix of correspondence analysis of Z; where some are excluded
    or cells are missing, masses stay those of the whole table (specific MCA).

    Parameters
    ----------
    active : Active
        The levels that count.
    """

    def __init__(self, active: Active) -> None:
        self.active = active
        self.settled: dict[str, Any] = {}  # what a fit decides on its way

    @cached_property
    def square(self) -> Array:
        """AᵀA (J, J) = D_c^-½(Burt/(nQ²) - ccᵀ)D_c^-½ from counts: n·Burt - n_jn_l is whole."""
        active = self.active
        kept = active.kept
        burt = active.coded.burt(active.weights)[np.ix_(kept, kept)]
        counts = active.counts[kept]
        burt *= active.total
        burt -= np.outer(counts, counts)
        root = np.sqrt(active.q * counts * active.total)
        return burt / np.outer(root, root)

    def operated(self) -> Operated:
        """Return what is solved, with its total inertia."""
        active = self.active
        shares, q = active.shares, active.q
        n = active.coded.shape[0]
        op = Framed(
            active.coded.indicator(active.kept),
            left=np.sqrt(active.masses_of_rows) / q,
            right=active.masses**-0.5,
            level=np.ones(n),
            profile=shares,
            counted=lambda: self.square.copy(),
        )
        return Operated(op, self.total, self, len(shares) / q)

    @property
    def total(self) -> float:
        """The total inertia ‖A‖²_F."""
        return float(np.sum(self.inertias))

    @property
    def inertias(self) -> Array:
        """The inertia of each level (J,): (1 - p)/Q where every cell is whole."""
        if self.active.coded.soft:
            return np.diagonal(self.square).copy()
        return (1 - self.active.shares) / self.active.q


def along(coded: Coded, standard: Array, q: int, origin: Array) -> Array:
    """Return the coordinates (n, k) of rows: f = Σ_j (z_j/Q - c_j)·y_j.

    Parameters
    ----------
    coded : Coded
        The rows; cells without a level add nothing.
    standard : array of shape (J, k)
        Standard coordinates y of all levels, zero for those that do not count.
    q : int
        Variables that count.
    origin : array of shape (k,)
        Σ_j c_j y_j; zero where all levels of the variables count.
    """
    return _gathered(coded, standard) / q - origin


def distances(active: Active) -> Array:
    """Return the squared χ² distance (n,) of every row from the mean row.

    d² = Σ_j (z_j/Q - c_j)²/c_j = Σ_{z_j = 1} (1/(Q²c_j) - 2/Q) + Σ_j c_j.
    """
    masses, q = active.masses, active.q
    parts = np.zeros((len(active.kept), 1))
    parts[active.kept, 0] = 1 / (q * q * masses) - 2 / q
    found = _gathered(active.coded, parts)[:, 0] + float(np.sum(masses))
    ends = active.coded.offsets
    parts[active.kept, 0] += 2 / q
    for cells in active.coded.soft:  # z² is z for whole cells only
        part = parts[ends[cells.at] : ends[cells.at + 1], 0]
        found[cells.rows] += (cells.shares**2 - cells.shares) @ part
    return np.maximum(found, 0.0)


def _gathered(coded: Coded, values: Array) -> Array:
    """Return ZV (n, k) for V (J, k): the rows of V that the codes name, added up."""
    out = np.zeros((coded.shape[0], values.shape[1]))
    ends = coded.offsets
    for at, code in enumerate(coded.codes.T):
        part = values[ends[at] : ends[at + 1]]
        if part.any():
            out += np.concatenate([part, np.zeros((1, values.shape[1]))])[code]
    for cells in coded.soft:
        out[cells.rows] += cells.shares @ values[ends[cells.at] : ends[cells.at + 1]]
    return out
