"""A data set of an HDF5 file gives the rows that were written."""

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.sources import scan
from mercer.sources.files._chunked_file import spans

h5py = pytest.importorskip("h5py")

LAYOUTS = {
    "plain": {},
    "rows": {"chunks": (10, 7)},
    "cells": {"chunks": (16, 3), "compression": "gzip", "shuffle": True},
    "columns": {"chunks": (103, 1)},
}


def made(dtype="f8", n=103, p=7):
    return (np.random.default_rng(5).integers(-50, 50, (n, p)) / 4).astype(dtype)


def whole(source, rows, start=0):
    blocks = list(source.blocks(rows, start))
    assert [len(b) for b in blocks[:-1]] == [rows] * (len(blocks) - 1)
    return np.concatenate(blocks)


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
                found = whole(source, rows, start)
                assert found.dtype == source.dtype
                np.testing.assert_array_equal(found, X[start:])


def test_one_of_several_is_named(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"], file["deep/b"] = made(), made("f4")[:, :2]
    with pytest.raises(InputError, match=r"'a'.*'deep/b'"):
        scan(tmp_path / "x.h5")
    source = scan(tmp_path / "x.h5", key="/deep/b", columns=[1])
    assert source.place(2, 0) == "x.h5, data set 'deep/b', row 2, column 0 ('1')"
    np.testing.assert_array_equal(whole(source, 30), made("f4")[:, 1:2])
    other = scan(tmp_path / "x.h5", key="a").fingerprint()
    assert other != scan(tmp_path / "x.h5", key="deep/b").fingerprint()


def test_a_data_set_that_changed_is_refused(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"] = made()
    source = scan(tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"] = made()[:50]
    with pytest.raises(InputError, match="has changed"):
        whole(source, 10)


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
        whole(scan(path), 100)


def test_rows_of_chunks_that_are_too_large_are_cut():
    found = list(spans(1_000_000, 1000, 0, 1_000_000, 8000))
    assert max(last - first for first, last in found) == (1 << 26) // 8000
    assert found[-1][1] == 1_000_000
    # What was asked for is read, however large: the reader of blocks chose it.
    assert next(spans(10**6, 10**5, 0, 10**6, 8000)) == (0, 10**5)
