"""What FAMD and MFA share: columns, paths, and how axes are read."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from mixed_tables import by_hand, mixed_frame

import mercer
from mercer import FAMD, MFA
from mercer.errors import InputError


@pytest.mark.parametrize("kind", [FAMD, MFA])
def test_columns_are_those_of_the_fit(kind):
    given = mixed_frame(40)
    model = kind().fit(given)
    with pytest.raises(InputError, match="feature"):
        model.transform(given[given.columns[:-1]])
    with pytest.raises(InputError, match="feature names"):
        model.transform(given[given.columns[::-1]])
    with pytest.raises(InputError, match="Reshape"):
        model.transform(given.to_numpy(object)[0])
    assert model.feature_names_in_.tolist() == list(given.columns)
    assert model.n_features_in_ == given.shape[1]


@pytest.mark.parametrize("kind", [FAMD, MFA])
def test_files_and_sparse_rows_are_refused(kind, tmp_path):
    with pytest.raises(InputError, match=r"[Ss]parse"):
        kind().fit(scipy.sparse.eye_array(4).tocsr())
    with pytest.raises(InputError, match="rows in memory"):
        kind().fit(tmp_path / "table.csv")


def test_columns_may_be_numbered():
    given = mixed_frame(40)
    numbered = given.set_axis(range(given.shape[1]), axis=1)
    found = FAMD().fit(numbered)
    np.testing.assert_allclose(found.eigenvalues_, FAMD().fit(given).eigenvalues_)
    assert found.variables_[0] == "0"


def test_supplementary_columns_change_nothing_and_agree_with_active_ones():
    given = mixed_frame()
    model = FAMD(3).fit(given)
    found = model.supplementary(given)
    np.testing.assert_allclose(found.correlations, model.correlations_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.v_tests, model.v_tests_, rtol=0, atol=1e-8)
    assert list(found.levels) == model.column_names_[4:]
    with pytest.raises(InputError, match="3 rows, 120 at fit"):
        model.supplementary(given.iloc[:3])
    noise = pd.DataFrame(
        {"flat": np.ones(120), "gap": np.where(np.arange(120) < 3, np.nan, 1.0)}
    )
    model.supplementary(noise)


def test_a_plan_says_what_a_fit_will_do():
    given = mixed_frame()
    assert mercer.plan(FAMD(2), given).problem.cols == 4 + 10
    assert FAMD(2).fit(given).plan_.problem.rows == 120


@pytest.mark.parametrize("path", ["svd", "gram", "krylov"])
def test_every_path_finds_the_same_axes(path):
    given = mixed_frame(300).assign(id=np.repeat([f"g{i}" for i in range(60)], 5))
    expected = FAMD(2).fit(given)
    model = type("Forced", (FAMD,), {"_allowed": lambda _: (path,)})(2, tol=1e-9).fit(given)
    assert model.plan_.chosen.name == path
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(
        model.row_coordinates_, expected.row_coordinates_, rtol=0, atol=1e-3
    )
    assert np.all(model.certificate_.lower <= expected.eigenvalues_ * (1 + 1e-9))


def test_the_fit_holds_the_names_that_methods_share():
    model = FAMD(2).fit(mixed_frame())
    assert model.column_names_[:5] == ["a", "b", "c", "d", "size=l"]
    assert model.variables_ == list(mixed_frame().columns)
    assert [c.tolist() for c in model.categories_][1] == ["glad", "sad"]
    assert model.row_names_ is None
    named = mixed_frame().set_index(mixed_frame().index.map(lambda i: f"r{i}"))
    assert FAMD(2).fit(named).row_names_[3] == "r3"


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
