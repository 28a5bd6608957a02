"""Kernels that the user brings: a feature map, a function, a matrix."""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, final

import numpy as np

from mercer.arrays import (
    Array,
    Call,
    Given,
    Measure,
    Node,
    Through,
    as_numpy,
    count_rows,
    given_to,
    is_sparse,
    rows_at,
)
from mercer.errors import InputError
from mercer.kernels._definiteness import Flag
from mercer.kernels._kernel_value import Kernel, shown
from mercer.kernels.maps._feature_maps import Applied, Features


def _refuse_uncallable(owner: str, name: str, value: Any) -> None:
    if not callable(value):
        raise InputError(
            f"`{name}` of {owner} must be a function",
            got=f"{name}={value!r}",
            fix="pass a function; a matrix of kernel values goes with Precomputed()",
        )


@final
@dataclasses.dataclass(frozen=True, repr=False)
class FeatureMap(Kernel):
    """k(x, y) = φ(x)ᵀφ(y) for any basis functions φ; kernel PCA with it is PCA of φ(X).

    Parameters
    ----------
    phi : function
        Takes rows, of numbers or of anything, and returns (n, D) numbers, dense or sparse.
    width : int or None
        D, where it is known beforehand.

    Examples
    --------
    >>> import numpy as np
    >>> k = FeatureMap(lambda X: np.column_stack([X, X**2]))
    >>> k(np.array([[1.0], [2.0]]))
    array([[ 2.,  6.],
           [ 6., 20.]])
    """

    phi: Callable[[Any], Any]
    width: int | None = None

    def __post_init__(self) -> None:
        _refuse_uncallable("FeatureMap", "phi", self.phi)

    claim: ClassVar[Flag] = Flag.PD

    def _formula(self) -> Node:
        return Through(Applied(self.phi).phi, Measure("dot"))

    @property
    def takes_objects(self) -> bool:
        """See `Kernel.takes_objects`: φ makes numbers of them."""
        return True

    def features(self, p: int) -> Features:
        """See `Kernel.features`: the map itself."""
        return Applied(self.phi, self.width)

    def count(self, p: int) -> int | None:
        """See `Features.count`."""
        return self.width


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Function(Kernel):
    """k as a function of two blocks of rows, (r, p) and (c, p), that returns (r, c).

    Nothing is known of it: `evidence` looks at its eigenvalues on a sample. A function that
    gives one number for two rows, and no matrix for two blocks, is found out by `resolve`, and
    becomes `Function.pairwise` of it.

    Parameters
    ----------
    function : function
        Symmetric: f(X, Y) = f(Y, X)ᵀ.
    """

    function: Callable[[Any, Any], Any]

    def __post_init__(self) -> None:
        _refuse_uncallable("Function", "function", self.function)

    @property
    def takes_objects(self) -> bool:
        """See `Kernel.takes_objects`."""
        return True

    @property
    def _tries(self) -> bool:
        return not isinstance(self.function, _Pairwise)

    def _settle(self, sample: Any, weights: Any) -> "Function":
        return (
            self if _takes_blocks(self.function, sample) else Function.pairwise(self.function)
        )

    @classmethod
    def pairwise(cls, f: Callable[[Any, Any], float]) -> "Function":
        """Return the kernel of a function of two single rows, as scikit-learn takes them.

        Examples
        --------
        >>> k = Function.pairwise(lambda x, y: float(min(x[0], y[0])))
        >>> k([[1.0], [2.0]])
        array([[1., 1.],
               [1., 2.]])
        """
        _refuse_uncallable("Function.pairwise", "f", f)
        return cls(_Pairwise(f))

    def _formula(self) -> Node:
        return Call(self.function)

    def written(self, short: bool) -> str:
        """See `Kernel.written`."""
        if isinstance(self.function, _Pairwise):
            return f"Function.pairwise({shown(self.function.f)})"
        return f"Function({shown(self.function)})"


@final
@dataclasses.dataclass(frozen=True)
class _Pairwise:
    """A function of two rows, called for every pair."""

    f: Callable[[Any, Any], float]

    def __call__(self, x: Any, y: Any) -> Array:
        one, two = _each(x), _each(y)
        values = [[_number(self.f(u, v)) for v in two] for u in one]
        return np.array(values).reshape(len(one), len(two))


def _number(value: Any) -> float:
    """Return what a function of two rows gave, if it is one number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        shape = getattr(value, "shape", None)
        raise InputError(
            "a kernel function of two rows must return one number",
            got=type(value).__name__ + ("" if shape is None else f" of shape {tuple(shape)}"),
            fix="return a number, or pass Function(f) with f(X, Y) -> matrix",
        ) from None


def _takes_blocks(f: Callable[[Any, Any], Any], sample: Any) -> bool:
    """Tell whether f makes matrices of blocks of rows, and not numbers of two single rows.

    Blocks of different lengths, both ways round, tell xᵀy from a product of blocks that by
    chance can be multiplied. What fails alike both ways may need more rows: a fit shows it.
    """
    n = min(count_rows(sample), 3)
    if n < 2:
        return True
    x, y = rows_at(sample, slice(0, n)), rows_at(sample, slice(0, n - 1))
    failed: Exception | None = None
    try:
        shapes = [np.shape(given_to(f, *pair)) for pair in ((x, y), (y, x))]
        if shapes == [(n, n - 1), (n - 1, n)]:
            return True
        said = f"shape {shapes[0]} for blocks of {n} and {n - 1} rows"
    except Exception as error:  # whatever a function of the user's raises
        failed, said = error, f"{type(error).__name__} for blocks of rows ({error})"
    one, two = _each(x)[:2]
    try:
        value = f(one, two)
        if np.ndim(value) == 0:
            _number(value)
            return False
        said += f", shape {np.shape(value)} for two rows"
    except Exception as error:
        if type(error) is type(failed):
            return True
        failed, said = error, f"{said}, {type(error).__name__} for two rows ({error})"
    raise InputError(
        "a kernel function takes two blocks of rows and returns a matrix, or two rows and"
        " returns a number",
        got=f"{shown(f)}: {' '.join(said.split())[:300]}",
        fix="return shape (r, c), or pass Function.pairwise(f) with f(row, row) -> number",
    ) from failed


def _each(rows: Any) -> list[Any]:
    """Return the rows one by one; those of a sparse matrix stay matrices of one row."""
    if is_sparse(rows):
        return [rows[[i], :] for i in range(rows.shape[0])]
    return list(rows)


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Precomputed(Kernel):
    """The rows of data are rows of a kernel matrix: (n, n) to fit, (m, n) for new rows."""

    def _formula(self) -> Node:
        return Given()

    def block(self, x: Any, y: Any = None) -> Array:
        """Return the matrix; without `y` it must be square.

        Parameters
        ----------
        x : Array (m, n)
            Kernel values of m rows with the n rows of `y`.
        y : anything with n rows, or None
            Only counted.
        """
        shape = tuple(int(s) for s in x.shape) if hasattr(x, "shape") else np.shape(x)
        columns = shape[0] if y is None else (y.shape[0] if hasattr(y, "shape") else len(y))
        if len(shape) != 2 or shape[1] != columns:
            raise InputError(
                "a precomputed kernel matrix must have a column for every training row",
                got=f"a matrix of shape {shape}, {columns} rows",
                fix="pass k(new rows, training rows)",
            )
        return x if hasattr(x, "dtype") else as_numpy(np.asarray(x, dtype=np.float64))
