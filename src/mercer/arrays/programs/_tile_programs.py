"""Tile programs: a kernel written as a tree of measures of two rows and scalar steps.

A node is a frozen value and holds no data. Nodes add, multiply and scale, so that a formula
reads as it is written: ``(-0.5 * distance**2).exp()``. What runs them is in `_sides`.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, final

KINDS = ("dot", "sqdist", "dist", "angle", "l1", "hamming", "chi2", "chi2sum", "minsum")
Scale = float | tuple[float, ...] | None


@dataclasses.dataclass(frozen=True)
class Node:
    """A number for every pair of rows; the base of all parts of a program."""

    def __add__(self, other: "Node | float") -> "Node":
        return Join("add", self, other) if isinstance(other, Node) else _affine(self, 1, other)

    __radd__ = __add__

    def __mul__(self, other: "Node | float") -> "Node":
        if isinstance(other, Node):
            return Join("multiply", self, other)
        return _affine(self, other, 0)

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> "Node":
        return _affine(self, 1 / other, 0)

    def __rtruediv__(self, other: float) -> "Node":
        return _affine(_power(self, -1.0), other, 0)

    def __neg__(self) -> "Node":
        return _affine(self, -1, 0)

    def __sub__(self, other: "Node | float") -> "Node":
        return self + -other

    def __pow__(self, exponent: float) -> "Node":
        return _power(self, float(exponent))

    def exp(self) -> "Node":
        """Return eᵗ."""
        return Apply("exp", self)

    def tanh(self) -> "Node":
        """Return tanh t."""
        return Apply("tanh", self)

    def log1p(self) -> "Node":
        """Return log(1 + t)."""
        return Apply("log1p", self)

    def holds(self, kind: "type[Node]") -> bool:
        """Tell whether this node, or one below it, is of a kind."""
        parts = (getattr(self, field.name) for field in dataclasses.fields(self))
        inner = (part for part in parts if isinstance(part, Node))
        return isinstance(self, kind) or any(part.holds(kind) for part in inner)

    def squared_sine(self) -> "Node":
        """Return sin² t."""
        return Apply("squared_sine", self)

    def decay(self, *coefficients: float) -> "Node":
        """Return (c₀ + c₁t + c₂t² + …)·e⁻ᵗ for t ≥ 0."""
        return Apply("decay", self, coefficients)


@final
@dataclasses.dataclass(frozen=True)
class Measure(Node):
    """A measure of two rows x, y, after optional choice and scaling of the columns.

    Parameters
    ----------
    kind : str
        ``dot`` xᵀy; ``sqdist`` ‖x-y‖²; ``dist`` ‖x-y‖, to relative accuracy; ``angle`` the
        angle between rows of length one, which no scale changes; ``l1`` Σ|x-y|;
        ``hamming`` the share of unequal columns; ``chi2`` Σ(x-y)²/(x+y); ``chi2sum``
        Σ2xy/(x+y); ``minsum`` Σmin(x, y). The last three need x, y ≥ 0.
    columns : tuple of int or None
        The columns that count; None takes all.
    scale : float, tuple of float or None
        Multiplies the columns first: one number, or one for each column that counts.
    """

    kind: str
    columns: tuple[int, ...] | None = None
    scale: Scale = None

    def __post_init__(self) -> None:
        assert self.kind in KINDS, f"no measure {self.kind!r}"

    @property
    def number(self) -> float:
        """The scale where it is one number, and 1 otherwise."""
        return float(self.scale) if isinstance(self.scale, float | int) else 1.0

    @property
    def multipliers(self) -> tuple[float, ...] | None:
        """The scales where there is one for each column, and None otherwise."""
        return self.scale if isinstance(self.scale, tuple) else None


@final
@dataclasses.dataclass(frozen=True)
class Call(Node):
    """A user's function of two blocks of rows, (r, p) and (c, p), that returns (r, c)."""

    function: Callable[[Any, Any], Any]


@final
@dataclasses.dataclass(frozen=True)
class Given(Node):
    """A matrix that is there already: rows of data *are* rows of K."""


@final
@dataclasses.dataclass(frozen=True)
class ConstantNode(Node):
    """The same number for every pair."""

    value: float


@final
@dataclasses.dataclass(frozen=True)
class Apply(Node):
    """A scalar step (see `_steps`) done to every number of a tile, in place."""

    step: str
    argument: Node
    constants: tuple[float, ...] = ()


@final
@dataclasses.dataclass(frozen=True)
class Join(Node):
    """The sum (``add``) or product (``multiply``) of two tiles."""

    how: str
    left: Node
    right: Node


@final
@dataclasses.dataclass(frozen=True)
class Ends(Node):
    """g(x)·g(y)·k(x, y), with `g` a function of rows that returns (n,) numbers."""

    g: Callable[[Any], Any]
    argument: Node


@final
@dataclasses.dataclass(frozen=True)
class Unit(Node):
    """k(x, y)/√(k(x, x)·k(y, y)), and 0 where k(x, x) or k(y, y) is 0."""

    argument: Node


@final
@dataclasses.dataclass(frozen=True)
class Through(Node):
    """k(ψ(x), ψ(y)), with `psi` a function of rows that returns as many rows."""

    psi: Callable[[Any], Any]
    argument: Node


def _affine(node: Node, a: float, b: float) -> Node:
    """Return a·t + b, merged with an affine step that is there already."""
    a, b = float(a), float(b)
    if isinstance(node, ConstantNode):
        return ConstantNode(a * node.value + b)
    if isinstance(node, Apply) and node.step == "affine":
        a, b = a * node.constants[0], a * node.constants[1] + b
        node = node.argument
    return node if (a, b) == (1, 0) else Apply("affine", node, (a, b))


def _power(node: Node, exponent: float) -> Node:
    """Return t^exponent; a squared distance is measured as such, which is one product."""
    if exponent == 1:
        return node
    if isinstance(node, Apply) and node.step == "affine" and node.constants[1] == 0:
        inner = node.argument
        if isinstance(inner, Measure) and inner.kind == "dist" and exponent == 2:
            return _affine(_power(inner, 2), node.constants[0] ** 2, 0)
    if isinstance(node, Measure) and node.kind == "dist" and exponent == 2:
        return dataclasses.replace(node, kind="sqdist")
    return Apply("power", node, (exponent,))
