"""Rows of mixed tables with gaps: where they stand, and what is expected of them."""

import numpy as np
import pandas as pd
import pytest
from mixed_tables import mixed_frame, with_gaps

from mercer import FAMD
from mercer.estimators.mixed import _mixed_frame
from mercer.estimators.mixed._mixed_axes import Filling, fuzzy
from mercer.estimators.mixed._mixed_frame import framed, table_of_cells
from mercer.estimators.mixed._mixed_table import mixed


@pytest.fixture(scope="module")
def fitted():
    return FAMD(2, missing="fill").fit(with_gaps(mixed_frame())[0])


def analysed(frame, table):
    """Return y (n, p + J), NaN where a cell is missing."""
    codes, p = frame.codes(table), len(frame.spread)
    y = np.zeros((table.shape[0], frame.width))
    y[:, :p] = frame.standard(table.numbers)
    for q, (a, b) in enumerate(zip(frame.starts[:-1], frame.starts[1:], strict=True)):
        share = frame.shares[a - p : b - p]
        y[:, a:b] = ((codes[:, q, None] == np.arange(b - a)) - share) / np.sqrt(share)
        y[codes[:, q] < 0, a:b] = np.nan
    return y


def test_rows_with_gaps_are_placed_by_regression_on_what_is_there(fitted):
    table = mixed(with_gaps(mixed_frame())[0])
    axes, filling = fitted._axes, fitted._axes.filling
    V, W, s2 = filling.axes, filling.loadings, filling.noise
    y = analysed(axes.frame, table)
    found, squares = axes.placed(table)
    for row in range(30):
        seen = ~np.isnan(y[row])
        inner = np.linalg.solve(s2 * np.eye(2) + W[seen].T @ W[seen], W[seen].T @ y[row, seen])
        filled = np.where(seen, y[row], W @ inner)
        np.testing.assert_allclose(found[row], filled @ V, rtol=0, atol=1e-10)
        np.testing.assert_allclose(squares[row], filled @ filled, rtol=0, atol=1e-9)


def test_the_regression_is_the_fixed_point_of_the_iteration(fitted):
    """Replacing gaps by V diag((λ - s²)/λ) Vᵀŷ until nothing moves leads to the same cells."""
    filling = fitted._axes.filling
    y = analysed(fitted._axes.frame, mixed(with_gaps(mixed_frame())[0]))
    row = y[np.isnan(y).any(axis=1)][0]
    gaps = np.isnan(row)
    filled = np.where(gaps, 0.0, row)
    shrunk = filling.axes * (1 - filling.noise / filling.values)
    for _ in range(2000):
        filled[gaps] = (shrunk @ (filling.axes.T @ filled))[gaps]
    holes = np.zeros((1, len(fitted.variables_)), bool)
    holes[0, filling.owner[gaps]] = True
    observed = np.where(gaps, 0.0, row) @ filling.axes
    inner = filling.inner(observed[None], holes)[0]
    np.testing.assert_allclose(
        (filling.loadings @ inner)[gaps], filled[gaps], rtol=0, atol=1e-9
    )


def test_expected_shares_of_a_category_sum_to_one(fitted):
    table = mixed(with_gaps(mixed_frame())[0])
    axes = fitted._axes
    expected = fuzzy(axes.filling, axes.frame, axes.observed(table), table.gaps())
    for column in np.flatnonzero(axes.frame.kinds):
        np.testing.assert_allclose(expected[int(column)].sum(axis=1), 1, rtol=0, atol=1e-9)


def test_nothing_is_expected_without_axes():
    filling = Filling(np.zeros((3, 0)), np.zeros(0), 0.0, np.arange(3))
    assert filling.inner(np.zeros((2, 0)), np.ones((2, 3), bool)).shape == (2, 0)


def uniform(n):
    return np.full(n, 1 / n)


@pytest.mark.parametrize("sparse", [False, True])
def test_gaps_stand_at_their_means(monkeypatch, sparse):
    monkeypatch.setattr(_mixed_frame, "stored_cells", lambda *_: 1 if sparse else None)
    given = pd.DataFrame(
        {"x": [1.0, None, 3.0], "u": ["a", "b", None], "v": [None, "p", "q"], "w": list("rst")}
    )
    table = mixed(given)
    frame = framed(table, uniform(3))
    made = table_of_cells(frame, table, frame.codes(table))
    made = made.toarray() if sparse else made
    half = [0.5, 0.5]
    expected = [
        [-1, 1, 0, *half, 1, 0, 0],
        [0, 0, 1, 1, 0, 0, 1, 0],
        [1, *half, 0, 1, 0, 0, 1],
    ]
    np.testing.assert_allclose(made, expected)
    assert frame.labels[:3] == ["x", "u=a", "u=b"]
    assert frame.owner.tolist() == [0, 1, 1, 2, 2, 3, 3, 3]
