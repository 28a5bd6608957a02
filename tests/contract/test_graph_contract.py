"""scikit-learn's estimator contract for the methods on graphs; nothing is excused.

Many checks draw clusters far apart, whose graph of few neighbours falls into pieces: that is
refused unless the caller says what to do. Here neighbours are many, or pieces embedded each.
"""

import re

import pytest
from sklearn.utils import estimator_checks

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
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


@each_estimator
def test_check_estimator(estimator):
    done = estimator_checks.check_estimator(estimator, on_skip=None, on_fail=None)
    bad = {r["check_name"]: repr(r["exception"]) for r in done if r["status"] == "failed"}
    assert not bad
    skipped = {r["check_name"] for r in done if r["status"] == "skipped"}
    assert {name for name in skipped if not re.search("array_api", name)} == set()
    assert sum(r["status"] == "passed" for r in done) >= 40


# The checks mix arrays and frames, and scikit-learn says so.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@each_estimator
@pytest.mark.parametrize("name", LEFT_OUT)
def test_checks_left_out_by_check_estimator(estimator, name):
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"this scikit-learn has no {name}")
    check(type(estimator).__name__, estimator)
