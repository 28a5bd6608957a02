"""What pages of inertia say alike."""

import types

import numpy as np
import pytest
from tests.report.family_tables import hair

import mercer
from mercer.report.panels._inertia_panels import (
    axes_of,
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


def test_rows_come_before_columns():
    sentence = axis_sentence(MODEL, 0, list(X.index))
    assert sentence.index("Blue") < sentence.index("Blond")


def test_a_table_of_points_has_what_the_model_has():
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


def test_some_points_with_tests_are_listed():
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


def test_bars_are_called_inertia():
    panel = inertia_scree(MODEL, np.array([[0.001, 0.001], [0.01, 0.005]]), "chance").panel
    assert panel.axes.title == "Inertia per axis"
    assert panel.axes.legend[-1][0] == "chance"
    assert panel.axes.note == "2 axes carry 98.9 %"


def test_a_plane_has_two_axes_at_least():
    names, titles, Z = plane(np.ones((3, 1)), [0.09])
    assert (names, titles) == (("axis 1", "nothing"), ("axis 1 (9.0 %)", "nothing"))
    assert np.array_equal(Z, [[1, 0]] * 3)
    assert plane(np.ones((3, 4)), None)[2].shape == (3, 4)


def test_titles_without_shares():
    assert axis_title(types.SimpleNamespace(explained_variance_ratio_=None), 1) == "axis 2"
    assert [axes_of(n) for n in (0, 1, 5)] == ["no axes", "1 axis", "5 axes"]
