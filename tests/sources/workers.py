"""Worker processes of a cluster of this machine, for tests that may not share theirs."""

from contextlib import contextmanager


@contextmanager
def worker_processes(memory_limit):
    """Yield the client of two worker processes of one thread each; it is the default one."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=memory_limit, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
