import json
import sys
import types

import numpy as np
import pytest
import threadpoolctl
from click.testing import CliRunner

from mercer import __version__
from mercer.cli.app import commands
from mercer.cli.commands import doctor_command as _doctor


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


@pytest.mark.usefixtures("few")
def test_the_text_says_how_to_get_what_is_not_there():
    lines = CliRunner().invoke(commands, ["doctor"]).stdout.splitlines()
    assert lines[0].split() == ["mercer", __version__]
    assert lines[-1].split(maxsplit=2) == ["no_such", "-", "nothing: pip install it"]
    assert lines[-2].startswith("h5py     works")


def test_a_broken_library_says_what_is_wrong(monkeypatch):
    def broken(_):
        raise OSError("libhdf5.so:\n  wrong version")

    monkeypatch.setattr(_doctor, "import_module", broken)
    found = _doctor._extra("h5py")
    assert found["works"] is False
    assert found["error"] == "OSError: libhdf5.so: wrong version"
    assert "wrong version" in _doctor._advice("h5py", found)


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


def test_every_extra_of_the_package_is_looked_for():
    named = {install for install, _ in _doctor._EXTRAS.values()}
    for extra in ("hdf5", "zarr", "plot", "onnx", "dask", "torch"):
        assert f"pip install 'mercer[{extra}]'" in named
