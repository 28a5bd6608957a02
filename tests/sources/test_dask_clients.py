"""The cluster that Dask would use is the one that is planned for and worked on."""

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.sources.parts import _dask_cluster as _dask_clients
from mercer.sources.parts._dask_cluster import client_in_use
from mercer.sources.parts._dask_cluster import cluster as current

dask = pytest.importorskip("dask")


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


def test_an_asynchronous_client_is_refused(monkeypatch):
    class Client:
        asynchronous = True

    monkeypatch.setattr(_dask_clients, "cluster", Client)
    with pytest.raises(InputError, match="asynchronous"), client_in_use():
        pass
