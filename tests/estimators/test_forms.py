import dataclasses

import numpy as np
import pytest

from mercer import PCA
from mercer.errors import InputError
from mercer.estimators.export._model_types import FORMS, _refuse_attribute
from mercer.kernels import FEATURES, KERNELS, MAPS, RBF, Kernel
from mercer.operators import Landmarks, LandmarkSums, RunningMoments, RunningSvd

X = np.random.default_rng(0).normal(size=(5, 2))


def subclasses(kind):
    return {kind} | {s for sub in kind.__subclasses__() for s in subclasses(sub)}


def test_every_kernel_and_feature_map_of_the_house_has_a_form():
    ours = {
        kind
        for kind in subclasses(Kernel)
        if kind.__module__.startswith("mercer.kernels.") and not kind.__abstractmethods__
    }
    assert ours == set(KERNELS)
    assert {form.kind for form in FORMS.values()} > {*KERNELS, *FEATURES, *MAPS}


def test_names_in_files_are_plain_and_stand_for_one_type_each():
    assert len({form.kind for form in FORMS.values()}) == len(FORMS)
    assert all(name.isidentifier() and not name.startswith("_") for name in FORMS)


def test_what_a_file_may_hold_is_data():
    for name, form in FORMS.items():
        plain = dataclasses.is_dataclass(form.kind) and form.kind.__dataclass_params__.frozen
        models = ("KernelPCA", "LinearDiscriminantAnalysis")  # inside another model
        others = (*models, "Engine", "FeaturesOf", "Generator", "LandmarkSums", "Projection")
        sums = ("RunningMoments", "RunningSvd")
        assert plain or name in (*others, *sums, "RandomState", "Searcher"), name


@pytest.mark.parametrize(
    "made",
    [RunningMoments(), RunningSvd(3), LandmarkSums(Landmarks.of(RBF(1.0), X))],
    ids=["moments", "directions", "landmarks"],
)
def test_sums_are_taken_apart_to_the_last_attribute(made):
    """An attribute that is added to a class must be added to its form."""
    assert set(FORMS[type(made).__name__].apart(made)) == set(vars(made))


@pytest.mark.parametrize(
    "name", ["transform", "__dict__", "x", "_n_features_out", "__x", "fit"]
)
def test_attributes_that_no_fit_makes_are_refused(name):
    with pytest.raises(InputError, match="cannot have"):
        _refuse_attribute(PCA, name)


@pytest.mark.parametrize("name", ["mean_", "_centring", "n_features_in_", "_x_"])
def test_attributes_of_a_fit_are_taken(name):
    _refuse_attribute(PCA, name)


@pytest.mark.parametrize("bits", ["PCG64", "MT19937", "Philox", "SFC64", "PCG64DXSM"])
def test_generators_go_on_where_they_were(bits):
    one = np.random.Generator(getattr(np.random, bits)(3))
    one.normal(size=3)
    form = FORMS["Generator"]
    two = form.together(form.apart(one))
    assert np.array_equal(one.integers(0, 9, 20), two.integers(0, 9, 20))


def test_a_random_state_goes_on_with_half_a_pair_of_normals():
    one = np.random.RandomState(3)
    one.normal(size=3)
    form = FORMS["RandomState"]
    two = form.together(form.apart(one))
    assert np.array_equal(one.normal(size=5), two.normal(size=5))


def test_methods_other_than_feature_maps_are_refused():
    with pytest.raises(InputError, match="methods are code"):
        FORMS["FeaturesOf"].apart(PCA().fit)
    with pytest.raises(TypeError, match="no features"):
        FORMS["FeaturesOf"].together({"features": 7})
