"""A reduction as a Dask graph: a fixed tree of tasks, run on a cluster or on threads.

What went wrong on a cluster, in three lines: which part, and what to do.

Tasks that read a part and work on it at once: no chunk waits in the memory of a worker.

How far a pass over parts is: which of them are done, told to those who listen.
"""

import contextlib
import copy
import threading
import uuid
import warnings
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from mercer.arrays import advance, one_thread, task, unheard
from mercer.errors import MercerError, WorkerError
from mercer.sources.parts._dask_cluster import client_in_use, own_worker

PART = "mercer-part-"
# By name, since Dask may not be there, and of what they are made from: the errors of one
# future and of several are cancelled ones.
_DROPPED = {"CancelledError", "CommClosedError", "ClosedClientError"}
_UNREACHABLE = ("Missing dependency", "Found no accessible jobs")  # the second before 2026


def explained(
    error: Exception,
    graph: Any,
    keys: Iterable[Any],
    blocks: list[slice] | None = None,
    *,
    connected: bool = True,
) -> Exception:
    """Return the error that people see in place of `error`.

    Parameters
    ----------
    error : Exception
        What Dask has raised.
    graph : HighLevelGraph
        The tasks that were run.
    keys : iterable
        Tasks of which one has failed, as far as is known.
    blocks : list of slice or None
        Which blocks every part has, where some have several.
    connected : bool
        Whether the client still reaches its cluster; else any error is due to that.
    """
    if isinstance(error, MercerError):
        error.__cause__ = None
        return error.with_traceback(None)
    killed = type(error).__name__ == "KilledWorker"
    if killed:
        keys = [error.task]  # type: ignore[attr-defined]
    where = _named(parts_behind(graph, keys), blocks)
    if killed:
        workers = error.allowed_failures + 1  # type: ignore[attr-defined]
        return WorkerError(  # Dask suspects all that wait for them
            f"the workers that took {where} have died",
            got=f"KilledWorker after {workers} workers, which may have had other parts, too",
            fix="give workers more memory, or cut smaller parts: X.rechunk, X.repartition",
        )
    said = " ".join(str(error).split())[:300]
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if not connected or kinds & _DROPPED or said.startswith(_UNREACHABLE):
        return WorkerError(
            "the cluster that holds the rows has dropped the work, or is not connected",
            got=what,
            fix="look whether its scheduler runs, connect a client to it, and fit again",
        )
    found = WorkerError(
        f"{where} could not be computed",
        got=what,
        fix="compute it alone to see more: X.blocks[i].compute(), X.partitions[i].compute()",
    )
    found.__cause__ = error  # where the user's own function went wrong
    return found


def parts_behind(graph: Any, keys: Iterable[Any]) -> list[int]:
    """Return the numbers of the parts that the tasks are or lead to."""
    seen, found = set[Any](), set[int]()
    waiting = list(keys)
    if not waiting:
        return []
    dependents: dict[Any, list[Any]] = {}
    with contextlib.suppress(Exception):  # a graph of a form that is not known
        for key, needs in graph.get_all_dependencies().items():
            for need in needs:
                dependents.setdefault(need, []).append(key)
    while waiting:
        key = waiting.pop()
        if key in seen:
            continue
        seen.add(key)
        if str(key).startswith(PART):
            found.add(int(str(key).rsplit("-", 1)[1]))
        else:
            waiting += dependents.get(key, [])
    return sorted(found)


def _named(parts: list[int], blocks: list[slice] | None) -> str:
    if not parts:
        return "a part of the rows"
    if len(parts) == 1:
        return f"part {parts[0]} of the rows" + _of_blocks(parts[0], blocks)
    shown = ", ".join(f"{part}{_of_blocks(part, blocks)}" for part in parts[:5])
    shown += ", ..." if len(parts) > 5 else ""
    return f"one of the parts {shown} of the rows"


def _of_blocks(part: int, blocks: list[slice] | None) -> str:
    if blocks is None:
        return ""
    first, last = blocks[part].start, blocks[part].stop - 1
    return f" (block {first})" if first == last else f" (blocks {first} to {last})"


def fused(root: Any, prefix: str) -> Any:
    """Return the same delayed value with every part read by the task that works on it.

    A task whose key begins with `prefix` takes in whatever only it needs: its chunks, what
    these are made of, and so on, also where two of them are made of the same. Chunks that
    two tasks share, data that lie on workers already (futures) and single values stay
    outside. Otherwise a worker would load the next chunk while the first waits for its work:
    two would be held where one is enough.

    Parameters
    ----------
    root : Delayed
        The value.
    prefix : str
        How the keys of the tasks begin.
    """
    from dask._task_spec import GraphNode, convert_legacy_graph
    from dask.highlevelgraph import HighLevelGraph

    given = dict(root.__dask_graph__())
    graph = given | convert_legacy_graph(given)  # which leaves futures out
    needed_by = Counter(key for node in graph.values() for key in _dependencies(node))
    for key in [key for key in graph if str(key).startswith(prefix)]:
        inside, met = [key], Counter[Any]()
        for each in inside:  # which grows on the way
            for below in _dependencies(graph[each]):
                met[below] += 1
                whole = met[below] == needed_by[below]  # nobody outside needs it
                if whole and isinstance(graph.get(below), GraphNode):
                    inside.append(below)
        if len(inside) > 1:
            graph[key] = GraphNode.fuse(*[graph.pop(each) for each in inside], key=key)
    whole = HighLevelGraph.from_collections(root.key, graph, dependencies=())
    return type(root)(root.key, whole)


def _dependencies(node: Any) -> Any:
    """Return the keys that a node of a graph needs; a future needs none."""
    return getattr(node, "dependencies", ())


# One for all passes: a scheduler keeps a topic, and its last thousand events, for ever.
TOPIC = "mercer-parts"
_hearing: weakref.WeakKeyDictionary[Any, "dict[str, Progress]"] = weakref.WeakKeyDictionary()
_guard = threading.Lock()


class Progress:
    """The parts of one pass that are done.

    Parameters
    ----------
    token : str
        Name of the pass: tasks of other passes, which run at the same time, do not count.
    lengths : tuple of int or None
        Rows of every part, where they are known.
    parts : int
        How many there are.
    """

    def __init__(self, token: str, parts: int, lengths: tuple[int, ...] | None) -> None:
        self.token, self.parts, self.lengths = token, parts, lengths
        self.done, self.guard = set[int](), threading.Lock()
        self.own: Exception | None = None  # of who listens, and nobody else's business

    def add(self, part: int) -> None:
        """Take over that a part is done; a number that is none of its parts is left out."""
        with self.guard:
            if 0 <= part < self.parts:
                self.done.add(part)

    def add_task(self, key: Any) -> bool:
        """Take over that a task is done, and tell whether it was a part of this pass."""
        prefix = f"{PART}{self.token}-"
        number = str(key).removeprefix(prefix)
        ours = str(key).startswith(prefix) and number.isdecimal()
        if ours:
            self.add(int(number))
        return ours

    def tell(self) -> None:
        """Tell those who listen how far it is."""
        with self.guard:
            seen = list(self.done)
        words = f"{len(seen):,} of {self.parts:,} parts"
        if self.lengths is not None:
            rows = sum(self.lengths[i] for i in seen)
            words += f", {rows:,} of {sum(self.lengths):,} rows"
        try:
            advance(len(seen), self.parts, words)
        except Exception as error:
            self.own = error
            raise


@contextlib.contextmanager
def hearing(client: Any, progress: Progress) -> Iterator[None]:
    """Let a pass hear from the workers of a cluster which of its parts are done.

    Passes of several threads share the subscription of their client; the last one ends it.
    """
    with _guard:
        passes = _hearing.setdefault(client, {})
        if not passes:
            client.subscribe_topic(TOPIC, partial(_heard, passes))
        passes[progress.token] = progress
    try:
        yield
    finally:
        with _guard:
            del passes[progress.token]
            if not passes:
                with contextlib.suppress(Exception):  # a client that is closed hears nothing
                    client.unsubscribe_topic(TOPIC)


def said(token: str, part: int) -> dict[str, Any]:
    """Return the event by which a worker says that a part of a pass is done."""
    return {"pass": token, "part": part}


def _heard(passes: dict[str, Progress], event: Any) -> None:
    """Take over an event; those of other passes and other clients come here, too."""
    token, part = event[1].get("pass"), event[1].get("part")
    progress = passes.get(token)
    if progress is not None:
        progress.add(part)


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
