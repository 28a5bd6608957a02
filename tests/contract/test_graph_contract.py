"""scikit-learn's estimator contract for the methods on graphs; nothing is excused.

Many checks draw clusters far apart, whose graph of few neighbours falls into pieces: that is
refused unless the caller says what to do. Here neighbours are many, or pieces embedded each.
"""

import pytest
from kept import assert_kept, assert_left_out_kept, each_left_out, mixed_names

import mercer

EIGENMAPS = [
    {"neighbours": 90, "weights": "heat", "self_loops": False},
    {"n_components": 1, "components": "each"},
]
DIFFUSION = [{}, {"n_components": 1, "neighbours": 90, "alpha": 0.5, "t": 2}]
ESTIMATORS = [
    *(mercer.LaplacianEigenmaps(**options) for options in EIGENMAPS),
    *(mercer.DiffusionMaps(**options) for options in DIFFUSION),
]
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


@each_estimator
def test_check_estimator(estimator):
    assert_kept(estimator)


@mixed_names
@each_estimator
@each_left_out
def test_checks_left_out_by_check_estimator(estimator, name):
    assert_left_out_kept(estimator, name)
