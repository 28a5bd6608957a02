"""Multiple factor analysis: groups that weigh alike, and groups that cannot be."""

import numpy as np
import pandas as pd
import pytest
from mixed_tables import mixed_frame

from mercer import FAMD, MFA, PCA
from mercer.errors import DataWarning, InputError
from mercer.estimators.mixed import mfa as _mfa_groups
from mercer.estimators.mixed.mfa import groups_of, likeness
from mercer.operators import Framed

GROUPS = {"one": ["a", "b"], "two": ["c", "d", "size"], "three": ["mood", "place"]}


@pytest.fixture(scope="module")
def fitted():
    return MFA(GROUPS, 3).fit(mixed_frame())


def same_axes(found, expected, atol=1e-8):
    signs = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found * signs, expected, rtol=0, atol=atol)


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
    same_axes(fitted.row_coordinates_, u[:, :3] * s[:3] * np.sqrt(120))
    np.testing.assert_allclose(fitted.total_inertia_, np.sum(s**2), rtol=1e-10)


def test_one_group_is_famd_and_pca_up_to_scale():
    given = mixed_frame()
    one, famd = MFA(n_components=3).fit(given), FAMD(3).fit(given)
    first = famd.eigenvalues_[0]
    np.testing.assert_allclose(one.eigenvalues_ * first, famd.eigenvalues_, rtol=1e-10)
    same_axes(one.row_coordinates_ * np.sqrt(first), famd.row_coordinates_)
    X = given[list("abcd")].to_numpy()
    centred, pca = MFA(n_components=2, standardize=False).fit(X), PCA(2).fit(X)
    variances = pca.explained_variance_
    np.testing.assert_allclose(centred.eigenvalues_, variances / variances[0], rtol=1e-9)


def test_partial_points_average_to_the_point(fitted):
    given = mixed_frame()
    partial = fitted.partial_coordinates(given)
    assert partial.shape == (3, 120, 3)
    np.testing.assert_allclose(
        partial.mean(axis=0), fitted.transform(given), rtol=0, atol=1e-12
    )
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
    np.testing.assert_allclose(model.rv_, np.eye(2), rtol=0, atol=1e-9)


@pytest.mark.parametrize("standardize", [True, False])
def test_a_group_times_a_thousand_changes_nothing(standardize):
    given = mixed_frame()
    groups = {"one": ["a", "b"], "two": ["c", "d"], "three": ["size", "mood", "place"]}
    large = given.assign(c=given["c"] * 1e3, d=given["d"] * 1e3)
    one = MFA(groups, 3, standardize=standardize).fit(given)
    other = MFA(groups, 3, standardize=standardize).fit(large)
    np.testing.assert_allclose(one.row_coordinates_, other.row_coordinates_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(one.rv_, other.rv_, rtol=0, atol=1e-9)


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
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
        assert (fitted.axis_correlations_[at, k:] == 0).all()


def test_unseen_and_missing_cells_by_policy():
    given = mixed_frame()
    new = given.iloc[:2].assign(mood=["glad", "never"])
    with pytest.raises(InputError, match="'never' at row 1"):
        MFA(GROUPS).fit(given).transform(new)
    assert np.isfinite(MFA(GROUPS, unseen="passive").fit(given).transform(new)).all()
    with pytest.raises(InputError, match="impute"):
        MFA(GROUPS).fit(given.assign(a=[np.nan] + [1.0, 2.0] * 59 + [1.0]))


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
    with pytest.raises(InputError, match=said):
        groups_of(wanted, NAMES)


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
