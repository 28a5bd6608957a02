"""scikit-learn's estimator contract for correspondence analysis, on every path it may take."""

import dataclasses
import re

import pytest
from sklearn.utils import estimator_checks

from mercer import CorrespondenceAnalysis
from mercer.solvers import BlockKrylov, Exact

LEFT_OUT = [  # by check_estimator itself
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


def instead(made, name, solver):
    """Return the plan with another path before the chosen one."""
    path = dataclasses.replace(made.chosen, name=name, solver=solver, then=made.chosen)
    return dataclasses.replace(made, chosen=path)


class SvdCA(CorrespondenceAnalysis):
    def _allowed(self):
        return ("svd",)


class GramCA(CorrespondenceAnalysis):
    def _allowed(self):
        return ("gram",)


class DualCA(CorrespondenceAnalysis):
    def _walk(self, source, made, weights):
        return super()._walk(source, instead(made, "dual", Exact()), weights)


class KrylovCA(CorrespondenceAnalysis):
    def _walk(self, source, made, weights):
        return super()._walk(source, instead(made, "krylov", BlockKrylov(block=3)), weights)


ESTIMATORS = [
    CorrespondenceAnalysis(),
    CorrespondenceAnalysis(None),
    CorrespondenceAnalysis(0.9),
    SvdCA(1),
    GramCA(1),
    DualCA(1),
    KrylovCA(1),
]
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
# The checks make rows at random and take no notice of those without counts.
pytestmark = pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")


@each_estimator
def test_check_estimator(estimator):
    done = estimator_checks.check_estimator(estimator, on_skip=None, on_fail=None)
    bad = {r["check_name"]: repr(r["exception"]) for r in done if r["status"] == "failed"}
    assert not bad
    skipped = {r["check_name"] for r in done if r["status"] == "skipped"}
    assert {name for name in skipped if not re.search("array_api", name)} == set()
    assert sum(r["status"] == "passed" for r in done) >= 40


def test_its_tags_say_what_is_taken():
    tags = CorrespondenceAnalysis().__sklearn_tags__().input_tags
    assert (tags.positive_only, tags.sparse, tags.allow_nan) == (True, True, False)


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@pytest.mark.parametrize("name", LEFT_OUT)
def test_checks_left_out_by_check_estimator(name):
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"this scikit-learn has no {name}")
    check("CorrespondenceAnalysis", CorrespondenceAnalysis())
