"""Names that no file can have, disks that refuse, headers that claim too much."""

import errno
import os
import struct
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest

import mercer
from mercer.errors import InputError
from mercer.report import report

X = np.random.default_rng(2).normal(size=(40, 4))
MODEL = mercer.PCA(2).fit(X)

DOORS = {
    "save": lambda path: mercer.save(MODEL, f"{path}.mercer"),
    "load": lambda path: mercer.load(f"{path}.mercer"),
    "checkpoint": lambda path: mercer.PCA(2).fit(X, checkpoint=f"{path}.mercer"),
    "ONNX": lambda path: mercer.export_onnx(MODEL, f"{path}.onnx"),
    "page": lambda path: report(MODEL).save(f"{path}.html"),
    "scan": lambda path: mercer.scan(f"{path}.csv"),
    "fit": lambda path: mercer.PCA(2).fit(f"{path}.npy"),
    "pattern": lambda path: mercer.scan(f"{path}*.parquet"),
    "npy": lambda path: MODEL.transform(X, out=f"{path}.npy"),
    "csv": lambda path: MODEL.transform(X, out=f"{path}.csv"),
    "parquet": lambda path: MODEL.transform(X, out=f"{path}.parquet"),
}
NAMES = {
    "a long name": lambda folder: folder / ("n" * 300),
    "a long path": lambda folder: folder.joinpath(*["folder"] * 1000, "n"),
    "an empty byte": lambda folder: f"{folder}/a\0b",
    "half a letter": lambda folder: f"{folder}/\ud800",
    "an empty byte in a folder": lambda folder: f"{folder}/a\0b/c",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("door", DOORS)
def test_a_name_that_no_file_can_have_is_refused(tmp_path, door, name):
    with pytest.raises(InputError) as caught:
        DOORS[door](NAMES[name](tmp_path))
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) < 600
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("door", sorted(DOORS.keys() - {"pattern"}))
def test_a_link_to_itself_is_refused(tmp_path, door):
    for end in ("mercer", "onnx", "html", "csv", "npy", "parquet"):
        (tmp_path / f"a.{end}").symlink_to(tmp_path / f"a.{end}")
    with pytest.raises(InputError, match=r"got: .*a\."):
        DOORS[door](tmp_path / "a")


FULL = """
import json, resource, signal, sys
import numpy as np
import mercer
from mercer.report import report
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder, X = sys.argv[1], np.random.default_rng(0).normal(size=(4000, 4))
model = mercer.PCA(2).fit(X)
page = report(model)
np.save(folder + "/x.npy", X)
doors = {
    "a.mercer": lambda path: mercer.save(model, path),
    "b.mercer": lambda path: mercer.PCA(2).fit(folder + "/x.npy", checkpoint=path),
    "c.onnx": lambda path: mercer.export_onnx(model, path),
    "d.html": lambda path: page.save(path),
    "e.npy": lambda path: model.transform(X, out=path),
    "f.csv": lambda path: model.transform(X, out=path),
    "g.parquet": lambda path: model.transform(X, out=path),
}
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
for name, door in doors.items():
    try:
        door(folder + "/" + name)
    except OSError as error:
        lines = str(error).splitlines()
        print(name, len(lines), name in lines[1], error.errno, error.filename[-len(name):])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such limits")
def test_a_disk_that_takes_no_more_is_told_by_the_name_of_the_file(tmp_path):
    pytest.importorskip("onnx")
    words = [sys.executable, "-c", FULL, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    said = [line.split() for line in done.stdout.splitlines()]
    assert len(said) == 7, done.stderr
    assert all(line[1:] == ["3", "True", str(errno.EFBIG), line[0]] for line in said), said
    assert "Exception ignored" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="all is allowed")
@pytest.mark.parametrize("door", sorted(DOORS.keys() - {"load", "scan", "fit", "pattern"}))
def test_a_folder_that_may_not_be_written_to(tmp_path, door):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InputError, match=r"got: .*a\."):
            DOORS[door](tmp_path / "a")
    finally:
        tmp_path.chmod(0o700)


def header(length, version):
    """Return the head of a .npy file that claims to have so many bytes of header."""
    size = struct.pack("<H" if version == 1 else "<I", length)
    return b"\x93NUMPY" + bytes([version, 0]) + size + b"{'descr': '<f8', 'shape': (1, 1), "


CLAIMS = [(2**32 - 1, 2), (2**32 - 1, 3), (2**31, 2), (2**16 - 1, 1), (20_000, 2)]


@pytest.mark.parametrize(("length", "version"), CLAIMS)
@pytest.mark.parametrize("end", ["npy", "npz"])
def test_a_header_of_gigabytes_is_refused_before_it_takes_memory(
    tmp_path, length, version, end
):
    head = header(length, version)
    path = tmp_path / f"x.{end}"
    if end == "npy":
        path.write_bytes(head + bytes(100))
    else:
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("x.npy", head + bytes(100))
    tracemalloc.start()
    try:
        with pytest.raises(
            InputError, match=r"header of the .npy file cannot be read"
        ) as caught:
            mercer.scan(path)
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()
    assert "bytes of header" in caught.value.got
