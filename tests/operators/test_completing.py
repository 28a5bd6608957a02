"""The steps: they reach the fixed point, never lower the likelihood, and end."""

import dataclasses

import numpy as np
import pytest
from tests.estimators.missing_oracles import iterated, likeliest, log_likelihood, table

from mercer.operators import (
    CompletionSums,
    Rule,
    complete,
    first_basis,
    first_completion,
)
from mercer.operators import _completing as completing


def run(X, rule, basis=None):
    return complete(
        lambda sums, _: sums.add(X), first_completion(np.nanmean(X, axis=0), 0), basis, rule
    )


def plainly(_mixing, _here, found, _objective):
    """Stand in for an extrapolation: go where the step went."""
    return found


@pytest.mark.parametrize("k", [1, 2, 4])
def test_regularised_steps_end_where_the_plain_algorithm_does(k):
    X = table()
    found = run(X, Rule(k, tol=1e-12))
    np.testing.assert_allclose(found.completion.filled(X), iterated(X, k), atol=1e-8)
    assert found.passes < 60
    assert found.change <= 1e-12


@pytest.mark.parametrize("k", [1, 3])
def test_expected_steps_end_at_the_largest_likelihood(k):
    X = table()
    found = run(X, Rule(k, expected=True, tol=1e-12))
    mean, S, noise = likeliest(X, k)
    np.testing.assert_allclose(found.completion.mean, mean, atol=1e-8)
    assert found.completion.noise == pytest.approx(noise, rel=1e-8)
    np.testing.assert_allclose(
        found.completion.values, np.linalg.eigvalsh(S)[::-1][:k], rtol=1e-8
    )
    C = found.completion.loadings @ found.completion.loadings.T + noise * np.eye(7)
    at_end = CompletionSums(found.completion, expected=True).add(X).likelihood
    assert at_end == pytest.approx(log_likelihood(X, found.completion.mean, C), rel=1e-10)


def test_a_basis_finds_the_same_as_whole_sums():
    X = table(rows=150, columns=40, share=0.3)
    whole = run(X, Rule(3, tol=1e-11))
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 11)))[0]
    for expected in (False, True):
        rule = Rule(3, expected=expected, tol=1e-11)
        thin, whole = run(X, rule, basis), run(X, rule)
        np.testing.assert_allclose(
            thin.completion.filled(X), whole.completion.filled(X), atol=1e-7
        )


def test_a_basis_is_taken_where_columns_are_many():
    assert first_basis(100, 5) is None
    assert first_basis(2000, 5).shape == (2000, 13)


def test_plain_steps_never_lower_the_likelihood(monkeypatch):
    monkeypatch.setattr(completing.Mixing, "next", lambda _self, _here, found, *_told: found)
    found = run(table(share=0.4), Rule(2, expected=True, tol=1e-9))
    gains = np.diff(found.objectives[1:])
    assert len(gains) > 20
    assert np.all(gains >= -1e-9)


def test_extrapolation_needs_far_fewer_passes(monkeypatch):
    X = table(rows=200, share=0.45)
    quick = run(X, Rule(2, tol=1e-9))
    monkeypatch.setattr(completing.Mixing, "next", lambda _self, _here, found, *_told: found)
    plain = run(X, Rule(2, tol=1e-9))
    assert quick.passes < 0.6 * plain.passes
    np.testing.assert_allclose(
        quick.completion.filled(X), plain.completion.filled(X), atol=1e-6
    )


def test_an_extrapolation_that_makes_things_worse_is_taken_back():
    X, rule = table(), Rule(2, tol=1e-10)
    start = run(X, dataclasses.replace(rule, most=2)).completion
    step, _, _ = completing._maximised(CompletionSums(start).add(X), rule)
    mixing = completing.Mixing()
    assert mixing.next(start, step, 1.0, 0.01) is step
    # A step that changes far more, and one from where the objective is lower.
    far = dataclasses.replace(step, values=step.values * 100)
    assert mixing.next(start, far, 1.0, 0.01) is step
    assert mixing.next(start, step, 1.0, 0.01) is step
    assert mixing.next(start, step, 0.0, 0.01) is step


def test_extrapolation_does_not_stray_from_the_likelihood():
    X = table(rows=300, share=0.65, seed=4)
    X = X[~np.isnan(X).all(axis=1)]
    found = run(X, Rule(2, expected=True, tol=1e-6))
    assert found.change <= 1e-6
    assert found.objectives[-1] == pytest.approx(-1676.645, abs=1e-2)


@pytest.mark.parametrize("expected", [False, True])
def test_data_of_low_rank_without_noise_is_found_again(expected):
    rng = np.random.default_rng(2)
    whole = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 8))
    X = np.where(rng.random(whole.shape) < 0.15, np.nan, whole)
    found = run(X, Rule(2, expected=expected, tol=1e-10))
    assert np.abs(found.completion.filled(X) - whole).max() < 1e-3


def test_noise_follows_the_formula_and_its_cap():
    values = np.array([5.0, 3, 1, 1, 1])
    rule = Rule(2)
    n, p = 20, 5
    formula = n * p / min(p, n - 1) * 3 / ((n - 1) * p - (n - 1) * 2 - p * 2 + 4)
    assert formula > 1
    assert rule.noise_of(values[:3], 11.0, n, p) == 1.0
    flat = np.array([5.0, 3, 2.5, 0.5, 0.0])
    assert rule.noise_of(flat[:3], 11.0, n, p) == pytest.approx(formula)
    assert Rule(2, expected=True).noise_of(values[:3], 11.0, n, p) == pytest.approx(1.0)
    assert rule.noise_of(values[:3], 11.0, 3, p) == 1.0  # as many rows as axes: the cap


def test_no_axes_and_constant_rows_end():
    X = table()
    assert run(X, Rule(0)).passes == 2
    constant = np.full((10, 3), 4.0)
    constant[0, 0] = np.nan
    np.testing.assert_array_equal(run(constant, Rule(1)).completion.filled(constant), 4.0)


def test_passes_on_the_way_are_float32_and_the_last_is_not():
    X, kinds = table(rows=3000, columns=20, share=0.3), []

    def one_pass(sums, _):
        kinds.append(sums._ready.dtype.itemsize)
        sums.add(X)

    start = first_completion(np.nanmean(X, axis=0), 0)
    found = complete(one_pass, start, None, Rule(3, tol=2e-3, rate=0.3))
    assert kinds[-1] == 8
    assert 4 in kinds
    exact = run(X, Rule(3, tol=1e-9)).completion
    apart = found.completion.filled(X) - exact.filled(X)
    assert np.abs(apart).max() < 0.05


def test_values_beyond_float32_are_summed_in_float64():
    X = table(rows=3000, columns=20, share=0.3)
    X[0, 0] = 1e30
    found = complete(
        lambda sums, _: sums.add(X),
        run(table(rows=3000, columns=20, share=0.3), Rule(3)).completion,
        None,
        Rule(3, tol=1e-3, rate=0.3, most=3),
    )
    assert np.isfinite(found.completion.values).all()
