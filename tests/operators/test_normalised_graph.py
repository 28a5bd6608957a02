"""The normalised matrix of a graph beside its first eigenvector."""

import numpy as np
import pytest

from mercer.operators import NormalisedGraph, graph, graph_from
from mercer.operators.graphs import _normalised_graph as module
from mercer.testing import check_operator


def weights(n=60):
    return graph(np.random.default_rng(0).standard_normal((n, 2)), 6, weights="heat").weights


@pytest.mark.parametrize("dense", [False, True])
def test_it_is_the_matrix_of_its_formula(dense):
    w = weights()
    whole = w.toarray()
    d = whole.sum(axis=1)
    s = whole / np.sqrt(np.outer(d, d))
    r = np.sqrt(d / d.sum())
    p = np.eye(60) - np.outer(r, r)
    op = NormalisedGraph(whole if dense else w)
    check_operator(op, p @ (np.eye(60) + s) @ p / 2)
    np.testing.assert_allclose(s @ op.direction, op.direction, rtol=0, atol=1e-14)
    np.testing.assert_allclose(op.laplacian().toarray(), np.eye(60) - s, rtol=0, atol=1e-15)


def test_values_lead_back():
    op = NormalisedGraph(weights())
    mu = np.linalg.eigvalsh(op.dense())[::-1]
    s = np.linalg.eigvalsh(op.s.toarray())[::-1]
    np.testing.assert_allclose(op.values(mu[:-1]), s[1:], rtol=0, atol=1e-13)


def test_rows_are_shared_among_threads(monkeypatch):
    op = NormalisedGraph(weights(500))
    v = np.random.default_rng(1).standard_normal((500, 3))
    alone = op.walked(v)
    monkeypatch.setattr(module, "_SHARED", 0)
    monkeypatch.setattr(module, "thread_count", lambda: 2)
    np.testing.assert_allclose(op.walked(v), alone, rtol=1e-15)


def test_a_bipartite_graph_is_still_psd():
    star = np.zeros((6, 6))
    star[0, 1:] = star[1:, 0] = 1
    values = np.linalg.eigvalsh(NormalisedGraph(graph_from(star).weights).dense())
    assert values.min() > -1e-15  # λ = -1 goes to 0
