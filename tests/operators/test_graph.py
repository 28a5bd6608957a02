"""Graphs of neighbours are symmetric and sparse; given ones are checked by place."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.neighbors import kneighbors_graph

from mercer.errors import InputError
from mercer.operators import Searcher, band_front, graph, graph_from, whole_graph


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
    with pytest.raises(InputError, match="one of three ways"):
        graph(x, 7, symmetric="left")


def test_far_from_the_origin_it_is_the_same_graph():
    x = np.round(rows(), 3)
    near, far = graph(x, 5), graph(x + 1e8, 5)
    assert (near.weights != far.weights).nnz == 0


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


def test_radius():
    x = rows()
    found = graph(x, radius=0.8, self_loops=False)
    d = np.linalg.norm(x[:, None] - x, axis=2)
    np.testing.assert_array_equal(
        found.weights.toarray(), (d <= 0.8) & ~np.eye(100, dtype=bool)
    )
    assert len(found.isolated) == np.sum((d <= 0.8).sum(axis=1) == 1)


def test_all_pairs_have_their_diagonal():
    x = rows(40)
    found = whole_graph(Searcher(x), scale=1.3)
    d = np.linalg.norm(x[:, None] - x, axis=2)
    np.testing.assert_allclose(found.weights, np.exp(-(d**2) / (2 * 1.3**2)), rtol=1e-12)
    assert np.all(found.weights == found.weights.T)
    assert (found.edges, found.front, found.pieces.count) == (780, 40.0, 1)


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
