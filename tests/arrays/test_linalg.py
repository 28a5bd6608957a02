import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from mercer.arrays import (
    _linalg,
    beside,
    eigh,
    eigh_in_place,
    eigvalsh,
    interruptible,
    leading_eigh,
    orthonormal,
    single_threaded_blas,
    svd,
    symmetric_times,
    thread_count,
    triangle,
)
from mercer.arrays._linalg import eigh_over
from mercer.arrays.threads import _thread_lanes as _lanes
from mercer.testing import matrices


def test_eigh_gives_pairs_in_descending_order(xp):
    a = matrices.symmetric([5.0, -3.0, 2.0, 2.0, 0.0])
    values, vectors = eigh(xp.asarray(a))
    w, v = xp.numpy(values), xp.numpy(vectors)
    np.testing.assert_allclose(w, [5, 2, 2, 0, -3], rtol=0, atol=1e-14)
    np.testing.assert_allclose(a @ v, v * w, rtol=0, atol=1e-13)
    np.testing.assert_allclose(v.T @ v, np.eye(5), rtol=0, atol=1e-13)
    np.testing.assert_allclose(xp.numpy(eigvalsh(xp.asarray(a))), w, rtol=0, atol=1e-14)


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (4, 4)])
def test_svd_is_thin_and_gives_the_matrix_back(xp, rng, shape, monkeypatch):
    a = rng.standard_normal(shape)
    u, s, vt = (xp.numpy(part) for part in svd(xp.asarray(a)))
    r = min(shape)
    assert (u.shape, s.shape, vt.shape) == ((shape[0], r), (r,), (r, shape[1]))
    np.testing.assert_allclose((u * s) @ vt, a, rtol=0, atol=1e-13)
    assert np.all(np.diff(s) <= 0)

    def gives_up(*_args, **_kwargs):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "svd", gives_up)  # a slower routine is taken then
    u, s, vt = svd(a)
    np.testing.assert_allclose((u * s) @ vt, a, rtol=0, atol=1e-13)


@pytest.mark.parametrize("shape", [(9, 4), (4, 9)])
def test_triangle_has_the_gram_matrix(xp, rng, shape):
    a = rng.standard_normal(shape)
    r = xp.numpy(triangle(xp.asarray(a)))
    assert r.shape == (4, shape[1])
    np.testing.assert_allclose(r.T @ r, a.T @ a, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.tril(r, -1), 0)
    a = matrices.rectangular([1.0, 1e-12], (50, 2))  # which squaring would lose
    assert abs(np.linalg.svd(triangle(a), compute_uv=False)[1] / 1e-12 - 1) < 1e-3


def check_orthonormal(block, basis, q, t):
    rest = block if basis is None else block - basis @ (basis.T @ block)
    size = max(1e-300, np.linalg.norm(rest))
    np.testing.assert_allclose(q.T @ q, np.eye(q.shape[1]), rtol=0, atol=1e-13)
    if basis is not None:
        assert np.max(np.abs(basis.T @ q), initial=0.0) < 1e-13
    np.testing.assert_allclose(
        q @ t, rest, rtol=0, atol=1e-13 * max(size, np.linalg.norm(block))
    )


@pytest.mark.parametrize("held", [0, 3])
def test_orthonormal_splits_a_block(xp, rng, held):
    block = rng.standard_normal((40, 5))
    basis = np.linalg.qr(rng.standard_normal((40, held)))[0] if held else None
    found = orthonormal(xp.asarray(block), None if basis is None else xp.asarray(basis), 0.0)
    q, t = (xp.numpy(part) for part in found)
    assert q.shape == (40, 5)
    check_orthonormal(block, basis, q, t)


@given(
    st.integers(1, 6),
    st.lists(st.integers(0, 14), min_size=1, max_size=6),
    st.integers(0, 10**6),
)
def test_orthonormal_keeps_digits_on_graded_blocks(held, powers, seed):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((30, held)))[0]
    block = rng.standard_normal((30, len(powers))) * 10.0 ** -np.array(powers, float)
    q, t = orthonormal(block, basis, 0.0)
    assert q.shape[1] <= block.shape[1]
    check_orthonormal(block, basis, q, t)


def test_directions_below_the_floor_are_dropped(rng):
    q0 = np.linalg.qr(rng.standard_normal((30, 4)))[0]
    block = q0 * np.array([1.0, 1e-3, 1e-9, 1e-13])
    widths = [orthonormal(block, None, floor)[0].shape[1] for floor in (1e-11, 1e-6, 0.1, 2.0)]
    assert widths == [3, 2, 1, 0]


def test_a_block_inside_the_basis_and_equal_or_zero_columns(xp, rng):
    basis = np.linalg.qr(rng.standard_normal((30, 6)))[0]
    block = basis @ rng.standard_normal((6, 3))
    q, t = orthonormal(xp.asarray(block), xp.asarray(basis), 1e-10)
    assert (tuple(q.shape), tuple(t.shape)) == ((30, 0), (0, 3))
    for held, floor in ((None, 1e-12), (np.zeros((16, 0)), 0.0)):
        q, t = orthonormal(np.ones((16, 3)), held, floor)
        check_orthonormal(np.ones((16, 3)), None, q, t)
        assert floor == 0 or q.shape == (16, 1)
    q, t = orthonormal(np.zeros((5, 2)), None, 0.0)
    assert (q.shape, t.shape) == ((5, 0), (0, 2))


class TestInterruptible:
    def test_small_calls_run_in_place(self):
        assert interruptible(threading.current_thread, 10) is threading.main_thread()

    def test_large_calls_run_aside_and_return(self):
        assert interruptible(threading.current_thread, 10**4) is not threading.main_thread()

    def test_failures_come_through(self):
        def broken():
            raise np.linalg.LinAlgError("no")

        for order in (10, 10**4):
            with pytest.raises(np.linalg.LinAlgError):
                interruptible(broken, order)

    @pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
    def test_ctrl_c_acts_at_once(self):
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            interruptible(lambda: time.sleep(3), 10**4)
        assert time.monotonic() - started < 1.5
        timer.join()

    def test_outside_the_main_thread_nothing_is_started(self):
        seen = []
        thread = threading.Thread(
            target=lambda: seen.append(interruptible(threading.current_thread, 10**4))
        )
        thread.start()
        thread.join()
        assert seen == [thread]


class TestBeside:
    def test_both_go_on_at_the_same_time(self):
        first, second = threading.Event(), threading.Event()

        def call():
            first.set()
            return second.wait(10)

        result = beside(call)
        assert first.wait(10)
        second.set()
        assert result() is True
        assert result() is True

    def test_a_call_of_middle_order_then_leaves_this_thread_too(self):
        """Else the scheduler may keep both on one processor."""
        go_on, give_up = threading.Event(), time.monotonic() + 30
        while _lanes.is_aside() and time.monotonic() < give_up:  # that of another test
            time.sleep(0.05)
        result = beside(lambda: go_on.wait(10))
        assert interruptible(threading.current_thread, 200) is not threading.main_thread()
        assert interruptible(threading.current_thread, 10) is threading.main_thread()
        go_on.set()
        assert result()
        assert interruptible(threading.current_thread, 200) is threading.main_thread()

    def test_failures_come_when_the_result_is_asked_for(self):
        result = beside(lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            result()

    def test_what_numpy_ignores_here_it_ignores_there(self):
        with np.errstate(divide="ignore"):
            result = beside(lambda: np.ones(1) / np.zeros(1))
        assert np.isinf(result()).all()

    def test_the_number_of_blas_threads_comes_back(self):
        before = thread_count()
        with single_threaded_blas():
            result = beside(thread_count)
            assert result() == before  # what may be used, not what is set for now
        assert thread_count() == before


@pytest.mark.parametrize(("order", "one"), [(8, False), (200, True), (5000, False)])
def test_middle_orders_use_one_blas_thread(order, one):
    def counts():
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    give_up = time.monotonic() + 30
    while _lanes._limit.calls_aside and time.monotonic() < give_up:
        time.sleep(0.05)  # a call that an earlier test left aside keeps the limit as it is
    before = counts()
    with _linalg.quiet_blas(order):
        assert counts() == ([1] * len(before) if one else before)
    assert counts() == before


@pytest.mark.parametrize("order", [1, 2, 5, 450])
def test_eigenpairs_in_place_are_the_same(order):
    rng = np.random.default_rng(order)
    a = rng.standard_normal((order, order))
    a = a + a.T
    values, vectors = eigh_in_place(a.copy())
    np.testing.assert_allclose(a @ vectors, vectors * values, rtol=0, atol=1e-11 * order)
    np.testing.assert_allclose(values, eigh(a)[0], rtol=0, atol=1e-12 * order)


@pytest.mark.parametrize("order", [1, 5, 32, 33, 80])
@pytest.mark.parametrize("k", [0, 1, 5])
@pytest.mark.parametrize("how", ["kept", "destroyed", "by SciPy", "by columns"])
def test_leading_pairs_are_those_of_all(order, k, how, monkeypatch):
    k = min(k, order)
    a = np.random.default_rng(order).standard_normal((order, order))
    a = a + a.T
    if how == "by SciPy":  # whose routine has another form
        monkeypatch.setattr(_linalg, "_routine", lambda *_: None)
    given = np.array(a, order="F" if how == "by columns" else "C")
    values, vectors = leading_eigh(given, k, destroy=how != "kept")
    assert how != "kept" or np.array_equal(given, a)
    assert vectors.shape == (order, k)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a)[::-1][:k], rtol=0, atol=1e-12)
    np.testing.assert_allclose(a @ vectors, vectors * values, rtol=0, atol=1e-11)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), rtol=0, atol=1e-12)


@pytest.mark.parametrize("destroy", [False, True], ids=["kept", "destroyed"])
@pytest.mark.parametrize("below", [0.0, 1.0, 2.5], ids=["identity", "centred", "moved"])
@pytest.mark.parametrize("order", [59, 60, 100, 300])
def test_leading_pairs_of_a_matrix_near_the_identity(order, below, destroy):
    """dsyevr hands over fewer pairs than were asked for, or none."""
    a = np.eye(order) - below / order
    for k in (1, 2, 3, order // 3):
        values, vectors = leading_eigh(a.copy(), k, destroy=destroy)
        assert (np.diff(values) <= 0).all()
        np.testing.assert_allclose(values, 1.0, rtol=0, atol=1e-13)
        np.testing.assert_allclose(a @ vectors, vectors, rtol=0, atol=1e-13)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), rtol=0, atol=1e-13)


def symmetric(n, seed=0):
    a = np.random.default_rng(seed).standard_normal((n, n))
    return np.asfortranarray(a + a.T)


@pytest.mark.parametrize("found", [True, False], ids=["called", "by SciPy"])
@pytest.mark.parametrize("n", [1, 2, 37, 200])
def test_the_pairs_are_those_of_scipy_and_lie_in_the_matrix(n, found, monkeypatch):
    assert _linalg._routine("dsyevd", _linalg._DSYEVD) is not None
    if not found:  # a SciPy whose routine has another form
        monkeypatch.setattr(_linalg, "_routine", lambda *_: None)
    a = symmetric(n)
    given = a.copy(order="F")
    values, vectors = eigh_over(given)
    wanted, axes = scipy.linalg.eigh(a, driver="evd")
    np.testing.assert_array_equal(values, wanted)
    np.testing.assert_array_equal(vectors, axes)
    assert np.shares_memory(vectors, given)


def test_a_failure_says_its_code(monkeypatch):
    def failing(*arguments):
        arguments[-1]._obj.value = 7

    monkeypatch.setattr(_linalg, "_routine", lambda *_: failing)
    with pytest.raises(np.linalg.LinAlgError, match="code 7 at order 30"):
        eigh_over(symmetric(30))


def test_other_threads_go_on():
    a, ended, gaps = symmetric(700), threading.Event(), []

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


@pytest.mark.parametrize("n", [1, 5, 900])
def test_a_symmetric_matrix_by_its_rows(n):
    rng = np.random.default_rng(n)
    a = rng.standard_normal((n, n))
    a, v = a + a.T, rng.standard_normal((n, 20))
    np.testing.assert_allclose(symmetric_times(a, v), a @ v, rtol=0, atol=1e-10)
    narrow = symmetric_times(a.astype(np.float32), v)
    assert narrow.dtype == np.float64
    np.testing.assert_allclose(narrow, a @ v, rtol=0, atol=1e-3)
