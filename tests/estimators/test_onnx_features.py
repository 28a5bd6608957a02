import numpy as np
import onnx
import onnxruntime
import pytest

from mercer.errors import NotSupportedError
from mercer.estimators.export._onnx import OnnxGraph, feature_values
from mercer.kernels import Constant, Linear, Polynomial


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(3, gamma=0.5, coef0=2.0),
        Polynomial(2, gamma=0.5, coef0=0.0),
        Polynomial(1, gamma=0.5),
        0.3 * Linear() + Constant(2.0),
        Polynomial(2, gamma=1.0).on([2, 0]) + Linear(),
    ],
    ids=str,
)
def test_features_are_those_of_the_kernel(kernel):
    X = np.random.default_rng(0).normal(size=(6, 3))
    features = kernel.features(3)
    wanted = np.asarray(features.phi(X))
    graph = OnnxGraph(onnx)
    result = feature_values(graph, features.phi, "X", 3)
    made = graph.model(graph.add("Identity", result), (3, wanted.shape[1]), False, {})
    found = onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"X": X})[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_functions_of_the_user_are_refused():
    with pytest.raises(NotSupportedError, match="no form in ONNX"):
        feature_values(OnnxGraph(onnx), lambda rows: rows, "X", 3)
