import pytest

from mercer.solvers import Floor, Goal, Solver


def test_the_floor_is_the_larger_of_its_two_levels():
    assert Floor().at(5.0) == 0.0
    assert Floor(1e-3, 0.0).at(5.0) == 5e-3
    assert Floor(1e-3, 0.1).at(5.0) == 0.1
    assert Floor(1e-3, 0.1).at(1e3) == 1.0
    assert Floor(1e-3).at(-1.0) == 0.0


def test_a_goal_has_sound_defaults():
    goal = Goal(3)
    assert (goal.components, goal.tol, goal.trace, goal.error, goal.seed) == (
        3,
        1e-6,
        None,
        0,
        0,
    )
    assert goal.floor == Floor()


def test_a_solver_must_solve():
    with pytest.raises(TypeError, match="abstract"):
        Solver()
