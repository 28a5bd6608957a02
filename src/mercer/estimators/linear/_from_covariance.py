"""A PCA model from second moments alone."""

import dataclasses
from typing import Any, TypeVar

import numpy as np

from mercer.arrays import EPS
from mercer.errors import InputError
from mercer.operators import Centring, Dense
from mercer.solvers import Exact, Floor, Goal

_Model = TypeVar("_Model", bound=Any)
_FIX = "pass np.cov(X, rowvar=False), X.mean(axis=0) and len(X)"


def fitted_from(model: _Model, C: Any, mean: Any, n: int) -> _Model:
    """Return `model` fitted to covariance C (p, p), mean (p,) and n rows."""
    from mercer.estimators.linear._pca_recipe import Found, PCARecipe, root_feature_weight

    model._check_parameters()
    covariance = np.asarray(C, dtype=np.float64)
    mean = np.asarray(mean, dtype=np.float64)
    _check(covariance, mean, n)
    p = len(mean)
    shape = (int(n), p)
    recipe = PCARecipe(
        components=p if n > p else min(n, p),
        tol=model.tol or 1e-6,
        seed=0,
        standardize=bool(model.standardize),
        root_feature_weight=root_feature_weight(model.feature_weight, p),
    )
    variances = np.diagonal(covariance).copy()
    factor = recipe.factor_of(variances, EPS * np.sqrt(mean**2 + variances))
    matrix = covariance if factor is None else covariance * np.outer(factor, factor)
    matrix = (matrix + matrix.T) * (0.5 * (n - 1))
    error = EPS * (4 + np.sqrt(p)) * float(np.trace(matrix))
    floor = Floor(4.0 * max(shape) * EPS)
    trace = float(np.trace(matrix))
    goal = Goal(recipe.components, recipe.tol, floor, trace, error, psd=True)
    spectrum = Exact().solve(Dense(matrix, symmetric=True), goal)
    if spectrum.values[-1] < -floor.at(float(spectrum.values[0])) - error:
        raise InputError(
            "a covariance matrix has no negative eigenvalue",
            got=f"smallest eigenvalue {spectrum.values[-1] / (n - 1):.3g}",
            fix="pass the covariance of real data, dividing by n - 1",
        )
    centring = Centring(mean, np.zeros(p), 0, factor)
    columns = variances if factor is None else variances * factor**2
    found = Found(
        centring, float(n), float(np.trace(matrix)), 0.0, min(n - 1, p), columns=columns
    )
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
    if covariance.shape != (p, p) or n < 2:
        raise InputError(
            "C must be a (p, p) matrix, mean (p,), and n at least 2",
            got=f"C of shape {covariance.shape}, mean of shape {mean.shape}, n={n}",
            fix=_FIX,
        )
    bad = np.argwhere(~np.isfinite(covariance))
    if len(bad) or not np.isfinite(mean).all():
        where = f"C at row {bad[0][0]}, column {bad[0][1]}" if len(bad) else f"mean {mean}"
        raise InputError("C and mean must be finite", got=f"NaN or infinity: {where}", fix=_FIX)
    apart = np.abs(covariance - covariance.T)
    row, column = np.unravel_index(int(np.argmax(apart)), apart.shape)
    if apart[row, column] > 1e-10 * np.max(np.abs(covariance)):
        one, other = covariance[row, column], covariance[column, row]
        got = f"{one:g} at row {row}, column {column}, but {other:g} mirrored"
        raise InputError("C must be symmetric", got=got, fix=_FIX)
    if np.min(np.diagonal(covariance)) < 0 or not np.trace(covariance) > 0:
        least = int(np.argmin(np.diagonal(covariance)))
        what = "a variance is negative" if np.trace(covariance) else "the data has no variance"
        raise InputError(
            what, got=f"C[{least}, {least}] = {covariance[least, least]:g}", fix=_FIX
        )
