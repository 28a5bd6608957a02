"""The eigenproblem of kernel PCA: what a path is asked for, and what it gives back.

What is done about negative eigenvalues of a centred kernel matrix.
"""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mercer.arrays import (
    EPS,
    Array,
    eigh_in_place,
    interruptible,
    is_few,
    leading_eigh,
    quiet_blas,
)
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators.kernel._row_samples import spread_evenly
from mercer.kernels import Kernel, Precomputed, evidence
from mercer.operators import KernelMatrix
from mercer.selection import share
from mercer.solvers import Certificate, Goal, Spectrum, fix_signs

if TYPE_CHECKING:
    from mercer.estimators.kernel._landmark_model import LandmarkChoice, LandmarkModel
    from mercer.estimators.linear.pca import PCA

POLICIES = ("raise", "clip", "flip", "shift")
_TOLERATED = 1e-3  # negative share up to which they are taken for noise
_LOOKED_AT = 2000  # rows of a sample
_GLANCED_AT = 500  # where negative eigenvalues are expected, and only counted


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
class Signs:
    """How negative eigenvalues enter: Σ|λ⁻|/Σ|λ| and what the policy made of them.

    Attributes
    ----------
    negative_share : float
        Σ|λ⁻|/Σ|λ|, of a sample of rows where not all eigenvalues were found.
    mass : float or None
        Σ|λ| where that is not the trace.
    flipped : ndarray of shape (k,) or None
        The signs of eigenvalues that count by their modulus.
    image : ndarray of shape (n, k) or None
        K̃U, from which the training coordinates come.
    """

    negative_share: float = 0.0
    mass: float | None = None
    flipped: Array | None = None
    image: Array | None = None

    @classmethod
    def sampled(cls, task: Task, trace: float) -> "Signs":
        """Return that of a large matrix, of which a sample was looked at.

        With Σλ = `trace` and the negative share s of the sample, Σ|λ| is about trace/(1 - 2s).
        """
        if task.kernel.flag.centred:
            return cls()
        rows = task.rows
        most = _GLANCED_AT if task.expected else _LOOKED_AT
        if task.weights is not None or task.expected:  # as they stand in the repeated rows
            at = spread_evenly(task.n, task.weights, most)
            rows = rows[at][:, at] if isinstance(task.kernel, Precomputed) else rows[at]
        found = evidence(task.kernel, rows)
        _judge(found.negative_share, task, f"on a sample of {found.rows:,} rows")
        part = found.negative_share
        return cls(part, trace / (1 - 2 * part) if 0 < part < 0.5 else None)

    def directions(self, k: int) -> Array:
        """Return the signs (k,) that the projection of new rows takes."""
        return np.ones(k) if self.flipped is None else self.flipped[:k]


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
    columns : ndarray of shape (m,) or None
        Which columns of a matrix that is given they are.
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
    columns: Array | None = None
    middle: float = 0.0
    trace_error: float = 0.0

    @property
    def left(self) -> float | None:
        """What landmarks leave of tr K, where there are any."""
        return None if self.landmarks is None else self.landmarks.residual


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
        "the kernel gives values that are not finite, or whose squares are not",
        got=f"{task.kernel!r} on {task.n} rows",
        fix="choose smaller parameters, or divide the data by a constant",
    )


def flips(u: Array, weights: Array | None) -> Array:
    """Return the signs (k,) that make the largest coordinate z = u/√w of each axis positive."""
    z = u
    if weights is not None:
        z = u[weights > 0] / np.sqrt(weights[weights > 0])[:, None]
    return np.where(np.sum(fix_signs(z) * z, axis=0) < 0, -1.0, 1.0)


# -- negative eigenvalues -----------------------------------------------------------------


def settle(op: KernelMatrix, goal: Goal, task: Task) -> tuple[Spectrum, Signs]:
    """Return the leading pairs by LAPACK; the matrix is destroyed.

    All are found where some may be negative, and what becomes of these is the policy.
    """
    policy, wanted = task.indefinite, task.wanted
    n, direction, below = op.shape[0], op.direction, 1.5 * op.frobenius
    if task.kernel.flag.centred and not isinstance(wanted, float) and is_few(wanted + 1, n):
        return _leading(op, goal, int(wanted), below)
    values, vectors = eigh_in_place(op.consume(below))
    values, vectors = values[:-1], vectors[:, :-1]  # the last one is r, moved to -below
    top = float(np.max(np.abs(values), initial=0.0))
    zero = goal.floor.at(top)
    mass = float(np.sum(np.abs(values[np.abs(values) > zero])))
    part = float(-np.sum(values[values < -zero])) / mass if mass > 0 else 0.0
    _judge(part, task, f"of all {n:,} rows")
    order = np.arange(n - 1)
    if policy == "flip":
        order = np.argsort(-np.abs(values), kind="stable")
    raised = float(values.min()) if policy == "shift" and part > 0 else 0.0
    sizes = np.abs(values[order]) if policy == "flip" else values[order] - raised
    if not goal.psd:
        sizes = np.maximum(sizes, 0.0)  # what is left out is a zero, and named one
    # Rows that stand several times have zeros beside these, and a shift raises them all.
    others = -raised * max(task.total - n, 0.0)
    whole = np.append(np.maximum(sizes, 0.0), others)
    k = share(whole, wanted) if isinstance(wanted, float) else int(wanted)
    m = min(k, len(order))
    certificate = Certificate.of(
        sizes[:m],
        sizes[: m + 1],
        np.zeros(m),
        error=goal.error + EPS * (8 + 4 * np.sqrt(n)) * max(top, below),
        tol=goal.tol,
        zero_level=zero,
        psd=True,  # whatever the policy left or made of them
    )
    right = _off(direction, np.ascontiguousarray(vectors[:, order[:m]]))
    total, squares = float(np.sum(values)), float(np.sum(values**2))
    spectrum = Spectrum.of(
        sizes[:m], right, certificate, total=total, passes=1, squares=squares
    ).padded(k)
    seen = values[order[:m]] - raised  # what a projection of the training rows multiplies by
    image = spectrum.right * np.append(seen, np.zeros(k - m))
    flipped = np.append(np.sign(values[order[:m]]), np.ones(k - m))
    return spectrum, Signs(
        negative_share=part,
        mass=None if part == 0 else float(np.sum(whole)) if policy == "shift" else mass,
        flipped=flipped if policy == "flip" else None,
        image=image,
    )


def _leading(op: KernelMatrix, goal: Goal, k: int, below: float) -> tuple[Spectrum, Signs]:
    """Return the k leading pairs of a matrix that has no negative ones, and no others."""
    n, direction = op.shape[0], op.direction
    matrix = op.consume(below)
    total, squares = float(np.trace(matrix)) + below, float(np.vdot(matrix, matrix)) - below**2
    with quiet_blas(n):
        call = partial(leading_eigh, matrix, k + 1, destroy=True)
        values, vectors = interruptible(call, n // 2)  # it takes as long as all of half
    certificate = Certificate.of(
        values[:k],
        values,
        np.zeros(k),
        error=goal.error + EPS * (8 + 4 * np.sqrt(n)) * max(float(values[0]), below),
        tol=goal.tol,
        zero_level=goal.floor.at(float(values[0])),
        psd=True,
    )
    right = _off(direction, vectors[:, :k])
    spectrum = Spectrum.of(
        values[:k], right, certificate, total=total, passes=1, squares=squares
    )
    return spectrum, Signs(image=spectrum.right * values[:k])


def _off(direction: Array, vectors: Array) -> Array:
    """Return unit vectors without what rounding left of r: k(x, y) may be large along it."""
    vectors = vectors - direction[:, None] * (direction @ vectors)[None, :]
    norms = np.linalg.norm(vectors, axis=0)
    return np.asarray(vectors / np.where(norms > 0.5, norms, 1.0))


def _judge(part: float, task: Task, where: str) -> None:
    """Raise or warn about a negative share, as the policy says."""
    if part <= 0:
        return
    got = f"negative share {part:.2g} {where}, {task.kernel!r}"
    if task.indefinite == "raise" and part > _TOLERATED:
        raise InputError(
            "the centred kernel matrix has negative eigenvalues: it is no matrix of products",
            got=got,
            fix='use a positive definite kernel, or indefinite="clip", "flip" or "shift"',
        )
    if task.expected and task.indefinite != "shift":
        return
    done = {
        "raise": "negative eigenvalues are left out as noise",
        "clip": "negative eigenvalues are left out",
        "flip": "negative eigenvalues count by their modulus",
        "shift": "all eigenvalues are shifted; transform(X) of training rows then differs"
        " from fit_transform(X)",
    }[task.indefinite]
    warn(done, got=got, fix="choose a positive definite kernel", category=DataWarning)
