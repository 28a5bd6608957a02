import numpy as np
from written_mca import tables

import mercer
from mercer.estimators.categories._adjusted_inertias import joint_pairs
from mercer.estimators.categories._category_codes import coded
from mercer.estimators.categories._indicator_table import Categories, active_of
from mercer.estimators.categories._mca_fitted import fitted_state


def test_axes_without_inertia_have_no_coordinates(rng):
    X = tables(rng, 50, (2, 3))
    made = Categories(active_of(coded(X), None, None))
    state = fitted_state(joint_pairs(made.square, 5, 1e-6, 0), made, "indicator")
    assert np.count_nonzero(state["eigenvalues_"]) == 3
    assert not state["row_coordinates_"][:, 3:].any()
    assert not state["column_standard_"][:, 3:].any()


def test_what_is_held_of_rows_is_three_arrays(rng):
    n = 500
    found = mercer.MultipleCorrespondenceAnalysis(2).fit(tables(rng, n))
    held = [
        name for name, v in vars(found).items() if isinstance(v, np.ndarray) and len(v) == n
    ]
    assert sorted(held) == ["_distances", "row_coordinates_", "row_masses_"]


def test_zero_weights_give_no_contribution_and_still_a_place(rng):
    X = tables(rng, 80)
    w = np.ones(80)
    w[7] = 0
    found = mercer.MultipleCorrespondenceAnalysis(2).fit(X, sample_weight=w)
    assert not found.row_contributions_[7].any()
    assert found.row_inertias_[7] == 0
    assert 0 < found.row_cos2_[7].sum() <= 1
