"""What a kernel component is made of: the columns that move it, and the rows that show it."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import EPS, Array, Tiles
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.kernel._decoder import dense
from mercer.estimators.kernel._kernel_known import KernelKnown
from mercer.estimators.kernel._kernel_projection import Projection
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.kernels import RBF, Kernel, Linear, Precomputed
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


class KernelExplain(KernelKnown):
    """Mixed into kernel PCA: attributions and prototypes."""

    n_components_: int
    _given: Kernel
    _admit: Any
    _projected: Callable[[Any], Array]

    def attributions(
        self,
        X: Any,
        method: str = "gradient",
        *,
        n_repeats: int = 5,
        random_state: Any = 0,
    ) -> Attributions:
        """Return how much every column moves every component, on average over rows.

        "gradient" looks at small changes: √(mean (∂z_j/∂x_f)²) times the standard deviation
        of column f among the training rows; for the linear kernel it is |loading|·sd.
        "permutation" looks at large ones: column f is shuffled, and half of the mean squared
        change of z_j is divided by the variance of z_j, which for independent columns
        estimates the total effect of f [Jansen1999]_.

        Cost: the gradient takes k products of (rows × n) by (n × p) for the Gaussian kernel,
        and 2p projections of X for others; permutation takes n_repeats·p projections. A few
        hundred rows are enough.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows to average over.
        method : {"gradient", "permutation"}
            See above.
        n_repeats : int
            Shuffles of each column.
        random_state : int, RandomState or None
            Decides the shuffles.
        """
        check_is_fitted(self)
        if method not in ("gradient", "permutation"):
            raise InputError(
                f"there is no method {method!r} of attribution",
                got=f"method={method!r}",
                fix='pass method="gradient" or method="permutation"',
            )
        self._refuse_columns()
        source = self._admit(X, reset=False)
        refuse_bad_cells(source, getattr(self, "feature_names_in_", None))
        rows = dense(self._frame.ready(source))
        if method == "gradient":
            amounts = np.sqrt(self._mean_squared_gradients(rows)) * self._spread()
        else:
            amounts = self._permuted(rows, n_repeats, random_state)
        total = amounts.sum(axis=1, keepdims=True)
        shares = np.divide(amounts, total, out=np.zeros_like(amounts), where=total > 0)
        return Attributions(shares, amounts, self._names(rows.shape[1]), method)

    def prototypes(self, n: int = 3) -> Prototypes:
        """Return the training rows with the largest, smallest and most ordinary coordinates.

        A model on landmarks keeps at most 2000 rows, evenly spread, and looks among those.

        Parameters
        ----------
        n : int
            Rows of each kind; all rows where there are fewer.
        """
        check_is_fitted(self)
        if n < 1:
            raise InputError(
                "prototypes are at least one row of each kind",
                got=f"n={n}",
                fix="pass n=1 or more",
            )
        seen, scores = self._placed()

        def first(keys: Array) -> Array:
            return seen[np.argsort(keys, axis=0, kind="stable")[:n].T]

        return Prototypes(first(-scores), first(scores), first(np.abs(scores)))

    # -- gradients --------------------------------------------------------------------

    def _mean_squared_gradients(self, rows: Array) -> Array:
        """Return mean (∂z_j/∂x_f)² over rows, (k, p), of rows as the kernel sees them."""
        if isinstance(self.kernel_, RBF) and self._engine is None:
            return self._gaussian_gradients(rows)
        if isinstance(self.kernel_, Linear) and self._engine is not None:
            found = np.zeros((self.n_components_, rows.shape[1]))
            found[: len(self._engine.components_)] = self._engine.components_**2
            return found
        project = self._smooth()
        spread = self._spread()
        # Far from zero the grid of numbers is coarse; a step must be many of its cells.
        step = np.maximum(_STEP * spread, _CELL_STEPS * np.spacing(np.abs(rows).max(axis=0)))
        found = np.zeros((self.n_components_, rows.shape[1]))
        for f in np.flatnonzero(spread):
            ends = []
            for sign in (1, -1):
                moved = rows.copy()
                moved[:, f] += sign * step[f]
                ends.append((project(moved), moved[:, f]))
            (up, high), (down, low) = ends  # the steps as they were rounded
            found[:, f] = np.mean(((up - down) / (high - low)[:, None]) ** 2, axis=0)
        return found

    def _gaussian_gradients(self, rows: Array) -> Array:
        """Return the same by the formula ∂z_j/∂x_f = Σ_i B_ij k(x, x_i)(x_if - x_f)/ℓ_f²."""
        kernel, known = self.kernel_, self._known()
        assert isinstance(kernel, RBF)
        about, origin = known.centred
        squares = np.asarray(kernel.lengthscale) ** 2
        found = np.zeros((self.n_components_, rows.shape[1]))
        tiles = Tiles(len(rows), max(1, _CELLS // about.shape[0]))
        for number in range(len(tiles)):
            x = rows[tiles[number]] - origin
            k = kernel.block(x, about)
            for j in range(len(found)):
                terms = k * known.dual[:, j]
                slope = np.asarray(terms @ about) - terms.sum(axis=1)[:, None] * x
                found[j] += np.sum((slope / squares) ** 2, axis=0)
        return found / max(1, len(rows))

    def _smooth(self) -> Callable[[Array], Array]:
        """Return the projection of float64 rows in float64, less a constant."""
        if self._engine is not None:
            engine, phi, k = self._engine, self._phi, self.n_components_

            def through(rows: Array) -> Array:
                found = np.asarray(engine._project(scan(phi(rows))), np.float64)
                return np.pad(found, ((0, 0), (0, max(k - found.shape[1], 0))))

            return through
        rows, dual = self._known_rows(), np.asarray(self._known_dual(), np.float64)
        return Projection(self.kernel_, rows.astype(np.float64), dual).products

    def _spread(self) -> Array:
        """Return the standard deviations (p,) of the known rows, as the kernel sees them."""
        mean = self._averaged(lambda block: block)
        return np.sqrt(self._averaged(lambda block: (block - mean) ** 2))

    def _averaged(self, of: Callable[[Array], Array]) -> Array:
        """Return Σπ_i f(x_i) (p,), block by block."""
        rows, share = self._known_rows(), self._known_share()
        total = np.zeros(rows.shape[1])
        tiles = Tiles(rows.shape[0], max(1, _CELLS // max(1, rows.shape[1])))
        for number in range(len(tiles)):
            part = tiles[number]
            total += share[part] @ of(dense(rows[part]))
        return total

    # -- permutations -----------------------------------------------------------------

    def _permuted(self, rows: Array, n_repeats: int, random_state: Any) -> Array:
        """Return ½·mean (change of z_j)²/var z_j, (k, p), over shuffles of each column."""
        if len(rows) < 2 or n_repeats < 1:
            raise InputError(
                "a column is shuffled at least once, among at least two rows",
                got=f"{len(rows)} rows, n_repeats={n_repeats}",
                fix="pass more rows, or n_repeats=5",
            )
        random, project = check_random_state(random_state), self._smooth()
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
        return found * (alive / scale)[:, None]

    # -- names and refusals -----------------------------------------------------------

    def _names(self, p: int) -> tuple[str, ...]:
        names = getattr(self, "feature_names_in_", None)
        return tuple(f"x{f}" for f in range(p)) if names is None else tuple(map(str, names))

    def _refuse_columns(self) -> None:
        if isinstance(self.kernel_, Precomputed) or not self._frame.numeric:
            raise NotSupportedError(
                "there are no columns of numbers that a component could be made of",
                got=f"{self._given!r}",
                fix="fit with a kernel on a table of numbers",
            )
