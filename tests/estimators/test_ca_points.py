"""What is told of the points of a map: scalings, tables, residuals, ellipses."""

import numpy as np
import pytest
import scipy.sparse

from mercer import CorrespondenceAnalysis
from mercer.errors import BudgetError, InputError, NotSupportedError
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


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_squares_sum_to_chi_square(kind):
    model = CorrespondenceAnalysis(2).fit(HAIR)
    found = model.residuals(kind(HAIR))
    E = np.outer(HAIR.sum(axis=1), HAIR.sum(axis=0)) / HAIR.sum()
    np.testing.assert_allclose(found.standardised, (HAIR - E) / np.sqrt(E), rtol=1e-12)
    assert np.sum(found.standardised**2) == pytest.approx(model.independence_.chi2)
    r, c = model.row_masses_, model.column_masses_
    root = np.sqrt(np.outer(1 - r, 1 - c))
    np.testing.assert_allclose(found.adjusted, (HAIR - E) / np.sqrt(E) / root, rtol=1e-12)


def test_adjusted_residuals_are_standard_normal_without_association(rng):
    chances = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.3]).ravel()
    drawn = [rng.multinomial(1000, chances).reshape(3, 3) for _ in range(400)]
    found = [CorrespondenceAnalysis(1).fit(t).residuals(t).adjusted for t in drawn]
    np.testing.assert_allclose(np.std(found, axis=0), 1, atol=0.12)


def test_huge_counts_empty_columns_and_little_memory():
    exact = CorrespondenceAnalysis(2).fit(HAIR).residuals(HAIR).standardised
    huge = HAIR * 2.0**1000
    found = CorrespondenceAnalysis(2).fit(huge).residuals(huge)
    np.testing.assert_allclose(found.standardised, exact * 2.0**500, rtol=1e-12)
    table = np.column_stack([HAIR, np.zeros(4)])
    with pytest.warns(UserWarning, match="no counts"):
        model = CorrespondenceAnalysis(2).fit(table)
    found = model.residuals(table)
    assert found.standardised.shape == table.shape
    assert not found.standardised[:, 4].any()
    with pytest.raises(BudgetError, match="4 x 4 cells"):
        CorrespondenceAnalysis(2, memory=10**7).fit(HAIR).set_params(memory=100).residuals(HAIR)


def by_formula(table, standard):
    """Covariance of a row's place given its total: (Σp_jγγᵀ - ffᵀ)/R, the multinomial's."""
    R = table.sum(axis=1)
    p = table / R[:, None]
    f = p @ standard
    second = np.einsum("ij,jk,jl->ikl", p, standard, standard)
    return (second - f[:, :, None] * f[:, None, :]) / R[:, None, None]


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_draws_have_the_covariance_of_the_law(kind):
    table = 20 * HAIR
    model = CorrespondenceAnalysis(2).fit(table)
    found = model.ellipses(kind(table), draws=2000)
    for ours, exact in (
        (found.row_covariances, by_formula(table, model.column_standard_)),
        (found.column_covariances, by_formula(table.T, model.row_standard_)),
    ):
        size = np.sqrt(np.einsum("ikk->ik", exact))
        unit = size[:, :, None] * size[:, None, :]
        np.testing.assert_allclose(ours / unit, exact / unit, atol=0.12)
    np.testing.assert_array_equal(found.row_centres, model.row_coordinates_)
    assert found.radius == pytest.approx(np.sqrt(-2 * np.log(0.05)))
    again = model.ellipses(kind(table), draws=2000)
    np.testing.assert_array_equal(again.row_covariances, found.row_covariances)


def test_weights_and_empty_rows_are_those_of_the_fit():
    table = np.concatenate([HAIR, np.zeros((1, 4), int), HAIR])
    weights = np.array([2.0] * 4 + [1] + [0] * 4)
    with pytest.warns(UserWarning, match="no counts"):
        model = CorrespondenceAnalysis(2).fit(table, sample_weight=weights)
    plain = CorrespondenceAnalysis(2).fit(2 * HAIR)
    found, wanted = model.ellipses(table, draws=50), plain.ellipses(2 * HAIR, draws=50)
    assert found.row_covariances.shape == (4, 2, 2)
    np.testing.assert_allclose(found.row_covariances, wanted.row_covariances, rtol=1e-8)


def test_points_that_are_seldom_drawn():
    table = np.concatenate([HAIR, [[1, 0, 0, 0]]])
    found = CorrespondenceAnalysis(2).fit(table).ellipses(table, draws=40)
    assert np.isfinite(found.row_covariances).all()


def test_what_cannot_be_drawn_is_refused():
    model = CorrespondenceAnalysis(2).fit(HAIR)
    with pytest.raises(NotSupportedError, match="16 cells"):
        model.ellipses(HAIR, draws=10**8)
    with pytest.raises(InputError, match="shares say nothing"):
        CorrespondenceAnalysis(2).fit(HAIR / 592).ellipses(HAIR / 592)
    with pytest.raises(InputError, match="level=1"):
        model.ellipses(HAIR, level=1.0)
    with pytest.raises(InputError, match="the rows must be those of the fit"):
        model.ellipses(HAIR[:2])
