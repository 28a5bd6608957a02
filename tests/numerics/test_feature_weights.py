"""A column of weight w is a column that stands w times."""

import numpy as np
import pytest
import scipy.sparse
from forced import FORCED, gapped, spread
from kernel_fits import FORCED as KERNEL_FORCED
from kernel_fits import blobs
from weighted import SketchPCA, assert_intervals_meet, near, parts, quiet, written

from mercer import PCA, KernelPCA, load, save
from mercer.errors import InputError
from mercer.kernels import (
    RBF,
    Cosine,
    FeatureMap,
    Linear,
    Matern,
    NegativeDistance,
    NegativeHamming,
    Overlap,
    Polynomial,
)

TOL = 1e-9
CSR = scipy.sparse.csr_array


def _on(path, hold=np.asarray, dtype=np.float64):
    return lambda model, X, _folder: model(path).fit(hold(X.astype(dtype)))


def _file(path, end=".npy"):
    return lambda model, X, folder: model(path).fit(written(X, folder / f"{X.shape[1]}{end}"))


def _stream(model, X, _folder):
    made = model("auto")
    for part, _ in parts(X, None, 4):
        made.partial_fit(part)
    return made


WAYS = {
    **{path: _on(path) for path in ("svd", "gram", "krylov")},
    **{f"{path} sparse": _on(path, CSR) for path in ("svd", "gram", "krylov")},
    **{f"{path} float32": _on(path, dtype=np.float32) for path in ("svd", "gram", "krylov")},
    **{f"{path} file": _file(path) for path in ("svd", "gram", "krylov")},
    "sparse file": _file("gram", ".npz"),
    "iterator": lambda model, X, _folder: model("auto").fit(iter([X[:9], X[9:]])),
    "stream": _stream,
    "dual": _on("dual"),
    "dual sparse": _on("dual", CSR),
    "dual file": _file("dual"),
    "sketch": lambda model, X, _folder: model("sketch").fit(iter([X[:90], X[90:]])),
}


def columns(p):
    return np.arange(p) % 3 + 1


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("name", WAYS)
def test_a_weight_is_a_repeated_column(name, standardize, tmp_path):
    n, p = (30, 70) if "dual" in name else (200, 24)
    X = gapped(n, p, 1) + 3
    if name == "sketch":
        X = spread(n, p, [3.0, 2.0, 1.0, 0.5], 1) + 3
    f = columns(p)

    def model(feature_weight):
        def made(path):
            kind = SketchPCA if path == "sketch" else FORCED[path]
            options = {"standardize": standardize, "feature_weight": feature_weight}
            return kind(3, tol=1e-13, **options)

        return made

    def looked(*given):
        found = WAYS[name](*given, tmp_path)
        assert found.explained_variance_.size
        return found

    one = quiet(looked, model(f), X)
    two = quiet(looked, model(None), np.repeat(X, f, axis=1))
    near(one.explained_variance_, two.explained_variance_, TOL, "variances")
    near(one.explained_variance_ratio_, two.explained_variance_ratio_, TOL, "ratios")
    near(one.mean_[np.repeat(np.arange(p), f)], two.mean_, TOL, "mean")
    new = X[:15] + 0.1
    z, again = one.transform(new), two.transform(np.repeat(new, f, axis=1))
    tol = 1e-5 if "float32" in name else TOL  # axes are float32, and others for other columns
    near(z @ z.T, again @ again.T, tol, "coordinates")
    back = np.repeat(one.inverse_transform(z), f, axis=1)
    near(back, two.inverse_transform(again), tol, "way back")
    assert_intervals_meet(one.certificate_, two.certificate_)


PATHS = [
    ("lapack", RBF(2.0), np.asarray, {}),
    ("stored", RBF(2.0), np.asarray, {}),
    ("tiles", RBF(2.0), np.asarray, {}),
    ("tiles", NegativeDistance(), np.asarray, {}),
    ("auto", RBF(), np.asarray, {}),
    ("lapack", Matern(1.5), np.asarray, {}),
    ("lapack", Polynomial(2, 0.1, 1.0), np.asarray, {}),
    ("primal", Polynomial(2, 0.1, 1.0), np.asarray, {}),
    ("primal", Polynomial(2), np.asarray, {}),
    ("primal", Linear(), np.asarray, {}),
    ("lapack", Cosine(), np.asarray, {}),
    ("lapack", RBF(2.0), CSR, {}),
    ("auto", RBF(2.0), np.asarray, {"landmarks": 40}),
    ("auto", RBF(2.0), np.asarray, {"tol_transform": np.inf}),
]
IDS = [f"{path}-{kernel}-{hold.__name__}-{list(o)}" for path, kernel, hold, o in PATHS]


def both(path, kernel, hold, X, f, **options):
    kind, given = KERNEL_FORCED[path], {"kernel": kernel, "tol": 1e-12, **options}
    one = quiet(kind(4, feature_weight=f, **given).fit, hold(X))
    return one, quiet(kind(4, **given).fit, hold(np.repeat(X, f, axis=1)))


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(("path", "kernel", "hold", "options"), PATHS, ids=IDS)
def test_the_same_through_a_kernel(path, kernel, hold, options, standardize):
    X, f = blobs(120, 5, seed=1, far=2.0), np.array([1, 3, 2, 1, 2])
    options = {**options, "standardize": standardize}
    one, two = both(path, kernel, hold, X, f, **options)
    near(one.eigenvalues_, two.eigenvalues_, TOL, "eigenvalues")
    near(one.explained_variance_ratio_, two.explained_variance_ratio_, TOL, "ratios")
    new = 0.6 * X[:20] + 0.4 * X[20:40]
    wide = np.repeat(new, f, axis=1)
    z, again = one.transform(new), two.transform(wide)
    near(z @ z.T, again @ again.T, TOL, "coordinates")
    near(one.novelty(new), two.novelty(wide), TOL, "novelty")
    assert_intervals_meet(one.certificate_, two.certificate_)


@pytest.mark.parametrize("kernel", [RBF(3.0), Linear()])
def test_the_way_back_is_in_the_units_of_the_data(kernel):
    rng = np.random.default_rng(2)
    X = blobs(120, 5, seed=2, far=2.0) + rng.standard_normal((120, 5))
    f = np.array([1, 3, 2, 1, 2])
    one, two = both("auto", kernel, np.asarray, X, f, standardize=True)
    for method in one.preimage_errors_:
        a = one.inverse_transform(one.transform(X), method)
        b = two.inverse_transform(two.transform(np.repeat(X, f, axis=1)), method)
        near(np.repeat(a, f, axis=1), b, 1e-6, method)
    assert one.score(X) == pytest.approx(two.score(np.repeat(X, f, axis=1)), rel=1e-6)
    if isinstance(kernel, Linear):
        full = KernelPCA(5, kernel=kernel, feature_weight=f).fit(X)
        near(full.inverse_transform(full.transform(X)), X, 1e-12, "inverse")


def test_streams_and_refined_models_keep_the_weights(tmp_path):
    X, f = blobs(150, 5, seed=3, far=2.0), np.array([1, 3, 2, 1, 2])
    marks, options = X[::4], {"kernel": RBF(3.0)}
    repeated = {"landmarks": np.repeat(marks, f, axis=1), **options}
    one = KernelPCA(3, feature_weight=f, landmarks=marks, **options)
    two = KernelPCA(3, **repeated)
    for part, _ in parts(X, None, 3):
        quiet(one.partial_fit, part)
        quiet(two.partial_fit, np.repeat(part, f, axis=1))
    near(one.eigenvalues_, two.eigenvalues_, TOL, "stream")
    quiet(one.refine, X, tol=1e-12)
    quiet(two.refine, np.repeat(X, f, axis=1), tol=1e-12)
    near(one.eigenvalues_, two.eigenvalues_, TOL, "refined")
    save(one, tmp_path / "model.mercer")
    again = load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(again.transform(X[:9]), one.transform(X[:9]))
    np.testing.assert_array_equal(again.feature_weight, f)


def test_a_weight_is_a_shorter_lengthscale():
    X, f = blobs(100, 3, seed=4), np.array([0.25, 1.0, 4.0])
    one = KernelPCA(3, kernel=RBF(2.0), feature_weight=f).fit(X)
    two = KernelPCA(3, kernel=RBF(2.0 / np.sqrt(f))).fit(X)
    near(one.eigenvalues_, two.eigenvalues_, TOL, "eigenvalues")
    kept = KernelPCA(3, kernel=RBF(2.0), feature_weight=np.ones(3)).fit(X)
    near(kept.eigenvalues_, KernelPCA(3, kernel=RBF(2.0)).fit(X).eigenvalues_, 1e-14, "ones")


def test_rows_and_columns_together():
    X, f, w = blobs(90, 4, seed=5), np.array([2, 1, 3, 1]), np.arange(90) % 4
    table = np.repeat(np.repeat(X, w, axis=0), f, axis=1)
    one = KernelPCA(3, kernel=RBF(3.0), feature_weight=f, standardize=True)
    two = KernelPCA(3, kernel=RBF(3.0), standardize=True).fit(table)
    near(one.fit(X, sample_weight=w).eigenvalues_, two.eigenvalues_, TOL, "eigenvalues")
    one = PCA(3, feature_weight=f, standardize=True).fit(X, sample_weight=w)
    two = PCA(3, standardize=True).fit(table)
    near(one.explained_variance_, two.explained_variance_, TOL, "variances")


@pytest.mark.parametrize(
    ("kernel", "rows"),
    [
        ("precomputed", np.eye(6)),
        (Overlap(), np.eye(6)),
        (RBF(1.0) + NegativeHamming(), np.eye(6)),
        (FeatureMap(lambda words: np.array([[len(w), 1.0] for w in words])), ["a", "bb"] * 3),
    ],
    ids=["precomputed", "overlap", "hamming", "words"],
)
def test_kernels_that_do_not_see_columns_refuse(kernel, rows):
    with pytest.raises(InputError, match="columns of numbers") as error:
        KernelPCA(2, kernel=kernel, feature_weight=np.ones(6)).fit(rows)
    assert str(error.value).count("\n") == 2
