"""scikit-learn's estimator contract for multiple correspondence analysis; nothing is excused.

The data of the checks are numbers, so there is a word about many levels in most of them. One
check transforms rows that were taken out of the fit, and another compares axes that all have
the same eigenvalue: unseen categories are passive here, and ties are settled by rule.
"""

import pytest
from kept import assert_kept, assert_left_out_kept, each_left_out, mixed_names

import mercer

MCA = mercer.MultipleCorrespondenceAnalysis
SLOW = [
    MCA(1, unseen="passive", table="burt"),
    MCA(None, unseen="passive", missing="level"),
    MCA(1, unseen="passive", table="joint"),
    MCA(1, unseen="passive", missing="fill"),
]
ESTIMATORS = [
    MCA(unseen="passive"),
    MCA(1, unseen="passive", correction="greenacre", missing="passive"),
    *(pytest.param(model, marks=pytest.mark.slow) for model in SLOW),
]
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
@each_estimator
def test_check_estimator(estimator):
    assert_kept(estimator)


@mixed_names
@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
@each_estimator
@each_left_out
def test_checks_left_out_by_check_estimator(estimator, name):
    assert_left_out_kept(estimator, name)


def test_tags_say_what_is_taken():
    tags = MCA().__sklearn_tags__().input_tags
    assert (tags.categorical, tags.string, tags.sparse, tags.allow_nan) == (
        True,
        True,
        False,
        False,
    )
    tags = MCA(missing="level").__sklearn_tags__().input_tags
    assert tags.allow_nan
