"""What a walk finds of numbers: NumPy's own answers, however the rows are cut."""

import numpy as np
import pytest
import scipy.sparse

from mercer.tables.looking import _column_numbers as _numbers
from mercer.tables.looking._column_numbers import Numbers, count_distinct


def walked(X, cuts=(), kept=(), compared=None):
    compared = np.arange(X.shape[1]) if compared is None else np.asarray(compared)
    numbers = Numbers(X.shape[1], kept, compared)
    for part in np.split(X, cuts) if isinstance(X, np.ndarray) else [X]:
        numbers.add(part)
    return numbers


def test_nothing_cancels_far_from_zero(rng):
    noise = rng.standard_normal(5000)
    X = np.column_stack([noise + 1e12, noise * 1e-3 + 1e8, noise + 2.0**52])
    exact = np.array([np.std(X[:, j] - X[0, j], ddof=1) for j in range(3)])
    assert np.allclose(walked(X, (7, 1000)).deviations, exact, rtol=1e-9)


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp < 2000, reason="no longer numbers")
@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e170, 1e300])
def test_numbers_whose_squares_do_not_fit(rng, size):
    plain = rng.standard_normal((500, 2))
    plain[::9, 1] = np.nan
    expected = walked(plain).deviations * size
    assert np.allclose(walked(plain * size, (99,)).deviations, expected, rtol=1e-12, atol=0)


def test_rows_of_a_csr_array_count_zeros(rng):
    dense = rng.standard_normal((300, 6)) * (rng.random((300, 6)) < 0.3) + 0.0
    dense[:, 3] = 0
    dense[:, 4] = np.arange(300) + 1
    dense[5, 0] = np.nan
    one, other = walked(dense), Numbers(6, [], np.arange(0))
    for part in np.split(dense, (100, 101)):
        other.add(scipy.sparse.csr_array(part))
    for name in ("counts", "infinite", "low", "high", "whole"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.allclose(one.mean, other.mean, rtol=1e-13)
    assert np.allclose(one.deviations, other.deviations, rtol=1e-12)


def test_very_long_tables_keep_no_rows(monkeypatch):
    monkeypatch.setattr(_numbers, "_MOST_MARKS", 100)
    X = np.zeros((70_000, 2))
    found = walked(X, (50_000,), kept=[1])
    assert found.repeated() == 0
    assert found.distinct(1) is None
    assert found.counts.tolist() == [70_000, 70_000]


def test_counting_different_values():
    assert count_distinct(np.array([])) == 0
    assert count_distinct(np.array([3.0, 1, 3, 2])) == 3
