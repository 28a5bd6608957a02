import numpy as np
import pytest

from mercer.kernels import RBF, NegativeDistance
from mercer.operators.kernel_matrices._landmark_samplers import PivotTable


def rows(n, dtype=np.float64):
    return np.random.default_rng(n).standard_normal((n, 4)).astype(dtype)


@pytest.mark.parametrize("n", [1, 2047, 2048, 5000])
@pytest.mark.parametrize("kernel", [RBF(1.5), NegativeDistance()], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sweep_sees_every_row_once(n, kernel, dtype):
    X = rows(n, dtype)
    table = PivotTable.of(kernel, X, None, dtype)
    picked = np.unique(np.linspace(0, n - 1, 60).astype(int))
    whole, seen = np.zeros((n, len(picked))), np.zeros(n, int)

    def act(part, t, scratch):
        assert t.dtype == scratch.dtype == dtype
        assert t.shape == scratch.shape
        whole[part] = t.T
        seen[part] += 1

    table.sweep(picked, act)
    assert np.all(seen == 1)
    wide = X.astype(np.float64)
    K = kernel.block(wide, wide[picked])
    k = np.diag(kernel.block(wide[:1])) * np.ones(n)
    if table.origin is not None:
        o = table.origin.astype(np.float64)
        to, at = kernel.block(wide, o), kernel.block(o, wide[picked])
        K, k = K - to - at, -2 * to[:, 0]
    error = 1e-12 if dtype == np.float64 else 2e-5
    np.testing.assert_allclose(whole, K, rtol=0, atol=error)
    np.testing.assert_allclose(table.diagonal, k, rtol=0, atol=error)
    assert np.all(table.weights == 1)
    assert table.given is None


def test_draws_follow_the_law_and_never_take_a_row_without_a_share():
    table = PivotTable.of(RBF(1.0), rows(5), None, np.float64)
    law = np.array([0.0, 1.0, 0.0, 3.0, 0.0])
    drawn = table.draw(law, 40_000, np.random.default_rng(0))
    counts = np.bincount(drawn, minlength=5)
    assert counts[[0, 2, 4]].sum() == 0
    assert counts[1] == pytest.approx(10_000, abs=450)  # five standard deviations


def test_float64_rows_have_float64_tiles_whatever_is_asked():
    assert PivotTable.of(RBF(1.0), rows(5), None, np.float32).dtype == np.float64
