"""What a kernel component is made of: the columns that move it, and the rows that show it."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mercer.arrays import EPS, Array, Tiles
from mercer.errors import InputError
from mercer.estimators.kernel._fitted_kernel import FittedKernel
from mercer.estimators.kernel._known_rows import known, numbered
from mercer.estimators.kernel._projection import Projection
from mercer.estimators.kernel._row_samples import dense
from mercer.kernels import RBF, Linear
from mercer.sources import scan

_STEP = EPS ** (1 / 3)  # in standard deviations: rounding and curvature cost alike
_CELL_STEPS = 2.0**12  # steps of the grid of numbers that a difference is taken over
_CELLS = 2**21  # numbers of a block of rows by training rows


@dataclasses.dataclass(frozen=True)
class Attributions:
    """How much every column moves every component; ``np.asarray`` gives the shares.

    Attributes
    ----------
    shares : ndarray of shape (k, p)
        Amounts divided by their sum: every row adds up to one, or is zero where no column
        moves the component.
    amounts : ndarray of shape (k, p)
        By the gradient: root mean square of ∂z_j/∂x_f, times the standard deviation of
        column f. By permutation: ½·mean (change of z_j)²/var z_j.
    features : tuple of str
        The names of the columns.
    method : str
        "gradient" or "permutation".
    """

    shares: Array
    amounts: Array
    features: tuple[str, ...]
    method: str

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.shares, dtype)

    def top(self, n: int = 3) -> list[list[tuple[str, float]]]:
        """Return the n columns of largest share for every component, with that share."""
        order = np.argsort(-self.shares, axis=1, kind="stable")[:, :n]
        return [
            [(self.features[f], float(shares[f])) for f in columns]
            for columns, shares in zip(order, self.shares, strict=True)
        ]


@dataclasses.dataclass(frozen=True)
class Prototypes:
    """Training rows, by number, that show what every component tells apart.

    Attributes
    ----------
    largest, smallest, nearest_zero : ndarray of int, shape (k, n)
        Rows with the largest, the smallest and the most ordinary coordinates, the clearest
        first.
    """

    largest: Array
    smallest: Array
    nearest_zero: Array


def prototypes(fitted: FittedKernel, n: int) -> Prototypes:
    """Return the n training rows of each kind; all where there are fewer."""
    if n < 1:
        raise InputError(
            "prototypes are at least one row of each kind", got=f"n={n}", fix="pass n=1 or more"
        )
    seen, scores = numbered(fitted)

    def first(keys: Array) -> Array:
        return seen[np.argsort(keys, axis=0, kind="stable")[:n].T]

    return Prototypes(first(-scores), first(scores), first(np.abs(scores)))


def refuse_method(method: str) -> None:
    """Refuse a method of attribution that there is not."""
    if method not in ("gradient", "permutation"):
        raise InputError(
            f"there is no method {method!r} of attribution",
            got=f"method={method!r}",
            fix='pass method="gradient" or method="permutation"',
        )


def by_gradient(fitted: FittedKernel, rows: Array, names: Array | None) -> Attributions:
    """Return √(mean (∂z_j/∂x_f)²)·sd_f over dense rows as the kernel sees them."""
    return _shared(
        np.sqrt(_mean_squared_gradients(fitted, rows)) * _spread(fitted), names, "gradient"
    )


def _shared(amounts: Array, names: Array | None, method: str) -> Attributions:
    total = amounts.sum(axis=1, keepdims=True)
    shares = np.divide(amounts, total, out=np.zeros_like(amounts), where=total > 0)
    given = [f"x{f}" for f in range(amounts.shape[1])] if names is None else names
    return Attributions(shares, amounts, tuple(map(str, given)), method)


# -- gradients ----------------------------------------------------------------------------


def _mean_squared_gradients(fitted: FittedKernel, rows: Array) -> Array:
    """Return mean (∂z_j/∂x_f)² over rows, (k, p), of rows as the kernel sees them."""
    engine = fitted.engine
    if isinstance(fitted.own, RBF) and engine is None:
        return _gaussian_gradients(fitted, fitted.own, rows)
    found = np.zeros((fitted.components, rows.shape[1]))
    if isinstance(fitted.own, Linear) and engine is not None:
        found[: len(engine.components_)] = engine.components_**2
        return found
    project = _smooth(fitted)
    spread = _spread(fitted)
    # Far from zero the grid of numbers is coarse; a step must be many of its cells.
    step = np.maximum(_STEP * spread, _CELL_STEPS * np.spacing(np.abs(rows).max(axis=0)))
    for f in np.flatnonzero(spread):
        ends = []
        for sign in (1, -1):
            moved = rows.copy()
            moved[:, f] += sign * step[f]
            ends.append((project(moved), moved[:, f]))
        (up, high), (down, low) = ends  # the steps as they were rounded
        found[:, f] = np.mean(((up - down) / (high - low)[:, None]) ** 2, axis=0)
    return found


def _gaussian_gradients(fitted: FittedKernel, kernel: RBF, rows: Array) -> Array:
    """Return the same by the formula ∂z_j/∂x_f = Σ_i B_ij k(x, x_i)(x_if - x_f)/ℓ_f²."""
    rows_known = known(fitted)
    about, origin = rows_known.centred
    squares = np.asarray(kernel.lengthscale) ** 2
    found = np.zeros((fitted.components, rows.shape[1]))
    for part in Tiles(len(rows), max(1, _CELLS // about.shape[0])):
        x = rows[part] - origin
        k = kernel.block(x, about)
        for j in range(len(found)):
            terms = k * rows_known.dual[:, j]
            slope = np.asarray(terms @ about) - terms.sum(axis=1)[:, None] * x
            found[j] += np.sum((slope / squares) ** 2, axis=0)
    return found / max(1, len(rows))


def _smooth(fitted: FittedKernel) -> Callable[[Array], Array]:
    """Return the projection of float64 rows in float64, less a constant."""
    if fitted.engine is not None:
        engine, phi, k = fitted.engine, fitted.phi, fitted.components
        assert phi is not None

        def through(rows: Array) -> Array:
            found = np.asarray(engine._project(scan(phi(rows))), np.float64)
            return np.pad(found, ((0, 0), (0, max(k - found.shape[1], 0))))

        return through
    rows, dual = fitted.known_rows, np.asarray(fitted.known_dual, np.float64)
    return Projection(fitted.own, rows.astype(np.float64), dual).products


def _spread(fitted: FittedKernel) -> Array:
    """Return the standard deviations (p,) of the known rows, as the kernel sees them."""
    mean = _averaged(fitted, lambda block: block)
    return np.sqrt(_averaged(fitted, lambda block: (block - mean) ** 2))


def _averaged(fitted: FittedKernel, of: Callable[[Array], Array]) -> Array:
    """Return Σπ_i f(x_i) (p,), block by block."""
    rows, share = fitted.known_rows, fitted.known_share
    total = np.zeros(rows.shape[1])
    for part in Tiles(rows.shape[0], max(1, _CELLS // max(1, rows.shape[1]))):
        total += share[part] @ of(dense(rows[part]))
    return total


# -- permutations -------------------------------------------------------------------------


def by_permutation(
    fitted: FittedKernel, rows: Array, names: Array | None, n_repeats: int, random_state: Any
) -> Attributions:
    """Return ½·mean (change of z_j)²/var z_j over shuffles of each column of dense rows."""
    if len(rows) < 2 or n_repeats < 1:
        raise InputError(
            "a column is shuffled at least once, among at least two rows",
            got=f"{len(rows)} rows, n_repeats={n_repeats}",
            fix="pass more rows, or n_repeats=5",
        )
    random, project = check_random_state(random_state), _smooth(fitted)
    z = project(rows)
    variance = np.var(z, axis=0)
    found = np.zeros((z.shape[1], rows.shape[1]))
    for f in range(rows.shape[1]):
        for _ in range(n_repeats):
            moved = rows.copy()
            moved[:, f] = rows[random.permutation(len(rows)), f]
            found[:, f] += np.mean((project(moved) - z) ** 2, axis=0)
    alive = variance > EPS * np.max(variance, initial=0.0)
    scale = 2 * n_repeats * np.where(alive, variance, 1.0)
    return _shared(found * (alive / scale)[:, None], names, "permutation")
