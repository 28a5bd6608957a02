"""scikit-learn's estimator contract, on every path and with every option; nothing is excused.

`check_estimator` leaves out the checks of `set_output`, feature names and parameters; they
are called here by name. Data this small never takes the dual or the Krylov path by itself,
so these are put in the place of the path that was chosen.
"""

import dataclasses

import numpy as np
import pytest
from kept import assert_kept, assert_left_out_kept, each_left_out, mixed_names

import mercer
import mercer.dropin
from mercer.solvers import BlockKrylov, Exact, Stored


class SvdPCA(mercer.PCA):
    def _allowed(self):
        return ("svd",)


class GramPCA(mercer.PCA):
    def _allowed(self):
        return ("gram",)


class _Dual:
    """The dual path first, and behind it what would have been taken."""

    def _walk(self, source, made, weights):
        return super()._walk(source, instead(made, "dual", Exact()), weights)


class _Krylov:
    """The iterative path first, and behind it what would have been taken."""

    def _walk(self, source, made, weights):
        return super()._walk(source, instead(made, "krylov", BlockKrylov(block=3)), weights)


class DualPCA(_Dual, mercer.PCA):
    pass


class KrylovPCA(_Krylov, mercer.PCA):
    pass


class DropinDualPCA(_Dual, mercer.dropin.PCA):
    pass


class DropinKrylovPCA(_Krylov, mercer.dropin.PCA):
    pass


class StreamedPCA(mercer.PCA):
    """Fitted by one batch and looked at: what `fit` promises is promised of `partial_fit`."""

    def fit(self, X, y=None, *, sample_weight=None):
        self._stream = None
        self.partial_fit(X, y, sample_weight=sample_weight)
        assert self.components_ is not None
        return self


class SketchedPCA(StreamedPCA):
    """Keeps leading directions only, as streams of many columns do."""

    def _budget(self):
        return 0


class StoredKernelPCA(mercer.KernelPCA):
    """The iteration on the stored matrix first, and behind it what would have been taken."""

    def _walk(self, source, made, weights):
        path = instead(made, "stored", Stored(BlockKrylov(block=3)))
        return super()._walk(source, path, weights)


class StreamedKernelPCA(mercer.KernelPCA):
    """Fitted by one block: what `fit` promises is promised of `partial_fit`."""

    def fit(self, X, y=None, *, sample_weight=None):
        if sample_weight is not None and not np.asarray(sample_weight).any():
            raise ValueError("all weights are zero")  # a stream would wait for more
        self._stream = None
        return self.partial_fit(X, y, sample_weight=sample_weight)


def instead(made, name, solver):
    """Return the plan with another path before the chosen one."""
    path = dataclasses.replace(made.chosen, name=name, solver=solver, then=made.chosen)
    return dataclasses.replace(made, chosen=path)


OPTIONS = [
    {},
    {"n_components": 1},
    {"n_components": 0.9},
    {"standardize": True},
    {"whiten": True},
    {"whiten": "zca"},
    {"n_components": 1, "whiten": "zca", "standardize": True},
]
FEW = [  # an iteration is planned only where few components are asked for
    {"n_components": 1},
    {"n_components": 1, "standardize": True},
    {"n_components": 1, "whiten": True},
    {"n_components": 1, "whiten": "zca"},
]
FACES = [
    {},
    {"n_components": 1},
    {"n_components": 0.9},
    {"whiten": True},
    {"svd_solver": "full"},
    {"svd_solver": "covariance_eigh"},
    {"n_components": 1, "svd_solver": "randomized"},
    {"n_components": 1, "svd_solver": "arpack"},
]
FEW_FACES = [
    {"n_components": 1, "svd_solver": "arpack"},
    {"n_components": 1, "svd_solver": "randomized", "whiten": True},
]
KERNELS = [
    {},
    {"n_components": 1},
    {"n_components": 0.9},
    {"n_components": 1, "standardize": True},
    {"kernel": "linear"},
    {"kernel": "cosine"},
    {"kernel": "poly(degree=2) + 0.5*rbf", "indefinite": "flip"},
    {"kernel": "precomputed", "n_components": 1, "indefinite": "clip"},
    {"n_components": 1, "tol_transform": 0.1},
]
# The data of the checks is noise, of which few landmarks certify little; all of them do.
ON_LANDMARKS = [
    {"landmarks": 20, "tol": 1e9},
    {"n_components": 0.5, "landmarks": "uniform", "standardize": True},
    {"n_components": 1, "landmarks": "kmeans++", "kernel": "negativedistance"},
    {"n_components": 1, "landmarks": "pivoted", "kernel": "linear"},
]
KERNEL_FACES = [
    {},
    {"n_components": 1, "kernel": "rbf"},
    {"kernel": "poly", "eigen_solver": "arpack"},
    {"n_components": 2, "kernel": "cosine", "remove_zero_eig": True},
    {"n_components": 2, "kernel": "rbf", "fit_inverse_transform": True},
    {"n_components": 1, "kernel": "precomputed"},
]
RANDOM = [
    {},
    {"n_features": 7, "kernel": "laplacian"},
    {"n_features": 20, "kernel": "arccosine", "orthogonal": False},
]
LANDMARKS = [
    {"n_landmarks": 5},
    {"n_landmarks": 5, "kernel": "linear", "sampler": "uniform"},
    {"n_landmarks": 3, "kernel": "negativedistance", "sampler": "kmeans++", "tol": 0.1},
    {"kernel": "laplacian + linear", "sampler": [0, 3, 5]},
]
NYSTROEM_FACES = [
    {"n_components": 2},
    {"n_components": 2, "kernel": "cosine", "random_state": 0},
]
STREAMS = [
    {},
    {"n_components": 0.9, "whiten": True},
    {"n_components": 1, "whiten": "zca", "standardize": True},
]
ROBUST = [
    {},
    {"n_components": 0.9, "method": "spherical", "standardize": True, "whiten": True},
]
INCREMENTAL = [{}, {"n_components": 1, "whiten": True}, {"n_components": 2, "batch_size": 7}]
TRUNCATED = [{"n_components": 1}, {"n_components": 1, "algorithm": "arpack"}]
ESTIMATORS = [
    *(kind(**o) for kind in (mercer.PCA, SvdPCA, GramPCA, DualPCA) for o in OPTIONS),
    *(KrylovPCA(**options) for options in FEW),
    *(mercer.PCA(missing=method) for method in ("em", "ppca")),
    mercer.KernelPCA(missing="em"),
    *(StreamedPCA(**options) for options in STREAMS),
    SketchedPCA(1),
    *(kind(**options) for kind in (mercer.dropin.PCA, DropinDualPCA) for options in FACES),
    *(DropinKrylovPCA(**options) for options in FEW_FACES),
    *(mercer.KernelPCA(**options) for options in KERNELS),
    *(mercer.KernelPCA(**options) for options in ON_LANDMARKS),
    StoredKernelPCA(1),
    StreamedKernelPCA(1),
    *(mercer.dropin.KernelPCA(**options) for options in KERNEL_FACES),
    *(mercer.RandomFeatures(**options) for options in RANDOM),
    *(mercer.LandmarkFeatures(**options) for options in LANDMARKS),
    *(mercer.RobustPCA(**options) for options in ROBUST),
    *(mercer.dropin.Nystroem(**options) for options in NYSTROEM_FACES),
    *(mercer.dropin.IncrementalPCA(**options) for options in INCREMENTAL),
    *(mercer.dropin.TruncatedSVD(**options) for options in TRUNCATED),
]


def named(estimator):
    return f"{type(estimator).__module__}.{estimator!r}"


each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (SvdPCA, "svd"),
        (GramPCA, "gram"),
        (DualPCA, "dual"),
        (KrylovPCA, "krylov"),
        (DropinDualPCA, "dual"),
        (DropinKrylovPCA, "krylov"),
    ],
)
@pytest.mark.parametrize("shape", [(40, 6), (12, 30)], ids=str)
def test_each_class_takes_its_path_and_no_other(kind, path, shape, monkeypatch):
    taken, solve = [], kind._solve

    def record(self, source, path, weights):
        taken.append(path.name)
        return solve(self, source, path, weights)

    monkeypatch.setattr(kind, "_solve", record)
    X = np.random.default_rng(0).normal(size=shape)
    model = kind(1).fit(X)
    assert taken == [path]
    top = np.linalg.svd(X - X.mean(0), compute_uv=False)[0]
    np.testing.assert_allclose(model.singular_values_, top, rtol=1e-6)


def test_the_stored_matrix_is_iterated_on_and_nothing_else(monkeypatch):
    taken, solve = [], StoredKernelPCA._solve

    def record(self, source, path, weights):
        taken.append(path.name)
        return solve(self, source, path, weights)

    monkeypatch.setattr(StoredKernelPCA, "_solve", record)
    X = np.random.default_rng(0).normal(size=(60, 4))
    model = StoredKernelPCA(1).fit(X)
    assert taken == ["stored"]
    exact = mercer.KernelPCA(1).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "sparse", "pairwise"),
    [
        (mercer.KernelPCA(), True, False),
        (mercer.KernelPCA(kernel="laplacian + linear"), False, False),
        (mercer.KernelPCA(kernel="precomputed"), True, True),
        (mercer.LandmarkFeatures(), True, False),
        (mercer.LandmarkFeatures(kernel="laplacian"), False, False),
        (mercer.dropin.KernelPCA(), True, False),
        (mercer.dropin.KernelPCA(kernel="precomputed"), True, True),
        (mercer.dropin.KernelPCA(fit_inverse_transform=True), False, False),
    ],
    ids=repr,
)
def test_tags_say_what_is_taken(model, sparse, pairwise):
    tags = model.__sklearn_tags__().input_tags
    assert (tags.sparse, tags.pairwise) == (sparse, pairwise)


@each_estimator
def test_check_estimator(estimator):
    assert_kept(estimator)


@mixed_names
@each_estimator
@each_left_out
def test_checks_left_out_by_check_estimator(estimator, name):
    assert_left_out_kept(estimator, name)
