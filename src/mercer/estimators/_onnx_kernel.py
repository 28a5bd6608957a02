"""A kernel as operations of ONNX: its tile program, step by step, in float64."""

from typing import Any

import numpy as np

from mercer.arrays import (
    Apply,
    Array,
    Constant,
    Join,
    Measure,
    Node,
    Through,
    Unit,
    diagonal,
    prepare,
    unit_rows,
)
from mercer.errors import NotSupportedError
from mercer.estimators._onnx_graph import Graph
from mercer.kernels import Kernel, Selection

KNOWN = (
    "Linear, Polynomial, RBF, Matern, Laplacian, RationalQuadratic, PowerExponential, "
    "NegativeDistance, Multiquadric, Log, Sigmoid, Cosine, and what is made of them by +, *, "
    "**, exp, normalize and on"
)
# Largest (‖x‖ + ‖y‖)² in lengthscales at which a squared distance is one product: its error
# is then below 1e-12. Beyond that, and for distances themselves, columns are compared.
_NEAR = 1000.0


def kernel_values(graph: Graph, kernel: Kernel, rows: str, others: Array) -> str:
    """Return k(x, y) (N, m) for the rows of a graph and fixed rows (m, p).

    Parameters
    ----------
    graph : Graph
        To which the operations are added.
    kernel : Kernel
        With numbers for parameters. Kernels with functions are refused, and so are those on
        measures that ONNX has no operation for.
    rows : str
        The tensor of rows x.
    others : ndarray of shape (m, p)
        The rows y, float64.
    """
    return _Tile(graph, kernel).values(kernel.program(), rows, others)


class _Tile:
    """Walks a program; every method returns the name of a tensor."""

    def __init__(self, graph: Graph, kernel: Kernel) -> None:
        self.graph, self.kernel = graph, kernel

    def values(self, node: Node, rows: str, others: Array) -> str:
        """Return the node for all pairs of rows and others, (N, m) or a number."""
        if isinstance(node, Measure):
            return self._measured(node, rows, others)
        if isinstance(node, Through):
            return self.values(node.argument, *self._through(node.psi, rows, others))
        if isinstance(node, Unit):
            return self._unit(node, rows, others)
        return self._step(node, lambda inner: self.values(inner, rows, others))

    def diagonal(self, node: Node, rows: str) -> str:
        """Return the node for every row with itself, (N, 1) or a number."""
        if isinstance(node, Measure):
            if node.kind != "dot":
                return self.graph.constant(np.zeros((1, 1)))
            return self.graph.squares(self._scaled(node, rows))
        if isinstance(node, Through):
            few = self._through(node.psi, rows, np.zeros((0, 0)))[0]
            return self.diagonal(node.argument, few)
        if isinstance(node, Unit):
            own = self.diagonal(node.argument, rows)
            return self._over(own, own)
        return self._step(node, lambda inner: self.diagonal(inner, rows))

    def _step(self, node: Node, inner: Any) -> str:
        if isinstance(node, Constant):
            return self.graph.constant(np.full((1, 1), node.value))
        if isinstance(node, Join):
            one, other = node.left, node.right
            if node.how == "multiply" and isinstance(one, Constant):
                return self.graph.times(inner(other), one.value)
            if node.how == "multiply" and isinstance(other, Constant):
                return self.graph.times(inner(one), other.value)
            operation = {"add": "Add", "multiply": "Mul"}[node.how]
            return self.graph.add(operation, inner(one), inner(other))
        if isinstance(node, Apply) and node.step in _STEPS:
            return str(_STEPS[node.step](self.graph, inner(node.argument), *node.constants))
        raise self._refusal(node)

    def _measured(self, node: Measure, rows: str, others: Array) -> str:
        graph = self.graph
        fixed = others if node.columns is None else others[:, list(node.columns)]
        scale = 1.0 if node.scale is None else np.asarray(node.scale, np.float64)
        if node.kind == "dot":
            return graph.add("MatMul", self._scaled(node, rows), (fixed * scale).T)
        if node.kind not in ("sqdist", "dist", "l1"):
            raise self._refusal(node)
        # Distances do not change with the origin, and far from it they would lose digits.
        origin = np.median(fixed, axis=0) if len(fixed) else np.zeros(fixed.shape[1])
        fixed = (fixed - origin) * scale
        about = self._scaled(node, rows, origin)
        if node.kind == "l1":
            return graph.compared(about, fixed, squared=False)
        reach = 4 * float(np.max(np.sum(fixed**2, axis=1), initial=0.0))
        if node.kind == "sqdist" and reach <= _NEAR:
            product = graph.add("MatMul", about, -2 * fixed.T)
            both = graph.add("Add", graph.squares(about), np.sum(fixed**2, axis=1)[None, :])
            return graph.add("Max", graph.add("Add", both, product), 0.0)
        squared = graph.compared(about, fixed, squared=True)
        return squared if node.kind == "sqdist" else graph.add("Sqrt", squared)

    def _scaled(self, node: Measure, rows: str, origin: Array | None = None) -> str:
        graph = self.graph
        rows = rows if node.columns is None else graph.columns(rows, node.columns)
        rows = rows if origin is None else graph.add("Sub", rows, origin)
        return rows if node.scale is None else graph.times(rows, node.scale)

    def _through(self, psi: Any, rows: str, others: Array) -> tuple[str, Array]:
        if isinstance(psi, Selection):
            few = others[:, list(psi.columns)] if len(others) else others
            return self.graph.columns(rows, psi.columns), few
        if psi is not unit_rows:
            raise self._refusal(psi)
        norms = self.graph.add("Sqrt", self.graph.squares(rows))
        return self._over(rows, norms), np.asarray(unit_rows(others))

    def _unit(self, node: Unit, rows: str, others: Array) -> str:
        """k(x, y)/√(k(x, x)·k(y, y)), and 0 where one of them is 0."""
        whole = self.values(node.argument, rows, others)
        ends = self.graph.add("Sqrt", self.diagonal(node.argument, rows))
        theirs = np.sqrt(diagonal(node.argument, prepare(node.argument, others)))
        inverse = np.divide(1.0, theirs, out=np.zeros_like(theirs), where=theirs > 0)
        return self.graph.times(self._over(whole, ends), inverse[None, :])

    def _over(self, values: str, sizes: str) -> str:
        """Return values/sizes, and 0 where a size is 0."""
        graph = self.graph
        empty = graph.add("Not", graph.add("Greater", sizes, 0.0))
        safe = graph.add("Where", empty, 1.0, sizes)
        return graph.add("Where", empty, 0.0, graph.add("Div", values, safe))

    def _refusal(self, part: Any) -> NotSupportedError:
        return NotSupportedError(
            "this kernel has no form in ONNX",
            got=f"{self.kernel!r}, of which {getattr(part, '__name__', None) or part!r}",
            fix=f"known are {KNOWN}",
        )


def _affine(graph: Graph, t: str, a: float, b: float) -> str:
    t = t if a == 1 else graph.times(t, a)
    return t if b == 0 else graph.add("Add", t, b)


def _power(graph: Graph, t: str, exponent: float) -> str:
    return graph.add("Sqrt", t) if exponent == 0.5 else graph.add("Pow", t, exponent)


def _squared_sine(graph: Graph, t: str) -> str:
    sine = graph.add("Sin", t)
    return graph.add("Mul", sine, sine)


def _decay(graph: Graph, t: str, *coefficients: float) -> str:
    t = graph.add("Min", t, 700.0)  # ∞·0 is not a number
    falling = graph.add("Exp", graph.add("Neg", t))
    if len(coefficients) == 1:
        return graph.times(falling, coefficients[0])
    value = graph.times(t, coefficients[-1])
    for c in reversed(coefficients[1:-1]):
        value = graph.add("Mul", graph.add("Add", value, c), t)
    return graph.add("Mul", graph.add("Add", value, coefficients[0]), falling)


_STEPS: dict[str, Any] = {
    "affine": _affine,
    "decay": _decay,
    "exp": lambda graph, t: graph.add("Exp", t),
    "log1p": lambda graph, t: graph.add("Log", graph.add("Add", t, 1.0)),
    "power": _power,
    "squared_sine": _squared_sine,
    "tanh": lambda graph, t: graph.add("Tanh", t),
}
