import dataclasses
import importlib.util
import logging
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from mercer.arrays import as_numpy

# A slow example on a busy machine is no failure.
settings.register_profile("mercer", deadline=None)
settings.load_profile("mercer")

# A shell has processes in its background ignore Ctrl-C; some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Rows in pieces, forced paths and the contract, which the tests of many rooms use.
for _place in ("sources", "numerics", "contract", "oracle", "passes"):
    _folder = str(Path(__file__).resolve().parent / _place)
    if _folder not in sys.path:
        sys.path.insert(0, _folder)


@pytest.fixture(autouse=True, scope="session")
def _default_rates(tmp_path_factory):
    """Plans go by default rates, whatever was measured on this machine."""
    from mercer.store import _machine_record

    folder = tmp_path_factory.mktemp("no_rates")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_machine_record, "_folder", lambda: folder)
        _machine_record.forget_rates()
        yield


@dataclasses.dataclass(frozen=True)
class Library:
    """An array library as a test sees it: numbers in, numbers out."""

    name: str
    asarray: Callable[[Any], Any]  # NumPy array -> array of the library, same dtype
    numpy: Callable[[Any], Any] = as_numpy

    def __repr__(self):
        return self.name


def _frozen(values):
    array = np.array(values)
    array.flags.writeable = False
    return array


def _strict(values):
    import array_api_strict

    return array_api_strict.asarray(np.array(values))


def _torch(values):
    import torch

    return torch.asarray(np.array(values))


LIBRARIES = [
    Library("numpy", np.array),
    Library("read-only", _frozen),
    Library("strict", _strict),
]
if importlib.util.find_spec("torch") is not None:
    LIBRARIES.append(Library("torch", _torch))


@pytest.fixture(params=LIBRARIES, ids=repr)
def xp(request):
    """Every array library that the rooms below the estimators must work with."""
    return request.param


@pytest.fixture
def rng():
    """Random numbers, the same in every run."""
    return np.random.default_rng(20_240_229)


@pytest.fixture(scope="session")
def cluster():
    """The client of a cluster with two worker processes; ``with cluster.as_current():``.

    It is nobody's default, so that no other fit runs there by accident.
    """
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        # Sockets that Dask leaves to the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)
        with (
            distributed.LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as workers,
            distributed.Client(workers, set_as_default=False) as client,
        ):
            yield client


@pytest.fixture
def every_chunk(monkeypatch):
    """Let every row of chunks be a part of its own, and Dask compute in this thread."""
    dask = pytest.importorskip("dask")
    from mercer.sources.parts import _dask_chunks as _dask_layout

    monkeypatch.setattr(_dask_layout, "_LEAST", 0.0)
    monkeypatch.setattr(_dask_layout, "_MOST", 0.0)
    with dask.config.set(scheduler="sync"):
        yield
