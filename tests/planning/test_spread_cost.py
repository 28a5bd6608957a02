import dataclasses
import math

import pytest

from mercer.errors import BudgetError
from mercer.planning import Problem, Workers, plan

GB = 10**9
FEW = Workers(count=2, threads=2, most=1, memory=3.2 * GB, network=1e8, local=False)


def problem(rows=10**7, cols=100, components=10, parts=100, workers=FEW, **more):
    given = {
        "itemsize": 8,
        "memory": 16 * GB,
        "threads": 2,
        "block_bytes": 8.0 * rows * cols / max(1, parts),
        "read_seconds": 8.0 * rows * cols / 5e8,
        "parts": parts,
        "workers": workers,
    }
    return Problem(rows=rows, cols=cols, components=components, **(given | more))


def paths(made):
    return {path.name: path for path in [made.chosen, *(path for path, _ in made.rejected)]}


TABLE = [
    (problem(), "gram"),
    (problem(10**9, 100, parts=6_000), "gram"),
    (problem(10**6, 2_000, parts=200), "gram"),
    (problem(10**6, 30_000, 20, parts=6_000), "krylov"),  # 7.2 GB of sums a worker
    (problem(1_000, 20_000, 5, parts=10), "krylov"),  # wide: n×n is never gathered
    (problem(100, 5, 2, parts=3), "gram"),
]


@pytest.mark.parametrize(("wanted", "name"), TABLE)
def test_the_table(wanted, name):
    made = plan(wanted)
    assert made.chosen.name == name
    small = wanted.cols < 10  # too few columns for an iteration
    assert set(paths(made)) == {"gram", "svd"} | (set() if small else {"krylov"})


def test_figures_follow_the_formula():
    made = paths(plan(problem(10**6, 1_000, 10, parts=64)))
    part, result = 8 * 10**6 * 1_000 / 64, 8 * 1_000**2
    gram = made["gram"]
    # half of the results leave their worker, at every level of a tree of fours
    assert gram.network == pytest.approx(4 / 3 * 64 * result / 2, rel=1e-6)
    assert gram.worker_bytes > 220e6 + 2.5 * part + (5 + 3) * result
    krylov = made["krylov"]
    columns = 8 * 1_000 * krylov.solver.block
    assert krylov.network == pytest.approx(4 / 3 * 64 * columns / 2 + 2 * columns, rel=1e-6)
    assert krylov.worker_bytes < gram.worker_bytes


def test_the_client_holds_sums_and_no_rows():
    path = plan(problem(10**9, 100, parts=1_000)).chosen  # parts of 800 MB
    assert path.bytes < 100e6
    assert path.worker_bytes > 2e9


def test_local_threads_count_against_the_memory_of_this_process():
    local = Workers(threads=4, most=4)
    path = plan(problem(10**8, 100, parts=1_000, workers=local)).chosen
    assert path.worker_bytes == path.network == 0
    assert path.bytes > 4 * 2.5 * 80e6
    with pytest.raises(BudgetError, match="no path fits the memory allowed"):
        plan(problem(10**8, 100, parts=1_000, workers=local, memory=500 * 10**6))


def test_threads_of_a_worker_each_hold_a_part():
    one = plan(problem()).chosen
    four = plan(problem(workers=dataclasses.replace(FEW, threads=8, most=4))).chosen
    assert four.worker_bytes - one.worker_bytes > 3 * 2.5 * 80e6
    assert four.seconds < one.seconds
    full = plan(problem(workers=dataclasses.replace(FEW, held=1e9))).chosen
    assert full.worker_bytes == one.worker_bytes + 10**9  # what is held already counts
    four, many = (dataclasses.replace(FEW, threads=threads) for threads in (4, 400))
    some, more = (plan(problem(10**6, parts=4, workers=w)).chosen for w in (four, many))
    assert some.seconds == more.seconds  # more threads than parts are of no use
    assert plan(problem(workers=None)).chosen.bytes > 2.5 * 80e6  # one thread here


def test_workers_and_network_make_the_time():
    many = dataclasses.replace(FEW, count=16, threads=16)
    wide = problem(10**8, 1_000, parts=6_400)
    times = [
        plan(dataclasses.replace(wide, workers=workers, allowed=("gram",))).chosen.seconds
        for workers in (FEW, many, dataclasses.replace(many, network=1e6))
    ]
    assert times[1] < 0.2 * times[0]
    assert times[2] > times[1] + 4 / 3 * 6_400 * 8e6 * 0.75 / 16e6 * 0.9


def test_parts_too_large_for_a_worker_are_refused_with_the_rows_that_fit():
    with pytest.raises(BudgetError) as refused:
        plan(problem(10**8, 100, parts=40))  # parts of 2 GB
    text = str(refused.value)
    assert "no path fits the memory of a worker; nothing was started" in text
    assert "3.2 GB allowed a worker" in text
    assert "parts of 2 GB" in text
    rows = int(text.split("at most ")[1].split(" rows")[0].replace(",", ""))
    parts = math.ceil(10**8 / rows)
    assert plan(problem(10**8, 100, parts=parts)).chosen.worker_bytes <= FEW.memory
    assert rows > 0.5 * 10**8 / 40


def test_no_cut_is_advised_that_would_change_nothing():
    tiny, tight = (dataclasses.replace(FEW, memory=memory) for memory in (1e8, 4e8))
    with pytest.raises(BudgetError, match=r"start workers with memory_limit") as refused:
        plan(problem(workers=tiny))  # too small for one row
    assert "rechunk" not in str(refused.value)
    with pytest.raises(BudgetError) as refused:  # parts of 64 MB, which neighbours make up
        plan(problem(3_000, 20_000, 3, parts=8, workers=tight))
    assert "start workers with memory_limit" in str(refused.value)
    assert "rechunk" not in str(refused.value)
    with pytest.raises(BudgetError, match=r"have the rows counted, X.compute_chunk_sizes"):
        plan(problem(10**8, 100, parts=40, sized=False))


def test_a_path_that_does_not_fit_a_worker_is_not_a_fallback():
    made = plan(problem(10**6, 15_000, 20, parts=3_000))
    assert made.chosen.name == "krylov"
    assert made.chosen.then is None
    assert "of a worker" in str(made)


def test_the_text_speaks_of_workers_memory_and_network():
    text = str(plan(problem()))
    assert "2 workers x 1 thread, " in text
    assert "each at most (3.2 GB allowed)" in text
    assert "over the network a pass; 100 parts of 80 MB" in text
    endless = dataclasses.replace(FEW, count=1, most=8, memory=math.inf)
    text = str(plan(problem(workers=endless)))
    assert "1 worker x 8 threads, " in text
    assert "(no limit)" in text
    local = str(plan(problem(workers=Workers(threads=4, most=4))))
    assert "4 threads of this process; 100 parts of 80 MB" in local
    alone = str(plan(problem(workers=Workers())))
    assert "1 thread of this process; 100 parts of 80 MB" in alone
    beside = str(plan(problem(workers=Workers(threads=4, most=4, processes=True))))
    assert "4 processes of this machine; 100 parts of 80 MB" in beside
    assert "worker" not in str(plan(problem(parts=0, workers=None, block_bytes=0.0)))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "100 parts of a size that is not known, taken as 80 MB"),
        ({"nnz": 50_000_000}, "taken as 80 MB with 5 % of the cells stored"),
    ],
    ids=["dense", "sparse"],
)
def test_sizes_that_are_assumed_are_not_told_as_known(given, said):
    assumed = problem(10**7, 100, **given, sized=False)
    assert said in str(plan(assumed))
    small = dataclasses.replace(FEW, memory=3e8)
    with pytest.raises(BudgetError, match="for parts of a size that is not known"):
        plan(dataclasses.replace(assumed, workers=small))
