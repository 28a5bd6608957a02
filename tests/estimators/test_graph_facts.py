"""Facts of a graph are counted."""

import numpy as np

from mercer.estimators.manifold._row_graph import facts_of
from mercer.operators import Searcher, graph, graph_from, whole_graph


def test_facts_of_a_star_and_a_point():
    star = np.zeros((7, 7))
    star[0, 1:6] = star[1:6, 0] = 2
    found = facts_of(graph_from(star), left_out=1)
    assert (found.points, found.edges, found.pieces, found.piece_count) == (7, 5, (6, 1), 2)
    assert (found.isolated, found.isolated_count, found.left_out) == ((6,), 1, 1)
    assert (found.fewest, found.typical, found.most) == (0, 1, 5)
    assert (found.least_degree, found.largest_degree) == (0, 10)
    assert found.duplicates is found.scale is None


def test_facts_of_rows():
    x = np.random.default_rng(0).standard_normal((30, 2))
    x[3] = x[4]
    found = facts_of(graph(x, 5))
    assert (found.duplicates, found.fewest) == (2, 5)
    assert found.least_degree == found.fewest + 1  # the loop
    whole = facts_of(whole_graph(Searcher(x), scale=2.0))
    assert (whole.edges, whole.most, whole.scale) == (435, 29, 2.0)
