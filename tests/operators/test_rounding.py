"""The error of float32 products: bounded from above, and not by much."""

import numpy as np
import pytest

from mercer.operators import rows_of
from mercer.operators._rounding import Rounding, error_norm
from mercer.sources import scan

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def symmetric(order, kind, rng):
    if kind == "noise":
        a = rng.standard_normal((order, order))
        return (a + a.T) * 1e-8
    if kind == "one direction":
        v = rng.standard_normal(order)
        return -1e-30 * np.outer(v, v)
    return np.zeros((order, order))


@pytest.mark.parametrize("kind", ["noise", "one direction", "nothing"])
@pytest.mark.parametrize("order", [1, 40, 300, 301, 900])
def test_the_norm_is_bounded_from_above(order, kind):
    e = symmetric(order, kind, np.random.default_rng(order))
    true = np.linalg.norm(e, 2)
    found = error_norm(order, lambda z: e @ z)
    assert true * (1 - 1e-12) <= found <= 4 * true
    if order <= 300:
        assert found == pytest.approx(true, rel=1e-9, abs=1e-300)


def test_the_bound_holds_for_every_one_of_many():
    rng = np.random.default_rng(0)
    for _ in range(50):
        values = rng.standard_normal(320) * 10.0 ** rng.uniform(-6, 0, 320)
        q, _ = np.linalg.qr(rng.standard_normal((320, 320)))
        e = (q * values) @ q.T
        assert np.max(np.abs(values)) <= error_norm(320, lambda z, e=e: e @ z) * (1 + 1e-12)


def test_the_charge_is_twice_the_worst():
    rounding = Rounding(FLOAT32)
    assert rounding.charged == 2 * 2.0**-23 / 64
    rounding.take(1e-6)
    rounding.take(1e-7)
    assert rounding.charged == 2e-6
    assert Rounding(FLOAT64).charged == 0.0


@pytest.mark.parametrize("p", [50, 400])
@pytest.mark.parametrize("offset", [0.0, 300.0])
def test_the_error_of_a_scatter_is_within_its_bound(p, offset):
    rng = np.random.default_rng(1)
    scales = np.linspace(10, 0.1, p)
    X = (rng.standard_normal((9000, p)) * scales + offset).astype(np.float32)
    found = rows_of(scan(X)).scatter()
    wide = X.astype(np.float64)
    wide -= wide.mean(axis=0)
    true = np.linalg.norm(found.scatter - wide.T @ wide, 2)
    assert 0 < true <= found.error
    assert found.error < 1e-6 * found.raw_trace


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("order", [20, 400])
def test_an_error_that_is_not_finite_says_nothing(order, value):
    wrong = np.zeros((order, order))
    wrong[3, 3] = value
    with np.errstate(invalid="ignore"):
        assert error_norm(order, lambda z: wrong @ z) == 0.0
