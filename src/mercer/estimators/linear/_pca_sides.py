"""From the side of the samples to that of the features."""

import dataclasses

import numpy as np

from mercer.operators import Operator
from mercer.solvers import Spectrum, fix_signs


def features_from_samples(op: Operator, spectrum: Spectrum) -> Spectrum:
    """Return the pairs with v = X̃ᵀu/‖X̃ᵀu‖ (p, k) for u; axes without variance are zero.

    ‖X̃ᵀX̃v - λv‖ = ‖X̃ᵀ(X̃X̃ᵀu - λu)‖/√λ, so that residuals grow by √(λ₁/λ). Far below the
    first eigenvalue, rounding leaves X̃ᵀu a little oblique; the later axis is then corrected
    against the earlier ones.
    """
    u, values = spectrum.right, np.maximum(spectrum.values, 0.0)
    level = max(spectrum.certificate.zero_level, 1e-15 * float(values[0]))
    alive = int(np.sum(values > level))
    v = op.rmatmat(u[:, :alive])
    v = v / np.linalg.norm(v, axis=0)
    if alive and values[alive - 1] < 1e-6 * values[0]:
        q, r = np.linalg.qr(v)
        v = q * np.where(np.diagonal(r) < 0, -1.0, 1.0)
    missing = np.zeros((v.shape[0], u.shape[1] - alive))
    growth = np.sqrt(values[0] / np.maximum(values, level))
    certificate = spectrum.certificate.with_residual(spectrum.certificate.residual * growth)
    right = np.concatenate([fix_signs(v), missing], axis=1)
    return dataclasses.replace(spectrum, right=right, certificate=certificate)
