"""Landmarks of an unfolding: their edges along the graph, and where the other rows go."""

import numpy as np

from mercer.estimators.manifold._unfolding_fit import extended, landmark_edges
from mercer.operators import graph, neighbours


def test_edges_do_not_reach_across_a_fold():
    x = np.linspace(0, 10, 400)
    rows = np.vstack(
        [np.column_stack([x, np.zeros(400)]), np.column_stack([x[::-1], np.full(400, 0.2)])]
    )  # two lines 0.2 apart that join at one end only
    made = graph(rows, 4, self_loops=False)
    if made.pieces.count > 1:  # they join where x = 10
        rows = np.vstack([rows, np.column_stack([np.full(9, 10.0), np.linspace(0, 0.2, 9)])])
        made = graph(np.unique(rows, axis=0), 4, self_loops=False)
    rows = np.unique(rows, axis=0)
    places, (i, j), near = landmark_edges(made, 40, 2, 0)
    apart = np.abs(rows[places[i], 1] - rows[places[j], 1])
    inner = np.minimum(rows[places[i], 0], rows[places[j], 0]) < 9
    assert not np.any((apart > 0.1) & inner)
    assert near.shape == (len(rows),)
    np.testing.assert_array_equal(near[places], np.arange(40))


def test_affine_coordinates_are_carried_to_all_rows():
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(300, 2))
    values = rows @ rng.standard_normal((2, 3)) + 5
    near = neighbours(rows, 6).indices
    places = np.arange(0, 300, 10)
    found = extended(rows, near, places, values[places], 1e-6)
    np.testing.assert_array_equal(found[places], values[places])
    np.testing.assert_allclose(found, values, rtol=0, atol=1e-2)


def test_all_rows_landmarks_need_no_solve():
    rows = np.random.default_rng(1).standard_normal((12, 2))
    values = np.arange(24.0).reshape(12, 2)
    found = extended(rows, neighbours(rows, 4).indices, np.arange(12), values, 1e-3)
    np.testing.assert_array_equal(found, values)
