"""Every path gives the pairs of S, and intervals that hold them."""

import math

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import make_swiss_roll

from mercer.estimators.manifold._graph_estimator import graph_pairs
from mercer.operators import NormalisedGraph, Searcher, graph, graph_from, whole_graph
from mercer.planning import GraphCost, Problem, foreseen_gap
from mercer.planning._graph_paths import graph_candidates


def path_of(name, op, k, front):
    nnz = op.s.nnz if scipy.sparse.issparse(op.s) else None
    rows = op.shape[0] if nnz is not None or name == "lapack" else 4000  # of few LAPACK's alone
    problem = Problem(rows, rows, k, 8, 10**10, nnz, graph=GraphCost(front))
    return next(p for p in graph_candidates(problem) if p.name == name)


def solved(name, weights, k, tol=1e-6):
    op = NormalisedGraph(weights)
    front = 30.0
    return op, graph_pairs(
        op, path_of(name, op, k, front), k, tol, foreseen_gap(op.shape[0], front), 0
    )


def reference(op, k):
    s = op.s.toarray() if scipy.sparse.issparse(op.s) else op.s
    lam, u = np.linalg.eigh(s - 3 * np.outer(op.direction, op.direction))
    return lam[::-1], u[:, ::-1][:, :k]


def graphs():
    random = np.random.default_rng(0)
    yield "roll", graph(make_swiss_roll(700, random_state=0)[0], 9).weights
    yield "cube", graph(random.random((700, 5)), 9, self_loops=False).weights
    yield "whole", whole_graph(Searcher(random.standard_normal((700, 3)))).weights


CASES = [
    (kind, path)
    for kind in ("roll", "cube", "whole")
    for path in ("lapack", "filter", "inverse")[: 2 if kind == "whole" else 3]
]


@pytest.mark.parametrize(("kind", "path"), CASES)
def test_pairs_and_intervals(kind, path):
    op, found = solved(path, dict(graphs())[kind], 4)
    lam, u = reference(op, 4)
    certificate = found.certificate
    assert certificate.met
    np.testing.assert_allclose(found.values, lam[:4], rtol=0, atol=1e-10)
    assert np.all(certificate.lower <= lam[:4] + 1e-15)
    assert np.all(certificate.upper >= lam[:4] - 1e-15)
    assert certificate.next_upper >= lam[4] - 1e-15
    s = op.s @ found.right
    residual = np.linalg.norm(s - found.right * found.values, axis=0)
    assert np.all(residual <= certificate.residual)
    assert np.max(residual) <= 1e-3 * (1 - lam[0])
    assert np.linalg.norm(found.right - u @ (u.T @ found.right)) < 1e-5
    np.testing.assert_allclose(found.right.T @ op.direction, 0, rtol=0, atol=1e-13)


@pytest.mark.parametrize("path", ["inverse", "filter"])
def test_a_long_path_has_its_analytic_values(path):
    n = 3000 if path == "inverse" else 900
    chain = scipy.sparse.diags_array([np.ones(n - 1)] * 2, offsets=[1, -1], format="csr")
    op, found = solved(path, chain, 3)
    exact = np.cos(np.pi * np.arange(1, 4) / (n - 1))
    assert found.certificate.met
    np.testing.assert_allclose(1 - found.values, 1 - exact, rtol=1e-6)
    fiedler = found.right[:, 0] / np.sqrt(op.degrees)
    assert abs(np.sum(np.sign(np.diff(fiedler)))) == n - 1  # monotone from end to end


@pytest.mark.parametrize("path", ["lapack", "inverse", "filter"])
def test_a_ring_has_pairs_that_cannot_be_told_apart(path):
    n = 800
    ring = scipy.sparse.diags_array(
        [np.ones(1), np.ones(n - 1), np.ones(n - 1), np.ones(1)],
        offsets=[1 - n, -1, 1, n - 1],
        format="csr",
    )
    _, found = solved(path, ring, 3)
    exact = [math.cos(2 * math.pi * j / n) for j in (1, 1, 2)]
    np.testing.assert_allclose(1 - found.values, 1 - np.array(exact), rtol=1e-6)
    assert found.certificate.groups == ((0, 1), (2, 3))


def test_a_complete_graph_has_no_axes():
    _, found = solved("lapack", graph_from(np.ones((9, 9))).weights, 3)
    np.testing.assert_allclose(found.values, 0, rtol=0, atol=1e-14)
    assert found.certificate.groups == ((0, 1, 2, 3),)
    assert "cannot be told apart" in str(found.certificate)


def test_all_axes_of_a_star():
    star = np.zeros((6, 6))
    star[0, 1:] = star[1:, 0] = 1
    _, found = solved("lapack", graph_from(star).weights, 5)
    np.testing.assert_allclose(found.values, [0, 0, 0, 0, -1], rtol=0, atol=1e-14)
    assert found.certificate.groups == ((0, 1, 2, 3),)
    assert found.certificate.met
