"""The fitted attributes that FAMD and MFA share."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.estimators.mixed._mixed_axes import MixedAxes
from mercer.estimators.mixed._mixed_frame import MixedFrame
from mercer.estimators.mixed._mixed_table import Mixed
from mercer.solvers import Certificate, Spectrum


@dataclasses.dataclass(frozen=True, eq=False)
class Built:
    """What the scaling of a fit needs of its table.

    Attributes
    ----------
    frame : MixedFrame
        How cells become numbers.
    masses : array of shape (n,)
        Of the rows.
    total : float
        Sum of the weights.
    inertias : array of shape (p + J,)
        Of the columns, before their weights.
    weights : array of shape (p + J,)
        c² of the columns: 1, or 1/λ₁ of their group.
    noise : float or None
        s² of a completed table.
    steps : int
        That filling took.
    groups : Any
        What MFA found in each group.
    """

    frame: MixedFrame
    masses: Array
    total: float
    inertias: Array
    weights: Array
    noise: float | None = None
    steps: int = 0
    groups: Any = None


Fills = Callable[[Array, Array, Built, float], Any]


def fitted_state(
    spectrum: Spectrum, trace: float, built: Built, source: Mixed, fills: Fills | None = None
) -> dict[str, Any]:
    """Return the attributes of a fit: coordinates, masses, inertias, links with variables.

    Parameters
    ----------
    spectrum : Spectrum
        Leading pairs (λ, v) of A.
    trace : float
        Total inertia.
    built : Built
        What A was made of.
    source : Mixed
        The training rows.
    fills : callable or None
        Makes the filling of missing cells from values, axes, what was built, and the trace.
    """
    frame, n = built.frame, source.shape[0]
    values, axes, certificate = leading(spectrum, min(frame.rank, n - 1))
    masses = frame.masses * built.weights
    phi = standard(axes, masses)
    filling = None if fills is None else fills(values, axes, built, trace)
    placing = MixedAxes(frame, phi * built.weights[:, None], built.weights, filling)
    coordinates, squares = placing.placed(source)
    return {
        "eigenvalues_": values,
        "explained_variance_ratio_": values / trace,
        "total_inertia_": float(trace),
        "row_coordinates_": coordinates,
        "row_masses_": built.masses,
        "row_names_": None if source.rows is None else list(source.rows),
        "column_names_": frame.labels,
        "column_masses_": masses,
        "column_standard_": phi,
        "column_inertias_": built.inertias * built.weights,
        "squared_correlations_": _links(values, axes, built),
        "variables_": list(frame.names),
        "categories_": [variable.values for variable in frame.variables],
        "mean_": frame.mean,
        "scale_": frame.scale,
        "n_components_": len(values),
        "n_samples_": n,
        "certificate_": certificate,
        "_axes": placing,
        "_row_squares": squares,
        "_total_weight": built.total,
    }


def _links(values: Array, axes: Array, built: Built) -> Array:
    """Return r² or η² (given columns, k): λv²/c², numbers over their variance as well."""
    frame = built.frame
    p = len(frame.spread)
    own = built.weights.copy()
    if not frame.scaled:
        own[:p] *= np.where(built.inertias[:p] > 0, built.inertias[:p], 1.0)
    found = np.zeros((len(frame.kinds), len(values)))
    np.add.at(found, frame.owner, axes**2 * values / np.where(own > 0, own, 1.0)[:, None])
    return found


def masses_of(weights: Array | None, n: int) -> tuple[Array, float]:
    """Return the masses (n,) of rows, which sum to one, and the sum of their weights."""
    if weights is None:
        return np.full(n, 1 / n), float(n)
    total = float(np.sum(weights))
    return np.asarray(weights, np.float64) / total, total


def leading(spectrum: Spectrum, most: int) -> tuple[Array, Array, Certificate]:
    """Return values (k,), axes (p + J, k) and certificate of at most `most` pairs.

    Pairs whose eigenvalue rounding alone could have made are no axes, and are left out.
    """
    values = np.asarray(spectrum.values[:most])
    k = max(1, int(np.count_nonzero(values > spectrum.certificate.zero_level)))
    axes = np.asarray(spectrum.right)[:, :k]
    return np.maximum(values[:k], 0.0), axes, spectrum.certificate.first(k)


def standard(axes: Array, masses: Array) -> Array:
    """Return φ = V/√m (p + J, k); columns without mass are at zero."""
    root = np.where(masses > 0, 1 / np.sqrt(np.where(masses > 0, masses, 1.0)), 0.0)
    return np.asarray(axes * root[:, None])
