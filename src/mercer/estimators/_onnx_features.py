"""Explicit features of a kernel as operations of ONNX."""

from typing import Any

import numpy as np

from mercer.errors import NotSupportedError
from mercer.estimators._onnx_graph import Graph
from mercer.kernels._features import Chosen, Identity, Monomials, One, Stacked, Weighted


def feature_values(graph: Graph, phi: Any, rows: str, p: int) -> str:
    """Return φ(x) (N, D) for the rows of a graph.

    Parameters
    ----------
    graph : Graph
        To which the operations are added.
    phi : function
        φ of a kernel of the house; functions of the user are refused.
    rows : str
        The tensor of rows, (N, p).
    p : int
        Columns of the rows.
    """
    return _features(graph, getattr(phi, "__self__", phi), rows, p)


def _features(graph: Graph, features: Any, rows: str, p: int) -> str:
    if isinstance(features, Identity):
        return rows
    if isinstance(features, One):
        return _ones(graph, rows, 1.0)
    if isinstance(features, Weighted):
        return graph.times(_features(graph, features.part, rows, p), features.weight)
    if isinstance(features, Stacked):
        left = _features(graph, features.left, rows, p)
        return graph.add("Concat", left, _features(graph, features.right, rows, p), axis=1)
    if isinstance(features, Chosen):
        few = graph.columns(rows, features.columns)
        return _features(graph, features.part, few, len(features.columns))
    if isinstance(features, Monomials):
        return _monomials(graph, features, rows, p)
    raise NotSupportedError(
        "these features have no form in ONNX",
        got=f"{features!r}",
        fix="use a kernel of mercer.kernels by its parameters, or export the model of φ(X)",
    )


def _ones(graph: Graph, rows: str, value: float) -> str:
    """Return a column of one number, as long as the rows."""
    count = graph.add("Gather", graph.add("Shape", rows), graph.whole(0))
    shape = graph.add("Concat", count, graph.whole(1), axis=0)
    one = graph.onnx.numpy_helper.from_array(np.array([value]))
    return graph.add("ConstantOfShape", shape, value=one)


def _monomials(graph: Graph, features: Monomials, rows: str, p: int) -> str:
    """Products of columns of z = (√c, √γ·x), times the root of their coefficient."""
    z = graph.times(rows, features.gamma**0.5)
    if features.coef0 > 0:
        z = graph.add("Concat", _ones(graph, rows, features.coef0**0.5), z, axis=1)
    which, roots = features.terms(p)
    found = graph.columns(z, which[:, 0])
    for k in range(1, features.degree):
        found = graph.add("Mul", found, graph.columns(z, which[:, k]))
    return graph.times(found, roots[None, :])
