"""The rounds of robust PCA by their definition, and the laws that judge rows."""

import dataclasses

import numpy as np
import pytest
from robust_data import DESIGNS, sine, table
from scipy import integrate, stats

import mercer
from mercer.errors import InputError
from mercer.estimators import PCA
from mercer.estimators.linear._robust_rounds import (
    Judged,
    Orthogonal,
    RobustTable,
    axes_wanted,
    median_and_deviation,
    medians,
    reweighted,
    score_consistency,
    score_cutoff,
    shortest_half,
    sphere,
    upper_median,
)
from mercer.sources import in_memory


def cut(od, level):
    """The quantile of d^(2/3) as normal: by the shortest half where it finds many outliers."""
    y, n = np.sort(od ** (2 / 3)), len(od)
    h = n // 2 + 1
    i = int(np.argmin(y[h - 1 :] - y[: n - h + 1]))
    z = stats.norm.ppf(level)
    half = (y[i + h - 1] - y[i]) / 2 / stats.norm.ppf(0.75)
    short = ((y[i] + y[i + h - 1]) / 2 + half * z) ** 1.5
    if np.mean(od > short) > 0.25:
        return short
    return (np.median(y) + z * stats.median_abs_deviation(y, scale="normal")) ** 1.5


def naive(X, k, level=0.99):
    """The definition: signs, the closer half, then PCA of the rows within both cut-offs."""
    m = np.median(X, axis=0)
    for _ in range(2000):
        r = np.linalg.norm(X - m, axis=1)
        m = (X / r[:, None]).sum(axis=0) / (1 / r).sum()
    u = (X - m) / np.linalg.norm(X - m, axis=1)[:, None]
    V = np.linalg.svd(u, full_matrices=False)[2][:k]
    chi = np.sqrt(stats.chi2.ppf(level, k))
    grow = level / stats.chi2.cdf(chi**2, k + 2)

    def excess(m, V, deviation=None):
        T = (X - m) @ V.T
        od = np.linalg.norm(X - m - T @ V, axis=1)
        middle = 0
        if deviation is None:
            middle = np.median(T, axis=0)
            deviation = stats.median_abs_deviation(T, axis=0, scale="normal")
        sd = np.linalg.norm((T - middle) / deviation, axis=1)
        return np.maximum(sd / chi, od / cut(od, level))

    found = excess(m, V)
    keep, seen = found <= np.sort(found)[len(X) // 2], []
    for number in range(20):
        seen.append(keep)
        m = X[keep].mean(axis=0)
        _, s, V = np.linalg.svd(X[keep] - m, full_matrices=False)
        V, values = V[:k], grow * s[:k] ** 2 / (keep.sum() - 1)
        found = excess(m, V, None if number == 0 else np.sqrt(values))
        new = found <= max(1, np.sort(found)[len(X) // 2])
        if any(np.array_equal(new, old) for old in seen):
            return new, u
        keep = new
    return keep, u


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(("n", "p", "share"), [(120, 6, 0.1), (81, 12, 0.35), (40, 90, 0.1)])
def test_the_definition_in_forty_lines(design, n, p, share):
    X, _, _ = table(n + p, n, p, share, design)
    keep, u = naive(X, 2)
    model = mercer.RobustPCA(2).fit(X)
    np.testing.assert_array_equal(model.weights_ > 0, keep)
    kept = X[keep]
    s, V = np.linalg.svd(kept - kept.mean(axis=0), full_matrices=False)[1:]
    assert sine(model.components_, V[:2]) < 1e-8
    np.testing.assert_allclose(model.mean_, kept.mean(axis=0), rtol=1e-8)
    np.testing.assert_allclose(
        model.explained_variance_,
        s[:2] ** 2 / (len(kept) - 1) * model.consistency_,
        rtol=1e-8,
    )
    signs = np.linalg.svd(u, full_matrices=False)[2][:2]
    assert sine(mercer.RobustPCA(2, method="spherical").fit(X).components_, signs) < 1e-7


def test_the_axes_that_judge():
    assert axes_wanted(3, (100, 10)) == (3, 3)
    assert axes_wanted(30, (40, 50)) == (10, 10)  # a quarter of the rows
    assert axes_wanted(None, (1000, 50)) == (10, 10)
    assert axes_wanted(None, (3, 50)) == (1, 1)
    assert axes_wanted(None, (60, 50)) == (6, 6)  # a tenth of the rows
    assert axes_wanted(0.9, (100, 20)) == (20, 10)
    assert axes_wanted(0.9, (30, 20)) == (15, 3)
    assert axes_wanted(0.9, (5, 20)) == (2, 1)


def test_half_of_the_rows_always_stays():
    law = Orthogonal(1.0, 0.0, 0.99, 0.0)
    judged = Judged(np.full(6, 9.0), np.arange(6.0), 3.0, law)
    rows = RobustTable(in_memory(np.eye(6)), None, 0.99, 0.0, 1e9)
    np.testing.assert_array_equal(rows.clean(judged), [1, 1, 1, 1, 0, 0])
    heavy = dataclasses.replace(rows, weights=np.array([1.0, 1, 1, 1, 9, 1]))
    np.testing.assert_array_equal(heavy.clean(judged), [1, 1, 1, 1, 1, 0])
    quiet = dataclasses.replace(rows, quiet=np.arange(6) > 1)
    np.testing.assert_array_equal(quiet.clean(judged), [1, 1, 1, 1, 1, 1])


def test_rounds_end_and_say_whether_they_settled():
    X, _, clean = table(0, 200, 8, 0.2, "cluster")
    rows = RobustTable(in_memory(X), None, 0.99, 0.0, 1e9)
    begun = sphere(rows, PCA(2), False, None, warns=True)
    ended = reweighted(begun, 2, PCA(2))
    assert ended.settled
    assert 2 <= ended.rounds <= 10
    assert not ended.clean[~clean].any()
    assert ended.clean[clean].mean() > 0.95


def test_medians_of_coordinates_need_no_more_memory_than_allowed():
    X, _, _ = table(1, 100, 6, 0.1, "radial")
    few, many = (RobustTable(in_memory(X), None, 0.99, 0.0, memory) for memory in (1.0, 1e9))
    begun = sphere(many, PCA(5), False, None, warns=True)
    by_one, at_once = (one.spread(begun.centring, begun.axes) for one in (few, many))
    np.testing.assert_allclose(by_one, at_once, rtol=1e-10, atol=1e-12)


def test_rows_equal_to_most_others_say_nothing_of_the_spread():
    rng = np.random.default_rng(2)
    X = np.r_[np.zeros((60, 3)), rng.normal(size=(40, 3)) * [5, 1, 0.1]]
    begun = sphere(
        RobustTable(in_memory(X), None, 0.99, 0.0, 1e9), PCA(3), False, None, warns=True
    )
    assert begun.table.quiet.sum() == 60
    np.testing.assert_allclose(begun.deviation, [5, 1, 0.1], rtol=0.4)
    still = RobustTable(in_memory(np.ones((9, 2))), None, 0.99, 0.0, 1e9)
    with pytest.raises(InputError, match="the data has no variance\n"):
        sphere(still, PCA(1), False, None, warns=True)


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
