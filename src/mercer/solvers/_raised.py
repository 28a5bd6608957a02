"""Raised: leading pairs of a psd matrix by what their axes capture, not by a quotient."""

import numpy as np

from mercer.arrays import as_numpy, asarray_like, eigh
from mercer.solvers._certificate import FloatArray
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
    certificate = spectrum.certificate
    theta = spectrum.values[: len(certificate.lower)]
    theta = theta[theta > certificate.zero_level]
    few = len(theta)
    if few == 0 or spectrum.image is None:
        return spectrum
    right, image = as_numpy(spectrum.right).copy(), as_numpy(spectrum.image).copy()
    u, w, root = right[:, :few], image[:, :few], np.sqrt(theta)
    rest = w - u * theta
    scatter = rest.T @ rest
    nu, z = eigh(np.diag(theta) + scatter / root[:, None] / root)
    turn = z / root[:, None] * np.sqrt(nu)
    u[:], w[:] = u @ turn, w @ turn
    values, residual = spectrum.values.copy(), certificate.residual.copy()
    # Rounding of the entries may lift ν above λ, never above the interval.
    values[:few] = np.minimum.accumulate(np.minimum(nu, certificate.upper[:few]))
    # What a bound had beyond the residual is arithmetic, and is turned with the vectors.
    wrong = np.maximum(residual[:few] - np.sqrt(np.diagonal(scatter)), 0.0)
    left = np.linalg.norm(w - u * values[:few], axis=0)
    residual[:few] = (left + np.abs(turn).T @ wrong) / np.linalg.norm(turn, axis=0)
    lower = certificate.lower.copy()
    lower[:few] = _least(nu, z / root[:, None], wrong)
    certificate = certificate.of_pairs(values[: len(lower)], lower, residual)
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


def _least(nu: FloatArray, turn: FloatArray, wrong: FloatArray) -> FloatArray:
    """Return lower bounds (k,) on the eigenvalues of A, W = AU being off by `wrong` (k,).

    With C = Θ^-½Z, |WCy| ≥ √ν_i for unit y among the first i axes, up to what is wrong:
    δ_i² = Σ_j wrong_j²·Σ_{l≤i} C_jl². (UC)ᵀA(UC), which is I, is off by at most δ_i·|UC|.
    """
    squares = np.cumsum(turn**2, axis=1)
    off = np.sqrt(wrong**2 @ squares)
    most = np.sqrt(np.sum(squares, axis=0))
    return np.asarray(np.maximum(np.sqrt(nu) - off, 0.0) ** 2 / (1 + off * most))
