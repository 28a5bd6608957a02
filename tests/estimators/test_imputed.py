import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import scipy.special
from mixed_tables import mixed_frame, with_gaps
from tests.claims import agree, refuses, warned

import mercer
from mercer import PCA
from mercer.errors import DataWarning, InputError
from mercer.estimators.missing import _imputation as _imputations


def _rows(n=120, p=7, k=2, share=0.2, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((n, k)) @ rng.standard_normal((k, p))
    values = (values + noise * rng.standard_normal((n, p))) * np.linspace(1, 3, p) + 10
    gaps = rng.random((n, p)) < share
    gaps[0] = False
    gaps[1] = True
    gaps[1, 0] = False
    return values, np.where(gaps, np.nan, values)


@pytest.mark.parametrize("method", ["em", "ppca"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_observed_cells_stay_and_hidden_ones_are_near(method, dtype):
    values, x = _rows()
    x = x.astype(dtype)
    before = x.copy()
    pca = PCA(2, missing=method).fit(x)
    found = pca.impute(x)
    np.testing.assert_array_equal(x, before)
    assert found.dtype == dtype
    seen = ~np.isnan(x)
    np.testing.assert_array_equal(found[seen], x[seen])
    error = np.sqrt(np.mean((found - values)[~seen] ** 2))
    means = np.sqrt(np.mean((np.nanmean(x, axis=0) - values)[~seen] ** 2))
    assert error < 0.6 * means


def test_imputed_rows_and_frames_have_the_same_coordinates():
    _, x = _rows()
    pca = PCA(2, missing="em").fit(x)
    agree(pca.transform(pca.impute(x)), pca.transform(x), 1e-10)
    _, x = _rows()
    x = np.where(np.random.default_rng(1).random(x.shape) < 0.5, 0, x)
    pca = PCA(2, missing="em").fit(x)
    found = pca.impute(scipy.sparse.csr_matrix(x))
    np.testing.assert_allclose(found.toarray(), pca.impute(x), rtol=1e-10)
    _, x = _rows()
    frame = pd.DataFrame(x, columns=list("abcdefg"), index=np.arange(len(x)) + 5)
    pca = PCA(2, missing="em").fit(frame)
    found = pca.impute(frame)
    assert list(found.columns) == list("abcdefg")
    assert found.index.equals(frame.index)
    np.testing.assert_array_equal(found.to_numpy(), pca.impute(frame).to_numpy())
    assert not found.isna().any(axis=None)


@pytest.mark.parametrize(
    "options",
    [
        {}, {"whiten": True}, {"whiten": "zca"}, {"standardize": True},
        {"feature_weight": np.linspace(0.5, 2, 7)}, {"n_components": None},
    ],
    ids=lambda options: "-".join(f"{k}" for k in options) or "plain",
)  # fmt: skip
def test_errors_are_the_spread_of_coordinates_over_draws(options):
    """Draw the missing cells of a few rows from the dense covariance, and project them."""
    _, x = _rows()
    pca = PCA(**({"n_components": 2, "missing": "ppca"} | options)).fit(x)
    found = pca.score_error(x)
    rows = x[[0, 1, 2, 3]]
    model = pca.completion_
    w, f = model.loadings, model.centring.factor
    s = w @ w.T + model.noise * np.eye(7)
    s = s if f is None else s / np.outer(f, f)
    s = s * 4.0**model.centring.exponent
    rng = np.random.default_rng(2)
    for row, error in zip(rows, found, strict=False):
        m = np.isnan(row)
        if not m.any():
            assert not error.any()
            continue
        gain = s[np.ix_(m, ~m)] @ np.linalg.inv(s[np.ix_(~m, ~m)])
        rest = s[np.ix_(m, m)] - gain @ s[np.ix_(~m, m)]
        full = np.tile(row, (20_000, 1))
        full[:, m] = model.mean[m] + gain @ (row[~m] - model.mean[~m])
        full[:, m] += rng.multivariate_normal(np.zeros(m.sum()), rest, 20_000)
        spread = pca.transform(full).std(axis=0)
        np.testing.assert_allclose(error, spread, rtol=0.03, atol=1e-9 * found.max())
    assert found.shape == pca.transform(x).shape


@pytest.mark.parametrize("unit", [1e-200, 1e200])
@pytest.mark.parametrize("whiten", [False, True, "zca"])
def test_errors_know_no_unit(unit, whiten):
    _, x = _rows()
    plain = PCA(2, missing="ppca", whiten=whiten).fit(x).score_error(x)
    with pytest.warns(DataWarning, match="variances leave the range"):
        scaled = PCA(2, missing="ppca", whiten=whiten).fit(x * unit)
    found = scaled.score_error(x * unit)
    np.testing.assert_allclose(found / (1 if whiten else unit), plain, rtol=1e-3, atol=1e-9)


def test_fewer_cells_are_less_sure():
    _, x = _rows(seed=3)
    pca = PCA(2, missing="em").fit(x)
    row = np.nan_to_num(x[2:3], nan=10.0)
    errors = []
    for count in range(8):
        thin = row.copy()
        thin[0, :count] = np.nan
        errors.append(pca.score_error(thin)[0])
    assert not errors[0].any()
    assert np.all(np.diff(errors, axis=0) > 0)
    # With nothing observed the spread is that of the model itself.
    np.testing.assert_allclose(errors[7], np.sqrt(pca.explained_variance_), rtol=0.15)


def test_errors_hold_what_they_promise():
    """Nineteen of twenty coordinates lie within 1.96 standard deviations of the filled ones."""
    held = []
    for seed in range(8):
        values, x = _rows(n=400, seed=seed)
        pca = PCA(2, missing="ppca").fit(x)
        error, gap = pca.score_error(x), pca.transform(x) - pca.transform(values)
        some = np.isnan(x).any(axis=1)
        held.append(np.mean(np.abs(gap[some]) <= 1.96 * error[some]))
    assert 0.93 < np.mean(held) < 0.97


def test_whole_numbers_are_sure_and_rows_of_nothing_are_the_means():
    rng = np.random.default_rng(4)
    whole = rng.integers(0, 9, (30, 4))
    pca = PCA(2, missing="em").fit(whole)
    assert not pca.score_error(whole).any()
    np.testing.assert_array_equal(pca.impute(whole), whole)
    _, x = _rows()
    pca = PCA(2, missing="em").fit(x)
    bare = np.full((3, 7), np.nan)
    bare[1] = x[0]
    found = warned("2 such rows: 0, 2", pca.impute, bare)
    np.testing.assert_allclose(found[[0, 2]], [pca.completion_.mean] * 2, rtol=1e-12)
    np.testing.assert_array_equal(found[1], x[0])


def test_a_model_that_refuses_gaps_has_neither():
    _, x = _rows()
    pca = PCA(2).fit(np.nan_to_num(x))
    assert not hasattr(pca, "impute")
    assert not hasattr(pca, "score_error")
    batches = PCA(2, missing="em").partial_fit(np.nan_to_num(x))
    refuses("no model of missing cells", batches.impute, x)
    refuses("no model of missing cells", batches.score_error, x)
    refuses("rows in memory", PCA(2, missing="em").fit(x).impute, "rows.npy")


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_infinite_cells_are_refused_by_their_place(form):
    _, x = _rows()
    pca = PCA(2, missing="em").fit(x)
    x[7, 3] = -np.inf
    for ask in (pca.impute, pca.score_error):
        refuses("-infinity at row 7, column 3", ask, form(x))
    frame = pd.DataFrame(x, columns=list("abcdefg"))
    named = PCA(2, missing="em").fit(frame.drop(index=7))
    refuses(r"row 7, column 3 \('d'\)", named.impute, frame)


@pytest.mark.parametrize("method", ["em", "ppca"])
def test_rows_count_by_weight_in_errors_of_coordinates(method):
    _, x = _rows()
    wanted = PCA(2, missing=method, tol=1e-10).fit(x).score_error(x)
    with pytest.warns(DataWarning, match="nothing observed"):
        longer = PCA(2, missing=method, tol=1e-10).fit(
            np.vstack([x, np.full((600, 7), np.nan)])
        )
    np.testing.assert_allclose(longer.score_error(x), wanted, rtol=1e-8, atol=0)
    idle, weights = np.vstack([x, x[:60]]), np.append(np.ones(len(x)), np.zeros(60))
    idle[len(x) :, ::2], idle[len(x) :, 1] = np.nan, 0.0
    found = PCA(2, missing=method, tol=1e-10).fit(idle, sample_weight=weights)
    np.testing.assert_allclose(found.score_error(x), wanted, rtol=1e-8, atol=0)
    _, x = _rows()
    weights = np.where(np.isnan(x).any(axis=1), 1, 30)
    one = PCA(2, missing=method, tol=1e-10).fit(x, sample_weight=weights)
    two = PCA(2, missing=method, tol=1e-10).fit(np.repeat(x, weights, axis=0))
    wanted = two.score_error(x)
    np.testing.assert_allclose(one.score_error(x), wanted, rtol=1e-9, atol=0)


@pytest.mark.parametrize("unit", [1e-300, 1e-100, 1e80, 1e300])
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("method", ["em", "ppca"])
def test_errors_of_standardised_coordinates_have_no_unit(method, whiten, unit):
    _, x = _rows()
    one, other = (
        PCA(2, missing=method, standardize=True, whiten=whiten).fit(rows)
        for rows in (x, x * unit)
    )
    np.testing.assert_allclose(
        other.score_error(x * unit), one.score_error(x), rtol=1e-7, atol=0
    )


def _population(seed, n=300, p=8, k=2, share=0.2):
    """Return axes (p, k), centred complete rows, complete rows, and rows with gaps."""
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.standard_normal((p, k)))
    centred = rng.standard_normal((n, k)) * [3.0, 1.8] @ axes.T
    centred += 0.5 * rng.standard_normal((n, p))
    values = centred + 3 * rng.standard_normal(p)
    gaps = rng.random((n, p)) < share
    gaps[gaps.all(axis=1)] = False
    return axes, centred, values, np.where(gaps, np.nan, values)


def _held(seed, method, draws=20):
    """Return how many intervals hold: coordinates on the axes of the population, and cells."""
    axes, centred, values, x = _population(seed)
    pca = PCA(2, missing=method).fit(x)
    found = mercer.multiple_imputation(pca, x, draws=draws, random_state=seed)
    left, _, right = np.linalg.svd(axes.T @ pca.components_.T)
    true = centred @ axes @ (left @ right)
    low, high = found.interval(0.95)
    gaps = np.isnan(x)
    tables = np.stack(list(found.tables()))
    middle, spread = tables.mean(axis=0), tables.std(axis=0, ddof=1)
    reach = scipy.special.stdtrit(draws - 1, 0.975) * spread * np.sqrt(1 + 1 / draws)
    some = gaps.any(axis=1)
    inside = (low <= true) & (true <= high)
    cells = (np.abs(middle - values) <= reach)[gaps]
    return np.mean(inside[some]), np.mean(inside[~some]), np.mean(cells)


def test_intervals_hold_what_they_promise():
    some, complete, cells = np.mean([_held(seed, "em") for seed in range(30)], axis=0)
    assert 0.93 < some < 0.97
    # What is off in complete rows is off in all rows of a table: 30 tables tell less of it.
    assert 0.91 < complete < 0.98
    assert 0.93 < cells < 0.97


@pytest.mark.slow
@pytest.mark.parametrize("method", ["em", "ppca"])
def test_intervals_hold_over_many_tables(method):
    some, complete, cells = np.mean([_held(seed, method) for seed in range(200)], axis=0)
    assert 0.935 < some < 0.965
    assert 0.92 < complete < 0.97
    assert 0.94 < cells < 0.96


def test_what_is_known_has_no_spread_within():
    _, _, _, x = _population(1)
    pca = PCA(2, missing="em").fit(x)
    found = mercer.multiple_imputation(pca, x, draws=4)
    whole = ~np.isnan(x).any(axis=1)
    assert not found.within[whole].any()
    assert np.all(found.within[~whole] > 0)
    assert np.all(found.between > 0)
    np.testing.assert_allclose(found.total, found.within + 1.25 * found.between)
    # The draws are turned to the fitted axes: their mean is near the fitted coordinates.
    gap = np.abs(found.scores - pca.transform(x))
    assert np.mean(gap) < 0.1 * np.sqrt(pca.explained_variance_[1])


def test_the_same_seed_gives_the_same_tables_one_at_a_time(monkeypatch):
    _, _, _, x = _population(2)
    pca = PCA(2, missing="ppca").fit(x)
    one = mercer.multiple_imputation(pca, x, draws=3, random_state=7)
    other = mercer.multiple_imputation(pca, x, draws=3, random_state=7)
    np.testing.assert_array_equal(one.total, other.total)
    tables = list(one.tables())
    assert len(tables) == 3
    for mine, again, third in zip(tables, one.tables(), other.tables(), strict=True):
        np.testing.assert_array_equal(mine, again)
        np.testing.assert_array_equal(mine, third)
        np.testing.assert_array_equal(mine[~np.isnan(x)], x[~np.isnan(x)])
        assert np.isfinite(mine).all()
    assert not np.array_equal(tables[0], tables[1])
    third = mercer.multiple_imputation(pca, x, draws=3, random_state=8)
    assert not np.array_equal(one.between, third.between)
    made = []
    draw = _imputations.drawn
    monkeypatch.setattr(_imputations, "drawn", lambda *a: made.append(1) or draw(*a))
    walk = one.tables()
    assert made == []
    next(walk)
    assert made == [1]


def test_weights_are_rows_that_stand_more_than_once():
    """Resampling counts rows, so that zero weight is absence."""
    _, _, _, x = _population(3, n=150)
    counts = np.ones(150)
    counts[100:] = 0
    few = PCA(2, missing="ppca").fit(x[:100])
    all_ = PCA(2, missing="ppca").fit(x, sample_weight=counts)
    one = mercer.multiple_imputation(few, x[:100], draws=30)
    other = mercer.multiple_imputation(all_, x, draws=30, sample_weight=counts)
    ratio = np.mean(other.between[:100]) / np.mean(one.between)
    assert 0.6 < ratio < 1.6
    np.testing.assert_allclose(other.within[:100], one.within, rtol=0.2)
    # Four times the rows: a quarter of the variance that parameters have.
    heavy = PCA(2, missing="ppca").fit(x, sample_weight=4 * counts)
    third = mercer.multiple_imputation(heavy, x, draws=30, sample_weight=4 * counts)
    assert 0.15 < np.mean(third.between[:100]) / np.mean(one.between) < 0.4


@pytest.mark.parametrize("unit", [1e-140, 1e140])
def test_the_unit_does_not_matter(unit):
    _, _, _, x = _population(4, n=80)
    plain = mercer.multiple_imputation(PCA(2, missing="em").fit(x), x, draws=3)
    scaled = mercer.multiple_imputation(PCA(2, missing="em").fit(x * unit), x * unit, draws=3)
    np.testing.assert_allclose(scaled.scores / unit, plain.scores, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(scaled.total / unit**2, plain.total, rtol=1e-2, atol=1e-4)


def test_standardised_columns_and_frames():
    _, _, _, x = _population(5, n=100)
    frame = pd.DataFrame(x * np.logspace(0, 4, 8), columns=list("abcdefgh"))
    pca = PCA(2, missing="em", standardize=True).fit(frame)
    found = mercer.multiple_imputation(pca, frame, draws=3)
    gap = np.abs(found.scores - pca.transform(frame))
    assert np.mean(gap) < 0.15 * np.sqrt(pca.explained_variance_[1])
    table = next(found.tables())
    assert list(table.columns) == list("abcdefgh")
    assert not table.isna().any(axis=None)


@pytest.mark.parametrize("unit", [1e-200, 1e100])
def test_standardised_coordinates_have_no_unit(unit):
    _, _, _, x = _population(5)
    found = [
        mercer.multiple_imputation(
            PCA(2, missing="em", standardize=True).fit(rows), rows, draws=3
        )
        for rows in (x, x * unit)
    ]
    for name in ("scores", "within", "between"):
        one, other = (getattr(each, name) for each in found)
        agree(other, one, 1e-7 * np.abs(one).max())


def test_axes_of_the_completion_alone_and_refusals():
    _, _, _, x = _population(6, n=100)
    pca = PCA(missing="em").fit(x)
    found = mercer.multiple_imputation(pca, x, draws=3)
    assert found.scores.shape == (100, pca.completion_.axes.shape[1])
    _, _, values, x = _population(7, n=60)
    pca = PCA(2, missing="em").fit(x)
    refuses("at least two draws", mercer.multiple_imputation, pca, x, draws=1)
    refuses("rows of the fit", mercer.multiple_imputation, pca, x[:50])
    refuses("fills missing cells", mercer.multiple_imputation, PCA(2).fit(values), values)
    refuses("between 0 and 1", mercer.multiple_imputation(pca, x, draws=2).interval, 95)
    far = warned("variances leave the range", PCA(2, missing="em").fit, x * 1e200)
    refuses("range of float64", mercer.multiple_imputation, far, x * 1e200)


def test_a_row_with_nothing_observed_is_as_open_as_the_population():
    _, _, _, x = _population(8, n=200)
    x[5] = np.nan
    pca = warned("nothing observed", PCA(2, missing="ppca").fit, x)
    found = warned("nothing observed", mercer.multiple_imputation, pca, x, draws=4)
    agree(found.scores[5], 0, 1e-10)
    np.testing.assert_allclose(found.within[5], pca.explained_variance_, rtol=0.2)
    low, high = found.interval()
    assert np.isfinite(high - low).all()


@pytest.mark.parametrize("whiten", [True, "zca"])
def test_whitened_coordinates_are_refused(whiten):
    x = _population(0, n=60)[3]
    pca = PCA(2, missing="ppca", whiten=whiten).fit(x)
    refuses("a whitened model are not drawn", mercer.multiple_imputation, pca, x, draws=2)


def _arrow(frame):
    return pa.table({name: pa.array(frame[name], from_pandas=True) for name in frame})


@pytest.fixture(scope="module")
def case():
    whole = mixed_frame(400, noise=0.2).drop(columns="place")
    holed, holes = with_gaps(whole, 0.15)
    return whole, holed, holes


def test_held_out_cells_come_back_better_than_by_columns_alone(case):
    whole, holed, holes = case
    found = mercer.impute(holed)
    for at, name in enumerate(whole.columns):
        gaps, true = holes[:, at], whole[name][holes[:, at]]
        if whole[name].dtype.kind == "f":
            error = np.mean((found[name][gaps] - true) ** 2)
            assert error < 0.7 * np.mean((holed[name].mean() - true) ** 2)
        else:
            right = np.mean(found[name][gaps] == true)
            assert right > np.mean(holed[name].mode()[0] == true) + 0.2
    assert not found.isna().any().any()
    there = ~holes
    assert (found.to_numpy(object)[there] == whole.to_numpy(object)[there]).all()


def test_what_needs_no_guess_comes_back_exactly(rng, case):
    X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 7)) + 3
    holed = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    agree(mercer.impute(holed), X, 1e-4)
    whole = case[0]
    assert mercer.impute(whole) is whole
    once = mercer.impute(case[1])
    assert mercer.impute(once) is once


def test_the_kind_of_frame_stays(case):
    _whole, holed, _ = case
    holed = holed.assign(
        mood=pd.Categorical(holed["mood"], categories=["sad", "glad"], ordered=True),
        whole=pd.array([None, *range(1, 400)], dtype="Int64"),
        yes=pd.array([None, *([True, False] * 200)][:400], dtype="boolean"),
    )
    holed.index = holed.index[::-1]
    before = holed.copy()
    found = mercer.impute(holed)
    pd.testing.assert_frame_equal(holed, before)
    assert list(found.index) == list(holed.index)
    assert found["mood"].dtype == holed["mood"].dtype
    assert str(found["yes"].dtype) == "boolean"
    assert found["whole"].dtype.kind == "f"
    names = ["size", "mood"]
    for kind in (pl.from_pandas, _arrow):
        frame = kind(case[1])
        other = mercer.impute(frame)
        assert type(other) is type(frame)
        assert [str(t) for t in other.schema] == [str(t) for t in frame.schema]
        back = other.to_pandas()
        assert (
            back[names].astype(str) == found[names].astype(str).reset_index(drop=True)
        ).mean().min() > 0.97
    cells = mercer.impute(case[1].to_numpy(object))
    assert cells.dtype == object
    assert isinstance(
        mercer.impute(case[1][list("abcd")].dropna(how="all").to_numpy()), np.ndarray
    )


def test_categories_alone_by_mca_and_codes_with_codes(case):
    whole, holed, _holes = case
    three = holed[["size", "mood"]].assign(code=pd.cut(whole["a"], 4, labels=False))
    three = three[~three.isna().all(axis=1)]
    found = mercer.impute(three, 2, "mca")
    assert not found.isna().any().any()
    assert set(found["size"]) == {"s", "m", "l"}
    assert found["code"].equals(three["code"])
    given = pd.DataFrame({"x": [1.0, 1.1, 0.9, 5, 5.1, 4.9], "code": [1, 1, None, 7, 7, 7]})
    assert mercer.impute(given, 1, categorical=["code"])["code"].tolist() == [1, 1, 1, 7, 7, 7]


def test_new_rows_are_filled_by_a_model(case):
    whole, holed, _ = case
    model = mercer.FAMD(2, missing="fill").fit(holed)
    new = whole.iloc[:4].copy()
    new.loc[1, "size"] = None
    new.loc[2, "b"] = np.nan
    found = model.impute(new)
    assert found["size"].iloc[1] in ("s", "m", "l")
    assert abs(found["b"].iloc[2] - whole["b"].iloc[2]) < whole["b"].std()
    pd.testing.assert_frame_equal(found.drop(index=[1, 2]), whole.iloc[[0, 3]])


def test_constant_columns_are_filled_and_empty_ones_refused(case):
    given = pd.DataFrame(
        {"x": [1.0, 2, 3, 9], "flat": [5, None, 5, 5], "one": ["a", "a", None, "a"]}
    )
    found = warned("'flat', 'one'", mercer.impute, given, 1)
    assert found["flat"].tolist() == [5] * 4
    assert found["one"].tolist() == ["a"] * 4
    holed = case[1].copy()
    holed.iloc[[3, 8]] = None
    refuses("row 3, 8 of 400", mercer.impute, holed)
    refuses("'void'", mercer.impute, case[1].assign(void=None))
    refuses("method='knn'", mercer.impute, case[1], 2, "knn")
    with pytest.raises(InputError, match=r"infinity at row 2, column 0 \('a'\)"):
        mercer.impute(case[1].assign(a=[0, 1, np.inf] + [2.0] * 397))


@pytest.mark.parametrize("kind", ["cut", "cut as objects", "months", "dates"])
@pytest.mark.parametrize("method", ["famd", "mca"])
def test_filled_categories_are_cells_as_they_were_given(kind, method):
    rng = np.random.default_rng(0)
    z = rng.standard_normal(60)
    made = {
        "cut": pd.Series(pd.cut(z, 3)),
        "cut as objects": pd.Series(pd.cut(z, 3)).astype(object),
        "months": pd.Series(pd.PeriodIndex(np.where(z > 0, "2020-01", "2021-07"), freq="M")),
        "dates": pd.Series(pd.to_datetime(np.where(z > 0, "2020-01-01", "2021-01-01"))).dt.date,
    }[kind]
    other = np.where(z > 0.2, "r", "s") if method == "mca" else z
    given = pd.DataFrame({"z": other, "t": np.where(z > 0, "u", "v"), "c": made.mask(z > 1)})
    found = mercer.impute(given, 1, method)["c"]
    assert found.dtype == given["c"].dtype
    assert set(found) <= set(made)
    assert not found.isna().any()
