"""Rows read block by block give the model of the rows in memory, whatever blocks and order."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from forced import FORCED, fit, gapped, suits
from pieces import Pieces, in_blocks

from mercer.errors import DataWarning

K = 3
BLOCKS = (1, 5, 32, 64, 1000)
ORDERS = ("drawn", "sorted", "backwards", "by blocks")
OPTIONS = {
    "plain": {},
    "standardize": {"standardize": True},
    "features": {"feature_weight": np.linspace(0.5, 2, 24)},
    "whiten": {"whiten": True},
    "zca": {"whiten": "zca", "standardize": True},
}


def table(kind, order="drawn", n=96, p=24):
    X = gapped(n, p, 4, K, noise=0.1) * 8 + np.linspace(-50, 300, p)
    if order == "sorted":  # the first axis runs with the rows: a trend
        X = X[np.argsort(X @ np.linalg.svd(X - X.mean(0))[2][0])]
    if order == "backwards":
        X = X[::-1]
    if order == "by blocks":
        X = X[np.argsort(np.arange(n) % 7, kind="stable")]
    if kind == "far":
        return X + 1e7
    if kind == "float32":
        return X.astype(np.float32)
    if kind == "integers":
        return np.rint(X * 20).astype(np.int32)
    if kind == "sparse":
        return scipy.sparse.csr_array(np.where(X > 100, X, 0))
    return np.ascontiguousarray(X)


def dense(X):
    return np.asarray(X.toarray() if scipy.sparse.issparse(X) else X, np.float64)


def lapack(X, weights=None, standardize=False, feature_weight=None, **_):
    """Return mean, scale, variances and axes by NumPy's float64, from the rows as they are."""
    Y = dense(X)
    w = np.ones(len(Y)) if weights is None else weights
    mean = w @ (Y - Y[0]) / w.sum() + Y[0]
    Y = Y - mean
    scale = np.ones(Y.shape[1])
    if standardize:
        scale = np.sqrt(w @ Y**2 / (w.sum() - 1))
    if feature_weight is not None:
        scale = scale / np.sqrt(feature_weight)
    A = np.sqrt(w)[:, None] * Y / scale
    s, vt = np.linalg.svd(A, full_matrices=False)[1:]
    return mean, scale, s**2 / (w.sum() - 1), vt


def check(model, X, weights=None, tol=1e-10, **options):
    mean, scale, variances, vt = lapack(X, weights, **options)
    size = variances[0]
    spread = np.sqrt(np.diagonal(np.cov(dense(X).T)).max())
    assert np.abs(model.mean_ - mean).max() <= 1e-14 * np.abs(mean).max() + tol * spread
    assert model.scale_ is None or np.abs(model.scale_ / scale - 1).max() <= tol
    assert np.abs(model.explained_variance_ - variances[:K]).max() <= tol * size
    share = variances[:K] / variances.sum()
    assert np.abs(model.explained_variance_ratio_ - share).max() <= tol
    found, wanted = model.components_.astype(np.float64), vt[:K]
    assert np.abs(found.T @ found - wanted.T @ wanted).max() <= 10 * tol


def same(one, two, X, tol=1e-10):
    """Attributes and coordinates of two fits, one of them block by block."""
    assert np.abs(one.components_ - two.components_).max() <= 10 * tol
    assert abs(one.noise_variance_ - two.noise_variance_) <= tol * two.explained_variance_[0]
    Z = two.transform(X)
    assert np.abs(one.transform(Pieces(X)) - Z).max() <= 100 * tol * np.abs(Z).max()


@pytest.mark.parametrize("rows", BLOCKS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("path", ["gram", "svd"])
def test_every_block_size_and_order(path, order, rows):
    X = table("float64", order)
    model = in_blocks(FORCED[path], rows)(K).fit(Pieces(X, 11))
    check(model, X)
    same(model, fit(path, X, K), X)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["float64", "far", "float32", "integers", "sparse"])
@pytest.mark.parametrize("path", ["gram", "svd", "krylov"])
def test_every_kind_of_rows(path, kind, weighted):
    X = table(kind, "sorted")
    w = np.random.default_rng(0).integers(0, 4, 96) * 1.5 if weighted else None
    # An iteration with float32 products, or one that may stop early, has fewer digits.
    loose = path == "krylov" and kind == "float32"
    model = in_blocks(FORCED[path], 20)(K, tol=1e-5 if loose else 1e-11)
    model.fit(Pieces(X, 11, forecast=7), sample_weight=w)
    # Float32 axes and numbers far from the origin are rounded where they are kept.
    tol = {"float32": 1e-6, "far": 1e-8}.get(kind, 1e-10)
    check(model, X, w, tol=tol)
    same(model, fit(path, X, K, sample_weight=w), X, tol=10 * tol)
    assert model.certificate_.met
    exact = lapack(X, w)[2][:K]
    assert np.all(model.certificate_.lower <= exact * (1 + 1e-15))
    assert np.all(exact <= model.certificate_.upper * (1 + 1e-15))


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("path", ["gram", "svd", "krylov"])
def test_every_option(path, name):
    X, w = table("float64", "sorted"), np.arange(96) % 3 + 0.5
    options = OPTIONS[name]
    model = in_blocks(FORCED[path], 20)(K, tol=1e-11, **options)
    model.fit(Pieces(X, 11), sample_weight=w)
    check(model, X, w, **options)
    same(model, fit(path, X, K, sample_weight=w, **options), X)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("kind", ["float64", "integers", "sparse", "float32"])
@pytest.mark.parametrize("rows", [2, 5, 50])
def test_wide_tables(kind, name, rows):
    X = table(kind, "sorted", n=18)
    assert suits("dual", 18, 24, K)
    w = np.arange(18) % 3 + 0.5
    model = in_blocks(FORCED["dual"], rows)(K, **OPTIONS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # sparse columns without a cell
        model.fit(Pieces(X, 4), sample_weight=w)
        plain = fit("dual", X, K, sample_weight=w, **OPTIONS[name])
    tol = 1e-6 if kind == "float32" else 1e-10
    assert np.abs(model.components_ - plain.components_).max() <= 10 * tol
    scale = plain.explained_variance_[0]
    assert np.abs(model.explained_variance_ - plain.explained_variance_).max() <= tol * scale
    same(model, plain, X, tol)
    if kind == "float64":
        check(model, X, w, **OPTIONS[name])


def test_a_table_of_many_draws():
    """Random shapes, pieces, blocks and weights, all against LAPACK."""
    rng = np.random.default_rng(11)
    for _ in range(40):
        n, p = int(rng.integers(30, 120)), int(rng.integers(5, 12))
        X = gapped(n, p, int(rng.integers(99)), K, noise=0.1)
        X = X + rng.choice([0.0, 1e3, 1e6]) * rng.standard_normal(p)
        w = rng.integers(0, 3, n) + rng.random() if rng.random() < 0.5 else None
        path = str(rng.choice(["gram", "svd"]))
        model = in_blocks(FORCED[path], int(rng.integers(1, n + 5)))(K)
        source = Pieces(X, int(rng.integers(1, n + 5)), forecast=int(rng.integers(1, 2 * n)))
        check(model.fit(source, sample_weight=w), X, w, tol=1e-9)


def test_columns_that_are_constant_are_zero_and_said():
    X = table("float64")
    X[:, 5] = np.repeat([0.0, 100.0, 5.0], 32)  # constant in each block, a label: it varies
    for path in ("gram", "svd"):
        model = in_blocks(FORCED[path], 16)(K, standardize=True).fit(Pieces(X))
        check(model, X, standardize=True)
    X[:, 3] = 0.1
    with pytest.warns(DataWarning, match="constant columns") as caught:
        model = in_blocks(FORCED["gram"], 16)(K, standardize=True).fit(Pieces(X))
    assert "1 such columns: 3" in str(caught[0].message)
    assert np.abs(model.components_[:, 3]).max() <= 1e-15
    assert model.mean_[3] == 0.1
    with pytest.warns(DataWarning, match="integers beyond"):
        in_blocks(FORCED["svd"], 16)(K).fit(Pieces(np.rint(X * 1e3).astype(np.int64) + 2**60))


@pytest.mark.parametrize("scale", [1e150, 1e-150, 1e300, 1e-290])
@pytest.mark.parametrize("path", ["gram", "svd", "krylov"])
def test_ends_of_the_range(path, scale):
    X = table("float64", "sorted") - 100
    model = in_blocks(FORCED[path], 10)(K, tol=1e-10)
    plain = fit(path, X, K, tol=1e-10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # variances leave the range
        model.fit(Pieces(X * scale))
    share = plain.explained_variance_ratio_
    assert np.abs(model.explained_variance_ratio_ - share).max() <= 1e-10
    assert np.abs(model.components_ - plain.components_).max() <= 1e-9
    assert np.abs(model.mean_ / scale - plain.mean_).max() <= 1e-10


@pytest.mark.parametrize("path", ["gram", "svd", "krylov"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_far_plateaus(path, dtype):
    """Nothing inside a block says how far apart the blocks are."""
    X = (table("float64") - 100).astype(dtype)
    high = 1e18 if dtype == np.float32 else 1e160
    X = np.concatenate([X + dtype(high), X - dtype(high)])
    model = in_blocks(FORCED[path], 12)(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model.fit(Pieces(X))
    assert np.abs(model.components_[0] - 1 / np.sqrt(24)).max() <= 1e-6
    assert model.explained_variance_ratio_[0] > 1 - 1e-6


def sparse_by_parts():
    """Columns that are full and far in the first rows, and have no cell in the later ones."""
    X = np.where(table("float64") > 200, table("float64"), 0)
    X[:32, 3] = 500 + table("float64")[:32, 5] / 100
    X[32:, 3] = 0
    X[40:60] = 0
    return scipy.sparse.csr_array(X)


@pytest.mark.parametrize("rows", [4, 20, 32, 1000])
@pytest.mark.parametrize("path", ["gram", "svd", "krylov"])
def test_sparse_rows_that_differ_from_block_to_block(path, rows):
    X = sparse_by_parts()
    model = in_blocks(FORCED[path], rows)(K, tol=1e-11).fit(Pieces(X, 9))
    check(model, X, tol=1e-9)
    if path == "gram":
        kind = {4: np.bool_, 20: np.int8}.get(rows, np.float32)
        X = scipy.sparse.csr_array((X > 250).astype(kind))
        model = in_blocks(FORCED[path], 10)(K).fit(Pieces(X, 9))
        check(model, X, tol=1e-6 if kind == np.float32 else 1e-10)


@pytest.mark.parametrize("path", ["gram", "svd"])
@pytest.mark.parametrize("shape", [(2, 1), (2, 5), (50, 1), (6, 6), (7, 6)])
def test_small_tables(path, shape):
    X = np.random.default_rng(0).standard_normal(shape) + 1e4
    k = min(shape)
    model = in_blocks(FORCED[path], 2)(k)
    plain = FORCED[path](k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(Pieces(X, 1))
        plain.fit(X)
    assert (model.rank_, model.n_components_) == (plain.rank_, k)
    size = plain.explained_variance_[0]
    assert np.abs(model.explained_variance_ - plain.explained_variance_).max() <= 1e-10 * size


@pytest.mark.parametrize("value", [0.0, 0.1, 1e300])
@pytest.mark.parametrize("path", ["gram", "svd", "krylov"])
def test_rows_that_are_all_equal_are_refused(path, value):
    source = Pieces(np.full((60, 24), value), 7)
    with pytest.raises(ValueError, match="the data has no variance"):
        in_blocks(FORCED[path], 7)(K).fit(source)
