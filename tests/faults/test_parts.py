"""What goes wrong with rows in parts ends in three lines, and leaves the model as it was."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

from mercer import PCA
from mercer.errors import WorkerError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


@pytest.fixture(name="X")
def _rows(rng, monkeypatch):
    from mercer.sources.parts import _dask_chunks as _dask_layout

    monkeypatch.setattr(_dask_layout, "_LEAST", 0.0)
    monkeypatch.setattr(_dask_layout, "_MOST", 0.0)
    return rng.standard_normal((80, 4))


def altered(X, function):
    """Return the rows in four parts, each chunk passed through a function of the worker."""
    return da.from_array(X, chunks=(20, 4)).map_blocks(function, dtype=float, meta=X[:0])


@pytest.mark.parametrize("where", ["cluster", "threads"])
def test_ctrl_c_ends_the_tasks_and_leaves_the_model(X, cluster, where):
    def slow(block):
        import time

        time.sleep(0.6)
        return block

    model = PCA(2).fit(X)
    kept = pickle.dumps(model)
    place = cluster.as_current() if where == "cluster" else dask.config.set(scheduler=where)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with place, pytest.raises(KeyboardInterrupt):
            model.fit(altered(X, slow))
    finally:
        timer.join()
    assert pickle.dumps(model) == kept
    if where == "cluster":
        _wait_for_no_tasks(cluster)


def _wait_for_no_tasks(client, seconds=10.0):
    scheduler, until = client.cluster.scheduler, time.monotonic() + seconds
    while left := [key for key in scheduler.tasks if str(key).startswith("mercer-")]:
        assert time.monotonic() < until, left
        time.sleep(0.05)


def test_a_failed_fit_on_a_cluster_leaves_the_model(X, cluster):
    def broken(_):
        raise OSError("the disk is gone")

    model = PCA(2).fit(X)
    kept = pickle.dumps(model)
    with cluster.as_current(), pytest.raises(WorkerError, match="the disk is gone") as caught:
        model.fit(altered(X, broken))
    assert isinstance(caught.value.__cause__, OSError)
    assert pickle.dumps(model) == kept
    with cluster.as_current():
        assert PCA(2).fit(altered(X, np.array)).n_samples_ == 80
