"""A reduction as a Dask graph: a fixed tree of tasks, run on a cluster or on threads."""

import contextlib
import threading
import uuid
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from mercer.arrays import advance, one_thread, task, unheard

_ARITY = 4  # results that one task merges
_LOOK = 0.1  # seconds between two looks at how far a cluster is


def run_tree(
    step: Any,
    chunks: list[list[Any]],
    firsts: list[int | None],
    weights: list[Any] | None,
    lengths: list[int] | None,
    title: str,
) -> Any:
    """Return the merged result of ``step.part`` over all parts.

    The tree depends on the number of parts alone, and every task is a pure function of what
    it is given: a worker that is lost costs its tasks, not a bit of the result. Results of
    parts are merged four at a time where they lie; one comes back.

    Parameters
    ----------
    step : object
        ``part(number, first, chunks, weights)`` and ``merge(one, other)``; where it `ends`,
        ``finish(result)`` is one task more, and its result comes back instead.
    chunks : list of lists of Delayed
        The chunks of every part.
    firsts : list of int or None
        Number of the first row of every part.
    weights : list or None
        Repeat counts of every part.
    lengths : list of int or None
        Rows of every part, for the progress that is told.
    title : str
        What people are told it is.
    """
    import dask

    token = uuid.uuid4().hex
    topic = f"mercer-{token}"
    sent = dask.delayed(step, name=f"mercer-step-{token}", traverse=False)
    each = [None] * len(chunks) if weights is None else weights
    level = [
        dask.delayed(_part)(
            sent,
            number,
            first,
            part,
            weight,
            topic,
            dask_key_name=f"mercer-part-{token}-{number}",
        )
        for number, (first, part, weight) in enumerate(zip(firsts, chunks, each, strict=True))
    ]
    depth = 0
    while len(level) > 1:
        groups = [level[i : i + _ARITY] for i in range(0, len(level), _ARITY)]
        level = [
            dask.delayed(_merged)(
                sent, group, dask_key_name=f"mercer-sum-{token}-{depth}-{number}"
            )
            for number, group in enumerate(groups)
        ]
        depth += 1
    root = level[0]
    if step.ends:
        root = dask.delayed(_ended)(sent, root, dask_key_name=f"mercer-end-{token}")
    total = sum(lengths) if lengths else 0
    with task(title), warnings.catch_warnings():
        # The work holds a thin matrix at most; it is sent once, with its lineage.
        warnings.filterwarnings("ignore", message="Sending large graph")
        return _computed(root, topic, len(chunks), lengths, total)


def _part(
    step: Any, number: int, first: int | None, chunks: Any, weights: Any, topic: str
) -> Any:
    """Do the work of one part, on one thread: its bits must not depend on the worker."""
    with one_thread(), unheard():
        found = step.part(number, first, chunks, weights)
    worker = _worker()
    if worker is not None:
        worker.log_event(topic, {"part": number})
    return found


def _merged(step: Any, group: list[Any]) -> Any:
    with one_thread(), unheard():
        found = group[0]
        for other in group[1:]:
            found = step.merge(found, other)
        return found


def _ended(step: Any, found: Any) -> Any:
    with one_thread(), unheard():
        return step.finish(found)


def _computed(root: Any, topic: str, parts: int, lengths: list[int] | None, total: int) -> Any:
    """Compute one delayed value and tell how far it is."""
    done = set[int]()
    guard = threading.Lock()

    def tell() -> None:
        with guard:
            seen = list(done)
        rows = sum(lengths[i] for i in seen) if lengths else 0
        words = f"{len(seen):,} of {parts:,} parts"
        words += f", {rows:,} of {total:,} rows" if lengths else ""
        advance(len(seen), parts, words)

    def heard(event: Any) -> None:
        with guard:
            done.add(int(event[1]["part"]))

    client = cluster()
    if client is None:
        with _followed(done, tell):
            result = root.compute()
    else:
        result = _on_cluster(client, root, topic, heard, tell)
    advance(parts, parts)
    return result


def _on_cluster(
    client: Any, root: Any, topic: str, heard: Callable[[Any], None], tell: Callable[[], None]
) -> Any:
    client.subscribe_topic(topic, heard)
    future = client.compute(root)
    try:
        while True:
            with contextlib.suppress(TimeoutError):
                return future.result(timeout=_LOOK)
            tell()
    finally:
        future.cancel()
        client.unsubscribe_topic(topic)


def cluster() -> Any:
    """Return the client of a cluster that Dask would use now, or None for local threads."""
    import sys

    import dask

    if "distributed" not in sys.modules or dask.config.get("scheduler", None) is not None:
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


def _worker() -> Any:
    """Return the worker of a cluster that this task runs on, or None."""
    import sys

    if "distributed" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None


@contextlib.contextmanager
def _followed(done: set[int], tell: Callable[[], None]) -> Iterator[None]:
    """Follow tasks that run on threads of this process."""
    from dask.callbacks import Callback

    def after(key: Any, *_: Any) -> None:
        if str(key).startswith("mercer-part-"):
            done.add(int(str(key).rsplit("-", 1)[1]))
            tell()

    with Callback(posttask=after):
        yield
