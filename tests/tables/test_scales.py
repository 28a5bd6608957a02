"""One scale or several: ten times is still one; constants do not count."""

import numpy as np
import pytest

from mercer.tables.preparing._table_scales import (
    deviations_of,
    deviations_walked,
    short,
    standardized,
)


@pytest.mark.parametrize(
    ("deviations", "divided"),
    [
        ([1.0, 10.0], False),
        ([1.0, 10.0 * (1 + 1e-12)], False),
        ([1.0, 10.01], True),
        ([0.0, 5.0, 6.0], False),
        ([0.0, 5.0, 600.0], True),
        ([3.0], False),
        ([0.0, 0.0], False),
        ([None, 1.0, 2.0], False),
        ([None], False),
        ([np.nan, 1.0, 99.0], True),
        ([1e-300, 1e300], True),
    ],
)
def test_the_rule_of_ten(deviations, divided):
    names = [f"c{i}" for i in range(len(deviations))]
    found, line = standardized("auto", names, deviations, made=False)
    assert found is divided
    assert ("standardised" in line, "only centred" in line) == (divided, not divided)


def test_hard_columns():
    X = np.array([[1e300, np.nan, 0.1], [-1e300, np.nan, 0.1], [0, 1.0, 0.1]])
    large, single, constant = deviations_of(X)
    assert large == pytest.approx(1e300)
    assert (single, constant) == (None, 0.0)


def test_numbers_for_people():
    assert [short(x) for x in (0.000123, 9999999, 2e7, 12)] == [
        "0.000123",
        "9,999,999",
        "2e+07",
        "12",
    ]


def test_deviations_of_weighed_rows_are_those_of_repeated_rows():
    rng = np.random.default_rng(3)
    X, w = rng.normal(size=(40, 3)) * [1, 20, 1e-3], rng.integers(0, 4, 40)
    X[rng.random(X.shape) < 0.1] = np.nan
    w[:3], X[:3] = 0, [[1e300, -1e300, np.nan]] * 3
    expected = np.nanstd(np.repeat(X, w, axis=0), axis=0, ddof=1)
    np.testing.assert_allclose(deviations_of(X, w), expected, rtol=1e-12)
    blocks = [X[i : i + 7] for i in range(0, 40, 7)]
    np.testing.assert_allclose(deviations_walked(blocks, w), expected, rtol=1e-12)
