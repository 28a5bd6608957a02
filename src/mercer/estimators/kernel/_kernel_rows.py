"""The rows as a kernel sees them: checked, standardised, mapped where the kernel maps."""

import dataclasses
from numbers import Integral, Real
from types import UnionType
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator

from mercer.arrays import Array, is_objects
from mercer.errors import InputError
from mercer.estimators.linear._pca_paths import standardised
from mercer.estimators.linear._pca_recipe import root_feature_weight
from mercer.estimators.walk._admission import (
    admit,
    admit_objects,
    held_rows,
    refuse_bad_cells,
)
from mercer.estimators.walk._parameters import refuse_truth
from mercer.kernels import (
    FeatureMap,
    Kernel,
    Linear,
    NegativeHamming,
    Overlap,
    Polynomial,
    Precomputed,
    as_kernel,
)
from mercer.sources import Source, in_memory, scan

_ROUNDING = 1e-6  # relative difference of k_ij and k_ji that still counts as rounding
_BLOCK = 1024
SETTLING = 1000  # rows that settle a kernel
_NESTED = "kernel__"  # before the names of its parameters
FIRST_GUESS = 32  # axes tried first when a share of the variance is asked for


@dataclasses.dataclass(frozen=True)
class KernelRows:
    """How a source becomes the rows that tiles are made of.

    Attributes
    ----------
    kernel : Kernel
        The kernel on these rows; a feature map was applied at the door.
    numeric : bool
        Whether the rows came as a table of numbers.
    weights : ndarray of shape (n,) or None
        Repeat counts.
    mean, factor : ndarray of shape (p,) or None
        What is taken from the columns, and what they are multiplied by.
    feature_root : ndarray of shape (p,) or None
        √ of the feature weights, which is part of `factor`.
    rest : ndarray of shape (p,) or None
        What rounding to float64 has left of the mean: far from the origin it is a part of a
        standard deviation that kernels of products see.
    """

    kernel: Kernel
    numeric: bool
    weights: Array | None
    mean: Array | None = None
    factor: Array | None = None
    feature_root: Array | None = None
    rest: Array | None = None

    @staticmethod
    def admitted(
        estimator: BaseEstimator, kernel: Kernel, X: Any, *, reset: bool, numeric: bool
    ) -> Source:
        """Return the source of X; functions of the user's take other rows than `numeric`."""
        if not numeric:
            fewest = getattr(estimator, "_fewest", 2) if reset else 1
            things = admit_objects(X, fewest=fewest)
            features = kernel.features(1) if _by_map(kernel) else None
            return in_memory(things) if features is None else scan(features.phi(things))
        if isinstance(kernel, Precomputed) and isinstance(X, np.ndarray) and _is_table(X):
            refuse_bad_cells(scan(X))  # before columns are counted
        source = admit(estimator, held_rows(X), reset=reset)
        if isinstance(kernel, Precomputed) and reset:
            refuse_bad_cells(source, getattr(estimator, "feature_names_in_", None))
            _refuse_odd_matrix(source)
        return source

    @classmethod
    def of(
        cls,
        source: Source,
        kernel: Kernel,
        standardize: bool,
        numeric: bool,
        weights: Any,
        feature_weight: Any = None,
    ) -> "KernelRows":
        """Return the frame that training rows give; others than numbers are mapped already."""
        root = _feature_root(feature_weight, kernel, numeric, source.shape[1])
        frame = cls(kernel, numeric, weights, feature_root=root)
        if frame.mapped(kernel):
            frame = dataclasses.replace(frame, kernel=Linear())
        if not standardize:
            none = None if root is None else np.zeros(len(root))
            return dataclasses.replace(frame, mean=none, factor=root)
        sparse = source.nnz is not None
        things = is_objects(source.array)
        if isinstance(kernel, Precomputed) or things or (sparse and not kernel.stationary):
            raise InputError(
                "these rows cannot be standardised",
                got=f"standardize=True with {kernel!r}"
                + (" and a sparse matrix" if sparse else " and no numbers" * things),
                fix="standardise the columns before, or use a kernel of distances",
            )
        centring = standardised(source, weights, root)  # of float32 rows all digits are kept
        assert centring.factor is not None
        with np.errstate(over="ignore"):
            factor = np.ldexp(np.asarray(centring.factor), -centring.exponent)
        _refuse_still(factor)
        if sparse:  # they keep their zeros, and so must dense ones that come later
            return dataclasses.replace(frame, mean=np.zeros(len(factor)), factor=factor)
        mean = np.asarray(centring.mean)
        rest = np.asarray(centring.origin, np.float64) - mean
        rest += np.ldexp(np.asarray(centring.offset, np.float64), centring.exponent)
        return dataclasses.replace(frame, mean=mean, factor=factor, rest=rest)

    def mapped(self, given: Kernel) -> bool:
        """Tell whether the rows came as objects that a feature map has made numbers."""
        return _by_map(given) and not self.numeric

    def ready(self, source: Source, *, narrow: bool = False) -> Array:
        """Return the rows (n, p) of a source, an array or a CSR matrix.

        Rows in a frame are float64: those of float32 data divided by a deviation are no
        float32 numbers, and an interval speaks of the rows as they are. Coordinates of new
        rows have no interval, and `narrow` ones keep the precision of the data.
        """
        rows = source.array
        if self.factor is None or self.mean is None:
            return rows
        if source.nnz is not None:
            return scipy.sparse.csr_array(rows @ scipy.sparse.diags_array(self.factor))
        made = np.asarray(rows, np.float64) - self.mean
        if self.rest is not None:
            made -= self.rest
        made *= self.factor
        return made.astype(source.products, copy=False) if narrow else made

    def counted(self, rows: Array) -> Array:
        """Return training rows in which those of weight zero are copies of one that counts.

        They have no say, so their cells must have none: a mark such as 1e36 for "no value"
        would take tiles beyond the largest number.
        """
        weights = self.weights
        if weights is None or np.all(weights) or isinstance(self.kernel, Precomputed):
            return rows
        return rows[np.where(weights > 0, np.arange(len(weights)), np.argmax(weights))]

    @property
    def root(self) -> Array | float:
        """√w as a column (n, 1), or 1."""
        return 1.0 if self.weights is None else np.sqrt(self.weights)[:, None]

    def shares(self, n: int) -> Array:
        """Return π = w/Σw (n,)."""
        return np.full(n, 1 / n) if self.weights is None else self.weights / self.weights.sum()

    def back(self, rows: Array) -> Array:
        """Undo `ready` on dense rows."""
        if self.factor is None or self.mean is None:
            return rows
        away = rows / self.factor
        return np.asarray((away if self.rest is None else away + self.rest) + self.mean)

    def kept(self, rows: Array, source: Source) -> Array | None:
        """Return rows that later changes of the user's array cannot reach."""
        if isinstance(self.kernel, Precomputed):
            return None
        if source.nnz is None and self.numeric:
            rows = rows.astype(source.products, copy=False)
        return rows.copy() if rows is source.array else rows

    def finite(self, kernel: Kernel) -> bool:
        """Tell whether explicit features are the only way, as for products of far-off rows."""
        return not _has(kernel, Polynomial)


def _refuse_still(factor: Array) -> None:
    """Refuse columns that vary so little that nothing can be divided by it."""
    lost = np.flatnonzero(~np.isfinite(factor))
    if lost.size:
        raise InputError(
            "a column varies too little for numbers of float64 to be divided by it",
            got=f"column {lost[0]}, a deviation below 1e-308",
            fix="multiply the data by a constant",
        )


def _has(kernel: Kernel, kinds: type | UnionType) -> bool:
    """Tell whether a kernel of one of these kinds is part of it."""
    return isinstance(kernel, kinds) or any(_has(part, kinds) for _, part in kernel._parts)


def _feature_root(weights: Any, kernel: Kernel, numeric: bool, p: int) -> Array | None:
    """Return √ of the weights (p,); kernels that do not see them are refused."""
    if weights is None:
        return None
    if not numeric or _has(kernel, Precomputed | Overlap | NegativeHamming):
        raise InputError(
            "feature_weight needs a kernel that measures columns of numbers",
            got=f"feature_weight with {kernel!r}",
            fix="leave feature_weight out, or use a kernel of products or distances",
        )
    return root_feature_weight(weights, p)


def sees_numbers(kernel: Kernel, X: Any) -> bool:
    """Tell whether rows are a table of numbers, and no things that only functions can see."""
    return not kernel.takes_objects or not hasattr(X, "__len__") or _is_table(X)


def _by_map(kernel: Kernel) -> bool:
    """Tell whether objects become numbers at the door: PCA of φ(X) has all that PCA has."""
    return isinstance(kernel, FeatureMap)


def _is_table(X: Any) -> bool:
    """Tell whether X is a table of numbers, a frame or a matrix."""
    if isinstance(X, np.ndarray) and (X.ndim != 2 or X.dtype != object):
        return X.ndim == 2 and X.dtype.kind not in "USV"
    if isinstance(X, list | tuple | np.ndarray):
        widths = {_width(row) for row in X}
        return len(widths) == 1 and widths.pop() >= 0
    return hasattr(X, "columns") or len(getattr(X, "shape", ())) == 2


def _width(row: Any) -> int:
    """Return how many numbers a row has, -1 where it is no list of numbers and gaps."""
    if not isinstance(row, list | tuple | np.ndarray):
        return -1
    if isinstance(row, np.ndarray) and row.dtype != object:
        return len(row) if row.ndim == 1 and row.dtype.kind in "fiub" else -1
    numbers = all(cell is None or isinstance(cell, Real) for cell in row)
    return len(row) if numbers else -1


def feature_count(kernel: Kernel, rows: Array) -> int | None:
    """Return how many explicit features a kernel has on these rows, or None."""
    width = 1 if is_objects(rows) else int(rows.shape[1])
    features = kernel.features(width)
    if features is None:
        return None
    known = None if isinstance(kernel, FeatureMap) else features.count(width)
    return known or int(features.phi(rows[:2]).shape[1])


def _refuse_odd_matrix(source: Source) -> None:
    """Refuse a precomputed matrix that is not square or not symmetric, naming the place."""
    n, p = source.shape
    if n != p:
        raise InputError(
            "a precomputed kernel matrix must be square to be fitted",
            got=f"a matrix of shape {source.shape}",
            fix="pass k(X, X); k(new, X) is for transform",
        )
    k = source.array
    if hasattr(k, "toarray"):
        k = k.toarray()
    largest = float(np.max(np.abs(k), initial=0.0)) if k.dtype.kind in "fiu" else 1.0
    for start in range(0, n, _BLOCK):
        part = slice(start, min(start + _BLOCK, n))
        apart = np.abs(np.asarray(k[part], np.float64) - np.asarray(k[:, part], np.float64).T)
        if apart.size and np.max(apart) > _ROUNDING * largest:
            row, column = np.unravel_index(int(np.argmax(apart)), apart.shape)
            i, j = start + int(row), int(column)
            raise InputError(
                "a kernel must be symmetric: k(x, y) = k(y, x)",
                got=f"{k[i, j]:.6g} at row {i}, column {j}, and {k[j, i]:.6g} the other way",
                fix="pass a symmetric matrix, for example (K + K.T) / 2",
            )


def most_components(wanted: float | None, n: int) -> int:
    """Return how many pairs are asked for; for a share, how many are tried first."""
    refuse_truth(wanted, "pass a whole number, a share such as 0.95, or None")
    if wanted is None:
        return n
    if not isinstance(wanted, Integral):
        return min(n, FIRST_GUESS)
    if int(wanted) > n:
        raise InputError(
            f"n_components={wanted} must be between 1 and n_samples={n}",
            got=f"n_components={wanted}, {n} rows",
            fix=f"ask for at most {n - 1} components: centring takes one away",
        )
    return int(wanted)


# -- the parameter `kernel` of an estimator -----------------------------------------------


def as_known(kernel: object) -> object:
    """Return the kernel of a parameter, or the parameter itself where it is none."""
    if isinstance(kernel, Kernel):
        return kernel
    try:
        return as_kernel(kernel)
    except InputError:
        return kernel


def apart(params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return parameters of an estimator, and those of its kernel: ``kernel__lengthscale=2``."""
    own = {name: value for name, value in params.items() if not name.startswith(_NESTED)}
    nested = {n.removeprefix(_NESTED): v for n, v in params.items() if n.startswith(_NESTED)}
    return own, nested


def replaced(kernel: object, values: dict[str, Any]) -> Any:
    """Return a kernel, which is a value, with other parameters; the same one without any."""
    return as_kernel(kernel).with_params(**values) if values else kernel
