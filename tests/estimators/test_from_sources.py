"""Files and streams go through the same doors as arrays, block by block."""

import contextlib
import dataclasses
import sqlite3
import threading

import numpy as np
import pytest
import scipy.sparse
from forced import FORCED, factors, gapped
from pieces import Pieces, in_blocks
from tests.claims import refuses

import mercer
from mercer import PCA
from mercer.errors import BudgetError, InputError
from mercer.sources import ArrayBlocks, scan

X = gapped(90, 8, 0) + 5


def three_lines(caught):
    text = str(caught.value)
    assert text.count("\n") == 2
    return text


def same(one, two, tol=1e-10):
    size = two.explained_variance_[0]
    assert np.allclose(one.explained_variance_, two.explained_variance_, 0, tol * size)
    assert np.allclose(one.mean_, two.mean_, 1e-14, tol * np.sqrt(size))
    assert (one.n_samples_, one.rank_) == (two.n_samples_, two.rank_)
    cosines = np.sum(one.components_ * two.components_, axis=1)[: two.rank_]
    assert np.allclose(cosines, 1, 0, tol)
    assert one.n_features_in_ == two.n_features_in_


def test_sources_arrays_and_checkpoints_give_one_model(tmp_path):
    plain = PCA(3).fit(X)
    same(PCA(3).fit(Pieces(X)), plain)
    same(PCA(3).fit(ArrayBlocks(scan(X))), plain)
    same(PCA(3).fit(scan(X)), plain)
    same(PCA(3).fit(X, checkpoint=tmp_path / "a.mercer"), plain)
    assert np.allclose(PCA(3).fit_transform(Pieces(X)), plain.transform(X), 0, 1e-10)
    for score in (plain.score_samples, plain.score):
        np.testing.assert_allclose(score(Pieces(X)), score(X), rtol=1e-12)
    np.save(tmp_path / "X.npy", X)
    for path in (tmp_path / "X.npy", str(tmp_path / "X.npy")):
        same(PCA(3).fit(path), plain)
        assert np.allclose(PCA(3).fit(path).transform(path), plain.transform(X))


def test_a_checkpoint_stays_and_serves_a_second_fit_without_reading(tmp_path):
    path = tmp_path / "fit.mercer"
    first, source = PCA(3).fit(Pieces(X), checkpoint=path), Pieces(X)
    again = PCA(3).fit(source, checkpoint=str(path))
    assert source.walks == 0
    assert np.array_equal(first.components_, again.components_)
    assert np.array_equal(first.explained_variance_, again.explained_variance_)
    assert again.get_params() == PCA(3).get_params()


CHANGES = {
    "k": ({"n_components": 2}, X, 1.0, "n_components = 3, now 2"),
    "standardize": ({"standardize": True}, X, 1.0, "standardize = False, now True"),
    "features": ({"feature_weight": np.ones(8)}, X, 1.0, "feature_weight = None, now"),
    "cells": ({}, X + 1e-9, 1.0, "other rows"),
    "rows": ({}, X[:-1], 1.0, "other rows"),
    "type": ({}, X.astype(np.float32), 1.0, "other rows"),
    "weights": ({}, X, 2.0, "other weights"),
    "no weights": ({}, X, None, "other weights"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_checkpoint_of_another_fit_is_refused(tmp_path, name):
    parameters, rows, weight, words = CHANGES[name]
    path, model = tmp_path / "fit.mercer", PCA(3).set_params(**parameters)
    PCA(3).fit(Pieces(X), sample_weight=np.ones(90), checkpoint=path)
    before = path.read_bytes()
    weights = None if weight is None else np.full(len(rows), weight)
    with pytest.raises(InputError, match="belongs to another fit") as caught:
        model.fit(Pieces(rows), sample_weight=weights, checkpoint=path)
    assert words in three_lines(caught)
    assert path.read_bytes() == before
    assert not hasattr(model, "components_")


@pytest.fixture
def no_thread_is_left():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


@pytest.mark.usefixtures("no_thread_is_left")
def test_a_failed_fit_changes_nothing(tmp_path):
    model = PCA(3).fit(X)
    before = dict(vars(model))
    with pytest.raises(OSError, match="the disk is gone"):
        in_blocks(PCA, 7)(3).fit(Pieces(X, fail=4), checkpoint=tmp_path / "a.mercer")
    refuses("the disk is gone", model.fit, Pieces(X, fail=4), kind=OSError)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


@pytest.mark.parametrize("rows", [1, 7, 200])
@pytest.mark.parametrize("kind", ["float64", "float32", "int16", "bool", "sparse"])
def test_coordinates_block_by_block_are_those_of_the_whole(kind, rows):
    Y = X * 10
    Y = scipy.sparse.csr_array(np.where(Y > 55, Y, 0)) if kind == "sparse" else Y
    Y = Y > 50 if kind == "bool" else Y
    Y = Y.astype(kind) if kind in ("float32", "int16") else Y
    plain = PCA(3).fit(Y)
    model = in_blocks(PCA, rows)(3).fit(Y)
    found, whole = model.transform(Pieces(Y)), plain.transform(Y)
    assert found.dtype == whole.dtype
    tol = 1e-5 if kind == "float32" else 1e-12
    assert np.allclose(found, whole, 0, tol * np.abs(whole).max())


@pytest.mark.parametrize("whiten", [False, True, "zca"])
@pytest.mark.parametrize("end", [".npy", ".csv", ".parquet"])
def test_coordinates_in_a_file(tmp_path, end, whiten):
    import polars as pl

    model = in_blocks(PCA, 20)(3, whiten=whiten).fit(X)
    path = tmp_path / f"Z{end}"
    assert model.transform(Pieces(X), out=path) == path
    if end == ".npy":
        found = np.load(path)
    else:
        frame = pl.read_csv(path) if end == ".csv" else pl.read_parquet(path)
        assert frame.columns == list(model.get_feature_names_out())
        found = frame.to_numpy()
    assert np.allclose(found, model.transform(X), 0, 1e-12)
    assert model.transform(X, out=str(path)) == path  # an array too
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_not_fitted_or_spent_says_so(tmp_path):
    from sklearn.exceptions import NotFittedError

    refuses(None, PCA(3).transform, X, out=tmp_path / "Z.npy", kind=NotFittedError)
    assert list(tmp_path.iterdir()) == []
    source = Pieces(X, passes=1)
    model = PCA(3).fit(source)
    with pytest.raises(InputError, match="only once") as caught:
        model.transform(source)
    three_lines(caught)
    with pytest.raises(InputError) as caught:
        PCA(3).fit(source)
    three_lines(caught)


@pytest.mark.usefixtures("no_thread_is_left")
@pytest.mark.parametrize("rows", [7, 200])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_cell_that_is_no_number_is_named_at_fit_and_at_transform(tmp_path, value, rows):
    Y = X.copy()
    Y[61, 5] = value
    names = tuple("abcdefgh")
    model = in_blocks(PCA, rows)(3)
    with pytest.raises(InputError, match=r"row 61, column 5 \('f'\)") as caught:
        model.fit(Pieces(Y, names=names))
    three_lines(caught)
    model.fit(Pieces(X, names=names))
    for out in (None, tmp_path / "Z.npy"):
        with pytest.raises(InputError, match=r"row 61, column 5 \('f'\)") as caught:
            model.transform(Pieces(Y, names=names), out=out)
        three_lines(caught)
    assert list(tmp_path.iterdir()) == []


def test_coordinates_beyond_memory_are_refused():
    Y = gapped(5000, 8, 1)
    model = PCA(3, memory="20MB").fit(Y)
    model.set_params(memory="100kB")
    source = Pieces(Y)
    with pytest.raises(BudgetError, match="do not fit") as caught:
        model.transform(source)
    assert "out=" in three_lines(caught)
    assert source.walks == 0
    Y = gapped(5000, 8, 1)
    model = in_blocks(PCA, 50)(3).fit(Y)
    model.set_params(memory="30kB")
    refuses("do not fit", model.transform, Pieces(Y, forecast=100), kind=BudgetError)


def test_other_columns_are_refused_and_named():
    names = tuple("abcdefgh")
    model = PCA(3).fit(Pieces(X, names=names))
    assert list(model.feature_names_in_) == list(names)
    assert not hasattr(PCA(3).fit(Pieces(X, names=names)).fit(Pieces(X)), "feature_names_in_")
    with pytest.raises(InputError, match="X has 5 features") as caught:
        model.transform(Pieces(X[:, :5]))
    assert "pieces" in three_lines(caught)
    with pytest.raises(InputError, match="names should match") as caught:
        model.transform(Pieces(X, names=tuple("abxdefgh")))
    assert "column 2 is 'x' where 'c' was" in three_lines(caught)
    assert model.transform(Pieces(X)).shape == (90, 3)  # rows without names are taken


@pytest.mark.parametrize("forecast", [None, 10, 1000])
def test_weights_without_a_known_number_of_rows(forecast):
    w = np.arange(90) % 3
    plain = PCA(3).fit(X, sample_weight=w)
    same(PCA(3).fit(Pieces(X, forecast=forecast), sample_weight=w), plain)
    with pytest.raises(InputError, match="one number per row") as caught:
        PCA(3).fit(Pieces(X, forecast=forecast), sample_weight=w[:-1])
    three_lines(caught)
    with pytest.raises(InputError, match="one number per row"):
        PCA(3).fit(Pieces(X, forecast=forecast), sample_weight=np.ones(91))


@pytest.mark.parametrize("forecast", [5, 10_000])
@pytest.mark.parametrize("wanted", [7, None, 0.9])
def test_fewer_rows_than_components(wanted, forecast):
    Y = X[:6]
    model = PCA(wanted)
    if wanted == 7:
        with pytest.raises(InputError, match="n_components=7 must be between") as caught:
            model.fit(Pieces(Y, forecast=forecast))
        assert "min(n_samples, n_features)=6" in three_lines(caught)
        return
    model.fit(Pieces(Y, forecast=forecast))
    same(model, PCA(wanted).fit(Y))


def test_plans_and_estimates_of_rows_that_come_once():
    for source in (X[:6], Pieces(X[:6], forecast=1000)):
        refuses("n_samples >= n_features", PCA("mle").fit, source)
    source = Pieces(gapped(200, 30, 1), passes=1)
    plan = mercer.plan(PCA(3), source)
    assert source.walks == 0
    assert plan.chosen.name == "gram"
    text = str(plan)
    assert "svd" in text
    assert "once" in text or "1 pass" in text


@pytest.mark.parametrize("path", ["auto", "gram", "svd", "krylov"])
@pytest.mark.parametrize("forecast", [None, 10])
def test_rows_that_come_once_are_never_walked_twice(path, forecast):
    Y = gapped(200, 30, 1)
    source = Pieces(Y, forecast=forecast, passes=1)
    model = FORCED[path](3)
    if path in ("svd", "krylov"):  # these need more
        with pytest.raises(InputError) as caught:
            model.fit(source)
        three_lines(caught)
        assert source.walks == 0
        return
    model.fit(source)
    assert source.walks == 1
    assert model.plan_.chosen.passes == 1
    same(model, PCA(3).fit(Y))


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_pass_on_tables_that_would_be_taken_again(dtype, wide):
    """Float32 products and small eigenvalues call for a second path; once is once."""
    Y = np.random.default_rng(0).standard_normal((40, 60) if wide else (300, 20)).astype(dtype)
    Y[:, 7] *= dtype(1e-7)
    source = Pieces(Y, forecast=10, passes=1)
    with contextlib.suppress(InputError, UserWarning):
        PCA(10).fit(source)
    assert source.walks <= 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("forecast", [None, 10])
def test_rows_that_come_once_and_are_too_wide_for_their_sums(forecast, dtype):
    """Leading directions only: one walk, and a certificate that is true."""
    Y = (factors(900, 1200, 0) + 50).astype(dtype)
    source = Pieces(Y, 64, forecast=forecast, passes=1)
    model = PCA(3, memory="50MB", tol=0.1).fit(source)
    assert (model.plan_.chosen.name, source.walks) == ("sketch", 1)
    wide = Y.astype(np.float64)
    exact = np.linalg.eigvalsh((wide - wide.mean(0)) @ (wide - wide.mean(0)).T)[::-1][:3] / 899
    assert np.all(model.certificate_.lower <= exact * (1 + 1e-12))
    assert np.all(model.certificate_.upper >= exact * (1 - 1e-12))


def test_blocks_that_belong_to_one_thread():
    """A cursor of SQLite may be used only in the thread that made it, as may others."""
    held = sqlite3.connect(":memory:")
    with contextlib.closing(held):
        held.execute("create table t (a real, b real, c real)")
        held.executemany("insert into t values (?, ?, ?)", X[:, :3].tolist())

        def blocks(length):
            cursor = held.execute("select a, b, c from t order by rowid")
            while found := cursor.fetchmany(length):
                yield np.array(found)

        same(PCA(2).fit(blocks(20)), PCA(2).fit(X[:, :3]))
        model = PCA(2).fit(mercer.scan(lambda: blocks(7)))
        same(model, PCA(2).fit(X[:, :3]))
        assert np.allclose(model.transform(blocks(20)), model.transform(X[:, :3]))


def test_products_too_coarse_for_the_first_block_end_the_walk_there(tmp_path, caplog):
    rng = np.random.default_rng(0)
    scales = np.r_[1e4, np.full(39, 1.0)]  # float32 products cannot see the small ones
    rows = (rng.standard_normal((40_000, 40)) * scales).astype(np.float32)
    np.save(tmp_path / "rows.npy", rows)
    source = mercer.scan(tmp_path / "rows.npy")
    with caplog.at_level("INFO", logger="mercer"):
        model = _Gram(3, memory="60MB", tol=1e-5).fit(source)
    assert "too coarse for the first block" in caplog.text
    assert source.walks == 2  # one was left after a block
    wide = rows.astype(np.float64)
    values = np.linalg.svd(wide - wide.mean(axis=0), compute_uv=False)[:3] ** 2 / 39_999
    np.testing.assert_allclose(model.explained_variance_, values, rtol=1e-4)


class _Gram(mercer.PCA):
    def _problem(self, source, weights=None):
        # As for a table whose products are worth float32.
        return dataclasses.replace(super()._problem(source, weights), gram_flops=1e12)

    def _allowed(self):
        return ("gram",)
