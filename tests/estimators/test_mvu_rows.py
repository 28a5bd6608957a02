"""Places and bars: rows that stand together, edges in units, factors of a kernel."""

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.estimators.manifold._unfolding_fit import (
    bars_of,
    edges_of,
    factor_of,
    places_of,
    snapped,
)
from mercer.operators import graph


def test_doubles_and_near_doubles_are_one_place():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((30, 3))
    many = np.vstack([rows, rows[[4, 4, 4]], rows[:6] + 1e-10, rows[:6] - 1e-10])
    found = places_of(many)
    assert len(found.rows) == 30
    assert found.counts.sum() == len(many)
    np.testing.assert_array_equal(found.counts[found.place[:4]], 3)
    assert found.counts[found.place[4]] == 6
    np.testing.assert_allclose(many[found.rows][found.place], many, atol=1e-9)
    assert np.all(np.diff(found.rows) > 0)


def test_different_rows_stay_as_they_are():
    rows = np.random.default_rng(1).standard_normal((20, 2))
    found = places_of(rows)
    np.testing.assert_array_equal(found.rows, np.arange(20))
    np.testing.assert_array_equal(found.place, np.arange(20))


def test_one_place_is_refused():
    with pytest.raises(InputError, match="one place"):
        places_of(np.ones((5, 2)))


def test_edges_once_with_their_lengths():
    rows = np.random.default_rng(2).standard_normal((25, 3))
    i, j, lengths = edges_of(graph(rows, 4, self_loops=False))
    assert np.all(i < j)
    assert len({*zip(i.tolist(), j.tolist(), strict=True)}) == len(i)
    np.testing.assert_allclose(lengths, np.linalg.norm(rows[i] - rows[j], axis=1), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-170, 1.0, 1e160])
def test_bars_have_squares_of_mean_one_at_any_scale(scale):
    ends = (np.array([0, 1]), np.array([1, 2]))
    bars, unit = bars_of(ends, np.array([1.0, 3.0]) * scale, np.array([1, 2, 3]), 1e-6)
    assert bars.squares.mean() == pytest.approx(1)
    np.testing.assert_allclose(np.sqrt(bars.squares) * unit, np.array([1.0, 3.0]) * scale)
    assert bars.masses.mean() == pytest.approx(1)


def test_factor_of_a_kernel():
    x = np.random.default_rng(3).standard_normal((12, 4))
    factor = factor_of(x @ x.T)
    assert factor.shape == (12, 4)
    np.testing.assert_allclose(factor @ factor.T, x @ x.T, rtol=0, atol=1e-12)


def test_rows_at_a_place_are_snapped_to_it():
    far = np.array([[1e-12, 1.0], [1e-3, 1.0], [0.0, 0.0]])
    np.testing.assert_array_equal(snapped(far)[:, 0], [0.0, 1e-3, 0.0])
    np.testing.assert_array_equal(snapped(far[:, :1]), far[:, :1])
