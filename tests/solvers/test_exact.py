import dataclasses

import numpy as np
import pytest

from mercer.arrays import EPS
from mercer.operators import Dense
from mercer.solvers import BlockKrylov, Exact, Floor, Goal, Outcome, Stored
from mercer.solvers._stored_matrix import largest_columns
from mercer.testing import check_lapack_types, check_solver, matrices


def test_it_obeys_the_laws(xp):
    check_solver(Exact(), order=16, like=xp.asarray(np.zeros((0, 0))))


@pytest.mark.parametrize("order", [1, 2, 4, 32, 64])
def test_it_obeys_the_laws_at_every_order(order):
    if order >= 4:
        check_solver(Exact(), order=order, indefinite=True, seed=order)
    for values in matrices.spectra(order).values():
        a, _ = matrices.dyadic_symmetric(values)
        found = Exact().solve(Dense(a, symmetric=True), Goal(order))
        assert np.all(found.certificate.lower <= values)
        assert np.all(values <= found.certificate.upper)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("order", [1, 2, 3, 5, 20])
def test_it_is_right_on_the_matrices_of_lapack(order, dtype):
    check_lapack_types(Exact(), order=order, indefinite=True, exact=True, dtype=dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "solver", [Exact(), BlockKrylov(3), BlockKrylov(8), Stored(BlockKrylov(8))], ids=str
)
def test_large_matrices_of_lapack(solver, dtype):
    whole = not isinstance(solver, Stored)  # an iteration within a budget is of psd matrices
    exact = isinstance(solver, Exact)
    for seed, order in enumerate((40, 60, 100)):
        check_lapack_types(
            solver, order=order, indefinite=whole, exact=exact, dtype=dtype, seed=seed
        )


def test_small_singular_values_keep_their_digits():
    s = 2.0 ** -np.arange(0, 24, 3.0)
    a, _ = matrices.dyadic_rows(s, (512, 8))
    found = Exact().solve(Dense(a), Goal(8, floor=Floor((2048 * EPS) ** 2)))
    np.testing.assert_allclose(found.values, s**2, rtol=1e-7)
    assert found.certificate.met
    square = Exact().solve(Dense(a.T @ a, symmetric=True), Goal(8))
    assert not square.certificate.met


def test_more_pairs_than_there_are_give_all_there_are(rng):
    a = rng.standard_normal((3, 7))
    assert len(Exact().solve(Dense(a), Goal(7)).values) == 3
    assert len(Exact().solve(Dense(a @ a.T, symmetric=True), Goal(7)).values) == 3


def test_the_total_is_the_trace(rng):
    a = rng.standard_normal((20, 6))
    for op in (Dense(a), Dense(a.T @ a, symmetric=True)):
        found = Exact().solve(op, Goal(2))
        assert found.total == pytest.approx(np.sum(a**2))
        assert found.passes == 1


def test_error_already_in_the_matrix_widens_the_intervals():
    a = matrices.symmetric([4.0, 2.0, 1.0])
    plain = Exact().solve(Dense(a, symmetric=True), Goal(2)).certificate
    doubtful = Exact().solve(Dense(a, symmetric=True), Goal(2, error=0.25)).certificate
    np.testing.assert_allclose(doubtful.lower, plain.lower - 0.25)
    np.testing.assert_allclose(doubtful.upper, plain.upper + 0.25)
    assert plain.met
    assert not doubtful.met
    a = matrices.symmetric([1.0, 1e-12])
    found = Exact().solve(Dense(a, symmetric=True), Goal(2, floor=Floor(1e-14)))
    assert found.outcome is Outcome.FLOOR  # an unreachable tolerance is said
    assert found.certificate.converged.tolist() == [True, False]
    for floor, top, level in (
        (Floor(), 5.0, 0.0),
        (Floor(1e-3, 0.0), 5.0, 5e-3),
        (Floor(1e-3, 0.1), 5.0, 0.1),
        (Floor(1e-3, 0.1), 1e3, 1.0),
        (Floor(1e-3), -1.0, 0.0),
    ):
        assert floor.at(top) == level


def test_a_stored_matrix_obeys_the_laws():
    stored = Stored(BlockKrylov(block=4, max_passes=8))
    check_solver(stored, order=16)
    for dtype in ("float64", "float32"):
        check_lapack_types(stored, order=20, dtype=dtype)


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
    sharp = dataclasses.replace(goal, tol=goal.tol / 2)
    np.testing.assert_array_equal(
        Stored(krylov).solve(op, goal).right, krylov.solve(op, sharp).right
    )


def unequal(seed=0, order=400, power=1.5):
    """Return a psd matrix a tenth of whose columns hold most of the trace, and its values."""
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((order, order)) * np.arange(1, order + 1.0) ** -power
    factor = factor.T[rng.permutation(order)]
    a = factor @ factor.T
    return a, np.linalg.eigvalsh(a)[::-1]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_values_are_within_the_tolerance_and_the_intervals_hold(seed, tol):
    a, truth = unequal(seed)
    goal = Goal(10, tol=tol, trace=float(np.trace(a)), psd=True)
    found = Stored(BlockKrylov(block=20)).solve(Dense(a.copy(), symmetric=True), goal)
    assert found.outcome is Outcome.CONVERGED
    assert found.certificate.tol == tol
    assert np.all(np.abs(found.values - truth[:10]) <= tol * truth[:10])
    assert np.all(found.certificate.lower <= truth[:10] * (1 + 1e-12))
    assert np.all(found.certificate.upper >= truth[:10] * (1 - 1e-12))
    plain = BlockKrylov(block=20).solve(Dense(a, symmetric=True), goal)
    assert found.passes <= plain.passes - (tol < 1e-3 and seed == 0)  # large columns save some


@pytest.mark.parametrize("unit", [-900, 0, 900])
def test_the_first_block_lies_near_the_leading_axes_in_any_unit(unit):
    a, truth = unequal()
    start = largest_columns(np.ldexp(a, unit), 20, 0)
    assert start.shape == (400, 20)
    axes = np.linalg.qr(start)[0]
    ritz = np.linalg.eigvalsh(axes.T @ a @ axes)[::-1]
    np.testing.assert_allclose(ritz[:5], truth[:5], rtol=0.05)


def test_columns_alike_are_begun_at_random():
    a = matrices.symmetric(np.linspace(2.0, 1.0, 200))
    assert largest_columns(a, 10, 0) is None
    assert largest_columns(unequal(order=100)[0], 30, 0) is None  # they are most of them
    assert largest_columns(np.zeros((200, 200)), 10, 0) is None


@pytest.mark.parametrize("seed", range(4))
def test_axes_that_avoid_the_large_columns_are_found(seed):
    """The first axis lies in small columns that no entry connects with the large ones."""
    rng = np.random.default_rng(seed)
    large = np.diag(rng.uniform(2.0, 2.2, 100))
    small = np.full((200, 200), 0.2) + 0.01 * np.eye(200)  # one value is 40
    a = np.zeros((300, 300))
    a[:100, :100], a[100:, 100:] = large, small
    assert largest_columns(a, 20, seed) is not None
    goal = Goal(3, trace=float(np.trace(a)), psd=True, seed=seed)
    found = Stored(BlockKrylov(block=20)).solve(Dense(a.copy(), symmetric=True), goal)
    truth = np.linalg.eigvalsh(a)[::-1][:3]
    np.testing.assert_allclose(found.values, truth, rtol=1e-6)
    assert np.all(found.certificate.upper >= truth * (1 - 1e-12))
