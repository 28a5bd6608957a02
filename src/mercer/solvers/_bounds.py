"""Upper bounds on eigenvalues from a subspace, its residual and the norm of the rest.

With Q orthonormal, Θ = QᵀAQ, E = AQ - QΘ = YT (QR) and any c ≥ ‖(I-QQᵀ)A(I-QQᵀ)‖₂,
the i-th eigenvalue of A is at most the i-th eigenvalue of [[Θ, Tᵀ], [T, cI]].
"""

import math

import numpy as np
import scipy.special

from mercer.arrays import EPS, eigvalsh
from mercer.solvers._certificate import FloatArray

_FAILURE = 5e-9  # chance that a bound by random probes is too small


def probe_factor(probes: int) -> float:
    """Return α with P(all |z_i| < 1/α) ≤ 5e-9 for `probes` standard normal z_i.

    For psd R and a Gaussian vector z, ‖R^q z‖ ≥ ‖R‖^q·|vᵀz| with v the top axis, so that
    ‖R‖ ≤ (α·max_i‖R^q z_i‖)^(1/q) except with that chance. Twenty probes give α = 2.
    """
    return float(1 / scipy.special.ndtri(0.5 * (1 + _FAILURE ** (1 / probes))))


def complement_norm(norms: FloatArray, products: int) -> float:
    """Return the bound on ‖R‖ from ‖R^q z_i‖ (probes,) after q = `products` products."""
    if products == 0:
        return math.inf
    return float((probe_factor(len(norms)) * np.max(norms)) ** (1 / products))


def lanczos_norm(ritz: float, products: int, probes: int, order: int) -> float:
    """Return the bound on ‖R‖, R psd of this order, from the largest Ritz value found.

    For one uniformly random start, P(‖R‖ - ritz > ε‖R‖) ≤ 1.648·√order·exp(-√ε(2q - 1))
    after q = `products` products [Kuczynski1992]_; all `probes` independent starts must fail.
    """
    if products == 0:
        return math.inf
    chance = _FAILURE ** (1 / probes)
    root = math.log(1.648 * math.sqrt(max(order, 1)) / chance) / (2 * products - 1)
    return ritz / (1 - root**2) if root < 1 else math.inf


def bordered_upper(theta: FloatArray, tail: FloatArray, c: float, count: int) -> FloatArray:
    """Return upper bounds on the `count` largest eigenvalues.

    Parameters
    ----------
    theta : ndarray of shape (m,)
        Ritz values, descending.
    tail : ndarray of shape (r, m)
        T, the coordinates of the residuals.
    c : float
        Bound on the norm of the operator outside the subspace.
    count : int
        How many bounds are wanted; at most m + r.
    """
    m, r = len(theta), tail.shape[0]
    if not np.isfinite(c):
        return np.full(count, np.inf)
    matrix = np.zeros((m + r, m + r))
    matrix[np.arange(m), np.arange(m)] = theta
    matrix[m:, :m], matrix[:m, m:] = tail, tail.T
    matrix[np.arange(m, m + r), np.arange(m, m + r)] = c
    # The residuals use r directions of the rest; the others may hold eigenvalues up to c too.
    merged = np.concatenate([eigvalsh(matrix), np.full(count, c)])
    return np.sort(merged)[::-1][:count]


def psd_norm(
    trace: float, frobenius: float, order: int, least: FloatArray | None = None
) -> float:
    """Return the largest norm ρ that a psd matrix R of this order can have.

    The other eigenvalues x_2, x_3, … sum to at least τ - ρ and are at least those known; their
    squares are then smallest where all that can be are at one level h, x_j = max(least_j, h).
    So ρ² ≤ f² - Σx_j² at the lowest level with ρ + Σx_j ≥ τ. With nothing known of them that
    is [Samuelson1968]_, and f itself where τ ≤ f.

    Parameters
    ----------
    trace : float
        τ, a lower bound on the trace.
    frobenius : float
        f, an upper bound on the Frobenius norm.
    order : int
        r.
    least : ndarray of shape (m,) or None
        Lower bounds on the eigenvalues, descending, the first of which is the norm.
    """
    if order < 2 or frobenius <= 0:
        return frobenius
    # In units of f, whose square may not be a number; both bounds are loosened by rounding.
    others = np.zeros(0) if least is None else least[1:order] / frobenius
    empty, tau = order - 1 - len(others), (1 - 8 * EPS) * trace / frobenius

    def largest(level: float) -> tuple[float, bool]:
        """Return ρ with the others at this level, and whether that reaches the trace."""
        x = np.maximum(others, level)
        rho = math.sqrt(max(0.0, 1 + 8 * EPS - float(x @ x) - empty * level**2))
        return rho, rho + float(np.sum(x)) + empty * level >= tau

    low, high = 0.0, 1.0 / math.sqrt(order)
    for _ in range(0 if largest(low)[1] else 60):
        level = (low + high) / 2
        rho, reached = largest(level)
        low, high = (low, level) if reached or rho < level else (level, high)
    # No level reaches a trace that is too large by rounding: it then tells nothing.
    return min(largest(low if largest(high)[1] else 0.0)[0], 1.0) * frobenius
