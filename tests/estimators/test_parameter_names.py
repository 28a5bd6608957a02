"""Parameters that a class does not have: what takes their place, and where they still are."""

import inspect
import pickle
import sys

import pytest
from sklearn import decomposition, discriminant_analysis, kernel_approximation, manifold
from sklearn.base import clone
from tests.claims import refused

import mercer
from mercer import PCA, KernelPCA, dropin
from mercer.errors import InputError
from mercer.methods import METHODS

PEERS = {  # ours: scikit-learn's, and whether a face has its parameters
    "PCA": (decomposition.PCA, True),
    "RobustPCA": (decomposition.PCA, False),
    "ProbabilisticPCA": (decomposition.PCA, False),
    "KernelPCA": (decomposition.KernelPCA, True),
    "TopicVectors": (decomposition.TruncatedSVD, True),
    "LandmarkFeatures": (kernel_approximation.Nystroem, True),
    "RandomFeatures": (kernel_approximation.RBFSampler, False),
    "FactorAnalysis": (decomposition.FactorAnalysis, False),
    "LinearDiscriminantAnalysis": (discriminant_analysis.LinearDiscriminantAnalysis, False),
    "Isomap": (manifold.Isomap, False),
    "LocallyLinearEmbedding": (manifold.LocallyLinearEmbedding, False),
    "LaplacianEigenmaps": (manifold.SpectralEmbedding, False),
    "ClassicalMDS": (manifold.MDS, False),
}


@pytest.mark.parametrize("ours", PEERS)
def test_every_parameter_of_scikit_learn_is_told_what_does_it_here(ours):
    kind, (peer, face) = METHODS[ours].load(), PEERS[ours]
    own = inspect.signature(kind).parameters
    for name in set(inspect.signature(peer).parameters) - set(own):
        with refused(InputError, match=f"{ours} has no parameter '{name}'") as caught:
            kind(**{name: 3})
        assert isinstance(caught.value, TypeError)
        assert caught.value.got == f"{name}=3"
        fix = caught.value.fix
        assert not fix.startswith("there are")
        assert not fix.startswith("did you mean")
        assert ("mercer.dropin." in fix) == face
        with refused(ValueError) as again:
            kind().set_params(**{name: 3})
        assert str(again.value) == str(caught.value)


@pytest.mark.parametrize(
    ("kind", "given", "fix"),
    [
        (
            PCA,
            {"svd_solver": "full"},
            "the plan chooses the path; mercer.dropin.PCA has svd_sol",
        ),
        (KernelPCA, {"gamma": 0.5}, "kernel=RBF.from_gamma(0.5), of mercer.kernels"),
        (mercer.Isomap, {"n_neighbors": 7}, "neighbours=7"),
        (PCA, {"scale": True}, "standardize=True"),
        (PCA, {"standardise": True}, "did you mean 'standardize'?"),
        (PCA, {"N_Components": 2}, "did you mean 'n_components'?"),
        (PCA, {"colour": 1}, "there are n_components, standardize"),
        (dropin.PCA, {"memory": "1GB"}, "mercer.PCA has memory"),
        (dropin.Nystroem, {"n_landmarks": 9}, "mercer.LandmarkFeatures has n_landmarks"),
        (dropin.KernelPCA, {"gama": 1}, "did you mean 'gamma'?"),
    ],
)
def test_what_takes_its_place(kind, given, fix):
    with refused(InputError) as caught:
        kind(**given)
    assert fix in caught.value.fix


def test_options_that_are_nearly_right():
    for model in (PCA(missing="EM"), mercer.LocallyLinearEmbedding(method="hesian")):
        with refused(InputError) as caught:
            model.fit([[1.0, 2.0], [3.0, 5.0], [0.0, 1.0]])
        assert caught.value.fix.startswith("did you mean ")


def test_places_and_several_names():
    with refused(InputError, match="takes n_components by place") as caught:
        PCA(2, True)
    assert isinstance(caught.value, TypeError)
    assert "standardize=..." in caught.value.fix
    with refused(InputError, match="'gamma' or 'degree' or 'coef0' and 2 more") as caught:
        KernelPCA(gamma=1, degree=2, coef0=3, alpha=4, n_jobs=5)
    assert "mercer.dropin.KernelPCA has gamma, degree, coef0" in caught.value.fix


def test_parameters_are_set_together_or_not_at_all():
    model = KernelPCA(2)
    for odd in ({"gamma": 1}, {"kernel__lengthscal": 2}):
        with refused(InputError):
            model.set_params(n_components=5, **odd)
        assert model.n_components == 2
    assert model.set_params(n_components=5, kernel__lengthscale=2.0) is model
    assert (model.n_components, model.kernel.lengthscale) == (5, 2.0)


def test_signatures_copies_and_calls_are_those_of_the_class():
    class Own(PCA):
        pass

    for kind in (PCA, Own, dropin.PCA, mercer.RandomFeatures):
        seen = inspect.signature(kind)
        assert ["self", *seen.parameters] == list(inspect.signature(kind.__init__).parameters)
        assert list(kind().get_params(deep=False)) == sorted(seen.parameters)
    for twin in (clone(PCA(3)), pickle.loads(pickle.dumps(PCA(3)))):
        assert (type(twin), twin.n_components) == (PCA, 3)
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(frame) if event == "call" else None)
    PCA(3)
    sys.setprofile(None)
    assert len(calls) <= 3  # the class, its own parameters, those of all methods


def test_an_error_from_within_stays_what_it_is():
    class Odd(PCA):
        def __init__(self, n_components=None):
            raise TypeError("mine")

    with pytest.raises(TypeError, match=r"^mine$"):
        Odd(3)
