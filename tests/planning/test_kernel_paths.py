import dataclasses

import numpy as np
import pytest

from mercer.errors import BudgetError, InputError
from mercer.planning import (
    KernelCost,
    Machine,
    Problem,
    Workers,
    columns_beyond,
    few_walks,
    plan,
    shuffled_rows,
)

GB = 10**9
DENSE = KernelCost(flops=60.0)


def problem(rows, k=10, kernel=DENSE, itemsize=8, memory=64 * GB, **others):
    return Problem(rows, 50, k, itemsize, memory, kernel=kernel, threads=2, **others)


def kernel_candidates(given):
    """Return every path of a plan, without what follows it."""
    made = plan(dataclasses.replace(given, memory=10**15))
    every = [made.chosen, *(path for path, _ in made.rejected)]
    return [dataclasses.replace(path, then=None) for path in every]


@pytest.mark.parametrize(
    ("rows", "k", "kernel", "chosen"),
    [
        (100, 2, DENSE, "lapack"),
        (500, 10, DENSE, "lapack"),
        (900, 10, DENSE, "stored"),
        (900, 10, KernelCost(60.0, whole=True), "lapack"),
        (4000, 10, DENSE, "stored"),
        (10_000, 20, DENSE, "stored"),
        (4000, 100, DENSE, "stored"),
        (4000, 501, DENSE, "lapack"),
        (4000, 3000, DENSE, "lapack"),
        (4000, 4000, DENSE, "lapack"),
        (4000, 10, KernelCost(60.0, whole=True), "lapack"),
        (4000, 10, KernelCost(60.0, features=50, finite=True), "primal"),
        (10**6, 10, KernelCost(60.0, features=50, finite=True), "primal"),
        (10**6, 10, KernelCost(60.0, features=1326), "primal"),
        (300, 10, KernelCost(60.0, features=8000), "lapack"),
        (100_000, 20, DENSE, "tiles"),
        (100_000, 20, KernelCost(60.0, centred=False), "tiles"),
        (4000, 10, KernelCost(60.0, landmarks=200), "landmarks"),
        (10**6, 10, KernelCost(60.0, landmarks=500), "landmarks"),
    ],
)
def test_choice(rows, k, kernel, chosen):
    made = plan(problem(rows, k, kernel))
    assert made.chosen.name == chosen
    assert chosen in str(made)
    assert plan(dataclasses.replace(made.problem)) == made
    reasons = {path.name: why for path, why in made.rejected}
    assert reasons.get("landmarks", "cannot promise tol") == "cannot promise tol"


def test_explicit_features_alone_where_the_matrix_loses_digits():
    paths = kernel_candidates(problem(500, kernel=KernelCost(60.0, 50, finite=True)))
    assert [path.name for path in paths] == ["primal"]
    paths = kernel_candidates(problem(5000, kernel=KernelCost(60.0, 50)))
    assert {path.name for path in paths} == {"primal", "lapack", "stored", "tiles", "landmarks"}


def test_allowed_paths():
    for name in ("primal", "lapack", "stored"):
        only = problem(200, 3, KernelCost(60.0, 50), allowed=(name,))
        assert plan(only).chosen.name == name
    with pytest.raises(InputError, match="no path"):
        plan(problem(200, 100, allowed=("stored",)))
    with pytest.raises(InputError, match="no path"):
        plan(problem(200, 3, allowed=("primal",)))


def test_bytes_follow_the_matrix():
    for rows in (2000, 10_000):
        wide, narrow = (plan(problem(rows, itemsize=size)).chosen for size in (8, 4))
        assert wide.name == narrow.name == "stored"
        assert 8.0 * rows**2 <= wide.bytes
        assert 4.0 * rows**2 <= narrow.bytes < wide.bytes
    large = plan(problem(10_000, 20)).chosen
    assert large.bytes <= 1.25 * 8 * 10_000**2
    assert plan(problem(10_000, 20, itemsize=4)).chosen.bytes <= 1.35 * 4 * 10_000**2
    lapack = plan(problem(4000, 3000)).chosen
    assert lapack.bytes >= 16.0 * 4000**2


@pytest.mark.parametrize("rows", [2000, 20_000, 200_000])
def test_refusal_says_what_would_do(rows):
    with pytest.raises(BudgetError) as caught:
        plan(problem(rows, memory=10**6))
    assert str(caught.value).count("\n") == 2
    assert f"{rows:,}" in caught.value.got
    size = caught.value.fix.split('memory="')[1].split('"')[0]
    number, unit = size.split() if " " in size else (size[:-2], size[-2:])
    allowed = float(number) * {"kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}[unit]
    made = plan(problem(rows, memory=int(allowed)))
    assert made.chosen.bytes <= allowed


def chain(path):
    while path is not None:
        yield path
        path = path.then


@pytest.mark.parametrize("memory", [0.3 * GB, GB, 4 * GB, 64 * GB])
@pytest.mark.parametrize("itemsize", [4, 8])
def test_what_follows_fits_too(memory, itemsize):
    for rows in (1600, 4000, 10_000):
        try:
            made = plan(problem(rows, 5, itemsize=itemsize, memory=int(memory)))
        except BudgetError:
            continue
        for path in chain(made.chosen):
            assert path.bytes <= memory
            whole = getattr(path.solver, "whole", False)
            assert not whole or 8.0 * rows**2 <= memory  # LAPACK works in the matrix


def test_a_float32_matrix_is_followed_by_a_float64_one():
    made = plan(problem(4000, 5, itemsize=4))
    first, second = chain(made.chosen)
    assert (first.products, second.products) == (4, 8)
    assert "float32" in first.note
    assert "then stored" in str(made)
    first, second = chain(plan(problem(100_000, 20, itemsize=4, memory=16 * GB)).chosen)
    assert (first.name, first.products) == ("tiles", 4)
    assert (second.name, second.products) == ("tiles", 8)


def test_tiles_keep_to_the_memory():
    """O(n(p + block)): a shorter basis where less is allowed, down to two blocks."""
    n = 100_000
    roomy, tight = (plan(problem(n, 20, memory=m * GB)).chosen for m in (8.0, 1.2))
    assert roomy.name == tight.name == "tiles"
    assert roomy.solver.max_basis > tight.solver.max_basis >= 20 + 2 * 68
    assert tight.bytes <= 1.2 * GB < roomy.bytes < 2 * GB
    assert roomy.passes == roomy.solver.max_passes


def test_little_time_or_memory_goes_to_landmarks():
    made = plan(problem(100_000, 20, time=2.0))
    assert made.chosen.name == "landmarks"
    assert "may miss tol" in made.remark
    assert "2 s are allowed" in str(made)
    least = min(path.bytes for path in kernel_candidates(problem(10**6, 20)))
    made = plan(problem(10**6, 20, memory=least))
    assert made.chosen.name == "landmarks"
    with pytest.raises(BudgetError, match="landmarks needs"):
        plan(problem(10**6, 20, memory=least // 40))
    assert plan(problem(100_000, 20, KernelCost(60.0, centred=False), time=2.0)).remark


def test_exponentials_cost_time():
    plain, curved = (
        plan(problem(10_000, kernel=KernelCost(60.0, exponentials=e))).chosen for e in (0, 1)
    )
    machine = Machine(threads=2)
    more = 0.5 * 10_000**2 / machine.rate(machine.exponentials, 8)
    assert curved.seconds - plain.seconds == pytest.approx(more)


def test_the_machine_decides():
    given = problem(4000, kernel=KernelCost(60.0, features=5000))
    assert plan(given).chosen.name == "stored"
    slow = Machine(threads=2, touch=1e7, exponentials=(2e6, 1e6))
    assert plan(dataclasses.replace(given, machine=slow)).chosen.name == "primal"


def test_few_walks_are_cheaper_than_many():
    path = next(p for p in kernel_candidates(problem(50_000)) if p.name == "tiles")
    once, twice = few_walks(path, 1), few_walks(path, 2)
    assert once.passes == once.solver.max_passes == 1
    assert twice.passes == twice.solver.max_passes == 2
    assert once.solver.block == path.solver.block == 10 + columns_beyond()
    assert once.seconds < twice.seconds < path.seconds
    assert once.then is None
    assert few_walks(path, 30).seconds == path.seconds


def test_few_walks_with_few_columns():
    path = next(p for p in kernel_candidates(problem(50_000)) if p.name == "tiles")
    thin = few_walks(path, 1, 22)
    assert thin.solver.block == 22
    assert "with 22 columns" in thin.note
    assert few_walks(path, 1, 10**6).solver.block == path.solver.block


def test_columns_beyond_the_axes_where_they_narrow_intervals():
    """Few where even many would leave a norm above λ_k outside."""
    steep, level = 0.5 ** np.arange(300.0), np.ones(300)
    many = columns_beyond()
    assert columns_beyond(steep, 10) == many
    assert columns_beyond(level, 10) < many
    assert columns_beyond(level[: 10 + many], 10) == many  # nothing is known to be left
    assert columns_beyond(level[:5], 10) == many  # more axes than landmarks
    edge = np.r_[np.full(10 + many, 3.0), np.ones(9)]
    assert columns_beyond(edge, 10) < many
    assert columns_beyond(edge[:-1], 10) == many


def in_parts(m=500, p=50, **others):
    kernel = KernelCost(60.0, landmarks=m, sampled=10_000, passes=2)
    given = {"parts": 400, "block_bytes": 20e6, "read_seconds": 8.0} | others
    return Problem(10**7, p, 10, 8, 64 * GB, kernel=kernel, **given)


def test_landmarks_of_rows_in_parts_know_their_passes_and_workers():
    many = Workers(count=8, threads=16, most=2, memory=8e9, held=2e8, local=False)
    made = plan(in_parts(workers=many))
    assert made.chosen.name == "landmarks"
    assert made.chosen.passes == 2
    assert "400 parts" in str(made)
    assert "over the network" in str(made)
    # What a worker holds: parts of two threads, m×m sums, and what one task chooses from.
    assert 2 * 20e6 + 16 * 10_000 * 500 < made.chosen.worker_bytes < 8e9
    assert made.chosen.bytes < 1e9  # nothing grows with the rows here
    # One result of m×m numbers a part, of which at most three in four move.
    assert made.chosen.network == pytest.approx(400 * 8 * 500**2, rel=0.1)
    alone = plan(in_parts(workers=Workers(count=1, threads=1, local=False)))
    assert alone.chosen.seconds > 5 * made.chosen.seconds
    small = Workers(count=2, threads=2, memory=5e8, held=2e8, local=False)
    with pytest.raises(BudgetError, match="memory of a worker"):
        plan(in_parts(m=5000, workers=small))


@pytest.mark.parametrize(
    ("shape", "rows"),
    [((30, 5), 30), ((4000, 5), 500), ((4000, 10_000), 200), ((4000, 10**6), 100)],
)
def test_wide_rows_are_fewer_where_kernels_are_compared(shape, rows):
    assert shuffled_rows(*shape) == rows


def test_what_choosing_a_kernel_adds():
    def made(shuffled, **more):
        cost = KernelCost(20.0, exponentials=1.0, shuffled=shuffled)
        return plan(Problem(4000, 10, 5, 8, 10**11, kernel=cost, threads=2, **more))

    known, asked = made(0), made(500)
    assert asked.chosen.name == known.chosen.name
    more = asked.chosen.seconds - known.chosen.seconds
    assert 0.05 < more < 5
    assert made(250).chosen.seconds - known.chosen.seconds < 0.5 * more
    assert "40 kernel matrices of 500 rows" in str(asked)
    assert "beyond noise" not in str(known)
    assert [why for _, why in asked.rejected] == [why for _, why in known.rejected]
    narrow = plan(
        Problem(
            600,
            10,
            1,
            8,
            10**11,
            threads=2,
            allowed=("primal",),
            kernel=(KernelCost(20.0, features=2, finite=True, shuffled=500)),
        )
    )
    assert narrow.chosen.bytes >= 4 * 500 * 500 * 8  # memory is that of the larger
