"""Products of thin columns, in strips."""

import itertools

import numpy as np
import pytest
import scipy.sparse

from mercer.arrays import Lanes
from mercer.operators.sparse import _sparse_gram as light_pairs
from mercer.operators.sparse._sparse_gram import _bounds, _evenly, add_light_pairs, mirror


def thin(n, p, seed):
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((n, p)) * (rng.random((n, p)) < 2 / np.arange(1, p + 1))
    return scipy.sparse.csr_array(table)


@pytest.mark.parametrize("most", [30, 20_000_000])
@pytest.mark.parametrize("lanes", [1, 2, 5])
@pytest.mark.parametrize("p", [1, 3, 40, 300])
def test_the_upper_triangle_is_added(monkeypatch, lanes, p, most):
    monkeypatch.setattr(light_pairs, "_MOST_ENTRIES", most)
    blocks = [thin(30, p, 0), scipy.sparse.csr_array((4, p)), thin(50, p, 1)]
    dense = np.concatenate([block.toarray() for block in blocks])
    total = np.full((p, p), 2.0)
    add_light_pairs(total, blocks, Lanes(lanes))
    upper = np.triu_indices(p)
    np.testing.assert_allclose(total[upper], (2.0 + dense.T @ dense)[upper], rtol=0, atol=1e-12)
    assert not blocks
    mirror(total)
    np.testing.assert_array_equal(total, total.T)
    np.testing.assert_allclose(total, 2.0 + dense.T @ dense, rtol=0, atol=1e-12)


def test_nothing_to_add():
    total = np.ones((3, 3))
    add_light_pairs(total, [scipy.sparse.csr_array((5, 3))], Lanes(2))
    np.testing.assert_array_equal(total, np.ones((3, 3)))


def test_float32_cells_are_multiplied_in_float64():
    block = scipy.sparse.csr_array(np.array([[1 + 2.0**-20, 1.0]], np.float32))
    total = np.zeros((2, 2))
    add_light_pairs(total, [block], Lanes(1))
    assert total[0, 0] == (1 + 2.0**-20) ** 2


@pytest.mark.parametrize("cells", [[0] * 9, [5] + [0] * 8, [9, 8, 7, 6, 5, 4, 3, 2, 1]])
@pytest.mark.parametrize("most", [1, 20, 20_000_000])
def test_strips_cover_all_columns_and_stay_small(monkeypatch, cells, most):
    monkeypatch.setattr(light_pairs, "_MOST_ENTRIES", most)
    bounds = _bounds(np.concatenate([[0], np.cumsum(cells)]), 4)
    assert bounds[0] == 0
    assert bounds[-1] == len(cells)
    assert np.all(np.diff(bounds) > 0)
    for low, high in itertools.pairwise(bounds):
        assert high - low == 1 or (high - low) * (len(cells) - low) <= most


@pytest.mark.parametrize("lanes", [1, 2, 3, 4])
def test_long_and_short_strips_are_shared(lanes):
    strips = 4 * lanes
    order = _evenly(strips, lanes)
    assert sorted(order) == list(range(strips))
    work = [sum(strips - strip for strip in order[lane::lanes]) for lane in range(lanes)]
    assert max(work) == min(work)
    for lane in range(lanes):
        assert order[lane::lanes] == sorted(order[lane::lanes])
