"""Multiple correspondence analysis of tables that hurt: gaps, strangers, names, constants."""

import numpy as np
import pandas as pd
import pytest
from written_mca import analysis, indicator, like, tables

import mercer
from mercer.errors import DataWarning, InputError

MCA = mercer.MultipleCorrespondenceAnalysis


@pytest.fixture(name="X")
def _table(rng):
    return tables(rng)


def test_missing_cells_by_policy(rng, X):
    holed = X.copy()
    holed[rng.random(X.shape) < 0.1] = None
    with pytest.raises(InputError, match=r"by column: 'x0' \d+, 'x1' \d+"):
        MCA().fit(holed)
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
    np.testing.assert_allclose(
        left.row_coordinates_, passive.row_coordinates_, rtol=0, atol=1e-12
    )
    for model in (passive, level):
        np.testing.assert_array_equal(model.transform(holed), model.row_coordinates_)


def test_a_row_without_any_category_is_named(X):
    holed = X.copy()
    holed[5] = None
    with pytest.warns(DataWarning, match="row 5"):
        found = MCA(2, missing="passive").fit(holed)
    assert np.isfinite(found.row_coordinates_).all()
    assert np.abs(found.row_coordinates_[5]).max() < 0.1
    with pytest.warns(DataWarning, match="row 5"):
        found.transform(holed)


def test_unseen_categories_by_policy(X):
    new = X[:3].copy()
    new[1, 2] = "never"
    with pytest.raises(InputError, match=r"'never' at row 1, column 2 \('x2'\)"):
        MCA().fit(X).transform(new)
    found = MCA(unseen="passive").fit(X)
    rows = found.transform(new)
    np.testing.assert_allclose(rows[[0, 2]], found.row_coordinates_[[0, 2]])
    place = [found.column_names_.index(f"x{q}={new[1, q]}") for q in (0, 1, 3)]
    np.testing.assert_allclose(rows[1], found.column_standard_[place].sum(axis=0) / 4)


def test_unused_levels_are_dropped_by_name(X):
    frame = pd.DataFrame(X, columns=list("abcd")).astype("category")
    few = frame[frame["a"] != "l2"]
    with pytest.warns(DataWarning, match="a=l2"):
        found = MCA(2).fit(few)
    assert "a=l2" not in found.column_names_
    plain = MCA(2).fit(few.astype(object))
    np.testing.assert_allclose(found.row_coordinates_, plain.row_coordinates_)


def test_columns_that_do_not_vary_are_named_and_left_out(X):
    wide = np.column_stack([X, np.full(len(X), "same")])
    with pytest.warns(DataWarning, match="x4"):
        found = MCA(2).fit(wide)
    np.testing.assert_allclose(found.row_coordinates_, MCA(2).fit(X).row_coordinates_)
    assert found.variables_ == ["x0", "x1", "x2", "x3"]
    assert found.transform(wide).shape == (len(X), 2)
    with pytest.raises(InputError, match="no variable varies"):
        MCA().fit(np.full((5, 2), "same"))


def test_one_variable_alone(X):
    found = MCA(None).fit(X[:, :1])
    np.testing.assert_allclose(found.eigenvalues_, 1)
    np.testing.assert_allclose(found.eta2_, 1)
    assert found.certificate_.groups == ((0, 1),)
    with pytest.raises(InputError, match="one alone has none"):
        MCA(correction="benzecri").fit(X[:, :1])
    with pytest.warns(DataWarning, match="has 1 axes"):
        assert MCA(2).fit([["a"], ["b"], ["a"]]).n_components_ == 1


def test_names_of_rows_and_measured_numbers_are_pointed_at(rng, X):
    names = np.array([f"id{i}" for i in range(len(X))], dtype=object)
    with pytest.warns(DataWarning, match=r"x4 \(120 levels, 120 rows\)"):
        MCA().fit(np.column_stack([X, names]))
    numbers = pd.DataFrame(X, columns=list("abcd")).assign(e=rng.normal(size=len(X)))
    with pytest.warns(DataWarning, match=r"e \(120 levels\)[\s\S]*FAMD"):
        MCA().fit(numbers)


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
    with pytest.warns(DataWarning, match=said):
        found = MCA(2, **options).fit(grid)
    assert not found.eigenvalues_.any()
    assert not found.explained_variance_ratio_.any()
    assert not found.transform(grid).any()


def test_a_column_that_is_missing_altogether_is_left_out(X):
    holed = X.copy()
    holed[:, 2] = None
    for missing in ("passive", "level"):
        with pytest.warns(DataWarning, match="x2"):
            found = MCA(2, missing=missing).fit(holed)
        like(found.row_coordinates_, MCA(2).fit(X[:, [0, 1, 3]]).row_coordinates_)


def test_copies_of_one_variable_are_one_variable(X):
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
    np.testing.assert_allclose(
        weighted.row_coordinates_, MCA(2).fit(X).row_coordinates_, rtol=0, atol=1e-9
    )


def test_a_budget_that_is_too_small_is_refused_before(X):
    with pytest.raises(MemoryError, match="no path fits"):
        MCA(memory="1kB").fit(X)
    assert mercer.plan(MCA(2), X).chosen.name == MCA(2).fit(X).plan_.chosen.name


def test_a_level_with_the_name_of_another_is_not_excluded_by_guess():
    frame = pd.DataFrame({"a": ["b=c", "d", "d"], "a=b": ["c", "e", "c"]})
    with pytest.raises(InputError, match="2 levels are called so"):
        MCA(exclude=["a=b=c"]).fit(frame)


def test_levels_that_only_some_rows_have():
    """Rows without weight have no levels; a level that is whole but for gaps counts."""
    X = [["a", "u", "s"], ["b", "u", "s"], ["a", "v", "s"], ["c", "w", "s"]]
    with pytest.warns(DataWarning, match="x2"):
        found = MCA(None, exclude=["x1=w"]).fit(X)
    assert found.column_names_ == ["x0=a", "x0=b", "x0=c", "x1=u", "x1=v"]
    np.testing.assert_allclose(found.column_masses_, np.array([0.5, 0.25, 0.25, 0.5, 0.25]) / 2)
    assert found.n_components_ == 3  # x1 lacks a level and keeps both, but there are 4 rows
    with pytest.warns(DataWarning, match="x2"):
        found = MCA(None).fit(X, sample_weight=[1.0, 1, 2, 0])
    assert found.column_names_ == ["x0=a", "x0=b", "x1=u", "x1=v"]
    np.testing.assert_allclose(found.column_masses_, np.array([0.75, 0.25, 0.5, 0.5]) / 2)
    assert found.n_components_ == 2
    found = MCA(None, missing="passive").fit([["a", "u"], [None, "v"], ["a", "u"]])
    assert found.column_names_ == ["x0=a", "x1=u", "x1=v"]


def test_rows_of_no_weight_have_a_place_and_no_contribution(X):
    w = np.ones(len(X))
    w[7] = 0
    found = MCA(2).fit(X, sample_weight=w)
    assert not found.row_contributions_[7].any()
    assert found.row_inertias_[7] == 0
    assert 0 < found.row_cos2_[7].sum() <= 1


def test_what_is_held_of_rows_is_three_arrays(rng):
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
        with pytest.raises(InputError, match=words):
            found.transform(new)
    np.testing.assert_array_equal(found.transform([["a", 1.0]]), found.row_coordinates_[:1])
    level = MCA(1, missing="level").fit([["a", 1], ["b", 2], ["a", 2]])
    with pytest.raises(InputError, match="'missing' at row 0, column 1"):
        level.transform([["a", None]])
    names = MCA(1).fit([[1.0, True], [2.5, False], [1.0, False]]).column_names_
    assert names == ["x0=1", "x0=2.5", "x1=False", "x1=True"]
