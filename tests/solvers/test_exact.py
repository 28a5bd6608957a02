import numpy as np
import pytest

from mercer.arrays import EPS
from mercer.operators import Dense
from mercer.solvers import Exact, Floor, Goal, Outcome
from mercer.testing import check_solver, matrices


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


def holds(certificate, truth):
    lower, upper = (x.astype(np.longdouble) for x in (certificate.lower, certificate.upper))
    return np.all(lower <= truth) and np.all(truth <= upper)


@pytest.mark.parametrize("order", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("number", matrices.LAPACK_TYPES)
def test_intervals_hold_on_every_lapack_type(number, order):
    a = matrices.lapack(number, order)
    found = Exact().solve(Dense(a, symmetric=True), Goal(order, floor=Floor(4 * order * EPS)))
    assert holds(found.certificate, matrices.eigenvalues(a))
    if "near" not in matrices.LAPACK_TYPES[number]:  # units keep squares in range, not solvers
        found = Exact().solve(Dense(a), Goal(order, floor=Floor((4 * order * EPS) ** 2)))
        assert holds(found.certificate, matrices.singular_values(a) ** 2)


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
