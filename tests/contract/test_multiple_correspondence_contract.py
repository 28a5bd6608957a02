"""scikit-learn's estimator contract for multiple correspondence analysis; nothing is excused.

The data of the checks are numbers, so there is a word about many levels in most of them. One
check transforms rows that were taken out of the fit, and another compares axes that all have
the same eigenvalue: unseen categories are passive here, and ties are settled by rule.
"""

import re

import pytest
import sklearn
from sklearn.utils import estimator_checks

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


@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
@each_estimator
def test_check_estimator(estimator):
    done = estimator_checks.check_estimator(estimator, on_skip=None, on_fail=None)
    bad = {r["check_name"]: repr(r["exception"]) for r in done if r["status"] == "failed"}
    # The check itself of scikit-learn 1.6 subtracts floats from whole numbers in place.
    if "UFuncTypeError" in bad.get("check_positive_only_tag_during_fit", ""):
        assert sklearn.__version__.startswith("1.6")
        del bad["check_positive_only_tag_during_fit"]
    assert not bad, "\n".join(map(str, bad.items()))
    skipped = {r["check_name"] for r in done if r["status"] == "skipped"}
    assert {name for name in skipped if not re.search("array_api", name)} == set()
    assert sum(r["status"] == "passed" for r in done) >= 40


# The checks mix arrays and frames, and scikit-learn says so.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
@each_estimator
@pytest.mark.parametrize("name", LEFT_OUT)
def test_checks_left_out_by_check_estimator(estimator, name):
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"this scikit-learn has no {name}")
    check(type(estimator).__name__, estimator)


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
