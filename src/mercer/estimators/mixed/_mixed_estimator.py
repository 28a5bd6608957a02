"""What FAMD and MFA share: reading tables, placing rows, supplementary columns.

What a map of numbers and categories is read by: contributions, cos², means of levels.
"""

import dataclasses
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, at_most
from mercer.diagnostics import v_tests
from mercer.estimators.categories._category_cells import note_columns, of_categories, table_of
from mercer.estimators.categories._supplementary_variables import (
    Placed,
    SupplementaryVariables,
    supplementary_variables,
)
from mercer.estimators.counts._count_map import contributions, inverse
from mercer.estimators.mixed._mixed_axes import MixedAxes
from mercer.estimators.mixed._mixed_frame import stored_cells
from mercer.estimators.mixed._mixed_table import (
    Mixed,
    mixed,
    refuse_cells,
    refuse_empty,
    refuse_empty_columns,
)
from mercer.estimators.walk._admission import held_rows, one_row, text_names
from mercer.estimators.walk._operated_estimator import Operated, OperatedEstimator, pairs
from mercer.estimators.walk._parameters import COUNT, RESOURCES, refuse_truth
from mercer.estimators.walk._spectral_estimator import planned
from mercer.planning import Problem
from mercer.solvers import Spectrum

_ROWS = 40.0  # bytes of a coordinate of a row, with what is said of it, and of its mass
_CODES = 12.0  # bytes of a cell: its code, and columns while they are read


class MixedEstimator(OperatedEstimator):
    """Abstract: a method of tables whose columns are numbers and categories.

    φ are the standard coordinates of the columns, m their masses, λ the eigenvalues.
    """

    _fewest = 2
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": [COUNT, None],
        "categorical": [None, "array-like", str, Integral],
        "unseen": [StrOptions({"raise", "passive"})],
        **RESOURCES,
    }
    n_components: int | None
    categorical: Any
    unseen: str
    missing: str = "raise"
    eigenvalues_: Array
    row_coordinates_: Array
    row_masses_: Array
    column_standard_: Array
    column_masses_: Array
    column_inertias_: Array
    _row_squares: Array
    _axes: MixedAxes
    _total_weight: float

    def _admit(self, X: Any, *, reset: bool) -> Mixed:  # type: ignore[override]
        """Return the table of X, each column read as what it is, and checked."""
        given = text_names(held_rows(X))
        kinds = None if reset else self._axes.frame.kinds
        table_of(given)  # what is no table is refused before its columns are counted
        note_columns(self, given, reset=reset)
        table = mixed(given, self.categorical, kinds)
        if reset and table.shape[0] < self._fewest:
            raise one_row(f"n_samples = 1, X of shape {table.shape}")
        fills = self.missing == "fill"
        refuse_cells(table, gaps=fills)
        if fills:
            holes = table.gaps()
            refuse_empty(table, holes)
            if reset:
                refuse_empty_columns(table, holes)
        return table

    def _shape(self, source: Mixed) -> tuple[int, int, int | None]:
        n, p = source.numbers.shape
        sizes = [len(column.values) for column in source.columns]
        cells = stored_cells(p, sizes)
        return n, p + sum(sizes), None if cells is None else n * cells

    def _problem(self, source: Any, weights: Array | None = None) -> Problem:
        """Return what the planner may know; the table that is made is held beside."""
        problem = super()._problem(source, weights)
        n, cells = source.shape[0], source.shape[0] * source.shape[1]
        rows = _ROWS * n * (problem.components + 1)
        return dataclasses.replace(problem, held=problem.data_bytes + _CODES * cells + rows)

    def _wanted(self, shape: tuple[int, int]) -> int:
        refuse_truth(self.n_components, "pass a whole number, or None for all axes")
        wanted = min(shape) if self.n_components is None else int(self.n_components)
        return min(wanted, *shape)

    def _pairs_of(self, asked: Operated, wanted: int) -> Spectrum:
        """Return leading pairs of a table on the way, by the path a plan takes for it."""
        op = asked.op
        stored = int(op.table.nnz) if op.sparse else None
        problem = self._problem_of(asked, op.shape, min(wanted, *op.shape), nnz=stored)
        path = planned(problem).chosen
        with at_most(path.threads):
            return pairs(asked, path, wanted, problem.tol, self._seed()).padded(wanted)

    def _project(self, source: Any) -> Array:
        return self._axes.placed(source, self.unseen)[0]

    def supplementary(self, Y: Any) -> SupplementaryVariables:
        """Return where other columns of the training rows stand; they change no axis.

        Parameters
        ----------
        Y : frame or array of shape (n_samples, columns)
            Numbers and categories of the rows of the fit, in their order. Missing cells are
            left out of the column they are in.

        Returns
        -------
        SupplementaryVariables
            Correlations of the numbers with the axes, η² of the categories, and coordinates,
            cos² and v-tests of their levels.
        """
        check_is_fitted(self)
        values = self.eigenvalues_
        rows = Placed(
            self.row_coordinates_, self.row_masses_, self._total_weight, values, values
        )
        return supplementary_variables(held_rows(Y), rows)

    # -- numbers about rows and columns, made when they are asked for -----------------

    @property
    def row_standard_(self) -> Array:
        """Standard coordinates (n, k) of the rows: principal ones over √λ."""
        return self.row_coordinates_ * inverse(np.sqrt(self.eigenvalues_))

    @property
    def row_contributions_(self) -> Array:
        """Shares (n, k) of the rows in each axis; they sum to one."""
        return contributions(self.row_masses_, self.row_coordinates_, self.eigenvalues_)

    @property
    def row_cos2_(self) -> Array:
        """Shares (n, k) of each row's squared distance from the centre along the axes."""
        return self.row_coordinates_**2 * inverse(self._row_squares)[:, None]

    @property
    def row_inertias_(self) -> Array:
        """Mass times squared distance from the centre (n,); they sum to the total."""
        return self.row_masses_ * self._row_squares

    @property
    def column_coordinates_(self) -> Array:
        """Principal coordinates (J, k) of the columns, √λ·φ: correlations for numbers."""
        return self.column_standard_ * np.sqrt(self.eigenvalues_)

    @property
    def column_contributions_(self) -> Array:
        """Shares (J, k) of the columns in each axis, m·φ²; they sum to one."""
        return self.column_standard_**2 * self.column_masses_[:, None]

    @property
    def column_cos2_(self) -> Array:
        """Shares (J, k) of each column's inertia along the axes."""
        squares = self.column_contributions_ * self.eigenvalues_
        return squares * inverse(self.column_inertias_)[:, None]

    @property
    def variable_contributions_(self) -> Array:
        """Shares (variables, k) of the given columns in each axis; they sum to one."""
        out = np.zeros((len(self._axes.frame.kinds), len(self.eigenvalues_)))
        np.add.at(out, self._axes.frame.owner, self.column_contributions_)
        return out

    @property
    def correlations_(self) -> Array:
        """Correlations (numbers, k) of the columns of numbers with the axes."""
        frame = self._axes.frame
        p = len(frame.spread)
        found = self.column_coordinates_[:p]
        if frame.scaled:
            return found
        deviation = np.sqrt(self.column_inertias_[:p] / self.column_masses_[:p])
        return found * inverse(deviation)[:, None]

    @property
    def level_means_(self) -> Array:
        """Mean coordinates (levels, k) of the rows that have each level, λ·φ."""
        p = len(self._axes.frame.spread)
        return self.column_standard_[p:] * self.eigenvalues_

    @property
    def v_tests_(self) -> Array:
        """How far (levels, k) the mean of each level is from 0, in standard deviations.

        Of a mean of as many rows drawn without replacement; beyond ±2 it is hardly chance. NaN
        for a level of all rows, or of none.
        """
        total = self._total_weight
        counts = total * self._axes.frame.shares
        return v_tests(self.level_means_, counts, total, self.eigenvalues_)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: text and categories are taken, sparse rows are not."""
        return of_categories(super().__sklearn_tags__(), gaps=self.missing == "fill")
