"""The kernel of a graph between new points and its rows is the graph on the rows themselves."""

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.estimators.manifold._transition_rows import GraphRows, averaged, in_one_piece
from mercer.operators import Searcher, graph, whole_graph


def rows(n=150, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 2))


def made(x, k=6, symmetric="union", weights="binary", loops=True, radius=None):
    searcher = Searcher(x)
    g = graph(
        None,
        k,
        radius=radius,
        weights=weights,
        self_loops=loops,
        symmetric=symmetric,
        searcher=searcher,
    )
    reach = None if radius else g.neighbours.distances[:, -1]
    kept = None if radius else k
    return g, GraphRows(searcher, g.weighing, kept, radius, loops, k, reach, symmetric)


def stacked(kernel, points):
    blocks = [block for _, block in kernel.blocks(points)]
    return scipy.sparse.vstack(blocks).toarray()


@pytest.mark.parametrize("symmetric", ["union", "mutual", "mean"])
@pytest.mark.parametrize("weights", ["binary", "heat", "self-tuning"])
@pytest.mark.parametrize("loops", [True, False])
def test_on_its_own_rows_it_is_the_graph(symmetric, weights, loops):
    x = rows()
    g, kernel = made(x, symmetric=symmetric, weights=weights, loops=loops)
    np.testing.assert_allclose(stacked(kernel, x), g.weights.toarray(), rtol=1e-14)


@pytest.mark.parametrize("loops", [True, False])
def test_within_a_radius(loops):
    x = np.random.default_rng(0).random((150, 2))
    g, kernel = made(x, radius=0.3, weights="self-tuning", loops=loops)
    np.testing.assert_allclose(stacked(kernel, x), g.weights.toarray(), rtol=1e-14)


@pytest.mark.parametrize("weights", ["heat", "self-tuning"])
def test_all_pairs(weights):
    x = rows(60)
    searcher = Searcher(x)
    g = whole_graph(searcher, weights=weights)
    kernel = GraphRows(searcher, g.weighing, None, None, True, 7)
    ((_, found),) = kernel.blocks(x)
    np.testing.assert_array_equal(found, g.weights)


def test_some_rows_only():
    x = rows()
    _, kernel = made(x, weights="self-tuning")
    some = np.arange(0, 150, 3)
    part = kernel.at(x, some)
    assert part.searcher.n == 50
    np.testing.assert_array_equal(part.reach, kernel.reach[some])
    np.testing.assert_array_equal(part.weighing.scales, kernel.weighing.scales[some])


def test_averages_and_points_without_weight():
    weights, f = np.array([[1.0, 3.0], [2.0, 0.0]]), np.array([[1.0], [5.0]])
    np.testing.assert_allclose(averaged(weights, None, f, 0), [[4.0], [1.0]])
    np.testing.assert_allclose(averaged(weights, np.array([3.0, 1.0]), f, 0), [[3.0], [1.0]])
    with pytest.raises(InputError, match="row 41 weighs nothing to all 2 rows"):
        averaged(np.array([[1.0, 1.0], [0.0, 0.0]]), None, f, 40)


def test_weights_stay_in_the_heavier_piece():
    weights = scipy.sparse.csr_matrix([[1.0, 1.0, 3.0, 9.0], [2.0, 0.0, 1.0, 0.0]])
    found = in_one_piece(weights, np.array([0, 0, 1, -1]), 2)
    np.testing.assert_array_equal(found.toarray(), [[0, 0, 3, 0], [2, 0, 0, 0]])
