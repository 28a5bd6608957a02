import numpy as np
import pytest
from scipy import integrate, stats

from mercer.estimators.linear._robust_rounds import (
    Orthogonal,
    median_and_deviation,
    medians,
    score_consistency,
    score_cutoff,
    shortest_half,
    upper_median,
)


@pytest.fixture(params=range(6))
def counted(request):
    rng = np.random.default_rng(request.param)
    n = int(rng.integers(2, 40))
    values = np.round(rng.normal(size=(n, 3)) * 4)  # ties
    return values, rng.integers(0, 4, n) + (np.arange(n) == 0)


def test_medians_are_those_of_repeated_rows(counted):
    values, counts = counted
    often = np.repeat(values, counts, axis=0)
    np.testing.assert_allclose(medians(values, counts.astype(float)), np.median(often, axis=0))
    _, deviation = median_and_deviation(values, counts.astype(float))
    expected = stats.median_abs_deviation(often, axis=0, scale="normal")
    np.testing.assert_allclose(deviation, expected, rtol=1e-12)
    middle = np.sort(often[:, 0])[len(often) // 2]
    assert upper_median(values[:, 0], counts.astype(float)) == middle


def test_the_shortest_half_is_that_of_repeated_rows(counted):
    values, counts = counted
    often = np.sort(np.repeat(values[:, 0], counts))
    h = len(often) // 2 + 1
    lengths = [often[i + h - 1] - often[i] for i in range(len(often) - h + 1)]
    middle, spread = shortest_half(values[:, 0], counts.astype(float))
    assert spread == pytest.approx(min(lengths) / 2 * 1.482602218505602)
    at = int(np.argmin(lengths))
    assert middle == pytest.approx((often[at] + often[at + h - 1]) / 2)


@pytest.mark.parametrize("unit", [0.1, 0.3, 1 / 3, 7.0, 1e100])
def test_counts_in_another_unit_change_nothing(counted, unit):
    values, counts = counted
    whole, parts = counts.astype(float), counts * unit
    np.testing.assert_array_equal(medians(values, parts), medians(values, whole))
    assert shortest_half(values[:, 0], parts) == shortest_half(values[:, 0], whole)
    assert upper_median(values[:, 0], parts) == upper_median(values[:, 0], whole)


def test_forty_per_cent_do_not_move_the_shortest_half():
    y = np.random.default_rng(0).normal(size=1000)
    y[:400] += 50
    middle, spread = shortest_half(y, np.ones(1000))
    assert abs(middle) < 0.4
    assert spread < 2.5


@pytest.mark.parametrize("axes", [1, 2, 5, 30])
@pytest.mark.parametrize("level", [0.9, 0.975, 0.99])
def test_cut_normal_rows_have_the_variance_that_is_said(axes, level):
    cut = score_cutoff(axes, level) ** 2
    assert stats.chi2.cdf(cut, axes) == pytest.approx(level)
    inside = integrate.quad(lambda x: x * stats.chi2.pdf(x, axes), 0, cut)[0] / level
    assert score_consistency(axes, level) == pytest.approx(axes / inside, rel=1e-6)


def test_no_axes_cut_nothing():
    assert score_cutoff(0, 0.99) == 0
    assert score_consistency(0, 0.99) == 1


@pytest.mark.parametrize("freedom", [3, 10, 200])
def test_the_law_of_orthogonal_distances(freedom):
    rng = np.random.default_rng(freedom)
    d = np.sqrt(rng.chisquare(freedom, 200_000))
    law = Orthogonal.of(d, np.ones(len(d)), 0.99, 0.0)
    assert np.mean(d <= law.cutoff) == pytest.approx(0.99, abs=0.003)
    assert law.square == pytest.approx(freedom, rel=0.02)
    kept = np.mean(d[d <= law.cutoff] ** 2)
    assert law.consistency * kept == pytest.approx(freedom, rel=0.02)


def test_many_outliers_do_not_widen_the_law():
    rng = np.random.default_rng(1)
    d = np.sqrt(rng.chisquare(10, 1000))
    d[:400] = 12 + rng.random(400)
    law = Orthogonal.of(d, np.ones(1000), 0.99, 0.0)
    assert law.cutoff < 12
    few = Orthogonal.of(d[390:], np.ones(610), 0.99, 0.0)
    middle, _ = median_and_deviation(np.cbrt(d[390:, None]) ** 2, np.ones(610))
    assert few.middle == middle[0]


def test_distances_of_rounding_are_none():
    law = Orthogonal.of(np.r_[np.zeros(70), np.ones(30)], np.ones(100), 0.99, 1e-9)
    assert law.cutoff == 1e-9
    assert law.square == 0
    assert law.consistency == 1
