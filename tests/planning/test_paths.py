import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InputError
from mercer.planning import Problem, plan
from mercer.solvers import BlockKrylov, Exact


def problem(rows, cols, components, **more):
    given = {"itemsize": 8, "memory": 10**12, "threads": 2, **more}
    return Problem(rows=rows, cols=cols, components=components, **given)


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


sizes = st.integers(2, 10**6)


@given(sizes, sizes, st.integers(1, 500), st.sampled_from([4, 8]), st.integers(1, 64))
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


@given(sizes, st.integers(21, 10**5), st.integers(1, 40))
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
