"""Steps of the interior point for kernels that keep distances: system, direction, length."""

import contextlib
import dataclasses
from typing import Any, final

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from mercer.arrays import Array
from mercer.errors import InputError

_BLOCK = 256  # bars whose rows of the system are made at once: they stay in the cache
_BACK = 0.95  # how much of the way to the boundary is taken
_SMALL = 60  # points up to which all eigenvalues are as quick as the largest
_MOST = 1e13  # tensions with which connected points are held, if they can be
_RIDGES = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6)  # relative, tried in this order


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Point:
    """An interior point: K ≻ 0, y, S = L(y) - C ≻ 0, their Cholesky factors, and S⁻¹."""

    kernel: Array
    kernel_root: Array
    tensions: Array
    slack: Array
    root: Array
    inverse: Array

    @property
    def mu(self) -> float:
        """⟨K, S⟩/n, what complementarity leaves on the mean."""
        return float(np.vdot(self.kernel, self.slack)) / len(self.kernel)


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Direction:
    """A step: of the kernel, of the tensions, and of the slack (sparse)."""

    kernel: Array
    tensions: Array
    slack: Any


def squares_of(kernel: Array, first: Array, second: Array) -> Array:
    """Return K_ii + K_jj - 2K_ij (e,)."""
    own = np.diagonal(kernel)
    return np.asarray(own[first] + own[second] - 2 * kernel[first, second])


def slack_of(bars: Any, tensions: Array) -> Array:
    """Return S = L(y) - diag(m) + 2mmᵀ/Σm, dense (n, n)."""
    m = bars.masses
    slack = bars.laplacian(tensions).toarray()
    slack += np.multiply.outer(m, m * (2 / m.sum()))
    slack[np.diag_indices(bars.n)] -= m
    return np.asarray(slack)


def lower_root(matrix: Array) -> Array:
    """Return the Cholesky factor; np.linalg.LinAlgError where there is none."""
    return np.asarray(scipy.linalg.cholesky(matrix, lower=True, check_finite=False))


def first_point(bars: Any) -> Point:
    """Return a start: tensions as 1/b, large enough, and K the multiple of S⁻¹ nearest to b.

    Springs as stiff as 1/b let K have short bars short and long ones long from the first.
    """
    size, slack, root = 1.0, np.empty(0), None
    each = 1 / bars.squares
    while root is None:
        size *= 4
        slack = slack_of(bars, size * each)
        try:
            root = lower_root(slack)
        except np.linalg.LinAlgError:
            if size > _MOST:
                raise InputError(
                    "the bars do not join all points",
                    got=f"{bars.n} points, {len(bars.squares)} bars",
                    fix="join the pieces, or unfold them one by one",
                ) from None
    tensions = 2 * size * each
    slack = slack_of(bars, tensions)
    root = lower_root(slack)
    inverse = _inverse(root)
    lengths = bars.of(inverse) / bars.squares
    scale = float(lengths.sum()) / float(lengths @ lengths)
    kernel = scale * inverse
    return Point(kernel, lower_root(kernel), tensions, slack, root, inverse)


def _inverse(root: Array) -> Array:
    """Return (RRᵀ)⁻¹, symmetric to the last bit."""
    found, _ = lapack.dpotri(root, lower=1)
    upper = np.tril(found, -1).T
    return np.ascontiguousarray(np.tril(found) + upper)


def _system(bars: Any, point: Point) -> Array:
    """Return (a_eᵀKa_f)(a_eᵀS⁻¹a_f), the lower triangle of an (e, e) matrix."""
    i, j, e = bars.first, bars.second, len(bars.squares)
    made = np.zeros((e, e))
    for start in range(0, e, _BLOCK):
        part = slice(start, min(start + _BLOCK, e))
        upto = slice(0, part.stop)
        out = made[part, upto]
        for matrix in (point.kernel, point.inverse):
            rows = matrix[i[part]] - matrix[j[part]]
            cells = np.take(rows, i[upto], axis=1)
            cells -= np.take(rows, j[upto], axis=1)
            if matrix is point.kernel:
                out[...] = cells
            else:
                out *= cells
    return made


def _factored(bars: Any, point: Point) -> Array:
    """Return the Cholesky factor of the system, upper in Fortran order, ridged if need be."""
    made = _system(bars, point)
    own = np.diagonal(made) + bars.give(point.tensions)
    for ridge in _RIDGES:
        if ridge:
            made = _system(bars, point)
        made[np.diag_indices(len(made))] = own * (1 + ridge)
        # Rows of the lower triangle are columns of the upper one: nothing is copied.
        root, failed = lapack.dpotrf(made.T, lower=0, clean=0, overwrite_a=1)
        if not failed:
            return np.asarray(root)
    raise np.linalg.LinAlgError("the system of the step has no Cholesky factor")


def directions(bars: Any, point: Point) -> Direction:
    """Return the corrected step: a predictor says how much of μ to aim at."""
    root, mu, lengths = _factored(bars, point), point.mu, bars.of(point.inverse)
    wanted = bars.squares + bars.give(point.tensions) * point.tensions

    def towards(share: float, correction: Array | None) -> Direction:
        right = share * mu * lengths - wanted
        if correction is not None:
            right -= bars.of(correction)
        dy, _ = lapack.dpotrs(root, right, lower=0)
        slack = bars.laplacian(dy)
        step = share * mu * point.inverse - point.kernel
        step -= _symmetric((slack @ point.kernel).T @ point.inverse)
        if correction is not None:
            step -= correction
        return Direction(step, dy, slack)

    plain = towards(0.0, None)
    p, d = _lengths_of(point, plain)
    after = (
        mu * len(point.kernel)
        + p * float(np.vdot(plain.kernel, point.slack))
        + d * float(plain.slack.multiply(point.kernel).sum())
        + p * d * float(plain.slack.multiply(plain.kernel).sum())
    )
    short = min(p, d)
    power = 3 if short > 0.5 else 2 if short > 0.2 else 1
    share = min(0.9, max(1e-3, (after / (mu * len(point.kernel))) ** power))
    correction = _symmetric((plain.slack @ plain.kernel).T @ point.inverse)
    return towards(share, correction)


def _symmetric(matrix: Array) -> Array:
    return np.asarray(0.5 * (matrix + matrix.T))


def moved(bars: Any, point: Point, step: Direction) -> Point:
    """Return the point after as long a step as stays inside; the proof is a Cholesky."""
    p, d = _lengths_of(point, step)
    kernel, kernel_root = _inside(point.kernel, step.kernel, p)
    for _ in range(30):
        tensions = point.tensions + d * step.tensions
        slack = slack_of(bars, tensions)
        try:
            root = lower_root(slack)
        except np.linalg.LinAlgError:
            d *= 0.7
            continue
        return Point(kernel, kernel_root, tensions, slack, root, _inverse(root))
    raise np.linalg.LinAlgError("no step of the tensions stays inside")


def _inside(kernel: Array, step: Array, length: float) -> tuple[Array, Array]:
    """Return the kernel after a step that is cut until it stays inside, and its factor."""
    for _ in range(30):
        found = kernel + length * step
        try:
            return found, lower_root(found)
        except np.linalg.LinAlgError:
            length *= 0.7
    raise np.linalg.LinAlgError("no step of the kernel stays inside")


def _lengths_of(point: Point, step: Direction) -> tuple[float, float]:
    """Return how far the kernel and the slack may go, at most one each."""
    return _room(point.kernel_root, step.kernel), _room(point.root, step.slack)


def _room(root: Array, step: Any) -> float:
    """Return the share of a step that keeps RRᵀ + a·step positive definite, nearly all."""
    worst = _largest(root, step) * (1.0 if len(root) <= _SMALL else 1.03)
    return 1.0 if worst <= _BACK else _BACK / worst


def _largest(root: Array, step: Any) -> float:
    """Return the largest eigenvalue of -R⁻¹·step·R⁻ᵀ, to a per cent."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    def solved(v: Array, transposed: int) -> Array:
        found, _ = lapack.dtrtrs(root, v, lower=1, trans=transposed)
        return np.asarray(found)

    n = len(root)
    if n > _SMALL:
        op = LinearOperator(
            (n, n), matvec=lambda v: -solved(step @ solved(v.ravel(), 1), 0), dtype=np.float64
        )
        start = np.random.default_rng(0).standard_normal(n)
        with contextlib.suppress(ArpackError):  # then all of them
            return float(
                eigsh(op, 1, which="LA", tol=1e-2, v0=start, return_eigenvectors=False)[0]
            )
    dense = step if isinstance(step, np.ndarray) else step.toarray()
    within = solved(solved(dense, 0).T, 0)
    return float(np.linalg.eigvalsh(-_symmetric(within))[-1])
