"""What is said of an unfolding: flatness, the edge most like a short cut, the gap in words."""

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import DataWarning
from mercer.estimators.manifold._unfolding_facts import Flatness, flatness, warn_of


def hairpin(cut):
    """A path of 40 points with edges to the next and the next but one, and one across."""
    x = np.arange(40.0)
    pairs = [(i, j) for i in range(40) for j in (i + 1, i + 2) if j < 40] + cut
    i, j = np.array(pairs).T
    long = np.where(np.abs(i - j) < 3, np.abs(i - j) * 1.0, 1.5)
    lengths = scipy.sparse.coo_matrix((long, (i, j)), shape=(40, 40)).tocsr()
    return x, (i, j, long), lengths + lengths.T


def test_flat_points_are_flat():
    x, edges, lengths = hairpin([])
    factor = np.column_stack([x - x.mean(), np.zeros(40)])
    seen = flatness(factor, np.ones(40), 1, float(np.sum(factor**2)) / 4, edges, lengths)
    assert seen == Flatness(left=0.0, axes=1, gain=4.0, shortened=0.0)
    assert seen.flat
    warn_of(seen, 1)


def test_the_edge_with_the_longest_way_round_is_named():
    x, edges, lengths = hairpin([(3, 35)])
    factor = np.column_stack([x - x.mean(), 3 * np.sin(x)])
    before = lengths.copy()
    seen = flatness(factor, np.ones(40), 1, 1.0, edges, lengths)
    assert seen.bridge == (3, 35)
    assert seen.detour == pytest.approx(32 / 1.5)
    assert seen.axes == 2
    assert seen.left == pytest.approx(np.sum(factor[:, 1] ** 2) / np.sum(factor**2))
    assert (lengths != before).nnz == 0
    with pytest.warns(DataWarning, match=r"(?s)do not lie flat on 1 axes.*rows 3 and 35"):
        warn_of(seen, 1)


def test_edges_drawn_short_are_counted():
    x, edges, lengths = hairpin([])
    factor = np.column_stack([x - x.mean(), np.zeros(40)])
    factor[:20, 0] = 0.5 * factor[:20, 0] - 0.25  # edges between the halves stay long
    seen = flatness(factor, np.ones(40), 1, 1.0, edges, lengths)
    i, j, _ = edges
    assert seen.shortened == pytest.approx(np.mean((i < 20) & (j < 20)), abs=0.04)


def test_points_count_as_often_as_rows_stand_there():
    x, edges, lengths = hairpin([])
    factor = np.column_stack([x - x.mean(), np.where(x == 3, 4.0, 0.0)])
    counts = np.where(x == 3, 10, 1)
    seen = flatness(factor, counts, 1, 1.0, edges, lengths)
    repeated = np.repeat(factor, counts, axis=0)
    assert seen.left == pytest.approx(np.sum(repeated[:, 1] ** 2) / np.sum(repeated**2))
    assert seen.gain == pytest.approx(np.sum(repeated**2))
