import pytest

from mercer.arrays import Apply, ConstantNode, Join, Measure

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
