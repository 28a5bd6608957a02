"""The log-likelihood of a model whose covariance is singular: its density on its support."""

import warnings
from typing import Any

import numpy as np

from mercer.arrays import EPS, Array
from mercer.errors import DataWarning


def has_density(model: Any) -> bool:
    """Whether the covariance of a fitted model is regular."""
    whole = model.n_components_ == model.n_features_in_ or model.noise_variance_ > 0
    return bool(np.all(model._alive)) and whole


def log_likelihood_on_support(model: Any, source: Any) -> Array:
    """Return -½(r ln 2π + Σ ln λ_i + Σ z_i²/λ_i) over the r axes with variance, (n,).

    A singular normal distribution has no density on the p features, but one on the r
    axes it lives on [Rao1973]_. Rows off them have probability zero: their value is -inf.

    Parameters
    ----------
    model : fitted PCA
        With axes that carry no variance.
    source : Source
        Rows of p features.
    """
    alive = model._alive
    values = model.explained_variance_[alive]
    scores = model._scores(source).astype(np.float64)[:, alive]
    norms = model._row_norms(source)
    inside = np.sum(scores**2, axis=1)
    distance = np.sum(scores**2 / values, axis=1)
    logs = -0.5 * (len(values) * np.log(2 * np.pi) + np.sum(np.log(values)) + distance)
    # What may lie off the support of rows that are on it: variances that count as zero,
    # and the rounding of ‖x̃‖² - ‖z‖², where x̃ = x - mean has an error of eps·(‖x̃‖ + ‖mean‖).
    zero = (model.n_samples_ - 1) * model.certificate_.zero_level * model.n_features_in_
    eps = max(EPS, float(np.finfo(model.components_.dtype).eps))
    error = 16 * eps * (np.sqrt(norms) + float(np.linalg.norm(model.mean_)))
    off = norms - inside > zero + error * (2 * np.sqrt(norms) + error)
    warnings.warn(
        "the covariance of the model is singular: scores are densities on its support\n"
        f"  got: rank {len(values)} with {model.n_features_in_} features; {int(np.sum(off))}"
        f" of {len(off)} rows off the support, scored -inf\n"
        "  fix: keep fewer components than the rank, so that noise is left",
        DataWarning,
        stacklevel=3,
    )
    return np.where(off, -np.inf, logs)
