import pickle

import numpy as np
import pytest

from mercer import PCA
from mercer.errors import InputError


def moments(x):
    return np.cov(x, rowvar=False), x.mean(axis=0), len(x)


@pytest.mark.parametrize("wanted", [None, 1, 3, 0.9, "mle"])
@pytest.mark.parametrize(
    "options",
    [{}, {"standardize": True}, {"whiten": True}, {"feature_weight": np.linspace(0.5, 2, 8)}],
)
def test_it_is_the_model_of_the_data(table, wanted, options):
    model = PCA.from_covariance(*moments(table), n_components=wanted, **options)
    fitted = PCA(wanted, **options).fit(table)
    assert model.n_components_ == fitted.n_components_
    for name in (
        "explained_variance_",
        "explained_variance_ratio_",
        "singular_values_",
        "mean_",
    ):
        np.testing.assert_allclose(getattr(model, name), getattr(fitted, name), rtol=1e-8)
    np.testing.assert_allclose(model.components_, fitted.components_, rtol=0, atol=1e-7)
    np.testing.assert_allclose(
        model.transform(table), fitted.transform(table), rtol=0, atol=1e-6
    )
    np.testing.assert_allclose(model.noise_variance_, fitted.noise_variance_, rtol=1e-7)
    np.testing.assert_allclose(
        model.get_covariance(), fitted.get_covariance(), rtol=0, atol=1e-7
    )
    assert model.rank_ == fitted.rank_
    assert model.n_samples_ == 120
    assert model.n_features_in_ == 8


def test_its_certificate_holds(table):
    covariance, mean, n = moments(table)
    model = PCA.from_covariance(covariance, mean, n)
    truth = np.linalg.eigvalsh(covariance)[::-1]
    c = model.certificate_
    assert np.all((c.lower <= truth) & (truth <= c.upper))
    assert c.met


def test_it_answers_like_any_model(table):
    model = PCA.from_covariance(*moments(table), n_components=3)
    z = model.transform(table)
    np.testing.assert_allclose(
        model.inverse_transform(z), PCA(3).fit(table).inverse_transform(z), rtol=0, atol=1e-7
    )
    assert np.isfinite(model.score(table))
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.transform(table), z)
    assert model.fit(table[:, :4]).n_features_in_ == 4


def test_few_rows_have_few_axes(rng):
    x = rng.standard_normal((4, 9))
    model, fitted = PCA.from_covariance(*moments(x)), PCA().fit(x)
    assert model.n_components_ == fitted.n_components_ == 4
    assert model.rank_ == fitted.rank_ == 3
    np.testing.assert_allclose(model.explained_variance_[:3], fitted.explained_variance_[:3])


def test_one_feature():
    model = PCA.from_covariance([[4.0]], [1.0], 10)
    assert model.explained_variance_.tolist() == [4.0]
    np.testing.assert_allclose(model.transform([[3.0]]), [[2.0]])


C = np.array([[2.0, 1.0], [1.0, 2.0]])


def test_wrong_parameters_are_refused():
    with pytest.raises(InputError, match="n_components"):
        PCA.from_covariance(C, [0, 0], 5, n_components=3)
    with pytest.raises(InputError, match="tol"):
        PCA.from_covariance(C, [0, 0], 5, tol=-1)
    with pytest.raises(TypeError):
        PCA.from_covariance(C, [0, 0], 5, unknown=1)
