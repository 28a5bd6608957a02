import numpy as np
from mixed_tables import mixed_frame

from mercer import FAMD
from mercer.estimators.mixed._mixed_fit import leading, masses_of, standard
from mercer.operators import Dense
from mercer.solvers import Exact, Floor, Goal


def test_masses_sum_to_one():
    masses, total = masses_of(None, 4)
    assert (masses.tolist(), total) == ([0.25] * 4, 4.0)
    masses, total = masses_of([3, 0, 1], 3)
    assert (masses.tolist(), total) == ([0.75, 0, 0.25], 4.0)


def test_columns_without_mass_stand_at_zero():
    found = standard(np.ones((3, 1)), np.array([4.0, 0.0, 0.25]))
    assert found[:, 0].tolist() == [0.5, 0.0, 2.0]


def test_pairs_that_rounding_made_are_no_axes():
    matrix = np.diag([3.0, 1.0, 1e-17])
    goal = Goal(3, 1e-6, Floor(1e-14, 0.0), 4.0, 0.0, 0, psd=True)
    spectrum = Exact().solve(Dense(matrix, symmetric=True), goal)
    values, axes, certificate = leading(spectrum, 3)
    np.testing.assert_allclose(values, [3, 1])
    assert axes.shape == (3, 2)
    assert len(certificate.lower) == 2
    assert leading(spectrum, 1)[0].tolist() == [3.0]


def test_the_fit_holds_the_names_that_methods_share():
    model = FAMD(2).fit(mixed_frame())
    assert model.column_names_[:5] == ["a", "b", "c", "d", "size=l"]
    assert model.variables_ == list(mixed_frame().columns)
    assert [c.tolist() for c in model.categories_][1] == ["glad", "sad"]
    assert model.row_names_ is None
    named = mixed_frame().set_index(mixed_frame().index.map(lambda i: f"r{i}"))
    assert FAMD(2).fit(named).row_names_[3] == "r3"
