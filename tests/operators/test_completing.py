"""The steps: they reach the fixed point, never lower the likelihood, and end."""

import dataclasses
import itertools

import numpy as np
import pytest
from tests.estimators.missing_oracles import iterated, likeliest, log_likelihood, table

from mercer.operators import (
    CompletionRule,
    CompletionSums,
    complete,
    first_basis,
    first_completion,
    missing_information,
)
from mercer.operators.completion import _expectation_maximisation as completing
from mercer.operators.completion._expectation_maximisation import Mixing, change


def run(X, rule, basis=None):
    return complete(
        lambda sums, _: sums.add(X), first_completion(np.nanmean(X, axis=0), 0), basis, rule
    )


@pytest.mark.parametrize("k", [1, 2, 4])
def test_regularised_steps_end_where_the_plain_algorithm_does(k):
    X = table()
    found = run(X, CompletionRule(k, tol=1e-12))
    np.testing.assert_allclose(found.completion.filled(X), iterated(X, k), rtol=0, atol=1e-8)
    assert found.passes < 60
    assert found.change <= 1e-12
    assert found.settled
    assert not run(X, CompletionRule(k, tol=1e-12, most=4)).settled
    unit = np.array([1e6, *[1.0] * (X.shape[1] - 1)])  # small columns settle as large ones do
    scaled = run(X * unit, CompletionRule(k, tol=1e-5)).completion.filled(X * unit)
    exact = run(X * unit, CompletionRule(k, tol=1e-13)).completion.filled(X * unit)
    assert np.abs((scaled - exact) / np.nanstd(X * unit, axis=0)).max() < 1e-3


@pytest.mark.parametrize("k", [1, 3])
def test_expected_steps_end_at_the_largest_likelihood(k):
    X = table()
    found = run(X, CompletionRule(k, expected=True, tol=1e-12))
    mean, S, noise = likeliest(X, k)
    np.testing.assert_allclose(found.completion.mean, mean, rtol=0, atol=1e-8)
    assert found.completion.noise == pytest.approx(noise, rel=1e-8)
    np.testing.assert_allclose(
        found.completion.values, np.linalg.eigvalsh(S)[::-1][:k], rtol=1e-8
    )
    C = found.completion.loadings @ found.completion.loadings.T + noise * np.eye(7)
    at_end = CompletionSums(found.completion, expected=True).add(X).likelihood
    assert at_end == pytest.approx(log_likelihood(X, found.completion.mean, C), rel=1e-10)


def test_a_basis_finds_the_same_as_whole_sums():
    X = table(rows=150, columns=40, share=0.3)
    whole = run(X, CompletionRule(3, tol=1e-11))
    assert first_basis(100, 5) is None
    assert first_basis(2000, 5).shape == (2000, 13)
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 11)))[0]
    for expected in (False, True):
        rule = CompletionRule(3, expected=expected, tol=1e-11)
        thin, whole = run(X, rule, basis), run(X, rule)
        np.testing.assert_allclose(
            thin.completion.filled(X), whole.completion.filled(X), rtol=0, atol=1e-7
        )


def test_plain_steps_never_lower_the_likelihood(monkeypatch):
    monkeypatch.setattr(completing.Mixing, "next", lambda _self, _here, found, *_told: found)
    found = run(table(share=0.4), CompletionRule(2, expected=True, tol=1e-9))
    gains = np.diff(found.objectives[1:])
    assert len(gains) > 20
    assert np.all(gains >= -1e-9)


def test_extrapolation_needs_far_fewer_passes(monkeypatch):
    X = table(rows=200, share=0.45)
    quick = run(X, CompletionRule(2, tol=1e-9))
    monkeypatch.setattr(completing.Mixing, "next", lambda _self, _here, found, *_told: found)
    plain = run(X, CompletionRule(2, tol=1e-9))
    assert quick.passes < 0.6 * plain.passes
    np.testing.assert_allclose(
        quick.completion.filled(X), plain.completion.filled(X), rtol=0, atol=1e-6
    )


def test_extrapolation_does_not_stray_from_the_likelihood():
    X = table(rows=300, share=0.65, seed=4)
    X = X[~np.isnan(X).all(axis=1)]
    found = run(X, CompletionRule(2, expected=True, tol=1e-6))
    assert found.change <= 1e-6
    assert found.objectives[-1] == pytest.approx(-1676.645, abs=1e-2)


@pytest.mark.parametrize("expected", [False, True])
def test_data_of_low_rank_without_noise_is_found_again(expected):
    rng = np.random.default_rng(2)
    whole = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 8))
    X = np.where(rng.random(whole.shape) < 0.15, np.nan, whole)
    found = run(X, CompletionRule(2, expected=expected, tol=1e-10))
    assert np.abs(found.completion.filled(X) - whole).max() < 1e-3


def test_noise_follows_the_formula_and_its_cap():
    values = np.array([5.0, 3, 1, 1, 1])
    rule = CompletionRule(2)
    n, p = 20, 5
    formula = n * p / min(p, n - 1) * 3 / ((n - 1) * p - (n - 1) * 2 - p * 2 + 4)
    assert formula > 1
    assert rule.noise_of(values[:3], 11.0, n, p) == 1.0
    flat = np.array([5.0, 3, 2.5, 0.5, 0.0])
    assert rule.noise_of(flat[:3], 11.0, n, p) == pytest.approx(formula)
    assert CompletionRule(2, expected=True).noise_of(values[:3], 11.0, n, p) == pytest.approx(
        1.0
    )
    assert rule.noise_of(values[:3], 11.0, 3, p) == 1.0  # as many rows as axes: the cap


def test_passes_on_the_way_are_float32_and_the_last_is_not():
    X, kinds = table(rows=3000, columns=20, share=0.3), []

    def one_pass(sums, _):
        kinds.append(sums._ready.dtype.itemsize)
        sums.add(X)

    start = first_completion(np.nanmean(X, axis=0), 0)
    exact = run(X, CompletionRule(3, tol=1e-9)).completion
    rate = missing_information(exact, X, None)
    found = complete(one_pass, start, None, CompletionRule(3, tol=2e-3, rate=rate))
    assert kinds[-1] == 8
    assert 4 in kinds
    # The rate is not known better than this when the steps end.
    assert change(found.completion, exact, np.nanstd(X, axis=0)) < 1.5 * 2e-3


def test_values_beyond_float32_are_summed_in_float64():
    X = table(rows=3000, columns=20, share=0.3)
    X[0, 0] = 1e30
    found = complete(
        lambda sums, _: sums.add(X),
        run(table(rows=3000, columns=20, share=0.3), CompletionRule(3)).completion,
        None,
        CompletionRule(3, tol=1e-3, rate=0.3, most=3),
    )
    assert np.isfinite(found.completion.values).all()


def test_rough_steps_are_float32_and_know_their_rate_when_they_end():
    X, seen = table(rows=400, share=0.05), list[np.dtype]()

    def one_pass(sums, _number):
        seen.append(sums.dtype)
        sums.add(X)

    start = first_completion(np.nanmean(X, axis=0), 0)
    rule = CompletionRule(2, tol=0.5, rate=0.05, rough=True)
    found = complete(one_pass, start, None, rule)
    assert seen == [np.float64, np.float32, np.float32]  # without axes, float64
    assert found.rate > 0
    again = complete(one_pass, found.completion, None, rule)
    assert again.passes == 1
    assert again.moved == again.change < 0.5


def test_a_pass_that_is_foreseen_to_be_the_last_is_float64():
    X, seen = table(rows=400, share=0.05), list[np.dtype]()

    def one_pass(sums, _number):
        seen.append(sums.dtype)
        sums.add(X)

    near = run(X, CompletionRule(2, tol=1e-3)).completion
    rule = CompletionRule(2, tol=1e-6, rate=0.05, apart=1e-3)
    complete(one_pass, near, None, dataclasses.replace(rule, tol_of=lambda _moved: 1e-3))
    assert seen == [np.float64]
    seen.clear()
    complete(
        one_pass, near, None, dataclasses.replace(rule, rate=0.5, tol_of=lambda _moved: 1.0)
    )
    assert seen[0] == np.float32  # steps are slow: their tolerance is not eased
    assert len(seen) > 2


def test_slow_steps_do_not_stay_in_float32():
    X, kinds = table(rows=3000, columns=20, share=0.3), list[int]()

    def one_pass(sums, _):
        kinds.append(sums.dtype.itemsize)
        sums.add(X)

    start = first_completion(np.nanmean(X, axis=0), 0)
    found = complete(one_pass, start, None, CompletionRule(3, tol=1e-7, rate=0.999, most=60))
    assert found.settled
    assert kinds[:4].count(4) == 3  # the first has no axes
    assert set(kinds[4:]) == {8}


# Extrapolation: it is taken back where it fails, and does not depend on units.
def a_step():
    """Return two completions, a step apart, and the spread of their columns."""
    X, rule = table(), CompletionRule(2, tol=1e-10)
    start = run(X, dataclasses.replace(rule, most=2)).completion
    step, _, spread = completing._maximised(CompletionSums(start).add(X), rule)
    return start, step, spread


def test_an_extrapolation_that_makes_things_worse_is_taken_back():
    start, step, spread = a_step()
    mixing = Mixing()
    assert mixing.next(start, step, 1.0, 0.01, spread) is step
    # A step that changes far more, and one from where the objective is lower.
    far = dataclasses.replace(step, values=step.values * 100)
    assert mixing.next(start, far, 1.0, 0.01, spread) is step
    assert mixing.next(start, step, 1.0, 0.01, spread) is step
    assert mixing.next(start, step, 0.0, 0.01, spread) is step


def test_after_failures_steps_are_plain_for_a_while_only(monkeypatch):
    monkeypatch.setattr(completing, "_REST", 3)
    start, step, spread = a_step()
    far = dataclasses.replace(step, values=step.values * 100)
    mixing = Mixing()
    for _ in range(completing._FAILURES):
        mixing.next(start, step, 1.0, 0.01, spread)
        mixing.next(start, far, 1.0, 0.01, spread)
    near = dataclasses.replace(step, values=step.values * 1.001)
    plain = [mixing.next(start, near, 1.0, 0.01, spread) is near for _ in range(6)]
    assert plain == [True, True, False, False, False, False]


# The rate that missing cells foretell is that at which plain steps come nearer.
def rows_of(kind, n=4000, p=12, k=2, seed=0):
    """Return rows with gaps at random, or in one column where a group of rows lacks it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, k)) @ rng.standard_normal((k, p)) * 2
    X += 0.5 * rng.standard_normal((n, p))
    gaps = rng.random((n, p)) < 0.1
    if kind == "group":
        group = rng.random(n) < 0.25
        X[group] += 5 * rng.standard_normal(p)
        gaps[group, 3] = True
    if kind == "column":
        gaps[:, 3] = rng.random(n) < 0.8
    X[gaps] = np.nan
    return X


def steps(X, completion, rule, count):
    """Return completions of plain steps, beginning at one."""
    out = [completion]
    for _ in range(count):
        out.append(completing._maximised(rule.sums(out[-1]).add(X), rule)[0])
    return out


def rate_of_plain_steps(X, rule):
    """Return by how much two filled tables, far from the end, come nearer in late steps."""
    begun = run(X, CompletionRule(rule.rank, tol=1e-2))
    tables = [c.filled(X) for c in steps(X, begun.completion, rule, 40)[-3:]]
    moved = [np.linalg.norm(b - a) for a, b in itertools.pairwise(tables)]
    return moved[1] / moved[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["group", "column"])
def test_the_rate_is_that_of_plain_steps(kind, seed):
    X, rule = rows_of(kind, seed=seed), CompletionRule(3 if kind == "group" else 2)
    end = run(X, rule).completion
    told, seen = missing_information(end, X, None), rate_of_plain_steps(X, rule)
    assert 1 - told == pytest.approx(1 - seen, rel=0.25)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_at_random_it_is_the_share_that_is_missing(share):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 3)) @ rng.standard_normal((3, 40)) * 2
    X += rng.standard_normal(X.shape)
    X[rng.random(X.shape) < share] = np.nan
    end = run(X, CompletionRule(3)).completion
    for some in (X, X[::4]):
        assert missing_information(end, some, None) == pytest.approx(share, rel=0.25)


def test_weights_are_repeats():
    X = rows_of("group", n=600)
    w = np.random.default_rng(2).integers(0, 4, len(X))
    end = run(X, CompletionRule(2)).completion
    once = missing_information(end, X, w.astype(float))
    often = missing_information(end, np.repeat(X, w, axis=0), None)
    assert 1 - once == pytest.approx(1 - often, rel=0.05)  # chance counts rows, not weights


def test_rows_that_do_not_show_an_axis_are_no_error():
    X = rows_of("column", n=3)
    full = rows_of("plain")
    end = run(full, CompletionRule(5)).completion
    assert 0 <= missing_information(end, X, None) <= 1
    X = rows_of("column")  # without axes it is the share of the emptiest column
    mean = first_completion(np.nanmean(X, axis=0), 0)
    assert missing_information(mean, X, None) == pytest.approx(0.8, abs=0.03)
    assert complete(lambda sums, _: sums.add(X), mean, None, CompletionRule(0)).passes == 2
    constant = np.full((10, 3), 4.0)
    constant[0, 0] = np.nan
    found = run(constant, CompletionRule(1)).completion
    np.testing.assert_array_equal(found.filled(constant), 4.0)
