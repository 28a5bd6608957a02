"""A data set of an HDF5 file gives the rows that were written."""

import json

import numpy as np
import pytest
import scipy.sparse
from pieces import walked

from mercer.arrays import check_places
from mercer.errors import BudgetError, InputError
from mercer.sources import scan
from mercer.sources.files._chunked_file import spans
from mercer.sources.files._h5ad import SparseGroup
from mercer.sources.files._plink import BedSource
from mercer.sources.files._sparse_file import (
    HeldRows,
    check_cells,
    refuse_what_does_not_fit,
    row_pointers,
)

h5py = pytest.importorskip("h5py")

LAYOUTS = {
    "plain": {},
    "rows": {"chunks": (10, 7)},
    "cells": {"chunks": (16, 3), "compression": "gzip", "shuffle": True},
    "columns": {"chunks": (103, 1)},
}


def made(dtype="f8", n=103, p=7):
    return (np.random.default_rng(5).integers(-50, 50, (n, p)) / 4).astype(dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [">f4", "f8", "f2", "i2", "u1", "?"])
def test_rows_are_those_written(tmp_path, dtype, layout):
    X = made(dtype)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("group/table", data=X, **LAYOUTS[layout])
        file["names"] = ["a", "b"]
        file["line"] = np.arange(5)
    source = scan(tmp_path / "x.h5")
    assert source.shape == X.shape
    assert source.key == "group/table"
    assert source.nbytes == X.nbytes
    assert source.dtype == ("f4" if dtype in {">f4", "f2"} else np.dtype(dtype))
    for rows in (1, 10, 16, 25, 103, 500):
        for start in {0, rows, 100 // rows * rows}:
            if start < 103:
                found = walked(source, rows, start)
                assert found.dtype == source.dtype
                np.testing.assert_array_equal(found, X[start:])


def test_one_of_several_is_named(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"], file["deep/b"] = made(), made("f4")[:, :2]
    with pytest.raises(InputError, match=r"'a'.*'deep/b'"):
        scan(tmp_path / "x.h5")
    source = scan(tmp_path / "x.h5", key="/deep/b", columns=[1])
    assert source.place(2, 0) == "x.h5, data set 'deep/b', row 2, column 0 ('1')"
    np.testing.assert_array_equal(walked(source, 30), made("f4")[:, 1:2])
    other = scan(tmp_path / "x.h5", key="a").fingerprint()
    assert other != scan(tmp_path / "x.h5", key="deep/b").fingerprint()


def test_a_data_set_that_changed_is_refused(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"] = made()
    source = scan(tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"] = made()[:50]
    with pytest.raises(InputError, match="has changed"):
        walked(source, 10)


@pytest.mark.parametrize("kind", ["link", "external", "virtual"])
def test_cells_in_other_files_are_refused(tmp_path, kind):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["a"] = made()
    with h5py.File(tmp_path / "x.h5", "w") as file:
        if kind == "link":
            file["a"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/a")
        elif kind == "external":
            place = [(str(tmp_path / "raw"), 0, h5py.h5f.UNLIMITED)]
            file.create_dataset("a", data=made(), external=place)
        else:
            layout = h5py.VirtualLayout((103, 7), "f8")
            layout[:] = h5py.VirtualSource(tmp_path / "other.h5", "a", (103, 7))
            file.create_virtual_dataset("a", layout)
    with pytest.raises(InputError, match="in the file itself"):
        scan(tmp_path / "x.h5", key="a")


def test_damage_within_a_chunk_names_its_rows(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("a", data=made(n=1000), chunks=(100, 7), compression="gzip")
        at = file["a"].id.get_chunk_info(4)
    with path.open("r+b") as file:
        file.seek(at.byte_offset + at.size // 2)
        file.write(b"\xff" * 20)
    with pytest.raises(InputError, match=r"x\.h5, data set 'a', rows 400 to 499"):
        walked(scan(path), 100)


def test_chunks_too_large_are_cut_and_bytes_known():
    found = list(spans(1_000_000, 1000, 0, 1_000_000, 8000))
    assert max(last - first for first, last in found) == (1 << 26) // 8000
    assert found[-1][1] == 1_000_000
    # What was asked for is read, however large: the reader of blocks chose it.
    assert next(spans(10**6, 10**5, 0, 10**6, 8000)) == (0, 10**5)
    from mercer.sources.files._plink import _unpacked

    copies = {0b00: 2, 0b01: np.nan, 0b10: 1, 0b11: 0}
    found = _unpacked(np.arange(256, dtype=np.uint8).reshape(1, 256))
    wanted = [[copies[(byte >> (2 * q)) & 3] for byte in range(256)] for q in range(4)]
    np.testing.assert_array_equal(found, np.float32(wanted))


# AnnData files, written here to its description of the format, give their rows and names.


def cells(dtype="f4", n=53, p=11):
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


@pytest.mark.parametrize("kind", ["dense", "csr", "csc", "csr old", "csc old"])
@pytest.mark.parametrize("key", ["X", "layers/counts"])
def test_rows_are_those_written_h5ad(tmp_path, kind, key):
    X = cells()
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
                np.testing.assert_array_equal(walked(source, rows, start), X[start:])


def test_names_of_old_files_and_of_raw(tmp_path):
    X = cells()
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
    np.testing.assert_array_equal(walked(raw, 9), X[:, :4])
    write(tmp_path / "x.h5ad", cells())
    with h5py.File(tmp_path / "x.h5ad", "a") as file:
        file["obsm/X_pca"] = cells()[:, :2]
    source = scan(tmp_path / "x.h5ad", key="obsm/X_pca")
    assert source.names is None
    assert source.shape == (53, 2)


# A Zarr folder of either format gives the rows that were written.


zarr = pytest.importorskip("zarr")


def write_zarr(path, X, version=3, **layout):
    layout = {"chunks": (10, 4)} | layout
    array = zarr.create_array(path, shape=X.shape, dtype=X.dtype, zarr_format=version, **layout)
    array[:] = X


# Format 3 keeps the byte order among its codecs, and zarr 3.0 writes the machine's only.
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "u1", "?"])
@pytest.mark.parametrize("version", [2, 3])
def test_rows_are_those_written_zarr(tmp_path, version, dtype):
    X = made(dtype)
    write_zarr(tmp_path / "x.zarr", X, version)
    source = scan(tmp_path / "x.zarr")
    assert source.shape == X.shape
    assert source.label == "x.zarr"
    assert source.chunk_rows == 10
    assert source.dtype == ("f4" if dtype == "f2" else np.dtype(dtype).newbyteorder("="))
    for rows, start in ((1, 0), (10, 0), (25, 75), (500, 0)):
        found = walked(source, rows, start)
        assert found.dtype == source.dtype
        np.testing.assert_array_equal(found, X[start:])


def test_shards_are_read_whole(tmp_path):
    write_zarr(tmp_path / "x.zarr", made(), chunks=(10, 4), shards=(40, 8))
    source = scan(tmp_path / "x.zarr")
    assert source.chunk_rows == 40
    np.testing.assert_array_equal(walked(source, 25), made())


@pytest.mark.parametrize("version", [2, 3])
def test_one_of_several_is_named_zarr(tmp_path, version):
    zarr.create_group(tmp_path / "x.zarr", zarr_format=version)
    write_zarr(tmp_path / "x.zarr" / "deep" / "a", made(), version)
    zarr.create_group(tmp_path / "x.zarr" / "deep", zarr_format=version)
    np.testing.assert_array_equal(walked(scan(tmp_path / "x.zarr"), 50), made())
    write_zarr(tmp_path / "x.zarr" / "b", made("f4"), version)
    with pytest.raises(InputError, match=r"2 tables.*'deep/a'"):
        scan(tmp_path / "x.zarr")
    source = scan(tmp_path / "x.zarr", key="b", columns=[2, 0])
    assert source.label == "x.zarr, array 'b'"
    np.testing.assert_array_equal(walked(source, 50), made("f4")[:, [2, 0]])


def test_a_missing_chunk_is_the_fill_value(tmp_path):
    """Legal Zarr, and said so in the docstring of the source."""
    write_zarr(tmp_path / "x.zarr", made(), fill_value=9.0)
    (tmp_path / "x.zarr" / "c" / "1" / "0").unlink()
    found = walked(scan(tmp_path / "x.zarr"), 50)
    assert (found[10:20, :4] == 9).all()
    np.testing.assert_array_equal(found[20:], made()[20:])


def test_a_damaged_chunk_names_its_rows(tmp_path):
    write_zarr(tmp_path / "x.zarr", made())
    (tmp_path / "x.zarr" / "c" / "1" / "0").write_bytes(b"no chunk at all")
    with pytest.raises(InputError, match=r"x\.zarr, rows 10 to 19"):
        walked(scan(tmp_path / "x.zarr"), 10)


def test_a_fingerprint_sees_every_chunk(tmp_path):
    write_zarr(tmp_path / "x.zarr", made())
    before = scan(tmp_path / "x.zarr").fingerprint()
    assert before == scan(tmp_path / "x.zarr").fingerprint()
    (tmp_path / "x.zarr" / "c" / "1" / "0").unlink()
    assert before != scan(tmp_path / "x.zarr").fingerprint()


def test_chunks_that_unpickle_are_refused(tmp_path):
    """A filter of Zarr 2 calls pickle.loads on each chunk."""
    write_zarr(tmp_path / "x.zarr", made(), 2)
    path = tmp_path / "x.zarr" / ".zarray"
    head = json.loads(path.read_text())
    stages = {"filters": [{"id": "pickle"}]}, {"compressor": {"id": "pickle"}}
    for stage in stages:
        path.write_text(json.dumps(head | stage))
        # Newer versions of zarr find the filter themselves, and name it.
        with pytest.raises(InputError, match=r"can run code|'pickle'"):
            scan(tmp_path / "x.zarr")


# Row pointers and column numbers are checked before they are used.


@pytest.mark.parametrize(
    ("indptr", "words"),
    [
        ([0, 3, 2, 5], "3 then 2 at row 1"),
        ([0, 2, 2, 6], "to 6"),
        ([1, 2, 2, 5], "from 1"),
        ([0, 2, 5], "for 3 rows"),
        ([0.0, 2, 2, 5], "float64"),
        ([[0, 2, 2, 5]], "shape"),
        ([0, 2**62, -(2**62), 5], "at row 1"),
    ],
    ids=["back", "beyond", "late", "short", "floats", "flat", "far"],
)
def test_bad_pointers(indptr, words):
    with pytest.raises(InputError, match=words):
        row_pointers(np.array(indptr), 3, 5, "x")


def test_cells_of_sparse_files_are_checked():
    ends = np.array([10, 12, 12, 15])
    for bad, row in ((0, 7), (2, 9), (4, 9)):
        indices = np.zeros(5, np.int32)
        indices[bad] = 4
        with pytest.raises(InputError, match=f"row {row}: position 4 of 4"):
            check_places(indices, 4, ends, "x, row", first=7)
    check_places(np.array([3, 0]), 4, np.array([0, 2]), "x, row")
    assert check_cells((5,), (5,), np.dtype("i4"), "x") == 5
    for data, indices, kind in (((5,), (4,), "i4"), ((5, 1), (5, 1), "i4"), ((5,), (5,), "f4")):
        with pytest.raises(InputError, match="one length"):
            check_cells(data, indices, np.dtype(kind), "x")
    refuse_what_does_not_fit(1000, "x", "CSC")
    with pytest.raises(BudgetError, match="CSC"):
        refuse_what_does_not_fit(1 << 60, "x", "CSC")


# Genotypes of PLINK files, packed here by the description of the format.


CODES = {2: 0b00, 1: 0b10, 0: 0b11, -1: 0b01}  # copies of the first allele; -1 is missing


def write_plink(path, G):
    """Write genotypes (samples, variants), one by one."""
    n, p = G.shape
    packed = bytearray(b"\x6c\x1b\x01")
    for j in range(p):
        for i in range(0, n, 4):
            byte = 0
            for q, g in enumerate(G[i : i + 4, j]):
                byte |= CODES[int(g)] << (2 * q)
            packed.append(byte)
    path.write_bytes(packed)
    lines = [f"1 snp{j} 0 {j} A G\n" for j in range(p)]
    path.with_suffix(".bim").write_text("".join(lines))
    lines = [f"fam{i} id{i} 0 0 1 -9\n" for i in range(n)]
    path.with_suffix(".fam").write_text("".join(lines))


def genotypes(n=103, p=7):
    return np.random.default_rng(2).integers(-1, 3, (n, p))


def as_floats(G):
    return np.where(G < 0, np.nan, G).astype(np.float32)


@pytest.mark.parametrize("n", [1, 4, 102, 103])
def test_genotypes_are_those_written(tmp_path, n):
    G = genotypes(n)
    write_plink(tmp_path / "x.bed", G)
    source = scan(tmp_path / "x.bed")
    assert isinstance(source, BedSource)
    assert source.shape == G.shape
    assert source.dtype == np.float32
    assert source.names[:2] == ("snp0", "snp1")
    assert source.nbytes == 7 * -(-n // 4)
    for rows in (1, 2, 3, 4, 5, 6, 25, 200):
        for start in {0, rows, 3 * rows, 100 // rows * rows}:
            if start < n:
                found = walked(source, rows, start)
                np.testing.assert_array_equal(found, as_floats(G)[start:])


def test_variants_are_chosen_and_missing_ones_are_bad(tmp_path):
    write_plink(tmp_path / "x.bed", genotypes())
    source = scan(tmp_path / "x.bed", columns=["snp5", 0])
    np.testing.assert_array_equal(walked(source, 10), as_floats(genotypes())[:, [5, 0]])
    assert source.place(0, 0) == "x.bed, row 0, column 0 ('snp5')"
    G = np.abs(genotypes())
    G[61, 4] = -1
    write_plink(tmp_path / "x.bed", G)
    assert scan(tmp_path / "x.bed").first_bad_cell()[:2] == (61, 4)
    write_plink(tmp_path / "x.bed", genotypes())
    before = scan(tmp_path / "x.bed").fingerprint()
    bim = tmp_path / "x.bim"
    bim.write_text(bim.read_text().replace("snp3", "rs03"))
    assert scan(tmp_path / "x.bed").fingerprint() != before
