"""Extrapolation: it is taken back where it fails, and does not depend on units."""

import dataclasses

import numpy as np
import pytest
from tests.estimators.missing_oracles import table

from mercer.operators import (
    Completion,
    CompletionRule,
    CompletionSums,
    complete,
    first_completion,
)
from mercer.operators.completion import _expectation_maximisation as completing
from mercer.operators.completion import _expectation_maximisation as mixing_module
from mercer.operators.completion._expectation_maximisation import Mixing, change, unit_of


def run(X, rule):
    start = first_completion(np.nanmean(X, axis=0), 0)
    return complete(lambda sums, _: sums.add(X), start, None, rule)


def a_step():
    """Return two completions, a step apart, and the spread of their columns."""
    X, rule = table(), CompletionRule(2, tol=1e-10)
    start = run(X, dataclasses.replace(rule, most=2)).completion
    step, _, spread = completing._maximised(CompletionSums(start).add(X), rule)
    return start, step, spread


def in_units(completion, unit):
    """Return the completion of columns that were multiplied by `unit`."""
    centring = completion.centring
    centring = dataclasses.replace(
        centring, origin=centring.origin * unit, offset=centring.offset * unit
    )
    loadings = completion.loadings * unit[:, None]
    axes, spread, _ = np.linalg.svd(loadings, full_matrices=False)
    return Completion(centring, axes, spread**2 + completion.noise, completion.noise)


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
    monkeypatch.setattr(mixing_module, "_REST", 3)
    start, step, spread = a_step()
    far = dataclasses.replace(step, values=step.values * 100)
    mixing = Mixing()
    for _ in range(mixing_module._FAILURES):
        mixing.next(start, step, 1.0, 0.01, spread)
        mixing.next(start, far, 1.0, 0.01, spread)
    near = dataclasses.replace(step, values=step.values * 1.001)
    plain = [mixing.next(start, near, 1.0, 0.01, spread) is near for _ in range(6)]
    assert plain == [True, True, False, False, False, False]


@pytest.mark.parametrize("power", [1, 6])
def test_a_change_does_not_depend_on_the_units_of_columns(power):
    start, step, spread = a_step()
    unit = 10.0 ** np.random.default_rng(0).uniform(-power, power, len(spread))
    one, other = in_units(start, unit), in_units(step, unit)
    # The rotation that brings loadings together is that of the largest columns.
    assert change(one, other, spread * unit) == pytest.approx(
        change(start, step, spread), rel=0.5
    )


def test_a_change_is_relative_to_each_column():
    start, _, spread = a_step()
    centring = start.centring
    for column in range(len(spread)):
        offset = centring.offset.copy()
        offset[column] += spread[column]
        moved = dataclasses.replace(
            start, centring=dataclasses.replace(centring, offset=offset)
        )
        assert change(start, moved, spread) == pytest.approx(len(spread) ** -0.5)


def test_columns_without_spread_have_a_unit():
    np.testing.assert_allclose(unit_of(np.array([2.0, 0.0])), [8**-0.5, 0.5], rtol=1e-12)
    start, step, spread = a_step()
    assert change(start, step, np.zeros_like(spread)) == 0
    spread[0] = 0.0
    assert 0 < change(start, step, spread) < 10
