import numpy as np
import pytest
import scipy.stats
from tests.studies.drift_tables import tables

import mercer
from mercer.sources import scan
from mercer.studies.drifting import _drift_laws as laws
from mercer.studies.drifting._rows_after import after
from mercer.studies.drifting._rows_before import before


def pair(n=100, m=60, **options):
    X, Y, _ = tables(n, m, **options)
    known = before(mercer.PCA(2).fit(X))
    return known, after(known, scan(Y), Y.mean(axis=0), m), Y


def test_holm_is_never_above_bonferroni():
    p = np.random.default_rng(0).uniform(size=20) ** 3
    found = laws.holm(p)
    assert np.all(found >= p)
    assert np.all(found <= np.minimum(20 * p, 1))
    assert np.array_equal(np.argsort(found, kind="stable"), np.argsort(found, kind="stable"))
    assert found.min() == pytest.approx(min(1, 20 * p.min()))


def test_columns_follow_student_where_the_fit_is_large():
    known, new, Y = pair(n=10**5, m=30)
    _, t, chance = laws.column_shifts(known, new)
    other = scipy.stats.ttest_1samp(Y, known.mean)
    assert np.allclose(t, other.statistic, rtol=3e-2)
    assert np.allclose(chance, other.pvalue, rtol=3e-2)


def test_the_plane_follows_hotelling():
    known, new, Y = pair()
    z = (Y - known.mean) @ known.axes.T
    d = z.mean(axis=0)
    statistic = d @ np.linalg.solve(np.cov(z.T), d) / (1 / 100 + 1 / 60)
    found, chance, k = laws.plane_shift(known, new)
    assert k == 2
    assert found == pytest.approx(statistic)
    assert chance == pytest.approx(scipy.stats.f.sf(statistic * 58 / (2 * 59), 2, 58))


def test_few_rows_see_the_first_axes_only():
    X, Y, _ = tables(100, 6, k=4)
    known = before(mercer.PCA(4).fit(X))
    new = after(known, scan(Y), Y.mean(axis=0), 6)
    assert laws.plane_shift(known, new)[2] == 3


def test_ratios_of_deviations_follow_the_law_of_two_samples():
    known, new, Y = pair()
    deviations = np.std(Y, axis=0, ddof=1) * 1.4
    found = laws.column_spreads(new, deviations, 100)
    worth = 2 / (new.fourth - 1)
    law = scipy.stats.f(worth * 59, worth * 99)
    assert np.allclose(found, 2 * law.cdf(1 / 1.4**2))
    assert new.fourth == 3.0 or worth < 1
    assert known.k == 2


@pytest.mark.parametrize("count", [1, 4, 9, 30])
def test_counts_of_alarms_are_beta_binomial(count):
    law = scipy.stats.betabinom(60, 101 * 0.05, 101 * 0.95)
    assert laws.alarms_chance(count, 60, 0.05, 100) == pytest.approx(law.sf(count - 1))
    assert laws.alarms_chance(0, 60, 0.05, 100) == 1.0


def test_many_rows_are_counted_as_normal(monkeypatch):
    exact = laws.alarms_chance(5100, 100_000, 0.05, 50_000)
    monkeypatch.setattr(laws, "_MANY", 10)
    assert laws.alarms_chance(5100, 100_000, 0.05, 50_000) == pytest.approx(exact, rel=0.05)


def test_chances_are_spread_evenly_where_nothing_changed():
    found = {name: [] for name in ("outside", "turn", "twist", "total")}
    for seed in range(150):
        X, Y, _ = tables(60, 50, p=8, seed=seed)
        known = before(mercer.PCA(2).fit(X))
        new = after(known, scan(Y), Y.mean(axis=0), 50)
        found["outside"].append(laws.outside_shift(known, new)[1])
        found["turn"].append(laws.turns(known, new)[0])
        found["twist"].append(laws.twists(known, new)[0, 1])
        found["total"].append(laws.total_change(known, new, 1.0)[1])
    for values in found.values():
        # Chances may be too large, as where an axis is close to its neighbour, never too small.
        assert np.mean(np.array(values) < 0.05) <= 0.09
    assert scipy.stats.kstest(found["outside"], "uniform").pvalue > 0.01


def test_the_share_is_compared_with_the_nearest_that_is_expected():
    _, new, _ = pair()
    now = 1 - new.rest / new.total
    assert laws.captured_change(new, now - 0.1, now + 0.1, 100) == pytest.approx(1.0)
    less = laws.captured_change(new, now + 0.05, now + 0.1, 100)
    more = laws.captured_change(new, now - 0.2, now - 0.1, 100)
    assert less < 0.3
    assert more < 0.2
    assert laws.captured_change(new, 0.0, 1.0, 100) == 1.0


def test_variances_along_axes_are_compared_within_their_range():
    known, new, _ = pair()
    now = np.diagonal(new.along)
    groups = [(0,), (1,)]
    ratios, chances = laws.axis_spreads(known, new, groups, (now * 0.9, now * 1.1), 1.0)
    assert np.allclose(ratios, 1)
    ratios, chances = laws.axis_spreads(known, new, groups, (now * 3, now * 4), 1.0)
    assert np.allclose(ratios, 1 / 3)
    assert np.all(chances < 0.01)
    joined, _ = laws.axis_spreads(known, new, [(0, 1)], (now / 2, now / 2), 1.0)
    assert joined == pytest.approx([2.0])
