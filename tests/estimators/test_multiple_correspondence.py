"""Multiple correspondence analysis against its definition, its identities and bad tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from forced import bound_to
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.claims import agree, refuses, warned
from written_mca import analysis, indicator, like, tables

import mercer
from mercer.errors import AccuracyWarning
from mercer.estimators.categories import _adjusted_inertias as _mca_joint
from mercer.estimators.categories._adjusted_inertias import joint, joint_pairs, mapped
from mercer.estimators.categories._category_codes import coded
from mercer.estimators.categories._indicator_table import Categories, active_of
from mercer.estimators.categories._supplementary_variables import (
    Placed,
    supplementary_variables,
)
from mercer.operators import Framed
from mercer.solvers import Certificate

MCA = mercer.MultipleCorrespondenceAnalysis


@pytest.fixture(name="X")
def _table(rng):
    return tables(rng)


@pytest.mark.parametrize("path", ["svd", "gram", "krylov"])
def test_every_path_is_the_written_down_analysis(rng, path):
    X = tables(rng, 300, (10, 12, 9, 8))
    found = bound_to(MCA, path)(3, tol=1e-9).fit(X)
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
    agree(found.eigenvalues_, both, 1e-12)
    adjusted = MCA(3, table="adjusted").fit(X)
    agree(adjusted.eigenvalues_, s**2, 1e-12)
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
    agree(found.row_coordinates_, Z @ found.column_standard_ / q, 1e-12)
    means = Z.T @ found.row_standard_ / Z.sum(axis=0)[:, None]
    agree(means, found.column_coordinates_, 1e-9)
    # χ² distances between rows are kept.
    f, c = found.row_coordinates_, Z.mean(axis=0) / q
    apart = np.sum(((Z[0] - Z[1]) / q) ** 2 / c)
    assert np.sum((f[0] - f[1]) ** 2) == pytest.approx(apart)
    by_hand = [found.column_contributions_[owner == v].sum(axis=0) for v in range(q)]
    np.testing.assert_allclose(found.variable_contributions_, by_hand)
    agree(found.eta2_.mean(axis=0), found.eigenvalues_, 1e-12)
    agree(found.eta2_, q * found.eigenvalues_ * by_hand, 1e-12)
    sizes = Z.sum(axis=0)[:, None]
    v = found.column_coordinates_ * np.sqrt(sizes * (n - 1) / (n - sizes))
    agree(found.v_tests_, v, 1e-8)


def test_burt_is_the_indicator_squared(X):
    plain, burt = MCA(None).fit(X), MCA(None, table="burt").fit(X)
    agree(burt.eigenvalues_, plain.eigenvalues_**2, 1e-13)
    np.testing.assert_allclose(burt.explained_variance_ratio_.sum(), 1)
    Z, _, _ = indicator(X)
    P = Z.T @ Z
    P /= P.sum()
    c = P.sum(axis=0)
    s = np.linalg.svd((P - np.outer(c, c)) / np.sqrt(np.outer(c, c)), compute_uv=False)
    agree(burt.eigenvalues_, s[: burt.n_components_] ** 2, 1e-13)
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
        agree(found.eigenvalues_, kept, 1e-13)
        agree(found.explained_variance_ratio_, kept / total, 1e-12)
        np.testing.assert_allclose(found.column_inertias_.sum(), total)
        scale = np.sqrt(kept / plain.eigenvalues_[: len(kept)])
        like(found.row_coordinates_, plain.row_coordinates_[:, : len(kept)] * scale)
        np.testing.assert_allclose(found.transform(X), found.row_coordinates_)
        np.testing.assert_allclose(found.row_contributions_.sum(axis=0), 1)
    assert np.all(found.column_cos2_.sum(axis=1) <= 1 + 1e-12)
    warned("axes with λ > 1/Q", MCA(len(large) + 1, correction=correction).fit, X)


def test_order_of_rows_levels_and_variables_does_not_matter(rng, X):
    base = MCA(3).fit(X)
    rows = rng.permutation(len(X))
    turned = MCA(3).fit(X[rows])
    np.testing.assert_allclose(turned.eigenvalues_, base.eigenvalues_, rtol=1e-13)
    agree(turned.row_coordinates_, base.row_coordinates_[rows], 1e-10)
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
        agree(getattr(weighted, name), getattr(repeated, name), 1e-9)
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
    refuses("did you mean 'x1=l", MCA(exclude=["x1=lo"]).fit, X)


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
        agree(found, wanted[rows], 1e-12)


def test_frames_of_every_kind_agree_and_keep_their_names(X):
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"r{i}" for i in range(len(X))])
    found = MCA(2).fit(frame)
    assert found.row_names_[:2] == ["r0", "r1"]
    assert found.column_names_[0] == "a=l0"
    assert list(found.feature_names_in_) == list("abcd")
    for other in (frame.astype("category"), pl.from_pandas(frame), frame.to_numpy().tolist()):
        again = MCA(2).fit(other)
        np.testing.assert_array_equal(again.row_coordinates_, found.row_coordinates_)
    refuses("feature names", found.transform, frame[list("dcba")])


def test_the_model_keeps_no_data_and_a_share_is_a_number_of_axes(X):
    kept = X.copy()
    found = MCA(2).fit(X)
    np.testing.assert_array_equal(X, kept)
    assert not any(isinstance(v, Framed) for v in vars(found).values())
    assert "_active" not in vars(found)
    rows = found.fit_transform(X)
    rows[:] = 0
    assert found.row_coordinates_.any()
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
    refuses(said, MCA(**options).fit, X)


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
    agree(found.eigenvalues_, values[:k], 1e-10)
    assert np.sum(values[k:]) < 1e-9
    assert found.total_inertia_ == pytest.approx(Z.shape[1] / len(varying) - 1)
    np.testing.assert_array_equal(found.transform(X), found.row_coordinates_)
    agree(found.row_cos2_.sum(axis=1), 1, 1e-6)
    agree(found.eta2_.mean(axis=0), found.eigenvalues_, 1e-9)
    assert np.all(np.diff(MCA(2, table="burt").fit(X).eigenvalues_) <= 0)


def test_one_hidden_number_is_found_and_independence_is_none(rng):
    found = MCA("auto").fit(tables(rng, 300, strength=1.5))
    assert found.n_components_ in (1, 2)
    assert found.choice_.k == found.n_components_
    assert "permuted columns" in found.choice_.reason
    none = warned("no axis is kept", MCA("auto").fit, tables(rng, 300, strength=0.0))
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
    agree(one, two, 1e-13)
    X[rng.random(X.shape) < 0.2] = None
    found = MCA(2, missing="passive").fit(X, sample_weight=rng.random(60) * 2)
    assert np.isfinite(found.null_band(draws=19)).all()


@pytest.fixture
def burt(rng):
    made = Categories(active_of(coded(tables(rng, 300)), None, None))
    return made.square, made.active.owner


def test_at_rest_the_blocks_are_what_the_axes_rebuild(burt):
    square, owner = burt
    found, said = joint(square, owner, 2)
    assert said.converged
    own = owner[:, None] == owner
    np.testing.assert_array_equal(found[~own], square[~own])
    values, vectors = np.linalg.eigh(found)
    fitted = (vectors[:, -2:] * values[-2:]) @ vectors[:, -2:].T
    agree(fitted[own], found[own], 1e-8)
    rest = np.sum((square - fitted)[~own] ** 2) / np.sum(square[~own] ** 2)
    assert said.share == pytest.approx(1 - rest, abs=1e-8)


def test_no_other_axes_rebuild_the_crossed_tables_better(rng, burt):
    square, owner = burt
    own = owner[:, None] == owner
    _, said = joint(square, owner, 2)
    spectrum = joint_pairs(joint(square, owner, 2)[0], 2, 1e-6, 0)
    factor = spectrum.right * np.sqrt(spectrum.values)
    best = np.sum((square - factor @ factor.T)[~own] ** 2)
    for _ in range(20):
        near = factor + 1e-3 * rng.normal(size=factor.shape)
        assert np.sum((square - near @ near.T)[~own] ** 2) > best
    values, vectors = np.linalg.eigh(square)
    plain = (vectors[:, -2:] * values[-2:]) @ vectors[:, -2:].T
    whole = np.sum(square[~own] ** 2)
    assert said.share > 1 - np.sum((square - plain)[~own] ** 2) / whole


def test_two_variables_are_fitted_by_their_correspondence_analysis(rng):
    X = tables(rng, 300, (4, 5), 2.0)
    adjusted = mercer.MultipleCorrespondenceAnalysis(2, table="adjusted").fit(X)
    found = mercer.MultipleCorrespondenceAnalysis(2, table="joint").fit(X)
    # One table alone: its best axes are those of its own singular vectors.
    np.testing.assert_allclose(
        found.explained_variance_ratio_.sum(),
        adjusted.explained_variance_ratio_.sum(),
        rtol=1e-6,
    )


def test_an_iteration_cut_short_says_so(burt, monkeypatch):
    monkeypatch.setattr(_mca_joint, "_STEPS", 2)
    _, said = warned("after 2 steps", joint, *burt, 2, kind=AccuracyWarning)
    assert not said.converged
    assert said.steps == 2


def test_a_variable_says_no_more_of_itself_than_there_is():
    # Noise in which the best fit would grow one variable for ever (a Heywood case).
    X = np.round(3 * np.random.RandomState(0).uniform(size=(20, 3))).astype(int)
    made = Categories(active_of(coded(X), None, None))
    found, said = joint(made.square, made.active.owner, 1)
    assert said.converged
    assert said.bounded == 1
    for variable in range(3):
        at = made.active.owner == variable
        assert np.linalg.norm(found[np.ix_(at, at)], 2) <= 1 / 3 + 1e-9
    assert np.linalg.eigvalsh(found)[-1] <= 1 + 1e-9


def test_a_certificate_goes_through_a_rising_map():
    values = np.array([0.8, 0.5])
    before = Certificate.of(
        values,
        np.array([0.8 + 1e-8, 0.5 + 1e-8, 0.3]),
        np.array([1e-7, 1e-7]),
        error=1e-9,
        tol=1e-6,
        zero_level=1e-15,
    )
    after = mapped(before, values, np.square)
    np.testing.assert_allclose(after.lower, before.lower**2)
    np.testing.assert_allclose(after.upper, before.upper**2)
    np.testing.assert_array_equal(after.sine, before.sine)
    assert np.all(after.gap <= [0.8**2 - 0.5**2, 0.5**2 - 0.3**2])
    assert after.next_upper == pytest.approx(before.next_upper**2)


def test_greenacre_total_is_the_mean_inertia_of_crossed_tables(rng):
    X = tables(rng, 200)
    found = mercer.MultipleCorrespondenceAnalysis(2, correction="greenacre", exclude=["x3=l2"])
    codes = np.array([[int(cell[1]) for cell in row] for row in X])
    crossed = []
    for a in range(4):
        for b in range(4):
            if a != b:
                P = np.zeros((5, 5))
                np.add.at(P, (codes[:, a], codes[:, b]), 1 / 200)
                r, c = P.sum(axis=1, keepdims=True), P.sum(axis=0)
                with np.errstate(invalid="ignore"):
                    parts = np.nan_to_num((P - r * c) ** 2 / (r * c))
                parts[2 if a == 3 else slice(0)] = 0
                parts[:, 2 if b == 3 else slice(0)] = 0
                crossed.append(parts.sum())
    assert found.fit(X).column_inertias_.sum() == pytest.approx(np.mean(crossed))


@pytest.mark.parametrize(
    "options", [{}, {"table": "burt"}, {"correction": "benzecri"}, {"correction": "greenacre"}]
)
def test_an_active_variable_lies_where_its_levels_lie(X, options):
    found = MCA(2, **options).fit(X)
    beside = found.supplementary(pd.DataFrame({"x1": X[:, 1], "x2": X[:, 2]}))
    mine = [found.column_names_.index(name) for name in beside.levels]
    agree(beside.coordinates, found.column_coordinates_[mine], 1e-9)
    agree(beside.v_tests, found.v_tests_[mine], 1e-8)
    agree(beside.eta2, found.eta2_[[1, 2]], 1e-10)
    if not options:
        agree(beside.cos2, found.column_cos2_[mine], 1e-9)
    assert beside.counts.sum() == pytest.approx(2 * len(X))


def test_numbers_get_weighted_correlations(rng, X):
    w = rng.integers(1, 4, len(X))
    found = MCA(2).fit(X, sample_weight=w)
    numbers = rng.normal(size=(len(X), 2)) + found.row_coordinates_[:, :1]
    beside = found.supplementary(numbers)
    assert beside.numbers == ["x0", "x1"]
    assert beside.levels == []
    many = np.repeat(numbers, w, axis=0)
    rows = np.repeat(found.row_coordinates_, w, axis=0)
    wanted = np.corrcoef(many.T, rows.T)[:2, 2:]
    agree(beside.correlations, wanted, 1e-12)


def test_missing_cells_are_left_out_column_by_column(rng, X):
    found = MCA(2).fit(X)
    numbers = rng.normal(size=len(X))
    numbers[::3] = np.nan
    text = X[:, 0].copy()
    text[::4] = None
    beside = found.supplementary(pl.DataFrame({"a": numbers, "b": list(text)}))
    there = ~np.isnan(numbers)
    wanted = np.corrcoef(numbers[there], found.row_coordinates_[there].T)[0, 1:]
    agree(beside.correlations[0], wanted, 1e-12)
    assert beside.counts.sum() == pytest.approx(np.sum(np.arange(len(X)) % 4 != 0))


def test_kinds_of_columns(X):
    found = MCA(2).fit(X)
    n = len(X)
    frame = pd.DataFrame(
        {
            "whole": np.arange(n),
            "flag": np.arange(n) % 2 == 0,
            "declared": pd.Categorical(np.arange(n) % 3),
            "flat": np.ones(n),
        }
    )
    beside = found.supplementary(frame)
    assert beside.numbers == ["whole", "flat"]
    assert beside.variables == ["flag", "declared"]
    assert beside.levels == ["flag=False", "flag=True"] + [f"declared={i}" for i in range(3)]
    assert np.isnan(beside.correlations[1]).all()


def test_what_stands_beside_a_map(X, rng):
    refuses("5 rows, 120 at fit", MCA(2).fit(X).supplementary, X[:5])
    placed = Placed(np.zeros((6, 0)), np.full(6, 1 / 6), 6.0, np.zeros(0), np.zeros(0))
    given = pd.DataFrame({"x": rng.standard_normal(6), "g": list("ababab")})
    found = supplementary_variables(given, placed)
    assert found.correlations.shape == found.eta2.shape == (1, 0)
    assert found.coordinates.shape == (2, 0)
    rows = rng.standard_normal((40, 1))
    placed = Placed(rows, np.full(40, 1 / 40), 40.0, np.ones(1), np.ones(1))
    wide = rng.integers(0, 2**40, 40)
    for kind in (np.uint64, np.int64, np.float64):
        found = supplementary_variables(pd.DataFrame({"x": wide.astype(kind)}), placed)
        assert found.numbers == ["x"]
        expected = np.corrcoef(wide, rows[:, 0])[0, 1]
        agree(found.correlations, [[expected]], 1e-12)


@pytest.mark.parametrize("value", [0.1, 0.3, 1.7, 1e8 / 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_constant_column_has_no_correlation(rng, X, value, weighted):
    w = rng.integers(0, 3, len(X)) / 7 if weighted else None
    found = MCA(2).fit(X, sample_weight=w)
    column = np.full(len(X), value)
    if weighted:
        column[w == 0] = 5.0  # rows that do not count
    assert np.isnan(found.supplementary(pd.DataFrame({"x": column})).correlations).all()
