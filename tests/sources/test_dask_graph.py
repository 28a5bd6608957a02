"""The tree of tasks: the same bits wherever it runs, and no failure without a name."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mercer.arrays import listening
from mercer.errors import InputError, WorkerError
from mercer.sources import scan
from mercer.sources.parts import _dask_graph
from mercer.sources.parts._dask_graph import (
    TOPIC,
    Progress,
    explained,
    fused,
    hearing,
    parts_behind,
    run_tree,
    said,
)

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


class Words:
    """Merges words, so that the order and the shape of the tree can be read."""

    def part(self, number, first, chunks, weights):
        return f"{number}"

    def merge(self, one, other):
        return f"({one} {other})"


def tree(parts, **kwargs):
    chunks = [[[dask.delayed(number)]] for number in range(parts)]
    return run_tree(Words(), chunks, kwargs.get("weights"), kwargs.get("lengths"), "words")


@pytest.mark.usefixtures("every_chunk")
@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (1, "0"),
        (4, "(((0 1) 2) 3)"),
        (5, "((((0 1) 2) 3) 4)"),
        (9, "(((((0 1) 2) 3) (((4 5) 6) 7)) 8)"),
    ],
)
def test_the_tree_depends_on_the_number_of_parts_alone(parts, said):
    assert tree(parts) == said


@pytest.mark.usefixtures("every_chunk")
def test_every_part_gets_its_chunks_its_first_row_and_its_weights():
    class Given(Words):
        def part(self, number, first, chunks, weights):
            return [(number, first, chunks, list(weights))]

        def merge(self, one, other):
            return one + other

    chunks = [[[dask.delayed(10), dask.delayed(11)]], [[dask.delayed(20)]]]
    weights = [np.array([1.0, 2.0]), [dask.delayed(3.0)]]
    found = run_tree(Given(), chunks, weights, (2, 1), "given")
    assert found == [(0, 0, [[10, 11]], [1.0, 2.0]), (1, 2, [[20]], [3.0])]


def test_a_task_may_run_again_on_the_same_results(rng):
    from mercer.operators import SpreadRows
    from mercer.operators.rows._distributed_rows import _MomentsOfParts
    from mercer.sources import PartBlocks

    rows = SpreadRows(scan(da.ones((4, 3))))
    work = _MomentsOfParts(rows.frame, whole=True)
    tables = [np.empty((0, 3)), *(rng.standard_normal((9, 3)) * 10.0**k for k in (0, 200, 3))]
    parts = [work.part(PartBlocks(table, 0, 0, None), None) for table in tables]
    once, again = (_dask_graph._merged(work, parts).running for _ in range(2))
    assert once.scatter.tobytes() == again.scatter.tobytes()
    assert once.rows == again.rows == 27


class Sum:
    def part(self, rows, weights):
        return np.sin(rows.held).sum(axis=0)

    def merge(self, one, other):
        return one + other


@pytest.fixture
def data(rng, monkeypatch):
    from mercer.sources.parts import _dask_chunks as _dask_layout

    monkeypatch.setattr(_dask_layout, "_LEAST", 0.0)
    monkeypatch.setattr(_dask_layout, "_MOST", 0.0)
    return da.from_array(rng.standard_normal((200, 5)), chunks=(30, 3))


def test_cluster_threads_and_this_thread_give_the_same_bits(data, cluster):
    found = []
    for name in ("sync", "threads"):
        with dask.config.set(scheduler=name):
            found.append(scan(data).reduce(Sum()).tobytes())
    with cluster.as_current():
        found.append(scan(data).reduce(Sum()).tobytes())
        found.append(scan(data.persist()).reduce(Sum()).tobytes())
    assert len(set(found)) == 1


class Heard:
    """Keeps what it is told, or ends the work."""

    def __init__(self, ends=False):
        self.words, self.ends = [], ends

    def begin(self, name, note):
        self.words.append(name)

    def advance(self, done, total, words=""):
        self.words.append((done, total, words))
        if self.ends:
            raise StopIteration("enough")

    def end(self, name):
        self.words.append(f"end {name}")


@pytest.mark.parametrize("where", ["cluster", "threads"])
def test_a_listener_hears_how_far_it_is(data, cluster, where):
    heard = Heard()

    def slow(block):
        import time

        time.sleep(0.03)
        return block

    late = data.map_blocks(slow, dtype=float, meta=np.empty((0, 0)))
    place = cluster.as_current() if where == "cluster" else dask.config.set(scheduler=where)
    with place, listening(heard):
        scan(late).reduce(Sum(), title="pass 1")
    assert heard.words[0] == "pass 1"
    assert heard.words[-1] == "end pass 1"
    counts = [done for done, total, _ in heard.words[1:-1]]
    assert counts == sorted(counts)
    assert counts[-1] == 7
    said = [words for _, _, words in heard.words[1:-1] if words]
    assert said
    assert all("of 7 parts" in words and "of 200 rows" in words for words in said)


@pytest.mark.parametrize("where", ["cluster", "threads"])
def test_a_listener_may_end_the_work(data, cluster, where):
    place = cluster.as_current() if where == "cluster" else dask.config.set(scheduler=where)
    with place, listening(Heard(ends=True)), pytest.raises(StopIteration, match="enough"):
        scan(data).reduce(Sum())


def test_passes_that_overlap_count_their_own_parts(data):
    from dask.callbacks import Callback

    heard, inner, seen = Heard(), [], []

    def between(graph, *_, **__):
        """Make another pass, of more parts, where the first is about to begin."""
        if not inner:
            inner.append(data)
            seen.append(len(Callback.active))
            scan(inner[0]).reduce(Sum(), title="inner")
        return graph

    settings = dask.config.set(scheduler="sync", delayed_optimize=between)
    with settings, listening(heard):
        scan(data[:60]).reduce(Sum(), title="outer")
    assert seen == [0]
    told = [word[:2] for word in heard.words if word[1] == 2]
    assert told == [(1, 2), (2, 2), (2, 2)]


def test_clusters_hear_of_tasks_and_keep_none(data, cluster):
    from dask.callbacks import Callback

    heard = []
    with (
        dask.config.set(scheduler="sync"),
        Callback(posttask=lambda key, *_: heard.append(key)),
    ):
        scan(data).reduce(Sum())
    assert sum(str(key).startswith("mercer-part-") for key in heard) == 7
    with cluster.as_current():
        scan(data).reduce(Sum())
    tasks = cluster.cluster.scheduler.tasks
    for _ in range(50):
        left = [key for key in tasks if str(key).startswith("mercer-")]
        if not left:
            break
        threading.Event().wait(0.1)
    assert not left
    with cluster.as_current():
        for _ in range(3):
            scan(data).reduce(Sum())
    kept = [topic for topic in cluster.get_events() if str(topic).startswith("mercer")]
    assert kept == [TOPIC]
    assert [name for name in cluster._event_handlers if name.startswith("mercer")] == [TOPIC]


def test_passes_of_several_threads_hear_of_their_own_parts(data, cluster):
    def one(rows):
        heard = Heard()
        with cluster.as_current(), listening(heard):
            scan(rows).reduce(Sum())
        return heard.words[-2][:2]

    # Clients that threads make current at once leave a setting behind.
    with dask.config.set(scheduler="sync"), ThreadPoolExecutor(3) as pool:
        found = list(pool.map(one, [data, data[:60], data[:120]]))
    assert found == [(7, 7), (2, 2), (4, 4)]


def test_every_block_is_read_once_a_pass(data, cluster, tmp_path):
    def noted(block):
        import uuid

        (tmp_path / uuid.uuid4().hex).touch()
        return block

    counted = data.map_blocks(noted, dtype=float, meta=np.empty((0, 0)))
    with cluster.as_current():
        source = scan(counted)
        source.reduce(Sum())
        assert len(list(tmp_path.iterdir())) == 14
        source.reduce(Sum())
    assert len(list(tmp_path.iterdir())) == 28


@pytest.mark.parametrize("where", ["cluster", "threads", "sync"])
@pytest.mark.parametrize("kind", [ZeroDivisionError, TimeoutError])
def test_an_error_of_a_chunk_names_the_part(data, cluster, where, kind):
    wanted = float(data[90, 0].compute(scheduler="sync"))

    def broken(block):
        if block.size and block[0, 0] == wanted:
            raise kind("by chance")
        return block

    bad = data.map_blocks(broken, dtype=float, meta=np.empty((0, 0)))
    place = cluster.as_current() if where == "cluster" else dask.config.set(scheduler=where)
    with place, pytest.raises(WorkerError, match=r"part.* 3") as caught:
        scan(bad).reduce(Sum())
    assert "by chance" in caught.value.got
    assert isinstance(caught.value.__cause__, kind)


@pytest.mark.parametrize("where", ["cluster", "threads", "sync"])
def test_our_own_error_arrives_in_three_lines(data, cluster, where):
    class Refuses(Sum):
        def part(self, rows, weights):
            raise InputError("no", got=f"part {rows.number}", fix="none")

    place = cluster.as_current() if where == "cluster" else dask.config.set(scheduler=where)
    with place, pytest.raises(InputError, match="no\n  got: part") as caught:
        scan(data).reduce(Refuses())
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_rows_that_a_cluster_does_not_hold_are_refused(data, cluster):
    with cluster.as_current():
        held = data.persist()
    with dask.config.set(scheduler="sync"), pytest.raises(WorkerError, match="not connected"):
        scan(held).reduce(Sum())
    from distributed import futures_of

    with cluster.as_current():
        held = data.persist()
        cluster.cancel(futures_of(held))
        with pytest.raises(WorkerError, match="has dropped the work"):
            scan(held).reduce(Sum())


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_client_that_is_closed_is_said_to_be(data, cluster, when):
    from distributed import Client

    class Closes(Heard):
        def advance(self, done, total, words=""):
            own.close()

    own = Client(cluster.scheduler.address, set_as_default=False)
    late = data.map_blocks(lambda block: (time.sleep(0.1), block)[1], dtype=float)
    with own.as_current(), listening(Closes()):
        if when == "before":
            own.close()
        with pytest.raises(WorkerError, match="not connected"):
            _dask_graph._on_cluster(own, late.to_delayed()[0, 0], Progress("t", 1, None))


@pytest.mark.usefixtures("every_chunk")
def test_a_chain_of_many_steps_is_no_deep_call():
    x = np.arange(48.0).reshape(12, 4)
    value = dask.delayed(x)
    for _ in range(2_000):  # deeper than Python calls may be
        value = dask.delayed(np.add)(value, 1.0)
    data = da.from_delayed(value, x.shape, x.dtype)
    np.testing.assert_allclose(scan(data).reduce(Sum()), np.sin(x + 2_000).sum(axis=0))


# Which parts of a pass are done.


class Ears:
    def __init__(self):
        self.words = []

    def advance(self, done, total, words=""):
        self.words.append((done, total, words))


@pytest.mark.parametrize(
    ("key", "counts"),
    [
        ("mercer-part-one-2", True),
        ("mercer-part-one-x", False),
        ("mercer-part-two-2", False),
        ("mercer-sum-one-0-2", False),
        (("x", 2), False),
    ],
    ids=str,
)
def test_only_tasks_of_this_pass_count(key, counts):
    progress = Progress("one", 3, None)
    assert progress.add_task(key) is counts
    assert progress.done == ({2} if counts else set())


def test_passes_share_the_subscription_of_their_client():
    client, one, two = Client(), Progress("one", 4, None), Progress("two", 4, None)
    with hearing(client, one):
        with hearing(client, two):
            client.event(**said("two", 3))
            client.event(**said("of another client", 2))
            client.event(words="of somebody else")
        client.event(**said("one", 1))
        client.event(**said("two", 1))
        assert client.sent == ["on"]
    assert (one.done, two.done) == ({1}, {3})
    assert client.sent == ["on", "off"]
    with hearing(client, two):
        client.event(**said("two", 0))
    assert two.done == {0, 3}
    progress = Progress("one", 2, (5, 7))
    for part in (-1, 1, 2, 99):
        progress.add(part)
    heard = Ears()
    with listening(heard):
        progress.tell()
    assert heard.words == [(1, 2, "1 of 2 parts, 7 of 12 rows")]

    class Ends(Ears):
        def advance(self, done, total, words=""):
            raise StopIteration("enough")

    progress = Progress("one", 2, None)
    with listening(Ends()), pytest.raises(StopIteration) as caught:
        progress.tell()
    assert progress.own is caught.value

    class Closed(Client):
        def unsubscribe_topic(self, topic):
            raise OSError("closed")

    with hearing(Closed(), Progress("one", 4, None)):
        pass


class Client:
    """Remembers who listens, as a client does."""

    def __init__(self):
        self.handlers, self.sent = {}, []

    def subscribe_topic(self, topic, handler):
        self.handlers[topic] = handler
        self.sent.append("on")

    def unsubscribe_topic(self, topic):
        self.sent.append("off")

    def event(self, **message):
        self.handlers[TOPIC]((0.0, message))


PREFIX = "work-"


def total(*given):
    return float(sum(np.sum(each) for each in given))


def branches(parts, shared=None):
    """Return a sum over parts; every one of them may need `shared` too."""
    more = () if shared is None else (shared,)
    leaves = [
        dask.delayed(total)(*np.ravel(part), *more, dask_key_name=f"{PREFIX}{number}")
        for number, part in enumerate(parts)
    ]
    return dask.delayed(total)(*leaves, dask_key_name="root")


def keys(root):
    return {str(key) for key in dict(root.__dask_graph__())}


def array(rows=12, columns=4, chunks=(3, 2)):
    import dask.array as da

    x = np.arange(rows * columns, dtype=float).reshape(rows, columns)
    return x, da.from_array(x, chunks=chunks)


def test_what_two_parts_share_is_computed_once():
    x, d = array(chunks=(3, 4))
    calls = []

    def load():
        calls.append(1)
        return np.ones(3)

    shared = dask.delayed(load)(dask_key_name="shared")
    root = fused(branches(d.to_delayed(), shared), PREFIX)
    assert "shared" in keys(root)
    assert root.compute(scheduler="sync") == total(x) + 4 * 3
    assert calls == [1]


def test_what_one_part_needs_twice_is_read_inside_it():
    x, d = array(chunks=(3, 4))
    calls = []

    def load(block):
        if block.size:
            calls.append(1)
        return block

    read = d.map_blocks(load, dtype=float, meta=np.empty((0, 0)))
    pairs = zip(
        read.to_delayed(optimize_graph=False).ravel(),
        read[:, 0].to_delayed(optimize_graph=False).ravel(),
        strict=True,
    )
    root = fused(branches([list(pair) for pair in pairs]), PREFIX)
    left = {key for key in keys(root) if "load" in key}
    assert not left
    assert root.compute(scheduler="sync") == total(x, x[:, 0])
    assert len(calls) == 4


# A failure on a cluster names its part, and keeps the user's own error.


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


def test_an_error_names_its_part_and_is_kept():
    assert parts_behind(object(), ["a", "mercer-part-t-4"]) == [4]
    error = InputError("no", got="this", fix="that")
    assert explained(error, graph(), ["a"]) is error
    assert error.__cause__ is None
    error = ZeroDivisionError("division\nby zero")
    found = explained(error, graph(), ["b"])
    assert isinstance(found, WorkerError)
    assert str(found).startswith("part 1 of the rows could not be computed")
    assert found.got == "ZeroDivisionError: division by zero"
    assert found.__cause__ is error
    blocks = [slice(0, 3), slice(3, 8), slice(8, 9), slice(9, 10)]
    found = str(explained(KeyError(), graph(), ["b"], blocks))
    assert found.startswith("part 1 of the rows (blocks 3 to 7) could not be computed")
    found = str(explained(KeyError(), graph(), ["d"], blocks))
    assert found.startswith("part 2 of the rows (block 8) could not be computed")
    assert "one of the parts 0, 2 of" in str(explained(KeyError(), graph(), ["a", "d"]))
    found = explained(RuntimeError("IOLoop is closed"), graph(), ["a"], connected=False)
    assert "not connected" in str(found)
    assert found.got == "RuntimeError: IOLoop is closed"


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
