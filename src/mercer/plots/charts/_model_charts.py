"""Panels of a fitted model: its attributes are read by name, whatever its class is."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError
from mercer.plots._marks import Panel
from mercer.plots.charts._biplot import Scaling, biplot
from mercer.plots.charts._correlation_circle import circle
from mercer.plots.charts._loadings import contributions, loadings
from mercer.plots.charts._outlier_map import outlier_map
from mercer.plots.charts._point_maps import scores
from mercer.plots.charts._scree import reconstruction, scree, shares

Vector = NDArray[np.float64]

_DRAWABLE = 400  # smaller side of a table up to which noise is drawn for a picture
_DRAWS = 60
_NO_AXES = "pass a fitted PCA; kernel axes are no directions of the columns"


def spectrum_of(model: Any) -> tuple[Vector, Vector, Vector, Vector]:
    """Return eigenvalues, lower and upper ends of their intervals, and shares, all (k,).

    The unit is that of the certificate: variances for PCA, eigenvalues of the kernel matrix
    for kernel PCA. A model without a certificate has intervals of no width, and so has the
    spherical robust PCA, whose certificate is of another matrix.

    Parameters
    ----------
    model : fitted PCA, KernelPCA, RobustPCA, or one of scikit-learn's
        Its `explained_variance_` and `explained_variance_ratio_` are read.
    """
    values = getattr(model, "eigenvalues_", None)
    values = _read(model, "explained_variance_") if values is None else values
    values = np.abs(np.asarray(values, np.float64))
    ratio = np.asarray(_read(model, "explained_variance_ratio_"), np.float64)
    certificate = getattr(model, "certificate_", None)
    if certificate is None or getattr(model, "method", None) == "spherical":
        return values, values, values, ratio
    lower, upper = certificate.lower, certificate.upper
    if hasattr(model, "consistency_"):
        # Robust variances are those of the certificate times a factor for each axis.
        middle = (lower + upper) / 2
        factor = np.where(middle > 0, values / np.where(middle > 0, middle, 1.0), 1.0)
        lower, upper = factor * lower, factor * upper
    return values, lower, upper, ratio


def scree_of(model: Any, X: ArrayLike | None = None) -> Panel:
    """Describe the variances of a model beside those of noise.

    Noise is a table of as many normal rows whose columns have the variances observed and no
    correlation: the band holds nine tenths of its eigenvalues, rank by rank. It is drawn for
    linear PCA where the variances of the columns are known, and the smaller side of the table
    is at most 400. Where `n_components="auto"` chose, the number stands in the legend.

    Parameters
    ----------
    model : fitted model
        See :func:`spectrum_of`.
    X : array of shape (n, p), optional
        The rows of the fit: for the variances of the columns where the model neither
        standardises nor keeps all axes.
    """
    from mercer.selection import noise_quantiles

    values, lower, upper, ratio = spectrum_of(model)
    choice = getattr(model, "choice_", None)
    columns = _variances(model, X) if hasattr(model, "components_") else None
    null: ArrayLike | None = None
    n = int(getattr(model, "n_samples_", 0))
    if columns is not None and n > 2 and min(n, columns.size) <= _DRAWABLE:
        draws = _DRAWS if min(n, columns.size) <= 100 else _DRAWS // 3
        null = noise_quantiles(n, columns, draws=draws)
    return scree(
        values, lower, upper, ratio,
        null=null, null_words="noise, 5 to 95 %", k=None if choice is None else choice.k,
    )  # fmt: skip


def shares_of(model: Any) -> Panel:
    """Describe the cumulative shares of the variance of a fitted model."""
    return shares(_read(model, "explained_variance_ratio_"))


def reconstruction_of(model: Any, X: ArrayLike | None = None) -> Panel:
    """Describe how much of the rows k = 0, 1, … components of a model do not rebuild.

    In the space that was analysed: of standardised columns in a model that standardises, and
    in that of the kernel for kernel PCA, where 1 - Σ_{i≤k} λ_i/Σλ is left.

    Parameters
    ----------
    model : fitted PCA, KernelPCA, or one of scikit-learn's
        Its `explained_variance_ratio_` is read; keep all axes to see the whole curve.
    X : array of shape (n, p), optional
        Rows that were not fitted, for a second curve. It needs `components_` and `mean_`.
    """
    ratio = np.asarray(_read(model, "explained_variance_ratio_"), np.float64)
    left = np.append(1.0, 1.0 - np.cumsum(ratio))
    left[np.abs(left) < 1e-9] = 0.0  # rounding of the sum
    held_out = None if X is None else _left_of(model, X)
    return reconstruction(left, held_out=held_out, k=getattr(model, "n_components_", None))


def _left_of(model: Any, X: ArrayLike) -> Vector:
    """Return Σ‖x̃ - x̂_k‖²/Σ‖x̃‖² (k + 1,) of other rows, about the mean of the fit."""
    V = np.asarray(_read(model, "components_"), np.float64)
    rows = np.asarray(X, np.float64)
    if rows.ndim != 2 or rows.shape[1] != V.shape[1] or not np.isfinite(rows).all():
        raise InputError(
            "rows to rebuild are finite numbers with as many columns as the axes",
            got=f"X of shape {rows.shape}, axes of {V.shape[1]} columns",
            fix="pass rows with the columns of the fit, without missing cells",
        )
    rows = rows - np.asarray(_read(model, "mean_"), np.float64)
    scale = getattr(model, "scale_", None)
    rows = rows if scale is None else rows / np.asarray(scale)
    whole = float(np.sum(rows**2))
    rebuilt = np.append(0.0, np.cumsum(np.sum((rows @ V.T) ** 2, axis=0)))
    return np.asarray(1.0 - rebuilt / whole if whole > 0 else 0.0 * rebuilt)


def scores_of(
    model: Any,
    Z: ArrayLike,
    labels: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    axes: tuple[int, int] = (0, 1),
    *,
    ellipse: float | None = None,
) -> Panel:
    """Describe the map of rows Z = model.transform(X); see :func:`mercer.plots.scores`."""
    ratio = _read(model, "explained_variance_ratio_")
    return scores(Z, labels, names, axes, ratio=ratio, ellipse=ellipse)


def loadings_of(
    model: Any,
    names: Sequence[str] | None = None,
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    axes: Sequence[int] = (0, 1),
    interval: str = "",
) -> Panel:
    """Describe the heaviest features of a fitted model; see :func:`mercer.plots.loadings`."""
    V = _read(model, "components_")
    named = _names(model, names, V)
    return loadings(V, named, lower=lower, upper=upper, axes=axes, interval=interval)


def contributions_of(model: Any, axis: int = 0, names: Sequence[str] | None = None) -> Panel:
    """Describe what each column gives to one axis, v_aj²; the line is at 1/p."""
    V = np.asarray(_read(model, "components_"), np.float64)
    if not 0 <= axis < len(V):
        raise InputError(
            "there is no such component",
            got=f"axis={axis} of {len(V)} components (counted from 0)",
            fix=f"take an axis between 0 and {len(V) - 1}",
        )
    return contributions(
        V[axis] ** 2,
        _names(model, names, V),
        title=f"Contributions to PC{axis + 1}",
        expected=1 / V.shape[1],
    )


def circle_of(
    model: Any,
    X: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    axes: tuple[int, int] = (0, 1),
    *,
    least: float = 0.5,
) -> Panel:
    """Describe the columns of a fitted model in the unit circle.

    Parameters
    ----------
    model : fitted PCA
        Its `components_` and `explained_variance_` are read.
    X : array of shape (n, p), optional
        The rows of the fit: needed for the variances of the columns where the model neither
        standardises nor keeps all axes.
    names : sequence of p str, optional
        Names of the columns; by default `feature_names_in_`, or x0, x1, …
    axes : (int, int)
        The two components, counted from 0.
    least : float
        See :func:`mercer.plots.circle`.
    """
    from mercer.diagnostics import correlations

    V = np.asarray(_read(model, "components_"), np.float64)
    columns = _variances(model, X)
    if columns is None:
        raise InputError(
            "correlations need the variances of the columns, which this model has not kept",
            got=f"{len(V)} axes of {V.shape[1]} columns that were not standardised",
            fix="pass the rows of the fit: circle_of(model, X)",
        )
    found = correlations(V, np.asarray(_read(model, "explained_variance_")), columns)
    ratio = _read(model, "explained_variance_ratio_")
    return circle(found, _names(model, names, V), axes, ratio=ratio, least=least)


def biplot_of(
    model: Any,
    Z: ArrayLike,
    names: Sequence[str] | None = None,
    axes: tuple[int, int] = (0, 1),
    *,
    scaling: Scaling = "covariance",
    labels: ArrayLike | None = None,
    rows: Sequence[str] | None = None,
    most: int = 12,
) -> Panel:
    """Describe rows Z = model.transform(X) and columns together; the scaling is stated.

    Parameters
    ----------
    model : fitted PCA
        Its `components_`, `explained_variance_` and `explained_variance_ratio_` are read;
        whitened coordinates are taken back to those of the axes.
    Z : array of shape (n, k)
        Coordinates of the rows.
    names : sequence of p str, optional
        Names of the columns; by default `feature_names_in_`, or x0, x1, …
    axes, scaling, labels, rows, most
        See :func:`mercer.plots.biplot`.
    """
    V = np.asarray(_read(model, "components_"), np.float64)
    variances = np.asarray(_read(model, "explained_variance_"), np.float64)
    whiten = getattr(model, "whiten", False)
    if isinstance(whiten, str):
        raise InputError(
            "ZCA-whitened rows have no coordinates on the axes",
            got=f"whiten={whiten!r}",
            fix="fit with whiten=False for a biplot",
        )
    given = np.asarray(Z, np.float64)
    if whiten and given.ndim == 2 and given.shape[1] == len(variances):
        given = given * np.sqrt(variances)
    ratio = _read(model, "explained_variance_ratio_")
    return biplot(
        given, V, variances, _names(model, names, V), axes,
        scaling=scaling, labels=labels, rows=rows, ratio=ratio, most=most,
    )  # fmt: skip


def outlier_map_of(found: Any, names: Sequence[str] | None = None) -> Panel:
    """Describe T² and Q of the rows of a fit, with their limits.

    Parameters
    ----------
    found : Outliers or fitted RobustPCA
        What `mercer.diagnostics.outliers` returns; or a robust model, whose two distances
        are squared.
    names : sequence of n str, optional
        Names of the rows.
    """
    if hasattr(found, "score_distance_"):
        return outlier_map(
            found.score_distance_**2, found.orthogonal_distance_**2,
            float(found.score_cutoff_) ** 2, float(found.orthogonal_cutoff_) ** 2,
            names, level=float(found.level), rows="rows of the fit",
        )  # fmt: skip
    if not hasattr(found, "fitted"):
        raise InputError(
            "a T²-Q map is drawn of outliers that were looked for",
            got=type(found).__name__,
            fix="pass mercer.diagnostics.outliers(X, k), or a fitted RobustPCA",
        )
    limits = found.farthest
    return outlier_map(found.t2, found.q, limits.t2, limits.q, names, rows="rows of the fit")


def _read(model: Any, name: str) -> Any:
    """Return a fitted attribute, or say that it is not there."""
    found = getattr(model, name, None)
    if found is None:
        raise InputError(
            f"this panel reads {name}, which the model has not",
            got=f"{type(model).__name__} without {name}",
            fix=_NO_AXES if name == "components_" else "pass a fitted model",
        )
    return found


def _names(model: Any, names: Sequence[str] | None, V: ArrayLike) -> list[str]:
    given = getattr(model, "feature_names_in_", None) if names is None else names
    if given is None:
        return [f"x{j}" for j in range(np.shape(V)[1])]
    return [str(name) for name in given]


def _variances(model: Any, X: ArrayLike | None) -> Vector | None:
    """Return the variances of the columns as they were analysed, where they can be known."""
    V = np.asarray(model.components_, np.float64)
    lam = np.asarray(model.explained_variance_, np.float64)
    if getattr(model, "standardize", False):
        weight = getattr(model, "feature_weight", None)
        # A constant column has no place in any axis.
        return np.asarray(np.any(V != 0, axis=0) * (1.0 if weight is None else weight))
    if X is not None:
        scale = getattr(model, "scale_", None)
        spread = _spread(model, np.asarray(X, np.float64), V.shape[1])
        return spread if scale is None else spread / np.asarray(scale) ** 2
    n = int(getattr(model, "n_samples_", 0))
    if n and len(V) >= min(n - 1, V.shape[1]):
        return np.asarray(lam @ V**2)
    return None


def _spread(model: Any, table: Vector, p: int) -> Vector:
    """Return the variances of the columns over the rows that count."""
    if table.ndim != 2 or table.shape[1] != p or len(table) < 2:
        raise InputError(
            "the rows of the fit have as many columns as the axes",
            got=f"X of shape {table.shape}, axes of {p} columns",
            fix="pass the table the model was fitted to",
        )
    counts = getattr(model, "weights_", None)
    if counts is None or len(counts) != len(table):
        return np.asarray(np.var(table, axis=0, ddof=1))
    kept = table[np.asarray(counts) > 0]
    return np.asarray(float(model.consistency_) * np.var(kept, axis=0, ddof=1))
