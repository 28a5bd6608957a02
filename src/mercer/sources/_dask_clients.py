"""Which cluster Dask would use now: that of a client, of a task, or none."""

import contextlib
import sys
from collections.abc import Iterator
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
