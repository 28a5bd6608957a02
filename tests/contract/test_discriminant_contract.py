"""scikit-learn's contract of a classifier that transforms; nothing is excused."""

import dataclasses

import pytest
from kept import assert_kept, assert_left_out_kept, each_left_out, mixed_names

import mercer


class GramLDA(mercer.LinearDiscriminantAnalysis):
    """Sums of squares first, and the SVD behind them."""

    def _problem(self, source, weights=None):
        problem = super()._problem(source, weights)
        both = problem.rows >= problem.cols
        return dataclasses.replace(problem, allowed=("gram",)) if both else problem


ESTIMATORS = [
    mercer.LinearDiscriminantAnalysis(),
    mercer.KernelDiscriminantAnalysis(),
    pytest.param(
        mercer.LinearDiscriminantAnalysis(1, shrinkage="auto"), marks=pytest.mark.slow
    ),
    pytest.param(GramLDA(shrinkage=0.2), marks=pytest.mark.slow),
]
# Some checks have more columns than rows, or columns that are combinations of others.
pytestmark = [
    pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning"),
    pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning"),
    mixed_names,
]
each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: repr(e)[:70])


@each
def test_check_estimator(estimator):
    assert_kept(estimator, least=50)


@each
@each_left_out
def test_checks_left_out_by_check_estimator(estimator, name):
    assert_left_out_kept(estimator, name)


def test_it_says_that_it_is_a_classifier():
    tags = mercer.LinearDiscriminantAnalysis().__sklearn_tags__()
    assert tags.estimator_type == "classifier"
    assert tags.target_tags.required
    assert tags.transformer_tags is not None
