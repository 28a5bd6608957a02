"""A failure on a cluster names its part, and keeps the user's own error."""

import pytest

from mercer.errors import InputError, WorkerError
from mercer.sources.parts._dask_graph import explained, parts_behind

HighLevelGraph = pytest.importorskip("dask.highlevelgraph").HighLevelGraph


def graph():
    """Three parts, of one, two and two chunks; the last two share a chunk."""
    from dask._task_spec import DataNode, List, Task, TaskRef

    needs = {0: ["a"], 1: ["b", "c"], 2: ["c", "d"]}
    tasks = {key: DataNode(key, 1) for key in "abcd"}
    for number, keys in needs.items():
        name = f"mercer-part-t-{number}"
        tasks[name] = Task(name, sum, List(*map(TaskRef, keys)))
    return HighLevelGraph.from_collections("mercer-t", tasks, dependencies=())


@pytest.mark.parametrize(
    ("keys", "parts"),
    [
        (["a"], [0]),
        (["c"], [1, 2]),
        (["mercer-part-t-1"], [1]),
        (["a", "d"], [0, 2]),
        (["z"], []),
        ([], []),
    ],
    ids=["a chunk", "shared", "the part itself", "two", "unknown", "none"],
)
def test_a_task_leads_to_its_parts(keys, parts):
    assert parts_behind(graph(), keys) == parts


def test_a_graph_of_an_unknown_form_names_only_parts():
    assert parts_behind(object(), ["a", "mercer-part-t-4"]) == [4]


def test_our_own_error_arrives_as_it_is():
    error = InputError("no", got="this", fix="that")
    assert explained(error, graph(), ["a"]) is error
    assert error.__cause__ is None


def test_an_error_of_a_chunk_names_the_part_and_is_kept():
    error = ZeroDivisionError("division\nby zero")
    found = explained(error, graph(), ["b"])
    assert isinstance(found, WorkerError)
    assert str(found).startswith("part 1 of the rows could not be computed")
    assert found.got == "ZeroDivisionError: division by zero"
    assert found.__cause__ is error


def test_blocks_that_were_taken_together_are_named():
    blocks = [slice(0, 3), slice(3, 8), slice(8, 9), slice(9, 10)]
    found = str(explained(KeyError(), graph(), ["b"], blocks))
    assert found.startswith("part 1 of the rows (blocks 3 to 7) could not be computed")
    found = str(explained(KeyError(), graph(), ["d"], blocks))
    assert found.startswith("part 2 of the rows (block 8) could not be computed")


def test_several_parts_that_may_be_at_fault_are_named():
    assert "one of the parts 0, 2 of" in str(explained(KeyError(), graph(), ["a", "d"]))


class KilledWorker(Exception):  # noqa: N818 - it is known by its name
    task, allowed_failures = "c", 3


def test_a_part_that_kills_its_workers_is_named():
    found = explained(KilledWorker(), graph(), [])
    assert isinstance(found, WorkerError)
    assert found.what == "the workers that took one of the parts 1, 2 of the rows have died"
    assert found.got.startswith("KilledWorker after 4 workers, which may have had other parts")
    assert found.__cause__ is None


class CommClosedError(Exception):
    pass


class CancelledError(Exception):
    pass


class FuturesCancelledError(CancelledError):
    """Of several futures; Dask has FutureCancelledError for one."""


@pytest.mark.parametrize(
    "error",
    [
        CommClosedError("gone"),
        CancelledError(),
        FuturesCancelledError("2 Futures cancelled:\nlost dependencies"),
        ValueError("Missing dependency ('x', 0)"),
    ],
    ids=repr,
)
def test_a_cluster_that_is_gone_is_said_to_be(error):
    assert "not connected" in str(explained(error, graph(), []))


def test_without_a_connection_no_part_is_blamed():
    found = explained(RuntimeError("IOLoop is closed"), graph(), ["a"], connected=False)
    assert "not connected" in str(found)
    assert found.got == "RuntimeError: IOLoop is closed"
