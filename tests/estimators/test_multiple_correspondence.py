"""Multiple correspondence analysis against its definition, its identities and bad tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_mca import analysis, indicator, like, tables

import mercer
from mercer.errors import DataWarning, InputError
from mercer.operators import Framed

MCA = mercer.MultipleCorrespondenceAnalysis


@pytest.fixture(name="X")
def _table(rng):
    return tables(rng)


class ByPath(MCA):
    path = "gram"

    def _allowed(self):
        return (type(self).path,)


@pytest.mark.parametrize("path", ["svd", "gram", "krylov"])
def test_every_path_is_the_written_down_analysis(rng, path):
    X = tables(rng, 300, (10, 12, 9, 8))
    kind = type("Forced", (ByPath,), {"path": path})
    found = kind(3, tol=1e-9).fit(X)
    assert found.plan_.chosen.name == path
    Z, _, names = indicator(X)
    values, standard, rows, c = analysis(Z, 4)
    np.testing.assert_allclose(found.eigenvalues_, values[:3], rtol=1e-9)
    assert found.total_inertia_ == pytest.approx((Z.shape[1] - 4) / 4)
    assert found.column_names_ == names
    np.testing.assert_allclose(found.column_masses_, c)
    like(found.column_standard_, standard[:, :3], 1e-7)
    like(found.column_coordinates_, standard[:, :3] * np.sqrt(values[:3]), 1e-7)
    like(found.row_coordinates_, rows[:, :3], 1e-7)
    lower, upper = found.certificate_.lower, found.certificate_.upper
    assert np.all((lower <= values[:3]) & (values[:3] <= upper))


def test_more_levels_than_rows(rng):
    X = tables(rng, 30, (14, 14, 14))
    found = MCA(2).fit(X)
    values, _, rows, _ = analysis(indicator(X)[0], 3)
    np.testing.assert_allclose(found.eigenvalues_, values[:2], rtol=1e-10)
    like(found.row_coordinates_, rows[:, :2], 1e-8)


def test_two_variables_are_the_correspondence_analysis_of_their_table(rng):
    X = tables(rng, 200, (4, 5), 2.0)
    found = MCA(None).fit(X)
    counts = np.zeros((4, 5))
    np.add.at(counts, tuple(np.array([[int(c[1]) for c in row] for row in X]).T), 1)
    P = counts / counts.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    s = np.linalg.svd((P - np.outer(r, c)) / np.sqrt(np.outer(r, c)), compute_uv=False)[:3]
    both = np.sort(np.concatenate([(1 + s) / 2, (1 - s) / 2, [0.5]]))[::-1]
    np.testing.assert_allclose(found.eigenvalues_, both, rtol=0, atol=1e-12)
    adjusted = MCA(3, table="adjusted").fit(X)
    np.testing.assert_allclose(adjusted.eigenvalues_, s**2, rtol=0, atol=1e-12)
    assert adjusted.total_inertia_ == pytest.approx(np.sum(s**2))


def test_the_numbers_about_points_are_what_they_say(X):
    found = MCA(None).fit(X)
    Z, owner, _ = indicator(X)
    n, q = X.shape
    k = found.n_components_
    assert k == Z.shape[1] - q
    np.testing.assert_allclose(found.explained_variance_ratio_.sum(), 1)
    np.testing.assert_allclose(found.column_contributions_.sum(axis=0), 1)
    np.testing.assert_allclose(found.row_contributions_.sum(axis=0), 1)
    np.testing.assert_allclose(found.row_cos2_.sum(axis=1), 1)
    np.testing.assert_allclose(found.column_cos2_.sum(axis=1), 1)
    np.testing.assert_allclose(found.row_inertias_.sum(), found.total_inertia_)
    np.testing.assert_allclose(found.column_inertias_.sum(), found.total_inertia_)
    np.testing.assert_allclose(found.row_masses_ @ found.row_standard_**2, 1)
    np.testing.assert_allclose(found.column_masses_ @ found.column_standard_**2, 1)
    # Rows lie at the mean of their levels, levels at the mean of their rows but for √λ.
    np.testing.assert_allclose(
        found.row_coordinates_, Z @ found.column_standard_ / q, rtol=0, atol=1e-12
    )
    means = Z.T @ found.row_standard_ / Z.sum(axis=0)[:, None]
    np.testing.assert_allclose(means, found.column_coordinates_, rtol=0, atol=1e-9)
    # χ² distances between rows are kept.
    f, c = found.row_coordinates_, Z.mean(axis=0) / q
    apart = np.sum(((Z[0] - Z[1]) / q) ** 2 / c)
    assert np.sum((f[0] - f[1]) ** 2) == pytest.approx(apart)
    by_hand = [found.column_contributions_[owner == v].sum(axis=0) for v in range(q)]
    np.testing.assert_allclose(found.variable_contributions_, by_hand)
    np.testing.assert_allclose(found.eta2_.mean(axis=0), found.eigenvalues_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        found.eta2_, q * found.eigenvalues_ * by_hand, rtol=0, atol=1e-12
    )
    sizes = Z.sum(axis=0)[:, None]
    v = found.column_coordinates_ * np.sqrt(sizes * (n - 1) / (n - sizes))
    np.testing.assert_allclose(found.v_tests_, v, rtol=0, atol=1e-8)


def test_burt_is_the_indicator_squared(X):
    plain, burt = MCA(None).fit(X), MCA(None, table="burt").fit(X)
    np.testing.assert_allclose(burt.eigenvalues_, plain.eigenvalues_**2, rtol=0, atol=1e-13)
    np.testing.assert_allclose(burt.explained_variance_ratio_.sum(), 1)
    Z, _, _ = indicator(X)
    P = Z.T @ Z
    P /= P.sum()
    c = P.sum(axis=0)
    s = np.linalg.svd((P - np.outer(c, c)) / np.sqrt(np.outer(c, c)), compute_uv=False)
    np.testing.assert_allclose(
        burt.eigenvalues_, s[: burt.n_components_] ** 2, rtol=0, atol=1e-13
    )
    assert burt.total_inertia_ == pytest.approx(np.sum(s**2))
    np.testing.assert_allclose(burt.column_inertias_.sum(), burt.total_inertia_)
    np.testing.assert_allclose(burt.column_cos2_.sum(axis=1), 1)
    np.testing.assert_allclose(burt.row_coordinates_, plain.row_coordinates_)
    lower, upper = burt.certificate_.lower, burt.certificate_.upper
    assert np.all((lower <= s[: len(lower)] ** 2) & (s[: len(lower)] ** 2 <= upper))


@pytest.mark.parametrize("correction", ["benzecri", "greenacre"])
def test_corrections_take_shares_of_all_axes_computed_or_not(X, correction):
    plain = MCA(None).fit(X)
    q, j = X.shape[1], len(plain.column_names_)
    large = plain.eigenvalues_[plain.eigenvalues_ > 1 / q]
    adjusted = (q / (q - 1) * (large - 1 / q)) ** 2
    total = adjusted.sum()
    if correction == "greenacre":
        total = q / (q - 1) * (np.sum(plain.eigenvalues_**2) - (j - q) / q**2)
    for k in (1, 2, None):
        found = MCA(k, correction=correction).fit(X)
        kept = adjusted[:k]
        np.testing.assert_allclose(found.eigenvalues_, kept, rtol=0, atol=1e-13)
        np.testing.assert_allclose(
            found.explained_variance_ratio_, kept / total, rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(found.column_inertias_.sum(), total)
        scale = np.sqrt(kept / plain.eigenvalues_[: len(kept)])
        like(found.row_coordinates_, plain.row_coordinates_[:, : len(kept)] * scale)
        np.testing.assert_allclose(found.transform(X), found.row_coordinates_)
        np.testing.assert_allclose(found.row_contributions_.sum(axis=0), 1)
    assert np.all(found.column_cos2_.sum(axis=1) <= 1 + 1e-12)
    with pytest.warns(DataWarning, match="axes with λ > 1/Q"):
        MCA(len(large) + 1, correction=correction).fit(X)


def test_order_of_rows_levels_and_variables_does_not_matter(rng, X):
    base = MCA(3).fit(X)
    rows = rng.permutation(len(X))
    turned = MCA(3).fit(X[rows])
    np.testing.assert_allclose(turned.eigenvalues_, base.eigenvalues_, rtol=1e-13)
    np.testing.assert_allclose(
        turned.row_coordinates_, base.row_coordinates_[rows], rtol=0, atol=1e-10
    )
    other = MCA(3).fit(X[:, ::-1])
    np.testing.assert_allclose(other.eigenvalues_, base.eigenvalues_, rtol=1e-13)
    like(other.row_coordinates_, base.row_coordinates_)
    renamed = np.vectorize(lambda c: f"z{9 - int(c[1])}", otypes=[object])(X)
    like(MCA(3).fit(renamed).row_coordinates_, base.row_coordinates_)


def test_weights_are_repeated_rows(rng, X):
    counts = rng.integers(0, 4, len(X))
    counts[:4] = 1
    weighted = MCA(3).fit(X, sample_weight=counts)
    repeated = MCA(3).fit(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-12)
    there = counts > 0
    np.testing.assert_allclose(weighted.transform(X[there]), repeated.transform(X[there]))
    for name in ("column_coordinates_", "v_tests_", "eta2_", "column_inertias_"):
        np.testing.assert_allclose(
            getattr(weighted, name), getattr(repeated, name), rtol=0, atol=1e-9
        )
    values, *_ = analysis(indicator(X)[0], X.shape[1], counts + 1e-300)
    np.testing.assert_allclose(weighted.eigenvalues_, values[:3], rtol=1e-9)
    for options in ({"n_components": "auto"}, {"table": "joint"}, {"correction": "greenacre"}):
        one = MCA(**options).fit(X, sample_weight=counts)
        two = MCA(**options).fit(np.repeat(X, counts, axis=0))
        np.testing.assert_allclose(one.eigenvalues_, two.eigenvalues_, rtol=1e-8)


def test_specific_analysis_is_the_written_down_one(X):
    out = ["x1=l0", "x3=l4"]
    found = MCA(3, exclude=out).fit(X)
    Z, _, names = indicator(X)
    kept = np.array([name not in out for name in names])
    values, standard, rows, c = analysis(Z, 4, None, kept)
    np.testing.assert_allclose(found.eigenvalues_, values[:3], rtol=1e-11)
    assert found.total_inertia_ == pytest.approx(values.sum())
    assert found.column_names_ == [n for n, k in zip(names, kept, strict=True) if k]
    like(found.row_coordinates_, rows[:, :3])
    like(found.column_standard_, standard[:, :3])
    np.testing.assert_allclose(found.column_masses_, c)
    np.testing.assert_allclose(found.transform(X), found.row_coordinates_)
    whole = MCA(None, exclude=out).fit(X)
    np.testing.assert_allclose(whole.row_cos2_.sum(axis=1), 1)
    np.testing.assert_allclose(whole.row_inertias_.sum(), whole.total_inertia_)
    with pytest.raises(InputError, match="did you mean 'x1=l"):
        MCA(exclude=["x1=lo"]).fit(X)


def test_equal_eigenvalues_give_the_same_axes_in_any_order(rng):
    # Three independent questions answered in every combination: all eigenvalues are 1/3.
    grid = np.array([[a, b, c] for a in "xyz" for b in "pqr" for c in "uvw"], dtype=object)
    base = MCA(3).fit(grid)
    np.testing.assert_allclose(base.eigenvalues_, 1 / 3)
    assert base.certificate_.groups == ((0, 1, 2, 3),)
    rows = rng.permutation(len(grid))
    for k in (2, 3):  # also where the group reaches beyond the axes asked for
        found = MCA(k).fit(grid[rows]).row_coordinates_
        wanted = MCA(k).fit(grid).row_coordinates_
        np.testing.assert_allclose(found, wanted[rows], rtol=0, atol=1e-12)


def test_frames_of_every_kind_agree_and_keep_their_names(X):
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"r{i}" for i in range(len(X))])
    found = MCA(2).fit(frame)
    assert found.row_names_[:2] == ["r0", "r1"]
    assert found.column_names_[0] == "a=l0"
    assert list(found.feature_names_in_) == list("abcd")
    for other in (frame.astype("category"), pl.from_pandas(frame), frame.to_numpy().tolist()):
        again = MCA(2).fit(other)
        np.testing.assert_array_equal(again.row_coordinates_, found.row_coordinates_)
    out = MCA(2).set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == list(found.get_feature_names_out())
    assert list(out.index) == list(frame.index)
    with pytest.raises(InputError, match="feature names"):
        found.transform(frame[list("dcba")])


def test_the_model_keeps_no_data_and_fit_writes_to_none(X):
    kept = X.copy()
    found = MCA(2).fit(X)
    np.testing.assert_array_equal(X, kept)
    assert not any(isinstance(v, Framed) for v in vars(found).values())
    assert "_active" not in vars(found)
    rows = found.fit_transform(X)
    rows[:] = 0
    assert found.row_coordinates_.any()


def test_shares_as_number_of_components(X):
    whole = MCA(None).fit(X)
    wanted = int(np.argmax(np.cumsum(whole.explained_variance_ratio_) >= 0.5)) + 1
    assert MCA(0.5).fit(X).n_components_ == wanted
    assert MCA(0.999999).fit(X).n_components_ == whole.n_components_


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"table": "joint", "n_components": None}, "whole number"),
        ({"table": "joint", "correction": "greenacre"}, "no correction"),
        ({"n_components": True}, "must be a number"),
        ({"n_components": 0}, "n_components"),
        ({"table": "counts"}, "table"),
        ({"missing": "drop"}, "missing"),
        ({"exclude": ["sugar"]}, "variable=level"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(X, options, said):
    with pytest.raises(InputError, match=said):
        MCA(**options).fit(X)


cells = st.sampled_from(["a", "b", "c"])


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(cells, cells, st.booleans()), min_size=4, max_size=25))
@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
def test_any_small_table_keeps_the_identities(rows):
    varying = [column for column in zip(*rows, strict=True) if len(set(column)) > 1]
    if not varying:
        return
    X = np.array(rows, dtype=object)
    found = MCA(None).fit(X)
    Z = np.column_stack(
        [[float(c == level) for c in column] for column in varying for level in set(column)]
    )
    values, *_ = analysis(Z, len(varying))
    k = found.n_components_
    np.testing.assert_allclose(found.eigenvalues_, values[:k], rtol=0, atol=1e-10)
    assert np.sum(values[k:]) < 1e-9
    assert found.total_inertia_ == pytest.approx(Z.shape[1] / len(varying) - 1)
    np.testing.assert_array_equal(found.transform(X), found.row_coordinates_)
    np.testing.assert_allclose(found.row_cos2_.sum(axis=1), 1, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.eta2_.mean(axis=0), found.eigenvalues_, rtol=0, atol=1e-9)
    assert np.all(np.diff(MCA(2, table="burt").fit(X).eigenvalues_) <= 0)


def test_one_hidden_number_is_found_and_independence_is_none(rng):
    found = MCA("auto").fit(tables(rng, 300, strength=1.5))
    assert found.n_components_ in (1, 2)
    assert found.choice_.k == found.n_components_
    assert "permuted columns" in found.choice_.reason
    with pytest.warns(DataWarning, match="no axis is kept"):
        none = MCA("auto").fit(tables(rng, 300, strength=0.0))
    assert none.n_components_ == 0
    assert none.transform(tables(rng, 5)).shape == (5, 0)


@pytest.mark.parametrize(
    ("options", "rule"),
    [({}, lambda v: v), ({"table": "burt"}, np.square)],
    ids=["indicator", "burt"],
)
def test_the_band_holds_independent_columns_and_no_hidden_number(rng, options, rule):
    inside = MCA(3, **options).fit(tables(rng, 400, strength=0.0))
    low, high = inside.null_band()
    values = inside.eigenvalues_
    assert np.all((low[:3] < values * 1.05) & (values < high[:3] * 1.05))
    outside = MCA(1, **options).fit(tables(rng, 400, strength=1.5))
    band = outside.null_band(draws=19)
    assert outside.eigenvalues_[0] > band[1, 0]
    assert band.shape == (2, 10)
    plain = MCA(1).fit(tables(rng, 400, strength=1.5))
    np.testing.assert_allclose(rule(plain.null_band(draws=19)).mean(), band.mean(), rtol=0.05)


def test_the_null_of_weights_and_gaps(rng):
    """Whole weights are repeated rows; fractions and missing cells are drawn too."""
    X = tables(rng, 60)
    counts = rng.integers(0, 4, 60)
    one = MCA(2).fit(X, sample_weight=counts).null_band(draws=19)
    two = MCA(2).fit(np.repeat(X, counts, axis=0)).null_band(draws=19)
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-13)
    X[rng.random(X.shape) < 0.2] = None
    found = MCA(2, missing="passive").fit(X, sample_weight=rng.random(60) * 2)
    assert np.isfinite(found.null_band(draws=19)).all()
