import numpy as np
import pytest

from mercer import CorrespondenceAnalysis
from mercer.errors import InputError
from mercer.estimators.counts._count_map import SCALINGS

HAIR = np.array([[68, 119, 26, 7], [15, 54, 14, 10], [5, 29, 14, 16], [20, 84, 17, 94]])
MODEL = CorrespondenceAnalysis(3).fit(HAIR)
F, G = MODEL.row_coordinates_, MODEL.column_coordinates_
PHI, GAMMA = MODEL.row_standard_, MODEL.column_standard_
R, C = MODEL.row_masses_[:, None], MODEL.column_masses_[:, None]
S = np.sqrt(MODEL.eigenvalues_)


@pytest.mark.parametrize(
    ("scaling", "rows", "columns"),
    [
        ("symmetric", F, G),
        ("rowprincipal", F, GAMMA),
        ("colprincipal", PHI, G),
        ("symbiplot", PHI * np.sqrt(S), GAMMA * np.sqrt(S)),
        ("rowgab", F, C * GAMMA),
        ("colgab", R * PHI, G),
        ("rowgreen", F, np.sqrt(C) * GAMMA),
        ("colgreen", np.sqrt(R) * PHI, G),
    ],
)
def test_the_eight_scalings(scaling, rows, columns):
    found = MODEL.map(scaling)
    np.testing.assert_allclose(found[0], rows, rtol=1e-12)
    np.testing.assert_allclose(found[1], columns, rtol=1e-12)


@pytest.mark.parametrize("scaling", [s for s in SCALINGS if s != "symmetric"])
def test_biplots_give_the_table_back(scaling):
    """All but the symmetric map are biplots: inner products are the contingency ratios."""
    rows, columns = MODEL.map(scaling)
    by_mass = {"gab": 1.0, "een": 0.5}.get(scaling[-3:], 0.0)
    rows = rows / (R**by_mass if scaling.startswith("col") else 1.0)
    columns = columns / (C**by_mass if scaling.startswith("row") else 1.0)
    ratio = HAIR / HAIR.sum() / (R * C.T) - 1
    np.testing.assert_allclose(rows @ columns.T, ratio, rtol=0, atol=1e-12)


def test_contribution_biplots_show_contributions():
    np.testing.assert_allclose(MODEL.map("rowgreen")[1] ** 2, MODEL.column_contributions_)
    np.testing.assert_allclose(MODEL.map("colgreen")[0] ** 2, MODEL.row_contributions_)


def test_an_unknown_scaling_is_refused():
    with pytest.raises(InputError, match="symbiplot, rowgab"):
        MODEL.map("biplot")


def test_tables_of_points():
    table = MODEL.table("columns")
    assert list(table)[:7] == ["name", "mass", "qlt", "inr", "k=1", "cor 1", "ctr 1"]
    assert table["name"] == ["x0", "x1", "x2", "x3"]
    assert table["mass"] == [182, 483, 120, 215]
    assert table["ctr 1"] == [222, 51, 10, 717]
    assert table["qlt"] == [1000] * 4
    plain = MODEL.table("rows", per_mille=False)
    assert sum(plain["inr"]) == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(plain["k=2"], F[:, 1])
    assert plain["name"] == ["0", "1", "2", "3"]
    with pytest.raises(InputError, match="of rows or of columns"):
        MODEL.table("axes")


def test_a_point_at_the_centre_has_no_direction():
    """The last row is the sum of the others: its profile is the average."""
    table = np.concatenate([HAIR, HAIR.sum(axis=0, keepdims=True)])
    model = CorrespondenceAnalysis(2).fit(table)
    np.testing.assert_allclose(model.row_coordinates_[-1], 0, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(model.row_cos2_[-1], 0)
    assert model.row_quality_[-1] == 0
    assert np.all(model.row_cos2_ <= 1)
