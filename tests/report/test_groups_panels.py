"""Panels about classes: tests, structure, held-out rows, by hand."""

import numpy as np
from scipy.stats import chi2
from tests.report.family_tables import iris, parts, section

import mercer
from mercer.plots import Line
from mercer.report import report

X, Y = iris()
MODEL = mercer.LinearDiscriminantAnalysis().fit(X, Y)
PAGE = report(MODEL, X, y=Y).page
Z = MODEL.transform(X)


def test_sequential_tests_are_those_of_the_roots():
    rows = np.asarray(X, float)
    total = rows - rows.mean(axis=0)
    within = np.concatenate([rows[g == Y] - rows[g == Y].mean(axis=0) for g in np.unique(Y)])
    W, T = within.T @ within, total.T @ total
    roots = np.sort(np.linalg.eigvals(np.linalg.solve(W, T - W)).real)[::-1][:2]
    table = parts(PAGE, "tests", "Table")[0]
    for j, row in enumerate(table.rows):
        wilks = np.prod(1 / (1 + roots[j:]))
        statistic = -(150 - 1 - (4 + 3) / 2) * np.log(wilks)
        dof = (4 - j) * (3 - 1 - j)
        assert np.allclose(
            row[1:5], [wilks, np.sqrt(roots[j] / (1 + roots[j])), statistic, dof]
        )
        assert np.isclose(row[5], chi2.sf(statistic, dof))
    assert [row[0] for row in table.rows] == ["1 to 2", "2"]
    assert section(PAGE, "tests").words[0].startswith("2 axes tell the classes apart")


def test_structure_is_the_correlation_with_the_coordinates():
    table = parts(PAGE, "variables", "Table")[0]
    inside = np.concatenate([Z[g == Y] - Z[g == Y].mean(axis=0) for g in np.unique(Y)])
    columns = np.concatenate([X[g == Y] - X[g == Y].mean() for g in np.unique(Y)])
    for row in table.rows:
        j = list(X.columns).index(row[0])
        assert np.isclose(row[1], np.corrcoef(X[row[0]], Z[:, 0])[0, 1])
        assert np.isclose(row[2], np.corrcoef(columns[:, j], inside[:, 0])[0, 1])
        assert np.isclose(row[3], MODEL.scalings_[j, 0])


def test_the_confusion_matrix_is_that_of_held_out_rows():
    found = MODEL.confusion(X, Y)
    table = parts(PAGE, "heldout", "Table")[0]
    counts = np.array([row[1:4] for row in table.rows])
    for i, a in enumerate(found.classes):
        for j, b in enumerate(found.classes):
            assert counts[i, j] == np.sum((a == Y) & (found.predicted == b))
        assert np.isclose(table.rows[i][4], 100 * counts[i, i] / 50)
    wrong = counts.sum() - np.trace(counts)
    assert section(PAGE, "heldout").words[0].startswith(f"{wrong} of 150 rows")


def test_ellipses_hold_nineteen_of_twenty_rows():
    panel = parts(PAGE, "map", "Picture")[0].panel
    lines = [mark for mark in panel.marks if isinstance(mark, Line)]
    assert len(lines) == 6
    inside = 0
    for g, name in enumerate(MODEL.classes_):
        rows = Z[name == Y]
        spread = np.linalg.inv(np.cov(rows.T))
        far = np.einsum(
            "ij,jk,ik->i", rows - rows.mean(axis=0), spread, rows - rows.mean(axis=0)
        )
        inside += int(np.sum(far <= chi2.ppf(0.95, 2)))
        edge = np.array([lines[2 * g].x, lines[2 * g].y]).T - rows.mean(axis=0)
        assert np.allclose(np.einsum("ij,jk,ik->i", edge, spread, edge), chi2.ppf(0.95, 2))
    assert 0.9 < inside / 150 < 0.99


def test_one_axis_has_bars_and_no_ellipse():
    two = Y != "setosa"
    model = mercer.LinearDiscriminantAnalysis().fit(X[two], Y[two])
    page = report(model, X[two], y=Y[two]).page
    assert parts(page, "map", "Picture") == []
    panel = parts(page, "variables", "Picture")[0].panel
    assert panel.axes.x_label == "correlation with the axis"


def test_classes_have_rows_priors_and_means():
    table = parts(PAGE, "classes", "Table")[0]
    for row in table.rows:
        inside = row[0] == Y
        assert row[1] == inside.sum()
        assert np.isclose(row[2], 100 / 3)
        assert np.allclose(row[3:], Z[inside].mean(axis=0))


def test_many_classes_are_listed_by_their_share_right():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(14), 12)
    rows = rng.normal(size=(14 * 12, 5)) + 3 * rng.normal(size=(14, 5))[y]
    page = report(mercer.LinearDiscriminantAnalysis().fit(rows, y), rows, y=y).page
    table = parts(page, "heldout", "Table")[0]
    assert table.head == ("class", "rows", "right %")
    assert len(table.rows) == 14
    assert parts(page, "map", "Picture") == []
