"""scikit-learn's contract of a classifier that transforms; nothing is excused."""

import dataclasses
import re

import pytest
from sklearn.utils import estimator_checks

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
LEFT_OUT = [
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_get_feature_names_out_error",
    "check_dataframe_column_names_consistency",
    "check_param_validation",
    "check_inplace_ensure_writeable",
]
# Some checks have more columns than rows, or columns that are combinations of others.
pytestmark = [
    pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning"),
    pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning"),
    pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning"),
]
each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: repr(e)[:70])


@each
def test_check_estimator(estimator):
    done = estimator_checks.check_estimator(estimator, on_skip=None, on_fail=None)
    bad = {r["check_name"]: repr(r["exception"]) for r in done if r["status"] == "failed"}
    assert not bad
    skipped = {r["check_name"] for r in done if r["status"] == "skipped"}
    assert {name for name in skipped if not re.search("array_api", name)} == set()
    assert sum(r["status"] == "passed" for r in done) >= 50


@each
@pytest.mark.parametrize("name", LEFT_OUT)
def test_checks_left_out_by_check_estimator(estimator, name):
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"this scikit-learn has no {name}")
    check(type(estimator).__name__, estimator)


def test_it_says_that_it_is_a_classifier():
    tags = mercer.LinearDiscriminantAnalysis().__sklearn_tags__()
    assert tags.estimator_type == "classifier"
    assert tags.target_tags.required
    assert tags.transformer_tags is not None
