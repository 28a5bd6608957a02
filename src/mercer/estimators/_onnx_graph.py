"""An ONNX graph as it grows: operations on named tensors, all of them float64."""

from typing import Any

import numpy as np

from mercer.arrays import Array

OPSET, IR_VERSION = 17, 10  # read by every onnxruntime from 1.18 on


class Graph:
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

    def compared(self, rows: str, others: Array, *, squared: bool) -> str:
        """Return Σ(x-y)² or Σ|x-y| to relative accuracy, (N, m): column by column.

        A difference of all rows at once would take N·m·p numbers, a scan takes N·m.
        """
        helper, double = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        count = self.add("Gather", self.add("Shape", rows), self.whole(0))
        shape = self.add("Concat", count, self.whole(len(others)), axis=0)
        zero = self.onnx.numpy_helper.from_array(np.zeros(1))
        start = self.add("ConstantOfShape", shape, value=zero)
        last = ("Mul", ["apart", "apart"]) if squared else ("Abs", ["apart"])
        body = helper.make_graph(
            [
                helper.make_node("Unsqueeze", ["x", "second"], ["down"]),
                helper.make_node("Sub", ["down", "y"], ["apart"]),
                helper.make_node(*last, ["part"]),
                helper.make_node("Add", ["before", "part"], ["after"]),
            ],
            "one column",
            [
                helper.make_tensor_value_info("before", double, ["N", len(others)]),
                helper.make_tensor_value_info("x", double, ["N"]),
                helper.make_tensor_value_info("y", double, [len(others)]),
            ],
            [helper.make_tensor_value_info("after", double, ["N", len(others)])],
            [self.onnx.numpy_helper.from_array(self.whole(1), "second")],
        )
        turned = self.add("Transpose", rows, perm=[1, 0])
        return self.add("Scan", start, turned, others.T, body=body, num_scan_inputs=2)

    def model(self, result: str, shape: tuple[int, int], single: bool, about: Any) -> Any:
        """Return the finished model, X in and Z out, checked by the library."""
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
