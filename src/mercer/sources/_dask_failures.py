"""What went wrong on a cluster, in three lines: which part, and what to do."""

import contextlib
from collections.abc import Iterable
from typing import Any

from mercer.errors import MercerError, WorkerError

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
