"""Eigenpairs in the place of a matrix, while other threads go on."""

import threading
import time

import numpy as np
import pytest
import scipy.linalg

from mercer.arrays import _linalg as _lapack
from mercer.arrays._linalg import eigh_over


def symmetric(n, seed=0):
    a = np.random.default_rng(seed).standard_normal((n, n))
    return np.asfortranarray(a + a.T)


@pytest.mark.parametrize("found", [True, False], ids=["called", "by SciPy"])
@pytest.mark.parametrize("n", [1, 2, 37, 200])
def test_the_pairs_are_those_of_scipy_and_lie_in_the_matrix(n, found, monkeypatch):
    if not found:  # a SciPy whose routine has another form
        monkeypatch.setattr(_lapack, "_dsyevd", lambda: None)
    a = symmetric(n)
    given = a.copy(order="F")
    values, vectors = eigh_over(given)
    wanted, axes = scipy.linalg.eigh(a, driver="evd")
    np.testing.assert_array_equal(values, wanted)
    np.testing.assert_array_equal(vectors, axes)
    assert np.shares_memory(vectors, given)


def test_the_routine_of_this_scipy_is_known():
    assert _lapack._dsyevd() is not None


def test_a_failure_says_its_code(monkeypatch):
    def failing(*arguments):
        arguments[-1]._obj.value = 7

    monkeypatch.setattr(_lapack, "_dsyevd", lambda: failing)
    with pytest.raises(np.linalg.LinAlgError, match="code 7 at order 30"):
        eigh_over(symmetric(30))


def test_other_threads_go_on():
    a, ended, gaps = symmetric(1200), threading.Event(), []

    def solve():
        eigh_over(a)
        ended.set()

    thread, last = threading.Thread(target=solve), time.perf_counter()
    thread.start()
    while not ended.is_set():
        time.sleep(0.002)
        now = time.perf_counter()
        gaps.append(now - last)
        last = now
    thread.join()
    assert len(gaps) >= 5
