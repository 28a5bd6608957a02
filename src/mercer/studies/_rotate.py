"""rotate(): the leading axes of a fit, turned to simple structure, with their variances."""

import dataclasses
from numbers import Integral
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.diagnostics import loadings, oblimin, orthomax, promax
from mercer.errors import InputError
from mercer.estimators.walk._admission import held_rows
from mercer.estimators.walk._parameters import check_fitted

_METHODS = ("varimax", "quartimax", "promax", "oblimin")


@final
@dataclasses.dataclass(frozen=True)
class Rotated:
    """Rotated components. They are no principal axes any more: none has largest variance.

    Attributes
    ----------
    method : str
        varimax, quartimax, promax or oblimin.
    loadings : ndarray of shape (p, k)
        Of the columns, L = V√Λ·T: for standardised data and orthogonal rotations their
        correlations with the rotated scores.
    matrix : ndarray of shape (k, k)
        T.
    correlations : ndarray of shape (k, k)
        Of the rotated scores.
    variances : ndarray of shape (k,)
        Σ_i l_ij², in the units of `explained_variance_`. For orthogonal rotations they add up
        to the variance of the k axes; oblique factors share variance, and do not.
    ratio : ndarray of shape (k,)
        Divided by the total variance of all columns.
    names : tuple of str
        Of the columns.
    converged : bool
        Whether the criterion had stopped growing.
    """

    method: str
    loadings: Array
    matrix: Array
    correlations: Array
    variances: Array
    ratio: Array
    names: tuple[str, ...]
    converged: bool
    _model: Any = dataclasses.field(repr=False)

    def transform(self, X: Any) -> Array:
        """Return the rotated scores of rows (n, k), Z·Λ^-½·T⁻ᵀ: of variance one at fit.

        Parameters
        ----------
        X : array or frame of shape (n, p)
            Rows.
        """
        model, k = self._model, len(self.variances)
        source = model._admit(held_rows(X), reset=False)
        scores = np.asarray(model._scores(source), np.float64)[:, :k]
        unit = scores / np.sqrt(np.asarray(model.explained_variance_[:k], np.float64))
        return np.asarray(unit @ np.linalg.inv(self.matrix).T)

    def __str__(self) -> str:
        """Return a line for each rotated component."""
        return "\n".join(
            f"{self.method} {j + 1}: {share:.1%} of the variance; {_heavy(self, j)}"
            for j, share in enumerate(self.ratio)
        )


def rotate(
    model: Any, axes: int | None = None, *, method: str = "varimax", normalise: bool = True
) -> Rotated:
    """Return the leading axes of a linear model, rotated.

    Parameters
    ----------
    model : PCA
        Fitted.
    axes : int or None
        How many of its axes are turned among themselves; None for all with variance.
    method : {"varimax", "quartimax", "promax", "oblimin"}
        Few large loadings per component; few per column; or oblique components.
    normalise : bool
        Whether columns count alike, however much of them the axes show (Kaiser).

    Examples
    --------
    >>> import numpy as np, mercer
    >>> rng = np.random.default_rng(0)
    >>> F = rng.standard_normal((200, 2))
    >>> X = np.repeat(F, 3, axis=1) + 0.3 * rng.standard_normal((200, 6))
    >>> turned = mercer.rotate(mercer.PCA(2, standardize=True).fit(X))
    >>> np.abs(turned.loadings).round(1)[[0, 5]]
    array([[1., 0.],
           [0., 1.]])
    """
    check_fitted(model)
    if not hasattr(model, "components_") or not hasattr(model, "_scores"):
        raise InputError(
            "only axes of columns can be rotated",
            got=type(model).__name__,
            fix="pass a fitted mercer.PCA",
        )
    k = int(model.rank_) if axes is None else axes
    if not isinstance(k, Integral) or not 2 <= k <= int(model.rank_):
        raise InputError(
            "a rotation turns two axes or more among themselves",
            got=f"axes={axes}, a model with {int(model.rank_)} axes that have variance",
            fix="fit more components, or ask for fewer",
        )
    if method not in _METHODS:
        raise InputError(
            "there is no such rotation", got=f"method={method!r}", fix=f"one of {_METHODS}"
        )
    A = loadings(model.components_[:k], model.explained_variance_[:k])
    if method in ("promax", "oblimin"):
        found = (promax if method == "promax" else oblimin)(A, normalise=normalise)
    else:
        found = orthomax(A, gamma=float(method == "varimax"), normalise=normalise)
    variances = np.sum(found.loadings**2, axis=0)
    total = float(model.explained_variance_[0] / model.explained_variance_ratio_[0])
    names = getattr(model, "feature_names_in_", None)
    columns = [f"column {j}" for j in range(len(A))] if names is None else map(str, names)
    turned = found.loadings, found.matrix, found.correlations
    spread = variances, variances / total
    return Rotated(method, *turned, *spread, tuple(columns), found.converged, model)


def _heavy(found: Rotated, j: int) -> str:
    """Return the columns with the largest loadings on one component, with their signs."""
    column = found.loadings[:, j]
    order = np.argsort(-np.abs(column), kind="stable")[:4]
    return ", ".join(f"{found.names[i]} {column[i]:+.2f}" for i in order)
