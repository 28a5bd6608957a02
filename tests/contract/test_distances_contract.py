"""scikit-learn's estimator contract for embeddings by distances and by neighbourhoods.

The rows of the checks are small clouds that fall apart with few neighbours: the largest piece
is then embedded and the others placed by it, which warns.
"""

import pytest
from kept import assert_kept, assert_left_out_kept, each_left_out, mixed_names

import mercer

pytestmark = pytest.mark.filterwarnings("ignore:only the largest piece")

ESTIMATORS = [
    mercer.ClassicalMDS(),
    mercer.ClassicalMDS(1, metric="cityblock", indefinite="flip"),
    mercer.ClassicalMDS(1, metric="precomputed"),
    mercer.Isomap(neighbours=9, components="place"),
    mercer.Isomap(1, neighbours=9, components="place", landmarks=9, sampler="random"),
    *(
        mercer.LocallyLinearEmbedding(1, neighbours=6, method=method, components="place")
        for method in ("standard", "modified", "hessian", "ltsa")
    ),
]
# The others differ from these in their numbers, not in what they take and return.
FACES = [ESTIMATORS[0], ESTIMATORS[2], ESTIMATORS[3], ESTIMATORS[5]]
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


@each_estimator
def test_check_estimator(estimator):
    assert_kept(estimator)


@mixed_names
@pytest.mark.parametrize("estimator", FACES, ids=repr)
@each_left_out
def test_checks_left_out_by_check_estimator(estimator, name):
    assert_left_out_kept(estimator, name)
