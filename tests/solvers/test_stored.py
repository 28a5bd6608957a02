import numpy as np

from mercer.operators import Dense
from mercer.solvers import BlockKrylov, Goal, Outcome, Stored
from mercer.testing import check_solver, matrices


def test_it_obeys_the_laws():
    check_solver(Stored(BlockKrylov(block=4, max_passes=8)), order=16)


def test_where_the_iteration_falls_short_lapack_goes_on():
    values = np.linspace(2.0, 1.0, 100)
    a = matrices.symmetric(values)
    op, goal = Dense(a, symmetric=True), Goal(5, trace=float(np.trace(a)))
    krylov = BlockKrylov(block=8, max_passes=3)
    assert krylov.solve(op, goal).outcome is Outcome.BUDGET
    found = Stored(krylov).solve(op, goal)
    assert found.outcome is Outcome.CONVERGED
    np.testing.assert_allclose(found.values, values[:5], rtol=1e-12)


def test_where_the_iteration_suffices_its_result_is_kept():
    a = matrices.symmetric(2.0 ** -np.arange(50.0))
    op, goal = Dense(a, symmetric=True), Goal(3, trace=float(np.trace(a)))
    krylov = BlockKrylov(block=8)
    np.testing.assert_array_equal(
        Stored(krylov).solve(op, goal).right, krylov.solve(op, goal).right
    )
