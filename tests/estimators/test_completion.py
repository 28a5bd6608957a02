"""Where completion begins: its rank, a few rows, then more."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from tests.claims import agree, refuses, warned
from tests.estimators.missing_oracles import table

import mercer
from mercer.errors import AccuracyWarning, DataWarning, InputError
from mercer.estimators.linear._pca_recipe import PCARecipe
from mercer.estimators.missing import _filling as filling
from mercer.estimators.missing._filling import (
    Start,
    begun_on,
    few_of,
    first_start,
    is_enough,
    sample_rows,
)
from mercer.operators import CompletionRule, Survey, complete
from mercer.sources import ArrayBlocks, in_memory


def _rows(n=400, p=12, rank=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, p))
    x += 0.3 * rng.standard_normal((n, p))
    x[rng.random((n, p)) < 0.2] = np.nan
    return x


def rows_of(kind="plain", n=20_000, p=60, k=5, noise=1.0, seed=0):
    """Return rows with gaps: those of the named kind are hard in their own way."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, k))
    if kind == "ordered":  # one strong axis, and k - 1 that are noise
        scores = np.sort(scores, axis=0)
    axes = rng.standard_normal((p, k)) * np.linspace(1, 0.3, k)
    X = scores @ axes.T + noise * rng.standard_normal((n, p)) + 3
    gaps = rng.random((n, p)) < (0.01 if kind == "one column" else 0.05)
    if kind == "one column":
        gaps[:, 0] = rng.random(n) < 0.9
    if kind == "a group without it":  # whose rows lie apart: the others do not show that
        group = rng.random(n) < 0.25
        X[group] += 5 * rng.standard_normal(p)
        gaps[group, 0] = True
    if kind == "units":
        X[:, 1] *= 1000
        gaps[:, 0] = rng.random(n) < 0.8
    if kind == "large cells":
        gaps = np.quantile(X, 0.93) < X
    if kind == "many":
        gaps = rng.random((n, p)) < 0.5
    X[gaps] = np.nan
    return X


def survey_of(X):
    survey = Survey(X.shape[1], sample_rows(X.shape[1]), lasting=True)
    survey.add(X)
    return survey


def started(X, rule):
    survey = survey_of(X)
    first = first_start(survey, X.dtype, rule)
    return first, begun_on(survey.sample[1], None, len(X), first, rule)


def distance(one, other):
    """Return how far two completions are apart, each column relative to its deviation."""
    left, _, right = np.linalg.svd(one.loadings.T @ other.loadings)
    turned = one.loadings @ (left @ right)
    unit = 1 / np.sqrt(np.sum(other.loadings**2, axis=1) + other.noise)
    gaps = (one.mean - other.mean) * unit, (turned - other.loadings) * unit[:, None]
    return math.sqrt(sum(float(np.sum(gap**2)) for gap in gaps) / len(unit))


@pytest.mark.parametrize("p", [1, 100, 1000, 10_000, 4_000_000])
def test_samples_are_bounded(p):
    assert sample_rows(p) >= 16
    assert sample_rows(p) == 16 or sample_rows(p) * p * 8 <= 32e6
    assert sample_rows(p) <= 4 * (4096 + 4 * p)


@pytest.mark.parametrize("count", [1, 4097, 17_000])
def test_a_first_look_takes_every_second_or_fourth_row(count):
    step = few_of(np.empty((count, 2))).step
    assert step in (1, 2, 4, 8)
    assert -(-count // step) <= 4104 < max(2 * count / step, 4105)


def test_few_rows_are_not_sampled():
    X = rows_of(n=8000)
    first, start = started(X, CompletionRule(3))
    assert start is first
    assert start.rows == 0
    _, start = started(
        X, CompletionRule(3, rate=0.05, tol=1e-3)
    )  # but for the rate of the steps
    assert start.rows == 8000
    assert start.missing == pytest.approx(0.05, abs=0.03)


def test_heavy_rows_are_not_sampled():
    enough = [is_enough(w) for w in (np.ones(100), np.r_[1e6, np.ones(99)], np.zeros(100))]
    assert enough == [True, False, False]
    X, w = rows_of(), np.ones(20_000)
    w[0] = 1e6
    survey = survey_of(X)
    at, rows = survey.sample
    first = first_start(survey, X.dtype, CompletionRule(3))
    assert begun_on(rows, w[at], len(X), first, CompletionRule(3)) is first
    assert begun_on(rows, np.ones(len(at)), len(X), first, CompletionRule(3)).rows == 5000
    told = begun_on(rows, w[at], len(X), first, CompletionRule(3, rate=0.05))
    assert told.completion is first.completion
    assert told.missing > 0


@pytest.mark.parametrize("kind", ["plain", "many"])
def test_a_start_knows_how_far_it_is_from_the_end(kind):
    X = rows_of(kind)
    rule = CompletionRule(5, rate=float(np.isnan(X).mean()), tol=1e-3)
    _, start = started(X, rule)
    assert start.rows == 5000
    end = mercer.PCA(5, missing="em", tol=1e-8).fit(X).completion_
    far = start.spread * math.sqrt(1 / 5000 - 1 / 20_000)
    assert 0.4 < distance(start.completion, end) / far < 2.5
    assert 0 < start.rate < 1


def test_a_tolerance_that_was_given_stays():
    X = rows_of()
    _, start = started(X, CompletionRule(5, tol=1e-5))
    told = []

    def one_pass(sums, _number):
        told.append(sums.dtype)
        sums.add(X)

    found = start.steps(one_pass, CompletionRule(5, tol=1e-5), len(X))
    assert found.change <= 1e-5
    assert set(told) == {np.dtype(np.float64)}


@pytest.mark.parametrize("spread", [1e-3, 1.0, 2.0, 1e3])
def test_the_tolerance_follows_the_sampling_error_within_bounds(monkeypatch, spread):
    X = rows_of()
    rule = CompletionRule(5, rate=0.05, tol=3e-4)
    _, start = started(X, rule)
    asked = []

    def noted(_one_pass, _completion, _basis, known):
        asked.append(known)

    monkeypatch.setattr(filling, "complete", noted)
    dataclasses.replace(start, spread=spread).steps(None, rule, 20_000)
    between = math.sqrt(1 / 5000 - 1 / 20_000)
    known = asked[0]
    assert known.apart == pytest.approx(spread * between)
    found = known.tol_of(spread * between * (1 - known.rate))
    assert found == pytest.approx(np.clip(0.1 * spread / math.sqrt(20_000), 3e-4, 9e-4))


def test_steps_are_foreseen_to_be_slow_near_the_noise():
    X = rows_of("ordered", noise=0.3)
    rule = CompletionRule(5, rate=0.05, tol=1e-3)
    survey = survey_of(X)
    first = first_start(survey, X.dtype, rule)

    def foreseen(rank):
        found = complete(
            lambda sums, _: sums.add(X), first.completion, None, CompletionRule(rank, tol=1e-4)
        )
        return Start(found.completion, None, 5000, missing=0.05)._known(rule, 20_000).rate

    assert foreseen(1) == pytest.approx(0.05, rel=0.01)
    assert 0.15 < foreseen(5) <= 0.8


KINDS = ["plain", "ordered", "one column", "a group without it", "units", "large cells", "many"]


CASES = [(kind, noise) for kind in KINDS for noise in (0.3, 1.0)]


@pytest.mark.parametrize(
    ("kind", "noise"),
    [
        *CASES[::4],
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in CASES
            if case not in CASES[::4]
        ),
    ],
)
def test_what_is_left_is_below_a_tenth_of_the_sampling_error(kind, noise):
    X = rows_of(kind, noise=noise)

    def completion(rows, **given):
        return mercer.PCA(5, missing="em", **given).fit(rows).completion_

    exact = completion(X, tol=1e-8)
    halves = (completion(X[half::2], tol=1e-5) for half in (0, 1))
    error = distance(*halves) / 2  # of each half √2 of that of all, of both 2
    assert distance(completion(X), exact) < 0.1 * error


def test_one_pass_where_little_is_missing_and_few_after_a_sample():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40_000, 3)) @ rng.standard_normal((3, 50)) * 3
    X += rng.standard_normal(X.shape)
    X[rng.random(X.shape) < 0.04] = np.nan
    assert mercer.PCA(3, missing="em").fit(X).em_passes_ == 1
    assert mercer.PCA(3, missing="em", tol=1e-8).fit(X).em_passes_ > 2
    x = table(rows=20_000, columns=20, share=0.3)
    found = mercer.PCA(3, missing="em", tol=1e-7).fit(x)
    assert found.em_passes_ <= 10
    exact = mercer.PCA(3, missing="em", tol=1e-10).fit(x).completion_
    agree(found.completion_.filled(x[:2000]), exact.filled(x[:2000]), 1e-5)


def rank_of(x, wanted=None, weights=None, **options):
    """Return how many axes fill the cells of x."""
    model = mercer.PCA(wanted, missing="em", **options).fit(x, sample_weight=weights)
    return model.completion_.axes.shape[1]


@pytest.mark.parametrize(
    ("wanted", "rank"),
    [(1, 1), (5, 5), (12, 11), (np.int64(2), 2), (None, 3), (0.9, 3), ("mle", 3)],
)
def test_a_number_is_taken_at_its_word_and_other_wishes_are_cross_validated(wanted, rank):
    assert rank_of(_rows(), wanted) == rank


@pytest.mark.parametrize(("n", "rank"), [(4, 2), (3, 1), (2, 0)])
def test_few_rows_leave_little(n, rank):
    x = np.random.default_rng(0).standard_normal((n, 12))
    x[0, 3] = np.nan
    assert rank_of(x, n) == rank


def test_columns_count_as_the_fit_counts_them():
    x = _rows()
    loud = x.copy()
    loud[:, 0] = np.random.default_rng(1).standard_normal(400) * 1e4
    assert rank_of(loud) == 4  # a loud column is an axis of its own
    scales = np.logspace(-6, 6, 12)
    ranks = [rank_of(x * s, standardize=True) for s in (1, scales)]
    assert ranks[0] == ranks[1] >= 3
    assert rank_of(loud, feature_weight=np.r_[1e-12, np.ones(11)]) == 3


@pytest.mark.parametrize("standardize", [False, True])
def test_rows_that_do_not_count_and_those_that_count_often(standardize):
    x = _rows()
    w = np.random.default_rng(1).integers(0, 4, len(x))
    often = rank_of(np.repeat(x, w, axis=0), standardize=standardize)
    loud = np.where(w[:, None] > 0, x, x * np.linspace(1, 1e4, len(x))[:, None])
    assert rank_of(loud, weights=w, standardize=standardize) == often


def spoilt(**cells):
    """Return rows with gaps, some of their cells changed."""
    x = table()
    for place, value in cells.items():
        x[{"column": (slice(None), 2), "first": (0, 0), "later": (30, 1)}[place]] = value
    return x


REFUSED = {
    "read once": (lambda: iter([table()]), None, "several passes"),
    "a column": (
        lambda: spoilt(column=np.nan),
        None,
        "columns with nothing observed(.|\n)*: 2",
    ),
    "infinity": (
        lambda: spoilt(first=np.nan, later=-np.inf),
        None,
        "-infinity at row 30, column 1",
    ),
    "few weights": (table, np.ones(10), "one number per row"),
    "many weights": (table, np.ones(70), "one number per row"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_rows_that_cannot_be_completed_are_refused(name):
    make, weights, words = REFUSED[name]
    refuses(words, mercer.PCA(2, missing="em").fit, make(), sample_weight=weights)


def test_what_counts_must_be_observed():
    x, w = spoilt(column=np.nan), np.ones(60)
    x[0, 2], w[0] = 1.0, 0.0
    refuses("nothing observed", mercer.PCA(2, missing="em").fit, x, sample_weight=w)
    frame = pd.DataFrame(spoilt(column=np.nan), columns=list("abcdefg"))
    with pytest.raises(InputError, match="nothing observed") as error:
        mercer.PCA(2, missing="em").fit(frame)
    assert "'c'" in error.value.got
    few = np.full((4, 2), np.nan)
    few[0] = 1.0
    refuses("fewer than two rows", mercer.PCA(1, missing="em").fit, few)


def test_empty_rows_are_named_and_count_no_more():
    x, w = table(), np.full(60, 2.0)
    empty = [3, 5, 8, 10, 11, 40]
    x[empty] = np.nan
    with pytest.warns(DataWarning, match="3, 5, 8, 10, 11 and 1 more"):
        found = mercer.PCA(2, missing="em", tol=1e-10).fit(x, sample_weight=w)
    left = np.delete(x, empty, axis=0)
    plain = mercer.PCA(2, missing="em", tol=1e-10).fit(left, sample_weight=np.full(54, 2.0))
    np.testing.assert_allclose(found.explained_variance_, plain.explained_variance_, rtol=1e-8)
    np.testing.assert_array_equal(w, 2)  # the caller's own are as they were


def surveyed(x):
    return filling.surveyed(ArrayBlocks(in_memory(x)), None, 1e6, None)


def test_where_the_steps_end():
    x = table(rows=20_000, columns=60)
    source = ArrayBlocks(in_memory(x))
    survey, recipe = surveyed(x), PCARecipe(1, 1e-6, 0, False, None)
    many = filling.FillingTask(2, recipe).rule(source, survey, 20_000)
    assert many.tol == pytest.approx(0.1 / np.sqrt(20_000))
    assert many.rate == pytest.approx(0.2, abs=0.01)
    given = filling.FillingTask(2, recipe, given=True).rule(source, survey, 20_000)
    assert given.tol == pytest.approx(3e-7)
    some = ArrayBlocks(in_memory(x[:100]))
    few = filling.FillingTask(2, recipe).rule(some, surveyed(x[:100]), 100)
    assert few.tol == pytest.approx(3e-7)
    coarse = PCARecipe(1, 0.5, 0, False, None)
    assert filling.FillingTask(2, coarse).rule(source, survey, 20_000).tol == 1e-3


def test_cells_that_have_not_settled_are_said():
    rule, source = CompletionRule(2, tol=1e-12, most=3), ArrayBlocks(in_memory(table()))
    found = filling.CellFilling(source, surveyed(table()), None, rule, 1e6).run()
    warned("have not settled", filling.warn_unsettled, found, rule, kind=AccuracyWarning)
