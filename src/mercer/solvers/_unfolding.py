"""Maximum variance with fixed distances: a semidefinite programme by an interior point."""

import dataclasses
import time
from typing import Any, final

import numpy as np

from mercer.arrays import EPS, Array, advance, task
from mercer.solvers._unfolding_steps import Point, directions, first_point, moved, squares_of

_STEPS = 80  # at most; 15 to 30 are usual
_OBEYED = 1e-5  # error of a squared length that is always small enough, relative
_PATIENCE = 10  # steps in which the gap or the error must halve


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Bars:
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


def unfold(bars: Bars, tol: float = 1e-3, seconds: float | None = None) -> Unfolded:
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
    bars : Bars
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


def _measured(bars: Bars, point: Point) -> tuple[float, float]:
    """Return ⟨K, S⟩ over the bound, and how far squared lengths are from their springs'."""
    longer = bars.give(point.tensions) * point.tensions
    error = float(np.max(np.abs((bars.of(point.kernel) - longer) / bars.squares - 1)))
    bound = float(point.tensions @ bars.squares)
    return float(np.vdot(point.kernel, point.slack)) / bound, error


def _next(bars: Bars, point: Point) -> Point | None:
    """Return the point after a predictor and a corrector, or None where none is left."""
    try:
        return moved(bars, point, directions(bars, point))
    except np.linalg.LinAlgError:
        return None


def _proved(bars: Bars, point: Point, steps: int, ended: str) -> Unfolded:
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
