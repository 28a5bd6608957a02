"""AnnData files, written here to its description of the format, give their rows and names."""

import numpy as np
import pytest
import scipy.sparse

from mercer.sources import scan
from mercer.sources.files._h5ad import SparseGroup
from mercer.sources.files._sparse_file import HeldRows

h5py = pytest.importorskip("h5py")


def made(dtype="f4", n=53, p=11):
    rng = np.random.default_rng(3)
    X = rng.integers(1, 50, (n, p)) * (rng.random((n, p)) < 0.3)
    X[20:30] = 0
    return X.astype(dtype)


def write_matrix(file, key, X, kind):
    if kind == "dense":
        file.create_dataset(key, data=X, chunks=(10, 4), compression="gzip")
        file[key].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
        return
    matrix = scipy.sparse.csr_array(X).asformat(kind[:3])
    group = file.create_group(key)
    if kind.endswith("old"):
        group.attrs.update({"h5sparse_format": kind[:3], "h5sparse_shape": X.shape})
    else:
        group.attrs.update({"encoding-type": f"{kind}_matrix", "shape": X.shape})
    for name in ("data", "indices", "indptr"):
        group.create_dataset(name, data=getattr(matrix, name), chunks=(8,))


def write_names(file, side, names, nullable=False):
    group = file.create_group(side)
    group.attrs["_index"] = "name"
    if nullable:
        group["name/values"], group["name/mask"] = names, np.zeros(len(names), bool)
    else:
        group["name"] = names


def write(path, X, kind="csr", key="X", var=None):
    with h5py.File(path, "w") as file:
        write_matrix(file, key, X, kind)
        write_names(file, "var", var or [f"gène {i % 10}" for i in range(X.shape[1])])
        write_names(file, "obs", [f"cell{i}" for i in range(len(X))], nullable=True)


def whole(source, rows, start=0):
    blocks = list(source.blocks(rows, start))
    return np.concatenate([b.toarray() if scipy.sparse.issparse(b) else b for b in blocks])


@pytest.mark.parametrize("kind", ["dense", "csr", "csc", "csr old", "csc old"])
@pytest.mark.parametrize("key", ["X", "layers/counts"])
def test_rows_are_those_written(tmp_path, kind, key):
    X = made()
    write(tmp_path / "x.h5ad", X, kind, key)
    source = scan(tmp_path / "x.h5ad", key=key)
    kinds = {"csr": SparseGroup, "csc": HeldRows}
    assert kind == "dense" or isinstance(source, kinds[kind[:3]])
    assert source.shape == X.shape
    assert source.dtype == np.float32
    assert source.nnz == (None if kind == "dense" else np.count_nonzero(X))
    assert source.names[:3] == ("gène 0", "gène 1", "gène 2")
    assert source.names[10] == "gène 0"  # names of genes need not differ
    assert source.place(3, 1) == f"x.h5ad, data set '{key}', row 3, column 1 ('gène 1')"
    for rows in (1, 7, 53, 100):
        for start in {0, rows, 50 // rows * rows}:
            if start < 53:
                np.testing.assert_array_equal(whole(source, rows, start), X[start:])


def test_names_of_old_files_and_of_raw(tmp_path):
    """Before AnnData 0.7 `var` was one data set of records."""
    X = made()
    kinds = [("index", "S5"), ("k", "i4")]
    records = np.array([(f"g{i}".encode(), i) for i in range(11)], kinds)
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        write_matrix(file, "X", X, "csr")
        write_matrix(file, "raw/X", X[:, :4], "csr")
        file["var"] = records
        write_names(file, "raw/var", list("abcd"))
    assert scan(tmp_path / "x.h5ad").names[2] == "g2"
    raw = scan(tmp_path / "x.h5ad", key="raw/X")
    assert raw.names == ("a", "b", "c", "d")
    np.testing.assert_array_equal(whole(raw, 9), X[:, :4])


def test_coordinates_have_no_names(tmp_path):
    write(tmp_path / "x.h5ad", made())
    with h5py.File(tmp_path / "x.h5ad", "a") as file:
        file["obsm/X_pca"] = made()[:, :2]
    source = scan(tmp_path / "x.h5ad", key="obsm/X_pca")
    assert source.names is None
    assert source.shape == (53, 2)
