import stat
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import safetensors.numpy
from forged_files import some_arrays
from safetensors import safe_open

import mercer
from mercer import store
from mercer.errors import InputError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.mercer"


def test_the_reference_library_reads_the_same_arrays(path):
    store.write(path, {"kind": "model", "names": ["ü", "\ud800"]}, some_arrays())
    found = safetensors.numpy.load_file(path)
    assert set(found) == set(some_arrays())
    for name, array in some_arrays().items():
        assert found[name].dtype == array.dtype.newbyteorder("=")
        np.testing.assert_array_equal(found[name], array)
    with safe_open(path, framework="numpy") as file:
        assert set(file.metadata()) == {"sha256", "mercer"}


def test_the_same_contents_give_the_same_bytes(path):
    store.write(path, {"kind": "model"}, some_arrays())
    first = path.read_bytes()
    store.write(path, {"kind": "model"}, dict(reversed(some_arrays().items())))
    assert path.read_bytes() == first


def test_the_file_says_who_wrote_it(path):
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
