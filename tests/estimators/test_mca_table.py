import numpy as np
import pytest
from written_mca import analysis, indicator, tables

from mercer.estimators.categories._category_codes import coded
from mercer.estimators.categories._indicator_table import (
    Categories,
    active_of,
    along,
    distances,
)
from mercer.testing import check_operator


@pytest.mark.parametrize("exclude", [None, ["x0=l1", "x2=l0"]])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_operator_is_the_standardised_indicator(rng, exclude, weighted):
    X = tables(rng, 50)
    w = rng.integers(1, 4, 50).astype(float) if weighted else None
    made = Categories(active_of(coded(X), w, exclude))
    asked = made.operated()
    Z, _, names = indicator(X)
    kept = np.array([name not in (exclude or ()) for name in names])
    r = np.full(50, 1 / 50) if w is None else w / w.sum()
    c = r @ Z / 4
    A = np.sqrt(r)[:, None] * (Z / 4 - c)[:, kept] / np.sqrt(c[kept])
    np.testing.assert_allclose(asked.op.dense(), A, rtol=0, atol=1e-14)
    np.testing.assert_allclose(asked.op.gram(), A.T @ A, rtol=0, atol=1e-14)
    np.testing.assert_allclose(made.square, A.T @ A, rtol=0, atol=1e-14)
    assert asked.trace == pytest.approx(np.sum(A**2))
    check_operator(asked.op)
    d = np.sum((Z / 4 - c)[:, kept] ** 2 / c[kept], axis=1)
    np.testing.assert_allclose(distances(made.active), d, rtol=0, atol=1e-12)


def test_the_square_is_exact_for_counts():
    # What is subtracted is whole: a table of independent variables has exact zeros.
    grid = [[a, b] for a in "xyz" for b in "pq"] * 1000
    square = Categories(active_of(coded(grid), None, None)).square
    assert not square[:3, 3:].any()


def test_rows_are_the_mean_of_their_levels(rng):
    X = tables(rng, 40)
    table = coded(X)
    Z, *_ = indicator(X)
    values, standard, rows, c = analysis(Z, 4)
    found = along(table, standard, 4, c @ standard)
    k = int(np.sum(values > 1e-12))
    np.testing.assert_allclose(found[:, :k], rows[:, :k], rtol=0, atol=1e-10)
