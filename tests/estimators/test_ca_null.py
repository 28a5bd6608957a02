import numpy as np
import pytest

from mercer.errors import DataWarning, InputError, NotSupportedError
from mercer.estimators.counts._independence import (
    affordable,
    chosen,
    independence,
    null_band,
    warn_of_none,
)

R, C = np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.3, 0.2, 0.1])


def test_the_band_holds_inertias_of_independent_tables():
    """Of 400 tables nine in ten of the first inertias lie within, and χ² has its mean."""
    rng = np.random.default_rng(3)
    band = null_band(R, C, 500, draws=400, seed=0)
    assert band.shape == (2, 2)
    assert np.all(band[0] < band[1])
    first, whole = [], []
    for _ in range(400):
        table = rng.multinomial(500, np.outer(R, C).ravel()).reshape(3, 4)
        E = np.outer(table.sum(axis=1), table.sum(axis=0)) / 500
        values = np.linalg.svd((table - E) / np.sqrt(E), compute_uv=False) ** 2 / 500
        first.append(values[0])
        whole.append(500 * values.sum())
    inside = np.mean((first > band[0, 0]) & (first < band[1, 0]))
    assert 0.85 < inside < 0.95
    assert np.mean(whole) == pytest.approx(6, abs=0.5)


def test_behind_real_axes_less_is_left_to_chance():
    """The last of min(m, n) - 1 axes alone has the law of χ² with |m - n| + 1 degrees."""
    from scipy.stats import chi2

    band = null_band(R, C, 2000, draws=2000, seed=1)
    np.testing.assert_allclose(2000 * band[1, 1], chi2.ppf(0.95, 2), rtol=0.25)
    even = null_band(R, np.array([0.5, 0.3, 0.2]), 2000, draws=2000, seed=1)
    np.testing.assert_allclose(2000 * even[1, 1], chi2.ppf(0.95, 1), rtol=0.25)


def test_the_limit_for_counts_beyond_counting():
    """So many counts are normal: the band shrinks as 1/g and keeps its shape."""
    few = null_band(R, C, 1e6, draws=400, seed=0) * 1e6
    many = null_band(R, C, 1e17, draws=400, seed=0) * 1e17
    np.testing.assert_allclose(many[1], few[1], rtol=0.2)
    assert not null_band(R, C, np.inf, draws=20, seed=0).any()


def test_few_counts_leave_empty_margins():
    band = null_band(R, C, 3, draws=60, seed=0)
    assert np.isfinite(band).all()
    assert band[1, 0] <= 1 + 1e-12


def test_shares_are_no_counts():
    with pytest.raises(InputError, match="multiply shares by the number of cases"):
        null_band(R, C, 1.0, draws=20, seed=0)


def test_what_would_take_too_long_is_refused():
    assert affordable(4, 4) == 199
    assert affordable(4, 4, 50) == 50
    assert 19 <= affordable(5000, 300) < 199
    with pytest.raises(NotSupportedError, match="1,000,000 x 10,000"):
        affordable(1_000_000, 10_000)


def test_axes_are_counted_from_the_first():
    band = np.array([[0.1, 0.1, 0.1], [0.3, 0.2, 0.1]])
    choice = chosen(np.array([0.5, 0.1, 0.3]), band, 99, (4, 5))
    assert choice.k == 1
    assert "99 tables of 4 x 5" in choice.reason
    assert chosen(np.array([0.5, 0.4, 0.3]), band, 99, (4, 5)).k == 3
    warn_of_none(choice)
    with pytest.warns(DataWarning, match="no axis is kept"):
        warn_of_none(chosen(np.array([0.2]), band, 99, (4, 5)))


def test_the_test_at_the_ends_of_the_range():
    found = independence(R, C, 0.5, 1.0, 2000)  # 2^2000 counts
    assert (found.chi2, found.p_value, found.expected_below_5) == (np.inf, 0.0, 0.0)
    found = independence(R, C, 0.0, 1.0, 2000)
    assert (found.chi2, found.p_value, found.cramer_v) == (0.0, 1.0, 0.0)
    assert independence(R, C, 0.5, 1.0, -2000).expected_below_5 == 1.0
