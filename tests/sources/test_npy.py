"""A .npy file gives the rows of the array that was saved."""

import os

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.sources import DenseSource, scan
from mercer.sources.files._file_source import block_dtype, native
from mercer.sources.files._npy import RawSource, open_memmap

# A .npy file gives the rows of the array that was saved.
TYPES = ["<f8", ">f8", "<f4", ">f4", "<f2", ">f2", "<i8", ">i2", "|i1", "|u1", "<u4", "|b1"]


def made(dtype="f8", n=103, p=7):
    X = np.random.default_rng(5).integers(-50, 50, (n, p)) / 4
    return X.astype(dtype)


def whole(source, rows, start=0):
    blocks = list(source.blocks(rows, start))
    assert [len(b) for b in blocks[:-1]] == [rows] * (len(blocks) - 1)
    return np.concatenate(blocks)


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
            found = whole(source, rows, start) if start < 103 else X[:0]
            assert found.dtype == source.dtype or start >= 103
            np.testing.assert_array_equal(found, X[start:])


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_are_chosen(tmp_path, order):
    X = np.asarray(made(">f4"), order=order)
    path = tmp_path / "x.npy"
    np.save(path, X)
    source = scan(path, columns=[5, 0, -1], drop=[0])
    np.testing.assert_array_equal(whole(source, 10), X[:, [5, 6]])
    assert source.shape == (103, 2)
    assert source.names == ("5", "6")
    assert source.place(4, 1) == "x.npy, row 4, column 1 ('6')"
    assert ("0", "dropped by name") in source.dropped
    with pytest.raises(InputError, match="no column number 7"):
        scan(path, columns=[7])


def test_blocks_are_fresh(tmp_path):
    """A block may be held, and written to, while the next is read."""
    np.save(tmp_path / "x.npy", made())
    blocks = list(scan(tmp_path / "x.npy").blocks(25))
    assert all(b.flags.writeable and b.flags.c_contiguous for b in blocks)
    assert not any(np.shares_memory(a, b) for a in blocks for b in blocks if a is not b)


def test_samples_and_bad_cells(tmp_path):
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
        np.testing.assert_array_equal(whole(source, 20), X)

    @pytest.mark.parametrize("offset", [8, 8192])
    def test_a_slice_of_rows_begins_where_it_does(self, tmp_path, offset):
        X, mapped = self.made(tmp_path / "raw.bin", "C", offset)
        np.testing.assert_array_equal(whole(scan(mapped[50:60][3:]), 4), X[53:60])
        turned = scan(mapped[50:60].T)
        np.testing.assert_array_equal(whole(turned, 4), X[50:60].T)

    def test_what_was_written_is_read(self, tmp_path):
        _, mapped = self.made(tmp_path / "raw.bin")
        mapped[5, 2] = 1e6
        assert whole(scan(mapped), 20)[5, 2] == 1e6

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
        np.testing.assert_array_equal(whole(scan(mapped), 30), made())


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
