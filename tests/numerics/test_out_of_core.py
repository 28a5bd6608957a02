"""Out of core = in core, for every kind of source, block length and order of rows."""

import gzip
import json

import duckdb
import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import zarr
from pieces import in_blocks
from test_h5ad import write as write_h5ad
from test_plink import write as write_bed

import mercer
from mercer import PCA

N, P, K = 900, 12, 4
NAMES = [f"x{i}" for i in range(P)]


def table(order="mixed"):
    """Rows with a trend, far from the origin; all values exact in a few digits of text."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((N, P)) * np.linspace(4, 0.5, P)
    X[:, 0] += np.linspace(0, 60, N)  # a trend: first and last rows differ by many deviations
    X += 1e5 * np.arange(P)
    X = np.round(X, 4)
    if order == "mixed":
        return X
    if order == "sorted":
        return X[np.argsort(X[:, 1])]
    if order == "reversed":
        return X[::-1].copy()
    return X[rng.permutation(N)]


def sparse(X):
    rng = np.random.default_rng(3)
    return scipy.sparse.csr_array(np.where(rng.random(X.shape) < 0.3, X % 7, 0.0))


def text(X, delimiter=","):
    lines = [delimiter.join(NAMES)]
    lines += [delimiter.join(repr(float(v)) for v in row) for row in X]
    return ("\n".join(lines) + "\n").encode()


def make(kind, X, folder):
    """Return what `fit` is given, for each kind."""
    path = folder / kind.replace(" ", "-")
    frame = pl.DataFrame({name: X[:, i] for i, name in enumerate(NAMES)})
    if kind.startswith("npy"):
        np.save(path.with_suffix(".npy"), X if kind == "npy" else np.asfortranarray(X))
        return path.with_suffix(".npy")
    if kind == "memmap":
        np.save(path.with_suffix(".npy"), X)
        return mercer.scan(np.load(path.with_suffix(".npy"), mmap_mode="r"))
    if kind == "npz":
        scipy.sparse.save_npz(path.with_suffix(".npz"), scipy.sparse.csr_array(X))
        return path.with_suffix(".npz")
    if kind == "csv":
        path.with_suffix(".csv").write_bytes(text(X))
        return str(path.with_suffix(".csv"))
    if kind == "csv.gz":
        path.with_suffix(".csv.gz").write_bytes(gzip.compress(text(X)))
        return path.with_suffix(".csv.gz")
    if kind == "tsv":
        path.with_suffix(".tsv").write_bytes(text(X, "\t"))
        return path.with_suffix(".tsv")
    if kind == "ndjson":
        lines = [json.dumps(dict(zip(NAMES, map(float, row), strict=True))) for row in X]
        path.with_suffix(".ndjson").write_text("\n".join(lines) + "\n")
        return path.with_suffix(".ndjson")
    if kind == "parquet":
        frame.write_parquet(path.with_suffix(".parquet"), row_group_size=101)
        return path.with_suffix(".parquet")
    if kind == "folder of parquet":
        path.mkdir()
        for number, start in enumerate(range(0, len(X), 250)):
            frame[start : start + 250].write_parquet(path / f"part-{number}.parquet")
        return path
    if kind == "arrow":
        frame.write_ipc(path.with_suffix(".arrow"))
        return path.with_suffix(".arrow")
    if kind == "hdf5":
        with h5py.File(path.with_suffix(".h5"), "w") as file:
            file["X"] = X
        return path.with_suffix(".h5")
    if kind == "zarr":
        array = zarr.create_array(
            str(path.with_suffix(".zarr")), shape=X.shape, chunks=(97, 5), dtype="f8"
        )
        array[:] = X
        return path.with_suffix(".zarr")
    if kind == "lazy polars":
        return frame.lazy()
    if kind == "duckdb":
        return duckdb.from_arrow(frame.to_arrow())
    if kind == "scanned pandas":
        return mercer.scan(pd.DataFrame(X, columns=NAMES))
    if kind == "scanned pyarrow":
        return mercer.scan(pa.table({name: X[:, i] for i, name in enumerate(NAMES)}))
    if kind == "iterator":
        return iter(np.array_split(X, 13))
    assert kind == "function"
    return mercer.scan(lambda: iter(np.array_split(X, 7)))


KINDS = [
    "npy", "npy in Fortran order", "memmap", "npz", "csv", "csv.gz", "tsv", "ndjson", "parquet",
    "folder of parquet", "arrow", "hdf5", "zarr", "lazy polars", "duckdb", "scanned pandas",
    "scanned pyarrow", "iterator", "function",
]  # fmt: skip


def same(model, X):
    """Compare with the float64 SVD of the exactly centred rows."""
    wide = X.toarray() if scipy.sparse.issparse(X) else np.asarray(X, np.float64)
    mean = wide.mean(axis=0)
    mean = mean + (wide - mean).mean(axis=0)
    _, s, vt = np.linalg.svd(wide - mean, full_matrices=False)
    values = s[:K] ** 2 / (len(wide) - 1)
    np.testing.assert_allclose(
        model.explained_variance_, values, rtol=0, atol=1e-10 * values[0]
    )
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-14, atol=1e-10)
    apart = model.components_.T @ model.components_ - vt[:K].T @ vt[:K]
    assert np.linalg.norm(apart, 2) < 1e-10
    assert model.n_samples_ == len(wide)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_source(kind, tmp_path):
    X = table()
    source = make(kind, X, tmp_path)
    model = PCA(K).fit(source)
    same(model, X)
    if kind != "iterator":
        plain = PCA(K).fit(X)
        np.testing.assert_allclose(
            plain.transform(source), plain.transform(X), rtol=0, atol=1e-9
        )
    if kind in ("csv", "parquet", "duckdb", "lazy polars", "arrow"):
        assert list(model.feature_names_in_) == NAMES


@pytest.mark.parametrize("order", ["mixed", "sorted", "reversed", "shuffled"])
@pytest.mark.parametrize("block", [7, 899])
def test_every_block_length_and_order(block, order, tmp_path):
    X = table(order)
    for kind in ("npy", "csv"):
        same(in_blocks(PCA, block)(K).fit(make(kind, X, tmp_path)), X)


@pytest.mark.parametrize("block", [50, 5000])
def test_sparse_files(block, tmp_path):
    X = sparse(table())
    scipy.sparse.save_npz(tmp_path / "s.npz", X)
    same(in_blocks(PCA, block)(K).fit(tmp_path / "s.npz"), X)


def test_rows_of_float32_keep_their_precision(tmp_path):
    X = (table() - 1e5 * np.arange(P) + 288).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    model = PCA(K).fit(tmp_path / "x.npy")
    assert model.components_.dtype == np.float32
    wide = X.astype(np.float64)
    values = np.linalg.svd(wide - wide.mean(axis=0), compute_uv=False)[:K] ** 2 / (N - 1)
    np.testing.assert_allclose(model.explained_variance_, values, rtol=1e-6)


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_cells_of_anndata(kind, tmp_path):
    X = sparse(table()).toarray()
    write_h5ad(tmp_path / "x.h5ad", X, kind, var=NAMES)
    model = PCA(K).fit(tmp_path / "x.h5ad")
    same(model, X)
    assert list(model.feature_names_in_) == NAMES


def test_genotypes_of_plink(tmp_path):
    G = np.random.default_rng(5).integers(0, 3, (N, P))
    write_bed(tmp_path / "x.bed", G)
    model = in_blocks(PCA, 100)(K, tol=1e-12).fit(tmp_path / "x.bed")
    wide = np.concatenate(list(mercer.scan(tmp_path / "x.bed").blocks(N))).astype(np.float64)
    assert sorted(np.unique(wide)) == [0, 1, 2]
    values = np.linalg.svd(wide - wide.mean(axis=0), compute_uv=False)[:K] ** 2 / (N - 1)
    assert np.max(np.abs(model.explained_variance_ - values)) < 1e-10 * values[0]


@pytest.mark.parametrize("pattern", ["*.parquet", "part-?.parquet"])
def test_files_of_a_pattern(pattern, tmp_path):
    X = table()
    folder = make("folder of parquet", X, tmp_path)
    same(PCA(K).fit(folder / pattern), X)
