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
from mercer.solvers import BlockKrylov, Exact

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
    (problem(100, 5, 5), "gram"),
    (problem(5, 100, 5), "svd"),
    (problem(200, 200, 3), "gram"),
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


sizes, orders = st.integers(2, 3 * 10**5), st.integers(2, 10**6)
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
    assert caught.value.what == "no path fits the memory allowed; the fit was not begun"
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
        (problem(100, 5, 5), ["svd"]),
        (problem(5, 100, 5), []),
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


def test_a_fallback_has_its_own_price():
    made = plan(problem(6_000, 2_500, 10, nnz=150_000))
    krylov, gram = made.chosen, made.chosen.then
    assert (krylov.name, gram.name) == ("krylov", "gram")
    iterated = next(path for path, _ in made.rejected if path.name == "gram")
    assert gram.seconds > 1.3 * iterated.seconds  # LAPACK's pairs, not those of an iteration
    assert "LAPACK" in gram.note
    worth = gram.seconds * krylov.passes / krylov.seconds  # of all threads, as they are shown
    assert krylov.solver.worth == pytest.approx(worth, rel=0.3)
    assert f"({gram.seconds:.2g} s, " in str(made)
    wide = plan(problem(15_000, 10_000, 2, nnz=120_000)).chosen
    assert wide.name == "krylov"
    assert wide.solver.max_passes >= 300  # what follows would take minutes


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


def candidates(wanted):
    """Return every path of a plan in the order of the house, without what follows it."""
    made = plan(dataclasses.replace(wanted, memory=10**18))
    every = [made.chosen, *(path for path, _ in made.rejected)]
    found = {path.name: dataclasses.replace(path, then=None) for path in every}
    order = ("svd", "gram", "dual", "krylov", "sketch")
    return [found[name] for name in order if name in found]


def names(*args, **more):
    return [path.name for path in candidates(problem(*args, **more))]


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        ((1000, 100, 5), ["svd", "gram", "krylov"]),
        ((100, 1000, 5), ["svd", "dual", "krylov"]),
        ((100, 100, 5), ["svd", "gram", "krylov"]),
        ((1000, 100, 34), ["svd", "gram"]),
        ((1000, 100, 100), ["svd", "gram"]),
        ((1000, 20, 2), ["svd", "gram"]),
        ((2, 1, 1), ["svd", "gram"]),
    ],
)
def test_which_paths_can_do_it(shape, found):
    assert names(*shape) == found


def test_faces_may_promise_a_path():
    assert names(1000, 100, 5, allowed=("gram",)) == ["gram"]
    assert names(100, 1000, 5, allowed=("gram",)) == ["gram"]
    assert names(100, 1000, 5, allowed=("svd", "krylov")) == ["svd", "krylov"]
    with pytest.raises(InputError, match="no path"):
        names(100, 100, 99, allowed=("krylov",))


@given(orders, orders, st.integers(1, 500), st.sampled_from([4, 8]), st.integers(1, 64))
def test_forecasts_are_positive_and_made_of_whole_bytes(rows, cols, k, itemsize, threads):
    k = min(k, rows, cols)
    for path in candidates(problem(rows, cols, k, itemsize=itemsize, threads=threads)):
        assert path.seconds > 0
        assert path.flops > 0
        assert isinstance(path.bytes, int)
        assert path.bytes > 0
        assert path.passes >= 1
        assert path.products in (4, 8)
        assert path.then is None
        assert path.digits == {"svd": "all", "krylov": "tol"}.get(path.name, "gram")
        assert path.name in path.line()
        if path.name == "krylov":
            assert min(8, rows, cols) <= path.solver.block <= min(rows, cols)


@given(orders, st.integers(21, 10**5), st.integers(1, 40))
def test_more_rows_cost_more(rows, cols, k):
    k = min(k, rows, cols)
    for a, b in zip(
        candidates(problem(rows, cols, k)), candidates(problem(2 * rows, cols, k)), strict=False
    ):
        if a.name == b.name:
            assert a.flops <= b.flops
            assert a.seconds <= b.seconds * 1.0001


def test_float32_is_multiplied_as_float64_where_that_is_cheap():
    small = {p.name: p.products for p in candidates(problem(1000, 100, 5, itemsize=4))}
    large = {p.name: p.products for p in candidates(problem(10**6, 1000, 5, itemsize=4))}
    assert small["gram"] == 8
    assert large["gram"] == large["krylov"] == 4
    assert large["svd"] == 8


def test_sparse_data_makes_iterations_cheap():
    dense = candidates(problem(10**5, 10**4, 10))
    sparse = candidates(problem(10**5, 10**4, 10, nnz=10**6))
    assert sparse[-1].name == "krylov"
    assert sparse[-1].seconds < dense[-1].seconds / 5
    stored = found(10**5, 5000, 10)["gram"].solver.krylov.block
    wide, narrow = (found(10**5, 5000, 10, nnz=n)["krylov"].solver for n in (None, 10**7))
    assert stored == wide.block > narrow.block  # dense products want wide blocks
    paths = candidates(problem(10**6, 1000, 5, itemsize=4, nnz=10**7))
    assert {path.products for path in paths} == {8}  # sparse products are float64
    solvers = [type(path.solver) for path in candidates(problem(10**5, 500, 5))]
    assert solvers == [Exact, Exact, BlockKrylov]
    line = candidates(problem(10**6, 50, 5))[1].line()
    assert line.startswith("gram")
    for word in ("1 pass", "flop", " s ", "one-pass Gram matrix"):
        assert word in line


def test_a_budget_of_passes():
    krylov = candidates(problem(10**5, 500, 5))[-1]
    short = krylov.with_passes(3)
    assert short.solver.max_passes == short.passes == 3
    assert "at most 3 passes" in short.note
    assert krylov.within(7).solver.max_passes == 7
    assert dataclasses.replace(krylov.within(7), solver=krylov.solver) == krylov


def test_rows_that_are_seen_once_may_keep_leading_directions_only():
    once = {"block_bytes": 1e6, "max_passes": 1}
    assert "sketch" in names(10**5, 20_000, 5, **once)
    assert "sketch" not in names(10**5, 20_000, 5, block_bytes=1e6)
    assert "sketch" not in names(10**5, 20_000, 5)
    assert "sketch" not in names(10**5, 20_000, 5, **once, allowed=("gram",))
    wide = problem(10**5, 20_000, 5, **once, memory=10**9)
    assert plan(wide).chosen.name == "sketch"
    assert plan(dataclasses.replace(wide, memory=10**11)).chosen.name == "gram"
    path = plan(wide).chosen
    assert (path.digits, path.then) == ("bound", None)
    assert 8 * 20_000 * 2 * 35 < path.bytes < 10**9


def test_time_may_mean_leading_directions():
    once = {"block_bytes": 1e6, "max_passes": 1}
    found = plan(problem(10**6, 10_000, 5, **once, time=200.0))
    assert found.chosen.name == "sketch"
    assert "leading directions are taken and may miss tol" in str(found)


def found(rows, cols, components, **more):
    return {path.name: path for path in candidates(problem(rows, cols, components, **more))}


@pytest.mark.parametrize("shape", [(10**6, 200, 5), (300, 10**5, 5)])
def test_rows_read_by_blocks_cost_blocks_and_reading(shape):
    held, read = found(*shape), found(*shape, block_bytes=1e7, read_seconds=100.0)
    assert held.keys() == read.keys()
    for name, path in read.items():
        assert path.bytes >= held[name].bytes + 3e7
        assert path.seconds >= 100.0 * path.passes
        quick = found(*shape, block_bytes=1e7, read_seconds=1e-9)[name]
        assert path.passes > 1 or quick.seconds == held[name].seconds  # both go on together
        kept = found(*shape, block_bytes=1e7, kept=True)[name]
        assert kept.bytes >= path.bytes


def test_a_kept_matrix_is_counted():
    whole = 8 * 2000**2
    plain = found(10**6, 2000, 5, block_bytes=1e6)["gram"].bytes
    assert found(10**6, 2000, 5, block_bytes=1e6, kept=True)["gram"].bytes >= plain + whole
    assert plain >= found(10**6, 2000, 5)["gram"].bytes + whole


def test_panels_of_a_wide_table_are_passes():
    small = found(1000, 10**5, 5, block_bytes=1e7)["dual"]
    large = found(1000, 10**5, 5, block_bytes=2e8)["dual"]
    assert large.passes == 3  # the mean, one panel, the axes
    assert small.passes == 2 + 20  # 800 MB in panels of 40 MB
    assert found(1000, 10**5, 5)["dual"].passes == 2


@pytest.mark.parametrize("passes", [1, 2, 12, 100])
@pytest.mark.parametrize("itemsize", [4, 8])
@pytest.mark.parametrize("shape", [(10**6, 500, 5), (10**6, 500, 500), (10**5, 3000, 20)])
def test_a_chain_never_reads_more_often_than_the_rows_allow(shape, itemsize, passes):
    made = plan(problem(*shape, itemsize=itemsize, block_bytes=1e7, max_passes=passes))
    total, path = 0, made.chosen
    while path is not None:
        total, path = total + path.passes, path.then
    assert total <= passes
    for path, why in made.rejected:
        assert (path.passes > passes) == why.startswith("the rows can be read only")
    assert passes > 1 or ("once" in str(made))


@pytest.mark.parametrize("shape", [(10**6, 200, 5), (300, 10**5, 5)])
@pytest.mark.parametrize("parts", [0, 10])
def test_comparing_halves_is_a_pass_where_squares_are_not_summed(shape, parts):
    elsewhere = {"block_bytes": 1e7, "read_seconds": 100.0, "parts": parts}
    plain, compared = found(*shape, **elsewhere), found(*shape, **elsewhere, compared=True)
    for name, path in compared.items():
        more = 0 if name == "gram" else 1
        assert path.passes == plain[name].passes + more
        assert path.seconds == pytest.approx(plain[name].seconds + 100.0 * more)
    assert found(*shape, compared=True) == found(*shape)  # rows here are not read
