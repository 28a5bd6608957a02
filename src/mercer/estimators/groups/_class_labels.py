"""Labels of rows: which classes there are, and which row belongs to which.

What a method that tells classes apart does with new rows.
"""

import dataclasses
import math
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from mercer.arrays import Array, detached
from mercer.errors import REFUSALS, DataWarning, InputError, first_line, in_short, warn
from mercer.estimators.walk._parameters import check_fitted

_MISSING = ("NAType", "NaTType")  # of pandas, which need not be there


@dataclasses.dataclass(frozen=True, eq=False)
class Labels:
    """Classes (G,), sorted, and the class of every row as its number, (n,)."""

    classes: Array
    codes: Array


def labels_of(y: object, n: int, weights: Array | None, name: str) -> Labels:
    """Return the labels of n rows; classes that no weight counts are left out by name.

    Parameters
    ----------
    y : array, series or list of shape (n,)
        Numbers, text or booleans.
    n : int
        Rows.
    weights : ndarray of shape (n,) or None
        Repeat counts.
    name : str
        Of the estimator, for messages.
    """
    given = _checked(y, n, name)
    classes, codes = np.unique(given, return_inverse=True)
    codes = codes.reshape(-1)
    if weights is not None:
        classes, codes = _counted(classes, codes, weights)
    if len(classes) < 2:
        raise InputError(
            f"{name} needs at least two classes",
            got=f"1 class only: {classes.tolist()[0]!r}",
            fix="pass rows of every class that is to be told apart",
        )
    total = float(n if weights is None else np.sum(weights))
    if total - len(classes) <= 1e-9 * total:
        raise InputError(
            "there must be more rows than classes: one row of a class has no spread",
            got=f"{total:g} rows, {len(classes)} classes",
            fix="pass several rows of some class, or join classes",
        )
    return Labels(classes, codes)


def _checked(y: object, n: int, name: str) -> Array:
    """Return y as a vector without missing labels."""
    if y is None:
        raise InputError(
            f"This {name} estimator requires y to be passed, but the target y is None.",
            got="y=None",
            fix="pass one label per row: fit(X, y)",
        )
    try:
        y = detached(y)
        _refuse_missing(y)
        _refuse_mixed(y)
        given = np.asarray(column_or_1d(y, warn=True))
        _refuse_infinite(given)
        check_classification_targets(given)
    except InputError:
        raise
    except REFUSALS as error:
        shape = getattr(y, "shape", None)
        raise InputError(
            first_line(error),
            got=f"{type(y).__name__}" + (f" of shape {tuple(shape)}" if shape else ""),
            fix="pass one label per row: text, whole numbers or booleans",
        ) from None
    if len(given) != n:
        raise InputError(
            "y must hold one label per row",
            got=f"{len(given)} labels, X with {n} rows (inconsistent numbers of samples)",
            fix=f"pass an array of shape ({n},)",
        )
    return given


def _refuse_missing(y: object) -> None:
    """Name the first row without a label."""
    flat = np.asarray(y, None if isinstance(y, np.ndarray) else object).ravel()
    if flat.dtype.kind == "f":
        bad = np.flatnonzero(np.isnan(flat))
    elif flat.dtype.kind == "O":
        bad = np.array([i for i, label in enumerate(flat) if _is_missing(label)])
    else:
        return
    if bad.size:
        raise InputError(
            "Input y contains NaN: every row needs a label",
            got=f"{bad.size} rows without one, the first is row {int(bad[0])}",
            fix="leave these rows out of X and y",
        )


def _refuse_mixed(y: object) -> None:
    """Refuse labels without an order among them, as text and numbers have none."""
    flat = np.asarray(y).ravel()
    if flat.dtype.kind != "O":
        return
    odd = (i for i, label in enumerate(flat) if not isinstance(label, str | Real | np.generic))
    row = next(odd, None)
    if row is not None:
        raise InputError(
            "Unknown label type: labels are text, whole numbers or booleans",
            got=f"{type(flat[row]).__name__} {str(flat[row])[:40]!r} at row {row}",
            fix="turn labels into text: y.astype(str), or [str(label) for label in y]",
        )
    kinds = sorted({"text" if isinstance(label, str) else "numbers" for label in flat})
    if len(kinds) > 1:
        raise InputError(
            "labels of different kinds cannot be put in order",
            got=f"{' and '.join(kinds)} among the labels",
            fix="make all of them text, or all of them numbers",
        )


def _is_missing(label: object) -> bool:
    if label is None or type(label).__name__ in _MISSING:
        return True
    return isinstance(label, float | np.floating) and math.isnan(label)


def _refuse_infinite(given: Array) -> None:
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        row = int(np.flatnonzero(~np.isfinite(given))[0])
        raise InputError(
            "Input y contains infinity or a value too large for dtype('float64').",
            got=f"{given[row]} at row {row}",
            fix="leave these rows out of X and y",
        )


def _counted(classes: Array, codes: Array, weights: Array) -> tuple[Array, Array]:
    """Return the classes with weight; rows of the others count nothing wherever they are."""
    totals = np.bincount(codes, weights, minlength=len(classes))
    kept = totals > 0
    if kept.all():
        return classes, codes
    lost = [repr(c.item() if hasattr(c, "item") else c) for c in classes[~kept]]
    warn(
        f"{len(lost)} classes have no weight and are left out",
        got=in_short(lost),
        fix="give their rows a positive sample_weight, or leave the rows out",
        category=DataWarning,
    )
    return classes[kept], np.maximum(np.cumsum(kept) - 1, 0)[codes]


def priors_of(priors: object, totals: Array, classes: Array) -> Array:
    """Return the probabilities (G,) of the classes: those given, or the shares of the rows."""
    if priors is None:
        return np.asarray(totals / np.sum(totals))
    try:
        given = np.asarray(priors, np.float64)
    except (TypeError, ValueError):
        given = np.full(1, np.nan)
    wrong = given.shape != (len(classes),) or not np.isfinite(given).all()
    if wrong or np.any(given < 0) or not np.sum(given) > 0:
        raise InputError(
            "priors must be one probability per class, none of them negative",
            got=f"priors={priors!r}, {len(classes)} classes",
            fix=f"pass {len(classes)} numbers that sum to one, in the order of classes_",
        )
    if abs(np.sum(given) - 1) > 1e-5:
        warn(
            "priors do not sum to one and are divided by their sum",
            got=f"sum {np.sum(given):g}",
            fix="pass probabilities",
            category=DataWarning,
        )
    return np.asarray(given / np.sum(given))


class TellsClasses(ClassifierMixin):
    """Mixin: predictions from δ_g(x), the log posterior of each class up to a constant."""

    classes_: Array

    def _decisions(self, X: Any) -> Array:
        """Return δ (n, G) of rows, float64."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Array:
        """Return δ_g(x) = z·c_g - ½‖c_g‖² + ln π_g, (n, G); δ₁ - δ₀ (n,) for two classes.

        z and c_g are the canonical coordinates of the row and of the class mean, in units of
        the maximum-likelihood covariance within classes.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows.
        """
        check_fitted(self)
        found = self._decisions(X)
        return found[:, 1] - found[:, 0] if found.shape[1] == 2 else found

    def predict(self, X: Any) -> Array:
        """Return the most probable class (n,) of each row.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows.
        """
        check_fitted(self)
        return np.asarray(self.classes_[np.argmax(self._decisions(X), axis=1)])

    def predict_log_proba(self, X: Any) -> Array:
        """Return the log of the posterior probabilities (n, G), exact where these are tiny.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows.
        """
        check_fitted(self)
        found = self._decisions(X)
        return np.asarray(found - logsumexp(found, axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> Array:
        """Return the posterior probabilities (n, G) of the classes, in the order of classes_.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows.
        """
        return np.asarray(np.exp(self.predict_log_proba(X)))
