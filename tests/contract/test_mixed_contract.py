"""scikit-learn's estimator contract for mixed tables; nothing is excused."""

import pytest
from kept import assert_kept, assert_left_out_kept, each_left_out, mixed_names

import mercer

ESTIMATORS = [
    mercer.FAMD(),
    mercer.FAMD(n_components=None, unseen="passive"),
    mercer.FAMD(1, missing="fill"),
    mercer.MFA(),
    mercer.MFA(n_components=None, standardize=False),
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


def test_tags_say_what_is_taken():
    tags = mercer.FAMD().__sklearn_tags__().input_tags
    assert (tags.sparse, tags.categorical, tags.string, tags.allow_nan) == (
        False,
        True,
        True,
        False,
    )
    assert mercer.FAMD(missing="fill").__sklearn_tags__().input_tags.allow_nan
