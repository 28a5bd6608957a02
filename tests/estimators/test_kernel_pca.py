import inspect
import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

import mercer
from mercer import KernelPCA
from mercer.errors import InputError, NotSupportedError
from mercer.kernels import RBF, Cosine, FeatureMap, Laplacian, Linear, Polynomial

ARRAYS = ("eigenvalues_", "explained_variance_", "explained_variance_ratio_", "dual_")


@pytest.fixture
def rings(rng):
    """Two rings, each with a little noise: no line tells them apart."""
    t = rng.uniform(0, 2 * np.pi, 150)
    radius = np.where(np.arange(150) < 60, 1.0, 3.0)
    X = np.column_stack([radius * np.cos(t), radius * np.sin(t)])
    return X + 0.05 * rng.standard_normal(X.shape)


def test_signature():
    """The parameters, their order and their defaults are a promise."""
    found = {
        name: (parameter.default, parameter.kind is parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(KernelPCA).parameters.items()
    }
    assert found == {
        "n_components": (2, False),
        "kernel": (RBF(), True),
        "standardize": (False, True),
        "indefinite": ("raise", True),
        "tol": (None, True),
        "memory": (None, True),
        "time": (None, True),
        "device": (None, True),
        "random_state": (0, True),
        "landmarks": (None, True),
        "tol_transform": (None, True),
        "feature_weight": (None, True),
        "missing": ("raise", True),
    }


def test_fitted_attributes(rings):
    model = KernelPCA(3).fit(rings)
    assert model.dual_.shape == (150, 3)
    for name in ("eigenvalues_", "explained_variance_", "explained_variance_ratio_"):
        assert getattr(model, name).shape == (3,)
    np.testing.assert_allclose(model.explained_variance_, model.eigenvalues_ / 149)
    assert model.kernel_.resolved
    assert (model.n_components_, model.n_samples_, model.n_features_in_) == (3, 150, 2)
    assert model.rank_ == 3
    assert model.negative_share_ == 0
    assert model.certificate_.met
    assert model.plan_.chosen.name in str(mercer.plan(KernelPCA(3), rings))
    assert mercer.plan(KernelPCA(3), rings).chosen == model.plan_.chosen


def test_default_lengthscale_is_the_median(rings):
    differences = rings[:, None] - rings[None]
    squares = np.sum(differences**2, axis=2)[np.triu_indices(150, 1)]
    model = KernelPCA(2).fit(rings)
    assert model.kernel_.lengthscale == pytest.approx(
        np.sqrt(np.median(squares) / 2), rel=1e-12
    )


def test_rings_come_apart(rings):
    Z = KernelPCA(1, kernel=RBF(1.0)).fit_transform(rings)[:, 0]
    inner, outer = Z[:60], Z[60:]
    assert inner.min() > outer.max() or inner.max() < outer.min()


@pytest.mark.parametrize("kernel", [RBF(), Polynomial(2)], ids=repr)
def test_parameters_set_after_fit_change_nothing_fitted(rings, kernel):
    model = KernelPCA(3, kernel=kernel).fit(rings)
    Z, score, names = model.transform(rings), model.score(rings), model.get_feature_names_out()
    back = model.inverse_transform(Z)
    before = {name: np.array(getattr(model, name)) for name in ARRAYS}
    inner = {"kernel__lengthscale": 0.01} if isinstance(kernel, RBF) else {"kernel__degree": 3}
    changes = {"kernel": Laplacian(0.1), "n_components": 1, "standardize": True}
    for name, value in {**inner, **changes, "indefinite": "flip", "tol": 0.5}.items():
        model.set_params(**{name: value})
        np.testing.assert_array_equal(model.transform(rings), Z)
        np.testing.assert_array_equal(model.inverse_transform(Z), back)
        assert model.score(rings) == score
        assert list(model.get_feature_names_out()) == list(names)
        for attribute, array in before.items():
            np.testing.assert_array_equal(getattr(model, attribute), array)


def test_standardised_models_stay_so(rings):
    model = KernelPCA(2, standardize=True).fit(rings * [1, 100])
    Z = model.transform(rings * [1, 100])
    model.set_params(standardize=False)
    np.testing.assert_array_equal(model.transform(rings * [1, 100]), Z)


KERNELS = [
    RBF(1.0),
    Linear(),
    Polynomial(2),
    Cosine(),
    FeatureMap(np.square),
    FeatureMap(np.asarray),
    Laplacian(1.0) + Linear(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_data_are_not_written_to_and_not_kept_by_reference(rings, kernel, order):
    X = np.array(rings, order=order)
    X.flags.writeable = False
    model = KernelPCA(2, kernel=kernel).fit(X)
    Z, back = model.transform(rings), model.inverse_transform(model.transform(rings))
    again = KernelPCA(2, kernel=kernel).fit(X)
    again.transform(X)
    np.testing.assert_array_equal(X, rings)
    X.flags.writeable = True
    X[:] = 0
    np.testing.assert_array_equal(model.transform(rings), Z)
    np.testing.assert_array_equal(model.inverse_transform(Z), back)
    np.testing.assert_allclose(again.inverse_transform(Z), back)  # its decoder is learned now


def test_changing_a_given_matrix_after_fit_changes_nothing(rings):
    K = RBF(1.0).block(rings).copy()
    model = KernelPCA(2, kernel="precomputed").fit(K)
    kept = K.copy()
    Z = model.transform(kept)
    K[:] = 0
    np.testing.assert_array_equal(model.transform(kept), Z)


def test_results_handed_out_are_copies(rings):
    model = KernelPCA(2)
    Z = model.fit_transform(rings)
    kept = Z.copy()
    Z[:] = 0
    np.testing.assert_allclose(model.transform(rings), kept, rtol=0, atol=1e-10)
    first = model.inverse_transform(kept)
    assert np.abs(first).max() > 1e-3
    np.testing.assert_allclose(first, rings, rtol=0, atol=2.0)


def test_grid_search_over_the_lengthscale(rings):
    steps = [("kpca", KernelPCA(2)), ("knn", KNeighborsClassifier(3))]
    search = GridSearchCV(
        Pipeline(steps), {"kpca__kernel__lengthscale": [0.5, 2.0, "median"]}, cv=3
    )
    search.fit(rings, np.arange(150) < 60)
    assert search.best_score_ > 0.9
    assert KernelPCA().kernel == RBF()  # the shared default is as it was


@pytest.mark.parametrize("text", ["rbf", "rbf(lengthscale=2) + linear", "poly", "cosine"])
def test_kernels_in_writing(rings, text):
    model = KernelPCA(2, kernel=text)
    assert model.fit_transform(rings).shape == (150, 2)
    assert model.kernel == text


def test_a_function_as_kernel(rings):
    def half(x, y):
        return 0.5 * x @ y.T

    model = KernelPCA(2, kernel=half).fit(rings)
    linear = KernelPCA(2, kernel="linear").fit(rings)
    np.testing.assert_allclose(2 * model.eigenvalues_, linear.eigenvalues_, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_given_matrix(rings, dtype):
    X, new = rings[:100], rings[100:]
    kernel = RBF(1.5)
    K, across = kernel.block(X).astype(dtype), kernel.block(new, X).astype(dtype)
    model, plain = KernelPCA(2, kernel="precomputed"), KernelPCA(2, kernel=kernel).fit(X)
    Z = model.fit_transform(K)
    loose = 1e-10 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=loose)
    np.testing.assert_allclose(Z, plain.transform(X), rtol=0, atol=10 * loose)
    np.testing.assert_allclose(model.transform(K), Z, rtol=0, atol=10 * loose)
    np.testing.assert_allclose(
        model.transform(across), plain.transform(new), rtol=0, atol=10 * loose
    )
    assert model.n_features_in_ == 100
    with pytest.raises(NotSupportedError) as error:
        model.inverse_transform(Z)
    assert str(error.value).count("\n") == 2


def test_inverse_of_training_rows(rings):
    model = KernelPCA(20, kernel=RBF(1.0))
    back = model.inverse_transform(model.fit_transform(rings))
    assert np.mean((back - rings) ** 2) < 0.01 * np.mean((rings - rings.mean(axis=0)) ** 2)
    assert model.score(rings) > 0.99
    with pytest.raises(InputError, match="20 columns"):
        model.inverse_transform(back)


def test_the_decoder_is_learned_once(rings):
    model = KernelPCA(2).fit(rings)
    assert model.decoder_ is model.decoder_
    old = model.decoder_
    model.fit(rings[:80])
    assert model.decoder_ is not old


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("kernel", "rfb"),
        ("kernel", 3),
        ("kernel", None),
        ("indefinite", "ignore"),
        ("standardize", "yes"),
        ("tol", 0.0),
        ("tol", -1),
        ("memory", -5),
        ("memory", "much"),
        ("device", "cuda"),
        ("n_components", 0),
    ],
)
def test_odd_parameters(rings, parameter, value):
    with pytest.raises((InputError, NotSupportedError)) as error:
        KernelPCA(**{parameter: value}).fit(rings)
    assert str(error.value).count("\n") == 2


def test_a_large_effective_rank_is_said(rings):
    with pytest.warns(mercer.errors.DataWarning, match="lengthscale is too short"):
        KernelPCA(2, kernel=RBF(1e-3)).fit(rings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelPCA(2).fit(rings)


def test_refitting_forgets_the_first_fit(rings):
    model = KernelPCA(2, kernel="poly(degree=2)").fit(rings)
    model.set_params(kernel=RBF(1.0)).fit(rings[:70])
    fresh = KernelPCA(2, kernel=RBF(1.0)).fit(rings[:70])
    assert vars(model).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(model.transform(rings), fresh.transform(rings))
