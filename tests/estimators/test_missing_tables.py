"""Every kind of table with missing cells; models that are saved, killed, and of penguins."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from tests.estimators.missing_oracles import (
    alike,
    fit,
    table,
)

import mercer
import mercer.dropin
from mercer.errors import BudgetError, DataWarning, InputError
from mercer.estimators.missing._filling import CellFilling

DATA = Path(__file__).parents[1] / "data"
METHODS = ["em", "ppca"]


# -- every kind of table --------------------------------------------------------------


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
    np.testing.assert_allclose(
        found.transform(data), reference.transform(table()), rtol=0, atol=1e-8
    )


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_with_empty_cells(tmp_path, suffix):
    frame, path = frames()["polars"], tmp_path / f"x{suffix}"
    (frame.write_csv if suffix == ".csv" else frame.write_parquet)(path)
    found = fit(path)
    alike(found, fit(table()))
    out = found.transform(path, out=tmp_path / "z.npy")
    np.testing.assert_array_equal(np.load(out), found.transform(path))


def test_integers_with_gaps():
    frame = pd.DataFrame(np.arange(40).reshape(10, 4) ** 2 % 17).rename(columns=str)
    frame = frame.astype("Int64")
    frame.loc[2, "1"] = pd.NA
    assert fit(frame, tol=1e-6).n_missing_ == 1


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


@pytest.mark.parametrize("method", METHODS)
def test_saved_and_pickled(tmp_path, method):
    X = table()
    found = fit(X, missing=method, standardize=True)
    mercer.save(found, tmp_path / "model.mercer")
    for again in (mercer.load(tmp_path / "model.mercer"), pickle.loads(pickle.dumps(found))):
        np.testing.assert_array_equal(again.transform(X), found.transform(X))
        assert again.n_missing_ == found.n_missing_


@pytest.mark.parametrize("method", METHODS)
def test_checkpoints_keep_every_pass(tmp_path, method):
    X = table(rows=400)
    plain = mercer.PCA(2, missing=method).fit(X)
    found = mercer.PCA(2, missing=method).fit(X, checkpoint=tmp_path / "sums")
    again = mercer.PCA(2, missing=method).fit(X, checkpoint=tmp_path / "sums")
    assert np.array_equal(found.components_, again.components_)
    alike(found, plain)


def test_a_killed_fit_goes_on(tmp_path, monkeypatch):
    X = table(rows=400)
    whole = mercer.PCA(2, missing="em").fit(X, checkpoint=tmp_path / "whole")
    passes, step = [], CellFilling._pass

    def killed(self, sums, number):
        passes.append(number)
        if number == 4:
            raise KeyboardInterrupt
        step(self, sums, number)

    model = mercer.PCA(2, missing="em")
    monkeypatch.setattr(CellFilling, "_pass", killed)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, checkpoint=mercer.Checkpoint(tmp_path / "sums", every=0))
    assert not hasattr(model, "components_")
    monkeypatch.setattr(CellFilling, "_pass", step)
    model.fit(X, checkpoint=mercer.Checkpoint(tmp_path / "sums", every=0))
    assert np.array_equal(model.components_, whole.components_)


def test_an_interrupted_fit_leaves_the_model_as_it_was(monkeypatch):
    model = fit(table())
    before = model.components_.copy()

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(CellFilling, "_pass", stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(table(seed=9))
    assert np.array_equal(model.components_, before)


# -- penguins -------------------------------------------------------------------------

MEASURES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def test_penguins_with_two_rows_of_no_measure():
    path = DATA / "penguins.csv"
    frame = pd.read_csv(path)[MEASURES]
    with pytest.raises(InputError, match="8 of 1,376 cells are missing, in 4 of 4 columns"):
        mercer.PCA(2).fit(frame)
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
    with pytest.warns(DataWarning, match="coordinates are zero"):
        Z = held.transform(frame)
    np.testing.assert_array_equal(Z[[3, 271]], 0.0)


def test_penguins_with_single_gaps():
    frame = pd.read_csv(DATA / "penguins.csv")[MEASURES].dropna()
    gaps, rng = frame.copy(), np.random.default_rng(0)
    hidden = rng.random(gaps.shape) < 0.1
    hidden[hidden.all(axis=1)] = False
    gaps = gaps.mask(hidden)
    found = mercer.PCA(2, missing="em", standardize=True).fit(gaps)
    filled = found.completion_.filled(gaps.to_numpy())
    spread = frame.std().to_numpy()
    means = np.broadcast_to(gaps.mean().to_numpy(), hidden.shape)
    error = ((filled - frame.to_numpy()) / spread)[hidden].std()
    assert error < 0.85 * ((means - frame.to_numpy()) / spread)[hidden].std()


def test_densities_are_those_of_complete_rows():
    model = fit(table())
    with pytest.raises(InputError, match="cells are missing"):
        model.score_samples(table())
    assert np.isfinite(model.score(np.nan_to_num(table(), nan=5.0)))


def test_onnx_files_project_complete_rows(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    model, rows = fit(table()), np.nan_to_num(table(), nan=5.0)
    mercer.export_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    (found,) = session.run(None, {session.get_inputs()[0].name: rows})
    np.testing.assert_allclose(found, model.transform(rows), rtol=0, atol=1e-6)


def test_progress_is_told_pass_by_pass():
    told = []

    class Ear:
        def begin(self, name, note):
            told.append(name)

        def advance(self, done, total, words=""):
            pass

        def end(self, name):
            pass

    from mercer.arrays import listening

    with listening(Ear()):
        fit(table())
    assert told[:3] == ["missing cells", "completion, pass 1", "completion, pass 2"]


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

    with pytest.raises(BudgetError, match=words):
        mercer.PCA(3, missing=missing, memory="6MB").fit(blocks)
    assert len(walks) <= 2  # one looks for missing cells
