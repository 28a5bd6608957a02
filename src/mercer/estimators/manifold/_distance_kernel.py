"""The kernel that distances make, -½D∘D: its leading pairs, and the place of new points."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import Array, Tiles, binary_exponent
from mercer.errors import InputError
from mercer.estimators.kernel._eigenproblem import KernelFound, Task
from mercer.estimators.kernel._kernel_rows import most_components
from mercer.estimators.kernel._matrix_paths import of_matrix
from mercer.estimators.linear._principal_axes import warn_of_range
from mercer.estimators.manifold._embedding import Embedding
from mercer.kernels import Precomputed
from mercer.operators import KernelMatrix, given_kernel_matrix
from mercer.planning import Path
from mercer.solvers import Spectrum
from mercer.sources import Source

_ROWS = 512  # of a matrix that are looked at in one go
_REACH = (1e-150, 1e150)  # of the largest distance whose square has its digits
_SAFE = 50  # exponents of distances whose fourth powers stay in range
_ROUNDING = 1e-6  # relative difference of d_ij and d_ji that still counts as rounding


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Placing:
    """Places a point by its distances d to m known ones: z = ½(means - d∘d)·dual - level.

    That is z_i = (1/(2√λ_i))·Σ_j u_ji·(mean_l D²_lj - d_j²), the projection of kernel PCA
    with -½D∘D; constants vanish, because the entries of u_i sum to zero.

    Attributes
    ----------
    dual : ndarray of shape (m, k)
        B = UΛ^-½, zero for axes without length; |Λ| and the sign where those are turned.
    means : ndarray of shape (m,)
        The mean squared distance of each known point.
    level : ndarray of shape (k,)
        What is taken from all coordinates; zero unless all rows are to have the mean zero.
    exponent : int
        All of these are in units of 2^exponent.
    """

    dual: Array
    means: Array
    level: Array
    exponent: int = 0

    def of(self, distances: Array) -> Array:
        """Return coordinates (r, k) from distances (r, m), which are overwritten."""
        if self.exponent:
            np.ldexp(distances, -self.exponent, out=distances)
        np.multiply(distances, distances, out=distances)
        np.subtract(self.means, distances, out=distances)
        distances *= 0.5
        found = np.asarray(distances @ self.dual - self.level)
        return np.ldexp(found, self.exponent) if self.exponent else found


@dataclasses.dataclass(frozen=True)
class PlacingTask:
    """What is wanted of a matrix of distances: see `Task`."""

    wanted: int | float
    indefinite: str
    tol: float
    memory: int
    time: float | None
    seed: int

    @classmethod
    def of(cls, model: Embedding, source: Source, n: int) -> "PlacingTask":
        """Return what a map of n points is asked for."""
        asked = model.n_components
        return cls(
            float(asked) if isinstance(asked, float) else most_components(asked, n),
            model.indefinite,
            model._tolerance(source),
            model._budget(),
            model.time,
            model._seed(),
        )


def unit_of(cells: Array) -> int:
    """Return e so that cells in units of 2^e have fourth powers in range; most often 0."""
    largest = max(float(np.max(cells, initial=0.0)), -float(np.min(cells, initial=0.0)))
    found = binary_exponent(largest)
    return found if abs(found) > _SAFE else 0


def halved_squares(distances: Array) -> Array:
    """Return -½D∘D, written over the distances (n, n), or refuse squares without digits."""
    largest = float(np.max(distances, initial=0.0))
    if 0 < largest < _REACH[0] or largest > _REACH[1]:
        raise InputError(
            "squares of these distances leave the range of float64",
            got=f"{distances.shape[0]} points, the largest distance {largest:.3g}",
            fix="divide the data by a constant",
        )
    with np.errstate(under="ignore"):
        np.multiply(distances, distances, out=distances)
        distances *= -0.5
    return distances


def placed(
    distances: Array, path: Path, asked: PlacingTask
) -> tuple[Spectrum, KernelFound, Placing]:
    """Return the leading pairs of HKH for K = -½D∘D, and what places new points.

    All are in units of 2^exponent, or of its square, with the exponent of the placing.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
        D, float64, overwritten.
    path : Path
        lapack or stored.
    asked : PlacingTask
        How many pairs, and what to do about negative ones.
    """
    exponent = unit_of(distances)
    if exponent:
        np.ldexp(distances, -exponent, out=distances)
    kernel = halved_squares(distances)
    op = given_kernel_matrix(kernel)
    _refuse_still(op)
    means = np.asarray(-2.0 * op.sums.along / op.shape[0] ** 0.5)
    task = Task(Precomputed(), kernel, None, expected=True, **dataclasses.asdict(asked))
    spectrum, found = of_matrix(task, path, op)
    k = len(spectrum.certificate.lower)
    values = np.maximum(spectrum.values[:k], 0.0)
    alive = values > spectrum.certificate.zero_level
    scale = found.signs.directions(k) * alive / np.sqrt(np.where(alive, values, 1.0))
    dual = np.asarray(spectrum.right)[:, :k] * scale
    return spectrum, found, Placing(dual, means, np.zeros(k), exponent)


def described(spectrum: Spectrum, found: KernelFound, exponent: int) -> dict[str, Any]:
    """Return the fitted attributes that every embedding by distances has.

    Pairs and coordinates are in units of 2^exponent; the attributes are in those of the data.
    """
    certificate = spectrum.certificate
    k = len(certificate.lower)
    values = np.maximum(spectrum.values[:k], 0.0)
    alive = values > certificate.zero_level
    assert found.coordinates is not None
    with np.errstate(over="ignore", under="ignore"):
        variances = np.ldexp(values / (found.total - 1), 2 * exponent)
        state = {
            "embedding_": np.ldexp(found.coordinates[:, :k], exponent),
            "eigenvalues_": np.ldexp(values * found.signs.directions(k), 2 * exponent),
            "explained_variance_": variances,
        }
    if exponent:
        certificate = certificate.scaled(1.0, 2 * exponent)
        warn_of_range(variances, values / (found.total - 1), alive, exponent)
    return state | {
        "explained_variance_ratio_": values / found.trace,
        "negative_share_": found.signs.negative_share,
        "certificate_": certificate,
        "n_components_": k,
        "rank_": int(np.sum(alive)),
    }


def refuse_odd_distances(d: Array) -> None:
    """Refuse what cannot be distances (n, n), naming the first place; finite cells only."""
    n, columns = d.shape
    if n != columns:
        raise InputError(
            "a matrix of distances must be square to be fitted",
            got=f"a matrix of shape {d.shape}",
            fix='pass distances of all pairs, or rows with metric="euclidean"',
        )
    refuse_negative(d)
    largest = float(np.max(d, initial=0.0))
    own = np.abs(np.diagonal(d))
    if own.max(initial=0.0) > _ROUNDING * largest:
        i = int(np.argmax(own > _ROUNDING * largest))
        raise InputError(
            "a point has no distance to itself",
            got=f"{d[i, i]:.6g} at row {i}, column {i}",
            fix='pass distances; a matrix of similarities goes to KernelPCA("precomputed")',
        )
    for part in Tiles(n, _ROWS):
        apart = np.abs(d[part] - d[:, part].T)
        if float(apart.max()) > _ROUNDING * largest:
            row, j = np.unravel_index(int(np.argmax(apart)), apart.shape)
            i = part.start + int(row)
            raise InputError(
                "distances must be symmetric: d(x, y) = d(y, x)",
                got=f"{d[i, j]:.6g} at row {i}, column {j}, and {d[j, i]:.6g} the other way",
                fix="pass a symmetric matrix, for example (D + D.T) / 2",
            )


def refuse_negative(d: Array) -> None:
    """Refuse negative distances, naming the first."""
    if float(np.min(d, initial=0.0)) < 0:
        i, j = np.unravel_index(int(np.argmax(d < 0)), d.shape)
        raise InputError(
            "Negative values in data cannot be distances",
            got=f"{d[i, j]:.6g} at row {i}, column {j}",
            fix="pass distances, zero or above",
        )


def _refuse_still(op: KernelMatrix) -> None:
    """Refuse distances that are all zero."""
    if op.sums.largest == 0:
        raise InputError(
            "all points lie in one place: no direction has length",
            got=f"{op.shape[0]} points, every distance zero",
            fix="pass points that differ",
        )
