"""What pages of inertia say alike."""

import re
import types

import numpy as np
import pandas as pd
import pytest
from tests.report.family_tables import groups_of_poison, hair, parts, poison, said, section

import mercer
from mercer.report import report
from mercer.report._page_words import axes_of
from mercer.report.panels._categories_panels import groups_words
from mercer.report.panels._inertia_panels import (
    axis_sentence,
    axis_title,
    inertia_scree,
    inertia_table,
    plane,
    points_table,
)

X = hair()
MODEL = mercer.CorrespondenceAnalysis(2).fit(X)


def fake(coordinates, contributions, names):
    return types.SimpleNamespace(
        explained_variance_ratio_=np.array([0.25]),
        column_coordinates_=np.array(coordinates)[:, None],
        column_contributions_=np.array(contributions)[:, None],
        column_names_=names,
    )


@pytest.mark.parametrize(
    ("coordinates", "shares", "words"),
    [
        ([1, -1, 0.1], [0.45, 0.5, 0.05], "sets a against b."),
        ([1, 0.5, -0.1], [0.6, 0.39, 0.01], "sets a and b apart from the others."),
        ([-1, -0.5, 0.1], [0.39, 0.6, 0.01], "sets b and a apart from the others."),
        ([0, 0, 0], [0, 0, 0], "sets nothing in particular apart."),
    ],
)
def test_an_axis_is_named_after_what_makes_more_than_its_part(coordinates, shares, words):
    sentence = axis_sentence(fake(coordinates, shares, list("abc")), 0)
    assert sentence == f"Axis 1 (25.0 %) {words}"


def test_rows_planes_and_titles():
    sentence = axis_sentence(MODEL, 0, list(X.index))
    assert sentence.index("Blue") < sentence.index("Blond")
    names, titles, Z = plane(np.ones((3, 1)), [0.09])
    assert (names, titles) == (("axis 1", "nothing"), ("axis 1 (9.0 %)", "nothing"))
    assert np.array_equal(Z, [[1, 0]] * 3)
    assert plane(np.ones((3, 4)), None)[2].shape == (3, 4)
    assert axis_title(types.SimpleNamespace(explained_variance_ratio_=None), 1) == "axis 2"
    assert [axes_of(n) for n in (0, 1, 5)] == ["no axes", "1 axis", "5 axes"]


def test_tables_of_points_have_what_the_model_has():
    table = points_table(MODEL, "rows", list(X.index))
    assert table.caption == "Rows"
    for row in table.rows:
        i = list(X.index).index(row[0])
        quality = MODEL.row_cos2_[i].sum()
        inertia = MODEL.row_inertias_[i] / MODEL.total_inertia_
        assert np.allclose(row[1:4], [100 * MODEL.row_masses_[i], 100 * quality, 100 * inertia])
        assert row[4] == MODEL.row_coordinates_[i, 0]
    order = [row[6] + row[9] for row in table.rows]
    assert order == sorted(order, reverse=True)
    tests = np.array([[2.5, np.nan], [-0.5, 1.0]])
    table = points_table(MODEL, "columns", None, which=[1, 3], called="level", tests=tests)
    assert table.caption == "Levels"
    assert table.head[0] == "level"
    rows = {row[0]: row for row in table.rows}
    assert set(rows) == {X.columns[1], X.columns[3]}
    assert rows[X.columns[1]][7] == 2.5
    assert rows[X.columns[1]][11] is None


def test_inertias_carry_their_certificate():
    table = inertia_table(MODEL)
    values = MODEL.eigenvalues_
    for i, row in enumerate(table.rows):
        assert row[1] == values[i]
        assert MODEL.certificate_.lower[i] <= values[i] <= MODEL.certificate_.upper[i]
        assert 0 <= row[2] < 1e-10
    assert np.isclose(table.rows[-1][4], 100 * MODEL.explained_variance_ratio_.sum())
    panel = inertia_scree(MODEL, np.array([[0.001, 0.001], [0.01, 0.005]]), "chance").panel
    assert panel.axes.title == "Inertia per axis"
    assert panel.axes.legend[-1][0] == "chance"
    assert panel.axes.note == "2 axes carry 98.9 %"


# Groups of columns: RV by hand, partial points, words.


FULL = poison()
MODEL_MFA_PANELS = mercer.MFA(groups_of_poison(), 3).fit(FULL)
PAGE = report(MODEL_MFA_PANELS, FULL).page


def rv_of(a, b):
    """Return RV of two tables from their n×n products."""
    A, B = a @ a.T, b @ b.T
    return np.sum(A * B) / np.sqrt(np.sum(A * A) * np.sum(B * B))


def test_rv_is_that_of_the_products():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(40, 1))
    X = pd.DataFrame(shared + rng.normal(size=(40, 6)), columns=list("abcdef"))
    groups = {"left": ["a", "b"], "middle": ["c", "d"], "right": ["e", "f"]}
    model = mercer.MFA(groups, 2).fit(X)
    table = parts(report(model, X).page, "groups", "Table")[0]
    Z = (X - X.mean()) / X.std(ddof=0)
    by_hand = [[rv_of(Z[a].to_numpy(), Z[b].to_numpy()) for b in groups.values()] for a in
               groups.values()]  # fmt: skip
    assert np.allclose([row[1:] for row in table.rows], by_hand, atol=6e-4)
    best = max((by_hand[i][j], i, j) for i in range(3) for j in range(i))
    words = " ".join(groups_words(model))
    names = list(groups)
    assert f"Most alike are {names[best[2]]} and {names[best[1]]} (RV {best[0]:.2f})" in words


def test_groups_of_columns_are_told_and_drawn():
    line = next(line for line in PAGE.verdict if line.startswith("The first eigenvalue"))
    weakest = int(np.argmin(MODEL_MFA_PANELS.group_coordinates_[:, 0]))
    assert f"is {MODEL_MFA_PANELS.eigenvalues_[0]:.2f} of at most 3" in line
    assert f"least {MODEL_MFA_PANELS.groups_[weakest]}" in line
    panel = parts(PAGE, "groups", "Picture")[0].panel
    assert np.allclose(np.array([panel.marks[0].x, panel.marks[0].y]).T,
                       MODEL_MFA_PANELS.group_coordinates_[:, :2])  # fmt: skip
    assert panel.axes.x_range == panel.axes.y_range


def test_rows_that_groups_see_differently_are_drawn_with_their_partial_points():
    partial = MODEL_MFA_PANELS.partial_coordinates(FULL)[:, :, :2]
    Z = MODEL_MFA_PANELS.transform(FULL)[:, :2]
    assert np.allclose(partial.mean(axis=0), Z)
    apart = np.sum((partial - Z) ** 2, axis=(0, 2))
    top = np.argsort(-apart, kind="stable")[:6]
    panel = parts(PAGE, "groups", "Picture")[1].panel
    drawn = np.array([panel.marks[0].x, panel.marks[0].y]).T
    assert np.allclose(drawn, Z[top])
    assert np.allclose(np.array([panel.marks[1].x, panel.marks[1].y]).T, partial[0, top])
    words = section(PAGE, "groups").words[0]
    # An index that counts from 1 is a range for pandas 3, and names rows for pandas 2.
    a, b, c = (rf"(row )?{i + 1}" for i in top[:3])
    assert re.match(f"Groups differ most about {a}, {b} and {c}\\.", words)
    within = apart.sum() / np.sum(partial**2)
    assert f"{100 * within:.1f} %" in words


def test_groups_with_nothing_in_common():
    numbers = FULL[["Age", "Time"]].astype(float)
    page = report(mercer.MFA(None, 2).fit(numbers), numbers).page
    assert "one group of columns" in said(page)
    assert "groups" not in [s.key for s in page.sections]
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 6))
    model = mercer.MFA({"a": [0, 1, 2], "b": [3, 4, 5]}, 2).fit(X)
    assert re.search("hardly share an axis", " ".join(groups_words(model)))
