"""Graphs of neighbours, their pieces, weights, paths and matrices."""

import numpy as np
import pytest
import scipy.sparse
from numpy.polynomial import chebyshev
from scipy.sparse.csgraph import floyd_warshall
from sklearn.neighbors import kneighbors_graph

from mercer.errors import DataWarning, InputError
from mercer.operators import (
    Filtered,
    NormalisedGraph,
    Searcher,
    band_front,
    geodesics,
    graph,
    graph_from,
    neighbours,
    one_piece,
    pieces_of,
    whole_graph,
)
from mercer.operators.graphs import _normalised_graph as module
from mercer.testing import check_operator


# Graphs of neighbours are symmetric and sparse; given ones are checked by place.
def rows(n=100, p=3):
    return np.random.default_rng(0).standard_normal((n, p))


@pytest.mark.parametrize("p", [3, 20])
def test_ways_to_be_symmetric(p):
    x = rows(p=p)
    one = kneighbors_graph(x, 7).toarray()
    for way, expected in [
        ("union", np.maximum(one, one.T)),
        ("mutual", np.minimum(one, one.T)),
        ("mean", (one + one.T) / 2),
    ]:
        found = graph(x, 7, symmetric=way, self_loops=False).weights
        np.testing.assert_array_equal(found.toarray(), expected)
        looped = graph(x, 7, symmetric=way).weights
        np.testing.assert_array_equal(looped.toarray(), expected + np.eye(len(x)))
    for wrong in ({"symmetric": "left"}, {"weights": "cosine"}):
        with pytest.raises(InputError, match="one of three ways"):
            graph(x, 7, **wrong)
    found = graph(x, radius=0.8, self_loops=False)
    d = np.linalg.norm(x[:, None] - x, axis=2)
    np.testing.assert_array_equal(found.weights.toarray(), (d <= 0.8) & (d > 0))
    assert len(found.isolated) == np.sum((d <= 0.8).sum(axis=1) == 1)


def test_edges_of_length_zero_are_edges():
    x = np.repeat(rows(10), 3, axis=0)
    found = graph(x, 2)
    assert found.lengths.nnz == 60  # twenty triangles, both ways
    assert np.all(found.lengths.data == 0)
    assert found.pieces.count == 10
    assert found.edges == 30


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_rows_make_a_complete_graph(n):
    found = graph(rows(n), 10)
    assert found.edges == n * (n - 1) // 2
    np.testing.assert_array_equal(found.weights.toarray(), np.ones((n, n)))


def test_all_pairs_have_their_diagonal():
    x = rows(40)
    found = whole_graph(Searcher(x), scale=1.3)
    d = np.linalg.norm(x[:, None] - x, axis=2)
    np.testing.assert_allclose(found.weights, np.exp(-(d**2) / (2 * 1.3**2)), rtol=1e-12)
    assert np.all(found.weights == found.weights.T)
    assert (found.edges, found.front, found.pieces.count) == (780, 40.0, 1)
    assert str(found.pieces) == str(pieces_of(chains(40))) == "one piece of 40 points"
    with pytest.raises(InputError, match="fall with the distance"):
        whole_graph(Searcher(x), weights="binary")


@pytest.mark.parametrize("kind", [np.uint8, bool, np.int32, np.float32])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_matrix])
def test_given_graphs_of_any_number(kind, form):
    ring = (np.eye(6, k=1) + np.eye(6, k=-1) + np.eye(6, k=5) + np.eye(6, k=-5)).astype(kind)
    found = graph_from(form(ring))
    assert found.weights.dtype == np.float64
    np.testing.assert_array_equal(found.weights.toarray(), ring)
    np.testing.assert_array_equal(found.degrees, np.full(6, 2.0))


def changed(i, j, value, both=True):
    a = np.ones((4, 4))
    a[i, j] = value
    if both:
        a[j, i] = value
    return a


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        (changed(1, 2, np.nan), "nan at row 1, column 2"),
        (changed(0, 3, -2.0), "-2 at row 0, column 3"),
        (changed(2, 1, 5.0, both=False), "1 at row 1, column 2; 5 at row 2, column 1"),
        (np.ones((3, 4)), r"shape \(3, 4\)"),
        (np.zeros((3, 3)), "no edge"),
        (np.eye(3), "no edge"),
        (np.ones((2, 2)) * 1j, "complex"),
    ],
)
def test_bad_graphs_are_refused_by_place(matrix, said):
    for form in (np.asarray, scipy.sparse.csr_matrix):
        with pytest.raises(InputError, match=said) as error:
            graph_from(form(matrix))
        assert str(error.value).count("\n") == 2


def test_given_lengths_and_loops():
    a = scipy.sparse.csr_matrix(([0.0, 0.0, 2.0, 2.0], ([0, 1, 1, 2], [1, 0, 2, 1])), (3, 3))
    found = graph_from(a, lengths=True)
    assert found.lengths.nnz == 4
    np.testing.assert_array_equal(
        found.weights.toarray(), np.eye(3) + np.eye(3, k=1) + np.eye(3, k=-1)
    )
    looped = changed(1, 1, 9.0)
    assert graph_from(looped).weights[1, 1] == 9
    assert graph_from(looped, self_loops=False).weights.diagonal().max() == 0


def test_the_front_of_a_path_is_one_and_of_a_grid_its_side():
    path = scipy.sparse.diags_array([np.ones(299)] * 2, offsets=[1, -1], format="csr")
    order = np.random.default_rng(0).permutation(300)
    assert band_front(path[order][:, order]) == pytest.approx(1, abs=0.01)
    line = scipy.sparse.diags_array([np.ones(29)] * 2, offsets=[1, -1])
    grid = scipy.sparse.csr_array(scipy.sparse.kronsum(line, line))
    assert 15 < band_front(grid) < 45
    assert band_front(scipy.sparse.csr_array((9, 9))) == 1


# Pieces are named by size, isolated points by number.
def chains(*lengths):
    blocks = [np.eye(m, k=1) + np.eye(m, k=-1) for m in lengths]
    return scipy.sparse.csr_matrix(scipy.sparse.block_diag(blocks))


def test_the_largest_comes_first():
    found = pieces_of(chains(3, 1, 5, 1))
    assert found.count == 4
    np.testing.assert_array_equal(found.sizes, [5, 3, 1, 1])
    np.testing.assert_array_equal(found.rows(0), np.arange(4, 9))
    np.testing.assert_array_equal(found.isolated, [3, 9])
    assert pieces_of(chains(2, 1) + scipy.sparse.identity(3)).isolated.tolist() == [2]
    assert str(found) == "4 pieces of 5, 3, 1, 1 points; 2 isolated: rows 3, 9"


def test_pieces_are_refused_with_their_sizes():
    one_piece(pieces_of(chains(4)), "")
    with pytest.raises(InputError, match="3 pieces of 6, 2, 1 points; 1 isolated: rows 2"):
        one_piece(pieces_of(chains(2, 1, 6)), "join them")


# Weights follow from lengths by their formulas; scales that leave nothing are said.
@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((80, 3))


def test_heat(x):
    found = graph(x, 6, weights="heat", scale=0.7, self_loops=False)
    lengths = found.lengths.toarray()
    expected = np.where(lengths > 0, np.exp(-(lengths**2) / (2 * 0.7**2)), 0)
    np.testing.assert_allclose(found.weights.toarray(), expected, rtol=1e-13)


def test_the_automatic_scale_is_the_median_length(x):
    found = graph(x, 6, weights="heat")
    assert found.weighing.scale == np.median(found.lengths.data)
    whole = whole_graph(Searcher(x))
    apart = np.sort(np.linalg.norm(x[:, None] - x, axis=2), axis=1)[:, 10]
    np.testing.assert_allclose(whole.weighing.scale, np.median(apart), rtol=1e-12)


def test_self_tuning(x):
    found = graph(x, 6, weights="self-tuning", self_loops=False)
    sigma = neighbours(x, 6).distances[:, -1]
    lengths = found.lengths.toarray()
    expected = np.where(lengths > 0, np.exp(-(lengths**2) / np.outer(sigma, sigma)), 0)
    np.testing.assert_allclose(found.weights.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("weights", ["heat", "self-tuning"])
def test_rows_that_stand_many_times_have_weights(weights):
    x = np.repeat(np.random.default_rng(0).standard_normal((10, 2)), 8, axis=0)
    found = graph(x, 6, weights=weights)
    assert np.all(np.isfinite(found.weights.data))
    assert found.neighbours.duplicates == 80


def test_extreme_scales_are_said(x):
    with pytest.warns(DataWarning, match="all edges weigh the same"):
        graph(x, 6, weights="heat", scale=1e10)
    with pytest.warns(DataWarning, match="without weight"):
        found = graph(x, 6, weights="heat", scale=1e-4)
    assert found.pieces.count == 80
    with pytest.warns(DataWarning, match="without weight"):
        whole = whole_graph(Searcher(x), scale=1e-4)
    assert whole.pieces.count == 80


# Shortest paths along edges, by hand and against Floyd and Warshall.
def test_paths_are_those_of_all_pairs():
    x = np.random.default_rng(0).standard_normal((60, 3))
    found = graph(x, 8)
    np.testing.assert_allclose(
        geodesics(found, [5, 0, 59]), floyd_warshall(found.lengths)[[5, 0, 59]], rtol=1e-12
    )


def test_along_a_half_circle_the_length_is_pi():
    t = np.linspace(0, np.pi, 400)
    found = graph(np.c_[np.cos(t), np.sin(t)], 2)
    assert geodesics(found, [0])[0, -1] == pytest.approx(np.pi, rel=1e-4)


def test_doubles_are_at_distance_zero():
    x = np.repeat(np.arange(5.0)[:, None], 2, axis=0)
    found = geodesics(graph(x, 3), [0])
    np.testing.assert_allclose(found[0], np.repeat(np.arange(5.0), 2))


def test_what_cannot_be_reached_is_refused():
    x = np.concatenate([np.arange(6.0), np.arange(4.0) + 100])[:, None]
    with pytest.raises(InputError, match="2 pieces of 6, 4 points"):
        geodesics(graph(x, 2), [0])
    with pytest.raises(InputError, match="lengths"):
        geodesics(graph_from(np.ones((3, 3))), [0])


# The normalised matrix of a graph beside its first eigenvector.
def weights(n=60):
    return graph(np.random.default_rng(0).standard_normal((n, 2)), 6, weights="heat").weights


@pytest.mark.parametrize("dense", [False, True])
def test_a_normalised_graph_is_the_matrix_of_its_formula(dense):
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
    mu, lam = (np.linalg.eigvalsh(m)[::-1] for m in (op.dense(), s))
    np.testing.assert_allclose(op.values(mu[:-1]), lam[1:], rtol=0, atol=1e-13)
    star = np.zeros((6, 6))
    star[0, 1:] = star[1:, 0] = 1
    bipartite = NormalisedGraph(graph_from(star).weights).dense()
    assert np.linalg.eigvalsh(bipartite).min() > -1e-15  # λ = -1 goes to 0


def test_rows_are_shared_among_threads(monkeypatch):
    op = NormalisedGraph(weights(500))
    v = np.random.default_rng(1).standard_normal((500, 3))
    alone = op.walked(v)
    monkeypatch.setattr(module, "_SHARED", 0)
    monkeypatch.setattr(module, "thread_count", lambda: 2)
    np.testing.assert_allclose(op.walked(v), alone, rtol=1e-15)


# The filter is Chebyshev's polynomial, and its values lead back.
@pytest.mark.parametrize("degree", [1, 2, 7, 20])
def test_a_filter_is_the_matrix_of_its_formula(degree):
    x = np.random.default_rng(0).standard_normal((50, 2))
    base, cut = NormalisedGraph(graph(x, 6).weights), 0.6
    lam, u = np.linalg.eigh(base.s.toarray() - np.outer(base.direction, base.direction))
    t = chebyshev.chebval((2 * lam + 1 - cut) / (1 + cut), [0] * degree + [1])
    f = 0.5 * (1 + t)
    f[np.argmax(np.abs(u.T @ base.direction))] = 0
    op = Filtered(base, degree, cut)
    check_operator(op, (u * f) @ u.T, rtol=1e-10)
    above = lam > cut
    np.testing.assert_allclose(op.values(f[above]), lam[above], rtol=1e-9)
    assert np.all(np.abs(f[~above]) <= 1 + 1e-12)
    assert np.all(op.values(np.array([0.0, 1.0])) == pytest.approx(cut))
