"""scikit-learn's estimator contract, on every path and with every option; nothing is excused.

`check_estimator` leaves out the checks of `set_output`, feature names and parameters; they
are called here by name. Data this small never takes the dual or the Krylov path by itself,
so these are put in the place of the path that was chosen. Every class stands in the ordinary
run, and every option of a family once; the rest of their combinations in the long one.
"""

import dataclasses

import numpy as np
import pytest
import sklearn
from forced import narrow
from sklearn.utils import estimator_checks

import mercer
import mercer.dropin
from mercer.solvers import BlockKrylov, Exact, Stored

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

    _begun = narrow


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


class SvdCA(mercer.CorrespondenceAnalysis):
    def _allowed(self):
        return ("svd",)


class GramCA(mercer.CorrespondenceAnalysis):
    def _allowed(self):
        return ("gram",)


class DualCA(_Dual, mercer.CorrespondenceAnalysis):
    pass


class KrylovCA(_Krylov, mercer.CorrespondenceAnalysis):
    pass


class GramLDA(mercer.LinearDiscriminantAnalysis):
    """Sums of squares first, and the SVD behind them."""

    def _problem(self, source, weights=None):
        problem = super()._problem(source, weights)
        both = problem.rows >= problem.cols
        return dataclasses.replace(problem, allowed=("gram",)) if both else problem


OPTIONS = [
    {}, {"n_components": 1}, {"n_components": 0.9}, {"standardize": True}, {"whiten": True},
    {"whiten": "zca"}, {"n_components": 1, "whiten": "zca", "standardize": True},
]  # fmt: skip
FEW = [  # an iteration is planned only where few components are asked for
    {"n_components": 1},
    {"n_components": 1, "standardize": True},
    {"n_components": 1, "whiten": True},
    {"n_components": 1, "whiten": "zca"},
]
FACES = [
    {}, {"n_components": 1}, {"n_components": 0.9}, {"whiten": True}, {"svd_solver": "full"},
    {"svd_solver": "covariance_eigh"}, {"n_components": 1, "svd_solver": "randomized"},
    {"n_components": 1, "svd_solver": "arpack"},
]  # fmt: skip
FEW_FACES = [
    {"n_components": 1, "svd_solver": "arpack"},
    {"n_components": 1, "svd_solver": "randomized", "whiten": True},
]
KERNELS = [
    {}, {"n_components": 1}, {"n_components": 0.9}, {"n_components": 1, "standardize": True},
    # Cosines of rows far from the origin are all near 1: small eigenvalues are off by 1e-6.
    {"kernel": "linear"}, {"kernel": "cosine", "tol": 1e-5},
    {"kernel": "poly(degree=2) + 0.5*rbf", "indefinite": "flip"},
    {"kernel": "precomputed", "n_components": 1, "indefinite": "clip"},
    {"n_components": 1, "tol_transform": 0.1},
]  # fmt: skip
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
    {"n_components": 2, "kernel": "cosine", "remove_zero_eig": True, "tol": 1e-5},
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
LAPLACIAN = [
    {"neighbours": 90, "weights": "heat", "self_loops": False},
    {"n_components": 1, "components": "each"},
]
DIFFUSION = [{}, {"n_components": 1, "neighbours": 90, "alpha": 0.5, "t": 2}]
LOCAL = [
    {"n_components": 1, "neighbours": 6, "method": method, "components": "place"}
    for method in ("standard", "modified", "hessian", "ltsa")
]
MCA = mercer.MultipleCorrespondenceAnalysis
ignored = pytest.mark.filterwarnings
# The checks make rows at random: without counts, in pieces, of many levels, of more columns
# than rows. What is said of them is no fault. Each family: its estimators, and such remarks.
FAMILIES = [
    (
        [
            *(kind(**o) for kind in (mercer.PCA, SvdPCA, GramPCA, DualPCA) for o in OPTIONS),
            *(KrylovPCA(**options) for options in FEW),
            *(mercer.PCA(missing=method) for method in ("em", "ppca")),
            *(StreamedPCA(**options) for options in STREAMS),
            SketchedPCA(1),
            *(
                kind(**options)
                for kind in (mercer.dropin.PCA, DropinDualPCA)
                for options in FACES
            ),
            *(DropinKrylovPCA(**options) for options in FEW_FACES),
            *(mercer.RobustPCA(**options) for options in ROBUST),
            *(mercer.dropin.IncrementalPCA(**options) for options in INCREMENTAL),
            *(mercer.dropin.TruncatedSVD(**options) for options in TRUNCATED),
            mercer.ProbabilisticPCA(1),
            mercer.BayesianPCA(1),
            mercer.BayesianPCA(1, prior="shrinkage", noise="columns", missing="ppca"),
            mercer.ProbabilisticPCA(missing="ppca"),
            mercer.TopicVectors(1),
            mercer.TopicVectors(1, centred=False),
        ],
        (),
    ),
    (
        [
            *(mercer.KernelPCA(**options) for options in KERNELS),
            *(mercer.KernelPCA(**options) for options in ON_LANDMARKS),
            mercer.KernelPCA(missing="em"),
            StoredKernelPCA(1),
            StreamedKernelPCA(1),
            *(mercer.dropin.KernelPCA(**options) for options in KERNEL_FACES),
            *(mercer.RandomFeatures(**options) for options in RANDOM),
            *(mercer.LandmarkFeatures(**options) for options in LANDMARKS),
            *(mercer.dropin.Nystroem(**options) for options in NYSTROEM_FACES),
        ],
        (),
    ),
    (
        [
            mercer.Autoencoder(epochs=3),
            mercer.Autoencoder(1, layers=(), start="random"),
            mercer.Autoencoder(1, layers=(8,), epochs=2, start=mercer.KernelPCA(1)),
        ],
        (),
    ),
    (
        [
            mercer.CorrespondenceAnalysis(),
            mercer.CorrespondenceAnalysis(None),
            mercer.CorrespondenceAnalysis(0.9),
            *(kind(1) for kind in (SvdCA, GramCA, DualCA, KrylovCA)),
            MCA(unseen="passive"),
            MCA(1, unseen="passive", correction="greenacre", missing="passive"),
            MCA(1, unseen="passive", table="burt"),
            MCA(None, unseen="passive", missing="level"),
            MCA(1, unseen="passive", table="joint"),
            MCA(1, unseen="passive", missing="fill"),
        ],
        (ignored("ignore::mercer.errors.DataWarning"),),
    ),
    (
        [
            mercer.FAMD(),
            mercer.FAMD(n_components=None, unseen="passive"),
            mercer.FAMD(1, missing="fill"),
            mercer.MFA(),
            mercer.MFA(n_components=None, standardize=False),
        ],
        (),
    ),
    (
        [
            mercer.LinearDiscriminantAnalysis(),
            mercer.KernelDiscriminantAnalysis(),
            mercer.LinearDiscriminantAnalysis(1, shrinkage="auto"),
            GramLDA(shrinkage=0.2),
        ],
        (
            ignored("ignore::mercer.errors.DataWarning"),
            ignored("ignore::mercer.errors.AccuracyWarning"),
            ignored("ignore:X (has|does not have valid) feature names:UserWarning"),
        ),
    ),
    (
        [
            mercer.ClassicalMDS(),
            mercer.ClassicalMDS(1, metric="cityblock", indefinite="flip"),
            mercer.ClassicalMDS(1, metric="precomputed"),
            mercer.Isomap(neighbours=9, components="place"),
            mercer.Isomap(1, neighbours=9, components="place", landmarks=9, sampler="random"),
            *(mercer.LocallyLinearEmbedding(**options) for options in LOCAL),
            *(mercer.LaplacianEigenmaps(**options) for options in LAPLACIAN),
            *(mercer.DiffusionMaps(**options) for options in DIFFUSION),
            mercer.SpectralClustering(2, neighbours=9),
            mercer.SpectralClustering(neighbours=90, weights="heat"),
            mercer.MaximumVarianceUnfolding(neighbours=4, components="place"),
            mercer.MaximumVarianceUnfolding(1, neighbours=4, components="place", landmarks=12),
        ],
        (
            ignored("ignore:only the largest piece"),
            ignored("ignore:the rows do not lie flat"),
        ),
    ),
]


def options_of(estimator):
    """Return what differs from the defaults, written down."""
    default = type(estimator)().get_params(deep=False)
    given = estimator.get_params(deep=False).items()
    return {(name, repr(v)) for name, v in given if repr(v) != repr(default[name])}


def cases(checks=False):
    """Yield every estimator; slow those whose class and options others have had.

    Checks by name ask for what does not depend on options: the first of a class is enough.
    """
    for family, marks in FAMILIES:
        seen = set()
        for estimator in family:
            kind = f"{type(estimator).__module__}.{type(estimator).__name__}"
            here = {kind} if checks else {kind, *options_of(estimator)}
            more = () if here - seen else (pytest.mark.slow,)
            seen |= here
            words = ", ".join(sorted(f"{name}={v}" for name, v in options_of(estimator)))
            yield pytest.param(estimator, marks=(*marks, *more), id=f"{kind}({words})")


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (SvdPCA, "svd"), (GramPCA, "gram"), (DualPCA, "dual"), (KrylovPCA, "krylov"),
        (DropinDualPCA, "dual"), (DropinKrylovPCA, "krylov"),
    ],
)  # fmt: skip
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
    ("model", "told"),
    [
        (mercer.KernelPCA(), "sparse"),
        (mercer.KernelPCA(kernel="laplacian + linear"), ""),
        (mercer.KernelPCA(kernel="precomputed"), "sparse pairwise"),
        (mercer.LandmarkFeatures(), "sparse"),
        (mercer.LandmarkFeatures(kernel="laplacian"), ""),
        (mercer.dropin.KernelPCA(), "sparse"),
        (mercer.dropin.KernelPCA(kernel="precomputed"), "sparse pairwise"),
        (mercer.dropin.KernelPCA(fit_inverse_transform=True), ""),
        (mercer.CorrespondenceAnalysis(), "positive_only sparse"),
        (mercer.FAMD(), "categorical string"),
        (mercer.FAMD(missing="fill"), "categorical string allow_nan"),
        (MCA(), "categorical string"),
        (MCA(missing="level"), "categorical string allow_nan"),
    ],
    ids=repr,
)
def test_tags_say_what_is_taken(model, told):
    tags = model.__sklearn_tags__().input_tags
    asked = ("positive_only", "sparse", "categorical", "string", "allow_nan", "pairwise")
    assert {name for name in asked if getattr(tags, name)} == set(told.split())


def test_a_discriminant_analysis_says_that_it_is_a_classifier():
    tags = mercer.LinearDiscriminantAnalysis().__sklearn_tags__()
    assert tags.estimator_type == "classifier"
    assert tags.target_tags.required
    assert tags.transformer_tags is not None


@pytest.mark.parametrize("estimator", list(cases()))
def test_check_estimator(estimator):
    """No check fails, none is skipped but those of arrays, and many are made."""
    done = estimator_checks.check_estimator(estimator, on_skip=None, on_fail=None)
    bad = {r["check_name"]: repr(r["exception"]) for r in done if r["status"] == "failed"}
    # The check itself of scikit-learn 1.6 subtracts floats from whole numbers in place.
    if "UFuncTypeError" in bad.get("check_positive_only_tag_during_fit", ""):
        assert sklearn.__version__.startswith("1.6")
        del bad["check_positive_only_tag_during_fit"]
    assert not bad, "\n".join(map(str, bad.items()))
    skipped = {r["check_name"] for r in done if r["status"] == "skipped"}
    assert {name for name in skipped if "array_api" not in name} == set()
    least = 49 if hasattr(estimator, "predict") else 40
    assert sum(r["status"] == "passed" for r in done) >= least


# The checks mix arrays and frames, and scikit-learn says so.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@pytest.mark.parametrize("estimator", list(cases(checks=True)))
@pytest.mark.parametrize("name", LEFT_OUT)
def test_checks_left_out_by_check_estimator(estimator, name):
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"this scikit-learn has no {name}")
    check(type(estimator).__name__, estimator)
