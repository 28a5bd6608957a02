import contextlib
import dataclasses
import math
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mercer.arrays import Rates, parse_bytes
from mercer.errors import BudgetError, InputError
from mercer.planning import Machine, Problem, plan

MANY = 10**13


def problem(rows, cols, components, **more):
    given = {"itemsize": 8, "memory": MANY, "threads": 2, **more}
    return Problem(rows=rows, cols=cols, components=components, **given)


def chain(path):
    found = []
    while path.then is not None:
        path = path.then
        found.append(path.name)
    return found


TABLE = [
    (problem(100, 5, 5), "svd"),
    (problem(5, 100, 5), "svd"),
    (problem(200, 200, 3), "svd"),
    (problem(1_000_000, 50, 10), "gram"),
    (problem(1_000_000, 50, 10, itemsize=4), "gram"),
    (problem(200_000, 200, 10), "gram"),
    (problem(200_000, 200, 200), "gram"),
    (problem(20_000, 2_000, 2_000), "gram"),
    (problem(500, 50_000, 500), "dual"),
    (problem(1_000, 100_000, 400), "dual"),
    (problem(5_000, 5_000, 10), "krylov"),
    (problem(50_000, 50_000, 20), "krylov"),
    (problem(10**7, 20_000, 10), "krylov"),
    (problem(10**6, 10**5, 20, nnz=10**8), "krylov"),
    (problem(10**6, 10**6, 5, nnz=10**7), "krylov"),
]


@pytest.mark.parametrize(("wanted", "name"), TABLE)
def test_the_table(wanted, name):
    assert plan(wanted).chosen.name == name


sizes = st.integers(2, 3 * 10**5)
problems = st.builds(
    lambda rows, cols, k, itemsize, memory, threads, share, time, blocks: Problem(
        rows=rows,
        cols=cols,
        components=min(k, rows, cols),
        itemsize=itemsize,
        memory=memory,
        threads=threads,
        nnz=None if share is None else max(1, int(share * rows * cols)),
        time=time,
        block_bytes=blocks[0] if share is None else 0.0,
        max_passes=blocks[1],
    ),
    sizes,
    sizes,
    st.integers(1, 10**4),
    st.sampled_from([4, 8]),
    st.integers(10**4, 10**13),
    st.integers(1, 32),
    st.none() | st.floats(1e-5, 0.3),
    st.none() | st.floats(1e-3, 1e4),
    st.sampled_from([(0.0, math.inf), (0.0, math.inf), (1e6, math.inf), (1e6, 2)]),
)


@given(problems)
def test_a_plan_is_a_pure_function_that_keeps_its_limits(wanted):
    try:
        made = plan(wanted)
    except BudgetError as error:
        assert_refusal(error, wanted)
        return
    assert plan(wanted) == made
    assert made.problem == wanted
    paths = [made.chosen, *(path for path, _ in made.rejected)]
    assert len({path.name for path in paths}) == len(paths)
    path = made.chosen
    while path is not None:
        assert path.bytes <= wanted.memory
        path = path.then
    for path, why in made.rejected:
        if path.bytes > wanted.memory:
            assert "needs more than" in why
        assert why
    text = str(made)
    assert text.splitlines()[1].startswith("  -> " + made.chosen.name)
    assert text.count("not taken: ") == len(made.rejected)


def assert_refusal(error, wanted):
    """Three lines, and what it says would fit does fit."""
    assert [line[:7] for line in str(error).splitlines()[1:]] == ["  got: ", "  fix: "]
    size = re.search(r'memory="([^"]+)"', error.fix)[1]
    enough = dataclasses.replace(wanted, memory=parse_bytes(size))
    assert plan(enough).chosen.bytes <= enough.memory


@given(problems)
def test_a_refusal_names_what_would_fit(wanted):
    with contextlib.suppress(BudgetError):  # less memory leads to leaner paths
        path = plan(wanted).chosen
        poor = plan(dataclasses.replace(wanted, memory=path.bytes - 1)).chosen
        assert poor.bytes < path.bytes
    starved = dataclasses.replace(wanted, memory=100)
    with pytest.raises(BudgetError) as caught:
        plan(starved)
    assert_refusal(caught.value, starved)
    assert caught.value.what == "no path fits the memory allowed; nothing was allocated"
    assert "100 B allowed" in caught.value.got
    assert wanted.components < 20 or "fewer components" in caught.value.fix
    assert f"{wanted.rows:,} x {wanted.cols:,}" in caught.value.got


def test_without_paths_there_is_no_plan():
    with pytest.raises(InputError, match="no path can do this"):
        plan(problem(100, 100, 99, allowed=("krylov",)))


def test_only_allowed_paths_are_taken():
    for name in ("svd", "gram", "krylov"):
        made = plan(problem(10_000, 300, 5, allowed=(name,)))
        assert made.chosen.name == name
        assert made.rejected == ()


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (problem(100, 5, 5), []),
        (problem(200_000, 200, 10), ["svd"]),
        (problem(5_000, 5_000, 10), ["gram", "svd"]),
        (problem(500, 50_000, 500), ["svd"]),
        (problem(4_000, 40_000, 10), ["dual", "svd"]),
        (problem(200_000, 200, 10, itemsize=4), ["gram", "svd"]),
        (problem(20_000, 20_000, 10, itemsize=4), ["krylov", "gram", "svd"]),
    ],
)
def test_each_fallback_has_more_digits(wanted, names):
    made = plan(wanted)
    assert chain(made.chosen) == names
    path = made.chosen.then
    while path is not None:
        assert path.products == 8
        path = path.then
    assert str(made).count("only if tol is not certified") == len(names)


def test_fallbacks_must_fit_the_memory():
    full = plan(problem(50_000, 50_000, 20))
    assert chain(full.chosen) == ["gram", "svd"]
    lean = plan(problem(50_000, 50_000, 20, memory=10**9))
    assert lean.chosen.name == "krylov"
    assert chain(lean.chosen) == []


def test_too_little_time_is_said():
    made = plan(problem(50_000, 50_000, 20, time=0.01))
    assert made.chosen.name == "krylov"
    assert made.chosen.solver.max_passes == made.chosen.passes == 3
    assert "may miss tol" in made.remark
    assert made.remark in str(made)
    assert chain(made.chosen) == []


@example(problem(79, 103, 1, threads=1), 1e-3)
@given(problems, st.floats(1e-3, 10))
def test_time_takes_the_quickest_path_when_none_is_quick_enough(wanted, time):
    hurried = dataclasses.replace(wanted, time=time, memory=MANY)
    made = plan(hurried)
    if made.remark:
        able = [path for path, _ in made.rejected if path.passes <= wanted.max_passes]
        assert all(path.seconds > time for path in able)
    else:
        assert made.chosen.seconds <= time
    ample = plan(dataclasses.replace(hurried, time=1e12))  # changes nothing
    assert (ample.chosen.name, ample.remark) == (
        plan(dataclasses.replace(hurried, time=None)).chosen.name,
        "",
    )


def test_a_plan_reads_as_a_small_table():
    text = str(plan(problem(200_000, 200, 10)))
    lines = text.splitlines()
    assert lines[0].startswith("plan: 200,000 x 200, 10 components, tol 1e-06, ")
    assert lines[1].startswith("  -> gram")
    assert len(lines) == 5
    assert max(map(len, lines)) < 130
    known = problem(1000, 20, 3)
    assert str(plan(known)).startswith("plan: 1,000 x 20,")
    guessed = dataclasses.replace(known, counted=False)
    assert str(plan(guessed)).startswith("plan: about 1,000 x 20,")
    assert "1,000 stored cells" in str(plan(problem(1000, 100, 3, nnz=1000)))
    assert known.data_bytes == 8 * 1000 * 20
    assert problem(100, 300, 5, nnz=50).data_bytes == 50 * 12
    for value, name in ((known, "rows"), (plan(known), "chosen")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, None)


MACHINES = [
    (Machine(threads=2), "krylov"),
    (Machine(threads=2, thin=(4e8, 1.6e8), eigen=3e12), "gram"),
    (Machine(threads=2, symmetric=(6e8, 3e8), eigen=3e6), "krylov"),
    (Machine(threads=2, symmetric=(6e6, 3e6), thin=(4e6, 1e6), reflect=8e12), "svd"),
]


@pytest.mark.parametrize(("machine", "name"), MACHINES, ids=["default", "gram", "thin", "qr"])
def test_the_machine_decides(machine, name):
    made = plan(problem(5_000, 5_000, 10, machine=machine))
    assert made.chosen.name == name
    assert ("from default rates" in str(made)) is not machine.measured


@pytest.mark.parametrize("name", ["symmetric", "thin", "sparse", "exponentials"])
def test_threads_share_the_work_and_float32_is_faster(name):
    one, four = Machine(), Machine(threads=4)
    pair = getattr(one, name)
    assert four.rate(pair, 8) == 4 * one.rate(pair, 8)
    assert one.rate(pair, 4) == pair[0] > pair[1] == one.rate(pair, 8)


def test_measured_rates_replace_the_default_ones():
    given = Rates(3, (5e9, 4e9), (3e9, 2e9), (9e8, 8e8), 7e8, 6e8, 2 * Machine.stream, 1e8)
    machine = Machine.of(given)
    assert machine.measured
    assert not Machine().measured
    assert (machine.threads, machine.reflect, machine.eigen) == (3, 7e8, 6e8)
    assert machine.rate(machine.exponentials, 8) == 3 * 8e8
    assert machine.sparse == (2 * Machine.sparse[0], 2 * Machine.sparse[1])


@pytest.mark.parametrize("passes", [1, math.inf])
@pytest.mark.parametrize(
    "shape", [(10**6, 500, 10), (400, 90_000, 20), (50_000, 3000, 100), (10**6, 50, 5)]
)
def test_a_refusal_of_rows_read_in_blocks_names_what_would_fit(shape, passes):
    starved = problem(*shape, memory=10**4, block_bytes=1e6, max_passes=passes)
    with pytest.raises(BudgetError) as caught:
        plan(starved)
    assert_refusal(caught.value, starved)
