"""What the eigenvalues of an indicator become: Burt's squares and adjusted inertias.

Joint correspondence analysis: the tables that cross two variables, and those alone.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from mercer.arrays import EPS, Array, eigh, leading_eigh
from mercer.errors import AccuracyWarning, DataWarning, InputError, warn
from mercer.estimators.categories._indicator_table import Categories
from mercer.operators import Dense
from mercer.solvers import Certificate, Exact, Floor, Goal, Spectrum

Map = Callable[[Array], Array]


@dataclasses.dataclass(frozen=True, eq=False)
class Inertias:
    """The inertias that a fit reports.

    Attributes
    ----------
    eigenvalues : array of shape (k,)
        Of the axes.
    total : float
        What shares are taken of.
    levels : array of shape (J,)
        The part of the total that each level brings.
    squares : array of shape (J,)
        Mass times squared distance of each level, in the space where its cos² is taken.
    """

    eigenvalues: Array
    total: float
    levels: Array
    squares: Array

    @property
    def ratio(self) -> Array:
        """The shares of the axes (k,)."""
        return self.eigenvalues / self.total if self.total > 0 else 0 * self.eigenvalues


def kind_of(table: str, correction: str | None) -> str:
    """Return which inertias are reported: indicator, burt, benzecri, greenacre or joint."""
    if correction is not None:
        return correction
    return "greenacre" if table == "adjusted" else table


def map_of(kind: str, q: int) -> Map:
    """Return what an eigenvalue λ of the indicator becomes.

    Burt: λ². Adjusted, by Benzécri or Greenacre: (Q/(Q - 1)·(λ - 1/Q))² for λ > 1/Q, else 0.
    """
    if kind == "indicator":
        return lambda values: values
    if kind in ("burt", "joint"):
        return np.square
    if q < 2:
        raise InputError(
            "adjusted inertias compare variables: one alone has none",
            got=f"n_features = {q} that varies, inertias by {kind!r}",
            fix='pass at least two variables, or correction=None and table="indicator"',
        )
    return lambda values: (q / (q - 1) * np.maximum(values - 1 / q, 0.0)) ** 2


def beyond_one(values: Array, q: int) -> int:
    """Return how many eigenvalues exceed 1/Q, what a single variable brings.

    1/Q itself is a frequent value, of axes of one variable only: rounding must not count it.
    """
    return int(np.count_nonzero(values > (1 + 1e-9) / q))


def inertias(kind: str, values: Array, made: Categories) -> Inertias:
    """Return the inertias of the axes, their total, and that of every level.

    Greenacre's total is the mean inertia of the tables that cross two variables,
    Q/(Q - 1)·(Σλ² - Σ_q‖diagonal block‖²); with all levels the blocks hold (J - Q)/Q².
    Benzécri's total is the sum of all adjusted inertias, computed as axes or not.

    Parameters
    ----------
    kind : str
        See `kind_of`.
    values : array of shape (k,)
        Leading eigenvalues of the indicator.
    made : Categories
        The matrix.
    """
    active, q = made.active, made.active.q
    if kind == "indicator":
        levels = made.inertias
        return Inertias(values, made.total, levels, levels)
    found = map_of(kind, q)(values)
    square: Array = made.settled.get("joint_square", made.square)
    if kind in ("burt", "joint"):
        levels = np.sum(square**2, axis=1)
        return Inertias(found, float(np.sum(levels)), levels, levels)
    every, vectors = eigh(square)
    count = beyond_one(every, q)
    adjusted = map_of(kind, q)(every[:count])
    within = vectors[:, :count] ** 2 @ adjusted
    if kind == "benzecri":
        return Inertias(found, float(np.sum(adjusted)), within, within)
    apart = active.owner[:, None] != active.owner
    levels = q / (q - 1) * np.sum(square**2, axis=1, where=apart)
    return Inertias(found, float(np.sum(levels)), levels, within)


def mapped(certificate: Certificate, values: Array, rule: Map) -> Certificate:
    """Return the certificate of eigenvalues after a rising, convex map.

    Ends of intervals go through the map; sines of axes stay, for the axes are the same.
    """
    gap = rule(values) - rule(np.maximum(values - certificate.gap, 0.0))
    lower, upper = (rule(np.maximum(x, 0.0)) for x in (certificate.lower, certificate.upper))
    level = max(float(rule(np.array(certificate.zero_level))), np.finfo(float).tiny)
    return dataclasses.replace(
        certificate.between(rule(values), lower, upper, zero_level=level),
        gap=gap,
        residual=certificate.sine * gap,
        next_upper=float(rule(np.maximum(certificate.next_upper, 0.0))),
    )


_STEPS = 2000
_CHANGE = 1e-9  # of the blocks, beside the whole matrix, at which the iteration ends


@dataclasses.dataclass(frozen=True)
class Joint:
    """How the iteration of joint correspondence analysis ended.

    Attributes
    ----------
    steps : int
        Eigenproblems that were solved.
    converged : bool
        Whether the diagonal blocks stand still.
    change : float
        The last change of the blocks, as a share of the matrix.
    share : float
        Of the inertia of all tables that cross two variables, what the k axes rebuild
        together.
    bounded : int
        Variables that k axes would say more of than there is: their blocks stand at the
        largest that a variable can have with itself.
    """

    steps: int
    converged: bool
    change: float
    share: float
    bounded: int = 0


def joint(square: Array, owner: Array, k: int) -> tuple[Array, Joint]:
    """Return the matrix whose diagonal blocks are what k axes rebuild, and how it was found.

    S (J, J) is the Burt matrix of the analysis. Blocks that cross a variable with itself are
    replaced by those of Ŝ = Σ_{i ≤ k} σ_i v_iv_iᵀ until they stand still: then the axes fit
    the other blocks by least squares. No eigenvalue of a block may exceed 1/Q, which is the
    block of a variable with itself: without that bound there need be no best fit.

    Parameters
    ----------
    square : array of shape (J, J)
        S.
    owner : int array of shape (J,)
        The variable of each level.
    k : int
        Axes.
    """
    own = owner[:, None] == owner
    now, size = square.copy(), float(np.linalg.norm(square))
    order = len(square)
    whole = float(np.sum(square[~own] ** 2))
    if whole <= (4 * order * EPS * size) ** 2:
        return _nothing(now)
    change, steps = np.inf, 0
    while change > _CHANGE and steps < _STEPS:
        values, vectors = leading_eigh(now, k)
        fitted = (vectors * np.maximum(values, 0.0)) @ vectors.T
        blocks, bounded = _bounded(fitted, owner)
        change = float(np.linalg.norm((blocks - now)[own])) / size
        now[own] = blocks[own]
        steps += 1
    rest = float(np.sum((square - fitted)[~own] ** 2))
    found = Joint(steps, change <= _CHANGE, change, 1 - rest / whole, bounded)
    if not found.converged:
        warn(
            "joint correspondence analysis has not come to rest",
            got=f"after {steps} steps the diagonal blocks still change by {change:.1e}",
            fix='ask for fewer axes, or take table="adjusted"',
            category=AccuracyWarning,
        )
    return now, found


def _bounded(fitted: Array, owner: Array) -> tuple[Array, int]:
    """Return the matrix with blocks of at most 1/Q, and how many had more."""
    q = int(owner.max()) + 1
    found, count = fitted.copy(), 0
    for variable in range(q):
        at = np.flatnonzero(owner == variable)
        block = fitted[np.ix_(at, at)]
        if np.trace(block) <= 1 / q:
            continue
        values, vectors = np.linalg.eigh(block)
        if values[-1] > (1 + 1e-9) / q:
            found[np.ix_(at, at)] = (vectors * np.clip(values, 0.0, 1 / q)) @ vectors.T
            count += 1
    return found, count


def _nothing(square: Array) -> tuple[Array, Joint]:
    """Return a matrix of zeros: no table that crosses two variables holds inertia."""
    warn(
        "no variable says anything of another: joint axes have no inertia",
        got=f"tables that cross two of {len(square)} levels are exactly independent",
        fix='see table="indicator" for what each variable brings by itself',
        category=DataWarning,
    )
    return np.zeros_like(square), Joint(0, True, 0.0, 0.0)


def joint_pairs(square: Array, k: int, tol: float, seed: int) -> Spectrum:
    """Return the k leading pairs of a symmetric matrix, which may have negative ones."""
    order = len(square)
    size = float(np.linalg.norm(square))
    unit = 4 * order * EPS
    goal = Goal(k, tol, Floor(unit, unit * size), None, EPS * 8 * size, seed)
    return Exact().solve(Dense(square, symmetric=True), goal)
