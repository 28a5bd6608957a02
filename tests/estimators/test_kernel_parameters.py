"""Kernels as parameters, and what a plan knows of them before anything is fitted."""

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer import KernelPCA, LandmarkFeatures, RandomFeatures
from mercer.errors import InputError, NotSupportedError
from mercer.kernels import RBF, Linear

DEFAULT = RBF()


@pytest.mark.parametrize("method", [KernelPCA, RandomFeatures])
def test_parts_of_the_kernel_are_set_by_replacing_it(method):
    model = method(kernel=DEFAULT)
    assert model.set_params(kernel__lengthscale=2.0) is model
    assert model.kernel == RBF(2.0)
    assert DEFAULT.lengthscale == "median"
    model.set_params(kernel="matern", kernel__nu=2.5, random_state=3)
    assert (model.kernel.nu, model.random_state) == (2.5, 3)
    with pytest.raises(InputError, match="no parameter"):
        model.set_params(kernel__length=1.0)
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(colour=1)


def test_a_kernel_is_replaced_and_never_changed():
    shared = RBF(1.0)
    one, two = LandmarkFeatures(kernel=shared), LandmarkFeatures(kernel=shared)
    one.set_params(kernel__lengthscale=3.0, n_landmarks=7)
    assert one.kernel == RBF(3.0)
    assert one.n_landmarks == 7
    assert two.kernel == shared == RBF(1.0)
    assert clone(one).kernel == RBF(3.0)


def test_a_written_kernel_takes_parameters_too():
    model = LandmarkFeatures(kernel="rbf + linear").set_params(kernel__left__lengthscale=2.0)
    assert model.kernel == RBF(2.0) + Linear()
    with pytest.raises(InputError, match="lengthscale"):
        model.set_params(kernel__left__lenghtscale=2.0)


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
    assert not problem(kernel="poly(degree=2)").kernel.finite
    assert not problem(kernel="linear + poly(degree=2)").kernel.finite


@pytest.mark.parametrize(
    ("kernel", "indefinite", "rows", "whole"),
    [
        ("rbf", "flip", 3001, True),
        ("rbf", "shift", 3001, True),
        ("sigmoid", "clip", 3000, True),
        ("sigmoid", "clip", 3001, False),
        ("sigmoid", "raise", 100, True),
        ("rbf", "raise", 100, False),
        ("negativedistance", "clip", 100, False),
    ],
)
def test_who_needs_all_pairs(kernel, indefinite, rows, whole):
    model = KernelPCA(2, kernel=kernel, indefinite=indefinite)
    assert mercer.plan(model, np.resize(X, (rows, 3))).problem.kernel.whole is whole


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
