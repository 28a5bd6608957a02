"""The eigenproblem of kernel PCA: what a path is asked for, and what it gives back."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators.kernel._indefinite_kernels import Signs
from mercer.kernels import Kernel
from mercer.solvers import Certificate, fix_signs

if TYPE_CHECKING:
    from mercer.estimators.kernel._landmark_model import LandmarkChoice, LandmarkModel
    from mercer.estimators.linear.pca import PCA


@dataclasses.dataclass(frozen=True)
class Task:
    """What the estimator asks of a path.

    `landmarks` says which are wanted, where any are; `start` (n, b) are axes found before,
    from which an iteration goes on, and `values` (m,), descending, are lower bounds on the
    eigenvalues that are known already. `auto` leaves the number to PCA of the features.
    `expected` says that negative eigenvalues are no surprise: they are counted, not warned of.
    """

    kernel: Kernel
    rows: Array
    weights: Array | None
    wanted: int | float
    indefinite: str
    tol: float
    memory: int
    time: float | None
    seed: int
    landmarks: "LandmarkChoice | None" = None
    start: Array | None = None
    values: Array | None = None
    auto: bool = False
    expected: bool = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.rows.shape[0])

    @property
    def total(self) -> float:
        """Σw, the number of rows as counted."""
        return float(self.n if self.weights is None else np.sum(self.weights))


@dataclasses.dataclass(frozen=True)
class KernelFound:
    """What a path learns beside the pairs.

    Attributes
    ----------
    total : float
        Σw.
    trace : float
        tr K̃, or Σ|λ| of an indefinite matrix.
    effective_rank : float
        (tr K̃)²/‖K̃‖²_F.
    level : ndarray of shape (k,)
        c₀ = BᵀKπ, taken from every new coordinate.
    coordinates : ndarray of shape (n, k)
        Training coordinates, projected as new rows are, not finite for rows of weight zero;
        None where they are not kept.
    signs : Signs
        What was done about negative eigenvalues.
    engine : PCA or None
        The model of the explicit features.
    phi : callable or None
        The explicit feature map.
    landmarks : LandmarkModel or None
        The model, where the axes are combinations of few rows.
    middle : float
        πᵀKπ, the mean of K, π the shares of the rows.
    trace_error : float
        Bound on the error of `trace`.
    """

    total: float
    trace: float
    effective_rank: float
    level: Array
    coordinates: Array | None
    signs: Signs
    engine: "PCA | None" = None
    phi: Callable[[Array], Array] | None = None
    landmarks: "LandmarkModel | None" = None
    middle: float = 0.0
    trace_error: float = 0.0


def captured_share(
    certificate: Certificate, values: Array, found: KernelFound
) -> tuple[float, float]:
    """Return the interval of the share of the variance that the axes hold together.

    Landmarks: the axes hold exactly V_k of a total between V and V + t, V over all of them,
    each of these up to rounding.
    """
    if found.landmarks is not None:
        held, total = float(np.sum(values)), float(np.sum(found.landmarks.values))
        most, wrong = found.landmarks.residual, found.landmarks.error
        least = max(held - len(values) * wrong, 0.0) / max(total + most + wrong, 1e-300)
        return least, min((held + len(values) * wrong) / max(total - wrong, 1e-300), 1.0)
    lower, upper = np.sum(certificate.lower), np.sum(certificate.upper)
    most, least = found.trace + found.trace_error, found.trace - found.trace_error
    return float(lower / most), float(min(upper / least, 1.0)) if least > 0 else 1.0


def no_variance(kernel: Kernel, trace: float, size: str) -> InputError:
    return InputError(
        "the kernel matrix is constant up to rounding: no direction has variance",
        got=f"tr K̃ = {trace:.3g}, {size}, {kernel!r}",
        fix="choose a shorter lengthscale, or check that the rows differ",
    )


def not_finite(task: Task) -> InputError:
    return InputError(
        "the kernel gives values that are not finite",
        got=f"{task.kernel!r} on {task.n} rows",
        fix="choose smaller parameters, or divide the data by a constant",
    )


def flips(u: Array, weights: Array | None) -> Array:
    """Return the signs (k,) that make the largest coordinate z = u/√w of each axis positive."""
    z = u
    if weights is not None:
        z = u[weights > 0] / np.sqrt(weights[weights > 0])[:, None]
    return np.where(np.sum(fix_signs(z) * z, axis=0) < 0, -1.0, 1.0)
