"""Operator: an (m, n) matrix A known only by its products with thin blocks."""

import abc
import math
from typing import Any, final

import numpy as np

from mercer.arrays import Array, asarray_like, is_numpy, namespace, triangle
from mercer.operators._centring import Centring

_LARGE = 2e6  # entries; threads mostly wait for each other in products of fewer


class Operator(abc.ABC):
    """A real (m, n) matrix A that may be too large to write down.

    Blocks only, never single vectors: one pass over the data costs about the same for one
    column as for twenty. Results are float64, whatever the precision of the products.
    """

    shape: tuple[int, int]
    like: Array  # an empty array that carries the library, the device and the precision
    symmetric: bool = False
    product_error: float = 0.0
    """Measured bound on ‖computed AᵀAq - AᵀAq‖ / (‖A‖_F·‖Aq‖) for any q; 0 if float64."""

    by_blas: bool = False
    """Whether a product is one call of BLAS, large enough for the threads of BLAS."""

    sharp: bool = False
    """Whether rounding of a product is relative to ‖A‖₂ and not to the trace: sparse rows."""

    @abc.abstractmethod
    def matmat(self, v: Array, /) -> Array:
        """Return A V, for V of shape (n, b)."""

    @abc.abstractmethod
    def rmatmat(self, u: Array, /) -> Array:
        """Return Aᵀ U, for U of shape (m, b)."""

    def gram_matmat(self, q: Array, /) -> Array:
        """Return Aᵀ(A Q), for Q of shape (n, b), in one pass where the subclass can."""
        return self.rmatmat(self.matmat(q))

    tastes: int = 2
    """How many such products turn a random block towards the leading axes."""

    def taste(self, q: Array, /) -> Array:
        """Return something like Aᵀ(A Q) at a small part of its cost, to start from."""
        return q

    def dense(self) -> Array:
        """Return A as a float64 array."""
        xp = namespace(self.like)
        return self.matmat(asarray_like(xp.eye(self.shape[1]), self.like, xp.float64))

    def consume(self) -> Array:
        """Return A as a float64 array that may be overwritten; the operator ends with it."""
        return self.dense()

    def triangle(self) -> Array:
        """Return R with RᵀR = AᵀA and at most n rows, by QR: nothing is squared."""
        return triangle(self.dense())

    @property
    def trace(self) -> float | None:
        """tr A (symmetric) or ‖A‖²_F (rectangular) where it is known, else None."""
        return None

    @property
    def frobenius(self) -> float | None:
        """‖A‖_F where it is known, else None."""
        return None


class CentredOperator(Operator):
    """Abstract: the centred data X̃ (n, p) of rows about their origin.

    Parameters
    ----------
    rows : object
        The rows, which make the triangle themselves; their moments are known.
    centring : Centring
        The mean and the column factors.
    """

    rows: Any

    def __init__(self, rows: Any, centring: Centring) -> None:
        self.rows, self.centring = rows, centring
        self.shape = rows.shape
        self.like = rows.like[:, :0]

    def triangle(self) -> Array:
        """See `Operator.triangle`: of a part of the rows at a time."""
        return self.rows.triangle(self.centring)


class Transposed(Operator):
    """The transpose Aᵀ (n, m) of an operator, by the products of A itself.

    Parameters
    ----------
    base : Operator of shape (m, n)
        A.
    """

    def __init__(self, base: Operator) -> None:
        self.T, self.like = base, base.like
        self.shape = (base.shape[1], base.shape[0])

    def matmat(self, v: Array, /) -> Array:
        """See `Operator.matmat`."""
        return self.T.rmatmat(v)

    def rmatmat(self, u: Array, /) -> Array:
        """See `Operator.rmatmat`."""
        return self.T.matmat(u)


@final
class Dense(Operator):
    """A matrix held as an array.

    Parameters
    ----------
    a : Array of shape (m, n)
        The entries, float64.
    symmetric : bool
        Whether A = Aᵀ; then its eigenpairs are wanted instead of singular triplets.
    """

    def __init__(self, a: Array, *, symmetric: bool = False) -> None:
        self.a = a
        self.shape = (int(a.shape[0]), int(a.shape[1]))
        self.by_blas = self.shape[0] * self.shape[1] >= _LARGE
        self.like = a[:0, :0]
        self.symmetric = symmetric

    def matmat(self, v: Array, /) -> Array:
        """See `Operator.matmat`."""
        return self.a @ v

    def rmatmat(self, u: Array, /) -> Array:
        """See `Operator.rmatmat`."""
        return self.a.T @ u

    def dense(self) -> Array:
        """See `Operator.dense`."""
        return self.a

    @property
    def trace(self) -> float:
        """See `Operator.trace`."""
        xp = namespace(self.a)
        if self.symmetric:
            return float(xp.sum(xp.linalg.diagonal(self.a)))
        return float(xp.sum(self.a * self.a))

    @property
    def frobenius(self) -> float:
        """‖A‖_F, in units of the largest entry where squares would leave the range."""
        xp = namespace(self.a)
        if 0 in self.shape:
            return 0.0
        largest = max(float(xp.max(self.a)), -float(xp.min(self.a)))
        unit = 1.0 if 1e-140 < largest < 1e140 else largest or 1.0
        a = self.a if unit == 1.0 else self.a / unit
        if is_numpy(a):  # NumPy's norm would square a copy
            return unit * math.sqrt(float(np.sum(np.vecdot(a, a))))
        return unit * float(xp.linalg.vector_norm(a))
