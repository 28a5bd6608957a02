import dataclasses
import threading
import time

import pytest

from mercer.arrays import _machine_rates as _rates
from mercer.arrays import rates, single_threaded_blas, thread_count


@pytest.fixture
def fresh():
    """Forget what was measured, before and after."""
    _rates._measured.cache_clear()
    yield
    _rates._measured.cache_clear()


def flat(found):
    for value in dataclasses.astuple(found)[1:]:
        yield from value if isinstance(value, tuple) else (value,)


@pytest.mark.usefixtures("fresh")
def test_the_self_test_is_short_and_made_once():
    start = time.perf_counter()
    found = rates()
    assert time.perf_counter() - start < 2.5
    assert found.threads == thread_count()
    start = time.perf_counter()
    assert rates(thread_count()) is found
    assert time.perf_counter() - start < 0.1


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_rates_are_those_of_a_thread(threads):
    found = rates(threads)
    assert found.threads == threads
    assert all(1e6 < rate < 1e13 for rate in flat(found))
    if threads <= thread_count():  # more than there are take turns as the system likes
        for pair in (found.symmetric, found.thin, found.exponentials):
            assert pair[0] > 0.3 * pair[1]  # float32 is not much slower than float64


def test_a_rate_is_work_over_time():
    def naps(_dtype):
        return lambda: lambda: time.sleep(0.01), 5.0

    for threads in (1, 2):
        assert 100 < _rates._rate(naps, threads, float) <= 500


@pytest.mark.usefixtures("fresh")
def test_several_ask_and_one_measures(monkeypatch):
    calls = []
    monkeypatch.setattr(_rates, "_SLOT", 1e-3)
    memory = _rates._memory
    monkeypatch.setattr(_rates, "_memory", lambda n: calls.append(n) or memory(n))
    found = []
    asking = [threading.Thread(target=lambda: found.append(rates(2))) for _ in range(4)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert calls == [2]
    assert all(each is found[0] for each in found)


@pytest.mark.usefixtures("fresh")
def test_a_failure_is_not_kept(monkeypatch):
    monkeypatch.setattr(_rates, "_SLOT", 1e-3)

    def broken(_dtype):
        raise MemoryError

    before = thread_count()
    with monkeypatch.context() as patch:
        patch.setattr(_rates, "_thin", broken)
        with pytest.raises(MemoryError):
            rates(2)
    assert rates(2).threads == 2
    assert thread_count() == before
    with single_threaded_blas():
        rates(1)
        assert thread_count() == before
