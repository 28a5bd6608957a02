"""Features whose products are the kernel: random ones, and those of landmarks."""

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from tests.claims import agree, refuses

from mercer import PCA, KernelPCA, LandmarkFeatures, RandomFeatures
from mercer.errors import NotSupportedError
from mercer.kernels import RBF, FeatureMap, Laplacian, Linear, NegativeDistance, ngrams

X = np.random.default_rng(0).standard_normal((200, 5))
DIGITS = load_digits(return_X_y=True)[0]


def test_the_map_is_that_of_the_kernel():
    model = RandomFeatures(5000).fit(X)
    wanted = RBF().resolve(X)
    assert model.kernel_ == wanted
    phi = model.transform(X)
    assert np.max(np.abs(phi @ phi.T - wanted(X))) < 0.1
    assert model.certificate_ is None
    assert "no certificate" in RandomFeatures.__doc__


def test_what_a_fit_learns():
    models = [RandomFeatures(50, kernel=RBF(2.0)).fit(part) for part in (X[:90], X[90:])]
    agree(models[0].transform(X), models[1].transform(X), 1e-12)
    kept = [v for v in vars(models[0]._map).values() if isinstance(v, np.ndarray)]
    assert max(len(array) for array in kept) == 50
    model = RandomFeatures(32).partial_fit(X[:50])
    first, phi = model.kernel_, model.transform(X)
    model.partial_fit(100 * X)
    assert model.kernel_ == first == RBF().resolve(X[:50])
    np.testing.assert_array_equal(model.transform(X), phi)
    assert model.fit(100 * X).kernel_ != first


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_batches_in_any_order_give_the_same_numbers(offset):
    x = X + offset
    batches = [x[:30], x[30:100], x[100:]]
    found = []
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        model = RandomFeatures(64, kernel=RBF(2.0))
        for i in order:
            assert model.partial_fit(batches[i]) is model
        parts = {i: model.transform(batches[i]) for i in order}
        found.append(np.concatenate([parts[i] for i in range(3)]))
    agree(found[1], found[0], 1e-14 * (100 + 50 * offset))
    agree(found[2], found[0], 1e-14 * (100 + 50 * offset))


def test_far_from_the_origin():
    """Products at 1e6 are the kernel to the accuracy that m features have."""
    x = X + 1e6
    phi = RandomFeatures(4000, kernel=RBF(1.5)).fit_transform(x)
    assert np.max(np.abs(phi @ phi.T - RBF(1.5)(x))) < 0.1
    near = RandomFeatures(4000, kernel=RBF(1.5)).fit_transform(x - 1e6)
    spread = np.abs(phi @ phi.T - near @ near.T)
    assert np.max(spread) < 0.1


def test_float32_is_kept_and_sparse_rows_are_taken():
    wide = RandomFeatures(40, kernel=RBF(2.0)).fit(X)
    narrow = RandomFeatures(40, kernel=RBF(2.0)).fit(X.astype(np.float32))
    found = narrow.transform(X.astype(np.float32))
    assert found.dtype == np.float32
    agree(found, wide.transform(X), 1e-5)
    assert wide.transform(X.astype(np.float32)).dtype == np.float32
    assert wide.transform((10 * X).astype(int)).dtype == np.float64
    x = np.where(X > 0.5, X, 0.0)
    dense, sparse = (RandomFeatures(40).fit(rows) for rows in (x, csr_array(x)))
    assert dense.kernel_ == sparse.kernel_
    agree(sparse.transform(csr_array(x)), dense.transform(x), 1e-12)
    agree(dense.transform(csr_array(x)), dense.transform(x), 1e-12)


@pytest.mark.parametrize(
    "rows",
    [np.zeros((3, 2)), np.ones((2, 1)), np.repeat(X[:1], 5, axis=0)],
    ids=["zeros", "ones", "equal"],
)
def test_equal_rows_need_a_number(rows):
    refuses("all equal", RandomFeatures(5).fit, rows)
    phi = RandomFeatures(5, kernel=RBF(1.0)).fit_transform(rows)
    assert np.ptp(phi, axis=0).max() == 0


def test_parameters_and_seeds():
    model = RandomFeatures(7, kernel="laplacian(lengthscale=3)", random_state=4)
    assert clone(model).get_params()["kernel"] == "laplacian(lengthscale=3)"
    model.set_params(kernel__lengthscale=2.0, n_features=9)
    assert model.fit(X).kernel_ == Laplacian(2.0)
    assert model.transform(X).shape == (200, 9)
    assert list(model.get_feature_names_out()[:2]) == ["randomfeatures0", "randomfeatures1"]
    for wrong in ({"n_features": 0}, {"n_features": 2.5}, {"kernel": 3}, {"orthogonal": 2}):
        refuses(None, RandomFeatures(**wrong).fit, X)
    same = [RandomFeatures(9, random_state=s).fit_transform(X) for s in (1, 1, 2, None)]
    np.testing.assert_array_equal(same[0], same[1])
    assert np.abs(same[0] - same[2]).max() > 0.01
    assert np.abs(same[0] - same[3]).max() > 0.01
    for state in (np.random.default_rng(3), np.random.RandomState(3)):
        assert RandomFeatures(9, random_state=state).fit_transform(X).shape == (200, 9)


def test_pca_after_it_is_kernel_pca_nearly():
    exact = KernelPCA(5).fit(DIGITS)
    lines = make_pipeline(RandomFeatures(4000), PCA(5)).fit(DIGITS)
    found = lines[-1].explained_variance_
    np.testing.assert_allclose(found, exact.explained_variance_, rtol=0.1)
    assert lines.transform(DIGITS[:3]).shape == (3, 5)
    assert lines[-1].certificate_.met  # of the PCA of the features, not of the kernel


def landmarks(k, m, seed):
    """Return F (n, m) of randomly pivoted Cholesky: k ≈ FFᵀ."""
    rng, left = np.random.default_rng(seed), np.diag(k).copy()
    f = np.zeros((len(k), m))
    for j in range(m):
        i = rng.choice(len(k), p=left / left.sum())
        column = k[:, i] - f[:, :j] @ f[i, :j]
        f[:, j] = column / np.sqrt(column[i])
        left = np.maximum(left - f[:, j] ** 2, 0.0)
    return f


def worst(features, exact):
    """Return the largest relative error of the leading eigenvalues of the centred matrix."""
    centred = features - features.mean(axis=0)
    found = np.linalg.eigvalsh(centred.T @ centred)[::-1][: len(exact)]
    return float(np.max(np.abs(found / exact - 1)))


def ratio(m, seeds):
    """Return how much larger the error of m random features is than that of m landmarks."""
    kernel = RBF().resolve(DIGITS)
    exact = KernelPCA(10, kernel=kernel).fit(DIGITS).eigenvalues_
    maps = [RandomFeatures(m, kernel=kernel, random_state=seed) for seed in seeds]
    random = np.median([worst(phi.fit_transform(DIGITS), exact) for phi in maps])
    k = kernel(DIGITS)
    return random / np.median([worst(landmarks(k, m, seed), exact) for seed in seeds])


def test_landmarks_are_better_at_equal_size():
    assert ratio(300, range(3)) > 3


@pytest.mark.slow
def test_the_more_features_the_more_landmarks_are_better():
    """What the docs say: about 2, 6 and 70 times on all the digits."""
    few, some, many = (ratio(m, range(5)) for m in (100, 300, 1000))
    assert 1.5 < few < 4
    assert 4 < some < 10
    assert 40 < many < 150


def table(n=150, p=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def test_products_are_the_kernel_and_distances_those_of_cpd_ones():
    X, new = table(60), table(20, seed=1)
    model = LandmarkFeatures(60, kernel=RBF(0.8)).fit(X)
    assert model.n_landmarks_ == 60
    F, G = model.transform(X), model.transform(new)
    agree(F @ F.T, RBF(0.8).block(X), 1e-9)
    agree(G @ F.T, RBF(0.8).block(new, X), 1e-9)
    assert model.residual_trace_ < 1e-9
    X = table(40)
    F = LandmarkFeatures(40, kernel=NegativeDistance()).fit_transform(X)
    assert F.shape == (40, 39)
    squared = np.sum((F[:, None] - F[None]) ** 2, axis=2)
    exact = 2 * np.linalg.norm(X[:, None] - X[None], axis=2)  # k(x,x) + k(y,y) - 2k(x,y)
    agree(squared, exact, 1e-10)


@pytest.mark.parametrize("sampler", ["pivoted", "uniform", "kmeans++", [5, 9, 140, 77]])
def test_attributes(sampler):
    X = table()
    model = LandmarkFeatures(20, sampler=sampler, random_state=3).fit(X)
    m = model.n_landmarks_
    assert m == (4 if isinstance(sampler, list) else 20)
    np.testing.assert_array_equal(model.landmarks_, X[model.landmark_indices_])
    assert model.factor_.shape == (150, m)
    assert model.kernel_.resolved
    assert model.n_samples_ == 150
    agree(model.transform(X), model.factor_, 1e-12)
    np.testing.assert_array_equal(model.fit_transform(X), model.factor_)
    agree(model.novelty(X), model.residual_, 1e-12)
    K = model.kernel_.block(X)
    left = np.diag(K - model.factor_ @ model.factor_.T)
    agree(model.residual_, left, 1e-12)
    assert model.residual_trace_ == pytest.approx(left.sum())
    assert list(model.get_feature_names_out()[:2]) == ["landmarkfeatures0", "landmarkfeatures1"]


def test_enough_is_enough_and_rows_unlike_any_are_new():
    X = table(400)
    model = LandmarkFeatures(400, kernel=RBF(2.0), tol=0.02).fit(X)
    assert model.residual_trace_ <= 0.02 * 400
    assert model.n_landmarks_ < 200
    X = load_digits().data
    model = LandmarkFeatures(200).fit(X[:1000])
    noise = np.random.default_rng(0).permuted(X[1000:], axis=1)
    assert np.median(model.novelty(noise)) > 4 * np.median(model.novelty(X[1000:]))
    assert np.all(model.novelty(noise) <= 1)


@pytest.mark.parametrize("form", ["float32", "sparse", "frame", "integers"])
def test_what_comes_in(form):
    pd = pytest.importorskip("pandas")
    X = np.round(4 * table())
    rows = {
        "float32": X.astype(np.float32),
        "sparse": scipy.sparse.csc_matrix(X),
        "frame": pd.DataFrame(X, columns=["a", "b", "c"]),
        "integers": X.astype(np.int8),
    }[form]
    model = LandmarkFeatures(20, kernel=RBF(4.0)).set_output(transform="default")
    F = model.fit_transform(rows)
    exact = LandmarkFeatures(20, kernel=RBF(4.0)).fit_transform(X)
    assert F.dtype == (np.float32 if form == "float32" else np.float64)
    agree(F, exact, 1e-6 if form == "float32" else 1e-11)
    assert model.transform(rows).dtype == F.dtype
    if form == "frame":
        named = model.set_output(transform="pandas").transform(rows)
        assert list(named.columns) == list(model.get_feature_names_out())


def test_rows_of_anything_through_a_feature_map():
    words = ["banana", "bandana", "ananas", "cabana", "canada", "panama"]
    model = LandmarkFeatures(6, kernel=FeatureMap(ngrams(2))).fit(words)
    K = np.asarray(FeatureMap(ngrams(2)).block(words))
    agree(model.factor_ @ model.factor_.T, K, 1e-9 * K.max())
    agree(model.transform(words), model.factor_, 1e-9)
    agree(model.novelty(words), 0, 1e-9 * K.max())


def test_what_cannot_be_fitted_is_refused():
    X = table()
    refuses("no row can be a landmark", LandmarkFeatures(kernel=Linear()).fit, np.zeros((4, 2)))
    with pytest.raises(NotSupportedError, match="kernel of two rows"):
        LandmarkFeatures(kernel="precomputed").fit(np.eye(4))
    refuses("indefinite", LandmarkFeatures(kernel="sigmoid").fit, X)
    refuses("sampler", LandmarkFeatures(sampler="greedy").fit, X)


def test_a_linear_method_sees_what_the_kernel_sees():
    X, y = load_digits(return_X_y=True)
    plain = RidgeClassifier().fit(X[:1200], y[:1200]).score(X[1200:], y[1200:])
    curved = make_pipeline(LandmarkFeatures(300), RidgeClassifier()).fit(X[:1200], y[:1200])
    assert curved.score(X[1200:], y[1200:]) > plain + 0.04
