"""scikit-learn's estimator contract for unfolding; nothing is excused.

The rows of the checks are clouds in all directions: they fall into pieces or do not lie flat,
and the estimator says so.
"""

import pytest
from sklearn.utils import estimator_checks

import mercer

pytestmark = [
    pytest.mark.filterwarnings("ignore:only the largest piece"),
    pytest.mark.filterwarnings("ignore:the rows do not lie flat"),
]

ESTIMATORS = [
    mercer.MaximumVarianceUnfolding(neighbours=9, components="place"),
    mercer.MaximumVarianceUnfolding(1, neighbours=4, components="place", landmarks=12),
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
]

each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=["all rows", "landmarks"])


@each_estimator
def test_check_estimator(estimator):
    done = estimator_checks.check_estimator(estimator, on_skip=None, on_fail=None)
    bad = {r["check_name"]: repr(r["exception"]) for r in done if r["status"] == "failed"}
    assert not bad
    skipped = {r["check_name"] for r in done if r["status"] == "skipped"}
    assert {name for name in skipped if "array_api" not in name} == set()
    assert sum(r["status"] == "passed" for r in done) >= 40


# The checks mix arrays and frames, and scikit-learn says so.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@pytest.mark.parametrize("name", LEFT_OUT)
def test_checks_left_out_by_check_estimator(name):
    estimator = ESTIMATORS[0]
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"this scikit-learn has no {name}")
    check(type(estimator).__name__, estimator)
