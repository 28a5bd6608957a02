"""scikit-learn's estimator contract for mixed tables; nothing is excused."""

import re

import pytest
from sklearn.utils import estimator_checks

import mercer

ESTIMATORS = [
    mercer.FAMD(),
    mercer.FAMD(n_components=None, unseen="passive"),
    mercer.FAMD(1, missing="fill"),
    mercer.MFA(),
    mercer.MFA(n_components=None, standardize=False),
]
LEFT_OUT = [  # by check_estimator
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


def test_tags_say_what_is_taken():
    tags = mercer.FAMD().__sklearn_tags__().input_tags
    assert (tags.sparse, tags.categorical, tags.string, tags.allow_nan) == (
        False,
        True,
        True,
        False,
    )
    assert mercer.FAMD(missing="fill").__sklearn_tags__().input_tags.allow_nan
