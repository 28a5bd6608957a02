import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from forged_files import entry, forged, some_arrays
from safetensors import safe_open

import mercer
from mercer import store
from mercer.errors import InputError
from mercer.store import _file_layout as layout
from mercer.store import path_of, replacing, write_all


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.mercer"


def test_other_libraries_read_the_same_bytes(path):
    store.write(path, {"kind": "model", "names": ["ü", "\ud800"]}, some_arrays())
    found = safetensors.numpy.load_file(path)
    assert set(found) == set(some_arrays())
    for name, array in some_arrays().items():
        assert found[name].dtype == array.dtype.newbyteorder("=")
        np.testing.assert_array_equal(found[name], array)
    with safe_open(path, framework="numpy") as file:
        assert set(file.metadata()) == {"sha256", "mercer"}
    store.write(path, {"kind": "model"}, some_arrays())
    first = path.read_bytes()
    store.write(path, {"kind": "model"}, dict(reversed(some_arrays().items())))
    assert path.read_bytes() == first
    store.write(path, {"kind": "model"}, {})
    assert store.read(path)[0]["mercer"] == mercer.__version__


def test_only_mercer_files_and_empty_ones_are_replaced(path):
    path.touch()
    store.write(path, {"kind": "model"}, {"a": np.arange(3)})
    path.write_bytes(path.read_bytes()[:-4])  # a damaged one is still ours
    store.write(path, {"kind": "model"}, {"a": np.arange(4)})
    for foreign in (b"precious", b"x" * 500):
        path.write_bytes(foreign)
        with pytest.raises(InputError, match="files only"):
            store.write(path, {"kind": "model"}, {})
        assert path.read_bytes() == foreign
    with pytest.raises(InputError, match="a folder"):
        store.write(path.parent, {"kind": "model"}, {})
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({}, "says its kind"),
        ({"kind": "Model"}, "says its kind"),
        ({"kind": "model", "version": 7}, "says its kind"),
        ({"kind": "model", "a": float("nan")}, "plain JSON"),
        ({"kind": "model", "a": {1, 2}}, "plain JSON"),
        ({"kind": "model", "a": ["x" * 100] * 200_000}, "too long"),
    ],
    ids=["none", "capital", "version", "nan", "set", "long"],
)
def test_headers_that_cannot_be_read_back_are_refused(path, header, words):
    with pytest.raises(InputError, match=words):
        store.write(path, header, {})
    assert not path.exists()


@pytest.mark.parametrize("dtype", ["complex128", "object", "U3", "M8[s]", "longdouble", "f2"])
def test_other_types_of_arrays_are_refused(path, dtype):
    with pytest.raises(InputError, match="cannot be written"):
        store.write(path, {"kind": "model"}, {"a": np.zeros(2, dtype=dtype)})
    with pytest.raises(InputError, match="cannot be written"):
        store.write(path, {"kind": "model"}, {"__metadata__": np.zeros(2)})


def test_a_link_stays_and_permissions_stay(path, tmp_path):
    store.write(path, {"kind": "model"}, {})
    path.chmod(0o600)
    link = tmp_path / "link.mercer"
    link.symlink_to(path)
    store.write(link, {"kind": "checkpoint"}, {})
    assert link.is_symlink()
    assert store.read(path)[0]["kind"] == "checkpoint"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_threads_that_write_one_name_leave_one_whole_file(path):
    def turn(number):
        store.write(path, {"kind": "model", "n": number}, {"a": np.full(20_000, number)})
        header, arrays = store.read(path)
        assert (arrays["a"] == header["n"]).all()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(turn, range(60)))
    assert list(path.parent.iterdir()) == [path]


def test_our_files_are_known_by_how_they_begin(path, tmp_path):
    assert not store.is_ours(path)
    assert not store.is_ours(tmp_path)
    mercer.save(mercer.PCA(2), path)
    assert store.is_ours(path)
    store.must_be_ours(path)
    other = tmp_path / "other.mercer"
    store.must_be_ours(other)
    other.write_bytes(b"")
    assert not store.is_ours(other)
    store.must_be_ours(other)
    other.write_bytes(b"my own work")
    with pytest.raises(InputError, match="did not write"):
        store.must_be_ours(other)
    with pytest.raises(InputError, match="a folder"):
        store.must_be_ours(tmp_path)


def test_the_block_becomes_the_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with replacing(path) as descriptor:
        write_all(descriptor, b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_folders_paths_and_links(tmp_path):
    with pytest.raises(InputError, match="folder cannot be replaced"):
        replacing(tmp_path / "").__enter__()
    folder = tmp_path / "a"
    folder.mkdir()
    with pytest.raises(InputError, match="folder cannot be replaced"):
        replacing(folder).__enter__()
    assert list(tmp_path.iterdir()) == [folder]
    assert path_of("a") == Path("a")
    assert path_of(tmp_path) == tmp_path
    for other in (5, None, b"a", ["a"], True):
        with pytest.raises(InputError, match="given by its path") as caught:
            path_of(other)
        assert type(other).__name__ in caught.value.got


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, MemoryError])
def test_a_block_that_fails_changes_nothing(tmp_path, error):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail():
        with replacing(path) as descriptor:
            write_all(descriptor, b"new")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_takes_some_bytes_goes_on(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda where, data: write(where, data[:3]))
    with replacing(tmp_path / "a") as descriptor:
        write_all(descriptor, b"0123456789")
    assert (tmp_path / "a").read_bytes() == b"0123456789"


KILLED = """
import os, signal, sys
from pathlib import Path
from mercer.errors import InputError
from mercer.store._file_replacement import replacing, write_all
with replacing(Path(sys.argv[1])) as descriptor:
    write_all(descriptor, b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(path):
    """Leave behind what a killed writer does, and return its name."""
    before = set(path.parent.iterdir())
    done = subprocess.run([sys.executable, "-c", KILLED, path], timeout=60)
    assert done.returncode == -signal.SIGKILL
    return next(iter(set(path.parent.iterdir()) - before))


def test_files_of_killed_and_running_writers(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    killed(path)
    assert path.read_bytes() == b"old"
    (tmp_path / ".mercer-notes.txt").touch()  # no file of a writer
    (tmp_path / ".mercer-link.part").symlink_to(path)
    with replacing(tmp_path / "b") as descriptor:  # a file of another name
        write_all(descriptor, b"other")
    found = sorted(there.name for there in tmp_path.iterdir())
    assert found == [".mercer-link.part", ".mercer-notes.txt", "a", "b"]
    assert path.read_bytes() == b"old"
    (tmp_path / ".mercer-link.part").unlink()
    (tmp_path / ".mercer-notes.txt").unlink()
    with replacing(path) as slow:
        write_all(slow, b"slow")
        for name in ("a", "b"):
            with replacing(tmp_path / name) as quick:
                write_all(quick, b"quick")
        assert path.read_bytes() == b"quick"
        code = f"from mercer import PCA, save; save(PCA(), {str(tmp_path / 'm.mercer')!r})"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert path.read_bytes() == b"slow"
    assert sorted(there.name for there in tmp_path.iterdir()) == ["a", "b", "m.mercer"]


def test_what_another_machine_writes_in_a_shared_folder_stays(tmp_path, monkeypatch):
    left = killed(tmp_path / "a")
    theirs = tmp_path / ".mercer-0123456789ab-0123456789abcdef.part"
    theirs.touch()
    monkeypatch.setattr("mercer.store._file_replacement._LOCAL", ("none",))
    with replacing(tmp_path / "b") as descriptor:
        write_all(descriptor, b"new")
    assert theirs.exists()
    assert not left.exists()  # of this machine, since it was started
    monkeypatch.undo()


def test_missing_folders_and_longest_names(tmp_path):
    with (
        pytest.raises(InputError, match="no folder") as caught,
        replacing(tmp_path / "b" / "a"),
    ):
        raise AssertionError
    assert str(tmp_path / "b" / "a") in caught.value.got
    path = tmp_path / ("n" * 255)
    with replacing(path) as descriptor:
        write_all(descriptor, b"x")
    assert path.read_bytes() == b"x"


def test_every_type_has_one_name_and_its_place():
    end = 0
    for place in layout.placed(some_arrays()):
        assert place.start == end
        assert place.start % place.dtype.itemsize == 0
        end += place.nbytes
    assert end == sum(array.nbytes for array in some_arrays().values())
    assert len(layout.NAMES) == len(layout.DTYPES)
    assert all(np.dtype(text).byteorder in "<|=" for text in layout.DTYPES.values())


def test_a_header_comes_back_as_it_was_packed():
    places = layout.placed(some_arrays())
    head = layout.packed_header('{"a": "\\ud800 ü"}', places)
    assert len(head) % 8 == 0
    assert head[8 : layout.SHA_AT] == layout.OPENING
    assert head[layout.SHA_AT : layout.PREFIX] == layout.NO_SHA
    room = sum(place.nbytes for place in places)
    text, found = layout.unpacked_header("f", head[8:], room)
    assert text == '{"a": "\\ud800 ü"}'
    assert {place.name: place for place in found} == {place.name: place for place in places}


HOSTILE = {
    "more than the file": (entry("a", "F64", [1 << 40], 0, 1 << 43), 0),
    "sizes that wrap": (entry("a", "F64", [1 << 61, 8], 0, 0), 0),
    "negative sizes": (entry("a", "F64", [-1], 0, -8), 0),
    "overlap": (entry("a", "U8", [8], 0, 8) + "," + entry("b", "U8", [8], 4, 12), 12),
    "a gap": (entry("a", "U8", [4], 0, 4) + "," + entry("b", "U8", [4], 8, 12), 12),
    "bytes left over": (entry("a", "U8", [4], 0, 4), 8),
    "an unknown type": (entry("a", "F8_E4M3", [4], 0, 4), 4),
    "no type": ('"a":{"shape":[4],"data_offsets":[0,4]}', 4),
    "one field more": (
        '"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"class":"os.system"}',
        4,
    ),
    "a size in quotes": (entry("a", "U8", ["4"], 0, 4), 4),
    "a size that is true": (entry("a", "U8", [True], 0, 1), 1),
    "half a size": (entry("a", "U8", [4.0], 0, 4), 4),
    "forty dimensions": (entry("a", "U8", [1] * 40, 0, 1), 1),
    "the same name twice": (entry("a", "U8", [4], 0, 4) + "," + entry("a", "U8", [4], 4, 8), 8),
    "metadata twice": ('"__metadata__":{}', 0),
    "not an object": ('"a":7', 0),
    "deep lists": ('"a":' + "[" * 50_000 + "]" * 50_000, 0),
    "not JSON": ('"a":', 0),
    "a number of 5,000 digits": (f'"a":{{"dtype":"U8","shape":[{"9" * 5000}]}}', 0),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_table_is_refused(case):
    table, room = HOSTILE[case]
    whole = forged(table)
    with pytest.raises(InputError, match=r"damaged|too long") as caught:
        layout.unpacked_header("some file", whole[8:], room)
    assert "some file" in str(caught.value)


def test_a_hundred_thousand_names_fit_and_ten_times_as_many_do_not():
    names = ",".join(
        f'"a column with a name of quite some length {i:06d}"' for i in range(10**5)
    )
    layout.small_enough("f", names.encode())
    with pytest.raises(InputError, match="too long"):
        layout.small_enough("f", b"0," * (layout.MARKS + 1))
    with pytest.raises(InputError, match="too long"):
        layout.small_enough("f", b" " * (layout.HEADER_BYTES + 1))
