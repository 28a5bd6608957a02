import numpy as np
import onnx
import onnxruntime
import pytest

from mercer.errors import NotSupportedError
from mercer.estimators.export._onnx import OnnxGraph, kernel_values
from mercer.kernels import (
    RBF,
    Constant,
    Cosine,
    Intersection,
    Linear,
    Matern,
    PeriodicDistance,
    Polynomial,
    mapped,
    normalize,
)


def computed(kernel, X, Y):
    graph = OnnxGraph(onnx)
    made = graph.model(kernel_values(graph, kernel, "X", Y), (X.shape[1], len(Y)), False, {})
    return onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"X": X})[0]


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(1.0),
        RBF(1e-4),
        Matern((1.0, 2.0, 3.0), 0.5),
        Polynomial(2.5, gamma=1e-3, coef0=9.0),
        PeriodicDistance(1.0, 3.0),
        normalize(normalize(Linear()).on([0, 2]) + 0.0 * RBF(1.0)),
        Cosine() * RBF(2.0) + Constant(-1.0),
    ],
    ids=str,
)
def test_values_are_those_of_the_kernel(kernel):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(8, 3)), rng.normal(size=(5, 3))
    X[0], X[1], Y[3] = Y[0], 0.0, 0.0  # a pair that coincides, and rows without a direction
    np.testing.assert_allclose(computed(kernel, X, Y), kernel(X, Y), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("kernel", [Intersection(), mapped(RBF(1.0), abs)], ids=str)
def test_what_has_no_operation_is_refused_by_name(kernel):
    with pytest.raises(NotSupportedError, match="no form in ONNX") as caught:
        computed(kernel, np.ones((2, 3)), np.ones((2, 3)))
    assert "RBF" in caught.value.fix
