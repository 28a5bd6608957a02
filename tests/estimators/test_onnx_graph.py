import numpy as np
import onnx
import onnxruntime
import pytest

from mercer.estimators.export._onnx import OnnxGraph


def run(graph, result, shape, X):
    made = graph.model(result, shape, False, {})
    session = onnxruntime.InferenceSession(made.SerializeToString())
    return session.run(None, {"X": X})[0]


@pytest.mark.parametrize("squared", [True, False])
def test_columns_are_compared_to_relative_accuracy(squared):
    rng = np.random.default_rng(0)
    X, Y = 1e8 + rng.normal(size=(7, 4)), 1e8 + rng.normal(size=(3, 4))
    X[0] = Y[1] + 1e-7
    apart = np.abs(X[:, None] - Y[None])
    wanted = np.sum(apart**2 if squared else apart, axis=2)
    graph = OnnxGraph(onnx)
    found = run(graph, graph.compared("X", Y, squared=squared), (4, 3), X)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_numbers_are_floats_and_places_are_whole():
    graph = OnnxGraph(onnx)
    X = np.arange(6.0).reshape(2, 3)
    result = graph.add("Add", graph.columns("X", [2, 0]), 1)
    assert np.array_equal(run(graph, result, (3, 2), X), X[:, [2, 0]] + 1)
    assert graph.nbytes == 8 + 16


def test_squares_of_rows():
    graph = OnnxGraph(onnx)
    X = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(run(graph, graph.squares("X"), (3, 1), X), [[5.0], [50.0]])


def test_a_graph_that_cannot_be_is_refused_by_the_library():
    graph = OnnxGraph(onnx)
    with pytest.raises(onnx.checker.ValidationError):
        graph.model(graph.add("NoSuchOperation", "X"), (3, 1), False, {})
