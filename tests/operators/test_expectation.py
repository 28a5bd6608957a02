"""Expectation: tiles of rows with gaps, a few of them or most, in space that is used again."""

import numpy as np
import pytest
from tests.operators.test_completion import conditional, model, rows_with_gaps

from mercer.operators.completion._expectation import Expectation


@pytest.mark.parametrize("share", [0.0, 0.002, 0.4])
def test_rows_are_completed_whether_few_or_many_have_gaps(share):
    completion, X = model(), rows_with_gaps(400, share=share)
    found = Expectation(completion).of(X)
    assert found.count == np.isnan(X).sum()
    np.testing.assert_array_equal(found.missing, np.isnan(X))
    expected = np.array([conditional(completion, row) for row in X]) - completion.mean
    np.testing.assert_allclose(found.rows, expected, rtol=0, atol=1e-12)


def test_without_a_blend_gaps_are_zero():
    X = rows_with_gaps()
    found = Expectation(model()).of(X, blend=False)
    np.testing.assert_array_equal(found.rows[np.isnan(X)], 0.0)


def test_space_is_used_again_and_grows():
    ready = Expectation(model())
    longer, shorter = rows_with_gaps(60), rows_with_gaps(20, seed=5)
    first = ready.of(longer).rows
    again = ready.of(shorter).rows
    assert np.shares_memory(first, again)
    np.testing.assert_array_equal(again, Expectation(model()).of(shorter).rows)


def test_back_undoes_the_analysis():
    completion = model(factor=np.array([1.0, 2, 0.5, 1, 3, 1]))
    X = rows_with_gaps(share=0.0)
    ready = Expectation(completion)
    np.testing.assert_allclose(ready.back(ready.of(X).rows)[8:], X[8:], rtol=1e-14)


def test_float32_on_the_way_is_near():
    X = rows_with_gaps(200)
    short = Expectation(model(), np.float32).of(X).rows
    assert short.dtype == np.float32
    np.testing.assert_allclose(short, Expectation(model()).of(X).rows, rtol=0, atol=2e-5)
