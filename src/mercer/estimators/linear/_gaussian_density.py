"""The Gaussian model behind PCA: its covariance, precision and log-likelihood.

Rows ~ N(mean, S), S = D⁻¹(V diag(λ - σ²) Vᵀ + σ²I)D⁻¹ with D the column factors, and σ² the
mean of the variances left out [Tipping1999]_.
"""

from collections.abc import Callable

import numpy as np

from mercer.arrays import Array
from mercer.estimators.linear._principal_axes import PrincipalAxes
from mercer.operators import block_length, fetched
from mercer.sources import BlockSource, Source, in_memory


def covariance(axes: PrincipalAxes) -> Array:
    """Return the covariance S (p, p) of the model, in the units of the data."""
    axes.refuse_range()
    v = axes.components.astype(np.float64)
    extra = np.maximum(axes.variances - axes.noise, 0.0)
    s = (v.T * extra) @ v
    s.flat[:: s.shape[0] + 1] += axes.noise
    return s if axes.scale is None else s * np.outer(axes.scale, axes.scale)


def precision(axes: PrincipalAxes) -> Array:
    """Return S⁻¹ (p, p): (I - V diag((λ - σ²)/λ) Vᵀ)/σ², by the lemma of Woodbury."""
    axes.refuse_singular()
    v, values = axes.components.astype(np.float64), axes.variances
    k, p = axes.shape
    if k == p:
        inverse = (v.T / values) @ v
    else:
        share = np.maximum(values - axes.noise, 0.0) / values
        inverse = -(v.T * share) @ v
        inverse.flat[:: inverse.shape[0] + 1] += 1.0
        inverse /= axes.noise
    return inverse if axes.scale is None else inverse / np.outer(axes.scale, axes.scale)


def log_densities(axes: PrincipalAxes, source: Source) -> Array:
    """Return the log-likelihood (n,) of rows in memory.

    With z the coordinates and x̃ the centred row,
    -½(p ln 2π + ln|S| + Σ z_i²/λ_i + (‖x̃‖² - ‖z‖²)/σ²).
    """
    k, p = axes.shape
    scores, values = axes.scores(source).astype(np.float64), axes.variances
    distance = np.sum(scores**2 / values, axis=1)
    volume = float(np.sum(np.log(values)))
    if k < p:
        left = np.maximum(axes.row_norms(source) - np.sum(scores**2, axis=1), 0.0)
        distance = distance + left / axes.noise
        volume += (p - k) * float(np.log(axes.noise))
    if axes.scale is not None:
        volume += 2 * float(np.sum(np.log(axes.scale)))
    return np.asarray(-0.5 * (p * np.log(2 * np.pi) + volume + distance))


def block_densities(
    axes: PrincipalAxes,
    source: BlockSource,
    size: float,
    refuse: Callable[[BlockSource, Array, int], None],
) -> Array:
    """Return the log-likelihood (n,) of rows that are read in blocks of so many bytes.

    `refuse` names the bad cell of a block that begins at a row, if there is one.
    """
    found, done = [np.empty(0)], 0
    for block in fetched(source, block_length(source, size)):
        refuse(source, block, done)
        found.append(log_densities(axes, in_memory(block)))
        done += block.shape[0]
    return np.concatenate(found)
