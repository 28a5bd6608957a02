"""Every class of mercer.dropin has scikit-learn's face, and is mercer's underneath."""

import inspect
import json
import subprocess
import sys

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.kernel_approximation

import mercer
from mercer import dropin

X = np.abs(np.random.default_rng(0).normal(size=(60, 12)))
COMMON = ("__init__", "fit", "fit_transform", "transform", "get_feature_names_out")
# class: the class of scikit-learn, that of mercer, and more methods that are the same
FACES = {
    "PCA": (
        sklearn.decomposition.PCA,
        mercer.PCA,
        ("get_covariance", "get_precision", "inverse_transform", "score", "score_samples"),
    ),
    "KernelPCA": (
        sklearn.decomposition.KernelPCA,
        mercer.KernelPCA,
        ("inverse_transform", "set_output"),
    ),
    "IncrementalPCA": (
        sklearn.decomposition.IncrementalPCA,
        mercer.PCA,
        ("partial_fit", "inverse_transform"),
    ),
    "TruncatedSVD": (sklearn.decomposition.TruncatedSVD, object, ("inverse_transform",)),
    "Nystroem": (sklearn.kernel_approximation.Nystroem, object, ()),
}
METHODS = [(name, method) for name, face in FACES.items() for method in (*COMMON, *face[2])]
each_face = pytest.mark.parametrize("name", FACES)


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_signatures_are_scikit_learns(name, method):
    def arguments(kind):
        found = inspect.signature(getattr(kind, method)).parameters.values()
        named = [one for one in found if one.kind is not one.VAR_KEYWORD]  # of which are none
        return [(one.name, one.kind, one.default) for one in named]

    assert arguments(getattr(dropin, name)) == arguments(FACES[name][0])


@each_face
def test_every_name_of_scikit_learn_is_there(name):
    peer, base, _ = FACES[name]
    ours = getattr(dropin, name)
    assert issubclass(ours, base)
    assert {name for name in dir(peer) if not name.startswith("_")} <= set(dir(ours))
    fitted = ours(n_components=2).fit(X)
    theirs = {name for name in vars(peer(n_components=2).fit(X)) if name.endswith("_")}
    assert theirs <= set(dir(fitted))


def test_no_class_of_scikit_learn_is_imported():
    code = (
        "import json, sys, numpy as np; from mercer import dropin;"
        "X = np.random.default_rng(0).normal(size=(20, 4));"
        "dropin.KernelPCA(2, kernel='rbf').fit_transform(X);"
        "[getattr(dropin, name)(n_components=2).fit_transform(X) for name in sys.argv[1:]];"
        "odd = ('decomposition', 'gaussian_process', 'kernel_approximation');"
        "print(json.dumps([n for n in sys.modules if any(word in n for word in odd)]))"
    )
    command = [sys.executable, "-c", code, *FACES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == []
