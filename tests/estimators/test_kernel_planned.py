import numpy as np
import pytest

import mercer
from mercer import KernelPCA
from mercer.errors import InputError, NotSupportedError

X = np.random.default_rng(0).standard_normal((400, 3))


def problem(**options):
    return mercer.plan(KernelPCA(2, **options), X).problem


def test_what_the_planner_knows_of_a_kernel():
    rbf = problem(kernel="rbf").kernel
    assert (rbf.features, rbf.finite, rbf.whole, rbf.centred) == (None, False, False, True)
    linear = problem(kernel="linear").kernel
    assert (linear.features, linear.finite) == (3, True)
    assert problem(kernel="sigmoid", indefinite="flip").kernel.whole
    assert not problem(kernel="sigmoid").kernel.centred
    assert rbf.landmarks is None


@pytest.mark.parametrize(("given", "count"), [(50, 50), (10**6, 400), (X[:7], 7)], ids=str)
def test_landmarks_are_counted_before_they_are_chosen(given, count):
    made = mercer.plan(KernelPCA(2, landmarks=given), X)
    assert made.problem.kernel.landmarks == count
    assert made.chosen.name == "landmarks"


def test_landmarks_that_cannot_be():
    with pytest.raises(NotSupportedError, match="positive definite"):
        problem(kernel="sigmoid", landmarks=5)
    with pytest.raises(InputError, match="features"):
        problem(landmarks=X[:5, :2])
    bad = X[:5].copy()
    bad[3, 1] = np.nan
    with pytest.raises(InputError):
        problem(landmarks=bad)


def test_a_refined_model_follows_the_passes_it_was_allowed():
    model = KernelPCA(2, kernel="rbf(lengthscale=2)", landmarks=100).fit(X)
    model.refine(X, passes=2)
    assert model.plan_.chosen.name in ("lapack", "tiles")
    if model.plan_.chosen.name == "tiles":
        assert model.plan_.chosen.passes == model.plan_.chosen.solver.max_passes == 2
        assert model.plan_.chosen.then is None
