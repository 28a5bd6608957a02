"""Compressed projection: exact axes seen through landmarks, with a bound for every row."""

import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import Array, eps_of
from mercer.estimators.kernel._kernel_landmarks import as_dual
from mercer.estimators.kernel._kernel_projection import Projection
from mercer.kernels import Kernel
from mercer.operators import Landmarks, select
from mercer.planning import start_landmarks

_MOST = 4000  # landmarks after which more would not pay
_BLOCK = 4096  # rows projected at a time
_TYPICAL = 512  # training rows on which the bound is tried


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

    def bounded(self, rows: Any) -> tuple[Array, Array]:
        """Return coordinates (r, k) and bounds on their errors (r, k)."""
        f, r = self.landmarks.features(rows)
        return f @ self.coefficients - self.level, np.sqrt(r)[:, None] * self.missed

    def project(self, rows: Any) -> Array:
        """Return coordinates (r, k) without bounds: 2m(p + k) flops a row."""
        return self.quick.products(rows) - self.quick_level


def compress(
    kernel: Kernel,
    exact: Projection,
    level: Array,
    scale: Array,
    tol: float,
    seed: int,
    slack: Array | float | None = None,
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
    kernel: Kernel,
    exact: Projection,
    level: Array,
    m: int,
    seed: int,
    slack: Array | float | None = None,
) -> Compressed:
    """Return the compressed projection on m landmarks; see `compress`."""
    dual = np.asarray(exact.dual, np.float64)
    marks, _ = select(kernel, exact.rows, m, seed=seed)
    g = np.zeros((marks.m, dual.shape[1]))
    for part, f, _ in marks.blocks(exact.rows):  # F itself would be n×m
        g += f.T @ dual[part]
    alive = np.any(dual != 0, axis=0)
    slack = 4 * eps_of(exact.dual.dtype) if slack is None else slack
    missed = np.sqrt(np.maximum(1 - np.sum(g**2, axis=0), 0.0) + slack) * alive
    # Landmarks have r = 0: there the compressed coordinates are the exact ones.
    at = exact.products(marks.rows) - level
    shift = np.mean(marks.triangle @ g - at, axis=0)
    rows, beta, constant = as_dual(marks, g)
    quick = Projection(kernel, rows, beta, wide=True)
    return Compressed(marks, g, shift, missed, quick, shift + constant)


def by_blocks(rows: Any, act: Any) -> Array:
    """Return ``act(block)`` for blocks of rows, one below the other."""
    n = int(rows.shape[0])
    parts = [act(rows[start : start + _BLOCK]) for start in range(0, max(n, 1), _BLOCK)]
    return np.concatenate(parts)
