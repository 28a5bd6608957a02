"""Axes of a mixed table, as they place rows: numbers and categories in, coordinates out."""

import dataclasses

import numpy as np

from mercer.arrays import Array, Tiles
from mercer.estimators.mixed._mixed_frame import MixedFrame
from mercer.estimators.mixed._mixed_table import Mixed

_BLOCK = 4096  # rows that are placed together
_LEAST = 1e-12  # of the largest variance: noise that keeps rows with few cells solvable


@dataclasses.dataclass(frozen=True, eq=False)
class Filling:
    """What missing cells are expected to be, given the others.

    Analysed rows are y ~ N(0, V diag(λ - s²) Vᵀ + s²I). With o the observed cells, W =
    V diag(λ - s²)^½ and u = (s²I + W_oᵀW_o)⁻¹W_oᵀy_o, missing cells are expected at W_m u:
    the fixed point of regularised iterative FAMD [Audigier2016]_.

    Attributes
    ----------
    axes : array of shape (p + J, q)
        V, orthonormal columns.
    values : array of shape (q,)
        λ.
    noise : float
        s².
    owner : int array of shape (p + J,)
        The given column of each column of V.
    """

    axes: Array
    values: Array
    noise: float
    owner: Array

    @property
    def loadings(self) -> Array:
        """W (p + J, q)."""
        return self.axes * np.sqrt(np.maximum(self.values - self.noise, 0.0))

    def inner(self, observed: Array, holes: Array) -> Array:
        """Return u (n, q) of rows from V_oᵀy_o (n, q) and their missing columns.

        Parameters
        ----------
        observed : array of shape (n, q)
            Products of the observed cells with V; missing ones count as zero.
        holes : bool array of shape (n, given columns)
            Which cells are missing.
        """
        q = len(self.values)
        if q == 0:
            return np.zeros((len(observed), 0))
        loadings = self.loadings
        root = np.sqrt(np.maximum(self.values - self.noise, 0.0))
        whole = np.zeros((holes.shape[1], q, q))
        np.add.at(whole, self.owner, loadings[:, :, None] * loadings[:, None, :])
        total = whole.sum(axis=0)
        ridge = max(self.noise, _LEAST * float(self.values[0])) or 1.0
        total[np.diag_indices(q)] += ridge
        lost = holes.astype(np.float64) @ whole.reshape(len(whole), -1)
        matrix = total - lost.reshape(-1, q, q)
        return np.linalg.solve(matrix, (observed * root)[:, :, None])[:, :, 0]


@dataclasses.dataclass(frozen=True, eq=False)
class MixedAxes:
    """Directions in which rows of numbers and categories are looked at.

    Attributes
    ----------
    frame : MixedFrame
        How cells become numbers.
    directions : array of shape (p + J, k)
        Coordinates are Σ z·direction over numbers plus the directions of the levels.
    weights : array of shape (p + J,)
        Of the columns in a squared distance: 1, or those of the groups of MFA.
    filling : Filling or None
        What missing cells are expected to be; None refuses them.
    """

    frame: MixedFrame
    directions: Array
    weights: Array
    filling: Filling | None = None

    def placed(
        self, table: Mixed, unseen: str = "raise", among: Array | None = None
    ) -> tuple[Array, Array]:
        """Return coordinates (n, k) and squared distances (n,) from the centre.

        Unseen values stand at the centre of their variable; missing cells where they are
        expected, or at the centre too.

        Parameters
        ----------
        table : Mixed
            Rows.
        unseen : str
            "raise" or "passive".
        among : bool array of shape (given columns,) or None
            The columns that count; None is all.
        """
        codes = self.frame.codes(table, unseen)
        filling = self.filling
        along = self.directions if filling is None else self._beside(filling.axes)
        found, squares = _sums(self.frame, table, codes, along, self.weights, among)
        if filling is None:
            return found, squares
        k = self.directions.shape[1]
        found, observed = np.ascontiguousarray(found[:, :k]), found[:, k:]
        holes = table.gaps()
        rows = np.flatnonzero(holes.any(axis=1))
        if rows.size:
            inner = filling.inner(observed[rows], holes[rows])
            # The directions are V/√mass.
            orthonormal = self.directions * np.sqrt(self.frame.masses)[:, None]
            # Rows may be many and cells of a row many more: one given column at a time.
            for column in np.flatnonzero(holes.any(axis=0)):
                at = np.flatnonzero(filling.owner == column)
                here = holes[rows, column]
                y = inner[here] @ filling.loadings[at].T
                found[rows[here]] += y @ orthonormal[at]
                squares[rows[here]] += np.sum(y * y, axis=1)
        return found, squares

    def observed(self, table: Mixed, unseen: str = "raise") -> Array:
        """Return V_oᵀy_o (n, q) of rows, V the axes of the filling."""
        assert self.filling is not None
        k = self.directions.shape[1]
        along = self._beside(self.filling.axes)[:, k:]
        codes = self.frame.codes(table, unseen)
        return _sums(self.frame, table, codes, along, self.weights, None)[0]

    def _beside(self, axes: Array) -> Array:
        mass = self.frame.masses
        root = np.where(mass > 0, 1 / np.sqrt(np.where(mass > 0, mass, 1.0)), 0.0)
        return np.concatenate([self.directions, axes * root[:, None]], axis=1)


def _sums(
    frame: MixedFrame,
    table: Mixed,
    codes: Array,
    directions: Array,
    weights: Array,
    among: Array | None,
) -> tuple[Array, Array]:
    """Return Σ cell·direction (n, k) and Σ of squares (n,); no table is written down."""
    n, p = table.numbers.shape
    starts, k = frame.starts, directions.shape[1]
    numbers, categories = np.flatnonzero(~frame.kinds), np.flatnonzero(frame.kinds)
    counted = np.ones(len(frame.kinds), bool) if among is None else among
    own = np.flatnonzero(counted[numbers])
    out, squares = np.zeros((n, k)), np.zeros(n)
    share = frame.shares
    far = np.where(share > 0, 1 / np.where(share > 0, share, 1.0) - 1, 0.0) * weights[p:]
    # The last line stands for cells without a level: they are at the centre.
    levels = np.concatenate([directions[p:], np.zeros((1, k))])
    far = np.append(far, 0.0)
    for part in Tiles(n, _BLOCK):
        if own.size:
            z = np.nan_to_num(frame.standard(table.numbers[part]), copy=False, nan=0.0)
            z = z if own.size == p else z[:, own]
            out[part] += z @ directions[own]
            squares[part] += (z * z) @ weights[own]
        for q in np.flatnonzero(counted[categories]):
            code = codes[part, q]
            at = np.where(code >= 0, starts[q] - p + code, -1)
            out[part] += levels[at]
            squares[part] += far[at]
    return out, squares


def fuzzy(
    filling: Filling, frame: MixedFrame, observed: Array, holes: Array
) -> dict[int, Array]:
    """Return what is expected in every given column with gaps: z (c,), or shares (c, levels).

    Parameters
    ----------
    filling : Filling
        The model.
    frame : MixedFrame
        Its frame.
    observed : array of shape (n, q)
        V_oᵀy_o of the rows.
    holes : bool array of shape (n, given columns)
        Which cells are missing.
    """
    inner = filling.inner(observed, holes)
    p, found = len(frame.spread), {}
    for column in np.flatnonzero(holes.any(axis=0)):
        at = np.flatnonzero(filling.owner == column)
        y = inner[holes[:, column]] @ filling.loadings[at].T
        if frame.kinds[column]:
            share = frame.shares[at - p]
            found[int(column)] = share + np.sqrt(share) * y
        else:
            found[int(column)] = y[:, 0]
    return found
