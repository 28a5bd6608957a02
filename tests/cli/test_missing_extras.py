"""Exit code 4: a library is needed that is not installed. Imports are blocked in a process."""

import json
import subprocess
import sys
import types

import h5py
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import threadpoolctl
import zarr
from click.testing import CliRunner

from mercer import __version__
from mercer.cli.app import commands
from mercer.cli.commands import doctor_command as _doctor

# Runs every command line that is given, as if libraries were not there, and tells how it ended.
BLOCKED = """
import contextlib, io, json, sys
for name in ("h5py", "zarr", "onnx", "pyarrow", "pyarrow.ipc", "pyarrow.parquet", "matplotlib"):
    sys.modules[name] = None
from mercer.cli.app import commands
ended = []
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            commands.main(words)
        except SystemExit as end:
            code = end.code
    ended.append([code, out.getvalue(), err.getvalue()])
import mercer, numpy as np
from mercer import plots
from mercer.cli._voice import exit_code
model = mercer.PCA(1).fit([[1.0, 2.0], [3.0, 5.0], [5.0, 7.0]])
panel = plots.loadings(np.eye(2), ["a", "b"])
for work in (lambda: mercer.export_onnx(model, "x.onnx"), lambda: plots.draw(panel)):
    try:
        work()
    except mercer.MercerError as error:
        ended.append([exit_code(error), "", str(error)])
print(json.dumps(ended))
"""


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """How each command line ended: code, stdout, stderr."""
    folder = tmp_path_factory.mktemp("files")
    X = np.random.default_rng(0).normal(size=(20, 3))
    with h5py.File(folder / "x.h5", "w") as file:
        file["X"] = X
    zarr.save(folder / "x.zarr", X)
    table = pl.DataFrame(X, schema=["a", "b", "c"])
    table.write_ipc_stream(folder / "stream.arrow")
    table.write_parquet(folder / "x.parquet")
    assert pa.__version__
    names = ["x.h5", "x.zarr", "stream.arrow", "x.parquet"]
    lines = [["look", str(folder / name), "--json"] for name in names]
    scores = [
        "fit",
        str(folder / "x.parquet"),
        "-k",
        "1",
        "--scores",
        str(folder / "z.parquet"),
    ]
    lines.append([*scores, "--json", "-q"])
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, json.dumps(lines)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip([*names, "scores", "onnx", "draw"], json.loads(done.stdout), strict=True))


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("x.h5", "pip install 'mercer[hdf5]'"),
        ("x.zarr", "pip install 'mercer[zarr]'"),
        ("stream.arrow", "pip install pyarrow"),
        ("scores", "pip install pyarrow"),
        ("onnx", "pip install 'mercer[onnx]'"),
        ("draw", "pip install 'mercer[plot]'"),
    ],
)
def test_a_library_that_is_not_there_is_exit_4(ended, name, fix):
    code, out, err = ended[name]
    assert code == 4
    assert len(err.splitlines()) == 3
    assert fix in err.splitlines()[2]
    if name not in ("onnx", "draw"):
        assert json.loads(out)["error"]["code"] == 4


def test_parquet_is_read_without_pyarrow(ended):
    assert ended["x.parquet"][0] == 0
    assert json.loads(ended["x.parquet"][1])["data"]["rows"] == 20


@pytest.fixture
def few(monkeypatch):
    """Two libraries, so that not every one is imported here: one there, one not."""
    extras = {"h5py": ("pip install h5py", "reads"), "no_such": ("pip install it", "nothing")}
    monkeypatch.setattr(_doctor, "_EXTRAS", extras)


@pytest.mark.usefixtures("few")
def test_versions_are_those_of_this_process():
    done = CliRunner().invoke(commands, ["doctor", "--json"])
    found = json.loads(done.stdout)
    assert (done.exit_code, found["mercer"]) == (0, __version__)
    assert found["versions"]["numpy"] == np.__version__
    assert found["python"].endswith(".".join(map(str, sys.version_info[:3])))
    assert found["memory_free"] > 0
    blas = {pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
    assert {pool["threads"] for pool in found["blas"]} == blas
    assert found["extras"]["h5py"]["works"] is True
    assert found["extras"]["no_such"]["works"] is False
    lines = CliRunner().invoke(commands, ["doctor"]).stdout.splitlines()
    assert lines[0].split() == ["mercer", __version__]
    assert lines[-1].split(maxsplit=2) == ["no_such", "-", "nothing: pip install it"]
    assert lines[-2].startswith("h5py     works")


def test_broken_libraries_and_extras(monkeypatch):
    def broken(_):
        raise OSError("libhdf5.so:\n  wrong version")

    monkeypatch.setattr(_doctor, "import_module", broken)
    found = _doctor._extra("h5py")
    assert found["works"] is False
    assert found["error"] == "OSError: libhdf5.so: wrong version"
    assert "wrong version" in _doctor._advice("h5py", found)
    named = {install for install, _ in _doctor._EXTRAS.values()}
    for extra in ("hdf5", "zarr", "plot", "onnx", "dask", "torch"):
        assert f"pip install 'mercer[{extra}]'" in named


def test_gpus_are_those_that_torch_sees(monkeypatch):
    device = types.SimpleNamespace(name="Card", total_memory=8_000_000_000)
    cuda = types.SimpleNamespace(
        is_available=lambda: True,
        device_count=lambda: 2,
        get_device_properties=lambda _: device,
    )
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda))
    assert _doctor._gpus() == [{"name": "Card", "memory": 8_000_000_000}] * 2
    monkeypatch.setitem(sys.modules, "torch", None)
    assert _doctor._gpus() == []
