import dataclasses

import pytest

from mercer.errors import BudgetError
from mercer.planning import Problem, plan
from mercer.solvers import BlockKrylov

PROBLEM = Problem(
    rows=20_000,
    cols=20_000,
    components=2,
    itemsize=8,
    memory=10**10,
    nnz=20_000 * 50,
    inverse=True,
    threads=2,
)


def on(**changes):
    return dataclasses.replace(PROBLEM, **changes)


def test_a_large_matrix_is_iterated_on_with_its_factors():
    made = plan(PROBLEM)
    assert made.chosen.name == "inverse"
    assert isinstance(made.chosen.solver, BlockKrylov)
    assert made.chosen.then is None
    assert [path.name for path, _ in made.rejected] == ["lapack"]
    assert made.bytes < 1e9
    assert "factors" in str(made)


@pytest.mark.parametrize(("rows", "k"), [(50, 2), (300, 2), (2000, 500)])
def test_a_small_one_or_many_axes_go_to_lapack(rows, k):
    made = plan(on(rows=rows, cols=rows, components=k, nnz=50 * rows))
    assert made.chosen.name == "lapack"


def test_the_forecast_grows_with_rows_and_cells():
    costs = [plan(on(rows=n, cols=n, nnz=50 * n)).chosen for n in (5000, 20_000, 10**5)]
    assert costs[0].seconds < costs[1].seconds < costs[2].seconds
    more = plan(on(nnz=20_000 * 400)).chosen
    assert more.bytes > costs[1].bytes
    assert more.seconds > costs[1].seconds


def test_factors_never_have_more_cells_than_a_triangle_twice():
    dense = plan(on(rows=1000, cols=1000, nnz=10**6)).chosen
    assert dense.bytes < 2e8


def test_what_does_not_fit_is_refused():
    with pytest.raises(BudgetError, match="memory"):
        plan(on(memory=10**6))
