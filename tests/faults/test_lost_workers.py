"""A worker of a cluster that is killed costs time, and not a bit of the result."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from forced import FORCED
from workers import worker_processes

from mercer import PCA
from mercer.errors import WorkerError

pytest.importorskip("distributed")

PARTS = 12


@pytest.fixture(scope="module")
def workers():
    """Two worker processes that are started again when they die."""
    with worker_processes("2GB") as client:
        yield client
        client.wait_for_workers(2, timeout=60)  # closing beside a restart may hang


def generated(folder):
    """Return an array whose parts take their time, and leave a file when they are made."""
    import dask.array as da

    def chunk(block_info=None):
        number = block_info[None]["chunk-location"][0]
        time.sleep(0.02)
        (folder / f"{number}-{time.monotonic_ns()}").touch()
        some = np.random.default_rng(number).standard_normal((625, 100))
        return np.tile(some * 0.8 ** np.arange(100), (10, 1)) + 7 * number

    return da.map_blocks(
        chunk, chunks=((6_250,) * PARTS, (100,)), dtype=float, meta=np.empty((0, 0))
    )


class Killer:
    """Kills a worker with SIGKILL once so many parts have been made."""

    def __init__(self, client, folder, after):
        self.victim = next(iter(client.run(os.getpid).values()))
        self.folder, self.after, self.killed = folder, after, False
        self.thread = threading.Thread(target=self.wait)
        self.ended = threading.Event()

    def wait(self):
        while not self.ended.wait(0.002):
            if sum(1 for _ in self.folder.iterdir()) >= self.after:
                os.kill(self.victim, signal.SIGKILL)
                self.killed = True
                return

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def bits(model):
    arrays = (model.components_, model.explained_variance_, model.mean_, model.noise_variance_)
    return [np.asarray(array).tobytes() for array in arrays]


def disturbed(workers, folder, path, share):
    """Return the undisturbed fit and the one during which a worker was killed."""
    for name in ("calm", "stormy"):
        (folder / name).mkdir()
    workers.wait_for_workers(2)
    calm = FORCED[path](4).fit(generated(folder / "calm"))
    made = sum(1 for _ in (folder / "calm").iterdir())
    assert made == PARTS * calm.plan_.chosen.passes or path == "krylov"
    assert made <= PARTS * calm.plan_.chosen.passes  # nothing was read more often than planned
    with Killer(workers, folder / "stormy", max(2, int(share * made))) as killer:
        stormy = FORCED[path](4).fit(generated(folder / "stormy"))
    assert killer.killed
    return calm, stormy


@pytest.mark.parametrize("path", ["gram"])
def test_a_killed_worker_costs_no_bit(workers, tmp_path, path):
    calm, stormy = disturbed(workers, tmp_path, path, 0.4)
    assert bits(stormy) == bits(calm)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["gram", "krylov", "svd"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_killed_at_any_moment(workers, tmp_path, path, share):
    calm, stormy = disturbed(workers, tmp_path, path, share)
    assert bits(stormy) == bits(calm)


@pytest.mark.slow
def test_a_part_that_kills_every_worker_is_named(workers):
    import dask.array as da

    from mercer.errors import WorkerError

    def chunk(block_info=None):
        number = block_info[None]["chunk-location"][0]
        if number == 3:
            time.sleep(1.0)  # until the others are done: Dask suspects all that wait
            os.kill(os.getpid(), signal.SIGKILL)
        return np.full((6_250, 100), float(number))

    X = da.map_blocks(chunk, chunks=((6_250,) * 5, (100,)), dtype=float, meta=np.empty((0, 0)))
    workers.wait_for_workers(2)
    with pytest.raises(WorkerError, match="part 3 of the rows have died") as refused:
        FORCED["gram"](4).fit(X)
    assert refused.value.got.startswith("KilledWorker after 4 workers")
    assert len(str(refused.value).splitlines()) == 3


@pytest.mark.usefixtures("workers")
def test_one_cluster_and_local_threads_give_the_same_bits(tmp_path):
    import dask

    X = generated(tmp_path)
    with dask.config.set(scheduler="threads", num_workers=3):
        here = FORCED["gram"](4).fit(X)
    assert bits(here) == bits(FORCED["gram"](4).fit(X))


# What goes wrong with rows in parts ends in three lines, and leaves the model as it was.


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
