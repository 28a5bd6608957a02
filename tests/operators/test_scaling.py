"""Factors of columns, and the errors of float32 sums: bounded, and not by much."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mercer.operators import Scaling, exact_means, is_constant, rows_of
from mercer.operators._rounding import Rounding, error_norm
from mercer.sources import in_memory


def test_deviations_and_weights_of_columns():
    variances = np.array([4.0, 0.25, 0.0, 1e-20])
    step = np.array([0.0, 0.0, 0.0, 1e-9])
    root = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    found = Scaling(True, None).factor_of(variances, step)
    np.testing.assert_array_equal(found, [0.5, 2.0, 1.0, 1.0])  # two are constant
    found = Scaling(True, root).factor_of(variances, step, 1)
    np.testing.assert_array_equal(found, [1.0, 6.0, 4.0, 5.0])
    np.testing.assert_array_equal(Scaling(False, root).factor_of(variances, step), root[:4])
    np.testing.assert_array_equal(is_constant(variances, step), [False, False, True, True])


@given(
    st.integers(3, 3000),
    st.integers(2, 40),
    st.floats(0, 6),
    st.sampled_from([0.0, 0.01, 3.0]),
    st.sampled_from(["plain", "weights"]),
    st.sampled_from(["deviations", "columns", "both"]),
    st.integers(0, 10**6),
)
@example(1283, 7, 4.3, 3.0, "plain", "deviations", 188)
@example(3, 3, 4.3828125, 0.01, "weights", "columns", 2)
@example(2344, 4, 5.8, 3.0, "plain", "deviations", 1630)
@settings(max_examples=60, deadline=None)
def test_the_error_of_a_scatter_is_a_bound_when_columns_are_scaled(
    n, p, grade, level, rows_are, asked, seed
):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((n, p)) * 10 ** -(grade * rng.random(p)) + level
    data = data.astype(np.float32)
    weights = rng.integers(1, 9, n).astype(float) if rows_are == "weights" else None
    root = None if asked == "deviations" else 10 ** rng.uniform(-2, 2, p)
    scaling = Scaling(asked != "columns", root)
    rows = rows_of(in_memory(data), weights)
    rows.scaling = scaling
    moments = rows.scatter()
    w = (np.ones(n) if weights is None else weights).astype(np.longdouble)[:, None]
    y = data.astype(np.longdouble)
    y = y - y[0]
    y = np.ldexp(np.sqrt(w) * (y - (w * y).sum(axis=0) / w.sum()), -rows.exponent)
    exact = (y.T @ y).astype(float)
    factor = scaling.factor_of(np.diagonal(exact) / float(w.sum()), 0.0)
    wrong = (moments.scatter - exact) * factor[:, None] * factor[None, :]
    raw = np.diagonal(exact) + moments.total * moments.offset**2
    scaled = float(np.sum(raw * factor**2))
    claimed = moments.error / moments.raw_trace * scaled
    assert np.linalg.norm(wrong, 2) <= claimed


@pytest.mark.parametrize("value", [0.1, 0.3, -1.7, 1e300, 1e-320, 0.0])
@pytest.mark.parametrize("n", [1, 7, 10, 121])
def test_means_of_constant_columns_are_exact(value, n):
    rows = np.column_stack([np.full(n, value), np.arange(n)])
    with np.errstate(over="ignore"):
        found = exact_means(rows, rows.mean(axis=0))
    np.testing.assert_array_equal(found, [value, (n - 1) / 2])
    assert exact_means(rows[:, 0], np.float64(7.0)) == value


FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def symmetric(order, kind, rng):
    if kind == "noise":
        a = rng.standard_normal((order, order))
        return (a + a.T) * 1e-8
    if kind == "graded":
        values = rng.standard_normal(order) * 10.0 ** rng.uniform(-6, 0, order)
        q, _ = np.linalg.qr(rng.standard_normal((order, order)))
        return (q * values) @ q.T
    if kind == "one direction":
        v = rng.standard_normal(order)
        return -1e-30 * np.outer(v, v)
    return np.zeros((order, order))


@pytest.mark.parametrize("kind", ["noise", "graded", "one direction", "nothing"])
@pytest.mark.parametrize("order", [1, 40, 300, 301, 900])
def test_the_norm_is_bounded_from_above(order, kind):
    e = symmetric(order, kind, np.random.default_rng(order))
    true = np.linalg.norm(e, 2)
    found = error_norm(order, lambda z: e @ z)
    assert true * (1 - 1e-12) <= found <= 4 * true
    if order <= 300:
        assert found == pytest.approx(true, rel=1e-9, abs=1e-300)


def test_the_charge_is_twice_the_worst():
    rounding = Rounding(FLOAT32)
    assert rounding.charged == 2 * 2.0**-23 / 64
    rounding.take(1e-6)
    rounding.take(1e-7)
    assert rounding.charged == 2e-6
    assert Scaling(False, None).factor_of(np.ones(3), 0.0) is None
    data = np.random.default_rng(0).standard_normal((500, 5)).astype(np.float32)
    plain, told = rows_of(in_memory(data)), rows_of(in_memory(data))
    told.scaling = Scaling(False, None)  # plain columns are measured as they are
    assert told.scatter().error == plain.scatter().error
    assert Rounding(FLOAT64).charged == 0.0


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("order", [20, 400])
def test_an_error_that_is_not_finite_says_nothing(order, value):
    wrong = np.zeros((order, order))
    wrong[3, 3] = value
    with np.errstate(invalid="ignore"):
        assert error_norm(order, lambda z: wrong @ z) == 0.0
