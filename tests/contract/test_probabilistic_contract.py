"""scikit-learn's contract of probabilistic PCA; nothing is excused."""

import pytest
from kept import assert_kept, assert_left_out_kept, each_left_out, mixed_names

import mercer

ESTIMATORS = [mercer.ProbabilisticPCA(1), mercer.ProbabilisticPCA(missing="ppca")]
each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


@each
def test_check_estimator(estimator):
    assert_kept(estimator)


@mixed_names
@each
@each_left_out
def test_checks_left_out_by_check_estimator(estimator, name):
    assert_left_out_kept(estimator, name)
