"""scikit-learn's contract of probabilistic PCA; nothing is excused."""

import re

import pytest
from sklearn.utils import estimator_checks

import mercer

ESTIMATORS = [mercer.ProbabilisticPCA(1), mercer.ProbabilisticPCA(missing="ppca")]
LEFT_OUT = [
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_dataframe_column_names_consistency",
    "check_param_validation",
]
each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


@each
def test_check_estimator(estimator):
    done = estimator_checks.check_estimator(estimator, on_skip=None, on_fail=None)
    bad = {r["check_name"]: repr(r["exception"]) for r in done if r["status"] == "failed"}
    assert not bad
    skipped = {r["check_name"] for r in done if r["status"] == "skipped"}
    assert {name for name in skipped if not re.search("array_api", name)} == set()


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@each
@pytest.mark.parametrize("name", LEFT_OUT)
def test_checks_left_out_by_check_estimator(estimator, name):
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"this scikit-learn has no {name}")
    check(type(estimator).__name__, estimator)
