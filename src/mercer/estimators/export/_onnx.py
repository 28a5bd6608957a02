"""Models as ONNX graphs, for programs that know nothing of mercer.

An ONNX graph as it grows: operations on named tensors, all of them float64.

Explicit features of a kernel as operations of ONNX.

A kernel as operations of ONNX: its tile program, step by step, in float64.
"""

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

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
    diagonal,
    not_zero,
    prepare,
    row_norms,
    unit_rows,
)
from mercer.errors import InputError, MissingExtraError, NotSupportedError
from mercer.estimators.kernel._explicit_features import Widened
from mercer.estimators.kernel._fitted_kernel import FittedKernel
from mercer.estimators.kernel._row_samples import dense
from mercer.estimators.kernel.kernel_pca import KernelPCA
from mercer.estimators.linear.pca import PCA
from mercer.estimators.walk._parameters import check_fitted
from mercer.kernels import Selection
from mercer.kernels.families._stationary import _Circles
from mercer.kernels.maps._feature_maps import (
    Chosen,
    Identity,
    Monomials,
    One,
    Stacked,
    Weighted,
)
from mercer.sources import refuse_table
from mercer.store import naming, path_of, replacing, write_all

OPSET, IR_VERSION = 17, 10  # read by every onnxruntime from 1.18 on


class OnnxGraph:
    """Nodes and constants of a graph that turns rows X (N, p) into coordinates Z (N, k).

    Parameters
    ----------
    onnx : module
        The library, which is loaded only when a model is exported.
    """

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.nbytes = 0

    def constant(self, values: Any) -> str:
        """Keep numbers in the graph, as float64 unless they are places; return their name."""
        places = isinstance(values, np.ndarray) and values.dtype == np.int64
        array = values if places else np.asarray(values, np.float64)
        name = f"c{len(self.constants)}"
        kept = np.ascontiguousarray(array).reshape(array.shape)
        self.constants.append(self.onnx.numpy_helper.from_array(kept, name))
        self.nbytes += array.nbytes
        return name

    def add(self, operation: str, *inputs: Any, **attributes: Any) -> str:
        """Append an operation; inputs are names, or arrays and numbers; return the result."""
        names = [item if isinstance(item, str) else self.constant(item) for item in inputs]
        name = f"t{len(self.nodes)}"
        node = self.onnx.helper.make_node(operation, names, [name], **attributes)
        self.nodes.append(node)
        return name

    def times(self, values: str, factor: Any) -> str:
        """Return values times a number, or times one number for each column.

        onnxruntime melts a single factor into a matrix product beside it, as float32. Between
        two changes of sign it is not beside one, and these cost no digit.
        """
        if np.size(factor) > 1:
            return self.add("Mul", values, factor)
        return self.add("Neg", self.add("Mul", self.add("Neg", values), factor))

    def whole(self, *numbers: int) -> Array:
        """Return whole numbers as operations take them: axes, places, shapes."""
        return np.array(numbers, dtype=np.int64)

    def squares(self, rows: str) -> str:
        """Return ‖x‖² of every row, (N, 1)."""
        return self.add("ReduceSum", self.add("Mul", rows, rows), self.whole(1), keepdims=1)

    def columns(self, rows: str, columns: Any) -> str:
        """Return some columns of the rows."""
        return self.add("Gather", rows, np.asarray(columns, np.int64), axis=1)

    def compared(self, rows: str, others: Array, how: str) -> str:
        """Return a sum over columns of a function of two numbers, (N, m): column by column.

        A difference of all rows at once would take N·m·p numbers, a scan takes N·m.

        Parameters
        ----------
        rows : str
            The tensor of rows x, (N, p).
        others : ndarray of shape (m, p)
            The rows y.
        how : str
            A key of `_OF_TWO`.
        """
        helper, double = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        count = self.add("Gather", self.add("Shape", rows), self.whole(0))
        shape = self.add("Concat", count, self.whole(len(others)), axis=0)
        zero = self.onnx.numpy_helper.from_array(np.zeros(1))
        start = self.add("ConstantOfShape", shape, value=zero)
        made = [
            ("Unsqueeze", "x second", "down"),
            *_OF_TWO[how],
            ("Add", "before part", "after"),
        ]
        body = helper.make_graph(
            [helper.make_node(name, given.split(), [result]) for name, given, result in made],
            "one column",
            [
                helper.make_tensor_value_info("before", double, ["N", len(others)]),
                helper.make_tensor_value_info("x", double, ["N"]),
                helper.make_tensor_value_info("y", double, [len(others)]),
            ],
            [helper.make_tensor_value_info("after", double, ["N", len(others)])],
            [
                self.onnx.numpy_helper.from_array(self.whole(1), "second"),
                *(self.onnx.numpy_helper.from_array(np.array(v), n) for n, v in _NUMBERS),
            ],
        )
        turned = self.add("Transpose", rows, perm=[1, 0])
        return self.add("Scan", start, turned, others.T, body=body, num_scan_inputs=2)

    def arcsine(self, values: str) -> str:
        """Return asin of numbers between 0 and √½.

        onnxruntime has it for float32 alone; two steps of Newton's method make it float64.
        """
        proto = self.onnx.TensorProto
        single = self.add("Asin", self.add("Cast", values, to=proto.FLOAT))
        found = self.add("Cast", single, to=proto.DOUBLE)
        for _ in range(2):
            off = self.add("Sub", self.add("Sin", found), values)
            found = self.add("Sub", found, self.add("Div", off, self.add("Cos", found)))
        return found

    def model(self, result: str, shape: tuple[int, int], single: bool, about: Any) -> Any:
        """Return the finished model, X in and Z out, checked by the library."""
        if self.nbytes > _MOST:
            raise NotSupportedError(
                "an ONNX graph holds at most 2 GB",
                got=f"{self.nbytes:,} bytes of rows and axes",
                fix="fit with `landmarks`, so that fewer rows are kept",
            )
        helper, proto = self.onnx.helper, self.onnx.TensorProto
        outside = proto.FLOAT if single else proto.DOUBLE
        self.nodes.append(helper.make_node("Cast", [result], ["Z"], to=outside))
        graph = helper.make_graph(
            self.nodes,
            "mercer",
            [helper.make_tensor_value_info("X", outside, ["N", shape[0]])],
            [helper.make_tensor_value_info("Z", outside, ["N", shape[1]])],
            self.constants,
        )
        made = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="mercer",
        )
        helper.set_model_props(made, about)
        self.onnx.checker.check_model(made, full_check=True)
        return made


def feature_values(graph: OnnxGraph, phi: Any, rows: str, p: int) -> str:
    """Return φ(x) (N, D) for the rows of a graph.

    Parameters
    ----------
    graph : OnnxGraph
        To which the operations are added.
    phi : function
        φ of a kernel of the house; functions of the user are refused.
    rows : str
        The tensor of rows, (N, p).
    p : int
        Columns of the rows.
    """
    features = getattr(phi, "__self__", phi)
    if isinstance(features, Identity):
        return rows
    if isinstance(features, One):
        return _ones(graph, rows, 1.0)
    if isinstance(features, Weighted):
        return graph.times(feature_values(graph, features.part, rows, p), features.weight)
    if isinstance(features, Stacked):
        left = feature_values(graph, features.left, rows, p)
        right = feature_values(graph, features.right, rows, p)
        return graph.add("Concat", left, right, axis=1)
    if isinstance(features, Chosen):
        few = graph.columns(rows, features.columns)
        return feature_values(graph, features.part, few, len(features.columns))
    if isinstance(features, Monomials):
        return _monomials(graph, features, rows, p)
    raise NotSupportedError(
        "these features have no form in ONNX",
        got=f"{features!r}",
        fix="use a kernel of mercer.kernels by its parameters, or export the model of φ(X)",
    )


def _ones(graph: OnnxGraph, rows: str, value: float) -> str:
    """Return a column of one number, as long as the rows."""
    count = graph.add("Gather", graph.add("Shape", rows), graph.whole(0))
    shape = graph.add("Concat", count, graph.whole(1), axis=0)
    one = graph.onnx.numpy_helper.from_array(np.array([value]))
    return graph.add("ConstantOfShape", shape, value=one)


def _monomials(graph: OnnxGraph, features: Monomials, rows: str, p: int) -> str:
    """Products of columns of z = (√c, √γ·x), times the root of their coefficient."""
    z = graph.times(rows, features.gamma**0.5)
    if features.coef0 > 0:
        z = graph.add("Concat", _ones(graph, rows, features.coef0**0.5), z, axis=1)
    which, roots = features.terms(p)
    found = graph.columns(z, which[:, 0])
    for k in range(1, features.degree):
        found = graph.add("Mul", found, graph.columns(z, which[:, k]))
    return graph.times(found, roots[None, :])


KNOWN = "all kernels of products, distances and counts, and what is made of them by +, *, **"
_NUMBERS = (("none", 0.0), ("one", 1.0), ("two", 2.0))  # that the functions below take
_APART = [("Sub", "down y", "apart")]
_BOTH = [
    ("Add", "down y", "both"), ("Greater", "both none", "alive"),
    ("Where", "alive both one", "safe"),
]  # fmt: skip
# Functions of one column of two rows, as operations on "down" (N, 1) and "y" (m,).
_OF_TWO: dict[str, list[tuple[str, str, str]]] = {
    "sqdist": [*_APART, ("Mul", "apart apart", "part")],
    "l1": [*_APART, ("Abs", "apart", "part")],
    "minsum": [("Min", "down y", "part")],
    "chi2": [*_APART, *_BOTH, ("Mul", "apart apart", "square"), ("Div", "square safe", "part")],
    "chi2sum": [
        *_BOTH, ("Mul", "down y", "product"), ("Mul", "product two", "twice"),
        ("Div", "twice safe", "part"),
    ],
}  # fmt: skip
# Largest (‖x‖ + ‖y‖)² in lengthscales at which a squared distance is one product: its error
# is then below 1e-12. Beyond that, and for distances themselves, columns are compared.
_NEAR = 1000.0


def kernel_values(graph: OnnxGraph, program: Node, rows: str, others: Array, named: str) -> str:
    """Return k(x, y) (N, m) for the rows of a graph and fixed rows (m, p).

    Parameters
    ----------
    graph : OnnxGraph
        To which the operations are added.
    program : Node
        The tile program of k. Kernels with functions of the user's are refused, and so are
        those that count equal columns.
    rows : str
        The tensor of rows x.
    others : ndarray of shape (m, p)
        The rows y, float64.
    named : str
        The kernel as an error names it.
    """
    return _Tile(graph, named).values(program, rows, others)


class _Tile:
    """Walks a program; every method returns the name of a tensor."""

    def __init__(self, graph: OnnxGraph, named: str) -> None:
        self.graph, self.named = graph, named

    def values(self, node: Node, rows: str, others: Array) -> str:
        """Return the node for all pairs of rows and others, (N, m) or a number."""
        if isinstance(node, Measure):
            return self._measured(node, rows, others)
        if isinstance(node, Through):
            return self.values(node.argument, *self._through(node.psi, rows, others))
        if isinstance(node, Unit):
            return self._unit(node, rows, others)
        if isinstance(node, Ends):
            mine, theirs = self._end(node, rows), np.asarray(node.g(others), np.float64)
            inner = self.values(node.argument, rows, others)
            return self.graph.add("Mul", self.graph.times(inner, theirs[None, :]), mine)
        return self._step(node, lambda inner: self.values(inner, rows, others))

    def _end(self, node: Ends, rows: str) -> str:
        """Return g(x) of the functions of the house, (N, 1)."""
        if node.g is row_norms:
            return self.graph.add("Sqrt", self.graph.squares(rows))
        if node.g is not not_zero:
            raise self._refusal(node.g)
        alive = self.graph.add("Greater", self.graph.squares(rows), 0.0)
        return self.graph.add("Cast", alive, to=self.graph.onnx.TensorProto.DOUBLE)

    def diagonal(self, node: Node, rows: str) -> str:
        """Return the node for every row with itself, (N, 1) or a number."""
        if isinstance(node, Measure):
            if node.kind == "dot":
                return self.graph.squares(self._scaled(node, rows))
            if node.kind in ("chi2sum", "minsum"):
                seen = self._scaled(node, rows)
                return self.graph.add("ReduceSum", seen, self.graph.whole(1), keepdims=1)
            return self.graph.constant(np.zeros((1, 1)))
        if isinstance(node, Through):
            few = self._through(node.psi, rows, np.zeros((0, 0)))[0]
            return self.diagonal(node.argument, few)
        if isinstance(node, Unit):
            own = self.diagonal(node.argument, rows)
            return self._over(own, own)
        if isinstance(node, Ends):
            mine = self._end(node, rows)
            own = self.diagonal(node.argument, rows)
            return self.graph.add("Mul", self.graph.add("Mul", mine, mine), own)
        return self._step(node, lambda inner: self.diagonal(inner, rows))

    def _step(self, node: Node, inner: Any) -> str:
        if isinstance(node, ConstantNode):
            return self.graph.constant(np.full((1, 1), node.value))
        if isinstance(node, Join):
            one, other = node.left, node.right
            if node.how == "multiply" and isinstance(one, ConstantNode):
                return self.graph.times(inner(other), one.value)
            if node.how == "multiply" and isinstance(other, ConstantNode):
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
        if node.kind == "angle":
            return self._angle(rows, fixed)
        if node.kind in ("chi2", "chi2sum", "minsum"):
            return graph.compared(self._scaled(node, rows), fixed * scale, node.kind)
        if node.kind not in ("sqdist", "dist", "l1"):
            raise self._refusal(node)
        # Distances do not change with the origin, and far from it they would lose digits.
        origin = np.median(fixed, axis=0) if len(fixed) else np.zeros(fixed.shape[1])
        fixed = (fixed - origin) * scale
        about = self._scaled(node, rows, origin)
        if node.kind == "l1":
            return graph.compared(about, fixed, "l1")
        reach = 4 * float(np.max(np.sum(fixed**2, axis=1), initial=0.0))
        if node.kind == "sqdist" and reach <= _NEAR:
            product = graph.add("MatMul", about, -2 * fixed.T)
            both = graph.add("Add", graph.squares(about), np.sum(fixed**2, axis=1)[None, :])
            return graph.add("Max", graph.add("Add", both, product), 0.0)
        squared = graph.compared(about, fixed, "sqdist")
        return squared if node.kind == "sqdist" else graph.add("Sqrt", squared)

    def _angle(self, rows: str, others: Array) -> str:
        """Return the angle between rows of length one, from the nearer end."""
        graph = self.graph
        near, far = (graph.compared(rows, sign * others, "sqdist") for sign in (1.0, -1.0))
        return _turned(graph, graph.times(near, 0.25), graph.times(far, 0.25))

    def _scaled(self, node: Measure, rows: str, origin: Array | None = None) -> str:
        graph = self.graph
        rows = rows if node.columns is None else graph.columns(rows, node.columns)
        rows = rows if origin is None else graph.add("Sub", rows, origin)
        return rows if node.scale is None else graph.times(rows, node.scale)

    def _through(self, psi: Any, rows: str, others: Array) -> tuple[str, Array]:
        if isinstance(psi, Selection):
            few = others[:, list(psi.columns)] if len(others) else others
            return self.graph.columns(rows, psi.columns), few
        if isinstance(psi, _Circles):
            return self._circles(psi, rows), np.asarray(psi(others)) if len(others) else others
        if psi is not unit_rows:
            raise self._refusal(psi)
        norms = self.graph.add("Sqrt", self.graph.squares(rows))
        return self._over(rows, norms), np.asarray(unit_rows(others))

    def _circles(self, psi: _Circles, rows: str) -> str:
        """Return (cos 2πx/T, sin 2πx/T); whole turns are taken out first, exactly."""
        graph, period = self.graph, np.atleast_1d(np.asarray(psi.period, np.float64))
        over = graph.add("Mod", rows, period, fmod=1)
        angle = graph.times(graph.add("Div", over, period), 2 * np.pi)
        return graph.add("Concat", graph.add("Cos", angle), graph.add("Sin", angle), axis=1)

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
            got=f"{self.named}, of which {getattr(part, '__name__', None) or part!r}",
            fix=f"known are {KNOWN}",
        )


def _affine(graph: OnnxGraph, t: str, a: float, b: float) -> str:
    t = t if a == 1 else graph.times(t, a)
    return t if b == 0 else graph.add("Add", t, b)


def _turned(graph: OnnxGraph, near: str, far: str) -> str:
    """Return the angle whose half has the squared sine `near` and the squared cosine `far`."""
    first = graph.add("Not", graph.add("Greater", near, far))
    less = graph.add("Max", graph.add("Min", near, far), 0.0)
    angle = graph.times(graph.arcsine(graph.add("Sqrt", less)), 2.0)
    return graph.add("Where", first, angle, graph.add("Sub", np.pi, angle))


def _arc(graph: OnnxGraph, t: str) -> str:
    """(sin θ + (π - θ)·cos θ)/π for t = cos θ."""
    t = graph.add("Max", graph.add("Min", t, 1.0), -1.0)
    down, up = graph.add("Sub", 1.0, t), graph.add("Add", t, 1.0)
    angle = _turned(graph, graph.times(down, 0.5), graph.times(up, 0.5))
    sine = graph.add("Sqrt", graph.add("Mul", down, up))
    rest = graph.add("Mul", graph.add("Sub", np.pi, angle), t)
    return graph.times(graph.add("Add", sine, rest), 1 / np.pi)


def _squared_sine(graph: OnnxGraph, t: str) -> str:
    sine = graph.add("Sin", t)
    return graph.add("Mul", sine, sine)


def _decay(graph: OnnxGraph, t: str, *coefficients: float) -> str:
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
    "arc": _arc,
    "decay": _decay,
    "exp": lambda graph, t: graph.add("Exp", t),
    "log1p": lambda graph, t: graph.add("Log", graph.add("Add", t, 1.0)),
    "power": lambda graph, t, e: graph.add("Sqrt", t) if e == 0.5 else graph.add("Pow", t, e),
    "squared_sine": _squared_sine,
    "tanh": lambda graph, t: graph.add("Tanh", t),
}


_MOST = 2_000_000_000  # bytes that one protocol buffer can hold


def export_onnx(model: Any, path: str | os.PathLike[str], *, dtype: Any = None) -> None:
    """Write `transform` of a fitted model as an ONNX graph: X (N, p) in, Z (N, k) out.

    Numbers are float64 inside whatever `dtype`, and the origin of the fit is subtracted
    first, so that rows far from zero keep their digits. The graph agrees with `transform` to
    rounding. A `tol_transform` is not followed: rows are projected exactly.

    Parameters
    ----------
    model : PCA, KernelPCA or Autoencoder
        Fitted. Kernels may be those that have a form in ONNX, and what is made of them;
        an error lists them. A kernel model on few landmarks makes a small graph, an exact
        one holds its training rows.
    path : path
        The file; it is replaced as a whole.
    dtype : {"float32", "float64"} or None
        Type of X and Z; None is that of the rows of the fit.
    """
    onnx = onnx_library()

    def make(single: bool) -> Any:
        return _graph_of(onnx, model, single)

    own = None
    if dtype is None:
        _part_of(model)
        check_fitted(model)
        own = model.components_.dtype if isinstance(model, PCA) else model._dtype
    written(path, make, dtype if own is None else np.dtype(own))


def written(path: str | os.PathLike[str], make: Callable[[bool], Any], dtype: Any) -> None:
    """Write the graph that `make(single)` gives, whole or not at all.

    Parameters
    ----------
    path : path
        The file.
    make : function
        Gives the model; `single` says that X and Z are float32.
    dtype : {"float32", "float64"}
        Type of X and Z.
    """
    target = path_of(path).resolve()
    refuse_table(target)
    with naming(target):
        made = make(_single(dtype))
        with replacing(target) as descriptor:
            write_all(descriptor, made.SerializeToString())


def _graph_of(onnx: Any, model: Any, single: bool) -> Any:
    """Return the graph of a fitted model, ready to be written."""
    write_part = _part_of(model)
    check_fitted(model)
    _refuse_nothing(model)
    graph = OnnxGraph(onnx)
    result = write_part(graph, model, graph.add("Cast", "X", to=onnx.TensorProto.DOUBLE))
    shape = int(model.n_features_in_), int(model._n_features_out)
    return graph.model(result, shape, single, _about(model))


def _part_of(model: Any) -> Callable[[OnnxGraph, Any, str], str]:
    """Return what writes this kind of model; faces that project otherwise have none."""
    if isinstance(model, PCA) and type(model)._project is PCA._project:
        return _linear
    if isinstance(model, KernelPCA) and type(model)._project is KernelPCA._project:
        return curved_part
    own: Callable[[OnnxGraph, Any, str], str] | None = getattr(type(model), "_graph_part", None)
    if own is not None:  # of a room above
        return own
    raise NotSupportedError(
        "only PCA, KernelPCA and Autoencoder are exported to ONNX",
        got=f"{type(model).__module__}.{type(model).__qualname__}",
        fix="export one of these, or save the model with mercer.save",
    )


def onnx_library() -> Any:
    """Return onnx, or say which extra brings it."""
    try:
        import onnx
    except ImportError:
        raise MissingExtraError(
            "models are exported by the library onnx, which is not installed",
            got="no module named onnx",
            fix="pip install 'mercer[onnx]'",
        ) from None
    return onnx


def _refuse_nothing(model: Any) -> None:
    if int(model._n_features_out) == 0:
        raise NotSupportedError(
            "a model without axes has no coordinates to compute",
            got=f"{type(model).__name__} with n_components_ = 0",
            fix="ask for a number of components",
        )
    if vars(model).get("completion_") is not None:
        raise NotSupportedError(
            "the filling of missing cells has no form in ONNX, and rows with them would be NaN",
            got=f"{type(model).__name__}(missing={model.missing!r})",
            fix='fill rows by PCA(missing="em").fit(X).impute, and export a model of these',
        )


def _single(dtype: Any) -> bool:
    """Tell whether X and Z are float32."""
    if str(dtype) not in ("float32", "float64") and dtype not in (np.float32, np.float64):
        raise InputError(
            "`dtype` is the type of the rows that the graph takes",
            got=f"dtype={dtype!r}",
            fix='pass "float32" or "float64"',
        )
    return bool(np.dtype(dtype) == np.float32)


def _about(model: Any) -> dict[str, str]:
    """What the file says of itself, beside the graph."""
    about = {"model": type(model).__name__}
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        about["feature_names"] = json.dumps([str(name) for name in names])
    return about


def _linear(graph: OnnxGraph, model: Any, rows: str) -> str:
    """x̃V, as `PCA.transform` gives it: (x - origin)·2^-e - offset, times factor and axes."""
    centring = model._centring
    axes = np.asarray(model.components_.T, np.float64)
    if centring.factor is not None:
        axes = np.asarray(centring.factor, np.float64)[:, None] * axes
    if model._whitened is not False:
        safe = np.where(model._alive, model._unit_deviations, 1.0)
        axes = axes * np.where(model._alive, 1 / safe, 0.0)
    rows = _in_units(graph, graph.add("Sub", rows, centring.origin), -centring.exponent)
    found = graph.add("MatMul", graph.add("Sub", rows, centring.offset), axes)
    if model._whitened is False:
        return _in_units(graph, found, centring.unit)
    if model._whitened == "zca":
        return graph.add("MatMul", found, np.asarray(model.components_, np.float64))
    return found


def _in_units(graph: OnnxGraph, values: str, exponent: int) -> str:
    """Return values·2^exponent, in halves because 2^exponent may have no float64."""
    for part in (exponent // 2, exponent - exponent // 2):
        values = values if part == 0 else graph.times(values, 2.0**part)
    return values


def curved_part(graph: OnnxGraph, model: KernelPCA, rows: str) -> str:
    """Bᵀk(rows, x) - c₀, or x̃V of explicit features where the model has those."""
    fitted = FittedKernel.of(model)
    frame, engine, phi, projection = fitted.frame, fitted.engine, fitted.phi, fitted.projection
    if not frame.numeric:
        raise NotSupportedError(
            "a graph takes tables of numbers",
            got=f"a model of other rows, {fitted.given!r}",
            fix="map the rows to numbers, and fit and export a model of those",
        )
    if frame.factor is not None:
        rows = graph.add("Sub", rows, frame.mean)
        rows = rows if frame.rest is None else graph.add("Sub", rows, frame.rest)
        rows = graph.times(rows, frame.factor)
    if engine is not None:
        phi = phi.phi if isinstance(phi, Widened) else phi
        features = feature_values(graph, phi, rows, int(model.n_features_in_))
        found = _linear(graph, engine, features)
        short = fitted.components - engine.n_components_
        if short <= 0:
            return found
        none = np.zeros((engine.n_components_, short))
        return graph.add("Concat", found, graph.add("MatMul", found, none), axis=1)
    if projection is None:
        raise NotSupportedError(
            "a precomputed matrix has no rows, and no graph",
            got=f"{fitted.own!r}",
            fix="fit with a kernel on rows",
        )
    program, others = (
        projection.kernel.program(),
        np.asarray(dense(projection.rows), np.float64),
    )
    values = kernel_values(graph, program, rows, others, f"{projection.kernel!r}")
    found = graph.add("MatMul", values, np.asarray(projection.dual, np.float64))
    return graph.add("Sub", found, np.asarray(fitted.level, np.float64))
