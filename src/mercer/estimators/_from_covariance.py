"""A PCA model from second moments alone."""

import dataclasses
from typing import Any, TypeVar

import numpy as np

from mercer.arrays import EPS
from mercer.errors import InputError
from mercer.operators import Centring, Dense
from mercer.solvers import Exact, Floor, Goal

_Model = TypeVar("_Model", bound=Any)


def fitted_from(model: _Model, C: Any, mean: Any, n: int) -> _Model:
    """Return `model` fitted to covariance C (p, p), mean (p,) and n rows."""
    from mercer.estimators._pca_paths import Found, Recipe
    from mercer.estimators.pca import _root_feature_weight

    model._check_parameters()
    covariance = np.asarray(C, dtype=np.float64)
    mean = np.asarray(mean, dtype=np.float64)
    _check(covariance, mean, n)
    p = len(mean)
    shape = (int(n), p)
    recipe = Recipe(
        components=p if n > p else min(n, p),
        tol=model.tol or 1e-6,
        seed=0,
        standardize=bool(model.standardize),
        root_feature_weight=_root_feature_weight(model.feature_weight, p),
    )
    variances = np.diagonal(covariance).copy()
    factor = recipe.factor_of(variances, EPS * np.sqrt(mean**2 + variances))
    matrix = covariance if factor is None else covariance * np.outer(factor, factor)
    matrix = (matrix + matrix.T) * (0.5 * (n - 1))
    error = EPS * (4 + np.sqrt(p)) * float(np.trace(matrix))
    floor = Floor(4.0 * max(shape) * EPS)
    goal = Goal(recipe.components, recipe.tol, floor, float(np.trace(matrix)), error)
    spectrum = Exact().solve(Dense(matrix, symmetric=True), goal)
    if spectrum.values[-1] < -floor.at(float(spectrum.values[0])) - error:
        raise InputError(
            "a covariance matrix has no negative eigenvalue",
            got=f"smallest eigenvalue {spectrum.values[-1] / (n - 1):.3g}",
            fix="pass the covariance of real data, dividing by n - 1",
        )
    centring = Centring(mean, np.zeros(p), 0, factor)
    found = Found(centring, float(n), float(np.trace(matrix)), 0.0, min(n - 1, p))
    source = _Moments(shape)
    k = model._settle(spectrum, found, shape)
    spectrum = dataclasses.replace(spectrum, certificate=spectrum.certificate.first(k))
    model.__dict__.update(model._scale(spectrum, found, source), n_features_in_=p, plan_=None)
    return model


class _Moments:
    """Stands where a source would: a shape and float64."""

    products = np.dtype(np.float64)

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape


def _check(covariance: Any, mean: Any, n: int) -> None:
    p = mean.shape[0] if mean.ndim == 1 else -1
    sound = (
        covariance.shape == (p, p) and np.isfinite(covariance).all() and np.isfinite(mean).all()
    )
    if not sound or not np.allclose(covariance, covariance.T, rtol=1e-10, atol=0) or n < 2:
        raise InputError(
            "C must be a symmetric, finite (p, p) matrix, mean (p,), and n at least 2",
            got=f"C of shape {covariance.shape}, mean of shape {mean.shape}, n={n}",
            fix="pass np.cov(X, rowvar=False), X.mean(axis=0) and len(X)",
        )
    if not np.trace(covariance) > 0:
        raise InputError(
            "the data has no variance",
            got=f"a covariance matrix of trace {np.trace(covariance):g}",
            fix="check the columns",
        )
