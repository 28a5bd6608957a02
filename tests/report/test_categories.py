"""Pages of categories: every number is found again with NumPy."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.report.family_tables import eta2, parts, poison, said, section, symptoms

import mercer
from mercer.plots import Points
from mercer.report import report
from mercer.report.facts._categories_summary import categories_seen

# The page of categories: every number of the verdict is found again with NumPy.
X, FULL = symptoms(), poison()


PAGE = report(mercer.MultipleCorrespondenceAnalysis(3).fit(X), X).page


def indicator_values(frame):
    """Return all eigenvalues λ of the indicator of a frame, and Q and J."""
    Z = pd.get_dummies(frame).to_numpy(float)
    n, q = frame.shape
    P = Z / (n * q)
    r, c = P.sum(axis=1), P.sum(axis=0)
    S = (P - np.outer(r, c)) / np.sqrt(np.outer(r, c))
    return np.linalg.svd(S, compute_uv=False) ** 2, q, Z.shape[1]


def test_shares_are_raw_and_adjusted_ones():
    values, q, j = indicator_values(X)
    raw = 100 * values[:3].sum() / ((j - q) / q)
    adjusted = (q / (q - 1) * np.maximum(values - 1 / q, 0)) ** 2
    benzecri = 100 * adjusted[:3].sum() / adjusted.sum()
    mean = q / (q - 1) * (np.sum(values**2) - (j - q) / q**2)
    greenacre = 100 * adjusted[:3].sum() / mean
    line = PAGE.verdict[1]
    assert f"3 axes hold {raw:.1f} % of the inertia" in line
    assert f"{greenacre:.1f} % (Greenacre)" in line
    assert "over 99.9 % by Benz" in line
    assert 99.95 < benzecri < 100
    table = section(PAGE, "axes").parts[1]
    cells = np.array([row[1:] for row in table.rows], float)
    assert np.allclose(cells[:, 0], values[:3])
    assert np.allclose(cells[:, -2], 100 * adjusted[:3] / adjusted.sum())
    assert np.allclose(cells[:, -1], 100 * adjusted[:3] / mean)


def test_the_first_words_are_the_permutation_null():
    model = mercer.MultipleCorrespondenceAnalysis(3).fit(X)
    edge = model.null_band()[1, :3]
    beyond = int(np.argmin(model.eigenvalues_ > edge))
    assert PAGE.verdict[0].startswith("The variables go together: 1 axis of 3")
    assert beyond == 1
    assert "Axis 2 is not above what chance gives" in said(PAGE)


def test_columns_without_a_tie_are_called_so():
    rng = np.random.default_rng(3)
    noise = pd.DataFrame({c: rng.choice(list("abc"), 120) for c in "uvwxyz"})
    page = report(mercer.MultipleCorrespondenceAnalysis(2).fit(noise), noise).page
    assert page.verdict[0] == "The variables do not go together beyond chance."
    cells = X.to_numpy()
    made = report(mercer.MultipleCorrespondenceAnalysis(2).fit(cells), cells)
    assert re.search(r"Axis 1 \([\d.]+ %\) sets x\d+=", " ".join(made.page.verdict))
    frame = pd.DataFrame({"x": list("aabbcc")})
    model = mercer.MultipleCorrespondenceAnalysis(2).fit(frame)
    assert categories_seen(model, frame).adjusted == {}


def test_the_map_is_the_rows_and_colours_are_the_best_variables():
    model = mercer.MultipleCorrespondenceAnalysis(3).fit(X)
    assert np.allclose(PAGE.cloud.Z, model.transform(X))
    first = PAGE.cloud.colours[0]
    links = [
        eta2(model.row_coordinates_[:, 0], X[c].to_numpy())
        + eta2(model.row_coordinates_[:, 1], X[c].to_numpy())
        for c in X
    ]
    assert first.name == X.columns[int(np.argmax(links))]
    assert [PAGE.cloud.colours[-1].kind, len(PAGE.cloud.colours)] == ["one", 7]
    view = section(PAGE, "map").parts[0]
    assert type(view).__name__ == "MapView"
    assert view.groups


def test_one_axis_or_none_leaves_words(monkeypatch):
    model = mercer.MultipleCorrespondenceAnalysis(1).fit(X)
    some = X.iloc[:20]
    page = report(model, some, colours={"hour": np.arange(20.0)}).page
    assert page.cloud.Z.shape == (20, 2)
    assert page.cloud.names == ("axis 1", "nothing")
    assert page.cloud.colours[0].name == "hour"
    assert any("fitted to 55 rows" in fact for fact in page.facts)
    monkeypatch.setattr("mercer.report.facts._categories_summary._CHANCE", 10)
    page = report(mercer.MultipleCorrespondenceAnalysis(2).fit(X), X).page
    assert page.verdict[0] == "2 axes of 13 categories; whether beyond chance was not tested."
    assert page.verdict[1].startswith("2 axes hold")


def test_rare_levels_are_named():
    counts = X.apply(lambda column: column.value_counts()).stack()
    rare = counts[counts < 2]
    assert len(rare) == 1
    assert "A rare level: Fish=Fish_n (1 row)." in said(PAGE)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({c: rng.choice(list("ab"), 100).astype(object) for c in "xyz"})
    frame.iloc[0] = "odd"
    model = mercer.MultipleCorrespondenceAnalysis(2).fit(frame)
    page = report(model, frame).page
    rare = [i for i, name in enumerate(model.column_names_) if name.endswith("odd")]
    share = 100 * model.column_contributions_[rare, 0].sum()
    assert f"They make {share:.1f} % of axis 1" in said(page)


@pytest.mark.parametrize(
    ("policy", "words"),
    [("level", "level of their own"), ("passive", "make no axis"), ("fill", "filled")],
)
def test_the_policy_for_missing_cells_is_told(policy, words):
    frame = X.copy()
    frame.iloc[3, 2] = frame.iloc[9, 5] = None
    model = mercer.MultipleCorrespondenceAnalysis(2, missing=policy).fit(frame)
    made = report(model, frame)
    page = made.page
    assert words in " ".join(section(page, "data").words)
    assert np.allclose(page.cloud.Z, model.transform(frame))
    assert ">nan<" not in made.html.lower()


def test_numbers_have_a_circle_and_no_levels():
    model = mercer.FAMD(2).fit(FULL)
    page = report(model, FULL).page
    pictures = parts(page, "variables", "Picture")
    assert [p.panel.axes.title for p in pictures] == ["Variables", "Correlation circle"]
    assert len(parts(page, "levels", "Table")[0].rows) == 26
    numbers = FULL[["Age", "Time"]].astype(float)
    page = report(mercer.FAMD(2).fit(numbers), numbers).page
    assert "levels" not in [s.key for s in page.sections]
    frame = poison()
    model = mercer.FAMD(2).fit(frame)
    page = report(model, frame, row_names=[f"guest {i}" for i in range(55)]).page
    held = 100 * np.sum(model.explained_variance_ratio_)
    assert page.verdict[0] == (
        f"2 axes hold {held:.1f} % of the inertia of 2 numbers and 13 categories."
    )
    assert page.cloud.row_names[7] == "guest 7"
    assert "was not tested" in " ".join(section(page, "axes").words)


def test_no_axis_leaves_words():
    rng = np.random.default_rng(1)
    noise = pd.DataFrame({c: rng.choice(list("abc"), 150) for c in "uvwx"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mercer.MultipleCorrespondenceAnalysis("auto").fit(noise)
    assert model.n_components_ == 0
    page = report(model, noise).page
    assert page.cloud is None
    assert "nothing to map" in said(page)
    assert [s.key for s in page.sections] == ["data", "method"]


# Panels about categories: the points drawn and the cells listed are those of the fit.
SUP = {"Age": FULL["Age"].to_numpy(float), "old": np.where(FULL["Age"] > 8, "yes", "no")}


MODEL = mercer.MultipleCorrespondenceAnalysis(3).fit(X)


BESIDE = report(MODEL, X, sup=SUP).page


def points_of(picture):
    return {
        title: (x, y)
        for mark in picture.panel.marks
        if isinstance(mark, Points)
        for x, y, title in zip(mark.x, mark.y, mark.titles, strict=True)
    }


def test_levels_and_their_tests_are_those_of_the_rows():
    drawn = points_of(parts(BESIDE, "levels", "Picture")[0])
    for name, place in zip(MODEL.column_names_, MODEL.column_coordinates_, strict=True):
        assert np.allclose(drawn[name], place[:2])
    beside = MODEL.supplementary(
        FULL.assign(old=SUP["old"])[["old"]]  # levels by the name of the mapping
    )
    for name, place in zip(beside.levels, beside.coordinates, strict=True):
        assert np.allclose(drawn[name], place[:2])
    table = parts(BESIDE, "levels", "Table")[0]
    row = next(row for row in table.rows if row[0] == "Sick=Sick_y")
    z, n = MODEL.row_coordinates_[:, 0], len(X)
    inside = (X["Sick"] == "Sick_y").to_numpy()
    m = inside.sum()
    error = np.sqrt(np.mean(z**2) / m * (n - m) / (n - 1))
    assert np.isclose(row[7], z[inside].mean() / error)


def test_the_table_of_levels_has_their_numbers():
    table = parts(BESIDE, "levels", "Table")[0]
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


def test_variables_are_drawn_and_listed_by_correlation_ratios():
    drawn = points_of(parts(BESIDE, "variables", "Picture")[0])
    table = parts(BESIDE, "variables", "Table")[0]
    Z = MODEL.row_coordinates_
    for row in table.rows:
        known = [eta2(Z[:, a], X[row[0]].to_numpy()) for a in range(3)]
        assert np.allclose(row[2:5], known)
        assert np.allclose(drawn[row[0]], known[:2])
    assert np.isclose(drawn["Age"][0], np.corrcoef(SUP["Age"], Z[:, 0])[0, 1] ** 2)
    best = max(table.rows, key=lambda row: row[2])
    words = section(BESIDE, "variables").words[0]
    assert words.startswith(f"Axis 1 goes most with {best[0]} ({100 * best[2]:.0f} %)")


def test_supplementary_columns_and_the_band():
    rows = {row[0]: row for row in parts(BESIDE, "variables", "Table")[1].rows}
    assert rows["Age"][1] == "r"
    assert np.isclose(rows["old"][2], eta2(MODEL.row_coordinates_[:, 0], SUP["old"]))
    words = " ".join(section(BESIDE, "axes").words)
    assert "shuffled on its own" in words
    assert "Greenacre" in words


# What a page about categories knows, against counts and correlations by hand.


TWO = mercer.MultipleCorrespondenceAnalysis(2).fit(X)


def test_cells_without_a_level_and_frames_of_polars():
    frame = X.copy()
    frame.iloc[4, 0] = None
    model = mercer.MultipleCorrespondenceAnalysis(2, missing="passive").fit(frame)
    sick = categories_seen(model, frame).categories["Sick"]
    assert sick.levels[sick.at[4]] == "(missing)"
    assert sick.levels[sick.at[5]] == frame["Sick"].iloc[5]
    frame = pl.from_pandas(X.reset_index(drop=True))
    model = mercer.MultipleCorrespondenceAnalysis(2).fit(frame)
    assert np.allclose(categories_seen(model, frame).links, categories_seen(TWO, X).links)
