"""Which cluster Dask would use now: that of a client, of a task, or none.

Who would do the work of a Dask graph now: the workers of a cluster, or this machine.
"""

import contextlib
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from typing import Any

from mercer.errors import InputError

_CLUSTERS = ("distributed", "dask.distributed")  # how a configuration may name one


def cluster() -> Any:
    """Return the client of the cluster that Dask would use now, or None for this machine.

    Inside a task of a cluster that is the cluster of the task.
    """
    named = _named()
    if named is not None and not isinstance(named, str):
        return named
    if "distributed" not in sys.modules or named not in (None, *_CLUSTERS):
        return None
    distributed = import_module("distributed")
    inside = own_worker() is not None
    try:
        return distributed.get_client() if inside else distributed.default_client()
    except ValueError:
        return None


@contextlib.contextmanager
def client_in_use() -> Iterator[Any]:
    """Give the client that Dask would use now, or None.

    Inside a task the place of that task is given free meanwhile: else the parts might wait
    for it for ever.
    """
    client = cluster()
    if client is not None and own_worker() is not None:
        from distributed import worker_client

        with worker_client():
            yield client
        return
    if client is not None and client.asynchronous:
        raise InputError(
            "a client that is asynchronous cannot be waited for",
            got=f"{type(client).__name__} with asynchronous=True",
            fix="use Client(...) without asynchronous=True, or fit in a thread",
        )
    yield client


def own_worker() -> Any:
    """Return the worker of a cluster that this task runs on, or None."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None


def _named() -> Any:
    """Return the scheduler of Dask's settings: a client, a name, or None where none is set.

    Functions and executors, which work on this machine, are named by their type.
    """
    import dask

    named = dask.config.get("scheduler", None)
    owner = getattr(named, "__self__", named)  # a client by its method `get`
    if named is None or ("Client" in type(owner).__name__ and hasattr(owner, "get")):
        return owner
    return named.lower() if isinstance(named, str) else type(named).__name__


_USED = 0.8  # of its limit, at which Dask lets a worker begin nothing more
_PROCESSES = ("processes", "multiprocessing")  # how a configuration may name them


def workers() -> dict[str, Any]:
    """Return the facts of `mercer.planning.Workers`, as numbers.

    A cluster is asked once: threads, memory and the rate of the network as its workers have
    measured it (Dask assumes 100 MB/s before). A cluster that has no worker yet counts as
    one worker of one thread.
    """
    client = cluster()
    if client is None:
        return _on_this_machine()
    found = list(client.scheduler_info(n_workers=-1)["workers"].values())
    if not found:
        return {"local": False}
    metrics = [worker.get("metrics", {}) for worker in found]
    limits = [worker.get("memory_limit") or float("inf") for worker in found]
    rates = [each["bandwidth"]["total"] for each in metrics if "bandwidth" in each]
    return {
        "count": len(found),
        "threads": sum(worker["nthreads"] for worker in found),
        "most": max(worker["nthreads"] for worker in found),
        "memory": _USED * min(limits),
        # Not "memory": as it was a second ago, it may still hold the parts of another fit.
        "held": float(max((each.get("managed_bytes", 0) for each in metrics), default=0)),
        "network": float(min(rates, default=1e8)),
        "local": False,
    }


def _on_this_machine() -> dict[str, Any]:
    """Return how many threads Dask takes in this process, or processes beside it."""
    import dask
    from dask.system import CPU_COUNT

    named, pool = dask.config.get("scheduler", None), dask.config.get("pool", None)
    name = named.lower() if isinstance(named, str) else ""
    if name in ("sync", "synchronous", "single-threaded"):
        return {"threads": 1, "most": 1}
    asked = dask.config.get("num_workers", None)
    for executor in (pool, named):
        asked = asked or getattr(executor, "_max_workers", None)
    found = {"threads": int(asked or CPU_COUNT), "most": int(asked or CPU_COUNT)}
    if name in _PROCESSES or any(isinstance(e, ProcessPoolExecutor) for e in (pool, named)):
        return found | {"processes": True}
    return found
