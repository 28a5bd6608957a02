import sys

import pytest

dask = pytest.importorskip("dask")

from mercer.planning import Workers  # noqa: E402
from mercer.sources.parts import _dask_cluster as module  # noqa: E402
from mercer.sources.parts._dask_cluster import workers  # noqa: E402


class Client:
    """What a client says of its cluster."""

    def __init__(self, *found):
        self.found = found

    def scheduler_info(self, n_workers=5):
        assert n_workers == -1  # all, where old versions give five
        return {"workers": {f"tcp://{i}": each for i, each in enumerate(self.found)}}


def worker(threads, limit, held, rate=1e8):
    metrics = {"managed_bytes": held, "memory": 9e9, "bandwidth": {"total": rate}}
    return {"nthreads": threads, "memory_limit": limit, "metrics": metrics}


def test_threads_of_this_process():
    with dask.config.set(scheduler="threads", num_workers=3):
        assert workers() == {"threads": 3, "most": 3}
    with dask.config.set(scheduler="sync", num_workers=3):
        assert workers() == {"threads": 1, "most": 1}
    with dask.config.set(scheduler="threads"):
        assert workers()["threads"] >= 1


def test_processes_of_this_machine():
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

    with dask.config.set(scheduler="processes", num_workers=3):
        assert workers() == {"threads": 3, "most": 3, "processes": True}
    with ProcessPoolExecutor(2) as pool, dask.config.set(scheduler=pool):
        assert workers() == {"threads": 2, "most": 2, "processes": True}
    with ThreadPoolExecutor(2) as pool, dask.config.set(scheduler=pool):
        assert workers() == {"threads": 2, "most": 2}


def test_the_smallest_and_the_fullest_worker_count(monkeypatch):
    client = Client(worker(4, 8e9, 2e9, 3e8), worker(1, 4e9, 1e8, 2e8), worker(2, 0, 0))
    monkeypatch.setattr(module, "cluster", lambda: client)
    found = Workers(**workers())
    assert found.count == 3
    assert (found.threads, found.most) == (7, 4)
    assert found.memory == pytest.approx(0.8 * 4e9)
    assert found.held == 2e9
    assert found.network == 1e8
    assert not found.local


def test_a_worker_that_has_told_nothing_yet(monkeypatch):
    silent = {"nthreads": 2, "memory_limit": None}
    monkeypatch.setattr(module, "cluster", lambda: Client(silent))
    found = Workers(**workers())
    assert found.memory == float("inf")
    assert (found.held, found.network) == (0.0, 1e8)


def test_a_cluster_without_workers_counts_as_one(monkeypatch):
    monkeypatch.setattr(module, "cluster", lambda: Client())
    assert Workers(**workers()) == Workers(local=False)


def test_local_threads_ask_no_cluster(monkeypatch):
    monkeypatch.delitem(sys.modules, "distributed", raising=False)
    assert Workers(**workers()).local
