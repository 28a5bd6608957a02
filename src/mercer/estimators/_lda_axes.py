"""From class means in whitened coordinates to canonical axes, with their certificate."""

import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import EPS, Array, svd
from mercer.diagnostics import WilksTests, wilks_tests
from mercer.estimators._lda_within import Whitened
from mercer.operators import Dense, GroupMoments
from mercer.solvers import Certificate, Exact, Floor, Goal, Outcome, Spectrum

_C = 4.0  # how many units of rounding per class or axis an eigenvalue must exceed
_APART = 1e-12  # share of the differences between means that may be lost outside the range


@dataclasses.dataclass(frozen=True, eq=False)
class Between:
    """What the scaling of a discriminant analysis needs, in units of the rows.

    Attributes
    ----------
    moments : GroupMoments
        Sums by class.
    white : Whitened
        Coordinates in which W is the identity.
    priors : ndarray of shape (G,)
        π.
    centre : ndarray of shape (p,)
        x̄ = Σπ_g·mean_g minus the common origin.
    apart : ndarray of shape (G, p)
        mean_g - x̄.
    """

    moments: GroupMoments
    white: Whitened
    priors: Array
    centre: Array
    apart: Array


def between(moments: GroupMoments, white: Whitened, priors: Array) -> Between:
    """Return the class means about their own mean."""
    centre = priors @ moments.means
    return Between(moments, white, priors, centre, moments.means - centre)


def canonical(found: Between, tol: float) -> Spectrum:
    """Return the pairs of M = diag(√(nπ_g/(G - 1)))·(mean_g - x̄)T, at most G - 1 of them.

    The certificate is that of the exact data: with (1 - η)W ≤ exact W ≤ (1 + η)W the i-th
    eigenvalue lies in [(σ_i - δ)²/(1 + η), (σ_i + δ)²/(1 - η)], δ the error of M.
    """
    groups, n = len(found.priors), float(np.sum(found.moments.totals))
    m = np.sqrt(n * found.priors / (groups - 1))[:, None] * (found.apart @ found.white.basis)
    most = min(groups - 1, m.shape[1])
    size = float(np.sqrt(np.sum(m**2)))
    error = found.white.coarse * np.sqrt(n / (groups - 1)) + 8 * EPS * size
    unit = _C * max(m.shape) * EPS
    goal = Goal(most, tol, Floor(unit**2), size**2 * (1 + unit), error, psd=True)
    spectrum = Exact().solve(Dense(m), goal)
    certificate = _widened(spectrum, found.white.error, tol)
    outcome = Outcome.CONVERGED if certificate.met else Outcome.FLOOR
    return dataclasses.replace(spectrum, certificate=certificate, outcome=outcome)


def _widened(spectrum: Spectrum, eta: float, tol: float) -> Certificate:
    """Return the certificate with what the error of W adds."""
    old, values = spectrum.certificate, spectrum.values
    sure = eta < 1
    upper = np.append(old.upper, old.next_upper) / (1 - eta if sure else EPS)
    top = float(np.max(values, initial=0.0))
    return Certificate.of(
        values,
        upper,
        old.residual + 2 * min(eta, 1.0) * top,
        error=0.0,
        tol=tol,
        zero_level=old.zero_level,
        lower=old.lower / (1 + eta),
        psd=True,
    )


def wilks_of(found: Between) -> WilksTests | None:
    """Return Wilks' tests from the shares of the rows, whatever the priors; None if singular.

    Where a part of the differences lies outside the range of W, Λ is zero and has no law.
    """
    totals, white = found.moments.totals, found.white
    n, groups = float(np.sum(totals)), len(totals)
    if white.outside > _APART or bool(np.any(white.splitting)):
        return None
    about = found.moments.means - totals @ found.moments.means / n
    m = np.sqrt(totals / (n - groups))[:, None] * (about @ white.basis)
    roots = svd(m)[1] ** 2 if m.shape[1] else np.zeros(0)
    return wilks_tests(roots, n, white.rank, groups)


def structure_of(found: Between, axes: Array, inside: Array) -> tuple[Array, Array]:
    """Return correlations (p, k) of columns with axes: over all rows, and within classes.

    With T = (n - G)W + Σn_g(mean_g - mean)(mean_g - mean)ᵀ: (Tw)_j/√(T_jj·wᵀTw), and
    (Ww)_j/√W_jj.

    Parameters
    ----------
    found : Between
        Means and W.
    axes : ndarray of shape (p, k)
        w.
    inside : ndarray of shape (p, k)
        Ww.
    """
    totals, variances = found.moments.totals, found.white.variances
    n, groups = float(np.sum(totals)), len(totals)
    about = found.moments.means - totals @ found.moments.means / n
    across = about.T @ (totals[:, None] * (about @ axes))
    image = (n - groups) * inside + across
    each = (n - groups) * variances + totals @ about**2
    along = np.einsum("jk,jk->k", axes, image)
    total = image / _root(each)[:, None] / _root(along)
    return np.clip(total, -1, 1), np.clip(inside / _root(variances)[:, None], -1, 1)


def _root(values: Any) -> Array:
    """Return square roots, infinite for nothing, so that a quotient by them is zero."""
    return np.asarray(np.where(values > 0, np.sqrt(np.maximum(values, 0.0)), np.inf))
