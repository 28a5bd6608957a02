"""Raised: leading pairs of a psd matrix by what their axes capture, not by a quotient."""

import numpy as np

from mercer.arrays import Array, as_numpy, asarray_like, binary_exponent, eigh, in_units
from mercer.solvers._certificate import Certificate, FloatArray
from mercer.solvers._spectrum import Outcome, Spectrum


def raised(spectrum: Spectrum) -> Spectrum:
    """Return the pairs found in the span of √A·U in place of those found in that of U.

    A is psd, U (n, k) holds Ritz vectors, AU = UΘ + E. With A = GGᵀ, as a kernel matrix of
    features is, the axes GᵀUΘ^-½ are orthonormal, and the scatter of the features along them
    is

        N = Θ + Θ^-½EᵀEΘ^-½ = Z·diag(ν)·Zᵀ.

    So θ_i ≤ ν_i ≤ λ_i: half a product more than U tells, and none is made. The vectors
    become V = UΘ^-½Zν^½, for which VᵀAV = diag(ν); they are orthogonal up to ‖E‖²/θ². Pairs
    at the zero level stay as they are: there E is rounding.

    Parameters
    ----------
    spectrum : Spectrum
        Of a psd operator, its `image` AU known.
    """
    sure = spectrum.certificate
    theta = spectrum.values[: len(sure.lower)]
    theta = theta[theta > sure.zero_level]
    few = len(theta)
    if few == 0 or spectrum.image is None:
        return spectrum
    right, image = as_numpy(spectrum.right).copy(), as_numpy(spectrum.image).copy()
    unit = binary_exponent(float(theta[0]))  # in which squares stay in range
    w = in_units(image[:, :few], unit)
    nu, lower, residual, turn = _found(right[:, :few], w, theta, unit, sure)
    right[:, :few] = right[:, :few] @ turn
    image[:, :few] = in_units(w @ turn, -unit)
    values = spectrum.values.copy()
    values[:few] = nu
    lower = np.append(lower, sure.lower[few:])
    residual = np.append(residual, sure.residual[few:])
    certificate = sure.of_pairs(values[: len(lower)], lower, residual)
    return Spectrum.of(
        values,
        asarray_like(right, spectrum.right),
        certificate,
        total=spectrum.total,
        passes=spectrum.passes,
        outcome=Outcome.CONVERGED if certificate.met else spectrum.outcome,
        squares=spectrum.squares,
        image=asarray_like(image, spectrum.right),
    )


def _found(
    u: Array, w: Array, theta: FloatArray, unit: int, sure: Certificate
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return ν, lower bounds and residuals (k,), and Θ^-½Zν^½ (k, k); W = AU·2^-unit."""
    few, theta = len(theta), np.ldexp(theta, -unit)
    root = np.sqrt(theta)
    rest = w - u * theta
    scatter = rest.T @ rest
    nu, z = eigh(np.diag(theta) + scatter / root[:, None] / root)
    turn = z / root[:, None] * np.sqrt(nu)
    # What a bound had beyond the residual is arithmetic, and is turned with the vectors.
    wrong = np.ldexp(sure.residual[:few], -unit) - np.sqrt(np.diagonal(scatter))
    wrong = np.maximum(wrong, 0.0)
    lower = _least(nu, z / root[:, None], wrong)
    # Rounding of the entries may lift ν above λ, never above the interval.
    top = np.ldexp(sure.upper[:few], -unit)
    nu = np.minimum.accumulate(np.minimum(nu, top))
    left = np.linalg.norm(w @ turn - (u @ turn) * nu, axis=0)
    residual = (left + np.abs(turn).T @ wrong) / np.linalg.norm(turn, axis=0)
    return np.ldexp(nu, unit), np.ldexp(lower, unit), np.ldexp(residual, unit), turn


def _least(nu: FloatArray, turn: FloatArray, wrong: FloatArray) -> FloatArray:
    """Return lower bounds (k,) on the eigenvalues of A, W = AU being off by `wrong` (k,).

    With C = Θ^-½Z, ‖WCy‖ ≥ √ν_i for unit y among the first i axes, up to what is wrong:
    δ_i² = Σ_j wrong_j²·Σ_{l≤i} C_jl². (UC)ᵀA(UC), which is I, is off by at most δ_i·‖UC‖.
    """
    squares = np.cumsum(turn**2, axis=1)
    off = np.sqrt(wrong**2 @ squares)
    most = np.sqrt(np.sum(squares, axis=0))
    return np.asarray(np.maximum(np.sqrt(nu) - off, 0.0) ** 2 / (1 + off * most))
