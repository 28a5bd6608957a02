"""Rotations of loadings to simple structure: varimax, quartimax, promax and oblimin."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array

_STEPS = 500
_STARTS = 3  # besides the axes as they are
_DONE = 1e-9  # relative gain of the criterion at which planes are turned instead
_SWEEPS = 200  # over all planes, at most
_TURNS = 10_000  # of single planes, at most
_STILL = 1e-10  # radians: the last angles
_FLAT = 1e-13  # share of a criterion that is rounding
_SLOW_STEPS = 2000  # down a gradient
_HALVINGS = 30  # of a step that goes too far


@final
@dataclasses.dataclass(frozen=True)
class Rotation:
    """Rotated loadings L = A·T and the matrix T that makes them.

    Attributes
    ----------
    loadings : ndarray of shape (p, k)
        L, columns by falling sum of squares, the entry of largest modulus positive.
    matrix : ndarray of shape (k, k)
        T; orthogonal for varimax and quartimax.
    correlations : ndarray of shape (k, k)
        (TᵀT)⁻¹, of the rotated factors; the identity where T is orthogonal.
    steps : int
        Steps that were made.
    converged : bool
        Whether the axes stand still, or at least the criterion had stopped growing.
    """

    loadings: Array
    matrix: Array
    correlations: Array
    steps: int
    converged: bool


def orthomax(loadings: Array, *, gamma: float = 1.0, normalise: bool = True) -> Rotation:
    """Return the orthogonal rotation that maximises Σ_j [Σ_i l_ij⁴ - γ/p (Σ_i l_ij²)²].

    γ = 1 is varimax [Kaiser1958]_: few large entries in every column. γ = 0 is quartimax: few
    in every row. Each step takes the polar factor of the gradient, which never lowers the
    criterion by more than rounding; then planes are turned one by one until none turns.

    Parameters
    ----------
    loadings : ndarray of shape (p, k)
        A.
    gamma : float
        γ, from 0 to 1.
    normalise : bool
        Whether rows are given length one first (Kaiser), so that columns that are well seen
        do not rule.
    """
    A = np.asarray(loadings, np.float64)
    unit, k = _rows(A, normalise), A.shape[1]
    rng = np.random.default_rng(0)
    # Unrotated axes are often where the criterion is least, and flat: others begin elsewhere.
    starts = [np.eye(k)]
    if k > 2:  # of two axes the best angle is known
        starts += [np.linalg.qr(rng.standard_normal((k, k)))[0] for _ in range(_STARTS)]
    found = [_climbed(unit, start, gamma) if k > 2 else (0.0, start, 0) for start in starts]
    _, T, steps = max(found, key=lambda run: run[0])
    T, rest = _polished(unit, T, gamma)
    return _settled(A, T, steps, rest or steps < _STEPS)


def _largest(A: Array) -> float:
    """Return the largest modulus, or one: rotations do not depend on the unit."""
    return float(np.max(np.abs(A), initial=0.0)) or 1.0


def _rows(A: Array, normalise: bool) -> Array:
    """Return the rows with length one where that is asked; else in the unit of the largest."""
    unit = A / _largest(A)
    if not normalise:
        return unit
    unit = unit / np.where(unit.any(axis=1), np.max(np.abs(unit), axis=1), 1.0)[:, None]
    lengths = np.sqrt(np.sum(unit**2, axis=1))
    return np.asarray(unit / np.where(lengths > 0, lengths, 1.0)[:, None])


def _climbed(unit: Array, T: Array, gamma: float) -> tuple[float, Array, int]:
    """Return the criterion where it stops growing, the rotation there, and the steps."""
    p, before, step = len(unit), -np.inf, 0
    while True:
        L = unit @ T
        squares = L**2
        value = float(np.sum(squares**2) - gamma / p * np.sum(np.sum(squares, axis=0) ** 2))
        if step == _STEPS or value - before <= _DONE * max(abs(value), 1e-300):
            return value, T, step
        before, step = value, step + 1
        u, _, vt = np.linalg.svd(unit.T @ (L**3 - gamma / p * L * np.sum(squares, axis=0)))
        T = u @ vt


def _polished(unit: Array, T: Array, gamma: float) -> tuple[Array, bool]:
    """Return the rotation turned plane by plane until no plane turns, and whether that came.

    The criterion is flat at its top, so that it stops growing long before the axes stand
    still; in one plane the best angle is known: ¼·atan2(D - 2γAB/p, C - γ(A² - B²)/p) with
    u = x² - y², v = 2xy, A = Σu, B = Σv, C = Σ(u² - v²), D = 2Σuv [Kaiser1958]_.
    """
    L, T, p = unit @ T, T.copy(), len(unit)
    planes = max(L.shape[1] * (L.shape[1] - 1) // 2, 1)
    for _ in range(min(_SWEEPS, max(_TURNS // planes, 1))):
        largest = 0.0
        for i in range(L.shape[1]):
            for j in range(i + 1, L.shape[1]):
                x, y = L[:, i], L[:, j]
                u, v = x**2 - y**2, 2 * x * y
                across = 2 * (u @ v) - 2 * gamma / p * np.sum(u) * np.sum(v)
                along = u @ u - v @ v - gamma / p * (np.sum(u) ** 2 - np.sum(v) ** 2)
                if np.hypot(across, along) <= _FLAT * (u @ u + v @ v):
                    continue  # every angle is as good
                angle = np.arctan2(across, along) / 4
                c, s = np.cos(angle), np.sin(angle)
                turn = np.array([[c, -s], [s, c]])
                L[:, [i, j]], T[:, [i, j]] = L[:, [i, j]] @ turn, T[:, [i, j]] @ turn
                largest = max(largest, abs(float(angle)))
        if largest <= _STILL:
            return T, True
    return T, False


def promax(loadings: Array, *, power: float = 4.0, normalise: bool = True) -> Rotation:
    """Return the oblique rotation of varimax loadings towards their powers [Hendrickson1964]_.

    With V the varimax loadings, the target is V∘|V|^(power - 1); T is its least-squares fit,
    scaled so that the factors have variance one. They may then be correlated.

    Parameters
    ----------
    loadings : ndarray of shape (p, k)
        A.
    power : float
        The larger, the simpler the structure and the higher the correlations.
    normalise : bool
        As for `orthomax`.
    """
    first = orthomax(loadings, normalise=normalise)
    V = first.loadings / _largest(first.loadings)
    target = V * np.abs(V) ** (power - 1)
    U = np.linalg.lstsq(V, target, rcond=None)[0]
    if np.linalg.matrix_rank(U) < U.shape[1]:
        return first
    U = U * np.sqrt(np.diagonal(np.linalg.inv(U.T @ U)))
    A = np.asarray(loadings, np.float64)
    return _settled(A, first.matrix @ U, first.steps, first.converged)


def oblimin(loadings: Array, *, gamma: float = 0.0, normalise: bool = True) -> Rotation:
    """Return the oblique rotation of least Σ_{a≠b} Σ_i (l_ia² - γ·mean)(l_ib² - γ·mean)/4.

    Direct oblimin; γ = 0, quartimin, asks that no column is large on two factors. Factors have
    variance one and may be correlated. Steps go down the gradient along the rotations
    [Jennrich2002]_; of several starts, varimax among them, the least is taken.

    Parameters
    ----------
    loadings : ndarray of shape (p, k)
        A.
    gamma : float
        γ, at most 0: the smaller, the less the factors are correlated.
    normalise : bool
        As for `orthomax`.
    """
    A = np.asarray(loadings, np.float64)
    first = orthomax(A, normalise=normalise)
    k = A.shape[1]
    if k < 2:
        return first
    unit = _rows(A, normalise)
    rng = np.random.default_rng(0)
    starts = [first.matrix]
    starts += [np.linalg.qr(rng.standard_normal((k, k)))[0] for _ in range(_STARTS)]
    found = [_descended(unit, start, gamma) for start in starts]
    _, T, steps = min(found, key=lambda run: run[0])
    return _settled(A, np.linalg.inv(T).T, steps, steps < _SLOW_STEPS)


def _descended(unit: Array, T: Array, gamma: float) -> tuple[float, Array, int]:
    """Return the criterion of oblimin where it stops falling, axes T of length one, steps."""
    others = 1.0 - np.eye(T.shape[1])

    def looked(T: Array) -> tuple[float, Array]:
        inverse = np.linalg.inv(T)
        L = unit @ inverse.T
        squares = L**2 @ others
        squares = squares - gamma * squares.mean(axis=0)
        gradient = -(L.T @ (L * squares) @ inverse).T
        return float(np.sum(L**2 * squares)) / 4, gradient

    (value, slope), reach = looked(T), 1.0
    for step in range(_SLOW_STEPS):
        along = slope - T * np.sum(T * slope, axis=0)
        size = float(np.sum(along**2))
        if size <= (_STILL * value) ** 2:
            return value, T, step
        reach *= 2
        for _ in range(_HALVINGS):
            new = T - reach * along
            new /= np.linalg.norm(new, axis=0)
            at, there = looked(new)
            if at < value - 0.5 * reach * size:
                break
            reach /= 2
        else:
            return value, T, step  # rounding is all that is left
        T, value, slope = new, at, there
    return value, T, _SLOW_STEPS


def _settled(A: Array, T: Array, steps: int, converged: bool) -> Rotation:
    """Return the rotation with its columns in order and signs fixed."""
    L = A @ T
    order = np.argsort(-np.sum((L / _largest(L)) ** 2, axis=0), kind="stable")
    L, T = L[:, order], T[:, order]
    signs = np.where(L[np.argmax(np.abs(L), axis=0), np.arange(L.shape[1])] < 0, -1.0, 1.0)
    L, T = L * signs, T * signs
    return Rotation(L, T, np.linalg.inv(T.T @ T), steps, converged)
