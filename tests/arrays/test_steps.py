import math

import numpy as np
import pytest

from mercer.arrays import Apply, ConstantNode, Join, Measure, Workspace
from mercer.arrays.programs._scalar_steps import STEPS, apply_steps
from mercer.errors import InputError

NUMBERS = np.array([[0.0, 0.25, 0.5], [1.0, 1.75, 0.125]])
FORMULAS = {
    "affine": ((2.0, -1.0), lambda t: 2 * t - 1),
    "exp": ((), math.exp),
    "exp_near": ((), math.exp),
    "power": ((3.0,), lambda t: t**3),
    "tanh": ((), math.tanh),
    "log1p": ((), math.log1p),
    "squared_sine": ((), lambda t: math.sin(t) ** 2),
    "decay": ((1.0, 1.0, 1 / 3), lambda t: (1 + t + t * t / 3) * math.exp(-t)),
    "arc": (
        (),
        lambda t: (
            (math.sqrt(1 - min(1, t) ** 2) + min(1, t) * (math.pi - math.acos(min(1, t))))
            / math.pi
        ),
    ),
}


def test_every_step_has_a_formula_here():
    assert set(FORMULAS) == set(STEPS)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_steps_are_their_formulas(xp, name, dtype):
    constants, formula = FORMULAS[name]
    truth = [[formula(t) for t in row] for row in NUMBERS.tolist()]
    t = xp.asarray(NUMBERS.astype(dtype)) * 1.0  # a fresh array, as a tile is
    made = apply_steps([(name, constants)], t, Workspace())
    found = xp.numpy(made)
    assert found.dtype == dtype
    assert made is t or xp.name not in ("numpy", "read-only")
    np.testing.assert_allclose(found, truth, rtol=8 * np.finfo(dtype).eps, atol=4e-16)


@pytest.mark.parametrize("exponent", [-2, -1, 0.5, 1.5, 2, 3, 5, 16, 17])
def test_powers_on_every_library(xp, exponent):
    t = xp.asarray(NUMBERS + 0.5) * 1.0
    found = xp.numpy(apply_steps([("power", (float(exponent),))], t, Workspace()))
    np.testing.assert_allclose(found, (NUMBERS + 0.5) ** exponent, rtol=1e-14)


def test_powers_of_negative_numbers_are_whole_or_refused(xp):
    t = xp.asarray(-NUMBERS) * 1.0
    with pytest.raises(InputError, match=r"no power that is not whole\n  got: -1.75"):
        apply_steps([("power", (1.5,))], t, Workspace())
    found = xp.numpy(apply_steps([("power", (3.0,))], xp.asarray(-NUMBERS) * 1.0, Workspace()))
    np.testing.assert_allclose(found, -(NUMBERS**3))


@pytest.mark.parametrize(("dtype", "floor"), [(np.float32, -87), (np.float64, -700)])
def test_exponents_are_clamped(dtype, floor):
    t = np.array([floor - 1, -1e30, -np.inf, 0], dtype=dtype)
    found = apply_steps([("exp", ())], t, Workspace())
    assert found[0] == found[1] == found[2] == np.exp(dtype(floor))
    assert 0 < found[0] < 1e-37
    assert found[3] == 1


def test_decay_at_infinity_is_nothing(xp):
    t = xp.asarray(np.array([np.inf, 1e300])) * 1.0
    found = xp.numpy(apply_steps([("decay", (1.0, 1.0, 1.0))], t, Workspace()))
    assert np.all(np.abs(found) < 1e-290)


def test_steps_follow_each_other(xp, rng):
    t = rng.random((80, 900))
    steps = [("affine", (-2.0, 1.0)), ("exp", ()), ("power", (3.0,))]
    found = apply_steps(steps, xp.asarray(t) * 1.0, Workspace())
    np.testing.assert_allclose(xp.numpy(found), np.exp(3 - 6 * t), rtol=1e-13)


D = Measure("dist", scale=0.5)


def test_a_squared_distance_is_measured_as_such():
    assert Measure("sqdist", scale=0.5) == D**2
    assert Apply("affine", Measure("sqdist", scale=0.5), (4.0, 0.0)) == (2.0 * D) ** 2
    assert D**1 == D
    assert Apply("power", D, (3.0,)) == D**3
    assert Apply("power", 2.0 * D + 1, (2.0,)) == (2.0 * D + 1) ** 2


def test_affine_steps_merge():
    assert Apply("affine", D, (6.0, 0.0)) == 2 * (3 * D + 1) - 2
    assert -1 * -D == D
    assert D + 0 == D
    assert D * 1 == D
    assert (D - 1) + 1 == D
    assert Apply("affine", D, (0.5, 0.0)) == D / 2
    assert 2 * ConstantNode(3.0) + 1 == ConstantNode(7.0)


def test_joins_and_steps():
    dot = Measure("dot")
    assert dot + D == Join("add", dot, D)
    assert dot * D == Join("multiply", dot, D)
    assert dot - D == Join("add", dot, -D)
    for step in ("exp", "tanh", "log1p", "squared_sine"):
        assert getattr(dot, step)() == Apply(step, dot)
    assert dot.decay(1, 2) == Apply("decay", dot, (1, 2))
    assert 3 / dot == Apply("affine", Apply("power", dot, (-1.0,)), (3.0, 0.0))


def test_programs_are_values():
    assert (-0.5 * D**2).exp() == (-0.5 * Measure("dist", scale=0.5) ** 2).exp()
    assert len({D, Measure("dist", scale=0.5), Measure("dist")}) == 2
    with pytest.raises(AttributeError):
        D.kind = "dot"


def test_scales_of_a_measure():
    assert D.number == 0.5
    assert D.multipliers is None
    assert Measure("dot", scale=(1.0, 2.0)).number == 1.0
    assert Measure("dot", scale=(1.0, 2.0)).multipliers == (1.0, 2.0)
    with pytest.raises(AssertionError, match="no measure"):
        Measure("dots")
