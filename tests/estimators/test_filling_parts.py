import numpy as np
import pytest
from dask_rows import LAYOUTS, frame
from tests.claims import agree, refuses, warned

import mercer
from mercer.errors import DataWarning, InputError
from mercer.estimators.missing import _filling as _filling_start
from mercer.estimators.missing import _missing_cells as _missing

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.usefixtures("every_chunk")


def gappy(n=600, p=6, share=0.15, seed=0, dtype=np.float64):
    """Return rows near a plane, far from the origin, with cells missing at random."""
    rng = np.random.default_rng([seed, n, p])
    X = rng.standard_normal((n, 2)) * [3, 1.5] @ rng.standard_normal((2, p))
    X = (X + 0.4 * rng.standard_normal((n, p)) + 40).astype(dtype)
    X[rng.random((n, p)) < share] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 40.0
    return X


def close(one, other, tol=1e-10):
    """Compare two models: axes, variances, mean, and what they fill cells with."""
    assert one.components_.shape == other.components_.shape
    agree(one.components_, other.components_, tol)
    np.testing.assert_allclose(one.explained_variance_, other.explained_variance_, rtol=tol)
    np.testing.assert_allclose(one.noise_variance_, other.noise_variance_, rtol=tol)
    np.testing.assert_allclose(one.mean_, other.mean_, rtol=tol)
    np.testing.assert_allclose(one.completion_.noise, other.completion_.noise, rtol=10 * tol)
    np.testing.assert_allclose(one.completion_.mean, other.completion_.mean, rtol=tol)


def fitted(data, missing="em", **given):
    weights = given.pop("sample_weight", None)
    given = {"tol": 1e-11, **given}  # the last step moves a tenth of what is compared
    return mercer.PCA(2, missing=missing, **given).fit(data, sample_weight=weights)


@pytest.mark.parametrize(
    ("missing", "layout"),
    [*(("em", name) for name in LAYOUTS)]
    + [("ppca", name) for name in ("uneven", "empty parts", "sparse")],
)
def test_parts_give_what_rows_in_memory_give(missing, layout):
    X = gappy()
    here, there = fitted(X, missing), fitted(LAYOUTS[layout](X), missing)
    close(here, there)
    assert there.n_samples_ == 600
    assert there.n_missing_ == np.isnan(X).sum()
    np.testing.assert_array_equal(there.missing_counts_, np.isnan(X).sum(axis=0))
    assert there.em_passes_ >= 1
    words = f"missing: {np.isnan(X).sum()} of 3,600 cells in 6 columns, {missing} with 2 axes"
    assert words in str(there.plan_)


@pytest.mark.parametrize(
    ("missing", "given"),
    [
        ("em", {"standardize": True}),
        ("ppca", {"standardize": True}),
        ("em", {"feature_weight": [1, 4, 0.25, 1, 2, 1], "whiten": True}),
    ],
    ids=["em-standardize", "ppca-standardize", "em-feature_weight-whiten"],
)
def test_columns_are_scaled_as_in_memory(missing, given):
    X = gappy() * [1, 100, 0.01, 1, 5, 1]
    here, there = fitted(X, missing, **given), fitted(LAYOUTS["rows"](X), missing, **given)
    close(here, there)
    d = LAYOUTS["rows"](X)
    agree(there.transform(d).compute(), here.transform(X), 1e-6)


@pytest.mark.parametrize("missing", ["em", "ppca"])
def test_a_sample_begins_and_all_rows_end(monkeypatch, missing):
    monkeypatch.setattr(_filling_start, "_FEW_ROWS", 40)
    monkeypatch.setattr(_missing, "LARGE", 100.0)  # the last sums are taken where they do
    X = gappy(900)
    here, there = fitted(X, missing), fitted(da.from_array(X, chunks=(100, 6)), missing)
    close(here, there)
    assert there.em_passes_ > 2  # a few rows alone would not have settled it


@pytest.mark.parametrize("chunks", [(2000, 60), (1777, 60), (777, 7), (20_000, 11)])
def test_where_no_tolerance_is_given_parts_take_the_same_steps(chunks):
    X = gappy(20_000, 60, 0.1)
    here = mercer.PCA(2, missing="em").fit(X)
    there = mercer.PCA(2, missing="em").fit(da.from_array(X, chunks=chunks))
    assert here.em_passes_ == there.em_passes_
    close(here, there, 1e-8)  # products on the way are float32


def test_with_a_tolerance_parts_of_unknown_sizes_end_where_rows_in_memory_do():
    X = gappy(40_000, 30, 0.1)
    uneven = (11_001, 17_003, 2, 5_000, 6_994)
    cut = da.from_array(X, chunks=(uneven, 30))
    cut = cut[da.from_array(np.ones(len(X), bool), chunks=(uneven,))]
    close(fitted(X), fitted(cut))


@pytest.mark.parametrize("missing", ["em", "ppca"])
def test_many_columns_go_through_a_basis(missing):
    X = gappy(260, 230, 0.1)
    here, there = fitted(X, missing), fitted(da.from_array(X, chunks=(70, 100)), missing)
    agree(np.abs(np.sum(here.components_ * there.components_, axis=1)), 1, 1e-8)
    np.testing.assert_allclose(here.explained_variance_, there.explained_variance_, rtol=1e-7)


@pytest.mark.parametrize(("missing", "kept"), [("em", 40), ("em", 4096), ("ppca", 4096)])
def test_weights_are_repeats(monkeypatch, missing, kept):
    monkeypatch.setattr(_filling_start, "_FEW_ROWS", kept)
    X = gappy(240)
    w = np.random.default_rng(5).integers(0, 4, 240)
    d, v = da.from_array(X, chunks=(70, 3)), da.from_array(w, chunks=100)
    repeated = da.from_array(np.repeat(X, w, axis=0), chunks=(90, 6))
    model = fitted(d, missing, sample_weight=v)
    close(model, fitted(repeated, missing), 1e-9)
    assert model.em_passes_ <= (2 if kept > 240 else 30)  # begun with weights, too
    close(fitted(d, missing, sample_weight=w), fitted(X, missing, sample_weight=w))


@pytest.mark.parametrize("wanted", [None, "mle"])
def test_the_rank_is_chosen_where_the_rows_lie(wanted):
    X = gappy(share=0.1)
    here = mercer.PCA(wanted, missing="em", tol=1e-10).fit(X)
    there = mercer.PCA(wanted, missing="em", tol=1e-10).fit(LAYOUTS["rows"](X))
    assert here.completion_.axes.shape == there.completion_.axes.shape
    close(here, there)


def test_single_precision_stays_single():
    X = gappy(dtype=np.float32)
    here, there = fitted(X, tol=1e-5), fitted(LAYOUTS["rows"](X), tol=1e-5)
    assert there.components_.dtype == np.float32
    agree(here.components_, there.components_, 1e-4)
    assert there.transform(LAYOUTS["rows"](X)).dtype == np.float32


@pytest.mark.parametrize("missing", ["em", "ppca"])
def test_every_scheduler_gives_the_same_bits(missing):
    X, found = gappy(), []
    for scheduler in ("sync", "threads"):
        with dask.config.set(scheduler=scheduler):
            found.append(fitted(LAYOUTS["uneven"](X), missing))
    for name in ("components_", "explained_variance_", "mean_", "singular_values_"):
        np.testing.assert_array_equal(*(getattr(model, name) for model in found))
    np.testing.assert_array_equal(*(model.completion_.values for model in found))


@pytest.mark.slow
def test_a_cluster_gives_the_same_bits(cluster):
    X = gappy()
    plain = fitted(LAYOUTS["rows"](X), tol=1e-6)
    with dask.config.set(scheduler=None), cluster.as_current():
        spread = fitted(LAYOUTS["rows"](X), tol=1e-6)
    np.testing.assert_array_equal(plain.components_, spread.components_)
    np.testing.assert_array_equal(plain.completion_.axes, spread.completion_.axes)


@pytest.mark.parametrize("missing", ["em", "ppca"])
def test_rows_with_nothing_observed_are_left_out_and_named(missing):
    X = gappy()
    with_empty = np.insert(X, [0, 200, 200, 431], np.nan, axis=0)
    d = da.from_array(with_empty, chunks=(130, 6))
    model = warned(r"4 such rows: row 0, row 201, row 202, row 434", fitted, d, missing)
    close(model, fitted(X, missing))
    assert model.n_samples_ == 604
    assert "4 rows with nothing observed left out" in str(model.plan_)
    with pytest.warns(DataWarning, match="their coordinates are zero") as said:
        found = model.transform(d).compute()
    named = sorted(str(each.message).split("\n")[1].split(": ", 2)[2] for each in said)
    assert named == ["row 0", "row 201, row 202", "row 434"]
    assert np.all(found[[0, 201, 202, 434]] == 0.0)
    assert np.all(np.delete(found, [0, 201, 202, 434], axis=0) != 0.0)
    with pytest.warns(DataWarning, match=r"part 0, row 0, part 1, row 71"):
        close(fitted(d[da.from_array(np.ones(604, bool), chunks=130)], missing), model)


def test_few_rows_that_weigh_much_begin_with_all(monkeypatch):
    monkeypatch.setattr(_filling_start, "_FEW_ROWS", 4)
    X, w = gappy(), np.ones(600)
    w[::100] = 1e4
    close(fitted(LAYOUTS["rows"](X), sample_weight=w), fitted(X, sample_weight=w))


def test_columns_with_nothing_observed_are_refused_by_name():
    X = gappy()
    X[:, 2] = np.nan
    refuses(r"1 such columns, in 600 rows: 'c'", fitted, frame(X))
    refuses(r"1 such columns, in 600 rows: 2", fitted, LAYOUTS["unknown sizes"](X))
    X[5, 2] = 1.0
    w = np.ones(600)
    w[5] = 0
    with pytest.raises(InputError, match=r"1 such columns, in rows that count: 2"):
        fitted(LAYOUTS["rows"](X), sample_weight=w)


def test_too_few_rows_are_refused():
    X = np.full((9, 3), np.nan)
    X[4] = [1, 2, 3]
    refuses("1 of 9 rows", fitted, da.from_array(X, chunks=(3, 3)))
    none = da.zeros(600, chunks=200)
    with pytest.raises(InputError, match="all sample weights are zero\n  got: 600 rows"):
        fitted(LAYOUTS["rows"](gappy()), sample_weight=none)


@pytest.mark.parametrize("layout", ["rows", "columns", "frame"])
def test_an_infinite_cell_of_new_rows_is_named_and_no_missing_one(layout):
    model, X = fitted(gappy()), gappy(seed=1)
    X[444, 4] = np.inf
    with pytest.raises(InputError, match=r"inf(.|\n)*(row 444|part 3, row 84), column 4"):
        np.asarray(model.transform(LAYOUTS[layout](X)))


@pytest.mark.parametrize("missing", ["em", "ppca"])
def test_complete_rows_are_analysed_as_they_are(missing):
    X = np.nan_to_num(gappy(), nan=40.0)
    d = LAYOUTS["rows"](X)
    model, plain = fitted(d, missing), mercer.PCA(2, tol=1e-10).fit(d)
    np.testing.assert_array_equal(model.components_, plain.components_)
    assert (model.n_missing_, model.em_passes_) == (0, 0)
    gaps = da.from_array(gappy(seed=1), chunks=(130, 6))
    assert np.isfinite(model.transform(gaps).compute()).all()


def test_whole_numbers_and_constant_columns():
    X = np.random.default_rng(0).integers(0, 9, (60, 4))
    model = fitted(da.from_array(X, chunks=(20, 4)))
    assert model.n_missing_ == 0
    np.testing.assert_allclose(model.mean_, X.mean(axis=0))
    X = gappy()
    X[:, 3] = np.where(np.isnan(X[:, 3]), np.nan, 7.25)
    model = fitted(LAYOUTS["rows"](X))
    close(model, fitted(X))
    assert model.mean_[3] == 7.25


def test_lazy_coordinates_come_with_the_fit_and_a_refusal_says_what_would_help():
    refuses('missing="em"', mercer.PCA(2).fit, LAYOUTS["rows"](gappy()))
    X = gappy()
    d = LAYOUTS["rows"](X)
    model = mercer.PCA(2, missing="em", tol=1e-10)
    found = model.fit_transform(d)
    assert hasattr(found, "dask")
    agree(found.compute(), model.transform(X), 1e-10)
