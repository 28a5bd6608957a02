"""scikit-learn's estimator contract for unfolding; nothing is excused.

The rows of the checks are clouds in all directions: they fall into pieces or do not lie flat,
and the estimator says so.
"""

import pytest
from kept import assert_kept, assert_left_out_kept, each_left_out, mixed_names

import mercer

pytestmark = [
    pytest.mark.filterwarnings("ignore:only the largest piece"),
    pytest.mark.filterwarnings("ignore:the rows do not lie flat"),
]

ESTIMATORS = [
    mercer.MaximumVarianceUnfolding(neighbours=4, components="place"),
    mercer.MaximumVarianceUnfolding(1, neighbours=4, components="place", landmarks=12),
]
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=["all rows", "landmarks"])


@each_estimator
def test_check_estimator(estimator):
    assert_kept(estimator)


@mixed_names
@each_left_out
def test_checks_left_out_by_check_estimator(name):
    assert_left_out_kept(ESTIMATORS[0], name)
