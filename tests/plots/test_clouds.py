import numpy as np
import pytest

from mercer.plots import Line, Points
from mercer.plots.charts._clouds import clouds

Z = np.random.default_rng(0).normal(size=(60, 2))


def test_ellipses_are_of_all_rows_though_few_are_drawn():
    rng = np.random.default_rng(1)
    many = rng.normal(size=(45_000, 2)) * [3.0, 1.0]
    found = clouds(many, None, None, (0, 1), 0.95)
    assert found.thinned == "15,000 of 45,000 rows drawn"
    (outline,) = (m for m in found.marks if isinstance(m, Line))
    assert max(outline.x) == pytest.approx(3 * np.sqrt(-2 * np.log(0.05)), rel=0.02)


def test_a_group_of_two_rows_has_points_and_no_ellipse():
    found = clouds(Z, ["a"] * 58 + ["b"] * 2, None, (0, 1), 0.95)
    assert len([m for m in found.marks if isinstance(m, Points)]) == 2
    lines = [m for m in found.marks if isinstance(m, Line)]
    assert [line.dashed for line in lines] == [False, True]  # of the rows, and of their mean
