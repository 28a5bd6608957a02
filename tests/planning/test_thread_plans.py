"""The number of threads changes time and space, never what is done."""

import dataclasses
import warnings

import numpy as np
import pytest
import threadpoolctl
from hypothesis import given
from hypothesis import strategies as st

from mercer import PCA, KernelPCA
from mercer.arrays import at_most, thread_count
from mercer.errors import AccuracyWarning, BudgetError
from mercer.kernels import RBF
from mercer.planning import GraphCost, KernelCost, Machine, Problem, plan

MEMORY = st.floats(6.0, 11.0).map(lambda power: int(10**power))
SIZES = st.integers(2, 200_000)
KERNELS = st.builds(
    KernelCost,
    flops=st.sampled_from([10.0, 60.0, 2000.0]),
    features=st.sampled_from([None, None, 50, 3000]),
    whole=st.booleans(),
    centred=st.booleans(),
    landmarks=st.sampled_from([None, None, 300]),
    exponentials=st.sampled_from([0.0, 1.0]),
)


@st.composite
def problems(draw):
    """Draw a problem of any kind: rows and columns, a kernel, or a graph."""
    rows, cols = draw(SIZES), draw(st.integers(2, 5000))
    kind = draw(st.sampled_from(["linear", "linear", "kernel", "kernel", "graph", "inverse"]))
    more = {"itemsize": draw(st.sampled_from([4, 8])), "memory": draw(MEMORY)}
    if kind == "linear":
        more |= {"nnz": draw(st.sampled_from([None, None, max(rows * cols // 50, 1)]))}
        more |= {"block_bytes": draw(st.sampled_from([0.0, 1e6])) * (more["nnz"] is None)}
    if kind == "kernel":
        more |= {"kernel": draw(KERNELS)}
    if kind in ("graph", "inverse"):
        cols = rows = max(rows, 20)
        more |= {"nnz": 11 * rows, "inverse": kind == "inverse", "itemsize": 8}
    if kind == "graph":
        more |= {"graph": GraphCost(float(draw(st.integers(10, 300))))}
    if draw(st.booleans()):
        rates = st.floats(1e8, 1e12)
        more |= {"machine": Machine(eigen=draw(rates), reflect=draw(rates))}
    k = draw(st.integers(1, min(rows, cols, 300)))
    return Problem(rows, cols, k, **more)


def decided(problem, threads):
    """Return what is done with so many threads: names, solvers and reasons, or a refusal."""
    machine = problem.machine
    machine = machine and dataclasses.replace(machine, threads=threads)
    try:
        made = plan(dataclasses.replace(problem, threads=threads, machine=machine))
    except BudgetError as error:
        return None, str(error)
    chain, path = [], made.chosen
    while path is not None:
        assert path.bytes <= problem.memory
        assert path.threads <= threads
        chain.append((path.name, path.solver, path.products, path.passes, path.digits))
        path = path.then
    return made, (chain, [path.name for path, _ in made.rejected])


@given(problems())
def test_what_is_done_does_not_depend_on_threads(problem):
    (one, first), *others = (decided(problem, threads) for threads in (1, 2, 3, 16))
    for made, found in others:
        assert found == first
        if made is not None:
            assert made.chosen.seconds <= one.chosen.seconds * (1 + 1e-9)


def test_threads_without_space_are_left_out():
    wide = KernelCost(flops=60.0)
    held = {
        t: plan(Problem(60_000, 20, 10, 8, 4 * 10**9, kernel=wide, threads=t)) for t in (1, 8)
    }
    assert held[1].chosen.name == held[8].chosen.name == "tiles"
    assert held[8].chosen.threads == 0  # all of them
    less = plan(Problem(60_000, 20, 10, 8, held[1].bytes + 10**7, kernel=wide, threads=8))
    assert less.chosen.name == "tiles"
    assert 1 <= less.chosen.threads < 8
    assert f"{less.chosen.threads} of 8 threads" in str(less)


def test_fewer_threads_are_taken():
    with threadpoolctl.threadpool_limits(2, "blas"):
        there = thread_count()
        with at_most(1):
            assert thread_count() == 1
        with at_most(0):
            assert thread_count() == there
        with at_most(2), at_most(5):
            assert thread_count() == min(there, 2)
        assert thread_count() == there


@pytest.mark.parametrize("memory", ["60MB", "90MB", "150MB", "1GB"])
def test_a_fit_is_as_exact_with_any_number_of_threads(memory):
    rows = np.random.default_rng(0).standard_normal((3000, 5))
    found = []
    for threads in (1, 2):
        with threadpoolctl.threadpool_limits(threads, "blas"), warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            model = KernelPCA(4, kernel=RBF(2.0), memory=memory).fit(rows)
        chosen = model.plan_.chosen
        found.append((chosen.name, chosen.solver, model.certificate_.met))
    assert found[0] == found[1]
    assert found[0][2] is (memory != "60MB")  # there is space for landmarks alone


def test_landmarks_are_the_same_with_any_number_of_threads():
    rows = np.random.default_rng(1).standard_normal((6000, 4))
    chosen = []
    for threads in (1, 2):
        with threadpoolctl.threadpool_limits(threads, "blas"):
            model = KernelPCA(3, kernel=RBF(2.0), landmarks=150, memory="60MB").fit(rows)
        chosen.append(np.asarray(model.landmarks_))
    np.testing.assert_array_equal(*chosen)


def test_linear_fits_take_the_same_path():
    rows = np.random.default_rng(2).standard_normal((4000, 60))
    names = set()
    for threads in (1, 2):
        with threadpoolctl.threadpool_limits(threads, "blas"):
            names.add(PCA(5, memory="20MB").fit(rows).plan_.chosen.name)
    assert len(names) == 1
