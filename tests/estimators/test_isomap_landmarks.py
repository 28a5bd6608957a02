import numpy as np
import pytest
from sheets import apart, correlations, roll

from mercer.estimators.manifold._distance_kernel import PlacingTask, halved_squares, placed
from mercer.estimators.manifold.isomap import by_triangulation, farthest, triangulated
from mercer.operators import geodesics, graph
from mercer.planning import Path
from mercer.solvers import Exact

LAPACK = Path("landmarks", Exact(destroy=True), 1, 0, 0.0, 0.0, "gram", 8, "")
ASKED = PlacingTask(2, "clip", 1e-6, 10**9, None, 0)
ROWS = roll(400)[0]
GRAPH = graph(ROWS, 8)
ALL = geodesics(GRAPH, np.arange(400))
WHOLE, FOUND, _ = placed(halved_squares(ALL.copy()), LAPACK, ASKED)


def test_all_points_as_landmarks_are_all_pairs():
    spectrum, found, placing = by_triangulation(ALL, np.arange(400), LAPACK, ASKED)
    np.testing.assert_allclose(spectrum.values, WHOLE.values, rtol=1e-10)
    assert apart(found.coordinates, FOUND.coordinates) < 1e-9
    np.testing.assert_allclose(placing.of(ALL**2), found.coordinates, rtol=0, atol=1e-9)


@pytest.mark.parametrize("m", [30, 100])
def test_few_landmarks_come_near_all_pairs(m):
    at, paths = farthest(GRAPH, m, 0)
    spectrum, found, placing = by_triangulation(paths, at, LAPACK, ASKED)
    np.testing.assert_allclose(spectrum.values, WHOLE.values, rtol=0.05)
    assert correlations(found.coordinates, FOUND.coordinates).min() > 0.998
    np.testing.assert_allclose(found.coordinates.mean(axis=0), 0, rtol=0, atol=1e-10)
    cross = found.coordinates.T @ found.coordinates
    np.testing.assert_allclose(cross, np.diag(spectrum.values), rtol=0, atol=1e-9 * cross.max())
    np.testing.assert_allclose(placing.of(paths.T**2), found.coordinates, rtol=0, atol=1e-9)
    assert found.signs.negative_share > 0


def test_triangulation_is_the_formula_in_blocks(monkeypatch):
    at, paths = farthest(GRAPH, 20, 0)
    _, _, placing = placed(halved_squares(paths[:, at]), LAPACK, ASKED)
    whole = placing.of(paths.T**2)
    monkeypatch.setattr("mercer.estimators.manifold.isomap._CELLS", 700)
    np.testing.assert_allclose(triangulated(placing, paths), whole, rtol=1e-12, atol=1e-12)
