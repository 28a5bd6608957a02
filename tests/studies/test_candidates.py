import numpy as np
import pytest

from mercer.errors import InputError
from mercer.kernels import RBF, Laplacian, Linear, Matern, Polynomial, as_kernel
from mercer.studies.tuning._tune import GAMMAS, at_the_edge, candidates


@pytest.fixture
def rows(rng):
    return rng.normal(size=(60, 3))


def test_the_default_is_linear_and_a_grid_of_gamma_around_one_over_the_median(rows):
    linear, *grid = candidates(None, None, rows)
    squares = [np.sum((a - b) ** 2) for i, a in enumerate(rows) for b in rows[:i]]
    gammas = [1 / (2 * kernel.lengthscale**2) * np.median(squares) for kernel in grid]
    assert linear == Linear()
    np.testing.assert_allclose(gammas, [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8], rtol=1e-12)


def test_fixed_kernels_are_taken_as_they_are(rows):
    found = candidates([RBF(2.0), "polynomial(degree=2, gamma=1)"], None, rows)
    assert found == [Linear(), RBF(2.0), Polynomial(degree=2, gamma=1.0)]


def test_missing_gammas_become_numbers(rows):
    assert all(kernel.resolved for kernel in candidates(["poly", "laplacian"], None, rows))


def test_every_median_of_a_sum_moves_together(rows):
    grid = candidates([RBF() + 0.5 * Laplacian()], None, rows)[1:]
    middle = grid[GAMMAS.index(1.0)]
    assert len(grid) == len(GAMMAS)
    for kernel, gamma in zip(grid, GAMMAS, strict=True):
        for name in ("left__lengthscale", "right__kernel__lengthscale"):
            ratio = middle.get_params()[name] / kernel.get_params()[name]
            assert ratio == pytest.approx(gamma**0.5)


def test_one_kernel_is_a_list_of_one(rows):
    assert candidates("rbf", None, rows) == candidates([RBF()], None, rows)
    assert candidates(RBF(), None, rows) == candidates(None, None, rows)
    assert candidates(np.dot, None, rows)[1] == as_kernel(np.dot)


def test_the_linear_kernel_is_there_once_and_first(rows):
    assert candidates(["rbf(lengthscale=1)", "linear", Linear()], None, rows) == [
        Linear(),
        RBF(1.0),
    ]


def test_lengthscales_take_the_place_of_the_median_only(rows):
    found = candidates([RBF(), Matern(3.0), RBF(1.0)], [1.0, 4.0], rows)
    assert found == [Linear(), RBF(1.0), RBF(4.0), Matern(3.0)]


def test_lengthscales_that_nobody_waits_for_are_refused(rows):
    with pytest.raises(InputError, match="no kernel waits"):
        candidates([RBF(1.0)], [1.0], rows)


@pytest.mark.parametrize("bad", ["rfb", 3, [None], [RBF]])
def test_what_is_no_kernel_is_refused(rows, bad):
    with pytest.raises(InputError, match="kernel"):
        candidates(bad, None, rows)


def test_the_ends_of_the_grid_are_named():
    tried = [Linear(), *(RBF(length) for length in (4.0, 2.0, 1.0)), Matern(0.1)]
    assert "longest" in at_the_edge(RBF(4.0), tried)[0]
    assert "shortest" in at_the_edge(RBF(1.0), tried)[0]
    assert at_the_edge(RBF(2.0), tried) == []
    assert at_the_edge(Matern(0.1), tried) == []
    assert at_the_edge(Linear(), tried) == []
