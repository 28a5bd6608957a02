"""Explicit feature maps: φ with k(x, y) = φ(x)ᵀφ(y), for kernels that have a finite one."""

import dataclasses
import math
from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any, Protocol, final

import numpy as np

from mercer.arrays import (
    Array,
    as_rows,
    asarray_like,
    columns_of,
    count_rows,
    given_to,
    is_numpy,
    is_objects,
    is_sparse,
    namespace,
)
from mercer.errors import InputError

MOST = 8192  # features up to which the map is worth more than the matrix
_DEGREE = 32  # a degree past which the coefficients are no use in float64


class Features(Protocol):
    """A map from rows to finitely many numbers."""

    def phi(self, rows: Any) -> Array:
        """Return φ of every row: (n, D), dense or sparse."""

    def count(self, p: int) -> int | None:
        """Return D for rows with `p` columns, or None where only φ itself knows."""


@final
@dataclasses.dataclass(frozen=True)
class Identity:
    """φ(x) = x."""

    def phi(self, rows: Any) -> Array:
        """See `Features.phi`."""
        return as_rows(rows)

    def count(self, p: int) -> int:
        """See `Features.count`."""
        return p


@final
@dataclasses.dataclass(frozen=True)
class Applied:
    """φ of a function of the user's, its result looked at."""

    function: Callable[[Any], Any]
    width: int | None = None

    def phi(self, rows: Any) -> Array:
        """See `Features.phi`; what is no table of numbers is refused."""
        found = given_to(self.function, rows)
        if not hasattr(found, "dtype"):
            found = np.asarray(found)
        numbers = not is_numpy(found) or found.dtype.kind in "fiub"
        if len(found.shape) != 2 or not numbers or int(found.shape[0]) != count_rows(rows):
            raise InputError(
                "a feature map must return a table of numbers, one row for each row",
                got=f"{type(found).__name__} of shape {tuple(found.shape)}, {found.dtype}, for"
                f" {count_rows(rows)} rows",
                fix="return an array of shape (n, D)",
            )
        return found

    def count(self, p: int) -> int | None:
        """See `Features.count`."""
        return self.width


@final
@dataclasses.dataclass(frozen=True)
class One:
    """φ(x) = 1."""

    def phi(self, rows: Any) -> Array:
        """See `Features.phi`."""
        if is_objects(rows) or not hasattr(rows, "shape"):
            return np.ones((len(rows), 1))
        rows = as_rows(rows)
        n = int(rows.shape[0])
        if is_numpy(rows) or is_sparse(rows):
            return np.ones((n, 1), dtype=rows.dtype)
        return namespace(rows).ones((n, 1), dtype=rows.dtype)

    def count(self, p: int) -> int:
        """See `Features.count`."""
        return 1


@final
@dataclasses.dataclass(frozen=True)
class Weighted:
    """weight·φ(x)."""

    weight: float
    part: Features

    def phi(self, rows: Any) -> Array:
        """See `Features.phi`."""
        return self.part.phi(rows) * self.weight

    def count(self, p: int) -> int | None:
        """See `Features.count`."""
        return self.part.count(p)


@final
@dataclasses.dataclass(frozen=True)
class Stacked:
    """(φ₁(x), φ₂(x)): the map of a sum."""

    left: Features
    right: Features

    def phi(self, rows: Any) -> Array:
        """See `Features.phi`."""
        parts = [self.left.phi(rows), self.right.phi(rows)]
        if any(is_sparse(part) for part in parts):
            from scipy.sparse import hstack

            return hstack(parts).tocsr()
        return namespace(*parts).concat(parts, axis=1)

    def count(self, p: int) -> int | None:
        """See `Features.count`."""
        left, right = self.left.count(p), self.right.count(p)
        return None if left is None or right is None else left + right


@final
@dataclasses.dataclass(frozen=True)
class Chosen:
    """φ of some columns."""

    columns: tuple[int, ...]
    part: Features

    def phi(self, rows: Any) -> Array:
        """See `Features.phi`."""
        return self.part.phi(columns_of(rows, self.columns))

    def count(self, p: int) -> int | None:
        """See `Features.count`."""
        return self.part.count(len(self.columns))


@final
@dataclasses.dataclass(frozen=True)
class Monomials:
    """All monomials of z = (√c, √γ·x) of degree q, times √(multinomial coefficient).

    Their inner product is (γxᵀy + c)^q. There are C(p+q, q) of them, and C(p+q-1, q) for
    c = 0.
    """

    degree: int
    gamma: float
    coef0: float

    def phi(self, rows: Any) -> Array:
        """See `Features.phi`."""
        rows = as_rows(rows)
        rows = rows.toarray() if is_sparse(rows) else rows
        xp = namespace(rows)
        z = rows * self.gamma**0.5
        if self.coef0 > 0:
            ones = xp.ones((int(rows.shape[0]), 1), dtype=rows.dtype)
            z = xp.concat([ones * self.coef0**0.5, z], axis=1)
        which, roots = self.terms(int(rows.shape[1]))
        found = asarray_like(roots, z)[None, :]
        with np.errstate(over="ignore", invalid="ignore"):  # who uses them looks at them
            for k in range(self.degree):
                columns = asarray_like(which[:, k], z, xp.int64)
                found = found * xp.take(z, columns, axis=1)
        return found

    def terms(self, p: int) -> tuple[Array, Array]:
        """Return which columns of z each monomial multiplies (D, q), and its root (D,)."""
        width = p + (self.coef0 > 0)
        chosen = combinations_with_replacement(range(width), self.degree)
        which = np.array(list(chosen), dtype=np.int64).reshape(-1, self.degree)
        return which, np.sqrt([_multinomial(row, self.degree) for row in which.tolist()])

    def count(self, p: int) -> int:
        """See `Features.count`."""
        return monomial_count(p, self.degree, self.coef0)


def monomial_count(p: int, degree: int, coef0: float) -> int:
    """Return how many monomials `Monomials` has."""
    return math.comb(p + degree - (coef0 == 0), degree)


def few_monomials(p: int, degree: float) -> bool:
    """Tell whether C(p+q, q) ≤ 8192, so that the explicit map is worth its columns."""
    return degree == int(degree) <= _DEGREE and math.comb(p + int(degree), int(degree)) <= MOST


def _multinomial(row: list[int], degree: int) -> float:
    """Return q!/(a₁!a₂!…), with a_j how often j occurs."""
    below = math.prod(math.factorial(row.count(j)) for j in set(row))
    return float(math.factorial(degree) // below)


FEATURES = (Applied, Chosen, Identity, Monomials, One, Stacked, Weighted)
