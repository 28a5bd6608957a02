"""Maximum variance with fixed distances: a semidefinite programme by an interior point.

Steps of the interior point for kernels that keep distances: system, direction, length.
"""

import contextlib
import dataclasses
import time
from typing import Any, final

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from mercer.arrays import EPS, Array, advance, task
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
    try:
        root = lower_root(slack)
        inverse = _inverse(root)
        lengths = bars.of(inverse) / bars.squares
        scale = float(lengths.sum()) / float(lengths @ lengths)
        kernel = scale * inverse
        return Point(kernel, lower_root(kernel), tensions, slack, root, inverse)
    except np.linalg.LinAlgError:
        raise InputError(
            "these distances are too unequal to be kept at once in float64",
            got=f"squares from {np.min(bars.squares):.3g} to {np.max(bars.squares):.3g}",
            fix="leave outlying rows out, or divide columns by their deviations",
        ) from None


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


_STEPS = 80  # at most; 15 to 30 are usual
_OBEYED = 1e-5  # error of a squared length that is always small enough, relative
_PATIENCE = 10  # steps in which the gap or the error must halve


@final
@dataclasses.dataclass(frozen=True, eq=False)
class DistanceBars:
    """Points held apart by bars that give next to nothing.

    Attributes
    ----------
    first, second : ndarray of shape (e,), int
        The ends of each bar; together they must join all points.
    squares : ndarray of shape (e,)
        Squared lengths b > 0. For numbers of any size scale them to a mean near one.
    masses : ndarray of shape (n,)
        m > 0, how often each point counts.
    slack : float
        Relative change of the squared length of a bar under mean tension; 0 for stiff bars.
    """

    first: Array
    second: Array
    squares: Array
    masses: Array
    slack: float = 0.0

    @property
    def n(self) -> int:
        """How many points there are."""
        return len(self.masses)

    def of(self, kernel: Array) -> Array:
        """Return the squared lengths (e,) of the bars in a kernel: K_ii + K_jj - 2K_ij."""
        return squares_of(kernel, self.first, self.second)

    def give(self, tensions: Array) -> Array:
        """Return how much longer (e,) a squared length is per unit of tension."""
        mean = float(tensions @ self.squares) / len(tensions)
        return np.asarray(self.slack * self.squares**2 / mean)

    def laplacian(self, weights: Array) -> Any:
        """Return L(y) = Σ y_ij (e_i - e_j)(e_i - e_j)ᵀ, CSR (n, n)."""
        import scipy.sparse

        i, j = self.first, self.second
        degrees = np.bincount(i, weights, self.n) + np.bincount(j, weights, self.n)
        at = np.arange(self.n)
        rows, columns = np.concatenate([i, j, at]), np.concatenate([j, i, at])
        values = np.concatenate([-weights, -weights, degrees])
        return scipy.sparse.csr_matrix((values, (rows, columns)), shape=(self.n, self.n))


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Unfolded:
    """A kernel of (nearly) largest variance among those that keep the bars, and the proof.

    Attributes
    ----------
    kernel : ndarray of shape (n, n)
        K, positive semidefinite, Km = 0.
    tensions : ndarray of shape (e,)
        y, the force in each bar: more where a longer bar would let the points go farther.
        L(y) - diag(m) is positive semidefinite on the vectors with mᵀv = 0.
    variance : float
        Σ m_i K_ii.
    bound : float
        Σ y b, rounding included: no kernel that keeps the bars has a larger variance.
    gap : float
        Σ y·(lengths in K) - variance ≥ 0: how far K may be from the best of all kernels with
        the lengths that it has.
    error : float
        The largest relative error of a squared length in K.
    steps : int
        Newton steps.
    outcome : str
        How it ended.
    """

    kernel: Array
    tensions: Array
    variance: float
    bound: float
    gap: float
    error: float
    steps: int
    outcome: str


def unfold(bars: DistanceBars, tol: float = 1e-3, seconds: float | None = None) -> Unfolded:
    """Return the kernel that maximises Σ m_i K_ii with K ⪰ 0, Km = 0 and all bars kept.

    The pair of programmes is

        max ⟨C, K⟩,  K_ii + K_jj - 2K_ij = b_ij,  K ⪰ 0;     C = diag(m) - 2mmᵀ/Σm
        min Σ y_ij b_ij,  S = L(y) - C ⪰ 0.

    C asks for Km = 0 by itself. Each step is that of [Helmberg1996]_ with a predictor and a
    corrector [Mehrotra1992]_; its linear system has the entries (a_eᵀKa_f)(a_eᵀS⁻¹a_f), with
    a_e the difference of the ends of bar e, so that it costs no more than two tables of
    distances.

    Stiff bars that hold some points rigid leave no K ≻ 0, and tensions without limit. Bars
    with slack s are springs, b_ij + s·b_ij²·y_ij/mean(yb) long: tensions are bounded, K is
    optimal for the lengths that it has, and the bound still holds for the lengths b.

    Parameters
    ----------
    bars : DistanceBars
        In one piece.
    tol : float
        Gap over bound to stop at, and how well squared lengths must obey the springs.
    seconds : float or None
        Time after which the best so far is returned.
    """
    begun = time.monotonic()
    point = first_point(bars)
    halved, best, step = 0, (np.inf, np.inf), 0
    ended = f"stopped after {_STEPS} steps"
    with task("unfolding"):
        for step in range(_STEPS):
            gap, error = _measured(bars, point)
            if gap <= tol and error <= max(tol, _OBEYED):
                ended = "the gap is closed to the tolerance"
                break
            if gap <= best[0] / 2 or error <= best[1] / 2:
                halved, best = step, (min(gap, best[0]), min(error, best[1]))
            if step - halved > _PATIENCE:
                ended = "rounding keeps the gap open"
                break
            if seconds is not None and time.monotonic() - begun > seconds:
                ended = "stopped when the time was over"
                break
            advance(step, _STEPS, f"gap {gap:.1e}")
            following = _next(bars, point)
            if following is None:
                ended = "rounding keeps the gap open"
                break
            point = following
    return _proved(bars, point, step, ended)


def _measured(bars: DistanceBars, point: Point) -> tuple[float, float]:
    """Return ⟨K, S⟩ over the bound, and how far squared lengths are from their springs'."""
    longer = bars.give(point.tensions) * point.tensions
    error = float(np.max(np.abs((bars.of(point.kernel) - longer) / bars.squares - 1)))
    bound = float(point.tensions @ bars.squares)
    return float(np.vdot(point.kernel, point.slack)) / bound, error


def _next(bars: DistanceBars, point: Point) -> Point | None:
    """Return the point after a predictor and a corrector, or None where none is left."""
    try:
        return moved(bars, point, directions(bars, point))
    except np.linalg.LinAlgError:
        return None


def _proved(bars: DistanceBars, point: Point, steps: int, ended: str) -> Unfolded:
    """Return the centred kernel and the bound, with what rounding may have hidden."""
    kernel, masses = centred(point.kernel, bars.masses), bars.masses
    y, n = point.tensions, bars.n
    # Cholesky succeeded on S: S ⪰ -δI with δ ≤ (n + 1)·eps·tr S [Higham2002, th. 10.3]. A
    # centred K then has Σ m K_ii ≤ Σ y b + δ tr K, and tr K ≤ Σ m K_ii / min m.
    delta = (n + 1) * EPS * float(np.trace(point.slack)) / float(masses.min())
    top = float(y @ bars.squares)
    bound = top / (1 - delta) if delta < 1 else np.inf
    lengths = bars.of(kernel)
    variance = float(masses @ np.diagonal(kernel))
    error = float(np.max(np.abs(lengths / bars.squares - 1)))
    gap = float(y @ lengths) - variance
    return Unfolded(kernel, y, variance, bound, max(gap, 0.0), error, steps, ended)


def centred(kernel: Array, masses: Array) -> Array:
    """Return PKPᵀ with P = I - 1mᵀ/Σm, the kernel seen from the weighted mean."""
    share = masses / masses.sum()
    mean = kernel @ share
    found = kernel - mean
    found -= mean[:, None]
    found += float(share @ mean)
    return np.asarray(found)
