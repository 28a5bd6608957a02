"""Out of core = in core, for every kind of source, block length and order of rows."""

import gzip

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import zarr
from pieces import in_blocks
from test_hdf5 import write as write_h5ad
from test_hdf5 import write_plink as write_bed
from weighted import written

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


def in_folder(X, folder):
    (folder / "parts").mkdir()
    for number, start in enumerate(range(0, len(X), 250)):
        named(X[start : start + 250]).write_parquet(folder / f"parts/part-{number}.parquet")
    return folder / "parts"


def named(X):
    return pl.DataFrame({name: X[:, i] for i, name in enumerate(NAMES)})


# What is written by the end of the file's name, and what is made otherwise.
WRITERS = {
    "fortran.npy": lambda path, X: np.save(path, np.asfortranarray(X)),
    "csv": lambda path, X: path.write_bytes(text(X)),
    "csv.gz": lambda path, X: path.write_bytes(gzip.compress(text(X))),
    "tsv": lambda path, X: path.write_bytes(text(X, "\t")),
    "parquet": lambda path, X: named(X).write_parquet(path, row_group_size=101),
    "arrow": lambda path, X: named(X).write_ipc(path),
    "zarr": lambda path, X: zarr.create_array(str(path), data=X, chunks=(97, 5)),
    **{end: lambda path, X: written(X, path) for end in ("npy", "npz", "ndjson", "h5")},
}
MADE = {
    "memmap": lambda X, to: mercer.scan(np.load(written(X, to / "m.npy"), mmap_mode="r")),
    "folder of parquet": in_folder,
    "lazy polars": lambda X, _: named(X).lazy(),
    "duckdb": lambda X, _: duckdb.from_arrow(named(X).to_arrow()),
    "scanned pandas": lambda X, _: mercer.scan(pd.DataFrame(X, columns=NAMES)),
    "scanned pyarrow": lambda X, _: mercer.scan(pa.table(dict(zip(NAMES, X.T, strict=True)))),
    "iterator": lambda X, _: iter(np.array_split(X, 13)),
    "function": lambda X, _: mercer.scan(lambda: iter(np.array_split(X, 7))),
}


def make(kind, X, folder):
    """Return what `fit` is given, for each kind."""
    if kind in MADE:
        return MADE[kind](X, folder)
    path = folder / f"rows.{kind}"
    WRITERS[kind](path, X)
    return str(path) if kind == "csv" else path


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


@pytest.mark.parametrize("kind", [*WRITERS, *MADE])
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
    same(PCA(K).fit(in_folder(X, tmp_path) / pattern), X)
