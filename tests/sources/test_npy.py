"""A .npy file gives the rows of the array that was saved."""

import os

import numpy as np
import pytest
import scipy.sparse
from pieces import walked

from mercer.errors import InputError
from mercer.sources import DenseSource, scan
from mercer.sources.files._file_source import block_dtype, native
from mercer.sources.files._npy import RawSource, open_memmap
from mercer.sources.files._npz import HeldTable, PackedRows, PackedTable

TYPES = ["<f8", ">f8", "<f4", ">f4", "<f2", ">f2", "<i8", ">i2", "|i1", "|u1", "<u4", "|b1"]


def made(dtype="f8", n=103, p=7):
    X = np.random.default_rng(5).integers(-50, 50, (n, p)) / 4
    return X.astype(dtype)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", TYPES)
def test_rows_are_those_saved(tmp_path, dtype, order):
    X = np.asarray(made(dtype), order=order)
    np.save(tmp_path / "x.npy", X)
    source = scan(tmp_path / "x.npy")
    assert source.shape == X.shape
    assert source.dtype.isnative
    assert source.nbytes == X.nbytes
    assert source.label == "x.npy"
    assert source.names is None
    for rows in (1, 10, 103, 500):
        for start in {0, rows, 100 // rows * rows}:
            found = walked(source, rows, start) if start < 103 else X[:0]
            assert found.dtype == source.dtype or start >= 103
            np.testing.assert_array_equal(found, X[start:])


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_are_chosen(tmp_path, order):
    X = np.asarray(made(">f4"), order=order)
    path = tmp_path / "x.npy"
    np.save(path, X)
    source = scan(path, columns=[5, 0, -1], drop=[0])
    np.testing.assert_array_equal(walked(source, 10), X[:, [5, 6]])
    assert source.shape == (103, 2)
    assert source.names == ("5", "6")
    assert source.place(4, 1) == "x.npy, row 4, column 1 ('6')"
    assert ("0", "dropped by name") in source.dropped
    with pytest.raises(InputError, match="no column number 7"):
        scan(path, columns=[7])


def test_blocks_are_fresh_and_rows_sampled(tmp_path):
    np.save(tmp_path / "x.npy", made())
    blocks = list(scan(tmp_path / "x.npy").blocks(25))
    assert all(b.flags.writeable and b.flags.c_contiguous for b in blocks)
    assert not any(np.shares_memory(a, b) for a in blocks for b in blocks if a is not b)
    X = made("f4")
    X[77, 3] = np.inf
    np.save(tmp_path / "x.npy", X)
    source = scan(tmp_path / "x.npy")
    assert source.first_bad_cell() == (77, 3, np.inf)
    np.testing.assert_array_equal(source.sample(5, [1, 2, 80]), X[[1, 2, 80]])


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_file_cut_off_after_it_was_opened(tmp_path, order):
    path = tmp_path / "x.npy"
    np.save(path, np.asarray(made(), order=order))
    blocks = scan(path).blocks(25)
    next(blocks)
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(InputError, match=r"x\.npy, ") as caught:
        list(blocks)
    assert "rows 75 to 99" in caught.value.got or order == "F"


class TestMemoryMaps:
    def made(self, path, order="C", offset=0, mode="r+"):
        X = made()
        raw = np.memmap(path, "f8", "w+", offset, X.shape, order)
        raw[:] = X
        raw.flush()
        return X, np.memmap(path, "f8", mode, offset, X.shape, order)

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("offset", [0, 24, 5000])
    def test_a_map_is_read_from_its_file(self, tmp_path, order, offset):
        X, mapped = self.made(tmp_path / "raw.bin", order, offset)
        source = scan(mapped)
        assert isinstance(source, RawSource)
        assert source.offset == offset
        assert source.label == "raw.bin"
        np.testing.assert_array_equal(walked(source, 20), X)

    @pytest.mark.parametrize("offset", [8, 8192])
    def test_a_slice_of_rows_begins_where_it_does(self, tmp_path, offset):
        X, mapped = self.made(tmp_path / "raw.bin", "C", offset)
        np.testing.assert_array_equal(walked(scan(mapped[50:60][3:]), 4), X[53:60])
        turned = scan(mapped[50:60].T)
        np.testing.assert_array_equal(walked(turned, 4), X[50:60].T)

    def test_what_was_written_is_read(self, tmp_path):
        _, mapped = self.made(tmp_path / "raw.bin")
        mapped[5, 2] = 1e6
        assert walked(scan(mapped), 20)[5, 2] == 1e6

    def test_maps_that_have_no_file_to_read(self, tmp_path):
        X, mapped = self.made(tmp_path / "raw.bin", mode="c")
        mapped[0, 0] = 99  # stays in memory
        assert open_memmap(mapped) is None
        assert scan(mapped).array[0, 0] == 99
        _, mapped = self.made(tmp_path / "other.bin")
        for odd in (mapped[:, ::2], mapped[::-1], mapped + 1, mapped[0]):
            assert open_memmap(odd) is None
        assert isinstance(scan(mapped[:, :2]), DenseSource)
        np.testing.assert_array_equal(scan(mapped + 1).array, X + 1)

    def test_a_map_of_npy(self, tmp_path):
        np.save(tmp_path / "x.npy", made())
        mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
        np.testing.assert_array_equal(walked(scan(mapped), 30), made())


# Fingerprints, shapes and types that all binary files share.
def saved(path, X):
    np.save(path, X)
    return path


def test_a_fingerprint_changes_with_the_file_and_the_columns(tmp_path):
    X = np.arange(60_000.0).reshape(-1, 3)
    path = saved(tmp_path / "x.npy", X)
    whole = scan(path).fingerprint()
    assert whole == scan(path).fingerprint()
    assert scan(path, columns=[0, 1]).fingerprint() != whole
    turned = scan(path, columns=[1, 0]).fingerprint()
    assert turned != scan(path, columns=[0, 1]).fingerprint()
    state = path.stat()
    X[-1, -1] = -1
    saved(path, X)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))  # same size, same time
    assert scan(path).fingerprint() != whole
    X[-1, -1] = 59_999
    saved(path, X)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert scan(path).fingerprint() == whole
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert scan(path).fingerprint() != whole


def test_bytes_that_are_no_booleans_count_once():
    odd = np.array([[0, 1, 2, 255]], np.uint8).view(bool)
    assert native(odd, np.dtype(bool)).sum() == 3


@pytest.mark.skipif(np.dtype("g").itemsize == 8, reason="long numbers are float64 here")
def test_long_numbers_are_refused():
    with pytest.raises(InputError, match="longer than 8 bytes"):
        block_dtype(np.dtype("g"), "x.npy")


# A .npz archive gives the rows of the matrix that was saved.


def counts(dtype="f8", n=103, p=11):
    rng = np.random.default_rng(3)
    X = rng.integers(1, 50, (n, p)) * (rng.random((n, p)) < 0.3)
    X[20:40] = 0  # whole blocks without a cell
    return X.astype(dtype)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "?", ">f4", "f2"])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_rows_are_those_saved(tmp_path, kind, dtype, packed):
    X = counts(dtype)
    plain = scipy.sparse.csr_array(X.astype("f8"))
    matrix = plain.asformat(kind)
    matrix.data = matrix.data.astype(dtype)
    scipy.sparse.save_npz(tmp_path / "x.npz", matrix, compressed=packed)
    source = scan(tmp_path / "x.npz")
    assert source.shape == X.shape
    assert source.dtype == ("f4" if dtype in {"f4", ">f4", "f2"} else "f8")
    assert source.nnz == plain.nnz
    assert source.label == "x.npz"
    for rows in (1, 10, 103, 500):
        for start in {0, rows, 100 // rows * rows}:
            if start < 103:
                np.testing.assert_array_equal(walked(source, rows, start), X[start:])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [">f8", "f2", "u1", "?"])
def test_dense_tables(tmp_path, dtype, order, save):
    X = np.asarray(counts(dtype), order=order)
    save(tmp_path / "x.npz", X)
    source = scan(tmp_path / "x.npz")
    assert isinstance(source, PackedTable if order == "C" else HeldTable)
    assert source.shape == X.shape
    for rows, start in ((1, 0), (10, 50), (200, 0)):
        np.testing.assert_array_equal(walked(source, rows, start), X[start:])
    few = scan(tmp_path / "x.npz", columns=[3, 1])
    np.testing.assert_array_equal(walked(few, 10), X[:, [3, 1]])


def test_one_of_several_is_named(tmp_path):
    np.savez(tmp_path / "x.npz", a=counts(), b=np.arange(4))
    with pytest.raises(InputError, match="'a', 'b'"):
        scan(tmp_path / "x.npz")
    source = scan(tmp_path / "x.npz", key="a")
    assert source.place(2, 1) == "x.npz, array 'a', row 2, column 1"
    np.testing.assert_array_equal(walked(source, 30), counts())
    scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.csr_array(counts()))
    source = scan(tmp_path / "x.npz")
    assert isinstance(source, PackedRows)
    held = [v.nbytes for v in vars(source).values() if isinstance(v, np.ndarray)]
    assert held == [104 * 8]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damage_is_told(tmp_path, save):
    """Flip single bytes anywhere: the numbers are right, or the file is refused."""
    whole_file, path = tmp_path / "whole.npz", tmp_path / "x.npz"
    X = np.random.default_rng(0).integers(0, 9, (40, 5)).astype(float)
    save(whole_file, X=X)
    good = whole_file.read_bytes()
    rng, refused = np.random.default_rng(1), list[str]()
    for at in rng.integers(0, len(good), 300):
        bad = bytearray(good)
        bad[at] ^= 1 << rng.integers(8)
        path.write_bytes(bad)
        try:
            found = walked(scan(path), 64)
        except InputError as error:
            refused.append(error.got)
        else:
            np.testing.assert_array_equal(found, X)
    assert len(refused) > 100
    assert all("x.npz" in got for got in refused)
