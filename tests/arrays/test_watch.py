import threading
import time

import pytest

from mercer.arrays import Lanes, advance, listening, task, unheard
from mercer.arrays.threads._listeners import watched


class Heard:
    """Writes down what it is told, and in which thread."""

    def __init__(self):
        self.words, self.threads = [], set()

    def begin(self, name, note):
        self._write(("begin", name, note))

    def advance(self, done, total, words=""):
        self._write(("advance", done, total))

    def end(self, name):
        self._write(("end", name))

    def _write(self, word):
        self.words.append(word)
        self.threads.add(threading.current_thread())


@pytest.fixture
def heard():
    listener = Heard()
    with listening(listener):
        yield listener


def naps(seconds):
    def work(_lane, numbers):
        for _ in numbers:
            time.sleep(seconds)

    return work


def test_a_task_inside_another_is_a_part_of_it(heard):
    with task("outer"), task("inner"):
        Lanes(1).run(naps(0), 3)
    assert heard.words == [("begin", "outer", ""), ("advance", 3, 3), ("end", "outer")]


def test_a_failed_task_has_no_end_and_the_next_one_is_heard(heard):
    other = Heard()
    with pytest.raises(ZeroDivisionError), task("outer"), task("inner"):
        raise ZeroDivisionError
    with listening(other), task("next", "a note"):
        pass
    assert other.words == [("begin", "next", "a note"), ("end", "next")]
    assert heard.words == [("begin", "outer", ""), *other.words]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_pass_is_told_block_by_block_in_the_thread_that_asked(heard, count):
    for few in (0, 1, 2):
        Lanes(min(count, 2)).run(naps(0), few)
        told = [("begin", "rows", ""), ("advance", few, few), ("end", "rows")]
        assert heard.words == told
        heard.words.clear()
    Lanes(count).run(naps(0.04), 12)
    assert heard.words[0] == ("begin", "rows", "")
    assert heard.words[-2:] == [("advance", 12, 12), ("end", "rows")]
    told = [word[1] for word in heard.words if word[0] == "advance"]
    assert told == sorted(told)
    assert len(told) > 1
    assert heard.threads == {threading.current_thread()}


def test_who_does_not_listen_hears_nothing():
    listener = Heard()
    with listening(listener):
        pass
    with task("one"):
        Lanes(2).run(naps(0), 4)
    other = threading.Thread(target=lambda: Lanes(2).run(naps(0), 4))
    with listening(listener):
        other.start()
        other.join()
    assert listener.words == []


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_listener_that_raises_stops_the_lanes(count, error):
    class Broken(Heard):
        def advance(self, done, total, words=""):
            raise error

    before, start = threading.active_count(), time.perf_counter()
    with pytest.raises(error), listening(Broken()):
        Lanes(count).run(naps(0.05), 1000)
    assert time.perf_counter() - start < 2
    assert threading.active_count() == before


def test_nobody_listening_costs_next_to_nothing():
    def seconds():
        start = time.perf_counter()
        for _ in range(1000):
            with task("one"):
                pass
        return time.perf_counter() - start

    assert min(seconds() for _ in range(5)) / 1000 < 20e-6


def test_words_are_handed_on():
    class Words(Heard):
        def advance(self, done, total, words=""):
            self._write((done, total, words))

    listener = Words()
    with listening(listener):
        advance(3, 9, "3 of 9 rows")
        advance(4, 9)
    assert listener.words == [(3, 9, "3 of 9 rows"), (4, 9, "")]


def test_work_that_is_a_part_of_a_walk_says_nothing(heard):
    with unheard():
        assert not watched()
        advance(1, 2)
        with task("inner"):
            Lanes(2).run(naps(0), 4)
    assert heard.words == []
    assert watched()
    with pytest.raises(ZeroDivisionError), unheard():
        raise ZeroDivisionError
    with task("outer"), unheard(), task("inner"):
        pass
    assert heard.words == [("begin", "outer", ""), ("end", "outer")]
