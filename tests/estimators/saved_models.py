"""One model for every way that a model can come to be, and how two models are compared."""

import dataclasses
import types
import warnings

import numpy as np
import pandas as pd
import scipy.sparse

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
    "pca stream wide": lambda: batched(rows=WIDE, memory="1MB"),
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
        a, b = (
            {n: v for n, v in vars(o).items() if n not in ("written_by_", "_side", "program")}
            for o in (a, b)
        )
    if isinstance(a, dict):
        if set(a) != set(b):
            return [f"{path}: {set(a) ^ set(b)}"]
        return [d for n in a for d in differences(a[n], b[n], f"{path}.{n}")]
    return [] if a == b or (a != a and b != b) else [f"{path}: {a!r} and {b!r}"]
