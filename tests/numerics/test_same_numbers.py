"""The same numbers in another type or container are the same data."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from forced import FORCED, existing, fit, suits
from relations import assert_identical, assert_same

from mercer import PCA
from mercer.errors import InputError

RNG = np.random.default_rng(0)
TALL = RNG.integers(0, 100, (80, 24))
WIDE = RNG.integers(0, 100, (24, 80))
TABLES = {"tall": TALL, "wide": WIDE}
WAYS = existing({name: X.shape for name, X in TABLES.items()}, 3)
each_fit = pytest.mark.parametrize(("shape", "path"), WAYS)
KINDS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16"]


def frames(X):
    names = [f"c{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    yield "pandas", frame
    yield "pandas, odd index", frame.set_index(np.arange(len(X)) * 7)
    mixed = ["int8", "float32", "Int64", "Float32", "uint16"]
    yield "pandas, mixed", frame.astype(dict(zip(names, mixed, strict=False)))
    yield "polars", pl.DataFrame({n: frame[n].to_numpy() for n in names})
    yield "pyarrow", pa.table({n: frame[n].to_numpy() for n in names})


@pytest.mark.parametrize("kind", KINDS)
@each_fit
def test_numbers_of_every_kind(shape, path, kind):
    X = TABLES[shape]
    wanted = fit(path, X.astype(np.float64), 3)
    found = fit(path, X.astype(kind), 3)
    assert found.components_.dtype == np.float64
    assert found.transform(X.astype(kind)).dtype == np.float64
    assert_same(wanted, found, tight=1e-12 if path != "krylov" else None)


@pytest.mark.parametrize("kind", ["int64", "uint64"])
def test_whole_numbers_beyond_float64(kind):
    """Integers that float64 cannot hold are analysed as they are, or the loss is said."""
    X = np.asarray(TALL, dtype=kind) + np.asarray(2**60, dtype=kind)
    wanted = PCA(3).fit(TALL.astype(np.float64))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = PCA(3).fit(X)
        except InputError as refusal:
            words = str(refusal)
        else:
            words = " ".join(str(w.message) for w in caught)
    if "float64" not in words:
        assert_same(wanted, found)


@each_fit
def test_frames_and_lists(shape, path):
    X = TABLES[shape].astype(np.float64)
    wanted = fit(path, X, 3)
    assert_same(wanted, fit(path, X.tolist(), 3))
    assert_same(wanted, fit(path, [tuple(row) for row in X.tolist()], 3))
    for name, frame in frames(X):
        found = fit(path, frame, 3)
        assert_same(wanted, found, tight=1e-12 if path != "krylov" else None)
        assert list(found.feature_names_in_) == [f"c{i}" for i in range(X.shape[1])], name
        scores = np.asarray(found.transform(frame))
        np.testing.assert_allclose(scores, wanted.transform(X), rtol=0, atol=1e-9)


FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]


@pytest.mark.parametrize("style", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_sparse_formats(form, style):
    for X in (TALL, WIDE):
        X = np.where(X < 70, 0.0, X)
        make = getattr(scipy.sparse, f"{form}_{style}")
        for path in FORCED:
            if suits(path, *X.shape, 3):
                found = fit(path, make(X), 3)
                assert_same(fit(path, X, 3), found)
                np.testing.assert_allclose(
                    found.transform(make(X)), found.transform(X), rtol=0, atol=1e-9
                )


@pytest.mark.parametrize("kind", ["int32", "int64", "bool", "float32", "uint8"])
def test_sparse_kinds(kind):
    X = np.where(TALL < 70, 0, TALL).astype(kind)
    for path in ("svd", "gram", "krylov", "auto"):
        found = fit(path, scipy.sparse.csr_array(X), 3)
        assert_same(fit(path, X, 3), found)


def test_sparse_with_zeros_stored_twice_unsorted_and_long_indices():
    X = np.where(TALL < 70, 0.0, TALL)
    tidy = scipy.sparse.csr_array(X)
    zeros = tidy.copy()
    zeros.data[::5] = 0.0
    i, j = tidy.nonzero()
    twice = scipy.sparse.csr_array(
        (np.r_[tidy.data / 2, tidy.data / 2][::-1], (np.r_[i, i][::-1], np.r_[j, j][::-1]))
    )
    shuffled = tidy.copy()
    for row in range(len(X)):
        cells = slice(tidy.indptr[row], tidy.indptr[row + 1])
        shuffled.indices[cells] = tidy.indices[cells][::-1]
        shuffled.data[cells] = tidy.data[cells][::-1]
    shuffled.has_sorted_indices = False
    long = scipy.sparse.csr_array(
        (tidy.data, tidy.indices.astype(np.int64), tidy.indptr.astype(np.int64)), tidy.shape
    )
    raw = scipy.sparse.coo_array(
        (np.r_[tidy.data, 1.0, -1.0], (np.r_[i, 0, 0], np.r_[j, 0, 0]))
    )
    for path in ("svd", "gram", "krylov"):
        wanted = fit(path, X, 3)
        for same in (tidy, twice, shuffled, long, raw):
            before = same.copy()
            assert_same(wanted, fit(path, same, 3))
            np.testing.assert_array_equal(same.data, before.data)
        assert_same(fit(path, zeros.toarray(), 3), fit(path, zeros, 3))


@pytest.mark.parametrize("pair", ["dense then sparse", "sparse then dense"])
def test_a_model_takes_the_other_container(pair):
    X = np.where(TALL < 30, 0.0, TALL) + 1e6 * (np.arange(24) % 2)
    first, second = (X, scipy.sparse.csr_array(X))[:: 1 if pair.startswith("dense") else -1]
    for table in (first, second):
        narrow = PCA(3).fit(table.astype(np.float32)).transform(table)
        assert narrow.dtype == np.float64  # of new rows that are float64
    model = PCA(3).fit(first)
    np.testing.assert_allclose(
        model.transform(second), model.transform(first), rtol=0, atol=1e-8
    )


def test_subclass_and_memory_map(tmp_path):
    X = TALL.astype(np.float64)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert_identical(PCA(3).fit(X), PCA(3).fit(mapped))
    clear = np.ma.masked_array(X, mask=False)
    assert_identical(PCA(3).fit(X), PCA(3).fit(clear))
