"""scikit-learn's estimator contract, asked in one way of every estimator."""

import pytest
import sklearn
from sklearn.utils import estimator_checks

LEFT_OUT = (  # by check_estimator itself
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
)
each_left_out = pytest.mark.parametrize("name", LEFT_OUT)
# The checks mix arrays and frames, and scikit-learn says so.
mixed_names = pytest.mark.filterwarnings(
    "ignore:X (has|does not have valid) feature names:UserWarning"
)


def assert_kept(estimator, least=40):
    """Assert that no check fails, none is skipped but those of arrays, and many are made."""
    done = estimator_checks.check_estimator(estimator, on_skip=None, on_fail=None)
    bad = {r["check_name"]: repr(r["exception"]) for r in done if r["status"] == "failed"}
    # The check itself of scikit-learn 1.6 subtracts floats from whole numbers in place.
    if "UFuncTypeError" in bad.get("check_positive_only_tag_during_fit", ""):
        assert sklearn.__version__.startswith("1.6")
        del bad["check_positive_only_tag_during_fit"]
    assert not bad, "\n".join(map(str, bad.items()))
    skipped = {r["check_name"] for r in done if r["status"] == "skipped"}
    assert {name for name in skipped if "array_api" not in name} == set()
    assert sum(r["status"] == "passed" for r in done) >= least


def assert_left_out_kept(estimator, name):
    """Assert that a check that check_estimator does not make by itself is passed."""
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"this scikit-learn has no {name}")
    check(type(estimator).__name__, estimator)
