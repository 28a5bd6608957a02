import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import mercer
from mercer import PCA
from mercer.errors import DataWarning, InputError


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


def test_coordinates_are_those_of_the_imputed_rows():
    _, x = _rows()
    pca = PCA(2, missing="em").fit(x)
    np.testing.assert_allclose(
        pca.transform(pca.impute(x)), pca.transform(x), rtol=0, atol=1e-10
    )


def test_frames_come_back_as_frames():
    _, x = _rows()
    frame = pd.DataFrame(x, columns=list("abcdefg"), index=np.arange(len(x)) + 5)
    pca = PCA(2, missing="em").fit(frame)
    found = pca.impute(frame)
    assert list(found.columns) == list("abcdefg")
    assert found.index.equals(frame.index)
    np.testing.assert_array_equal(found.to_numpy(), pca.impute(frame).to_numpy())
    assert not found.isna().any(axis=None)


def test_sparse_rows_fill_their_stored_gaps():
    _, x = _rows()
    x = np.where(np.random.default_rng(1).random(x.shape) < 0.5, 0, x)
    pca = PCA(2, missing="em").fit(x)
    found = pca.impute(scipy.sparse.csr_matrix(x))
    np.testing.assert_allclose(found.toarray(), pca.impute(x), rtol=1e-10)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"whiten": True},
        {"whiten": "zca"},
        {"standardize": True},
        {"feature_weight": np.linspace(0.5, 2, 7)},
        {"n_components": None},
    ],
    ids=lambda options: "-".join(f"{k}" for k in options) or "plain",
)
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


def test_whole_numbers_and_complete_rows_are_sure():
    rng = np.random.default_rng(4)
    whole = rng.integers(0, 9, (30, 4))
    pca = PCA(2, missing="em").fit(whole)
    assert not pca.score_error(whole).any()
    np.testing.assert_array_equal(pca.impute(whole), whole)


def test_a_model_that_refuses_gaps_has_neither():
    _, x = _rows()
    pca = PCA(2).fit(np.nan_to_num(x))
    assert not hasattr(pca, "impute")
    assert not hasattr(pca, "score_error")
    batches = PCA(2, missing="em").partial_fit(np.nan_to_num(x))
    with pytest.raises(InputError, match="no model of missing cells"):
        batches.impute(x)
    with pytest.raises(InputError, match="no model of missing cells"):
        batches.score_error(x)
    with pytest.raises(InputError, match="rows in memory"):
        PCA(2, missing="em").fit(x).impute("rows.npy")


def test_rows_with_nothing_observed_are_the_means():
    _, x = _rows()
    pca = PCA(2, missing="em").fit(x)
    bare = np.full((3, 7), np.nan)
    bare[1] = x[0]
    with pytest.warns(DataWarning, match="2 such rows: 0, 2"):
        found = pca.impute(bare)
    np.testing.assert_allclose(found[[0, 2]], [pca.completion_.mean] * 2, rtol=1e-12)
    np.testing.assert_array_equal(found[1], x[0])


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_infinite_cells_are_refused_by_their_place(form):
    _, x = _rows()
    pca = PCA(2, missing="em").fit(x)
    x[7, 3] = -np.inf
    for ask in (pca.impute, pca.score_error):
        with pytest.raises(InputError, match="-infinity at row 7, column 3"):
            ask(form(x))
    frame = pd.DataFrame(x, columns=list("abcdefg"))
    named = PCA(2, missing="em").fit(frame.drop(index=7))
    with pytest.raises(InputError, match=r"row 7, column 3 \('d'\)"):
        named.impute(frame)


@pytest.mark.parametrize("method", ["em", "ppca"])
def test_rows_that_do_not_count_make_no_coordinate_less_sure(method):
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


@pytest.mark.parametrize("method", ["em", "ppca"])
def test_a_weight_is_a_repeated_row_for_errors_of_coordinates(method, tmp_path):
    _, x = _rows()
    weights = np.where(np.isnan(x).any(axis=1), 1, 30)
    one = PCA(2, missing=method, tol=1e-10).fit(x, sample_weight=weights)
    two = PCA(2, missing=method, tol=1e-10).fit(np.repeat(x, weights, axis=0))
    wanted = two.score_error(x)
    np.testing.assert_allclose(one.score_error(x), wanted, rtol=1e-9, atol=0)
    mercer.save(one, tmp_path / "model.mercer")
    kept = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(kept.score_error(x), one.score_error(x))


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
