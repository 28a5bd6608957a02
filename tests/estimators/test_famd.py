import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mixed_tables import by_hand, mixed_frame, with_gaps
from tests.claims import agree, refuses, warned
from written_mca import like

import mercer
from mercer import FAMD, MFA, PCA
from mercer.errors import BudgetError, DataWarning, InputError, NotSupportedError
from mercer.estimators.mixed import mfa as _mfa_groups
from mercer.estimators.mixed.mfa import groups_of, likeness
from mercer.operators import Framed


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_of_the_table_written_down(weighted):
    given = mixed_frame()
    w = np.arange(120) % 4 if weighted else None
    model = FAMD(4).fit(given, sample_weight=w)
    u, s, _ = np.linalg.svd(by_hand(given, w), full_matrices=False)
    np.testing.assert_allclose(model.eigenvalues_, s[:4] ** 2, rtol=1e-10)
    there = model.row_masses_ > 0
    rows = u[there, :4] * s[:4] / np.sqrt(model.row_masses_[there])[:, None]
    like(model.row_coordinates_[there], rows)
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
    like(model.transform(X), pca.transform(X) * scale)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0))
    np.testing.assert_allclose(model.scale_, X.std(axis=0))


def test_categories_alone_are_mca_times_the_number_of_variables():
    given = mixed_frame()[["size", "mood", "place"]]
    model = FAMD(4).fit(given)
    mca = mercer.MultipleCorrespondenceAnalysis(4).fit(given)
    np.testing.assert_allclose(model.eigenvalues_, 3 * mca.eigenvalues_, rtol=1e-9)
    like(model.column_coordinates_, mca.column_coordinates_)
    like(model.row_coordinates_, mca.row_coordinates_ * np.sqrt(3))
    agree(model.squared_correlations_, mca.eta2_, 1e-9)
    agree(model.column_cos2_, mca.column_cos2_, 1e-9)


def test_weights_are_repeats():
    given = mixed_frame(60)
    w = np.arange(60) % 3
    model = FAMD(3).fit(given, sample_weight=w)
    again = FAMD(3).fit(given.iloc[np.repeat(np.arange(60), w)])
    np.testing.assert_allclose(model.eigenvalues_, again.eigenvalues_, rtol=1e-10)
    like(model.transform(given), again.transform(given))
    agree(model.v_tests_, again.v_tests_ * 1.0, 1e-9)


def test_transform_of_training_rows_is_exact_in_every_kind_of_frame():
    given = mixed_frame()
    model = FAMD(3).fit(given)
    for kind in (lambda f: f, pl.from_pandas, pa.Table.from_pandas):
        np.testing.assert_array_equal(model.transform(kind(given)), model.row_coordinates_)
        np.testing.assert_allclose(FAMD(3).fit(kind(given)).eigenvalues_, model.eigenvalues_)
    one = FAMD(3).fit(given.to_numpy(dtype=object))
    np.testing.assert_allclose(one.eigenvalues_, model.eigenvalues_)
    few = model.transform(given.iloc[[7, 3]])
    agree(few, model.row_coordinates_[[7, 3]], 1e-12)


def test_neither_order_nor_the_way_to_write_two_levels_matters(rng):
    given = mixed_frame()
    number = given.assign(mood=(given["mood"] == "sad").astype(float))
    one, other = FAMD(3).fit(given), FAMD(3).fit(number)
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-10)
    like(one.row_coordinates_, other.row_coordinates_)
    given = mixed_frame()
    model = FAMD(2).fit(given)
    order = rng.permutation(120)
    other = FAMD(2).fit(given.iloc[order][list(given.columns[::-1])])
    like(other.row_coordinates_, model.row_coordinates_[order])
    agree(other.squared_correlations_, model.squared_correlations_[::-1], 1e-10)


def test_unseen_categories_by_policy():
    given = mixed_frame()
    new = given.iloc[:3].assign(mood=["glad", "never", "sad"])
    refuses(r"'never' at row 1, column 5 \('mood'\)", FAMD().fit(given).transform, new)
    model = FAMD(unseen="passive").fit(given)
    found = model.transform(new)
    at = model.column_names_.index(f"mood={given['mood'].iloc[1]}")
    without = model.row_coordinates_[1] - model.column_standard_[at]
    agree(found[1], without, 1e-12)


def test_hard_columns():
    given = mixed_frame()
    warned("'flat'", FAMD().fit, given.assign(flat=3.0))
    filtered = given.assign(
        size=pd.Categorical(given["size"], categories=["l", "m", "s", "xl"])
    )
    model = warned("size=xl", FAMD().fit, filtered)
    np.testing.assert_allclose(model.eigenvalues_, FAMD().fit(given).eigenvalues_)
    # A level that only a row without weight has: it stands at the centre.
    odd = given.assign(place=np.where(np.arange(120) == 5, "moon", given["place"]))
    w = (np.arange(120) != 5) * 1.0
    model = FAMD().fit(odd, sample_weight=w)
    assert np.isfinite(model.row_coordinates_).all()
    np.testing.assert_allclose(
        model.eigenvalues_, FAMD().fit(odd.drop(index=5)).eigenvalues_, rtol=1e-10
    )


def test_ids_huge_numbers_and_little_memory():
    with pytest.warns(DataWarning, match=r"120 rows; 'id' \(120 levels\)"):
        FAMD().fit(mixed_frame().assign(id=[f"row {i}" for i in range(120)]))
    given = mixed_frame().assign(a=mixed_frame()["a"] * 5e306)
    expected = FAMD().fit(mixed_frame()).eigenvalues_
    np.testing.assert_allclose(FAMD().fit(given).eigenvalues_, expected, rtol=1e-9)
    refuses("120 x 14", FAMD(memory="4kB").fit, mixed_frame(), kind=BudgetError)


def test_more_axes_than_there_are_and_columns_that_do_not_vary():
    given = pd.DataFrame({"x": [1.0, 2, 4], "u": ["a", "b", "b"]})
    model = FAMD(10).fit(given)
    assert model.n_components_ == 2
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1)
    assert FAMD().fit(given[["x"]]).n_components_ == 1
    refuses("truth value", FAMD(True).fit, given)
    refuses("one row", FAMD().fit, given.iloc[:1])
    given = pd.DataFrame({"x": [1.0, 2, 4], "flat": [0.1] * 3, "one": ["a"] * 3})
    model = warned("2 of 3 columns: 'flat', 'one'", FAMD(2).fit, given)
    assert model.n_components_ == 1
    assert not model.column_coordinates_[1:].any()
    refuses("no variance", FAMD().fit, given[["flat", "one"]])


def test_bad_cells_are_named():
    given = mixed_frame()
    given.loc[4, "b"] = np.inf
    refuses(r"infinity at row 4, column 1 \('b'\)", FAMD().fit, given)
    given.loc[4, "b"] = np.nan
    given.loc[7, "mood"] = None
    with pytest.raises(
        InputError, match=r"2 of 840 cells.*\n.*'b' 1, 'mood' 1; .*row 4, column 1 \('b'\)"
    ):
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


def test_filling_without_gaps_and_what_it_cannot_do():
    given = mixed_frame()
    plain, model = FAMD(2).fit(given), FAMD(2, missing="fill").fit(given)
    agree(model.row_coordinates_, plain.row_coordinates_, 1e-12)
    assert model.impute(given) is given
    assert model.n_missing_ == 0
    holed, _ = with_gaps(given)
    assert np.isfinite(model.transform(holed)).all()
    assert not hasattr(plain, "impute")
    given = mixed_frame(30)
    given.iloc[7] = None
    refuses("row 7 of 30", FAMD(missing="fill").fit, given)
    refuses("'a'", FAMD(missing="fill").fit, mixed_frame(30).assign(a=np.nan))
    with pytest.raises(NotSupportedError, match="number of axes"):
        FAMD(None, missing="fill").fit(mixed_frame(30))


def test_large_means_and_huge_numbers_cost_no_digits():
    """Four columns that are one column in other units have one axis, with all its digits."""
    x = np.array([0.0, 1, 2, 5])
    given = pd.DataFrame({"far": x + 1e14, "huge": x * 3e307, "tiny": x * 1e-300, "x": x})
    model = FAMD(1).fit(given)
    np.testing.assert_allclose(model.eigenvalues_, [4], rtol=1e-12)
    wanted = 2 * (x - x.mean()) / x.std()
    found = model.row_coordinates_[:, 0]
    np.testing.assert_allclose(found * np.sign(found[-1]), wanted, rtol=1e-12, atol=1e-14)


GROUPS = {"one": ["a", "b"], "two": ["c", "d", "size"], "three": ["mood", "place"]}


@pytest.fixture(scope="module")
def fitted():
    return MFA(GROUPS, 3).fit(mixed_frame())


def test_groups_are_divided_by_their_first_singular_value(fitted):
    given = mixed_frame()
    parts = []
    for name, columns in GROUPS.items():
        alone = FAMD(None).fit(given[columns])
        at = fitted.groups_.index(name)
        own = fitted.group_eigenvalues_[at]
        np.testing.assert_allclose(own, alone.eigenvalues_[: len(own)])
        parts.append(alone.row_coordinates_ / np.sqrt(alone.eigenvalues_[0]))
    u, s, _ = np.linalg.svd(np.column_stack(parts) / np.sqrt(120), full_matrices=False)
    np.testing.assert_allclose(fitted.eigenvalues_, s[:3] ** 2, rtol=1e-10)
    like(fitted.row_coordinates_, u[:, :3] * s[:3] * np.sqrt(120))
    np.testing.assert_allclose(fitted.total_inertia_, np.sum(s**2), rtol=1e-10)


def test_one_group_is_famd_and_pca_up_to_scale():
    given = mixed_frame()
    one, famd = MFA(n_components=3).fit(given), FAMD(3).fit(given)
    first = famd.eigenvalues_[0]
    np.testing.assert_allclose(one.eigenvalues_ * first, famd.eigenvalues_, rtol=1e-10)
    like(one.row_coordinates_ * np.sqrt(first), famd.row_coordinates_)
    X = given[list("abcd")].to_numpy()
    centred, pca = MFA(n_components=2, standardize=False).fit(X), PCA(2).fit(X)
    variances = pca.explained_variance_
    np.testing.assert_allclose(centred.eigenvalues_, variances / variances[0], rtol=1e-9)


def test_partial_points_average_to_the_point(fitted):
    given = mixed_frame()
    partial = fitted.partial_coordinates(given)
    assert partial.shape == (3, 120, 3)
    agree(partial.mean(axis=0), fitted.transform(given), 1e-12)
    np.testing.assert_array_equal(fitted.transform(given), fitted.row_coordinates_)
    # A group's own cells alone move its partial points.
    other = given.assign(a=given["a"] * 2)
    moved = np.abs(fitted.partial_coordinates(other) - partial).max(axis=(1, 2))
    assert moved[0] > 0.1
    assert (moved[1:] == 0).all()


def test_the_first_axis_counts_groups(fitted):
    assert 1 <= fitted.eigenvalues_[0] <= 3
    same = mixed_frame()[["a", "b"]]
    twice = pd.concat([same, same.set_axis(["c", "d"], axis=1) * [2, -3]], axis=1)
    model = MFA({"one": ["a", "b"], "two": ["c", "d"]}, 2).fit(twice)
    np.testing.assert_allclose(model.eigenvalues_[0], 2, rtol=1e-10)
    np.testing.assert_allclose(model.rv_, 1, rtol=1e-9)
    rng = np.random.default_rng(0)
    q, _ = np.linalg.qr(rng.normal(size=(50, 4)) - 0.0)
    q -= q.mean(axis=0)
    apart, _ = np.linalg.qr(q)
    model = MFA([[0, 1], [2, 3]], 2).fit(apart - apart.mean(axis=0))
    np.testing.assert_allclose(model.eigenvalues_[0], 1, rtol=1e-9)
    agree(model.rv_, np.eye(2), 1e-9)


@pytest.mark.parametrize("standardize", [True, False])
def test_a_group_times_a_thousand_changes_nothing(standardize):
    given = mixed_frame()
    groups = {"one": ["a", "b"], "two": ["c", "d"], "three": ["size", "mood", "place"]}
    large = given.assign(c=given["c"] * 1e3, d=given["d"] * 1e3)
    one = MFA(groups, 3, standardize=standardize).fit(given)
    other = MFA(groups, 3, standardize=standardize).fit(large)
    agree(one.row_coordinates_, other.row_coordinates_, 1e-8)
    agree(one.rv_, other.rv_, 1e-9)


def test_numbers_of_any_size_are_only_centred():
    given = mixed_frame()[["a", "b"]].to_numpy()
    one = MFA([[0, 1]], 2, standardize=False).fit(given)
    for scale in (1e200, 1e-200):
        other = MFA([[0, 1]], 2, standardize=False).fit(given * scale)
        np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-9)


def test_links_of_groups_with_axes(fitted):
    assert fitted.group_coordinates_.min() >= 0
    assert fitted.group_coordinates_.max() <= 1 + 1e-12
    np.testing.assert_allclose(fitted.group_coordinates_.sum(axis=0), fitted.eigenvalues_)
    np.testing.assert_allclose(fitted.group_contributions_.sum(axis=0), 1)
    given = mixed_frame()
    # Two categories alone have an eigenvalue that repeats: its axes are not determined.
    for at, columns in enumerate(list(GROUPS.values())[:2]):
        alone = FAMD(3).fit(given[columns]).row_coordinates_
        k = alone.shape[1]
        expected = np.corrcoef(np.hstack([alone, fitted.row_coordinates_]).T)[:k, k:]
        signs = np.sign(np.sum(fitted.axis_correlations_[at, :k] * expected, axis=1))
        found = fitted.axis_correlations_[at, :k] * signs[:, None]
        agree(found, expected, 1e-8)
        assert (fitted.axis_correlations_[at, k:] == 0).all()


def test_unseen_and_missing_cells_by_policy():
    given = mixed_frame()
    new = given.iloc[:2].assign(mood=["glad", "never"])
    refuses("'never' at row 1", MFA(GROUPS).fit(given).transform, new)
    assert np.isfinite(MFA(GROUPS, unseen="passive").fit(given).transform(new)).all()
    refuses("impute", MFA(GROUPS).fit, given.assign(a=[np.nan] + [1.0, 2.0] * 59 + [1.0]))


NAMES = ["a", "b", "c"]


def plain(matrix):
    m, n = matrix.shape
    return Framed(
        matrix, left=np.ones(m), right=np.ones(n), level=np.zeros(m), profile=np.zeros(n)
    )


def test_every_column_is_in_one_group():
    assert groups_of(None, NAMES).owner.tolist() == [0, 0, 0]
    found = groups_of({"x": ["c", 0], "y": "b"}, NAMES)
    assert found.names == ("x", "y")
    assert found.owner.tolist() == [0, 1, 0]
    assert groups_of([[0], [1, 2]], NAMES).names == ("group0", "group1")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"x": ["a", "b"]}, "'c' in none"),
        ({"x": ["a", "b"], "y": ["b", "c"]}, r"column 1 \('b'\) in 'x' and 'y'"),
        ({"x": NAMES, "y": []}, "'y' with no column"),
        ({"x": ["a", "b", "d"]}, "'d'"),
        ([[0, 1, 7]], "7"),
    ],
)
def test_groups_that_cannot_be(wanted, said):
    refuses(said, groups_of, wanted, NAMES)


@pytest.mark.parametrize("shape", [(40, 9), (7, 20)])
def test_what_groups_share_is_the_product_of_their_row_matrices(rng, monkeypatch, shape):
    a = rng.normal(size=shape)
    parts = (np.array([0, 2, 4]), np.array([1, 3]), np.arange(5, shape[1]))
    rows = [a[:, own] @ a[:, own].T for own in parts]
    expected = [[np.sum(one * other) for other in rows] for one in rows]
    lg, rv = likeness(plain(a), parts)
    np.testing.assert_allclose(lg, expected, rtol=1e-10)
    np.testing.assert_allclose(np.diagonal(rv), 1)
    assert rv.min() >= 0
    assert rv.max() <= 1
    monkeypatch.setattr(_mfa_groups, "_SMALL", 0)
    monkeypatch.setattr(_mfa_groups, "_BLOCK", 4)
    np.testing.assert_allclose(likeness(plain(a), parts)[0], expected, rtol=1e-10)


def test_a_group_that_does_not_vary_is_refused():
    given = mixed_frame(30)[["a", "b"]].assign(flat=1.0, one="u")
    with (
        pytest.raises(InputError, match="group 'dull'"),
        pytest.warns(DataWarning, match="'flat', 'one'"),
    ):
        MFA({"live": ["a", "b"], "dull": ["flat", "one"]}).fit(given)


def test_a_sparse_table_has_the_same_groups(rng):
    codes = rng.integers(0, 30, size=(200, 4))
    given = pd.DataFrame({f"u{q}": codes[:, q].astype(str) for q in range(4)})
    groups = {"one": ["u0", "u1"], "two": ["u2", "u3"]}
    model = MFA(groups, 2).fit(given)
    assert model.plan_.problem.nnz == 800
    parts = []
    for columns in groups.values():
        z = pd.get_dummies(given[columns]).to_numpy(float)
        y = (z - z.mean(axis=0)) / np.sqrt(z.mean(axis=0)) / np.sqrt(200)
        parts.append(y / np.linalg.svd(y, compute_uv=False)[0])
    s = np.linalg.svd(np.hstack(parts), compute_uv=False)
    np.testing.assert_allclose(model.eigenvalues_, s[:2] ** 2, rtol=1e-6)
    cross = np.sum((parts[0].T @ parts[1]) ** 2)
    np.testing.assert_allclose(model.lg_[0, 1], cross, rtol=1e-6)
