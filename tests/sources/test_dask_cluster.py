import sys

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.planning import Workers
from mercer.sources.parts import _dask_cluster as _dask_clients
from mercer.sources.parts import _dask_cluster as module
from mercer.sources.parts._dask_cluster import (
    client_in_use,
    workers,
)
from mercer.sources.parts._dask_cluster import cluster as current

dask = pytest.importorskip("dask")


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


def test_threads_and_processes_of_this_machine():
    with dask.config.set(scheduler="threads", num_workers=3):
        assert workers() == {"threads": 3, "most": 3}
    with dask.config.set(scheduler="sync", num_workers=3):
        assert workers() == {"threads": 1, "most": 1}
    with dask.config.set(scheduler="threads"):
        assert workers()["threads"] >= 1
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

    with dask.config.set(scheduler="processes", num_workers=3):
        assert workers() == {"threads": 3, "most": 3, "processes": True}
    with ProcessPoolExecutor(2) as pool, dask.config.set(scheduler=pool):
        assert workers() == {"threads": 2, "most": 2, "processes": True}
    with ThreadPoolExecutor(2) as pool, dask.config.set(scheduler=pool):
        assert workers() == {"threads": 2, "most": 2}


def test_workers_say_what_they_have(monkeypatch):
    client = Client(worker(4, 8e9, 2e9, 3e8), worker(1, 4e9, 1e8, 2e8), worker(2, 0, 0))
    monkeypatch.setattr(module, "cluster", lambda: client)
    found = Workers(**workers())
    assert found.count == 3
    assert (found.threads, found.most) == (7, 4)
    assert found.memory == pytest.approx(0.8 * 4e9)
    assert found.held == 2e9
    assert found.network == 1e8
    assert not found.local
    silent = {"nthreads": 2, "memory_limit": None}
    monkeypatch.setattr(module, "cluster", lambda: Client(silent))
    found = Workers(**workers())
    assert found.memory == float("inf")
    assert (found.held, found.network) == (0.0, 1e8)
    monkeypatch.setattr(module, "cluster", lambda: Client())
    assert Workers(**workers()) == Workers(local=False)


def test_local_threads_and_clients_of_other_kinds(monkeypatch):
    monkeypatch.delitem(sys.modules, "distributed", raising=False)
    assert Workers(**workers()).local

    class Client:
        asynchronous = True

    monkeypatch.setattr(_dask_clients, "cluster", Client)
    with pytest.raises(InputError, match="asynchronous"), client_in_use():
        pass


# The cluster that Dask would use is the one that is planned for and worked on.


def test_the_client_of_the_moment_is_taken(cluster):
    assert current() is None
    with cluster.as_current():
        assert current() is cluster
        with dask.config.set(scheduler="threads"):
            assert current() is None
        with dask.config.set(scheduler="Distributed"):
            assert current() is cluster
    for named in (cluster, cluster.get):
        with dask.config.set(scheduler=named):
            assert current() is cluster
    with dask.config.set(scheduler=dask.get):
        assert current() is None


@pytest.mark.parametrize("where", ["the settings", "a task"])
def test_the_plan_is_made_for_the_cluster(cluster, where):
    def line():
        import dask.array as da

        from mercer import PCA, plan

        said = str(plan(PCA(2), da.ones((100, 5), chunks=(50, 5)))).splitlines()
        return next(line for line in said if "1 thread" in line)

    if where == "a task":
        assert "2 workers x 1 thread," in cluster.submit(line, pure=False).result()
    else:
        with dask.config.set(scheduler=cluster):
            assert "2 workers x 1 thread," in line()


def test_a_fit_inside_a_task_works_on_the_cluster_of_the_task(cluster):
    def inside(rows):
        import dask.array as da
        import numpy as np

        from mercer import PCA

        return PCA(2).fit(da.from_array(rows, chunks=(30, 5))).explained_variance_, np.pi

    rows = np.arange(500.0).reshape(100, 5) ** 1.5
    from mercer import PCA

    found = [cluster.submit(inside, rows, pure=False) for _ in range(2)]  # all workers
    for values, _ in cluster.gather(found):
        np.testing.assert_allclose(values, PCA(2).fit(rows).explained_variance_, rtol=1e-10)
