import numpy as np
import pytest

from mercer.report.facts._linear_summary import KEPT, Farthest


@pytest.mark.parametrize("block", [1, 7, 50, 400])
def test_the_farthest_rows_are_kept_whatever_the_blocks(block):
    rng = np.random.default_rng(0)
    X, t2, q = rng.normal(size=(400, 3)), rng.exponential(size=400), rng.exponential(size=400)
    found = Farthest.none(3)
    for start in range(0, 400, block):
        part = slice(start, start + block)
        found = found.with_rows(start, X[part], t2[part], q[part])
    wanted = np.union1d(np.argsort(-t2)[:KEPT], np.argsort(-q)[:KEPT])
    assert found.at.tolist() == wanted.tolist()
    np.testing.assert_array_equal(found.rows, X[wanted])


@pytest.mark.parametrize("limits", [(1.0, 1.0), (0.1, 5.0), (1e9, 1e-9)])
def test_they_hold_those_farthest_beyond_either_limit(limits):
    rng = np.random.default_rng(1)
    t2, q = rng.exponential(size=300), rng.exponential(size=300)
    found = Farthest.none(2).with_rows(0, np.zeros((300, 2)), t2, q)
    reach = np.maximum(t2 / limits[0], q / limits[1])
    assert set(np.argsort(-reach)[:KEPT]) <= set(found.at.tolist())
