"""Columns: weights, correlations and shares against NumPy's own."""

import dataclasses

import numpy as np
import polars as pl
import pytest
import scipy.sparse

import mercer
from mercer.report.facts._linear_summary import seen_from
from mercer.report.panels._axes_panels import variables_section

RNG = np.random.default_rng(11)
X = RNG.normal(size=(150, 2)) @ RNG.normal(size=(2, 6)) * [9, 1, 1, 1, 1, 4]
X = X + 0.5 * RNG.normal(size=X.shape)
COUNTS = RNG.integers(0, 6, len(X))


def table_of(model, rows, **options):
    """Return the section, and its two tables side by side: weight, r and share by axis."""
    section = variables_section(seen_from(model, rows, **options))
    seen_on, weights = section.parts[-2:]
    axes = len(seen_on.head) - 2
    joined = [
        (a[0], *(c for j in range(axes) for c in (b[1 + j], a[1 + j], b[1 + axes + j])), a[-1])
        for a, b in zip(seen_on.rows, weights.rows, strict=True)
    ]
    return section, dataclasses.replace(seen_on, rows=tuple(joined))


def correlation(rows, scores):
    """Return the correlations (p, k) of columns with coordinates, by numpy.corrcoef."""
    return np.corrcoef(rows.T, scores.T)[: rows.shape[1], rows.shape[1] :]


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("change", [0.0, 1e8])
def test_weights_correlations_and_shares(standardize, change):
    model = mercer.PCA(2, standardize=standardize).fit(X + change)
    _, table = table_of(model, X + change)
    cells = np.array([row[1:] for row in table.rows])
    expected = correlation(X, model.transform(X + change)[:, :2])
    tight = 1e-6 if change else 1e-9
    assert np.allclose(cells[:, [1, 4]], expected, atol=tight)
    assert np.allclose(cells[:, [0, 3]], model.components_[:2].T)
    assert np.allclose(cells[:, [2, 5]].sum(axis=0), 100)
    assert np.allclose(cells[:, 6], 100 * np.sum(expected**2, axis=1), atol=100 * tight)


def test_rows_that_count_often_are_those_that_are_repeated():
    model = mercer.PCA(2).fit(X, sample_weight=COUNTS)
    _, table = table_of(model, X, sample_weight=COUNTS)
    again = np.repeat(X, COUNTS, axis=0)
    expected = correlation(again, model.transform(again))
    assert np.allclose(np.array([row[2::3] for row in table.rows])[:, :2], expected)


@pytest.mark.parametrize("standardize", [False, True])
def test_weights_of_columns_change_no_correlation_beyond_one(standardize):
    weights = np.array([9.0, 1.0, 0.1, 4.0, 1.0, 25.0])
    model = mercer.PCA(2, standardize=standardize, feature_weight=weights).fit(X)
    _, table = table_of(model, X)
    found = np.array([row[2::3] for row in table.rows])[:, :2]
    assert np.allclose(found, correlation(X, model.transform(X)))
    assert all(row[-1] <= 100 + 1e-9 for row in table.rows)


def test_one_many_and_constant_columns():
    rows = np.c_[X, np.full(len(X), 3.0)]
    section, table = table_of(mercer.PCA(2).fit(rows), rows)
    assert np.allclose(table.rows[-1][1:], 0, atol=1e-12)
    assert "Hardly seen" in section.words[-1]
    assert "column 6" in section.words[-1]
    rows = RNG.normal(size=(40, 300))
    rows[:, 123] += 20 * RNG.normal(size=40)
    section, table = table_of(mercer.PCA(3).fit(rows), rows)
    assert len(table.rows) == 60
    assert table.rows[0][0] == "column 123"
    assert "240 columns least seen are not listed" in table.note
    assert [type(part).__name__ for part in section.parts] == ["Picture", "Table", "Table"]
    section, table = table_of(mercer.PCA(1).fit(X[:, :1]), X[:, :1])
    assert [type(part).__name__ for part in section.parts] == ["Picture", "Table", "Table"]
    assert abs(table.rows[0][2]) == pytest.approx(1)


@pytest.mark.parametrize("kind", ["sparse", "float32", "frame"])
def test_other_kinds_of_rows_say_the_same(kind):
    rows = np.maximum(X, 0)
    given = {
        "sparse": scipy.sparse.csr_array(rows),
        "float32": rows.astype(np.float32),
        "frame": pl.DataFrame(rows, schema=[f"column {j}" for j in range(6)]),
    }[kind]
    _, table = table_of(mercer.PCA(2).fit(given), given)
    _, plain = table_of(mercer.PCA(2).fit(rows), rows)
    assert [row[0] for row in table.rows] == [row[0] for row in plain.rows]
    assert np.allclose(
        [row[1:] for row in table.rows], [row[1:] for row in plain.rows], atol=1e-3
    )
