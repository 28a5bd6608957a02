import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mercer.errors import InputError
from mercer.store import path_of, replacing, write_all


def test_the_block_becomes_the_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with replacing(path) as descriptor:
        write_all(descriptor, b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_not_replaced(tmp_path):
    with pytest.raises(InputError, match="folder cannot be replaced"):
        replacing(tmp_path / "").__enter__()
    folder = tmp_path / "a"
    folder.mkdir()
    with pytest.raises(InputError, match="folder cannot be replaced"):
        replacing(folder).__enter__()
    assert list(tmp_path.iterdir()) == [folder]


def test_a_path_is_text_or_a_path(tmp_path):
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


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", KILLED, path], timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 2
    with replacing(tmp_path / "b") as descriptor:  # another name: not its business
        write_all(descriptor, b"other")
    assert len(list(tmp_path.iterdir())) == 3
    with replacing(path) as descriptor:
        write_all(descriptor, b"new")
    assert sorted(there.name for there in tmp_path.iterdir()) == ["a", "b"]
    assert path.read_bytes() == b"new"


def test_the_file_of_a_running_writer_is_left_alone(tmp_path):
    path = tmp_path / "a"
    with replacing(path) as slow:
        write_all(slow, b"slow")
        with replacing(path) as quick:
            write_all(quick, b"quick")
        assert path.read_bytes() == b"quick"
    assert path.read_bytes() == b"slow"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_named(tmp_path):
    with (
        pytest.raises(InputError, match="no folder") as caught,
        replacing(tmp_path / "b" / "a"),
    ):
        raise AssertionError
    assert str(tmp_path / "b" / "a") in caught.value.got


def test_a_name_of_the_longest_length_is_written(tmp_path):
    path = tmp_path / ("n" * 255)
    with replacing(path) as descriptor:
        write_all(descriptor, b"x")
    assert path.read_bytes() == b"x"
