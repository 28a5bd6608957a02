"""Panels about categories: the points drawn and the cells listed are those of the fit."""

import numpy as np
from tests.report.family_tables import eta2, parts, poison, section, symptoms

import mercer
from mercer.plots import Points
from mercer.report import report

X, FULL = symptoms(), poison()
SUP = {"Age": FULL["Age"].to_numpy(float), "old": np.where(FULL["Age"] > 8, "yes", "no")}
MODEL = mercer.MultipleCorrespondenceAnalysis(3).fit(X)
PAGE = report(MODEL, X, sup=SUP).page


def points_of(picture):
    return {
        title: (x, y)
        for mark in picture.panel.marks
        if isinstance(mark, Points)
        for x, y, title in zip(mark.x, mark.y, mark.titles, strict=True)
    }


def test_levels_are_drawn_where_they_lie():
    drawn = points_of(parts(PAGE, "levels", "Picture")[0])
    for name, place in zip(MODEL.column_names_, MODEL.column_coordinates_, strict=True):
        assert np.allclose(drawn[name], place[:2])
    beside = MODEL.supplementary(
        FULL.assign(old=SUP["old"])[["old"]]  # levels by the name of the mapping
    )
    for name, place in zip(beside.levels, beside.coordinates, strict=True):
        assert np.allclose(drawn[name], place[:2])


def test_the_table_of_levels_has_their_numbers():
    table = parts(PAGE, "levels", "Table")[0]
    assert table.caption == "Levels"
    at = {name: i for i, name in enumerate(MODEL.column_names_)}
    for row in table.rows:
        i = at[row[0]]
        share = np.mean([f"{c}={v}" == row[0] for c in X for v in X[c]]) * X.shape[1]
        assert np.isclose(row[1], 100 * share / X.shape[1])
        for a in range(3):
            cells = row[4 + 4 * a : 8 + 4 * a]
            known = (
                MODEL.column_coordinates_[i, a],
                100 * MODEL.column_cos2_[i, a],
                100 * MODEL.column_contributions_[i, a],
                MODEL.v_tests_[i, a],
            )
            assert np.allclose(cells, known)
    assert len(table.rows) == len(at)


def test_a_v_test_is_that_of_a_mean_of_drawn_rows():
    table = parts(PAGE, "levels", "Table")[0]
    row = next(row for row in table.rows if row[0] == "Sick=Sick_y")
    z, n = MODEL.row_coordinates_[:, 0], len(X)
    inside = (X["Sick"] == "Sick_y").to_numpy()
    m = inside.sum()
    error = np.sqrt(np.mean(z**2) / m * (n - m) / (n - 1))
    assert np.isclose(row[7], z[inside].mean() / error)


def test_variables_are_drawn_and_listed_by_correlation_ratios():
    drawn = points_of(parts(PAGE, "variables", "Picture")[0])
    table = parts(PAGE, "variables", "Table")[0]
    Z = MODEL.row_coordinates_
    for row in table.rows:
        known = [eta2(Z[:, a], X[row[0]].to_numpy()) for a in range(3)]
        assert np.allclose(row[2:5], known)
        assert np.allclose(drawn[row[0]], known[:2])
    assert np.isclose(drawn["Age"][0], np.corrcoef(SUP["Age"], Z[:, 0])[0, 1] ** 2)
    best = max(table.rows, key=lambda row: row[2])
    words = section(PAGE, "variables").words[0]
    assert words.startswith(f"Axis 1 goes most with {best[0]} ({100 * best[2]:.0f} %)")


def test_supplementary_columns_have_their_own_table():
    rows = {row[0]: row for row in parts(PAGE, "variables", "Table")[1].rows}
    assert rows["Age"][1] == "r"
    assert np.isclose(rows["old"][2], eta2(MODEL.row_coordinates_[:, 0], SUP["old"]))


def test_numbers_go_on_a_circle():
    model = mercer.FAMD(2).fit(FULL)
    page = report(model, FULL).page
    pictures = parts(page, "variables", "Picture")
    assert [p.panel.axes.title for p in pictures] == ["Variables", "Correlation circle"]
    assert len(parts(page, "levels", "Table")[0].rows) == 26


def test_numbers_alone_have_no_levels():
    numbers = FULL[["Age", "Time"]].astype(float)
    page = report(mercer.FAMD(2).fit(numbers), numbers).page
    assert "levels" not in [s.key for s in page.sections]


def test_the_band_is_that_of_shuffled_columns():
    words = " ".join(section(PAGE, "axes").words)
    assert "shuffled on its own" in words
    assert "Greenacre" in words
