"""Before: what a fitted PCA knows of the rows it was fitted to, in the units it analyses."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators import PCA, RobustPCA
from mercer.estimators.walk._parameters import check_fitted

_STEPS = 60  # of the fixed point that takes the bias out of a variance
_CLEAR = 5.0  # relative reach of chance beyond the edge of noise, times √n


@final
@dataclasses.dataclass(frozen=True)
class Before:
    """The rows of a fit, known by their model. Rows enter as x̃ = (x - mean)·factor.

    Attributes
    ----------
    rows : float
        n, or Σw.
    names : tuple of str
        Of the columns.
    mean, factor : ndarray of shape (p,)
        Of the columns; the factor is one where nothing was scaled.
    axes : ndarray of shape (k, p)
        Axes that have variance.
    variances : ndarray of shape (k,)
        λ along them.
    rest : float
        Σλ of the axes left out.
    deviations : ndarray of shape (p,) or None
        Standard deviations of the columns of x̃, where they are known.
    nearly : ndarray of shape (p,)
        The same from VΛVᵀ + noise·(I - VVᵀ).
    """

    rows: float
    names: tuple[str, ...]
    mean: Array
    factor: Array
    axes: Array
    variances: Array
    rest: float
    deviations: Array | None
    nearly: Array

    @property
    def total(self) -> float:
        """Σλ over all axes: the total variance."""
        return float(np.sum(self.variances)) + self.rest

    @property
    def k(self) -> int:
        """Number of axes."""
        return len(self.variances)

    def expected(self, squares: float) -> tuple[Array, Array, Array]:
        """Return the variances (k,) that new rows like those of the fit have, and their range.

        Axes are chosen for their large variance, so that λ is too large by
        λ = ℓ(1 + γ·∫ t/(ℓ-t) dH(t)), with H the true variances left out, and new rows have
        ℓ²/λ [Ledoit2011]_. H counts by its first two moments: a point at Σt²/Σt. Of an axis
        that is not clear of noise only a range is known: from the mean variance left out to λ.

        Parameters
        ----------
        squares : float
            Σt² of the variances left out.

        Returns
        -------
        expected, least, most : ndarray of shape (k,)
        """
        p, values = len(self.mean), self.variances
        if p == self.k:
            return values, values, values
        if not self.rest > 0:  # as many axes as rows: what is outside is not known
            return values, np.zeros(self.k), values
        found = values
        for _ in range(2):  # what axes lose is added to the rest
            rest = self.rest + float(np.sum(values - found))
            point = min(max(squares / rest, rest / (p - self.k)), rest)
            load = rest / self.rows
            found = _shrunk(values, point, load)
        reach = (np.sqrt(point) + np.sqrt(load)) ** 2 * (1 + _CLEAR / np.sqrt(self.rows))
        noise = values < reach
        least = np.where(noise, np.minimum(rest / (p - self.k), found), found)
        return found, least, np.where(noise, values, found)


def _shrunk(values: Array, point: float, load: float) -> Array:
    """Return ℓ²/λ with λ = ℓ(1 + load/(ℓ - point)), ℓ not below the edge of noise."""
    edge = point + np.sqrt(point * load)
    lower, upper = np.full(len(values), edge), np.maximum(values, edge)
    for _ in range(_STEPS):
        middle = (lower + upper) / 2
        over = middle * (1 + load / (middle - point)) > values
        lower, upper = np.where(over, lower, middle), np.where(over, middle, upper)
    return np.asarray(np.minimum(lower**2 / values, values))


def before(model: Any) -> Before:
    """Return what a fitted PCA or RobustPCA knows of the rows of its fit."""
    if not isinstance(model, PCA):
        raise InputError(
            "drift needs a fitted PCA, RobustPCA or KernelPCA of mercer",
            got=type(model).__name__,
            fix="pass such a model, or mercer.load its file",
        )
    check_fitted(model)
    p, k = model.n_features_in_, int(model.rank_)
    unit = 2.0**-model._centring.unit
    factor = np.ones(p) if model.scale_ is None else 1 / model.scale_
    values = np.asarray(model._unit_deviations[:k], np.float64) ** 2
    axes = np.asarray(model.components_[:k], np.float64)
    rows = _rows(model)
    left = max(min(int(rows * (1 + 1e-12)), p) - model.n_components_, 0)
    rest = float(model.noise_variance_) * unit**2 * left
    if isinstance(model, RobustPCA):  # of the rows that count, as new rows are compared
        values, rest = values / model.consistency_, rest / model.consistency_
    nearly = np.sum(axes**2 * values[:, None], axis=0)
    noise = rest / max(p - k, 1)
    nearly = np.sqrt(nearly + noise * np.maximum(1 - np.sum(axes**2, axis=0), 0.0))
    return Before(
        rows=rows,
        names=_names(model),
        mean=np.asarray(model.mean_, np.float64),
        factor=factor * unit,
        axes=axes,
        variances=values,
        rest=rest,
        deviations=_deviations(model, nearly, rest),
        nearly=nearly,
    )


def _rows(model: PCA) -> float:
    if isinstance(model, RobustPCA):
        return float(np.sum(model.weights_))
    values, roots = (
        model._unit_deviations,
        np.ldexp(model.singular_values_, -model._centring.unit),
    )
    if model.rank_ == 0:
        return float(model.n_samples_)
    return float(np.round((roots[0] / values[0]) ** 2 + 1, 6))  # Σw of repeat counts


def _names(model: PCA) -> tuple[str, ...]:
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return tuple(map(str, names))
    return tuple(f"column {j}" for j in range(model.n_features_in_))


def _deviations(model: PCA, nearly: Array, rest: float) -> Array | None:
    """Return standard deviations of x̃: known where columns were standardised, or all kept."""
    if model.standardize and not isinstance(model, RobustPCA):
        weight = 1.0 if model.feature_weight is None else np.asarray(model.feature_weight)
        return np.ones(len(nearly)) * np.sqrt(weight)
    return nearly if rest == 0 else None
