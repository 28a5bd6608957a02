import dataclasses

import numpy as np
import pytest
import scipy.integrate
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.errors import InputError
from mercer.selection import (
    BiCross,
    EdgeCount,
    Variances,
    broken_stick,
    choice_of,
    gavish_donoho,
    kaiser,
    noise_edge,
    share,
    spectrum_rules,
)
from mercer.selection._thresholds import edge, hard_threshold, marchenko_pastur_median, stick


def count(k, interval=None, **more):
    return EdgeCount(k, interval or (k, k), np.ones(k + 1), 500.0, **more)


def known(r=8):
    values = np.array([30, 20, 10, 1.05, 1.02, 1, 0.97, 0.93])
    return Variances.of(values[:r], rows=500, columns=8, total=values.sum())


def test_the_spectrum_answers_what_it_can():
    rules = spectrum_rules(known(), np.ones(8) * 8)
    assert all(rule.k is not None for rule in rules)
    by = {rule.name: rule.k for rule in rules}
    assert by["BIC"] == by["Minka"] == by["90% of variance"] == 3
    assert by["Kaiser"] == 3
    assert by["noise edge"] == 2  # the large ones hide the third
    rules = {rule.name: rule for rule in spectrum_rules(known(2))}
    for name in ("Minka", "Gavish-Donoho", "Kaiser", "BIC", "90% of variance"):
        assert rules[name].k is None
        assert "needs eigenvalues" in rules[name].about
    assert "variances of the columns" in rules["noise edge"].about


@pytest.mark.parametrize(
    ("rows", "columns", "values", "words"),
    [
        (5, 8, [3.0, 2.0, 1.0, 0.5], "more rows"),
        (5, 1, [3.0], "two columns"),
        (9, 2, [0.0, 0.0], "two columns"),
    ],
)
def test_minka_says_why_it_is_silent(rows, columns, values, words):
    rules = spectrum_rules(Variances.of(values, rows=rows, columns=columns))
    minka = next(rule for rule in rules if rule.name == "Minka")
    assert minka.k is None
    assert words in minka.about


def test_agreement_and_disagreement_in_words():
    cross = BiCross(1, np.array([1.0, 0.5]), np.ones(2), 1)
    choice = choice_of(count(3), known(), np.ones(8) * 8, "all 500 rows", cross)
    assert choice.reason.startswith("3 components beyond noise")
    assert "all 500 rows" in choice.reason
    assert "In agreement within one: noise edge" in choice.reason
    assert "Fewer: bi-cross-validation 1" in choice.reason
    lines = str(choice).splitlines()
    assert lines[2].startswith("* stepwise edge")
    assert lines[3].startswith("  bi-cross-validation")
    silent = choice_of(count(3), known(2), None, "all 500 rows")
    assert "Minka" not in silent.reason
    assert "Minka" in str(silent)


def test_choices_are_frozen_and_what_is_uncertain_is_said():
    choice = choice_of(count(4, capped=True), known(), None, "all 500 rows")
    assert choice.reason.startswith("4 components or more (half as many as columns")
    empty = Variances.of([0.0], rows=9, columns=1)
    choice = choice_of(count(0), empty, None, "all 9 rows")
    assert choice.reason.startswith("No component beyond noise: the table looks like noise")
    choice = choice_of(count(1, (1, 2)), known(), None, "all 500 rows")
    assert (choice.interval, choice.spread) == ((1, 2), "1 or 2")
    assert "a few rows less would give 1 or 2" in choice.reason
    assert choice_of(count(1, (1, 4)), known(), None, "").spread == "1 to 4"
    assert choice_of(count(1), known(), None, "").spread == ""
    assert choice.columns()["k"][0] == 1
    assert len({len(column) for column in choice.columns().values()}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        choice.k = 2


def test_rows_that_were_held_back_are_named():
    one = choice_of(count(1, outlying=(17,)), known(), None, "").reason
    assert "Row 17 (counted from 0) lies far out and counts no more" in one
    many = choice_of(count(1, outlying=(1, 2, 3, 4, 5)), known(), None, "").reason
    assert "Rows 1, 2, 3 and 2 more (counted from 0) lie far out" in many
    near = choice_of(count(1, neighbours=0.7), known(), None, "").reason
    assert "Rows next to each other are alike (correlation 0.70)" in near


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=30).filter(lambda v: max(v) > 0),
    st.floats(0.001, 0.999),
)
def test_it_is_the_least_number_that_suffices(values, wanted):
    values = np.sort(values)[::-1]
    k = share(values, wanted)
    assert 1 <= k <= len(values)
    kept, total = np.cumsum(values), float(np.sum(values))
    assert kept[k - 1] >= wanted * total * (1 - 1e-12)
    assert k == 1 or kept[k - 2] < wanted * total * (1 + 1e-12)


def test_a_share_met_exactly_needs_no_more():
    assert share(np.array([6.0, 3.0, 1.0]), 0.9) == 2
    assert share(np.array([0.1] * 10), 0.3) == 3
    assert share(np.ones(4), 0.5) == 2
    assert share(np.array([1.0, 1e-3, -1e-17, -1e-16]), 0.999999) == 2
    assert share(np.array([6.0, 3.0]), 0.85, 10.0) == 2
    assert share(np.array([6.0, 3.0]), 0.95, 10.0) == 3


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_scale_does_not_matter(scale):
    values = np.array([6.0, 3.0, 1.0]) * scale / 10
    assert [share(values, w) for w in (0.5, 0.7, 0.95)] == [1, 2, 3]


def test_variances_are_made_sound():
    assert Variances.of([3.0, 1.0], rows=9, columns=4, total=3.9).total == 4.0
    assert Variances.of([3.0, -1e-17], rows=9, columns=4).values.tolist() == [3.0, 0.0]
    bound = np.full(4, 0.5)
    assert Variances.of([3, 1, 0.6, 0.1], rows=9, columns=4).leading(bound) == 3
    assert Variances.of([3, 1, 0.6, 0.6], rows=9, columns=4).leading(bound) == 4
    assert Variances.of([3, 1], rows=9, columns=4, total=5).leading(bound) is None
    assert Variances.of([3, 0.5], rows=9, columns=4, total=5).leading(bound) == 1


@pytest.mark.parametrize(
    ("rows", "columns", "rank"), [(10, 4, 4), (4, 10, 3), (2, 1, 1), (7.5, 9, 7)]
)
def test_rank(rows, columns, rank):
    assert Variances.of([1.0], rows=rows, columns=columns).rank == rank


@pytest.mark.parametrize("values", [[1.0, 2.0], [[1.0]], [np.nan], [np.inf]])
def test_bad_values_are_refused(values):
    with pytest.raises(InputError, match="descending"):
        Variances.of(values, rows=9, columns=4)


@pytest.mark.parametrize(("rows", "columns"), [(1, 4), (9, 1)])
def test_impossible_shapes_are_refused(rows, columns):
    with pytest.raises(InputError, match="two rows"):
        Variances.of([2.0, 1.0], rows=rows, columns=columns)


def of_table(X):
    n, p = X.shape
    values = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    return Variances.of(values, rows=n, columns=p)


def test_kaiser_and_broken_sticks():
    assert kaiser(Variances.of([4.0, 1.1, 0.5, 0.4], rows=20, columns=4)) == 1
    assert kaiser(Variances.of([1.0, 1.0], rows=20, columns=2)) == 0
    assert kaiser(Variances.of([4.0, 3.0], rows=20, columns=4, total=8.0)) is None
    # vegan's bstick(prcomp) of 23 axes with a total of 44 [varespec].
    pieces = stick(23) * 44
    assert_allclose(pieces[[0, -1]], [7.1438620, 0.0831758], atol=5e-8)
    assert_allclose(pieces.sum(), 44)
    assert broken_stick(Variances.of([6.0, 1.0, 1.0], rows=20, columns=3)) == 1
    assert broken_stick(Variances.of([1.0, 1.0, 1.0], rows=20, columns=3)) == 0


@pytest.mark.parametrize("ratio", [0.01, 0.25, 0.5, 1.0])
def test_median_of_marchenko_pastur_is_that_of_its_density(ratio):
    a, b = (1 - ratio**0.5) ** 2, (1 + ratio**0.5) ** 2

    def density(x):
        return np.sqrt((b - x) * (x - a)) / (2 * np.pi * ratio * x)

    below = scipy.integrate.quad(density, a, marchenko_pastur_median(ratio), limit=200)[0]
    assert_allclose(below, 0.5, atol=1e-6)


def test_thresholds_are_those_of_papers_and_of_large_noise():
    assert round(hard_threshold(1.0), 3) == 2.858  # Gavish and Donoho (2014)
    X = np.random.default_rng(0).standard_normal((900, 300))
    values = np.linalg.eigvalsh(X.T @ X / 900)
    assert_allclose(np.median(values), marchenko_pastur_median(1 / 3), rtol=0.02)


@pytest.mark.parametrize("shape", [(300, 60), (60, 300), (100, 100)])
def test_gavish_donoho_finds_signal_in_white_noise(shape):
    rng = np.random.default_rng(1)
    X = rng.standard_normal(shape)
    assert gavish_donoho(of_table(X)) == 0
    X += 3 * rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1]))
    known = of_table(X)
    assert gavish_donoho(known) == 2
    half = Variances(known.values[:20], known.total, known.rows, known.columns)
    assert gavish_donoho(half) is None


def test_edges_of_noise():
    n, p = 10**9, 10**7
    white = edge(np.full(1000, 2.0), 1000 * n / p + 1)
    scale = (white / 2 - (1 + np.sqrt(p / n)) ** 2) / 100000 ** (-2 / 3)
    # Johnstone (2001): (√n + √p)(1/√n + 1/√p)^(1/3) in units of n.
    ratio = p / n
    assert_allclose(scale / 0.9793, (1 + ratio**0.5) * (1 + ratio**-0.5) ** (1 / 3), rtol=1e-6)
    h = np.random.default_rng(1).uniform(0.2, 3, 60)
    rng, over = np.random.default_rng(2), 0
    for _ in range(200):
        X = rng.standard_normal((200, 60)) * np.sqrt(h)
        over += noise_edge(of_table(X), h) > 0
    assert over <= 20
    nothing = Variances.of([0.0, 0.0], rows=5, columns=2)
    assert noise_edge(nothing, np.zeros(2)) == kaiser(nothing) == broken_stick(nothing) == 0
    assert gavish_donoho(nothing) == 0
