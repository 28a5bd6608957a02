"""Who would do the work of a Dask graph now: the workers of a cluster, or this machine."""

from concurrent.futures import ProcessPoolExecutor
from typing import Any

from mercer.sources._dask_clients import cluster

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
