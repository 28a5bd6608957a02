"""Shortest paths along edges, by hand and against Floyd and Warshall."""

import numpy as np
import pytest
from scipy.sparse.csgraph import floyd_warshall

from mercer.errors import InputError
from mercer.operators import geodesics, graph, graph_from


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
