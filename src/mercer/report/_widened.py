"""Wide: the axes of a model, and further ones that the page shows beside them."""

import dataclasses
import warnings
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.estimators import PCA

_SPECTRUM = 30  # components of the scree plot


@final
@dataclasses.dataclass(frozen=True)
class Wide:
    """Axes and variances: first those of the model, then the largest of what it leaves.

    Attributes
    ----------
    components_ : array of shape (m, p)
        Orthonormal axes; the first k are the model's own.
    explained_variance_, explained_variance_ratio_ : array of shape (m,)
        Variances, and their shares of the total.
    lower, upper : array of shape (m,)
        Intervals that hold the variances, as far as they are certified.
    groups : tuple of tuples of int
        Axes that cannot be told apart.
    mean_, scale_ : arrays of shape (p,), the latter may be None
        Of the model.
    """

    components_: Array
    explained_variance_: Array
    explained_variance_ratio_: Array
    lower: Array
    upper: Array
    groups: tuple[tuple[int, ...], ...]
    mean_: Array
    scale_: Array | None


def widened(model: Any, source: Any, weights: Any = None) -> Wide:
    """Return the axes of a fitted linear model with further ones, up to 30.

    Parameters
    ----------
    model : PCA or RobustPCA
        Fitted.
    source : array or source of shape (n, p)
        The rows of the fit, missing cells filled.
    weights : array of shape (n,) or None
        Of the rows, as `row_weights` returns them.
    """
    k = int(model.n_components_)
    n, p = source.shape
    most = max(1, min(_SPECTRUM, p, n - 1))
    own = np.asarray(model.components_, np.float64).reshape(k, p)
    variances, lower, upper = _intervals(model)
    if k >= most:
        return Wide(
            own, variances, np.asarray(model.explained_variance_ratio_), lower, upper,
            tuple(model.certificate_.groups), model.mean_, model.scale_,
        )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rest = PCA(most, **_scaling(model)).fit(source, sample_weight=weights)
    further = _beside(own, np.asarray(rest.components_, np.float64)[k:])
    ratio = np.asarray(model.explained_variance_ratio_)
    bounds = rest.certificate_
    return Wide(
        np.concatenate([own, further]),
        np.concatenate([variances, rest.explained_variance_[k:]]),
        np.concatenate([ratio, rest.explained_variance_ratio_[k:]]),
        np.concatenate([lower, bounds.lower[k:]]),
        np.concatenate([upper, bounds.upper[k:]]),
        tuple(bounds.groups),
        model.mean_,
        model.scale_,
    )


def _intervals(model: Any) -> tuple[Array, Array, Array]:
    """Return the variances of the model and their certified intervals."""
    values, certificate = np.asarray(model.explained_variance_), model.certificate_
    factor = float(getattr(model, "consistency_", 1.0))
    if getattr(model, "method", "") == "spherical":  # a certificate of signs, not of variances
        return values, values, values
    return (
        values,
        factor * np.asarray(certificate.lower),
        factor * np.asarray(certificate.upper),
    )


def _scaling(model: Any) -> dict[str, Any]:
    """Return the parameters of a PCA that scales columns as the model does."""
    if getattr(model, "outliers_", None) is None or model.scale_ is None:
        return {name: getattr(model, name) for name in ("standardize", "feature_weight")}
    # A robust scale is no standard deviation of all rows: it is given as weights of columns.
    return {"feature_weight": np.clip(np.asarray(model.scale_, np.float64), 1e-49, 1e49) ** -2}


def row_weights(model: Any, given: Any) -> Any:
    """Return the weights of the rows (n,), or None; outlying rows of a robust fit have none.

    Parameters
    ----------
    model : PCA or RobustPCA
        Fitted.
    given : array of shape (n,) or None
        As at fit.
    """
    out = getattr(model, "outliers_", None)
    if out is None:
        return given
    weights = np.ones(int(model.n_samples_)) if given is None else np.array(given, np.float64)
    weights[out] = 0.0
    return weights


def _beside(own: Array, further: Array) -> Array:
    """Return axes without their part in `own`, orthonormal, in their order and direction."""
    left = further - further @ own.T @ own
    q, r = np.linalg.qr(left.T)
    return np.asarray((q * np.where(np.diagonal(r) < 0, -1.0, 1.0)).T)
