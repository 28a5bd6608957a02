"""scikit-learn's estimator contract for correspondence analysis, on every path it may take."""

import dataclasses

import pytest
from kept import assert_kept, assert_left_out_kept, each_left_out, mixed_names

from mercer import CorrespondenceAnalysis
from mercer.solvers import BlockKrylov, Exact


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
    assert_kept(estimator)


def test_its_tags_say_what_is_taken():
    tags = CorrespondenceAnalysis().__sklearn_tags__().input_tags
    assert (tags.positive_only, tags.sparse, tags.allow_nan) == (True, True, False)


@mixed_names
@each_left_out
def test_checks_left_out_by_check_estimator(name):
    assert_left_out_kept(CorrespondenceAnalysis(), name)
