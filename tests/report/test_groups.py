"""Pages of discriminant analysis: do classes lie apart, and how surely."""

import numpy as np
import pytest
from scipy.stats import chi2
from tests.report.family_tables import iris, parts, said, section

import mercer
from mercer.errors import InputError
from mercer.plots import Line
from mercer.report import report
from mercer.report.facts._groups_summary import groups_seen

# The page of discriminant analysis: do classes lie apart, and how surely.
X, Y = iris()


MODEL = mercer.LinearDiscriminantAnalysis().fit(X, Y)


PAGE = report(MODEL, X, y=Y).page


def wilks_of(rows, y):
    """Return Wilks' Λ = |W|/|T| from scatters."""
    rows = np.asarray(rows, float)
    total = rows - rows.mean(axis=0)
    within = np.concatenate([rows[y == g] - rows[y == g].mean(axis=0) for g in np.unique(y)])
    return np.linalg.det(within.T @ within) / np.linalg.det(total.T @ total)


def test_the_first_words_are_wilks_and_held_out_rows():
    assert PAGE.verdict[0] == (
        f"The 3 classes lie apart (Wilks' Λ {wilks_of(X, Y):.3g}, p ≤ 0.005 by shuffling the "
        "labels)."
    )
    found = MODEL.confusion(X, Y, folds=10)
    right = np.mean(found.predicted == Y)
    assert f"{100 * right:.1f} % of rows held out (10 folds)" in PAGE.verdict[1]
    assert "would give 33.3 %" in PAGE.verdict[1]


def test_axes_are_told_by_classes_and_columns():
    Z = MODEL.transform(X)
    r = [np.corrcoef(X.iloc[:, j], Z[:, 0])[0, 1] for j in range(4)]
    means = {g: Z[g == Y, 0].mean() for g in np.unique(Y)}
    high, low = max(means, key=means.get), min(means, key=means.get)
    best = int(np.argmax(np.abs(r)))
    line = PAGE.verdict[2]
    assert (
        f"sets {high} against {low}; it goes most with {X.columns[best]} ({r[best]:+.2f})"
        in (line)
    )
    assert f"({100 * MODEL.explained_variance_ratio_[0]:.1f} % of what is between" in line


def test_canonical_axes_and_pca_stand_side_by_side():
    views = [p for p in section(PAGE, "map").parts if type(p).__name__ == "MapView"]
    assert [view.axes for view in views] == [(0, 1), (2, 3)]
    assert all(view.groups for view in views)
    assert np.allclose(PAGE.cloud.Z[:, :2], MODEL.transform(X))
    flat = mercer.PCA(2, standardize=True).fit_transform(X)
    assert np.allclose(PAGE.cloud.Z[:, 2:], flat)
    assert [c.name for c in PAGE.cloud.colours] == ["class", "held out", "none"]
    assert PAGE.cloud.colours[0].levels == sorted(set(Y))


def test_one_axis_and_no_classes():
    two = Y != "setosa"
    model = mercer.LinearDiscriminantAnalysis().fit(X[two], Y[two])
    page = report(model, X[two], y=Y[two]).page
    assert section(page, "map").parts[0].axes == (0, 1)
    assert page.cloud.names == ("axis 1", "PC1", "PC2")
    assert "The axis sets virginica against versicolor" in said(page)
    page = report(MODEL, X).page
    assert "No classes were given" in said(page)
    assert "Rao's F" in page.verdict[0]
    assert "heldout" not in [s.key for s in page.sections]
    shown = page.cloud.colours[0]
    assert shown.name == "predicted class"
    assert np.array_equal(np.array(shown.levels)[shown.at], MODEL.predict(X))


def test_classes_and_axes_that_are_chance():
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(90, 3)), rng.choice(["a", "b", "c"], 90)
    page = report(mercer.LinearDiscriminantAnalysis().fit(rows, y), rows, y=y).page
    assert "do not lie apart beyond chance" in page.verdict[0]
    right = float(page.verdict[1].split(" %")[0])
    assert ("no better than the largest class" in page.verdict[1]) == (
        right <= 100 * max(np.mean(y == g) for g in "abc")
    )
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(90, 3)), np.repeat(["a", "b", "c"], 30)
    rows[:, 0] += np.repeat([0, 5, 10], 30)
    model = mercer.LinearDiscriminantAnalysis().fit(rows, y)
    line = next(w for w in report(model, rows, y=y).page.verdict if w.startswith("Axis 2"))
    assert model.tests_.f_p[1] > 0.05
    assert f"it is not beyond chance (p = {model.tests_.f_p[1]:.2g})" in line


def test_what_asks_for_care_is_said():
    rng = np.random.default_rng(1)
    rows, y = rng.normal(size=(20, 30)), np.repeat(["a", "b"], 10)
    rows[y == "b"] += 0.5
    model = mercer.LinearDiscriminantAnalysis(shrinkage="auto").fit(rows, y)
    page = report(model, rows, y=y).page
    assert "20 rows for 30 columns" in said(page)
    assert "No test by Wilks" in said(page)
    keep = np.r_[0:3, 50:150]
    model = mercer.LinearDiscriminantAnalysis().fit(X.iloc[keep], Y[keep])
    page = report(model, X.iloc[keep], y=Y[keep]).page
    assert "Few rows to speak of: setosa (3)." in said(page)
    with pytest.raises(InputError, match="a class for every row"):
        report(MODEL, X, y=Y[:20])


def test_kernels_have_classes_but_no_columns():
    t = np.linspace(0, 2 * np.pi, 30)
    rows = np.concatenate([np.c_[np.cos(t), np.sin(t)] * r for r in (1, 3)])
    y = np.repeat(["in", "out"], 30)
    page = report(mercer.KernelDiscriminantAnalysis().fit(rows, y), rows, y=y).page
    assert page.verdict[0].startswith("The 2 classes lie apart (p ≤ 0.005")
    assert "100.0 % of rows held out (5 folds)" in page.verdict[1]
    assert "variables" not in [s.key for s in page.sections]
    assert "A kernel can follow" in said(page)


# What a page about classes looks at, and what it leaves out when it is dear.
def test_dear_looks_are_left_out(monkeypatch):
    monkeypatch.setattr("mercer.report.facts._groups_summary._WORK", 10)
    monkeypatch.setattr("mercer.report.facts._groups_summary._CELLS", 10)
    seen = groups_seen(MODEL, X, Y)
    assert seen.confusion is None
    assert seen.permutation is None
    assert seen.ellipses is not None


def test_classes_of_numbers_and_of_a_kernel_matrix():
    y = np.repeat([3, 1, 2], 50)
    seen = groups_seen(mercer.LinearDiscriminantAnalysis().fit(X, y), X, y)
    assert seen.classes == ["1", "2", "3"]
    assert set(seen.y) == {"1", "2", "3"}
    K = np.asarray(X @ X.T)
    model = mercer.KernelDiscriminantAnalysis(kernel="precomputed").fit(K, Y)
    seen = groups_seen(model, K, Y)
    assert seen.flat is None
    assert seen.confusion.accuracy > 0.9


# Panels about classes: tests, structure, held-out rows, by hand.
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


def test_structure_and_confusion_are_by_hand():
    table = parts(PAGE, "variables", "Table")[0]
    inside = np.concatenate([Z[g == Y] - Z[g == Y].mean(axis=0) for g in np.unique(Y)])
    columns = np.concatenate([X[g == Y] - X[g == Y].mean() for g in np.unique(Y)])
    for row in table.rows:
        j = list(X.columns).index(row[0])
        assert np.isclose(row[1], np.corrcoef(X[row[0]], Z[:, 0])[0, 1])
        assert np.isclose(row[2], np.corrcoef(columns[:, j], inside[:, 0])[0, 1])
        assert np.isclose(row[3], MODEL.scalings_[j, 0])
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


def test_few_and_many_classes_have_tables():
    table = parts(PAGE, "classes", "Table")[0]
    for row in table.rows:
        inside = row[0] == Y
        assert row[1] == inside.sum()
        assert np.isclose(row[2], 100 / 3)
        assert np.allclose(row[3:], Z[inside].mean(axis=0))
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(14), 12)
    rows = rng.normal(size=(14 * 12, 5)) + 3 * rng.normal(size=(14, 5))[y]
    page = report(mercer.LinearDiscriminantAnalysis().fit(rows, y), rows, y=y).page
    table = parts(page, "heldout", "Table")[0]
    assert table.head == ("class", "rows", "right %")
    assert len(table.rows) == 14
    assert parts(page, "map", "Picture") == []
