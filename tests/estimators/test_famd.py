import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mixed_tables import by_hand, mixed_frame, with_gaps

import mercer
from mercer import FAMD, PCA
from mercer.errors import BudgetError, DataWarning, InputError, NotSupportedError


def same_axes(found, expected, atol=1e-9):
    """Compare coordinates (n, k), each axis up to its sign."""
    signs = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found * signs, expected, rtol=0, atol=atol)


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_of_the_table_written_down(weighted):
    given = mixed_frame()
    w = np.arange(120) % 4 if weighted else None
    model = FAMD(4).fit(given, sample_weight=w)
    u, s, _ = np.linalg.svd(by_hand(given, w), full_matrices=False)
    np.testing.assert_allclose(model.eigenvalues_, s[:4] ** 2, rtol=1e-10)
    there = model.row_masses_ > 0
    rows = u[there, :4] * s[:4] / np.sqrt(model.row_masses_[there])[:, None]
    same_axes(model.row_coordinates_[there], rows)
    np.testing.assert_allclose(model.total_inertia_, 4 + 2 + 1 + 4, rtol=1e-12)
    np.testing.assert_allclose(
        model.explained_variance_ratio_, model.eigenvalues_ / model.total_inertia_
    )
    assert np.all(model.certificate_.lower <= s[:4] ** 2 * (1 + 1e-13))


def test_numbers_alone_are_pca_of_the_correlations():
    X = mixed_frame()[list("abcd")].to_numpy()
    model, pca = FAMD(3).fit(X), PCA(3, standardize=True).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, pca.explained_variance_, rtol=1e-10)
    scale = np.sqrt(120 / 119)  # PCA divides by the n - 1 deviation
    same_axes(model.transform(X), pca.transform(X) * scale)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0))
    np.testing.assert_allclose(model.scale_, X.std(axis=0))


def test_categories_alone_are_mca_times_the_number_of_variables():
    given = mixed_frame()[["size", "mood", "place"]]
    model = FAMD(4).fit(given)
    mca = mercer.MultipleCorrespondenceAnalysis(4).fit(given)
    np.testing.assert_allclose(model.eigenvalues_, 3 * mca.eigenvalues_, rtol=1e-9)
    same_axes(model.column_coordinates_, mca.column_coordinates_)
    same_axes(model.row_coordinates_, mca.row_coordinates_ * np.sqrt(3))
    np.testing.assert_allclose(model.squared_correlations_, mca.eta2_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.column_cos2_, mca.column_cos2_, rtol=0, atol=1e-9)


def test_weights_are_repeats():
    given = mixed_frame(60)
    w = np.arange(60) % 3
    model = FAMD(3).fit(given, sample_weight=w)
    again = FAMD(3).fit(given.iloc[np.repeat(np.arange(60), w)])
    np.testing.assert_allclose(model.eigenvalues_, again.eigenvalues_, rtol=1e-10)
    same_axes(model.transform(given), again.transform(given))
    np.testing.assert_allclose(model.v_tests_, again.v_tests_ * 1.0, rtol=0, atol=1e-9)


def test_transform_of_training_rows_is_exact_in_every_kind_of_frame():
    given = mixed_frame()
    model = FAMD(3).fit(given)
    for kind in (lambda f: f, pl.from_pandas, pa.Table.from_pandas):
        np.testing.assert_array_equal(model.transform(kind(given)), model.row_coordinates_)
        np.testing.assert_allclose(FAMD(3).fit(kind(given)).eigenvalues_, model.eigenvalues_)
    one = FAMD(3).fit(given.to_numpy(dtype=object))
    np.testing.assert_allclose(one.eigenvalues_, model.eigenvalues_)
    few = model.transform(given.iloc[[7, 3]])
    np.testing.assert_allclose(few, model.row_coordinates_[[7, 3]], rtol=0, atol=1e-12)
    assert list(model.set_output(transform="pandas").transform(given).columns) == [
        "famd0",
        "famd1",
        "famd2",
    ]


def test_a_two_level_category_weighs_as_the_number_of_its_indicator():
    given = mixed_frame()
    number = given.assign(mood=(given["mood"] == "sad").astype(float))
    one, other = FAMD(3).fit(given), FAMD(3).fit(number)
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-10)
    same_axes(one.row_coordinates_, other.row_coordinates_)


def test_the_order_of_rows_and_columns_changes_nothing(rng):
    given = mixed_frame()
    model = FAMD(2).fit(given)
    order = rng.permutation(120)
    other = FAMD(2).fit(given.iloc[order][list(given.columns[::-1])])
    same_axes(other.row_coordinates_, model.row_coordinates_[order])
    np.testing.assert_allclose(
        other.squared_correlations_, model.squared_correlations_[::-1], rtol=0, atol=1e-10
    )


def test_unseen_categories_by_policy():
    given = mixed_frame()
    new = given.iloc[:3].assign(mood=["glad", "never", "sad"])
    with pytest.raises(InputError, match=r"'never' at row 1, column"):
        FAMD().fit(given).transform(new)
    model = FAMD(unseen="passive").fit(given)
    found = model.transform(new)
    at = model.column_names_.index(f"mood={given['mood'].iloc[1]}")
    without = model.row_coordinates_[1] - model.column_standard_[at]
    np.testing.assert_allclose(found[1], without, rtol=0, atol=1e-12)


def test_hard_columns():
    given = mixed_frame()
    with pytest.warns(DataWarning, match="'flat'"):
        FAMD().fit(given.assign(flat=3.0))
    filtered = given.assign(
        size=pd.Categorical(given["size"], categories=["l", "m", "s", "xl"])
    )
    with pytest.warns(DataWarning, match="size=xl"):
        model = FAMD().fit(filtered)
    np.testing.assert_allclose(model.eigenvalues_, FAMD().fit(given).eigenvalues_)
    # A level that only a row without weight has: it stands at the centre.
    odd = given.assign(place=np.where(np.arange(120) == 5, "moon", given["place"]))
    w = (np.arange(120) != 5) * 1.0
    model = FAMD().fit(odd, sample_weight=w)
    assert np.isfinite(model.row_coordinates_).all()
    np.testing.assert_allclose(
        model.eigenvalues_, FAMD().fit(odd.drop(index=5)).eigenvalues_, rtol=1e-10
    )


def test_ids_are_named_as_such():
    with pytest.warns(DataWarning, match=r"120 rows; 'id' \(120 levels\)"):
        FAMD().fit(mixed_frame().assign(id=[f"row {i}" for i in range(120)]))


def test_huge_numbers_are_no_infinity():
    given = mixed_frame().assign(a=mixed_frame()["a"] * 5e306)
    expected = FAMD().fit(mixed_frame()).eigenvalues_
    np.testing.assert_allclose(FAMD().fit(given).eigenvalues_, expected, rtol=1e-9)


def test_a_table_that_does_not_fit_is_refused_before_it_is_made():
    with pytest.raises(BudgetError, match="120 rows, 14 columns"):
        FAMD(memory="4kB").fit(mixed_frame())


def test_more_axes_than_there_are():
    given = pd.DataFrame({"x": [1.0, 2, 4], "u": ["a", "b", "b"]})
    model = FAMD(10).fit(given)
    assert model.n_components_ == 2
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1)
    assert FAMD().fit(given[["x"]]).n_components_ == 1
    with pytest.raises(InputError, match="truth value"):
        FAMD(True).fit(given)
    with pytest.raises(InputError, match="one row"):
        FAMD().fit(given.iloc[:1])


def test_bad_cells_are_named():
    given = mixed_frame()
    given.loc[4, "b"] = np.inf
    with pytest.raises(InputError, match=r"infinity at row 4, column 1 \('b'\)"):
        FAMD().fit(given)
    given.loc[4, "b"] = np.nan
    with pytest.raises(InputError, match=r"row 4, column 1 \('b'\)"):
        FAMD().fit(given)


def test_wide_tables_and_many_levels(rng):
    """More columns than rows, and a sparse table by an iteration."""
    X = rng.normal(size=(12, 40))
    s = np.linalg.svd((X - X.mean(0)) / X.std(0) / np.sqrt(12), compute_uv=False)
    np.testing.assert_allclose(FAMD(3).fit(X).eigenvalues_, s[:3] ** 2, rtol=1e-9)
    codes = rng.integers(0, 40, size=(300, 3))
    given = pd.DataFrame({"x": codes[:, 0] + rng.normal(size=300)})
    for q in range(3):
        given[f"u{q}"] = codes[:, q].astype(str)
    model = FAMD(2).fit(given)
    expected = np.linalg.svd(by_hand(given), compute_uv=False)
    np.testing.assert_allclose(model.eigenvalues_, expected[:2] ** 2, rtol=1e-6)
    assert model.plan_.problem.nnz == 300 * 4


def test_filling_places_rows_where_the_complete_table_has_them():
    given = mixed_frame(400, noise=0.3).drop(columns="place")
    holed, holes = with_gaps(given)
    whole, model = FAMD(2).fit(given), FAMD(2, missing="fill").fit(holed)
    np.testing.assert_array_equal(model.transform(holed), model.row_coordinates_)
    np.testing.assert_array_equal(model.missing_counts_, holes.sum(axis=0))
    assert model.n_missing_ == holes.sum()
    close = [np.corrcoef(a, b)[0, 1] for a, b in zip(*_coordinates(whole, model), strict=True)]
    assert np.abs(close).min() > 0.96
    # Coordinates are those of the completed table, up to what the last step moved.
    variance = model.row_masses_ @ model.row_coordinates_**2
    np.testing.assert_allclose(variance, model.eigenvalues_, rtol=1e-5)
    np.testing.assert_allclose(model.row_inertias_.sum(), model.total_inertia_, rtol=1e-5)


def _coordinates(*models):
    return [model.row_coordinates_.T for model in models]


def test_filling_without_gaps_is_the_plain_fit():
    given = mixed_frame()
    plain, model = FAMD(2).fit(given), FAMD(2, missing="fill").fit(given)
    np.testing.assert_allclose(
        model.row_coordinates_, plain.row_coordinates_, rtol=0, atol=1e-12
    )
    assert model.impute(given) is given
    assert model.n_missing_ == 0
    holed, _ = with_gaps(given)
    assert np.isfinite(model.transform(holed)).all()
    assert not hasattr(plain, "impute")


def test_filling_refuses_what_it_cannot_do():
    given = mixed_frame(30)
    given.iloc[7] = None
    with pytest.raises(InputError, match="row 7 of 30"):
        FAMD(missing="fill").fit(given)
    with pytest.raises(InputError, match="'a'"):
        FAMD(missing="fill").fit(mixed_frame(30).assign(a=np.nan))
    with pytest.raises(NotSupportedError, match="number of axes"):
        FAMD(None, missing="fill").fit(mixed_frame(30))


def test_an_unseen_category_is_named_by_its_place_in_the_table():
    given = pd.DataFrame({"a": [1.0, 2, 4, 3], "b": [0.0, 1, 1, 5], "c": ["u", "v", "u", "v"]})
    model = FAMD(1).fit(given)
    with pytest.raises(InputError, match=r"'w' at row 2, column 2 \('c'\)"):
        model.transform(given.assign(c=["u", "v", "w", "v"]))


def test_large_means_and_huge_numbers_cost_no_digits():
    """Four columns that are one column in other units have one axis, with all its digits."""
    x = np.array([0.0, 1, 2, 5])
    given = pd.DataFrame({"far": x + 1e14, "huge": x * 3e307, "tiny": x * 1e-300, "x": x})
    model = FAMD(1).fit(given)
    np.testing.assert_allclose(model.eigenvalues_, [4], rtol=1e-12)
    wanted = 2 * (x - x.mean()) / x.std()
    found = model.row_coordinates_[:, 0]
    np.testing.assert_allclose(found * np.sign(found[-1]), wanted, rtol=1e-12, atol=1e-14)


def test_what_does_not_vary_is_named_and_stands_at_zero():
    given = pd.DataFrame({"x": [1.0, 2, 4], "flat": [0.1] * 3, "one": ["a"] * 3})
    with pytest.warns(DataWarning, match="2 of 3 columns: 'flat', 'one'"):
        model = FAMD(2).fit(given)
    assert model.n_components_ == 1
    assert not model.column_coordinates_[1:].any()
    with pytest.raises(InputError, match="no variance"):
        FAMD().fit(given[["flat", "one"]])


def test_missing_cells_are_counted_by_column():
    given = mixed_frame(12)[["a", "mood"]].copy()
    given.loc[2, "a"], given.loc[1, "mood"] = np.nan, None
    with pytest.raises(
        InputError, match=r"2 of 24 cells.*\n.*'a' 1, 'mood' 1; .*row 1, column 1"
    ):
        FAMD().fit(given)
