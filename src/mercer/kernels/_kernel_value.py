"""Kernel: a frozen value that knows its formula, its flag and its parameters, and no data."""

import dataclasses
import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from mercer.arrays import Array, Node, as_csr, diagonal, is_sparse, prepare, tile
from mercer.errors import InputError, NotSupportedError
from mercer.kernels._definiteness import Flag

if TYPE_CHECKING:
    from mercer.kernels.maps._feature_maps import Features

_Self = TypeVar("_Self", bound="Kernel")


@dataclasses.dataclass(frozen=True, repr=False)
class Kernel(ABC):
    """A function k(x, y) of two rows, as an immutable value.

    A subclass is a frozen dataclass that writes its formula in `_formula` and says in
    `flag` what is known of it. Kernels add and multiply; ``k.on(columns)`` looks at some
    columns only; `mercer.kernels.exp`, `warp`, `normalize` and `mapped` do the rest.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear
    >>> k = 0.5 * RBF(2.0) + Linear()
    >>> k
    0.5*RBF(lengthscale=2.0) + Linear()
    >>> print(k)
    0.5*rbf(lengthscale=2.0) + linear
    >>> k.flag
    <Flag.PD: 'pd'>
    >>> print(k([[0.0], [2.0]]).round(3))
    [[0.5   0.303]
     [0.303 4.5  ]]
    """

    __array_ufunc__ = None  # NumPy must not add a kernel to every number of an array
    claim: ClassVar[Flag] = Flag.UNKNOWN
    precedence: ClassVar[int] = 9  # how tightly the written form binds; atoms bind most

    # ---- what a subclass says ------------------------------------------------------------

    @property
    def flag(self) -> Flag:
        """What is known of the kernel for all data; its claim, whatever the parameters."""
        return self.claim

    @abstractmethod
    def _formula(self) -> Node:
        """Return the tile program; parameters are numbers by then."""

    @property
    def stationary(self) -> bool:
        """Whether k(x, y) depends on x - y alone, or not at all on the rows."""
        return bool(self._parts) and all(k.stationary for _, k in self._parts)

    @property
    def takes_sparse(self) -> bool:
        """Whether rows may be sparse: products and Euclidean distances need no zeros."""
        return all(k.takes_sparse for _, k in self._parts)

    @property
    def takes_objects(self) -> bool:
        """Whether rows may be of any kind, since functions of the user's alone look at them."""
        return bool(self._parts) and all(k.takes_objects for _, k in self._parts)

    @property
    def _open(self) -> bool:
        """Whether a parameter of this kernel itself waits for a sample."""
        return False

    @property
    def _tries(self) -> bool:
        """Whether rows may change this kernel itself although it has all its numbers."""
        return False

    def _settle(self: _Self, sample: Any, weights: Any) -> _Self:
        """Return this kernel with its open parameters taken from rows and their weights."""
        return self

    def _seen(self, sample: Any) -> Any:
        """Return the rows as the parts of this kernel see them."""
        return sample

    def features(self, p: int) -> "Features | None":
        """Return an explicit map with k(x, y) = φ(x)ᵀφ(y), or None where none is finite.

        Parameters
        ----------
        p : int
            Number of columns of the rows.

        Returns
        -------
        Features or None
            ``phi(X)`` gives (n, D); ``count(p)`` gives D where it is known beforehand.
        """
        return None

    # ---- what all kernels do -------------------------------------------------------------

    @property
    def _parts(self) -> list[tuple[str, "Kernel"]]:
        """The kernels that this one is made of, by field name."""
        found = ((f.name, getattr(self, f.name)) for f in dataclasses.fields(self))
        return [(name, value) for name, value in found if isinstance(value, Kernel)]

    @property
    def resolved(self) -> bool:
        """Whether every parameter is a number."""
        return not self._open and all(k.resolved for _, k in self._parts)

    @property
    def waits(self) -> bool:
        """Whether `resolve` looks at rows: for numbers, or for how a function takes them."""
        return self._tries or self._open or any(k.waits for _, k in self._parts)

    def resolve(self: _Self, sample: Any, weights: Any = None) -> _Self:
        """Return the kernel with "median" lengthscales and missing gammas as numbers.

        Parameters
        ----------
        sample : array of shape (at most 2000, p)
            Rows that stand for the data; of more rows every few are taken.
        weights : ndarray of shape (n,) or None
            How often each of them stands in the data; None is once.
        """
        if not self.waits:
            return self
        sample = as_table(sample)
        settled = self._settle(sample, weights) if self._open or self._tries else self
        parts = [(name, k) for name, k in settled._parts if k.waits]
        seen = settled._seen(sample) if parts else sample
        changed = {name: k.resolve(seen, weights) for name, k in parts}
        return dataclasses.replace(settled, **changed) if changed else settled

    def program(self) -> Node:
        """Return the tile program of k; refused before `resolve`."""
        self._refuse_open()
        return self._formula()

    def _refuse_open(self) -> None:
        if not self.resolved:
            raise InputError(
                "a kernel must have numbers for parameters before it is computed",
                got=repr(self),
                fix="call kernel.resolve(sample) with some rows, or give the numbers",
            )

    def block(self, x: Any, y: Any = None) -> Array:
        """Return the matrix k(x_i, y_j), (n, m); `y` = None means the same rows.

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> Linear().block([[1.0, 2.0]], [[3.0, 4.0]])
        array([[11.]])
        """
        program = self.program()
        a = prepare(program, as_table(x))
        b = a if y is None else prepare(program, as_table(y), other=a)
        return tile(program, a, b, slice(0, a.n), slice(0, b.n))

    def __call__(self, x: Any, y: Any = None) -> Array:
        return self.block(x, y)

    def diag(self, x: Any) -> Array:
        """Return k(x_i, x_i), (n,) float64, without the matrix."""
        program = self.program()
        return diagonal(program, prepare(program, as_table(x)))

    # ---- algebra -------------------------------------------------------------------------

    def __add__(self, other: "Kernel | float") -> "Kernel":
        from mercer.kernels._algebra import Constant, Sum

        if isinstance(other, Kernel):
            return Sum(self, other)
        return Sum(self, Constant(other)) if _is_number(other) else NotImplemented

    def __radd__(self, other: float) -> "Kernel":
        from mercer.kernels._algebra import Constant, Sum

        return Sum(Constant(other), self) if _is_number(other) else NotImplemented

    def __mul__(self, other: "Kernel | float") -> "Kernel":
        from mercer.kernels._algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, other) if _is_number(other) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> "Kernel":
        from mercer.kernels._algebra import Power

        return Power(self, exponent)

    def on(self, columns: Iterable[int] | int) -> "Kernel":
        """Return the kernel that looks at some columns only."""
        from mercer.kernels._algebra import Columns

        return Columns(self, columns)  # type: ignore[arg-type]

    # ---- parameters ----------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; ``left__lengthscale`` reaches into parts."""
        found = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        if deep:
            for name, part in self._parts:
                nested = part.get_params()
                found |= {f"{name}__{inner}": value for inner, value in nested.items()}
        return found

    def with_params(self: _Self, **params: Any) -> _Self:
        """Return a new kernel with some parameters replaced.

        Examples
        --------
        >>> from mercer.kernels import RBF, Linear
        >>> (RBF() + Linear()).with_params(left__lengthscale=3.0)
        RBF(lengthscale=3.0) + Linear()
        """
        own: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        known = self.get_params()
        for name, value in params.items():
            first, _, rest = name.partition("__")
            if first not in known or (rest and not isinstance(known[first], Kernel)):
                self._refuse_name(name, list(known))
            if rest:
                nested.setdefault(first, {})[rest] = value
            else:
                own[first] = value
        for first, values in nested.items():
            own[first] = own.get(first, getattr(self, first)).with_params(**values)
        return dataclasses.replace(self, **own)

    def _refuse_name(self, name: str, known: list[str]) -> None:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(
            f"{type(self).__name__} has no parameter {name!r}",
            got=f"{name!r} for {self!r}",
            fix=f"{hint}parameters: {', '.join(known) or 'none'}",
        )

    def set_params(self, **params: Any) -> "Kernel":
        """Refuse: kernels are values; `with_params` returns a changed one."""
        raise NotSupportedError(
            "a kernel cannot be changed, because others may share it",
            got=f"set_params({', '.join(f'{k}={v!r}' for k, v in params.items())})",
            fix="use the kernel that kernel.with_params(...) returns",
        )

    def __sklearn_clone__(self: _Self) -> _Self:
        return self

    # ---- in writing ----------------------------------------------------------------------

    def written(self, short: bool) -> str:
        """Return the kernel as code (repr), or in the short form that `parse` reads."""
        given = [
            f"{f.name}={shown(getattr(self, f.name))}"
            for f in dataclasses.fields(self)
            if getattr(self, f.name) != f.default
        ]
        from mercer.kernels._kernel_text import NAMES

        name = type(self).__name__
        short = short and NAMES.get(name.lower()) is type(self)
        name = name.lower() if short else name
        return f"{name}({', '.join(given)})" if given or not short else name

    def __repr__(self) -> str:
        return self.written(short=False)

    def __str__(self) -> str:
        return self.written(short=True)


def shown(value: Any) -> str:
    """Return a parameter as code: functions by their name."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return str(name or repr(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def as_table(x: Any) -> Any:
    """Return lists of lists of numbers as an array, sparse rows as CSR; others as they are."""
    if is_sparse(x):
        return as_csr(x)
    first = x[0] if isinstance(x, list | tuple) and x else None
    if isinstance(first, list | tuple) and first and isinstance(first[0], Real):
        even = all(isinstance(row, list | tuple) and len(row) == len(first) for row in x)
        return np.asarray(x, dtype=np.float64) if even else x
    return x
