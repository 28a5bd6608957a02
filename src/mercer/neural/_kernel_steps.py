"""Tile programs as modules of torch: a kernel that gradients go through.

Every node of a program becomes a module with two ways in: `pairs(x, y)` gives its number for
all pairs of rows (N, m), `own(x)` for every row with itself (N, 1). Scales of columns, which
are inverse lengthscales, are parameters. At the few points where a kernel has no derivative, a
distance of zero with a kink above all, the gradient is taken as zero.
"""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mercer.arrays import (
    Apply,
    Array,
    ConstantNode,
    Ends,
    Join,
    Measure,
    Node,
    Through,
    Unit,
    not_zero,
    row_norms,
    unit_rows,
)
from mercer.errors import InputError, NotSupportedError
from mercer.kernels import Selection
from mercer.kernels.families._stationary import _Circles

_NEAR = {torch.float64: 1000.0, torch.float32: 4.0}
# Largest 4‖y‖² up to which squared distances are one product: it is then off by 1e-12 (1e-6).
_FAR_CHORD = 1.99  # from which an angle is measured from its other end
_CELLS = 2**22  # differences (N, m, some columns) that are held at once
_FLOOR = -700.0  # exponent below which eᵗ is left at its value there
COUNTS = ("chi2", "chi2sum", "minsum")


class KernelLayer(nn.Module):
    """x → (k(x, s_1), …, k(x, s_m)): the kernel layer, (N, p) → (N, m).

    Parameters
    ----------
    program : Node
        The tile program of k, with numbers for parameters.
    rows : ndarray of shape (m, p)
        The rows s_i: training rows or landmarks.
    dtype : torch.dtype
        Of all numbers.
    got : str
        The kernel as an error names it.
    """

    def __init__(self, program: Node, rows: Array, dtype: Any, got: str) -> None:
        super().__init__()
        self.step = step_of(program, dtype, got)
        self.rows = nn.Parameter(torch.as_tensor(np.array(rows, np.float64)).to(dtype))

    def forward(self, x: Tensor) -> Tensor:
        """Return k(x, s_i) for all pairs (N, m)."""
        found: Tensor = self.step.pairs(x, self.rows)
        return found.expand(len(x), len(self.rows))

    def program(self) -> Node:
        """Return the tile program with the numbers as they are now."""
        found: Node = self.step.node()
        return found


class _KernelNode(nn.Module):
    """A node of a program."""

    def pairs(self, x: Tensor, y: Tensor) -> Tensor:
        raise NotImplementedError

    def own(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def node(self) -> Node:
        raise NotImplementedError


class _SameNumber(_KernelNode):
    def __init__(self, value: float, dtype: Any) -> None:
        super().__init__()
        self.register_buffer("value", torch.full((1, 1), value, dtype=dtype))

    def pairs(self, x: Tensor, y: Tensor) -> Tensor:
        return self.value

    def own(self, x: Tensor) -> Tensor:
        return self.value

    def node(self) -> Node:
        return ConstantNode(float(self.value))


class _Measured(_KernelNode):
    """A measure of two rows, after choice and scaling of their columns."""

    def __init__(self, measure: Measure, dtype: Any) -> None:
        super().__init__()
        self.measure, self.kind = measure, measure.kind
        self.columns = None if measure.columns is None else list(measure.columns)
        self.scale = None
        if measure.scale is not None and self.kind != "angle":
            self.scale = nn.Parameter(torch.tensor(measure.scale, dtype=dtype))

    def _seen(self, x: Tensor) -> Tensor:
        x = x if self.columns is None else x[:, self.columns]
        if self.kind in COUNTS and bool((x < 0).any()):
            raise InputError(
                f"the measure {self.kind} is defined for numbers that are not negative",
                got=f"{float(x.detach().min()):.6g}",
                fix="use it on counts, shares or histograms, or choose another kernel",
            )
        return x if self.scale is None else x * self.scale

    def pairs(self, x: Tensor, y: Tensor) -> Tensor:
        x, y = self._seen(x), self._seen(y)
        if self.kind == "dot":
            return x @ y.T
        if self.kind in ("sqdist", "dist", "l1"):
            # Distances do not change with the origin, and far from it they would lose digits.
            origin = y.detach().median(dim=0).values if len(y) else y.new_zeros(y.shape[1])
            x, y = x - origin, y - origin
        if self.kind == "sqdist":
            return squared_distances(x, y)
        if self.kind == "dist":
            return distances(x, y)
        if self.kind == "l1":
            return torch.cdist(x, y, p=1.0)
        if self.kind == "angle":
            return _angles(x, y)
        return _compared(self.kind, x, y)

    def own(self, x: Tensor) -> Tensor:
        if self.kind == "dot":
            return (self._seen(x) ** 2).sum(dim=1, keepdim=True)
        if self.kind in ("chi2sum", "minsum"):
            return self._seen(x).sum(dim=1, keepdim=True)
        return x.new_zeros((len(x), 1))

    def node(self) -> Node:
        if self.scale is None:
            return self.measure
        scale = self.scale.detach().cpu().tolist()
        kept = tuple(scale) if isinstance(scale, list) else scale
        return Measure(self.kind, self.measure.columns, kept)


def squared_distances(x: Tensor, y: Tensor) -> Tensor:
    """Return ‖x_i - y_j‖² (N, m): by one product where that keeps the digits."""
    squares = (y * y).sum(dim=1)
    if len(y) and 4 * float(squares.detach().max()) <= _NEAR.get(y.dtype, 0.0):
        both = (x * x).sum(dim=1, keepdim=True) + squares
        return torch.clamp(both - 2 * (x @ y.T), min=0.0)
    return distances(x, y) ** 2


def distances(x: Tensor, y: Tensor) -> Tensor:
    """Return ‖x_i - y_j‖ (N, m), by differences; its gradient at zero is zero."""
    return torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")


def _angles(x: Tensor, y: Tensor) -> Tensor:
    """Return the angle between rows of length one, from the nearer end."""
    chord, across = distances(x, y), distances(x, -y)
    near = chord <= _FAR_CHORD
    one = 2 * torch.asin(torch.where(near, chord, torch.zeros_like(chord)) / 2)
    other = math.pi - 2 * torch.asin(torch.where(near, torch.zeros_like(across), across) / 2)
    return torch.where(near, one, other)


def _compared(kind: str, x: Tensor, y: Tensor) -> Tensor:
    """Return a sum over columns of a function of two numbers, some columns at a time."""
    total = x.new_zeros((len(x), len(y)))
    step = max(1, _CELLS // max(1, len(x) * len(y)))
    for start in range(0, x.shape[1], step):
        a, b = x[:, None, start : start + step], y[None, :, start : start + step]
        if kind == "minsum":
            part = torch.minimum(a, b)
        else:
            both = a + b
            safe = torch.where(both > 0, both, torch.ones_like(both))
            part = (a - b) ** 2 / safe if kind == "chi2" else 2 * a * b / safe
        total = total + part.sum(dim=2)
    return total


class _ScalarStep(_KernelNode):
    """A scalar step on another node."""

    def __init__(self, node: Apply, inner: _KernelNode) -> None:
        super().__init__()
        self.step, self.constants, self.inner = node.step, node.constants, inner

    def pairs(self, x: Tensor, y: Tensor) -> Tensor:
        return _STEPS[self.step](self.inner.pairs(x, y), *self.constants)

    def own(self, x: Tensor) -> Tensor:
        return _STEPS[self.step](self.inner.own(x), *self.constants)

    def node(self) -> Node:
        return Apply(self.step, self.inner.node(), self.constants)


def _power(t: Tensor, exponent: float) -> Tensor:
    if exponent == math.floor(exponent) and exponent > 0:
        return t ** int(exponent)
    alive = t != 0  # the slope of a root at zero is not a number
    safe = torch.where(alive, t, torch.ones_like(t)) if 0 < exponent < 1 else t
    found = torch.sqrt(safe) if exponent == 0.5 else safe**exponent
    return torch.where(alive, found, torch.zeros_like(t)) if 0 < exponent < 1 else found


def _decay(t: Tensor, *coefficients: float) -> Tensor:
    t = torch.clamp(t, max=-_FLOOR)  # ∞·0 is not a number
    value = torch.full_like(t, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = value * t + c
    return value * torch.exp(-t)


class _Arc(torch.autograd.Function):
    """(sin θ + (π - θ)·cos θ)/π for t = cos θ, whose slope is (π - θ)/π."""

    @staticmethod
    def forward(ctx: Any, t: Tensor) -> Tensor:
        ctx.save_for_backward(t)
        t = torch.clamp(t, -1.0, 1.0)
        return (torch.sqrt((1 - t) * (1 + t)) + (math.pi - torch.acos(t)) * t) / math.pi

    @staticmethod
    def backward(ctx: Any, *given: Any) -> Any:
        (t,) = ctx.saved_tensors
        return given[0] * (1 - torch.acos(torch.clamp(t, -1.0, 1.0)) / math.pi)


_STEPS: dict[str, Any] = {
    "affine": lambda t, a, b: a * t + b,
    "arc": _Arc.apply,
    "decay": _decay,
    "exp": lambda t: torch.exp(torch.clamp(t, min=_FLOOR)),
    "log1p": torch.log1p,
    "power": _power,
    "squared_sine": lambda t: torch.sin(t) ** 2,
    "tanh": torch.tanh,
}


class _Joined(_KernelNode):
    """The sum or the product of two nodes."""

    def __init__(self, how: str, left: _KernelNode, right: _KernelNode) -> None:
        super().__init__()
        self.how, self.left, self.right = how, left, right

    def _of(self, left: Tensor, right: Tensor) -> Tensor:
        return left + right if self.how == "add" else left * right

    def pairs(self, x: Tensor, y: Tensor) -> Tensor:
        return self._of(self.left.pairs(x, y), self.right.pairs(x, y))

    def own(self, x: Tensor) -> Tensor:
        return self._of(self.left.own(x), self.right.own(x))

    def node(self) -> Node:
        return Join(self.how, self.left.node(), self.right.node())


class _United(_KernelNode):
    """k(x, y)/√(k(x, x)·k(y, y)), and 0 where one of them is 0."""

    def __init__(self, inner: _KernelNode) -> None:
        super().__init__()
        self.inner = inner

    def pairs(self, x: Tensor, y: Tensor) -> Tensor:
        ends = _inverse_root(self.inner.own(x)) * _inverse_root(self.inner.own(y)).T
        return self.inner.pairs(x, y) * ends

    def own(self, x: Tensor) -> Tensor:
        found = self.inner.own(x)
        return found * _inverse_root(found) ** 2

    def node(self) -> Node:
        return Unit(self.inner.node())


def _inverse_root(t: Tensor) -> Tensor:
    """Return 1/√t, and 0 where t is not positive."""
    safe = torch.where(t > 0, t, torch.ones_like(t))
    return torch.where(t > 0, torch.rsqrt(safe), torch.zeros_like(t))


class _MappedRows(_KernelNode):
    """k(ψ(x), ψ(y)) for the maps of the house."""

    def __init__(self, psi: Any, inner: _KernelNode) -> None:
        super().__init__()
        self.psi, self.inner = psi, inner

    def _of(self, x: Tensor) -> Tensor:
        if isinstance(self.psi, Selection):
            return x[:, list(self.psi.columns)]
        if isinstance(self.psi, _Circles):
            period = torch.as_tensor(self.psi.period, dtype=x.dtype, device=x.device)
            angle = 2 * math.pi * (torch.remainder(x, period) / period)
            return torch.cat([torch.cos(angle), torch.sin(angle)], dim=1)
        return x * _inverse_root((x * x).sum(dim=1, keepdim=True))

    def pairs(self, x: Tensor, y: Tensor) -> Tensor:
        return self.inner.pairs(self._of(x), self._of(y))

    def own(self, x: Tensor) -> Tensor:
        return self.inner.own(self._of(x))

    def node(self) -> Node:
        return Through(self.psi, self.inner.node())


class _Ended(_KernelNode):
    """g(x)·g(y)·k(x, y) for the functions g of the house."""

    def __init__(self, g: Any, inner: _KernelNode) -> None:
        super().__init__()
        self.g, self.inner = g, inner

    def _of(self, x: Tensor) -> Tensor:
        squares = (x * x).sum(dim=1, keepdim=True)
        if self.g is not_zero:
            return (squares > 0).to(x.dtype)
        return _power(squares, 0.5)

    def pairs(self, x: Tensor, y: Tensor) -> Tensor:
        return self._of(x) * self._of(y).T * self.inner.pairs(x, y)

    def own(self, x: Tensor) -> Tensor:
        return self._of(x) ** 2 * self.inner.own(x)

    def node(self) -> Node:
        return Ends(self.g, self.inner.node())


def step_of(node: Node, dtype: Any, got: str) -> _KernelNode:
    """Return a program as a module; what has no gradient is refused.

    Parameters
    ----------
    node : Node
        The program.
    dtype : torch.dtype
        Of its numbers.
    got : str
        The kernel as an error names it.
    """
    if isinstance(node, ConstantNode):
        return _SameNumber(node.value, dtype)
    if isinstance(node, Measure) and node.kind != "hamming":
        return _Measured(node, dtype)
    if isinstance(node, Apply) and node.step in _STEPS:
        return _ScalarStep(node, step_of(node.argument, dtype, got))
    if isinstance(node, Join):
        left, right = step_of(node.left, dtype, got), step_of(node.right, dtype, got)
        return _Joined(node.how, left, right)
    if isinstance(node, Unit):
        return _United(step_of(node.argument, dtype, got))
    if isinstance(node, Ends) and node.g in (not_zero, row_norms):
        return _Ended(node.g, step_of(node.argument, dtype, got))
    own = (Selection, _Circles)
    if isinstance(node, Through) and (node.psi is unit_rows or isinstance(node.psi, own)):
        return _MappedRows(node.psi, step_of(node.argument, dtype, got))
    raise no_gradient(got, node)


def no_gradient(got: str, part: Any) -> NotSupportedError:
    """Return the error for a kernel that gradients do not go through."""
    shares = isinstance(part, Measure) and part.kind == "hamming"
    why = (
        "the share of equal columns, which moves in jumps" if shares else "a function of yours"
    )
    return NotSupportedError(
        "this kernel has no gradient that a network could follow",
        got=f"{got}: {why}",
        fix="fit with a kernel of products or distances, such as RBF()",
    )
