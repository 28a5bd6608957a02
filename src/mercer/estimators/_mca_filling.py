"""Missing categories filled: shares of levels where a cell should be."""

import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.estimators._categories import Coded, Soft
from mercer.estimators._held import held_rows
from mercer.estimators._mixed_axes import MixedAxes, fuzzy
from mercer.estimators._mixed_table import mixed


def filler_of(X: Any, rank: int, weights: Array | None) -> MixedAxes:
    """Return the axes that tell what missing categories are expected to be.

    Regularised iterative MCA [Audigier2016]_: factor analysis of mixed data without numbers
    has the axes of multiple correspondence analysis.

    Parameters
    ----------
    X : frame or array of shape (n, Q)
        Rows with missing cells.
    rank : int
        Axes.
    weights : array of shape (n,) or None
        Repeat counts of the rows.
    """
    from mercer.estimators.famd import FAMD

    width = mixed(held_rows(X)).shape[1]
    model = FAMD(rank, categorical=range(width), missing="fill")
    found: MixedAxes = model.fit(X, sample_weight=weights)._axes
    return found


def softened(coded: Coded, X: Any, filler: MixedAxes, unseen: str) -> Coded:
    """Return a coded table whose missing cells hold shares of levels, which sum to one.

    Parameters
    ----------
    coded : Coded
        The rows; missing cells have the code -1.
    X : frame or array of shape (n, Q)
        The same rows as they were given.
    filler : MixedAxes
        From `filler_of`.
    unseen : str
        "raise" or "passive".
    """
    table = mixed(held_rows(X), range(coded.shape[1]))
    holes = table.gaps()
    rows = np.flatnonzero(holes.any(axis=1))
    if rows.size == 0:
        return coded
    assert filler.filling is not None
    observed = filler.observed(table, unseen)[rows]
    expected = fuzzy(filler.filling, filler.frame, observed, holes[rows])
    soft = [Soft(at, rows[holes[rows, at]], shares) for at, shares in expected.items()]
    return dataclasses.replace(coded, soft=tuple(soft))
