"""The fitted attributes of multiple correspondence analysis.

How many axes of categories are beyond chance: tables whose columns are permuted.
"""

import dataclasses
import math

import numpy as np

from mercer.arrays import Array, eigvalsh
from mercer.diagnostics import read_levels, spread_of, v_tests
from mercer.errors import NotSupportedError
from mercer.estimators.categories._adjusted_inertias import beyond_one, inertias, map_of, mapped
from mercer.estimators.categories._category_codes import Coded
from mercer.estimators.categories._indicator_table import Active, Categories, along, distances
from mercer.estimators.counts._count_map import inverse
from mercer.selection import Choice, Rule
from mercer.solvers import Spectrum

DRAWS = 39
_FEW_DRAWS = 20
_LEVEL = 0.95
_PAIRS = 1e7  # pairs of cells to count beyond which fewer tables are drawn
_ROWS = 5e6
_ORDER = 3000


def choice_of_axes(values: Array, made: Categories, seed: int) -> Choice:
    """Return how many eigenvalues exceed the largest of permuted columns.

    Every column is shuffled on its own: shares stay, association goes. The first eigenvalue
    must be among the 5 % largest of itself and the first ones of the tables drawn: of 39 it
    may be below one. Behind i axes that are there chance has i dimensions less, and its
    largest eigenvalue is smaller as (√(n-1-i) + √(J-Q-i))²; the i-th of the tables drawn is
    no measure for it, and would call the first of chance behind a real one real. The draws
    depend on the table, so that tables of a shape are not all held against the same ones.

    Parameters
    ----------
    values : array of shape (k,)
        Leading eigenvalues of the indicator.
    made : Categories
        The matrix.
    seed : int
        Of the draws.
    """
    null = permuted(made.active, made.active.axes, None, _own_seed(values, seed))
    n, most = made.active.coded.shape[0], null.shape[1]
    first = np.sort(null[:, 0])[math.ceil(_LEVEL * (len(null) + 1)) - 1] if most else 0.0
    left = np.arange(most)
    rows = max(round(made.active.total) - 1, most)
    size = (np.sqrt(rows - left) + np.sqrt(most - left)) ** 2
    edge = first * size / (size[0] if most else 1.0)
    known = values[: len(edge)]
    below = np.flatnonzero(known <= edge[: len(known)] * (1 + 1e-9))
    k = int(below[0]) if len(below) else len(known)
    q = made.active.q
    rules = (
        Rule("permuted columns", k, "larger than with every column permuted on its own"),
        Rule("above 1/Q", beyond_one(values, q), "more than one variable alone brings"),
    )
    return Choice(k, rules, np.ones(1), f"all {n:,} rows, {len(null)} draws")


def _own_seed(values: Array, seed: int) -> list[int]:
    """Return a seed that tables have to themselves, and keep when rows change places."""
    digits = np.round(np.asarray(values[:8], np.float64) * 1e6).astype(np.int64)
    return [seed, *(int(digit) & 0xFFFFFFFF for digit in digits)]


def permuted(active: Active, axes: int, draws: int | None, seed: int | list[int]) -> Array:
    """Return eigenvalues (draws, axes) of tables with the same counts of levels, permuted.

    Parameters
    ----------
    active : Active
        Counts of the levels, weights counted; codes and weights are not looked at.
    axes : int
        Eigenvalues of each table.
    draws : int or None
        Tables; None is 39, and 20 where a table is large.
    seed : int or list of int
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


def fitted_state(spectrum: Spectrum, made: Categories, kind: str) -> dict[str, object]:
    """Return the fitted attributes from the leading pairs of AᵀA.

    Parameters
    ----------
    spectrum : Spectrum
        Pairs; as many are kept as the certificate has.
    made : Categories
        The matrix.
    kind : str
        Which inertias: see `kind_of`.
    """
    k = len(spectrum.certificate.lower)
    active, masses, q = made.active, made.active.masses, made.active.q
    values = np.maximum(spectrum.values[:k], 0.0)
    values = np.where(values > spectrum.certificate.zero_level, values, 0.0)
    right = np.asarray(spectrum.right[:, :k]) * (values > 0)
    found = inertias(kind, values, made)
    standard = right / np.sqrt(masses)[:, None]
    columns = standard * np.sqrt(found.eigenvalues)
    whole = np.zeros((len(active.kept), k))
    whole[active.kept] = standard
    origin = masses @ standard
    # Where every level of a variable counts, its part of the origin is rounding only.
    rows = along(active.coded, whole, q, origin)
    stretch = np.ones(k)
    if kind in ("benzecri", "greenacre"):
        stretch = np.sqrt(found.eigenvalues) * inverse(np.sqrt(values))
    share = found.ratio
    joint = made.settled.get("joint_")
    if joint is not None and share.sum() > 0:
        share = joint.share * found.eigenvalues / found.eigenvalues.sum()
    weights = active.masses_of_rows
    return {
        "eigenvalues_": found.eigenvalues,
        "explained_variance_ratio_": share,
        "total_inertia_": found.total,
        "n_components_": k,
        "row_masses_": weights,
        "column_masses_": masses,
        "row_coordinates_": rows * stretch,
        "column_coordinates_": columns,
        "column_standard_": standard,
        "column_contributions_": right**2,
        "column_cos2_": _shares(masses[:, None] * columns**2, found.squares),
        "column_inertias_": found.levels,
        "column_names_": active.labels,
        "row_names_": None if active.coded.rows is None else list(active.coded.rows),
        "variables_": active.names,
        "variable_contributions_": _by_variable(right**2, active.owner, q),
        "certificate_": mapped(spectrum.certificate, values, map_of(kind, q)),
        **_tests(made, rows),
        "_variables": active.coded.variables,
        "_standard": whole,
        "_origin": origin,
        "_stretch": stretch,
        "_indicator_values": values,
        "_distances": distances(active),
        "_total": active.total,
        "_kept": active.kept,
        "_counts": active.counts,
        "_axes": active.axes,
        "_kind": kind,
    }


def _tests(made: Categories, rows: Array) -> dict[str, Array]:
    """Return η² of the variables and v-tests of the levels."""
    active = made.active
    weights = active.masses_of_rows
    variance, spread = weights @ rows**2, spread_of(weights, rows)
    ends = active.coded.offsets
    eta2, tests = [], np.full((len(active.kept), rows.shape[1]), np.nan)
    for at in np.flatnonzero(active.varying).tolist():
        codes, size = active.coded.codes[:, at], len(active.coded.variables[at])
        shares, means, ratio = read_levels(codes, size, weights, rows, spread)
        eta2.append(ratio)
        found = v_tests(means, shares * active.total, active.total, variance)
        tests[ends[at] : ends[at + 1]] = found
    return {"eta2_": np.array(eta2), "v_tests_": tests[active.kept]}


def _by_variable(parts: Array, owner: Array, q: int) -> Array:
    found = np.zeros((q, parts.shape[1]))
    np.add.at(found, owner, parts)
    return found


def _shares(parts: Array, squares: Array) -> Array:
    return np.minimum(parts * inverse(squares)[:, None], 1.0)
