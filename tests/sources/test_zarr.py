"""A Zarr folder of either format gives the rows that were written."""

import json

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.sources import scan

zarr = pytest.importorskip("zarr")


def made(dtype="f8", n=103, p=7):
    return (np.random.default_rng(5).integers(-50, 50, (n, p)) / 4).astype(dtype)


def write(path, X, version=3, **layout):
    layout = {"chunks": (10, 4)} | layout
    array = zarr.create_array(path, shape=X.shape, dtype=X.dtype, zarr_format=version, **layout)
    array[:] = X


def whole(source, rows, start=0):
    blocks = list(source.blocks(rows, start))
    assert [len(b) for b in blocks[:-1]] == [rows] * (len(blocks) - 1)
    return np.concatenate(blocks)


# Format 3 keeps the byte order among its codecs, and zarr 3.0 writes the machine's only.
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "u1", "?"])
@pytest.mark.parametrize("version", [2, 3])
def test_rows_are_those_written(tmp_path, version, dtype):
    X = made(dtype)
    write(tmp_path / "x.zarr", X, version)
    source = scan(tmp_path / "x.zarr")
    assert source.shape == X.shape
    assert source.label == "x.zarr"
    assert source.chunk_rows == 10
    assert source.dtype == ("f4" if dtype == "f2" else np.dtype(dtype).newbyteorder("="))
    for rows, start in ((1, 0), (10, 0), (25, 75), (500, 0)):
        found = whole(source, rows, start)
        assert found.dtype == source.dtype
        np.testing.assert_array_equal(found, X[start:])


def test_shards_are_read_whole(tmp_path):
    write(tmp_path / "x.zarr", made(), chunks=(10, 4), shards=(40, 8))
    source = scan(tmp_path / "x.zarr")
    assert source.chunk_rows == 40
    np.testing.assert_array_equal(whole(source, 25), made())


@pytest.mark.parametrize("version", [2, 3])
def test_one_of_several_is_named(tmp_path, version):
    zarr.create_group(tmp_path / "x.zarr", zarr_format=version)
    write(tmp_path / "x.zarr" / "deep" / "a", made(), version)
    zarr.create_group(tmp_path / "x.zarr" / "deep", zarr_format=version)
    np.testing.assert_array_equal(whole(scan(tmp_path / "x.zarr"), 50), made())
    write(tmp_path / "x.zarr" / "b", made("f4"), version)
    with pytest.raises(InputError, match=r"2 tables.*'deep/a'"):
        scan(tmp_path / "x.zarr")
    source = scan(tmp_path / "x.zarr", key="b", columns=[2, 0])
    assert source.label == "x.zarr, array 'b'"
    np.testing.assert_array_equal(whole(source, 50), made("f4")[:, [2, 0]])


def test_a_missing_chunk_is_the_fill_value(tmp_path):
    """Legal Zarr, and said so in the docstring of the source."""
    write(tmp_path / "x.zarr", made(), fill_value=9.0)
    (tmp_path / "x.zarr" / "c" / "1" / "0").unlink()
    found = whole(scan(tmp_path / "x.zarr"), 50)
    assert (found[10:20, :4] == 9).all()
    np.testing.assert_array_equal(found[20:], made()[20:])


def test_a_damaged_chunk_names_its_rows(tmp_path):
    write(tmp_path / "x.zarr", made())
    (tmp_path / "x.zarr" / "c" / "1" / "0").write_bytes(b"no chunk at all")
    with pytest.raises(InputError, match=r"x\.zarr, rows 10 to 19"):
        whole(scan(tmp_path / "x.zarr"), 10)


def test_a_fingerprint_sees_every_chunk(tmp_path):
    write(tmp_path / "x.zarr", made())
    before = scan(tmp_path / "x.zarr").fingerprint()
    assert before == scan(tmp_path / "x.zarr").fingerprint()
    (tmp_path / "x.zarr" / "c" / "1" / "0").unlink()
    assert before != scan(tmp_path / "x.zarr").fingerprint()


def test_chunks_that_unpickle_are_refused(tmp_path):
    """A filter of Zarr 2 calls pickle.loads on each chunk."""
    write(tmp_path / "x.zarr", made(), 2)
    path = tmp_path / "x.zarr" / ".zarray"
    head = json.loads(path.read_text())
    stages = {"filters": [{"id": "pickle"}]}, {"compressor": {"id": "pickle"}}
    for stage in stages:
        path.write_text(json.dumps(head | stage))
        # Newer versions of zarr find the filter themselves, and name it.
        with pytest.raises(InputError, match=r"can run code|'pickle'"):
            scan(tmp_path / "x.zarr")
