"""Which parts of a pass are done."""

import pytest

from mercer.arrays import listening
from mercer.sources.parts._dask_graph import TOPIC, Progress, hearing, said


class Heard:
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


def test_numbers_that_are_no_parts_are_left_out():
    progress = Progress("one", 2, (5, 7))
    for part in (-1, 1, 2, 99):
        progress.add(part)
    heard = Heard()
    with listening(heard):
        progress.tell()
    assert heard.words == [(1, 2, "1 of 2 parts, 7 of 12 rows")]


def test_an_error_of_who_listens_is_known():
    class Ends(Heard):
        def advance(self, done, total, words=""):
            raise StopIteration("enough")

    progress = Progress("one", 2, None)
    with listening(Ends()), pytest.raises(StopIteration) as caught:
        progress.tell()
    assert progress.own is caught.value


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


def test_a_client_that_is_closed_is_left_in_peace():
    class Closed(Client):
        def unsubscribe_topic(self, topic):
            raise OSError("closed")

    with hearing(Closed(), Progress("one", 4, None)):
        pass
