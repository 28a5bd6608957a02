"""Upper bounds on eigenvalues from a subspace, its residual and the norm of the rest.

With Q orthonormal, Θ = QᵀAQ, E = AQ - QΘ = YT (QR) and any c ≥ ‖(I-QQᵀ)A(I-QQᵀ)‖₂,
the i-th eigenvalue of A is at most the i-th eigenvalue of [[Θ, Tᵀ], [T, cI]].
"""

import math

import numpy as np
import scipy.special

from mercer.arrays import eigvalsh
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


def psd_norm(trace: float, frobenius: float, order: int) -> float:
    """Return the largest norm that a psd matrix of this order can have.

    With τ ≤ tr R and f ≥ ‖R‖_F: the other eigenvalues sum to at least τ - ρ, and so their
    squares to (τ - ρ)²/(r - 1); what is left for ρ² gives ρ ≤ (τ + √((r - 1)(rf² - τ²)))/r
    [Samuelson1968]_. It is f itself where τ ≤ f.

    Parameters
    ----------
    trace : float
        τ, a lower bound on the trace.
    frobenius : float
        f, an upper bound on the Frobenius norm.
    order : int
        r.
    """
    if order < 2 or trace <= frobenius:
        return frobenius
    rest = (order - 1) * max(0.0, order * frobenius**2 - trace**2)
    return min(frobenius, (trace + math.sqrt(rest)) / order)
