"""Joint correspondence analysis: the tables that cross two variables, and those alone."""

import dataclasses

import numpy as np

from mercer.arrays import EPS, Array, leading_eigh
from mercer.errors import AccuracyWarning, DataWarning, warn
from mercer.operators import Dense
from mercer.solvers import Exact, Floor, Goal, Spectrum

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
