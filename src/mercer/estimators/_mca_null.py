"""How many axes of categories are beyond chance: tables whose columns are permuted."""

import dataclasses

import numpy as np

from mercer.arrays import Array, eigvalsh
from mercer.errors import NotSupportedError
from mercer.estimators._categories import Coded
from mercer.estimators._mca_inertia import beyond_one
from mercer.estimators._mca_levels import Active
from mercer.estimators._mca_table import Categories
from mercer.selection import Choice, Rule

DRAWS = 39
_FEW_DRAWS = 20
_LEVEL = 0.95
_PAIRS = 1e7  # pairs of cells to count beyond which fewer tables are drawn
_ROWS = 5e6
_ORDER = 3000


def choice_of_axes(values: Array, made: Categories, seed: int) -> Choice:
    """Return how many eigenvalues exceed those of permuted columns, by rank.

    Every column is shuffled on its own: shares stay, association goes. The i-th eigenvalue is
    held against the 95 % quantile of the i-th of the tables drawn; absolute ones, for shares
    of the inertia only say how it is spread.

    Parameters
    ----------
    values : array of shape (k,)
        Leading eigenvalues of the indicator.
    made : Categories
        The matrix.
    seed : int
        Of the draws.
    """
    null = permuted(made.active, made.active.axes, None, seed)
    edge = np.quantile(null, _LEVEL, axis=0)
    known = values[: len(edge)]
    below = np.flatnonzero(known <= edge[: len(known)] * (1 + 1e-9))
    k = int(below[0]) if len(below) else len(known)
    q = made.active.q
    rules = (
        Rule("permuted columns", k, "larger than with every column permuted on its own"),
        Rule("above 1/Q", beyond_one(values, q), "more than one variable alone brings"),
    )
    n = made.active.coded.shape[0]
    return Choice(k, rules, np.ones(1), f"all {n:,} rows, {len(null)} draws")


def permuted(active: Active, axes: int, draws: int | None, seed: int) -> Array:
    """Return eigenvalues (draws, axes) of tables with the same counts of levels, permuted.

    Parameters
    ----------
    active : Active
        Counts of the levels, weights counted; codes and weights are not looked at.
    axes : int
        Eigenvalues of each table.
    draws : int or None
        Tables; None is 39, and 20 where a table is large.
    seed : int
        Of the draws.
    """
    rows = round(active.total)
    if rows > _ROWS or len(active.shares) > _ORDER:
        raise NotSupportedError(
            "so large a table is not permuted",
            got=f"{rows:,} rows, {len(active.shares):,} levels",
            fix="pass a number as n_components, or fit a sample of the rows first",
        )
    rng = np.random.default_rng(seed)
    columns = _written(active, rows)
    if draws is None:
        draws = DRAWS if rows * len(columns) ** 2 <= _PAIRS else _FEW_DRAWS
    counts = Coded(columns.T, active.coded.variables).shares(np.ones(rows))
    base = dataclasses.replace(
        active,
        weights=None,
        total=float(rows),
        counts=counts,
        kept=active.kept & (counts > 0),
    )
    found = np.zeros((draws, axes))
    for draw in range(draws):
        codes = np.stack([rng.permutation(column) for column in columns]).T
        table = dataclasses.replace(base, coded=Coded(codes, active.coded.variables))
        values = eigvalsh(Categories(table).square)[:axes]
        found[draw, : len(values)] = np.maximum(values, 0.0)
    return found


def _written(active: Active, rows: int) -> Array:
    """Return the codes (Q, N) of every variable, each level as often as it counts.

    Weights are repeat counts; cells without a level come last, as -1.
    """
    ends = active.coded.offsets
    columns = np.full((len(ends) - 1, rows), -1, np.int32)
    for at, column in enumerate(columns):
        marks = np.round(np.cumsum(active.counts[ends[at] : ends[at + 1]])).astype(int)
        levels = np.repeat(np.arange(len(marks)), np.diff(marks, prepend=0))[:rows]
        column[: len(levels)] = levels
    return columns
