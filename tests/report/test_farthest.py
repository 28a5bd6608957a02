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
