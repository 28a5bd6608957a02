import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist
from sheets import roll

from mercer.estimators.manifold.isomap import (
    at_random,
    by_landmarks,
    farthest,
    residual_variances,
    through,
    tiles_of,
)
from mercer.operators import Searcher, geodesics, graph

ROWS = roll(120)[0]
GRAPH = graph(ROWS, 6)
ALL = geodesics(GRAPH, np.arange(120))


def linked(points, k=6):
    near = Searcher(ROWS).query(points, k)
    return near.indices, near.distances


def slowly(indices, distances):
    """Return the shortest way over a neighbour and then along the graph, point by point."""
    return np.array(
        [np.min(ALL[i] + d[:, None], axis=0) for i, d in zip(indices, distances, strict=True)]
    )


def test_paths_of_new_points_go_through_known_ones():
    links = linked(ROWS[:9] + 0.3)
    np.testing.assert_allclose(through(GRAPH.lengths, *links), slowly(*links), rtol=1e-13)


def test_a_known_row_has_its_own_paths():
    np.testing.assert_allclose(through(GRAPH.lengths, *linked(ROWS)), ALL, rtol=1e-13)


def test_links_of_length_zero_are_links():
    rows = np.concatenate([ROWS, ROWS[:3]])
    doubled = graph(rows, 6)
    near = Searcher(rows).query(rows, 6)
    found = through(doubled.lengths, near.indices, near.distances)
    np.testing.assert_allclose(found, geodesics(doubled, np.arange(123)), rtol=1e-13)
    np.testing.assert_array_equal(found[[0, 1, 2], [120, 121, 122]], 0)


def test_landmarks_are_reached_over_the_neighbours():
    at = np.array([3, 50, 99])
    links = linked(ROWS[:9] + 0.3)
    np.testing.assert_allclose(by_landmarks(ALL[at], *links), slowly(*links)[:, at], rtol=1e-13)


def test_each_landmark_is_the_farthest_from_those_before():
    at, paths = farthest(GRAPH, 10, seed=3)
    np.testing.assert_array_equal(paths, ALL[at])
    for i in range(1, 10):
        nearest = ALL[at[:i]].min(axis=0)
        assert nearest[at[i]] == nearest.max()
    assert at[0] == farthest(GRAPH, 2, seed=3)[0][0]
    starts = {int(farthest(GRAPH, 1, seed=seed)[0][0]) for seed in range(5)}
    assert len(starts) > 1


def test_the_choice_ends_where_only_doubles_are_left():
    rows = np.repeat(np.arange(4.0)[:, None], 3, axis=0)
    at, paths = farthest(graph(rows, 4), 12, seed=0)
    assert sorted(rows[at, 0]) == [0, 1, 2, 3]
    assert paths.shape == (4, 12)


def test_random_landmarks_are_seeded_and_differ():
    at, paths = at_random(GRAPH, 20, seed=1)
    np.testing.assert_array_equal(at, at_random(GRAPH, 20, seed=1)[0])
    assert len(np.unique(at)) == 20
    assert not np.array_equal(at, at_random(GRAPH, 20, seed=2)[0])
    np.testing.assert_array_equal(paths, dijkstra(GRAPH.lengths, indices=at))


def test_residual_variance_is_what_a_line_leaves_of_the_paths():
    z = np.random.default_rng(0).standard_normal((120, 3))
    found = residual_variances(ALL, np.arange(120), z)
    for k in (1, 2, 3):
        r = np.corrcoef(ALL.ravel(), cdist(z[:, :k], z[:, :k]).ravel())[0, 1]
        assert found[k - 1] == pytest.approx(1 - r**2, rel=1e-10)
    flat = residual_variances(ALL, np.arange(120), np.zeros((120, 1)))
    np.testing.assert_array_equal(flat, 1.0)


def test_blocks_of_new_points_are_bounded():
    assert tiles_of(10**6, 20_000).rows * 20_000 <= 4_000_000
    assert len(tiles_of(5, 10**9)) == 5
