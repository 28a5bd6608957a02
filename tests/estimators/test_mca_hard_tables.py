"""Multiple correspondence analysis of tables that hurt: gaps, strangers, names, constants."""

import numpy as np
import pandas as pd
import pytest
from tests.claims import agree, refuses, warned
from written_mca import analysis, indicator, like, tables

import mercer
from mercer.errors import DataWarning
from mercer.estimators.categories._category_codes import coded
from mercer.estimators.categories.multiple_correspondence import filler_of, softened

MCA = mercer.MultipleCorrespondenceAnalysis


@pytest.fixture(name="X")
def _table(rng):
    return tables(rng)


def test_missing_cells_by_policy(rng, X):
    holed = X.copy()
    holed[rng.random(X.shape) < 0.1] = None
    refuses(r"by column: 'x0' \d+, 'x1' \d+", MCA().fit, holed)
    passive = MCA(2, missing="passive").fit(holed)
    Z, _, names = indicator(holed)
    values, _, rows, _ = analysis(Z, 4)
    np.testing.assert_allclose(passive.eigenvalues_, values[:2], rtol=1e-11)
    like(passive.row_coordinates_, rows[:, :2])
    assert passive.column_names_ == names
    filled = np.where(holed == None, "missing", holed)  # noqa: E711 - cell by cell
    level, plain = MCA(2, missing="level").fit(holed), MCA(2).fit(filled)
    np.testing.assert_allclose(level.eigenvalues_, plain.eigenvalues_, rtol=1e-12)
    like(level.row_coordinates_, plain.row_coordinates_)
    assert level.column_names_ == plain.column_names_
    assert [len(c) for c in level.categories_] == [4, 5, 3, 6]
    # To leave the missing level out of the axes is to leave its cells passive.
    out = [f"x{q}=missing" for q in range(4)]
    left = MCA(2, missing="level", exclude=out).fit(holed)
    agree(left.row_coordinates_, passive.row_coordinates_, 1e-12)
    for model in (passive, level):
        np.testing.assert_array_equal(model.transform(holed), model.row_coordinates_)


def test_rows_without_categories_and_unseen_ones_by_policy(X):
    holed = X.copy()
    holed[5] = None
    found = warned("row 5", MCA(2, missing="passive").fit, holed)
    assert np.isfinite(found.row_coordinates_).all()
    assert np.abs(found.row_coordinates_[5]).max() < 0.1
    warned("row 5", found.transform, holed)
    new = X[:3].copy()
    new[1, 2] = "never"
    refuses(r"'never' at row 1, column 2 \('x2'\)", MCA().fit(X).transform, new)
    found = MCA(unseen="passive").fit(X)
    rows = found.transform(new)
    np.testing.assert_allclose(rows[[0, 2]], found.row_coordinates_[[0, 2]])
    place = [found.column_names_.index(f"x{q}={new[1, q]}") for q in (0, 1, 3)]
    np.testing.assert_allclose(rows[1], found.column_standard_[place].sum(axis=0) / 4)


def test_unused_levels_and_columns_that_do_not_vary_are_left_out_by_name(X):
    frame = pd.DataFrame(X, columns=list("abcd")).astype("category")
    few = frame[frame["a"] != "l2"]
    found = warned("a=l2", MCA(2).fit, few)
    assert "a=l2" not in found.column_names_
    plain = MCA(2).fit(few.astype(object))
    np.testing.assert_allclose(found.row_coordinates_, plain.row_coordinates_)
    wide = np.column_stack([X, np.full(len(X), "same")])
    found = warned("x4", MCA(2).fit, wide)
    np.testing.assert_allclose(found.row_coordinates_, MCA(2).fit(X).row_coordinates_)
    assert found.variables_ == ["x0", "x1", "x2", "x3"]
    assert found.transform(wide).shape == (len(X), 2)
    refuses("no variable varies", MCA().fit, np.full((5, 2), "same"))


def test_one_variable_alone_and_variables_that_are_names_or_numbers(X, rng):
    found = MCA(None).fit(X[:, :1])
    np.testing.assert_allclose(found.eigenvalues_, 1)
    np.testing.assert_allclose(found.eta2_, 1)
    assert found.certificate_.groups == ((0, 1),)
    refuses("one alone has none", MCA(correction="benzecri").fit, X[:, :1])
    with pytest.warns(DataWarning, match="has 1 axes"):
        assert MCA(2).fit([["a"], ["b"], ["a"]]).n_components_ == 1
    names = np.array([f"id{i}" for i in range(len(X))], dtype=object)
    warned(r"x4 \(120 levels, 120 rows\)", MCA().fit, np.column_stack([X, names]))
    numbers = pd.DataFrame(X, columns=list("abcd")).assign(e=rng.normal(size=len(X)))
    warned(r"e \(120 levels\)[\s\S]*FAMD", MCA().fit, numbers)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"correction": "benzecri"}, "none is kept"),
        ({"correction": "greenacre"}, "none is kept"),
        ({"table": "joint"}, "no inertia"),
    ],
    ids=["benzecri", "greenacre", "joint"],
)
def test_independent_variables_have_no_adjusted_axes(options, said):
    grid = np.array([[a, b] for a in "xyz" for b in "pqr"], dtype=object)
    found = warned(said, MCA(2, **options).fit, grid)
    assert not found.eigenvalues_.any()
    assert not found.explained_variance_ratio_.any()
    assert not found.transform(grid).any()


def test_columns_that_are_missing_or_copies(X):
    holed = X.copy()
    holed[:, 2] = None
    for missing in ("passive", "level"):
        found = warned("x2", MCA(2, missing=missing).fit, holed)
        like(found.row_coordinates_, MCA(2).fit(X[:, [0, 1, 3]]).row_coordinates_)
    found = MCA(None).fit(X[:, [0, 0, 0]])
    np.testing.assert_allclose(found.eigenvalues_, [1, 1])
    adjusted = MCA(None, correction="greenacre").fit(X[:, [0, 0, 0]])
    np.testing.assert_allclose(adjusted.eigenvalues_, [1, 1])
    np.testing.assert_allclose(adjusted.explained_variance_ratio_, [0.5, 0.5])
    joint = MCA(2, table="joint").fit(X[:, [0, 0, 0]])
    np.testing.assert_allclose(joint.explained_variance_ratio_.sum(), 1)


@pytest.mark.parametrize("factor", [2.0**-3, 2.0**44])
def test_weights_of_any_size_are_the_same_table(X, factor):
    weighted = MCA(2).fit(X, sample_weight=np.full(len(X), factor))
    agree(weighted.row_coordinates_, MCA(2).fit(X).row_coordinates_, 1e-9)


def test_small_budgets_and_levels_of_one_name(X):
    refuses("no path fits", MCA(memory="1kB").fit, X, kind=MemoryError)
    assert mercer.plan(MCA(2), X).chosen.name == MCA(2).fit(X).plan_.chosen.name
    frame = pd.DataFrame({"a": ["b=c", "d", "d"], "a=b": ["c", "e", "c"]})
    refuses("2 levels are called so", MCA(exclude=["a=b=c"]).fit, frame)


def test_levels_that_only_some_rows_have():
    """Rows without weight have no levels; a level that is whole but for gaps counts."""
    X = [["a", "u", "s"], ["b", "u", "s"], ["a", "v", "s"], ["c", "w", "s"]]
    found = warned("x2", MCA(None, exclude=["x1=w"]).fit, X)
    assert found.column_names_ == ["x0=a", "x0=b", "x0=c", "x1=u", "x1=v"]
    np.testing.assert_allclose(found.column_masses_, np.array([0.5, 0.25, 0.25, 0.5, 0.25]) / 2)
    assert found.n_components_ == 3  # x1 lacks a level and keeps both, but there are 4 rows
    found = warned("x2", MCA(None).fit, X, sample_weight=[1.0, 1, 2, 0])
    assert found.column_names_ == ["x0=a", "x0=b", "x1=u", "x1=v"]
    np.testing.assert_allclose(found.column_masses_, np.array([0.75, 0.25, 0.5, 0.5]) / 2)
    assert found.n_components_ == 2
    found = MCA(None, missing="passive").fit([["a", "u"], [None, "v"], ["a", "u"]])
    assert found.column_names_ == ["x0=a", "x1=u", "x1=v"]


def test_what_is_held_of_rows_and_of_those_of_no_weight(X, rng):
    w = np.ones(len(X))
    w[7] = 0
    found = MCA(2).fit(X, sample_weight=w)
    assert not found.row_contributions_[7].any()
    assert found.row_inertias_[7] == 0
    assert 0 < found.row_cos2_[7].sum() <= 1
    found = MCA(2).fit(tables(rng, 500))
    held = [n for n, v in vars(found).items() if isinstance(v, np.ndarray) and len(v) == 500]
    assert sorted(held) == ["_distances", "row_coordinates_", "row_masses_"]


def test_values_of_another_type_are_other_values():
    found = MCA(1).fit([["a", 1], ["b", 2], ["a", 2]])
    assert found.column_names_ == ["x0=a", "x0=b", "x1=1", "x1=2"]
    for new, words in (
        ([["a", "1"]], r"'1' at row 0, column 1[\s\S]*of the same type"),
        ([["a", 1.0], ["b", 3]], r"3 at row 1, column 1 \('x1'\); known are 1, 2"),
        ([["a", None]], "missing"),
    ):
        refuses(words, found.transform, new)
    np.testing.assert_array_equal(found.transform([["a", 1.0]]), found.row_coordinates_[:1])
    level = MCA(1, missing="level").fit([["a", 1], ["b", 2], ["a", 2]])
    refuses("'missing' at row 0, column 1", level.transform, [["a", None]])
    names = MCA(1).fit([[1.0, True], [2.5, False], [1.0, False]]).column_names_
    assert names == ["x0=1", "x0=2.5", "x1=False", "x1=True"]


@pytest.fixture(name="pair")
def _pair(rng):
    whole = tables(rng, 200, strength=2.0)
    holed = whole.copy()
    holed[rng.random(whole.shape) < 0.15] = None
    holed[0] = whole[0]
    return whole, holed


def test_soft_cells_are_rows_of_the_indicator(rng, pair):
    _, holed = pair
    weights = rng.random(200) + 0.5
    table = softened(
        coded(holed, missing="fill"), holed, filler_of(holed, 2, None), unseen="raise"
    )
    z = table.indicator().toarray()
    np.testing.assert_allclose(z.sum(axis=1), 4)
    whole = (table.codes >= 0).all(axis=1)
    assert set(np.unique(z[whole])) == {0.0, 1.0}
    np.testing.assert_allclose(table.shares(weights), weights @ z)
    agree(table.burt(weights), z.T @ (weights[:, None] * z), 1e-12)
    agree(table.burt(), z.T @ z, 1e-12)
    kept = rng.random(z.shape[1]) < 0.6
    np.testing.assert_allclose(table.indicator(kept).toarray(), z[:, kept])


def test_filled_axes_are_those_of_mixed_data_and_nearer_than_other_policies(pair):
    _, holed = pair
    found, mixed = MCA(2, missing="fill").fit(holed), mercer.FAMD(2, missing="fill").fit(holed)
    np.testing.assert_allclose(found.eigenvalues_, mixed.eigenvalues_ / 4, rtol=1e-6)
    like(found.row_coordinates_, mixed.row_coordinates_ / 2, 1e-5)
    agree(found.transform(holed), found.row_coordinates_, 1e-12)
    whole, holed = pair
    truth = MCA(1).fit(whole).row_coordinates_[:, 0]

    def close(missing):
        rows = MCA(1, missing=missing).fit(holed).row_coordinates_[:, 0]
        return abs(np.corrcoef(rows, truth)[0, 1])

    assert close("fill") > max(close("passive"), close("level"))


def test_the_numbers_about_points_add_up(pair):
    _, holed = pair
    for options in ({}, {"table": "burt"}, {"correction": "greenacre"}, {"exclude": ["x1=l0"]}):
        found = MCA(None, missing="fill", **options).fit(holed)
        np.testing.assert_allclose(found.column_inertias_.sum(), found.total_inertia_)
        np.testing.assert_allclose(found.column_contributions_.sum(axis=0), 1)
        np.testing.assert_allclose(found.row_contributions_.sum(axis=0), 1)
    plain = MCA(None, missing="fill").fit(holed)
    np.testing.assert_allclose(plain.row_inertias_.sum(), plain.total_inertia_)
    agree(plain.row_cos2_.sum(axis=1), 1, 1e-6)
    np.testing.assert_allclose(plain.explained_variance_ratio_.sum(), 1)


def test_a_table_without_gaps_is_left_alone_and_new_rows_are_filled(pair):
    whole, holed = pair
    found, plain = MCA(2, missing="fill").fit(whole), MCA(2).fit(whole)
    np.testing.assert_array_equal(found.row_coordinates_, plain.row_coordinates_)
    rows = found.transform(holed)
    there = np.array([None not in row.tolist() for row in holed])
    np.testing.assert_allclose(rows[there], plain.row_coordinates_[there])
    passive = MCA(2, missing="passive").fit(whole).transform(holed)
    truth = plain.row_coordinates_
    assert np.sum((rows - truth) ** 2) < np.sum((passive - truth) ** 2)


def test_weights_frames_and_strangers(rng, pair):
    _, holed = pair
    counts = rng.integers(1, 3, 200)
    weighted = MCA(2, missing="fill").fit(holed, sample_weight=counts)
    repeated = MCA(2, missing="fill").fit(np.repeat(holed, counts, axis=0))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-6)
    frame = pd.DataFrame(holed, columns=list("abcd"))
    found = MCA(2, missing="fill").fit(frame)
    assert "_given" not in vars(found)
    _, holed = pair
    found = MCA(2, missing="fill").fit(holed)
    new = holed[:3].copy()
    new[1, 1] = "never"
    refuses("'never' at row 1, column 1", found.transform, new)
