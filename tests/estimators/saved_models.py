"""One model for every way that a model can come to be, and how two models are compared."""

import dataclasses
import types
import warnings

import numpy as np
import pandas as pd
import scipy.sparse
from scipy.spatial.distance import cdist

import mercer
from mercer import PCA, KernelPCA, LandmarkFeatures, RandomFeatures, dropin
from mercer.kernels import (
    RBF,
    FeatureMap,
    Linear,
    NegativeDistance,
    Polynomial,
    Sigmoid,
    ngrams,
)

rng = np.random.default_rng(5)
X = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4)) + np.array([1e6, 0, -3, 8.0])
NEW = X[:20] + rng.normal(size=(20, 4))
FRAME, NEW_FRAME = (pd.DataFrame(a, columns=["a", "ü", "", "d"]) for a in (X, NEW))
SPARSE, NEW_SPARSE = (
    scipy.sparse.random_array((n, 15), density=0.3, format="csr", random_state=rng)
    for n in (50, 9)
)
WIDE = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 400))
TEXTS = ["abcab", "bcdab", "xyzzy", "zzyxz", "abxyz"] * 4


def weighted():
    return PCA(3, feature_weight=[1, 2, 3, 4.0]).fit(X, sample_weight=np.arange(60) % 4)


def streamed(rows=X, **parameters):
    model = KernelPCA(2, **parameters)
    for start in range(0, rows.shape[0], 25):
        model.partial_fit(rows[start : start + 25])
    return model


def batched(look=False, rows=X, **parameters):
    model = PCA(2, **parameters)
    for start in range(0, rows.shape[0], 25):
        model.partial_fit(rows[start : start + 25])
    assert not look or model.components_.shape == (2, rows.shape[1])
    return model


def used(model, new=NEW):
    """What is learned at the first use is part of a model too."""
    model.inverse_transform(model.transform(new))
    return model


MAKE = {
    "pca": lambda: PCA(2).fit(X),
    "pca unfitted": lambda: PCA(0.9, whiten="zca", memory="1GB"),
    "pca standardised": lambda: PCA(standardize=True, whiten=True).fit(FRAME),
    "pca zca": lambda: PCA(2, whiten="zca").fit(FRAME),
    "pca weighted": weighted,
    "pca sparse": lambda: PCA(2).fit(SPARSE),
    "pca float32": lambda: PCA(2).fit(X.astype(np.float32)),
    "pca wide": lambda: PCA(3).fit(rng.normal(size=(10, 40))),
    "pca from covariance": lambda: PCA.from_covariance(np.cov(X.T), X.mean(axis=0), 60),
    "pca random state": lambda: PCA(2, random_state=np.random.RandomState(3)).fit(X),
    "pca generator": lambda: PCA(2, random_state=np.random.default_rng(3)).fit(X),
    "pca stream": batched,
    "pca stream looked at": lambda: batched(look=True, standardize=True),
    "pca stream forgetful": lambda: batched(forget=0.01),
    "pca stream sparse": lambda: batched(rows=SPARSE),
    "pca stream long": lambda: batched(rows=np.concatenate([X] * 5)),
    "pca stream wide": lambda: batched(rows=WIDE, memory="9MB"),
    "kernel": lambda: KernelPCA(2).fit(X),
    "kernel used": lambda: used(KernelPCA(2).fit(X)),
    "kernel weighted": lambda: used(KernelPCA(2).fit(X, sample_weight=np.arange(60) % 3)),
    "kernel compressed": lambda: used(KernelPCA(2, tol_transform=0.1).fit(X)),
    "kernel standardised": lambda: used(KernelPCA(2, standardize=True).fit(FRAME), NEW_FRAME),
    "kernel float32": lambda: used(KernelPCA(2).fit(X.astype(np.float32))),
    "kernel refined": lambda: KernelPCA(2, landmarks=20).fit(X).refine(X),
    "kernel sparse": lambda: KernelPCA(2).fit(SPARSE),
    "kernel matrix": lambda: KernelPCA(2, kernel="precomputed").fit(RBF(3.0)(X)),
    "kernel conditional": lambda: KernelPCA(2, kernel=NegativeDistance()).fit(X),
    "kernel clipped": lambda: KernelPCA(2, kernel=Sigmoid(1e-13), indefinite="clip").fit(X),
    "primal": lambda: used(KernelPCA(2, kernel=Polynomial(2)).fit(X)),
    "primal float32": lambda: KernelPCA(2, kernel="poly(2)").fit(X.astype(np.float32)),
    "primal linear": lambda: used(KernelPCA(2, kernel=Linear()).fit(FRAME), NEW_FRAME),
    "primal sparse": lambda: KernelPCA(2, kernel="linear").fit(SPARSE),
    "primal texts": lambda: KernelPCA(2, kernel=FeatureMap(ngrams(2, 32))).fit(TEXTS),
    "landmarks": lambda: used(KernelPCA(2, landmarks=20).fit(X)),
    "landmarks given": lambda: KernelPCA(2, landmarks=X[:15]).fit(X),
    "landmarks standardised": lambda: KernelPCA(2, landmarks=9, standardize=True).fit(FRAME),
    "landmarks float32": lambda: KernelPCA(2, landmarks=20).fit(X.astype(np.float32)),
    "landmarks sparse": lambda: KernelPCA(2, landmarks=20).fit(SPARSE),
    "landmarks conditional": lambda: KernelPCA(2, kernel="log", landmarks=20).fit(X),
    "stream": streamed,
    "stream waiting": lambda: KernelPCA(5).partial_fit(X[:2]),
    "stream settled": lambda: streamed(kernel=RBF(3.0), landmarks=X[:15]),
    "landmark features": lambda: LandmarkFeatures(12).fit(FRAME),
    "random features": lambda: RandomFeatures(12).fit(X),
    "random features far": lambda: RandomFeatures(12, kernel="laplacian").fit(X),
    "random steps": lambda: RandomFeatures(12, kernel="arccosine(order=0)").fit(X),
    "dropin pca": lambda: dropin.PCA(2).fit(X),
    "dropin pca randomized": lambda: dropin.PCA(2, svd_solver="randomized").fit(X),
    "dropin kernel": lambda: dropin.KernelPCA(
        2, kernel="rbf", gamma=0.01, fit_inverse_transform=True
    ).fit(X),
    "dropin poly": lambda: dropin.KernelPCA(2, kernel="poly", gamma=1e-3).fit(X),
    "dropin incremental": lambda: dropin.IncrementalPCA(2).fit(X),
    "dropin incremental on": lambda: dropin.IncrementalPCA(2).fit(X).partial_fit(X[:9]),
    "dropin truncated": lambda: dropin.TruncatedSVD(2).fit(X),
    "dropin nystroem": lambda: dropin.Nystroem(n_components=10, gamma=0.01).fit(X),
}


Y = np.digitize(X[:, 1], np.quantile(X[:, 1], [0.3, 0.6]))
COUNTS = pd.DataFrame(
    rng.poisson(9.0, (12, 5)), columns=list("pqrst"), index=list("abcdefghijkl")
)
ANSWERS = np.array(
    [[f"l{c}" for c in row] for row in rng.integers(0, 3, (60, 4))], dtype=object
)
MIXED = pd.DataFrame(X, columns=list("abcd")).assign(e=ANSWERS[:, 0], f=ANSWERS[:, 1])
GAPS = np.where(rng.random(X.shape) < 0.1, np.nan, X - X.mean(axis=0))
HOLED = MIXED.mask(rng.random(MIXED.shape) < 0.1)
UNIT = (X - X.mean(axis=0)) / X.std(axis=0)
LOCAL = {"neighbours": 12, "components": "place"}
# name: the method, its rows, and labels or weights of rows
OTHERS = {
    "auto": (PCA("auto"), X, {}),
    "completed": (PCA(2, missing="em", standardize=True), GAPS, {}),
    "kernel completed": (KernelPCA(2, missing="em"), GAPS, {}),
    "likely": (mercer.ProbabilisticPCA("bic"), X, {}),
    "robust": (mercer.RobustPCA(2, standardize=True, whiten=True), X, {}),
    "signs": (mercer.RobustPCA(2, method="spherical"), X, {}),
    "topics": (mercer.TopicVectors(2), COUNTS.to_numpy(), {}),
    "counts": (mercer.CorrespondenceAnalysis(2), COUNTS, {}),
    "counts auto": (
        mercer.CorrespondenceAnalysis(1),
        COUNTS,
        {"sample_weight": np.arange(12) % 4},
    ),
    "answers": (mercer.MultipleCorrespondenceAnalysis(2), ANSWERS, {}),
    "answers joint": (mercer.MultipleCorrespondenceAnalysis(1, table="joint"), ANSWERS, {}),
    "answers auto": (
        mercer.MultipleCorrespondenceAnalysis("auto", missing="level"),
        np.where(np.arange(240).reshape(60, 4) == 13, None, ANSWERS),
        {},
    ),
    "answers less": (
        mercer.MultipleCorrespondenceAnalysis(1, correction="benzecri", exclude=["x0=l0"]),
        ANSWERS[:, [0, 0, 1]],
        {},
    ),
    "answers filled": (
        mercer.MultipleCorrespondenceAnalysis(2, missing="fill"),
        np.where(np.arange(240).reshape(60, 4) % 17 == 13, None, ANSWERS),
        {},
    ),
    "mixed": (mercer.FAMD(2), MIXED, {}),
    "mixed filled": (mercer.FAMD(2, missing="fill"), HOLED.dropna(how="all"), {}),
    "groups": (mercer.MFA({"one": ["a", "b"], "two": ["c", "d", "e", "f"]}, 3), MIXED, {}),
    "classes": (mercer.LinearDiscriminantAnalysis(), X, {"y": np.array(["a", "b", "c"])[Y]}),
    "classes by number": (mercer.LinearDiscriminantAnalysis(), X, {"y": Y + 0.0}),
    "kernel classes": (mercer.KernelDiscriminantAnalysis(axes=20), UNIT, {"y": Y}),
    "distances": (mercer.ClassicalMDS(2, metric="chebyshev"), UNIT, {}),
    "distances given": (mercer.ClassicalMDS(2, metric="precomputed"), cdist(UNIT, UNIT), {}),
    "paths": (mercer.Isomap(2, neighbours=20), UNIT, {}),
    "paths on landmarks": (mercer.Isomap(2, neighbours=20, landmarks=40), UNIT, {}),
    **{
        f"local {method}": (mercer.LocallyLinearEmbedding(2, method=method, **LOCAL), UNIT, {})
        for method in ("standard", "modified", "hessian", "ltsa")
    },
    "sheet": (mercer.MaximumVarianceUnfolding(2, neighbours=6), UNIT[:40], {}),
    "eigenmaps": (mercer.LaplacianEigenmaps(neighbours=20), UNIT, {}),
    "eigenmaps tuned": (
        mercer.LaplacianEigenmaps(neighbours=None, weights="self-tuning"),
        UNIT,
        {},
    ),
    "eigenmaps heat": (
        mercer.LaplacianEigenmaps(20, symmetric="mean", weights="heat"),
        UNIT,
        {},
    ),
    "walk": (mercer.DiffusionMaps(scale=1.0), UNIT, {}),
    "walk of neighbours": (mercer.DiffusionMaps(neighbours=20), UNIT, {}),
}


def made(name):
    """Fit one of the models; what it warns of is not the matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MAKE[name]()


def new_rows(name):
    """Rows that the model of this name can transform."""
    if name == "kernel matrix":
        return RBF(3.0)(NEW, X)
    if name == "primal texts":
        return ["abc", "zyx", ""]
    if name == "pca stream wide":
        return WIDE[:9] + 1
    if name == "pca wide":
        return np.random.default_rng(1).normal(size=(7, 40))
    if hasattr(made(name), "feature_names_in_"):
        return NEW_FRAME
    if "sparse" in name:
        return NEW_SPARSE
    if "float32" in name:
        return NEW.astype(np.float32)
    return NEW


PREPARED = ("written_by_", "_side", "program", "_has_sorted_indices", "_has_canonical_format")


def differences(a, b, path=""):
    """List the places where two values differ in type, shape, order of memory or bits."""
    if type(a) is not type(b):
        return [f"{path}: {type(a).__name__} and {type(b).__name__}"]
    if isinstance(a, np.ndarray):
        if a.dtype.kind == "O":
            return [] if a.tolist() == b.tolist() else [path]
        bits = (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
        return [] if bits else [path]
    if isinstance(a, types.MethodType):
        return differences(a.__self__, b.__self__, f"{path}.self")
    if isinstance(a, np.random.Generator):
        return differences(a.bit_generator.state, b.bit_generator.state, f"{path}.state")
    if isinstance(a, np.random.RandomState):
        states = (o.get_state(legacy=False) for o in (a, b))
        return differences(*states, f"{path}.state")
    if isinstance(a, list | tuple):
        pairs = enumerate(zip(a, b, strict=True))
        return [d for i, (x, y) in pairs for d in differences(x, y, f"{path}[{i}]")]
    if dataclasses.is_dataclass(a):
        names = [field.name for field in dataclasses.fields(a)]
        a, b = ({n: getattr(v, n) for n in names} for v in (a, b))
    elif hasattr(a, "__dict__") and not isinstance(a, type):
        # What is prepared from the rest is prepared again.
        a, b = ({n: v for n, v in vars(o).items() if n not in PREPARED} for o in (a, b))
    if isinstance(a, dict):
        if set(a) != set(b):
            return [f"{path}: {set(a) ^ set(b)}"]
        return [d for n in a for d in differences(a[n], b[n], f"{path}.{n}")]
    return [] if a == b or (a != a and b != b) else [f"{path}: {a!r} and {b!r}"]
