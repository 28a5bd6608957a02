import numpy as np
import pytest
from mixed_tables import by_hand, mixed_frame

from mercer import FAMD, MFA

GROUPS = {"one": ["a", "b", "mood"], "two": ["c", "d"], "three": ["size", "place"]}


@pytest.fixture(
    scope="module",
    params=[FAMD(3), MFA(GROUPS, 3), MFA(GROUPS, 3, standardize=False)],
    ids=["famd", "mfa", "mfa-centred"],
)
def model(request):
    return request.param.fit(mixed_frame())


def test_shares_sum_to_one(model):
    for name in ("row", "column", "variable"):
        np.testing.assert_allclose(getattr(model, f"{name}_contributions_").sum(axis=0), 1)
    np.testing.assert_allclose(model.row_inertias_.sum(), model.total_inertia_)
    np.testing.assert_allclose(model.column_inertias_.sum(), model.total_inertia_)
    assert model.row_cos2_.sum(axis=1).max() < 1 + 1e-12
    assert model.column_cos2_.sum(axis=1).max() < 1 + 1e-12


def test_coordinates_have_the_variance_of_their_axis(model):
    np.testing.assert_allclose(
        model.row_masses_ @ model.row_coordinates_, 0, rtol=0, atol=1e-12
    )
    products = (model.row_masses_[:, None] * model.row_standard_).T @ model.row_standard_
    np.testing.assert_allclose(products, np.eye(3), rtol=0, atol=1e-10)


def test_links_are_squared_correlations_of_the_columns(model):
    given, rows = mixed_frame(), model.row_coordinates_
    numbers = list("abcd")
    expected = np.corrcoef(np.column_stack([given[numbers], rows]).T)[:4, 4:]
    np.testing.assert_allclose(model.correlations_, expected, rtol=0, atol=1e-10)
    links = dict(zip(model.variables_, model.squared_correlations_, strict=True))
    for name, line in zip(numbers, expected, strict=True):
        np.testing.assert_allclose(links[name], line**2, rtol=0, atol=1e-10)
    for name in ("size", "mood", "place"):
        means = given.groupby(name)[[]].mean()
        parts = [rows[(given[name] == level).to_numpy()] for level in means.index]
        between = sum(len(p) * p.mean(axis=0) ** 2 for p in parts) / 120
        np.testing.assert_allclose(links[name], between / rows.var(axis=0), rtol=0, atol=1e-10)


def test_levels_are_means_of_their_rows(model):
    given, rows = mixed_frame(), model.row_coordinates_
    p = 4
    for label, mean, test in zip(
        model.column_names_[p:], model.level_means_, model.v_tests_, strict=True
    ):
        name, _, level = label.partition("=")
        own = (given[name] == level).to_numpy()
        np.testing.assert_allclose(mean, rows[own].mean(axis=0), rtol=0, atol=1e-10)
        m = own.sum()
        error = np.sqrt(rows.var(axis=0) * (120 - m) / (119 * m))
        np.testing.assert_allclose(test, rows[own].mean(axis=0) / error, rtol=0, atol=1e-9)


def test_all_axes_show_all_of_every_row():
    model = FAMD(None).fit(mixed_frame())
    np.testing.assert_allclose(model.row_cos2_.sum(axis=1), 1)
    np.testing.assert_allclose(model.column_cos2_.sum(axis=1), 1)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1)
    distances = np.sum(by_hand(mixed_frame()) ** 2, axis=1)
    np.testing.assert_allclose(model.row_inertias_, distances, rtol=1e-9)
