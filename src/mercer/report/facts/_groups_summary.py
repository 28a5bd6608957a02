"""What a page about classes knows: coordinates, labels, held-out rows, shuffled labels."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators import PCA
from mercer.kernels import Precomputed
from mercer.report._page_request import tried
from mercer.report._row_labels import colours_of
from mercer.report.facts._linear_summary import column_names

_WORK = 3e8  # n·p² of a fit, times folds, up to which rows are held out
_KERNEL = 1500  # rows up to which kernels are fitted again
_FOLDS, _FEW_FOLDS = 10, 5
_DRAWS = 199
_CELLS = 5e6  # rows times columns up to which labels are shuffled


@final
@dataclasses.dataclass(frozen=True, eq=False)
class GroupsSummary:
    """A fit of classes and its rows.

    Attributes
    ----------
    model : LinearDiscriminantAnalysis or KernelDiscriminantAnalysis
        Fitted.
    names : tuple of str
        Of the columns.
    Z : array of shape (n, k)
        Canonical coordinates.
    y : array of n str, or None
        Classes of the rows as they were given.
    flat : (array of shape (n, 2), array) or None
        Coordinates by PCA, and their shares.
    predicted : array of n str
        What the model takes the rows for.
    confusion : Confusion or None
        Held-out rows by class and prediction.
    permutation : PermutationTest or None
        Shuffled labels.
    ellipses : ClassEllipses or None
        Of the classes in canonical coordinates.
    """

    model: Any
    names: tuple[str, ...]
    Z: Array
    y: Array | None
    flat: tuple[Array, Array] | None
    predicted: Array
    confusion: Any
    permutation: Any
    ellipses: Any

    @property
    def classes(self) -> list[str]:
        """Names of the classes."""
        return [str(label) for label in self.model.classes_]

    @property
    def k(self) -> int:
        """Axes."""
        return int(self.model.n_components_)

    @property
    def largest(self) -> float:
        """Share of the rows that the largest class has."""
        counts = np.asarray(self.model.class_counts_, np.float64)
        return float(counts.max() / counts.sum())


def groups_seen(model: Any, X: Any, y: Any) -> GroupsSummary:
    """Return what a page shows of a model, its rows and their classes.

    Parameters
    ----------
    model : LinearDiscriminantAnalysis or KernelDiscriminantAnalysis
        Fitted.
    X : array, sparse matrix or frame of shape (n, p)
        Rows.
    y : array of shape (n,) or None
        Their classes; without them nothing is held out, and no label shuffled.
    """
    Z = np.asarray(model._project(model._admit(X, reset=False)), np.float64)
    n = len(Z)
    given = None if y is None else np.asarray(y)
    if given is not None and given.shape != (n,):
        raise InputError(
            "y has a class for every row",
            got=f"{given.shape} for {n:,} rows",
            fix="pass the classes of these rows, in their order",
        )
    labels = None if given is None else np.asarray(colours_of({"y": given.astype(str)}, n)["y"])
    found: list[Any] = [None, None, None]
    if given is not None:
        kernel = hasattr(model, "kernel_")
        p = int(getattr(model, "n_features_in_", 0))  # objects have no columns
        folds = min(_FEW_FOLDS if kernel else _FOLDS, n)
        if n <= _KERNEL if kernel else n * p**2 * _FOLDS <= _WORK:
            found[0] = tried(model.confusion, X, given, folds=folds)
        if n <= _KERNEL if kernel else n * p <= _CELLS:
            found[1] = tried(model.permutation, X, given, draws=_DRAWS)
        found[2] = tried(model.ellipses, X, given)
    # The columns of a kernel matrix are rows: PCA of them would say nothing.
    given_kernel = isinstance(getattr(model, "kernel_", None), Precomputed)
    flat = None if given_kernel else tried(_flat, X)
    taken = np.asarray(model.predict(X)).astype(str)
    return GroupsSummary(model, column_names(model), Z, labels, flat, taken, *found)


def _flat(X: Any) -> tuple[Array, Array]:
    model = PCA(min(2, *X.shape), standardize=True)
    scores = model.set_output(transform="default").fit_transform(X)
    return np.asarray(scores, np.float64), np.asarray(model.explained_variance_ratio_)
