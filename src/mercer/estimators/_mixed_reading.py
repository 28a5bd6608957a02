"""What a map of numbers and categories is read by: contributions, cos², means of levels."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.diagnostics import v_tests
from mercer.estimators._mixed_axes import MixedAxes


class MixedReading:
    """Mixed into FAMD and MFA: numbers about rows and columns, made when they are asked for.

    φ are the standard coordinates of the columns, m their masses, λ the eigenvalues.
    """

    eigenvalues_: Array
    row_coordinates_: Array
    row_masses_: Array
    _row_squares: Array
    column_standard_: Array
    column_masses_: Array
    column_inertias_: Array
    _axes: MixedAxes
    _total_weight: float

    @property
    def row_standard_(self) -> Array:
        """Standard coordinates (n, k) of the rows: principal ones over √λ."""
        return self.row_coordinates_ * _inverse(np.sqrt(self.eigenvalues_))

    @property
    def row_contributions_(self) -> Array:
        """Shares (n, k) of the rows in each axis; they sum to one."""
        squares = self.row_coordinates_**2 * self.row_masses_[:, None]
        return squares * _inverse(self.eigenvalues_)

    @property
    def row_cos2_(self) -> Array:
        """Shares (n, k) of each row's squared distance from the centre along the axes."""
        return self.row_coordinates_**2 * _inverse(self._row_squares)[:, None]

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
        return squares * _inverse(self.column_inertias_)[:, None]

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
        return found * _inverse(deviation)[:, None]

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

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)


def _inverse(values: Any) -> Array:
    """Return 1/v, and 0 where v is 0."""
    positive = np.asarray(values) > 0
    return np.where(positive, 1 / np.where(positive, values, 1.0), 0.0)
