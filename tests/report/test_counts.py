"""The page of correspondence analysis, against χ² and singular values by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency
from tests.report.family_tables import DATA, hair, parts, said, section

import mercer
from mercer.report import report

X = hair()
MODEL = mercer.CorrespondenceAnalysis(2).fit(X)
PAGE = report(MODEL, X).page


def test_the_first_words_are_the_test_of_independence():
    found = chi2_contingency(X)
    n = X.to_numpy().sum()
    assert PAGE.verdict[0] == (
        f"The profiles of the rows differ: χ² = {found.statistic:.1f} on 9 degrees of freedom, "
        f"p < 0.001; Cramér's V {np.sqrt(found.statistic / n / 3):.2f}."
    )


def test_shares_and_ends_of_axes_are_those_of_the_singular_vectors():
    P = X.to_numpy() / X.to_numpy().sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    S = (P - np.outer(r, c)) / np.sqrt(np.outer(r, c))
    U, s, Vt = np.linalg.svd(S)
    held = 100 * np.sum(s[:2] ** 2) / np.sum(s**2)
    assert PAGE.verdict[1] == f"2 axes with {held:.1f} % of the inertia."
    heavy = [X.index[i] for i in np.argsort(-(U[:, 0] ** 2)) if U[i, 0] ** 2 > 1 / 4]
    line = PAGE.verdict[2]
    assert all(name in line for name in heavy)
    table = section(PAGE, "axes").parts[1]
    assert np.allclose([row[1] for row in table.rows], s[:2] ** 2)
    columns = parts(PAGE, "points", "Table")[1]
    for row in columns.rows:
        j = list(X.columns).index(row[0])
        assert np.isclose(row[1], 100 * c[j])
        assert np.isclose(row[6], 100 * Vt[0, j] ** 2)


def test_residuals_are_adjusted_ones_in_the_order_of_the_first_axis():
    table = parts(PAGE, "cells", "Table")[0]
    N = X.to_numpy(float)
    n = N.sum()
    E = np.outer(N.sum(axis=1), N.sum(axis=0)) / n
    free = (1 - N.sum(axis=1) / n)[:, None] * (1 - N.sum(axis=0) / n)
    known = (N - E) / np.sqrt(E * free)
    rows, columns = [row[0] for row in table.rows], list(table.head[1:])
    for i, row in enumerate(table.rows):
        for j, cell in enumerate(row[1:]):
            there = list(X.index).index(rows[i]), list(X.columns).index(columns[j])
            assert abs(cell - known[there]) <= 0.005 + 1e-9
    order = MODEL.row_coordinates_[[list(X.index).index(name) for name in rows], 0]
    assert np.all(np.diff(order) >= 0)
    best = np.unravel_index(np.argmax(known), known.shape)
    assert f"{X.index[best[0]]} with {X.columns[best[1]]}" in section(PAGE, "cells").words[0]


def test_the_map_has_rows_and_columns_and_eight_scalings():
    Z = np.concatenate([MODEL.row_coordinates_, MODEL.column_coordinates_])
    assert np.allclose(PAGE.cloud.Z, Z)
    assert PAGE.cloud.colours[0].levels == ["row", "column"]
    frames = parts(PAGE, "map", "Frames")[0]
    assert frames.first == 0
    for panel, label in zip(frames.panels, frames.labels, strict=True):
        rows, columns = MODEL.map(label.split(":")[0])
        for mark, known in zip(panel.marks, (rows, columns), strict=False):
            drawn = np.array(sorted(zip(mark.x, mark.y, strict=True)))
            assert np.allclose(drawn, np.array(sorted(map(tuple, known[:, :2]))))
    assert len(parts(PAGE, "map", "Picture")) == 1


def test_tables_of_little_or_much():
    table = pd.DataFrame(np.outer([1, 2, 3], [10, 20, 30, 40]))
    with pytest.warns(mercer.DataWarning):
        model = mercer.CorrespondenceAnalysis(2).fit(table)
    page = report(model, table).page
    assert "independent" in page.verdict[0]
    two = X.iloc[:, :2]
    page = report(mercer.CorrespondenceAnalysis(1).fit(two), two).page
    assert page.cloud.names == ("axis 1", "nothing")
    writers = pd.read_csv(DATA / "varespec.csv", index_col=0)
    page = report(mercer.CorrespondenceAnalysis(2).fit(writers), writers).page
    table = parts(page, "cells", "Table")[0]
    assert len(table.rows) == 15
    sizes = np.abs([row[2] for row in table.rows])
    assert np.all(np.diff(sizes) <= 0)


def test_an_arch_and_shares_that_are_no_counts_are_told():
    steps = np.arange(12)
    band = np.exp(-((steps[:, None] - np.linspace(0, 11, 9)) ** 2) / 6)
    with pytest.warns(mercer.DataWarning, match="arch"):
        model = mercer.CorrespondenceAnalysis(2).fit(band)
    page = report(model, band).page
    assert "arch" in said(page)
    assert "no counts" in page.verdict[0]
