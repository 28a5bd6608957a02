"""The kernel that distances make, -½D∘D: its leading pairs, and the place of new points."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array, Tiles
from mercer.errors import InputError
from mercer.estimators.kernel._eigenproblem import KernelFound, Task
from mercer.estimators.kernel._kernel_rows import most_components
from mercer.estimators.kernel._matrix_paths import of_matrix
from mercer.estimators.manifold._embedding import Embedding
from mercer.kernels import Precomputed
from mercer.operators import KernelMatrix, given_kernel_matrix
from mercer.planning import Path
from mercer.solvers import Spectrum
from mercer.sources import Source

_ROWS = 512  # of a matrix that are looked at in one go
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
    """

    dual: Array
    means: Array
    level: Array

    def of(self, squared: Array) -> Array:
        """Return coordinates (r, k) from squared distances (r, m), which are overwritten."""
        np.subtract(self.means, squared, out=squared)
        squared *= 0.5
        return np.asarray(squared @ self.dual - self.level)


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


def halved_squares(distances: Array) -> Array:
    """Return -½D∘D, written over the distances (n, n)."""
    with np.errstate(over="ignore", under="ignore"):  # what is not finite is told later
        np.multiply(distances, distances, out=distances)
        distances *= -0.5
    return distances


def placed(
    kernel: Array, path: Path, asked: PlacingTask
) -> tuple[Spectrum, KernelFound, Placing]:
    """Return the leading pairs of HKH for K = -½D∘D, and what places new points.

    Parameters
    ----------
    kernel : ndarray of shape (n, n)
        K, float64; LAPACK's path overwrites it.
    path : Path
        lapack or stored.
    asked : PlacingTask
        How many pairs, and what to do about negative ones.
    """
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
    return spectrum, found, Placing(dual, means, np.zeros(k))


def described(spectrum: Spectrum, found: KernelFound) -> dict[str, object]:
    """Return the fitted attributes that every embedding by distances has."""
    certificate = spectrum.certificate
    k = len(certificate.lower)
    values = np.maximum(spectrum.values[:k], 0.0)
    assert found.coordinates is not None
    return {
        "embedding_": found.coordinates[:, :k],
        "eigenvalues_": values * found.signs.directions(k),
        "explained_variance_": values / (found.total - 1),
        "explained_variance_ratio_": values / found.trace,
        "negative_share_": found.signs.negative_share,
        "certificate_": certificate,
        "n_components_": k,
        "rank_": int(np.sum(values > certificate.zero_level)),
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
    """Refuse distances that are all zero, or whose squares leave the range of float64."""
    n, largest = op.shape[0], op.sums.largest
    if not np.isfinite(op.sums.squares):
        raise InputError(
            "the squares of these distances are too large to be added up",
            got=f"{n} points, half a squared distance of {largest:.3g}",
            fix="divide the distances by a constant",
        )
    if largest == 0 or op.sums.squares == 0:
        raise InputError(
            "all points lie in one place: no direction has length",
            got=f"{n} points, every squared distance zero",
            fix="pass points that differ; multiply distances below 1e-160 by a constant",
        )
