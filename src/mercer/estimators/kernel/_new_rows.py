"""New rows of a fitted kernel PCA: coordinates, exact or on landmarks, bounds, and novelty."""

import dataclasses
from collections.abc import Callable

import numpy as np

from mercer.arrays import Array, eps_of
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.kernel._fitted_kernel import FittedKernel, in_type
from mercer.estimators.kernel._landmark_model import as_dual
from mercer.estimators.kernel._projection import Projection
from mercer.kernels import Kernel, Linear, Precomputed
from mercer.operators import Landmarks, select
from mercer.planning import start_landmarks
from mercer.sources import scan

_MOST = 4000  # landmarks after which more would not pay
_BLOCK = 4096  # rows projected at a time
_FEATURES = 500_000  # explicit features that are made at a time
_TYPICAL = 512  # training rows on which the bound is tried


@dataclasses.dataclass(frozen=True)
class Shortcut:
    """The way over landmarks for rows whose bound meets `limit`; None: for all of them."""

    compressed: "Compressed"
    limit: Array | None


def shortcut(
    fitted: FittedKernel, tol: float | None, seed: Callable[[], int]
) -> Shortcut | None:
    """Return the way over landmarks, made once; None where rows go the exact way.

    Parameters
    ----------
    fitted : FittedKernel
        Axes that are no combinations of landmarks themselves.
    tol : float or None
        Error allowed, in standard deviations of each component.
    seed : function
        Gives the start of the random numbers, where landmarks are drawn.
    """
    exact = fitted.projection
    if tol is None or fitted.model is not None or fitted.engine is not None or exact is None:
        return None
    if not fitted.seen.flag.centred:
        raise NotSupportedError(
            "rows can be projected on landmarks only for a positive definite kernel",
            got=f"tol_transform={tol} with {fitted.seen!r}",
            fix="set tol_transform=None",
        )
    scale = np.sqrt(fitted.variances)
    if exact.compressed is None:
        slack = axis_slack(fitted)
        exact.compressed = compress(fitted.seen, exact, fitted.level, scale, tol, seed(), slack)
    return Shortcut(exact.compressed, None if np.isinf(tol) else tol * scale)


def axis_slack(fitted: FittedKernel) -> Array:
    """Return how far ‖v_j‖² = bᵀKb may be from 1: rounding of B, and of float32 tiles."""
    bounds, dual = fitted.certificate, fitted.dual
    size = np.maximum(np.abs(fitted.eigenvalues), bounds.zero_level or 1e-300)
    slack = 4 * eps_of(dual.dtype) * np.sqrt(size.max(initial=0.0) / size)
    if dual.dtype == np.float32:
        slack = slack + (bounds.upper - bounds.lower) / size
    return np.asarray(slack)


def projected(fitted: FittedKernel, rows: Array, way: Shortcut | None = None) -> Array:
    """Return Bᵀk_X(x) - c₀ (n, k) of rows as the kernel sees them."""
    if fitted.engine is not None:
        return _through_features(fitted, rows)
    if isinstance(fitted.own, Precomputed):
        found = np.asarray(rows @ fitted.dual) - fitted.level
    elif way is not None:
        found = _over_landmarks(fitted, rows, way)
    else:
        found = _exactly(fitted, rows)
    return in_type(found, fitted.dtype)


def _exactly(fitted: FittedKernel, rows: Array) -> Array:
    assert fitted.projection is not None
    found = fitted.projection.products(rows) - fitted.level
    if not np.isfinite(found).all():
        raise InputError(
            "the kernel is not finite between these rows and those of the fit",
            got=f"{fitted.own!r} on {len(found):,} rows",
            fix="divide the data by a constant, or pass float64 rows",
        )
    return found


def _through_features(fitted: FittedKernel, rows: Array) -> Array:
    assert fitted.engine is not None
    assert fitted.phi is not None
    engine, phi = fitted.engine, fitted.phi
    if isinstance(fitted.seen, Linear) or not isinstance(rows, np.ndarray):
        found = engine._project(scan(phi(rows)))
    else:
        few = max(1, _FEATURES // engine.components_.shape[1])
        found = by_blocks(rows, lambda block: engine._project(scan(phi(block))), few)
    found = in_type(found[:, : fitted.components], fitted.dtype)
    short = fitted.components - found.shape[1]
    return found if short <= 0 else np.pad(found, ((0, 0), (0, short)))


def _over_landmarks(fitted: FittedKernel, rows: Array, way: Shortcut) -> Array:
    """Return coordinates on landmarks where their bound meets the limit, others exactly."""
    if way.limit is None:
        return way.compressed.project(rows)

    def act(block: Array) -> Array:
        found, bound = way.compressed.bounded(block)
        far = np.flatnonzero(np.any(bound > way.limit, axis=1))
        if far.size:
            found[far] = _exactly(fitted, block[far])
        return found

    return by_blocks(rows, act)


def bounds(fitted: FittedKernel, rows: Array, way: Shortcut | None) -> Array:
    """Return bounds (n, k) on what the way over landmarks costs; zeros without one."""
    if way is None:
        return np.zeros((rows.shape[0], fitted.components))
    return by_blocks(rows, lambda block: way.compressed.bounded(block)[1])


def novelty(fitted: FittedKernel, rows: Array, way: Shortcut | None) -> Array:
    """Return k̃(x, x) - ‖z(x)‖² (n,) of rows as the kernel sees them."""
    if isinstance(fitted.own, Precomputed):
        raise NotSupportedError(
            "a matrix k(new, X) does not hold k(x, x) of new rows",
            got=f"novelty with {fitted.own!r}",
            fix="fit with a kernel on rows",
        )

    def left_over(block: Array) -> Array:
        scores = np.asarray(projected(fitted, block, way), np.float64)
        return fitted.unexplained(block, scores)

    return by_blocks(rows, left_over)


@dataclasses.dataclass(frozen=True, eq=False)
class Compressed:
    """z(x) ≈ Gᵀf(x) - c with G = FᵀB, f the landmark features.

    |z_j(x) - exact| ≤ √(1 - ‖G_j‖²)·√r(x): what the landmarks miss of the axis, times what
    they miss of the row.

    Attributes
    ----------
    landmarks : Landmarks
        S and L.
    coefficients : ndarray of shape (m, k)
        G.
    level : ndarray of shape (k,)
        c, which makes landmarks themselves exact.
    missed : ndarray of shape (k,)
        √(1 - ‖G_j‖²) and rounding, zero for axes without variance.
    quick : Projection
        The same as βᵀk_S(x), β = L^-ᵀG, where no bound is asked for; `quick_level` is
        taken from it.
    """

    landmarks: Landmarks
    coefficients: Array
    level: Array
    missed: Array
    quick: Projection
    quick_level: Array

    def bounded(self, rows: Array) -> tuple[Array, Array]:
        """Return coordinates (r, k) and bounds on their errors (r, k)."""
        f, r = self.landmarks.features(rows)
        return f @ self.coefficients - self.level, np.sqrt(r)[:, None] * self.missed

    def project(self, rows: Array) -> Array:
        """Return coordinates (r, k) without bounds: 2m(p + k) flops a row."""
        return self.quick.products(rows) - self.quick_level


def compress(
    kernel: Kernel,
    exact: Projection,
    level: Array,
    scale: Array,
    tol: float,
    seed: int,
    slack: Array,
) -> Compressed:
    """Return a compressed projection whose bound is `tol`·scale for most training rows.

    Parameters
    ----------
    kernel : Kernel
        Positive definite, or conditionally so.
    exact : Projection
        The training rows and B.
    level : ndarray of shape (k,)
        c₀.
    scale : ndarray of shape (k,)
        Standard deviations of the components.
    tol : float
        The error allowed, in units of `scale`; infinity takes the first try.
    seed : int
        Start of the random numbers.
    slack : ndarray of shape (k,), float or None
        How far ‖v_j‖² may be from 1, the axes being what arithmetic made of them; None
        counts the rounding of B.
    """
    rows, n = exact.rows, int(exact.rows.shape[0])
    m, most = start_landmarks(n, exact.dual.shape[1]), min(n, _MOST)
    typical = rows[:: max(1, -(-n // _TYPICAL))]
    while True:
        found = made_with(kernel, exact, level, min(m, most), seed, slack)
        _, bound = found.bounded(typical)
        met = np.all(bound <= tol * scale, axis=1)
        if np.mean(met) >= 0.9 or m >= most or found.landmarks.m < min(m, most):
            return found
        m *= 2


def made_with(
    kernel: Kernel, exact: Projection, level: Array, m: int, seed: int, slack: Array
) -> Compressed:
    """Return the compressed projection on m landmarks; see `compress`."""
    dual = np.asarray(exact.dual, np.float64)
    marks, _ = select(kernel, exact.rows, m, seed=seed)
    g = np.zeros((marks.m, dual.shape[1]))
    for part, f, _ in marks.blocks(exact.rows):  # F itself would be n×m
        g += f.T @ dual[part]
    alive = np.any(dual != 0, axis=0)
    missed = np.sqrt(np.maximum(1 - np.sum(g**2, axis=0), 0.0) + slack) * alive
    # Landmarks have r = 0: there the compressed coordinates are the exact ones.
    at = exact.products(marks.rows) - level
    shift = np.mean(marks.triangle @ g - at, axis=0)
    rows, beta, constant = as_dual(marks, g)
    quick = Projection(kernel, rows, beta, wide=True)
    return Compressed(marks, g, shift, missed, quick, shift + constant)


def by_blocks(rows: Array, act: Callable[[Array], Array], most: int = _BLOCK) -> Array:
    """Return ``act(block)`` for blocks of rows, one below the other."""
    n = int(rows.shape[0])
    parts = [act(rows[start : start + most]) for start in range(0, max(n, 1), most)]
    return np.concatenate(parts)
