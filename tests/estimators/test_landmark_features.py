import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

from mercer import LandmarkFeatures
from mercer.errors import InputError, NotSupportedError
from mercer.kernels import RBF, FeatureMap, Linear, NegativeDistance, ngrams


def table(n=150, p=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def test_products_of_features_are_the_kernel_once_all_rows_are_landmarks():
    X, new = table(60), table(20, seed=1)
    model = LandmarkFeatures(60, kernel=RBF(0.8)).fit(X)
    assert model.n_landmarks_ == 60
    F, G = model.transform(X), model.transform(new)
    np.testing.assert_allclose(F @ F.T, RBF(0.8).block(X), rtol=0, atol=1e-9)
    np.testing.assert_allclose(G @ F.T, RBF(0.8).block(new, X), rtol=0, atol=1e-9)
    assert model.residual_trace_ < 1e-9


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
    np.testing.assert_allclose(model.transform(X), model.factor_, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.fit_transform(X), model.factor_)
    np.testing.assert_allclose(model.novelty(X), model.residual_, rtol=0, atol=1e-12)
    K = model.kernel_.block(X)
    left = np.diag(K - model.factor_ @ model.factor_.T)
    np.testing.assert_allclose(model.residual_, left, rtol=0, atol=1e-12)
    assert model.residual_trace_ == pytest.approx(left.sum())
    assert list(model.get_feature_names_out()[:2]) == ["landmarkfeatures0", "landmarkfeatures1"]


def test_a_cpd_kernel_keeps_its_distances():
    X = table(40)
    F = LandmarkFeatures(40, kernel=NegativeDistance()).fit_transform(X)
    assert F.shape == (40, 39)
    squared = np.sum((F[:, None] - F[None]) ** 2, axis=2)
    exact = 2 * np.linalg.norm(X[:, None] - X[None], axis=2)  # k(x,x) + k(y,y) - 2k(x,y)
    np.testing.assert_allclose(squared, exact, rtol=0, atol=1e-10)


def test_enough_is_enough():
    X = table(400)
    model = LandmarkFeatures(400, kernel=RBF(2.0), tol=0.02).fit(X)
    assert model.residual_trace_ <= 0.02 * 400
    assert model.n_landmarks_ < 200


def test_rows_unlike_any_are_new():
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
    np.testing.assert_allclose(F, exact, rtol=0, atol=1e-6 if form == "float32" else 1e-11)
    assert model.transform(rows).dtype == F.dtype
    if form == "frame":
        named = model.set_output(transform="pandas").transform(rows)
        assert list(named.columns) == list(model.get_feature_names_out())


def test_rows_of_anything_through_a_feature_map():
    words = ["banana", "bandana", "ananas", "cabana", "canada", "panama"]
    model = LandmarkFeatures(6, kernel=FeatureMap(ngrams(2))).fit(words)
    K = np.asarray(FeatureMap(ngrams(2)).block(words))
    np.testing.assert_allclose(model.factor_ @ model.factor_.T, K, rtol=0, atol=1e-9 * K.max())
    np.testing.assert_allclose(model.transform(words), model.factor_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.novelty(words), 0, rtol=0, atol=1e-9 * K.max())


def test_what_cannot_be_fitted_is_refused_and_changes_nothing():
    X = table()
    model = LandmarkFeatures(9).fit(X)
    before = dict(vars(model))
    broken = X.copy()
    broken[3, 1] = np.nan
    with pytest.raises(InputError, match="NaN"):
        model.fit(broken)
    with pytest.raises(InputError, match="NaN"):
        model.transform(broken)
    assert vars(model) == before
    with pytest.raises(InputError, match="no row can be a landmark"):
        LandmarkFeatures(kernel=Linear()).fit(np.zeros((4, 2)))
    with pytest.raises(NotSupportedError, match="kernel of two rows"):
        LandmarkFeatures(kernel="precomputed").fit(np.eye(4))
    with pytest.raises(InputError, match="indefinite"):
        LandmarkFeatures(kernel="sigmoid").fit(X)
    with pytest.raises(InputError, match="sampler"):
        LandmarkFeatures(sampler="greedy").fit(X)


def test_seeds_pickles_and_clones():
    X = table()
    model = LandmarkFeatures(12, random_state=5).fit(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(clone(model).fit(X).factor_, model.factor_)
    other = LandmarkFeatures(12, random_state=np.random.RandomState(1)).fit(X)
    assert not np.array_equal(other.landmark_indices_, model.landmark_indices_)


def test_a_linear_method_sees_what_the_kernel_sees():
    X, y = load_digits(return_X_y=True)
    plain = RidgeClassifier().fit(X[:1200], y[:1200]).score(X[1200:], y[1200:])
    curved = make_pipeline(LandmarkFeatures(300), RidgeClassifier()).fit(X[:1200], y[:1200])
    assert curved.score(X[1200:], y[1200:]) > plain + 0.04
