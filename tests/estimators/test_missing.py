"""PCA of incomplete rows: oracles, invariances, hard inputs, and every kind of table."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from tests.claims import agree, refuses, warned
from tests.estimators.missing_oracles import (
    alike,
    fit,
    iterated,
    likeliest,
    table,
)

import mercer
import mercer.dropin
from mercer.arrays import listening
from mercer.errors import BudgetError, DataWarning, InputError
from mercer.estimators.missing import _missing_cells as _missing
from mercer.operators.completion import _compiled_expectation, _completion_sums
from mercer.operators.completion._compiled_expectation import CompiledExpectation

DATA = Path(__file__).parents[1] / "data"
METHODS = ["em", "ppca"]


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_em_is_the_plain_algorithm(standardize, weighted):
    X = table()
    w = np.random.default_rng(0).integers(0, 4, 60).astype(float) if weighted else None
    filled = iterated(X, 2, standardize, w)
    found = fit(X, standardize=standardize, sample_weight=w)
    alike(found, mercer.PCA(2, standardize=standardize).fit(filled, sample_weight=w), 1e-7)
    apart = found.completion_.filled(X) - filled
    assert np.abs(apart if w is None else apart[w > 0]).max() < 1e-7


@pytest.mark.parametrize("k", [1, 3])
def test_ppca_is_the_largest_likelihood(k):
    X = table()
    mean, S, noise = likeliest(X, k)
    found = fit(X, k, "ppca")
    values, V = np.linalg.eigh(S * len(X) / (len(X) - 1))
    np.testing.assert_allclose(found.explained_variance_, values[::-1][:k], rtol=1e-8)
    overlap = np.abs(np.sum(found.components_ * V[:, ::-1][:, :k].T, axis=1))
    agree(overlap, 1.0, 1e-10)
    agree(found.mean_, mean, 1e-8)
    assert found.completion_.noise == pytest.approx(noise, rel=1e-7)
    assert found.noise_variance_ == pytest.approx(noise * 60 / 59, rel=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_repeated_rows_and_scaled_columns(method):
    X = table()
    w = np.random.default_rng(1).integers(0, 4, 60)
    weighted = fit(X, missing=method, standardize=True, sample_weight=w)
    alike(weighted, fit(np.repeat(X, w, axis=0), missing=method, standardize=True), 1e-9)
    X, weight = table(), np.array([1.0, 4, 1, 0.25, 1, 9, 1])
    one = fit(X, missing=method, feature_weight=weight)
    other = fit(X * np.sqrt(weight), missing=method)
    np.testing.assert_allclose(one.explained_variance_, other.explained_variance_, rtol=1e-8)
    agree(one.components_, other.components_, 1e-7)


@pytest.mark.parametrize("value", [5.0, 9.96921e36, 1e300])  # 1e36: netCDF's mark of no value
@pytest.mark.parametrize("method", METHODS)
def test_rows_of_weight_zero_are_left_out(method, value):
    X = table()
    far = np.r_[np.full((3, 7), value), X, np.full((2, 7), -value)]
    far[0, 2] = np.nan
    w = np.r_[np.zeros(3), np.ones(len(X)), np.zeros(2)]
    for wanted in (2, None, 0.9):
        found = fit(far, wanted, missing=method, sample_weight=w)
        alike(found, fit(X, wanted, missing=method), 1e-9)
    X[:, 5] = np.where(np.isnan(X[:, 5]), np.nan, 2.0)  # constant in the rows that count
    far[3:-2] = X
    with pytest.warns(mercer.DataWarning, match=r"constant columns(.|\n)*columns: 5"):
        found = fit(far, missing=method, standardize=True, sample_weight=w)
    alike(found, warned("constant columns", fit, X, missing=method, standardize=True), 1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_shift_scale_and_order(method):
    X = table()
    found = fit(X, missing=method)
    moved = fit(X + 1e3, missing=method)
    np.testing.assert_allclose(moved.explained_variance_, found.explained_variance_, rtol=1e-9)
    for scale in (1e-150, 1e-3, 1e150):
        scaled = fit(X * scale, missing=method)
        ratio = scaled.explained_variance_ratio_ / found.explained_variance_ratio_
        np.testing.assert_allclose(ratio, 1, rtol=1e-9)
        np.testing.assert_allclose(scaled.mean_, found.mean_ * scale, rtol=1e-9)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(60), rng.permutation(7)
    turned = fit(X[rows][:, columns], missing=method)
    np.testing.assert_allclose(turned.explained_variance_, found.explained_variance_, rtol=1e-9)
    overlap = np.abs(np.sum(turned.components_ * found.components_[:, columns], axis=1))
    agree(overlap, 1.0, 1e-9)


def test_far_from_the_origin():
    X = np.round(table() * 2**10) / 2**10  # so that adding 1e8 rounds nothing
    alike_rtol = 1e-6  # filled cells are rounded where they stand
    near, far = fit(X), fit(X + 1e8, tol=1e-9)
    np.testing.assert_allclose(
        far.explained_variance_, near.explained_variance_, rtol=alike_rtol
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("memory", [None, "16MB"])
def test_files_and_blocks_are_arrays(tmp_path, method, memory):
    X = table(rows=3000, columns=12, share=0.3)
    np.save(tmp_path / "x.npy", X)
    held = fit(X, missing=method)
    read = fit(tmp_path / "x.npy", missing=method, memory=memory)
    alike(read, held)
    agree(read.transform(tmp_path / "x.npy"), held.transform(X), 1e-7)


def test_large_tables_take_the_scatter_of_the_last_pass(monkeypatch):
    X = table(rows=4000, columns=12, share=0.3)
    walked = fit(X, 3)
    monkeypatch.setattr(_missing, "LARGE", 1000)
    summed = fit(X, 3)
    alike(summed, walked, 1e-7)
    assert summed.certificate_.met
    assert "missing" in summed.plan_.remark
    table_filled = summed.completion_.filled(X)
    lowest, highest = summed.certificate_.lower, summed.certificate_.upper
    exact = np.linalg.eigvalsh(np.cov(table_filled, rowvar=False))[::-1][:3]
    assert np.all((lowest <= exact * (1 + 1e-8)) & (exact <= highest * (1 + 1e-8)))


@pytest.mark.parametrize("standardize", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_large_tables_are_completed_in_compiled_loops(monkeypatch, tmp_path, standardize):
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((42_000, 3)) @ rng.standard_normal((3, 100)) + 30
    X += rng.standard_normal(X.shape)
    X[rng.random(X.shape) < 0.1] = np.nan
    np.save(tmp_path / "rows.npy", X)
    calls = []
    run = CompiledExpectation._run
    monkeypatch.setattr(
        CompiledExpectation, "_run", lambda *args, **how: calls.append(1) or run(*args, **how)
    )
    model = mercer.PCA(3, missing="em", standardize=standardize)
    loops = clone(model).fit(X)
    filled = loops.impute(X)
    from_file = clone(model).fit(tmp_path / "rows.npy")
    assert calls
    for module in (_completion_sums, _compiled_expectation):
        monkeypatch.setattr(module, "can_compile", lambda: False)
    calls.clear()
    plain = clone(model).fit(X)
    other = plain.impute(X)
    assert not calls
    assert loops.em_passes_ == plain.em_passes_ == from_file.em_passes_
    np.testing.assert_array_equal(loops.missing_counts_, plain.missing_counts_)
    agree(filled, other, 1e-5)  # float32 on the way
    for found in (loops, from_file):
        agree(found.components_, plain.components_, 1e-6)
        np.testing.assert_allclose(
            found.explained_variance_, plain.explained_variance_, rtol=1e-6
        )


@pytest.mark.parametrize("method", METHODS)
def test_many_columns_and_more_missing_than_observed(method):
    X = table(rows=80, columns=300, share=0.2)
    found = fit(X, 3, method, tol=1e-9)
    if method == "em":
        agree(found.completion_.filled(X), iterated(X, 3), 1e-4)
    assert found.components_.shape == (3, 300)
    X = table(rows=300, share=0.65, seed=4)
    X = X[~np.isnan(X).all(axis=1)]
    assert np.isnan(X).all(axis=1).sum() == 0
    found = fit(X, 2, method, tol=1e-5)
    assert np.isnan(X).any(axis=1).mean() > 0.9
    assert np.isfinite(found.transform(X)).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("wanted", [2, None, 0.8, 7])
def test_complete_rows_give_the_bits_of_plain_pca(method, wanted):
    X = np.nan_to_num(table())
    found, plain = mercer.PCA(wanted, missing=method).fit(X), mercer.PCA(wanted).fit(X)
    for name in ("components_", "explained_variance_", "mean_", "noise_variance_"):
        assert np.array_equal(getattr(found, name), getattr(plain, name))
    assert found.plan_.chosen.name == plain.plan_.chosen.name
    assert np.array_equal(found.transform(X), plain.transform(X))
    assert found.n_missing_ == found.em_passes_ == 0
    assert found.missing_counts_.tolist() == [0] * 7


@pytest.mark.parametrize("method", METHODS)
def test_a_model_of_complete_rows_fills_those_to_come(method):
    whole = table(share=0.0, rows=2000, noise=0.1)
    model = mercer.PCA(3, missing=method).fit(whole)
    gaps = whole.copy()
    gaps[::3, 2] = np.nan
    assert np.abs(model.completion_.filled(gaps) - whole).max() < 1.5
    near = np.abs(model.transform(gaps) - model.transform(whole)).mean()
    assert near < 0.2
    integers = mercer.PCA(2, missing=method).fit(np.arange(40).reshape(10, 4) ** 2)
    assert np.isfinite(integers.transform(np.array([[np.nan, 1.0, 4, 9]]))).all()


def test_missing_cells_are_refused_with_their_counts():
    frame = pd.DataFrame({"a": [1.0, np.nan, 3], "b": [1.0, 2, 4], "c": [np.nan, np.nan, 2]})
    with pytest.raises(InputError) as error:
        mercer.PCA(1).fit(frame)
    assert str(error.value) == (
        "X contains NaN; 3 of 9 cells are missing, in 2 of 3 columns\n"
        "  got: 'a' 1, 'c' 2; the first is NaN at row 0, column 2 ('c')\n"
        '  fix: pass missing="em" at fit, or drop or impute such rows or columns first'
    )
    model = mercer.PCA(1).fit(frame.fillna(0.0))
    refuses("3 of 9 cells", model.transform, frame)


def test_files_count_too_and_streams_say_what_they_saw(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n3,\n,5\n6,1\n")
    for call in (
        lambda: mercer.PCA(1).fit(path),
        lambda: mercer.PCA(1).fit(np.eye(2)).transform(path),
    ):
        with pytest.raises(InputError, match="2 of 8 cells are missing") as error:
            call()
        assert "x.csv, line 3, column 'b'" in error.value.got
    refuses("cells are missing", mercer.PCA(2, missing="em").partial_fit, table())
    refuses("X contains NaN", mercer.PCA(1).fit, iter([np.array([[1.0, 2], [np.nan, 1]])]))


@pytest.mark.parametrize("method", METHODS)
def test_the_plan_says_what_was_done_and_checkpoints_keep_every_pass(method, tmp_path):
    found = fit(table(), missing=method)
    n = int(np.isnan(table()).sum())
    assert f"missing: {n} of 420 cells in 7 columns, {method} with 2 axes in" in str(
        found.plan_
    )
    assert found.n_missing_ == n
    assert found.missing_counts_.sum() == n
    assert found.em_passes_ > 2
    X = table(rows=400)
    plain = mercer.PCA(2, missing=method).fit(X)
    found = mercer.PCA(2, missing=method).fit(X, checkpoint=tmp_path / "sums")
    again = mercer.PCA(2, missing=method).fit(X, checkpoint=tmp_path / "sums")
    assert np.array_equal(found.components_, again.components_)
    alike(found, plain)


@pytest.mark.parametrize("method", METHODS)
def test_rows_with_nothing_are_left_out_and_lie_at_zero(method):
    X = table()
    found = fit(X, missing=method)
    more = np.concatenate([X[:10], np.full((2, 7), np.nan), X[10:]])
    padded = warned("2 such rows: 10, 11", fit, more, missing=method)
    alike(padded, found, 1e-9)
    assert padded.n_samples_ == 62
    Z = warned("their coordinates are zero", padded.transform, more)
    np.testing.assert_array_equal(Z[10:12], 0.0)
    agree(np.delete(Z, [10, 11], axis=0), found.transform(X), 1e-8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("standardize", [False, True])
def test_columns_with_one_value_or_constant(method, standardize):
    X = table()
    X[1:, 3] = np.nan  # one value
    X[0, 3] = 2.5
    X[:, 5] = np.where(np.isnan(X[:, 5]), np.nan, 0.1)
    if standardize:
        found = warned("constant columns", fit, X, missing=method, standardize=True)
    else:
        found = fit(X, missing=method)
    filled = found.completion_.filled(X)
    assert np.all(filled[:, 3] == 2.5)
    assert np.all(filled[:, 5] == 0.1)
    assert np.abs(found.components_[:, [3, 5]]).max() < 1e-15
    assert np.isfinite(found.transform(X)).all()


@pytest.mark.parametrize("wanted", [5, 6, 7, None, 0.5, "mle"])
@pytest.mark.parametrize("method", METHODS)
def test_as_many_axes_as_columns(method, wanted):
    found = fit(table(rows=200), wanted, method, tol=1e-6)
    assert found.completion_.axes.shape[1] <= 6
    assert np.isfinite(found.transform(table())).all()


@pytest.mark.parametrize(
    "rows", [[[1.0], [np.nan], [3.0]], [[1.0, np.nan], [np.nan, 2.0]]], ids=["1", "2"]
)
def test_tiny_tables(rows):
    X = np.concatenate([rows, np.array(rows) + 1.0])
    X = X[~np.isnan(X).all(axis=1)]
    found = fit(X, 1, tol=1e-6)
    assert np.isfinite(found.transform(X)).all()


def test_infinity_float32_and_sums_that_do_not_fit():
    X = table()
    X[40, 2] = np.inf
    refuses("inf; every cell", fit, X)
    model = fit(table())
    refuses("inf; every cell", model.transform, X)
    X = table(rows=500)
    found = mercer.PCA(2, missing="em").fit(X.astype(np.float32))
    assert found.components_.dtype == np.float32
    assert found.transform(X.astype(np.float32)).dtype == np.float32
    wide = fit(X)
    np.testing.assert_allclose(found.explained_variance_, wide.explained_variance_, rtol=1e-4)
    with pytest.raises(BudgetError, match="ppca"):
        fit(table(rows=40, columns=400), 2, "ppca", tol=1e-3, memory="2MB")


@pytest.mark.parametrize("method", METHODS)
def test_where_no_axis_is_beyond_noise_means_fill_the_cells(method):
    X = np.random.default_rng(0).normal(size=(300, 12)) + 5
    model = warned("no component beyond noise", mercer.PCA("auto", missing=method).fit, X)
    assert model.n_components_ == 0
    rows = X[:4].copy()
    rows[1, 3] = np.nan
    filled = model.impute(rows)
    assert filled[1, 3] == pytest.approx(X[:, 3].mean())
    assert model.completion_.noise == pytest.approx(X.var(axis=0, ddof=1).mean())
    assert model.transform(rows).shape == (4, 0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("standardize", [False, True])
def test_noise_without_axes_is_filled_by_its_means(method, standardize):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    X[rng.random(X.shape) < 0.1] = np.nan
    found = mercer.PCA(standardize=standardize, missing=method).fit(X)
    assert found.completion_.axes.shape == (5, 0)
    mean = np.broadcast_to(np.nanmean(X, axis=0), X.shape)
    np.testing.assert_allclose(found.impute(X), np.where(np.isnan(X), mean, X), atol=1e-12)
    agree(found.mean_, mean[0], 1e-12)


def frames():
    X, names = table(), list("abcdefg")
    frame = pd.DataFrame(X, columns=names)
    lists = {
        name: [None if np.isnan(v) else v for v in X[:, j]] for j, name in enumerate(names)
    }
    return {
        "pandas": frame,
        "nullable": frame.astype("Float64"),
        "objects": frame.astype(object).where(frame.notna(), None),
        "NA objects": frame.astype(object).where(frame.notna(), pd.NA),
        "polars": pl.DataFrame(lists),
        "lazy": pl.DataFrame(lists).lazy(),
        "masked": np.ma.masked_invalid(X),
        "fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "sparse": scipy.sparse.csr_array(X),
        "list": X.tolist(),
        "function": lambda: iter([X[:13], X[13:]]),
    }


@pytest.mark.parametrize("kind", list(frames()))
def test_all_kinds_of_tables(kind):
    data, reference = frames()[kind], fit(table())
    found = fit(data)
    alike(found, reference)
    agree(found.transform(data), reference.transform(table()), 1e-8)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_with_empty_cells(tmp_path, suffix):
    frame, path = frames()["polars"], tmp_path / f"x{suffix}"
    (frame.write_csv if suffix == ".csv" else frame.write_parquet)(path)
    found = fit(path)
    alike(found, fit(table()))
    out = found.transform(path, out=tmp_path / "z.npy")
    np.testing.assert_array_equal(np.load(out), found.transform(path))


def test_integers_with_gaps_and_densities():
    frame = pd.DataFrame(np.arange(40).reshape(10, 4) ** 2 % 17).rename(columns=str)
    frame = frame.astype("Int64")
    frame.loc[2, "1"] = pd.NA
    assert fit(frame, tol=1e-6).n_missing_ == 1
    model = fit(table())
    refuses("cells are missing", model.score_samples, table())
    assert np.isfinite(model.score(np.nan_to_num(table(), nan=5.0)))


@pytest.mark.parametrize("method", METHODS)
def test_whitening_names_and_the_way_back(method):
    X = table()
    for whiten in (True, "zca"):
        found = fit(X, missing=method, whiten=whiten)
        assert found.transform(X).shape[1] == len(found.get_feature_names_out())
    found = fit(X, missing=method)
    Z = found.fit_transform(X)
    np.testing.assert_array_equal(Z, found.transform(X))
    rebuilt = found.inverse_transform(Z)
    seen = ~np.isnan(X)
    left = np.mean((rebuilt - X)[seen] ** 2)
    assert left < 0.5 * np.nanvar(X, axis=0).mean()


class Passes:
    """Listens to a fit, and stops it where the pass of that number begins."""

    def __init__(self, last=None):
        self.told, self.last = [], last

    def begin(self, name, note):
        self.told.append(name)
        if name == f"completion, pass {self.last}":
            raise KeyboardInterrupt

    def advance(self, done, total, words=""):
        pass

    def end(self, name):
        pass


def test_a_killed_fit_goes_on(tmp_path):
    X = table(rows=400)
    held, ear = fit(table()), Passes()
    model, before = mercer.PCA(2, missing="em"), held.components_.copy()
    with listening(ear):
        whole = clone(model).fit(X, checkpoint=tmp_path / "whole")
    assert ear.told[:3] == ["missing cells", "completion, pass 1", "completion, pass 2"]
    sums = mercer.Checkpoint(tmp_path / "sums", every=0)
    for fitted in (model, held):
        with listening(Passes(4)), pytest.raises(KeyboardInterrupt):
            fitted.fit(X, checkpoint=sums if fitted is model else None)
    assert not hasattr(model, "components_")
    assert np.array_equal(held.components_, before)
    model.fit(X, checkpoint=sums)
    assert np.array_equal(model.components_, whole.components_)


MEASURES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def test_penguins_with_two_rows_of_no_measure():
    path = DATA / "penguins.csv"
    frame = pd.read_csv(path)[MEASURES]
    refuses("8 of 1,376 cells are missing, in 4 of 4 columns", mercer.PCA(2).fit, frame)
    with pytest.warns(DataWarning, match="2 such rows: 3, 271"):
        held = mercer.PCA(2, missing="em", standardize=True).fit(frame)
    with pytest.warns(DataWarning, match="2 such rows: 3, 271"):
        read = mercer.PCA(2, missing="em", standardize=True).fit(
            mercer.scan(path, columns=MEASURES)
        )
    alike(read, held)
    assert held.n_missing_ == 8
    # Those two rows say nothing: the rest is complete, and gives plain PCA.
    plain = mercer.PCA(2, standardize=True).fit(frame.dropna())
    np.testing.assert_allclose(held.explained_variance_, plain.explained_variance_, rtol=1e-9)
    Z = warned("coordinates are zero", held.transform, frame)
    np.testing.assert_array_equal(Z[[3, 271]], 0.0)


@pytest.mark.parametrize(("missing", "words"), [("em", "memory"), ("ppca", "p×p sums")])
def test_what_does_not_fit_is_refused_before_cells_are_filled(missing, words):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((150, 3)) @ rng.standard_normal((3, 1800))
    rows += 0.1 * rng.standard_normal(rows.shape)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    walks = []

    def blocks():
        walks.append(1)
        return iter([rows[:70], rows[70:]])

    refuses(words, mercer.PCA(3, missing=missing, memory="6MB").fit, blocks, kind=BudgetError)
    assert len(walks) <= 2  # one looks for missing cells


SAID = "filled by linear PCA"


def fitted(X, **parameters):
    return warned(SAID, mercer.KernelPCA(3, missing="em", **parameters).fit, X)


@pytest.mark.parametrize(
    "parameters", [{}, {"landmarks": 110, "tol": 0.5}, {"standardize": True}], ids=str
)
def test_is_kernel_pca_of_the_completed_rows(parameters):
    X = table(rows=120)
    found = fitted(X, **parameters)
    filled = iterated(X, found.completion_.axes.shape[1], parameters.get("standardize", False))
    plain = mercer.KernelPCA(3, **parameters).fit(filled)
    np.testing.assert_allclose(found.eigenvalues_, plain.eigenvalues_, rtol=1e-5)
    np.testing.assert_allclose(found.transform(X), found.transform(found.completion_.filled(X)))
    assert found.n_missing_ == np.isnan(X).sum()
    assert found.missing_counts_.shape == (7,)


def test_a_kernel_of_complete_rows_and_of_gaps_to_come():
    X = table(rows=80)
    model = mercer.KernelPCA(2, missing="em")
    Z = warned(SAID, model.fit_transform, X)
    agree(Z, model.transform(X), 1e-10)
    assert model.novelty(X).shape == (80,)
    X = np.nan_to_num(table())
    found, plain = mercer.KernelPCA(2, missing="em").fit(X), mercer.KernelPCA(2).fit(X)
    assert np.array_equal(found.eigenvalues_, plain.eigenvalues_)
    assert found.n_missing_ == 0
    assert np.isfinite(found.transform(table())).all()


def test_rows_without_weight_or_cells_are_none_of_a_kernel():
    X = table()
    bare = fitted(X, kernel=mercer.kernels.RBF(12.0))
    far, w = np.r_[np.full((3, X.shape[1]), 9.96921e36), X], np.r_[0, 0, 0, np.ones(len(X))]
    model = mercer.KernelPCA(3, kernel=mercer.kernels.RBF(12.0), missing="em")
    warned(SAID, model.fit, far, sample_weight=w)
    np.testing.assert_allclose(model.eigenvalues_, bare.eigenvalues_, rtol=1e-9)
    X = table()
    X[4] = np.nan
    with pytest.warns(DataWarning, match=SAID), pytest.warns(DataWarning, match="such rows: 4"):
        found = mercer.KernelPCA(2, missing="em").fit(X)
    with pytest.warns(DataWarning, match="projected as the mean"):
        assert np.isfinite(found.transform(X)).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda X: mercer.KernelPCA(2).fit(X),
        lambda X: mercer.KernelPCA(2, missing="em").partial_fit(X),
        lambda X: mercer.KernelPCA(2, missing="em").fit(iter([X])),
        lambda X: mercer.KernelPCA(2, missing="em", kernel="precomputed").fit(X[:7]),
        lambda X: mercer.dropin.KernelPCA(2).fit(X),
    ],
    ids=["raise", "partial_fit", "stream", "precomputed", "dropin"],
)
def test_where_cells_are_not_filled_they_are_refused(call):
    refuses("cells are missing", call, table())


@pytest.mark.parametrize("standardize", [False, True])
def test_rows_with_gaps_can_be_planned(standardize):
    X = np.random.default_rng(0).standard_normal((40, 3))
    X[4, 1] = np.nan
    model = mercer.KernelPCA(2, missing="em", standardize=standardize)
    assert mercer.plan(model, X).problem.rows == 40
    assert np.isnan(X[4, 1])
    refuses("missing", mercer.plan, mercer.KernelPCA(2, standardize=True), X)
