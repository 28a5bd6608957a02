"""A reduction as a Dask graph: a fixed tree of tasks, run on a cluster or on threads."""

import contextlib
import copy
import uuid
import warnings
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from mercer.arrays import advance, one_thread, task, unheard
from mercer.sources._dask_clients import client_in_use, own_worker
from mercer.sources._dask_failures import PART, explained
from mercer.sources._dask_fusion import fused
from mercer.sources._dask_progress import TOPIC, Progress, hearing, said

_ARITY = 4  # results that one task merges
_LOOK = 0.1  # seconds between two looks at how far a cluster is


def run_tree(
    step: Any,
    chunks: list[Any],
    weights: list[Any] | None,
    lengths: tuple[int, ...] | None,
    title: str,
    blocks: list[slice] | None = None,
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
    chunks : list
        The chunks of every part, nested lists of delayed values.
    weights : list or None
        Repeat counts of every part.
    lengths : tuple of int or None
        Rows of every part, where they are known.
    title : str
        What people are told it is.
    blocks : list of slice or None
        Which blocks every part has, where some have several; messages name them.
    """
    token = uuid.uuid4().hex
    root = fused(_tree(step, chunks, weights, lengths, token), PART)
    with task(title), warnings.catch_warnings():
        # The work holds a thin matrix at most; it is sent once, with its lineage.
        warnings.filterwarnings("ignore", message="Sending large graph")
        return _computed(root, Progress(token, len(chunks), lengths), blocks)


def _tree(
    step: Any,
    chunks: list[Any],
    weights: list[Any] | None,
    lengths: tuple[int, ...] | None,
    token: str,
) -> Any:
    """Return the delayed root of the tree.

    The tasks are written down as they are: `dask.delayed` would take milliseconds for each.
    Chunks are named by reference, since those that a cluster holds stand in no graph.
    """
    from dask._task_spec import DataNode, List, Task, TaskRef
    from dask.highlevelgraph import HighLevelGraph

    firsts = [None] * len(chunks) if lengths is None else [0, *np.cumsum(lengths).tolist()]
    sent, tasks = f"mercer-step-{token}", dict[Any, Any]()
    refer = _References(tasks)
    tasks[sent] = DataNode(sent, step)
    level = list[str]()
    for number, part in enumerate(chunks):
        work = partial(_part, number, firsts[number], token)
        each = None
        if weights is not None:
            each = refer(weights[number], f"mercer-weights-{token}-{number}")
        level.append(f"{PART}{token}-{number}")
        tasks[level[-1]] = Task(level[-1], work, TaskRef(sent), refer(part), each)
    depth = 0
    while len(level) > 1:
        groups = [level[i : i + _ARITY] for i in range(0, len(level), _ARITY)]
        level = [f"mercer-sum-{token}-{depth}-{number}" for number in range(len(groups))]
        for key, group in zip(level, groups, strict=True):
            tasks[key] = Task(key, _merged, TaskRef(sent), List(*map(TaskRef, group)))
        depth += 1
    if getattr(step, "ends", False):
        end = f"mercer-end-{token}"
        tasks[end] = Task(end, _ended, TaskRef(sent), TaskRef(level[0]))
        level = [end]
    name = f"mercer-{token}"
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=())
    return import_module("dask.delayed").Delayed(level[0], graph, layer=name)


class _References:
    """References to delayed values in nested lists; the tasks behind them go to `tasks`."""

    def __init__(self, tasks: dict[Any, Any]) -> None:
        self.tasks, self.seen = tasks, dict[int, Any]()

    def __call__(self, value: Any, name: str = "") -> Any:
        """Return the reference; a value that is here already gets the `name`."""
        from dask._task_spec import DataNode, List, TaskRef

        if isinstance(value, list):
            return List(*(self(inner) for inner in value))
        if not hasattr(value, "__dask_graph__"):
            self.tasks[name] = DataNode(name, value)
            return TaskRef(name)
        graph = value.__dask_graph__()
        if id(graph) not in self.seen:  # all chunks of a collection share one
            self.seen[id(graph)] = graph  # kept, so that no other takes its number
            self.tasks.update(graph)
        return TaskRef(value.key)


def _part(
    number: int, first: int | None, token: str, step: Any, chunks: Any, weights: Any
) -> Any:
    """Do the work of one part, on one thread: its bits must not depend on the worker."""
    with one_thread(), unheard():
        found = step.part(number, first, chunks, weights)
    worker = own_worker()
    if worker is not None:
        worker.log_event(TOPIC, said(token, number))
    return found


def _merged(step: Any, group: list[Any]) -> Any:
    """Merge neighbours from left to right.

    Merging may write over what it is given, and a cluster may run a task again on results
    that it still holds: copies go in.
    """
    if len(group) == 1:
        return group[0]
    with one_thread(), unheard():
        found = copy.deepcopy(group[0])
        for other in group[1:]:
            found = step.merge(found, copy.deepcopy(other))
        return found


def _ended(step: Any, found: Any) -> Any:
    with one_thread(), unheard():
        return step.finish(found)


def _computed(root: Any, progress: Progress, blocks: list[slice] | None) -> Any:
    """Compute one delayed value and tell how far it is."""
    with client_in_use() as client:
        if client is None:
            result = _here(root, progress, blocks)
        else:
            result = _on_cluster(client, root, progress, blocks)
    advance(progress.parts, progress.parts)
    return result


def _here(root: Any, progress: Progress, blocks: list[slice] | None) -> Any:
    """Compute on threads or processes of this machine."""
    running = set[Any]()

    def before(key: Any, *_: Any) -> None:
        running.add(key)

    def after(key: Any, *_: Any) -> None:
        running.discard(key)
        if progress.add_task(key):
            progress.tell()

    # Handed over, not made active: callbacks that are active hear all that this process
    # computes, and passes that begin together would take or leave each other's.
    active = import_module("dask.callbacks").Callback.active
    heard = [*active, (None, None, before, after, None)]
    try:
        return root.compute(callbacks=heard)
    except Exception as error:
        if error is progress.own:
            raise
        found = explained(error, root.__dask_graph__(), running, blocks)
        raise found from found.__cause__


def _on_cluster(
    client: Any, root: Any, progress: Progress, blocks: list[slice] | None = None
) -> Any:
    """Compute on the workers of a cluster; whatever ends this ends the tasks too."""
    future = None
    try:
        with client.as_current(), hearing(client, progress):  # it may be nobody's default
            future = client.compute(root)
            while not future.done():
                with contextlib.suppress(TimeoutError):
                    import_module("distributed").wait(future, timeout=_LOOK)
                progress.tell()
            return future.result()
    except Exception as error:
        if error is progress.own:
            raise
        blamed, connected = _blamed(client, future), client.status == "running"
        found = explained(error, root.__dask_graph__(), blamed, blocks, connected=connected)
        raise found from found.__cause__
    finally:
        if future is not None:
            with contextlib.suppress(Exception):  # a client that is closed has dropped all
                future.cancel()


def _blamed(client: Any, future: Any) -> list[Any]:
    """Return the task that made the future fail, as the scheduler remembers it."""
    with contextlib.suppress(Exception):
        key = client.sync(client.scheduler.get_error_cause, keys=[future.key])
        return [] if key is None else [tuple(key) if isinstance(key, list) else key]
    return []
