import gzip
import json
import os
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest
from forged_files import entry, forged, some_arrays

from mercer import store
from mercer.errors import InputError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.mercer"


def refused(path, data, words):
    path.write_bytes(data)
    with pytest.raises(InputError, match=words) as caught:
        store.read(path)
    assert str(path) in caught.value.got
    assert len(str(caught.value).splitlines()) == 3


def test_arrays_come_back_bit_for_bit_and_writable(path):
    store.write(path, {"kind": "model", "x": [1, None, "ü"]}, some_arrays())
    header, arrays = store.read(path)
    assert header["x"] == [1, None, "ü"]
    assert (header["format"], header["version"], header["kind"]) == ("mercer", 1, "model")
    assert set(arrays) == set(some_arrays())
    for name, array in some_arrays().items():
        found = arrays[name]
        assert found.dtype == array.dtype.newbyteorder("=")
        assert found.shape == array.shape
        assert found.flags.writeable
        assert found.tobytes() == array.astype(found.dtype).tobytes()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (pickle.dumps({"a": 1}), "a pickle, which runs the code"),
        (gzip.compress(b"x"), "gzip"),
        (b"PK\x03\x04" + bytes(100), "zip"),
        (b"\x93NUMPY" + bytes(100), "NumPy"),
        (b"\x89HDF\r\n", "HDF5"),
        (b"", "first bytes"),
        (b"a,b\n1,2\n", "first bytes"),
        ((2).to_bytes(8, "little") + b"{}", "a safetensors file that mercer did not write"),
        (bytes(4096), "first bytes"),
    ],
    ids=["pickle", "gzip", "zip", "npy", "hdf5", "empty", "csv", "safetensors", "zeros"],
)
def test_other_files_are_refused_with_the_reason(path, data, words):
    refused(path, data, words)


def test_forged_and_foreign_files(path):
    import joblib

    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a", "b")
    refused(path, path.read_bytes(), "zip")
    for compress in (0, 3, ("lzma", 3), ("xz", 3), ("bz2", 3)):
        joblib.dump({"a": np.arange(3)}, path, compress=compress)
        refused(path, path.read_bytes(), "pickle")
    path.write_bytes(forged(entry("a", "U8", [4], 0, 4), b"abcd"))
    assert bytes(store.read(path)[1]["a"]) == b"abcd"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (forged(entry("a", "BOOL", [2], 0, 2), b"\x01\x02"), "neither true nor false"),
        (forged("", length=1 << 62), "the header alone claims"),
        (forged("", length=1 << 63), "the header alone claims"),
        (forged("", length=20), "the header alone claims"),
        (forged("", bytes(1 << 23), length=(1 << 23) + 50), "at most"),
        (forged(entry("a", "F64", [0, (1 << 62) - 1], 0, 0)), "has the shape"),
        (forged(entry("a", "F64", [1 << 50], 0, 1 << 53)), "the arrays need"),
        (forged("", description="[" * 100_000), "damaged|too long"),
        (forged("", description="7"), "not a JSON object"),
        (forged("", description="{}"), "names no format"),
        (forged("", description='{"format":"mercer","version":true}'), "names no format"),
        (forged("", description='{"format":"mercer","version":0}'), "names no format"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_hostile_file_with_a_right_checksum_is_refused(path, data, words):
    refused(path, data, words)


def test_newer_formats_and_other_kinds_are_refused(path):
    newer = json.dumps({"format": "mercer", "version": 2, "kind": "model", "mercer": "9.1"})
    refused(path, forged("", description=newer), "newer mercer")
    with pytest.raises(InputError) as caught:
        store.read(path)
    assert "written by mercer 9.1" in caught.value.got
    assert "update mercer" in caught.value.fix
    store.write(path, {"kind": "checkpoint"}, {})
    assert store.read(path, kind="checkpoint")[0]["kind"] == "checkpoint"
    with pytest.raises(InputError, match="does not hold a model"):
        store.read(path, kind="model")


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_missing_file_is_said_in_the_usual_way_and_in_ours(path, below):
    if below:
        path.touch()
    with pytest.raises(FileNotFoundError, match=r"a\.mercer") as caught:
        store.read(path / below)
    assert isinstance(caught.value, InputError)
    assert str(caught.value).count("\n") == 2
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_folders_and_pipes_are_refused_at_once(tmp_path):
    with pytest.raises(InputError, match="from a file"):
        store.read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="from a file"):
        store.read(tmp_path / "pipe")


def peak(path):
    tracemalloc.start()
    try:
        store.read(path)
    except InputError:
        pass
    finally:
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return most


def test_reading_takes_at_most_twice_the_file_and_16_mb(path):
    rng = np.random.default_rng(0)
    store.write(
        path, {"kind": "model"}, {"a": rng.normal(size=(1000, 5000)), "b": rng.normal(size=9)}
    )
    assert peak(path) < 2 * path.stat().st_size + (16 << 20)


@pytest.mark.parametrize(
    "unit",
    ["[],", "{},", '{"a":1},', "1.5,", '"ab",', "[[[]]],", '"é",', "12345678901234567890,"],
)
@pytest.mark.parametrize("inside", [True, False])
def test_a_small_hostile_header_cannot_ask_for_much_memory(path, unit, inside):
    text = unit * ((128_000) // sum(unit.count(c) for c in ",[{"))
    text = '{"format":"mercer","version":1,"kind":"model","a":[' + text + "0]}"
    if inside:
        path.write_bytes(forged("", description=text))
    else:
        path.write_bytes(forged(text[1:-1]))
    assert peak(path) < 2 * path.stat().st_size + (16 << 20)
