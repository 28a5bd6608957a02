"""PCA by its definition: the SVD of the centred rows, and what follows from it."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mercer import PCA
from mercer.errors import DataWarning, InputError


def reference(x):
    """Return mean, variances, axes and total variance by a plain SVD."""
    mean = x.mean(axis=0)
    _, s, vt = np.linalg.svd(x - mean, full_matrices=False)
    variances = s**2 / (len(x) - 1)
    return mean, variances, vt, float(variances.sum())


def test_attributes_are_those_of_the_svd(table):
    mean, variances, axes, total = reference(table)
    model = PCA().fit(table)
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-14)
    np.testing.assert_allclose(model.explained_variance_, variances, rtol=1e-9)
    np.testing.assert_allclose(model.explained_variance_ratio_, variances / total, rtol=1e-9)
    np.testing.assert_allclose(model.singular_values_, np.sqrt(119 * variances), rtol=1e-9)
    cosines = np.abs(np.sum(model.components_ * axes, axis=1))
    np.testing.assert_allclose(cosines, 1, rtol=0, atol=1e-8)
    assert model.n_components_ == model.n_features_in_ == model.rank_ == 8
    assert model.n_samples_ == 120
    assert model.scale_ is None
    np.testing.assert_allclose(model.inertia_, variances * 119 / 120)  # divided by n


def test_noise_is_the_mean_of_what_is_left_out(table):
    variances = reference(table)[1]
    for k in (1, 3, 7):
        assert PCA(k).fit(table).noise_variance_ == pytest.approx(variances[k:].mean())
    assert PCA(8).fit(table).noise_variance_ == 0
    wide = table[:6]
    left = reference(wide)[1]
    assert PCA(2).fit(wide).noise_variance_ == pytest.approx(left[2:6].sum() / 4)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_coordinates_keep_the_variances_claimed_and_lose_the_others(table, k):
    model = PCA(k).fit(table)
    z = model.transform(table)
    assert z.shape == (120, k)
    np.testing.assert_array_equal(PCA(k).fit_transform(table), z)
    np.testing.assert_allclose(z.mean(axis=0), 0, rtol=0, atol=1e-12)
    inner = z.T @ z / 119
    np.testing.assert_allclose(inner, np.diag(model.explained_variance_), rtol=0, atol=1e-10)
    lost = np.sum((table - model.inverse_transform(z)) ** 2) / 119
    assert lost == pytest.approx(reference(table)[1][k:].sum(), abs=1e-9)


def test_new_rows_take_the_training_mean(table):
    model = PCA(2).fit(table)
    new = table[:5] + 7
    truth = (new - table.mean(axis=0)) @ model.components_.T
    np.testing.assert_allclose(model.transform(new), truth, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.transform(new[:1]), truth[:1], rtol=0, atol=1e-10)


# -- how many -------------------------------------------------------------------------------


def test_none_keeps_all_and_a_number_that_many(table):
    assert PCA().fit(table).n_components_ == 8
    assert PCA().fit(table[:5]).n_components_ == 5
    for k in (1, 5, 8, np.int64(3)):
        assert PCA(k).fit(table).n_components_ == k


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99, 0.99999, np.float64(0.5)])
def test_a_share(table, share):
    ratios = PCA().fit(table).explained_variance_ratio_
    model = PCA(share).fit(table)
    k = model.n_components_
    assert model.explained_variance_ratio_.sum() >= share * (1 - 1e-9)
    assert k == 1 or ratios[: k - 1].sum() < share
    assert model.components_.shape == (k, 8)
    assert len(model.certificate_.lower) == k


def test_mle(rng):
    x = rng.standard_normal((500, 3)) @ rng.standard_normal((3, 9)) * 3
    assert PCA("mle").fit(x + 0.1 * rng.standard_normal((500, 9))).n_components_ == 3


def test_more_than_there_can_be(table):
    for x, most in ((table, 8), (table[:5], 5)):
        with pytest.raises(InputError, match="must be between 1 and") as caught:
            PCA(9).fit(x)
        assert f"at most {most}" in caught.value.fix


# -- whitening, scaling, range ----------------------------------------------------------------


def test_zca_is_the_whitening_nearest_to_the_data(table):
    model = PCA(whiten="zca").fit(table)
    z = model.transform(table)
    assert z.shape == table.shape
    np.testing.assert_allclose(np.cov(z.T), np.eye(8), rtol=0, atol=1e-9)
    values, vectors = np.linalg.eigh(np.cov(table.T))
    root = (vectors / np.sqrt(values)) @ vectors.T
    np.testing.assert_allclose(z, (table - table.mean(axis=0)) @ root, rtol=0, atol=1e-8)
    names = model.get_feature_names_out()
    assert names.tolist() == [f"x{i}" for i in range(8)]


@pytest.mark.parametrize("whiten", [True, "zca"])
@pytest.mark.parametrize("k", [3, 8])
def test_the_inverse_undoes_whitening(table, whiten, k):
    plain, model = PCA(k).fit(table), PCA(k, whiten=whiten).fit(table)
    z = model.transform(table)
    if whiten is True:
        np.testing.assert_allclose(np.cov(z.T), np.eye(k), rtol=0, atol=1e-10)
    truth = plain.inverse_transform(plain.transform(table))
    np.testing.assert_allclose(model.inverse_transform(z), truth, rtol=0, atol=1e-9)


@pytest.mark.parametrize("whiten", [True, "zca"])
def test_whitened_axes_without_variance_are_set_to_zero(rng, whiten):
    x = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 6))
    z = PCA(whiten=whiten).fit(x).transform(x)
    assert np.linalg.matrix_rank(z) == 3
    np.testing.assert_allclose(PCA(whiten=whiten).fit(x).inverse_transform(z), x, atol=1e-10)


def test_standardising_is_dividing_first(table):
    z = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
    model, plain = PCA(3, standardize=True).fit(table), PCA(3).fit(z)
    np.testing.assert_allclose(model.explained_variance_, plain.explained_variance_)
    np.testing.assert_allclose(model.scale_, table.std(axis=0, ddof=1))
    np.testing.assert_allclose(model.transform(table), plain.transform(z), rtol=0, atol=1e-10)


def test_the_inverse_returns_to_the_units_of_the_data(table):
    model = PCA(standardize=True, feature_weight=np.arange(1.0, 9.0)).fit(table)
    back = model.inverse_transform(model.transform(table))
    np.testing.assert_allclose(back, table, rtol=0, atol=1e-10)


def test_remarks_on_the_data_point_at_the_call(table):
    x = np.hstack([table, np.full((120, 2), 3.3)])
    with pytest.warns(DataWarning, match="8, 9") as caught:
        PCA(3, standardize=True).fit(x)
    assert caught[0].filename == __file__
    with pytest.warns(DataWarning, match="leave the range") as caught:
        PCA(3).fit(np.ldexp(table, 700))
    assert caught[0].filename == __file__
    whole = np.arange(150).reshape(50, 3) ** 2 * 2**50
    whole[:, 1] = np.arange(50) % 10
    with pytest.warns(DataWarning, match="2\\^53") as caught:
        PCA(2).fit(whole)
    assert "2 such columns: 0, 2" in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
def test_the_largest_numbers_give_no_nan():
    x = np.array([[1.7e308, 1.0], [-1.7e308, 2.0], [1e308, 5.0], [0.0, -3.0]])
    try:
        model = PCA(1).fit(x)
    except InputError:
        return  # refused in three lines, which is an answer too
    np.testing.assert_allclose(np.abs(model.components_), [[1, 0]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.mean_ / 2.5e307, [1, 1.25 / 2.5e307], rtol=1e-12)
    assert np.isfinite(model.explained_variance_ratio_).all()
    assert not np.isnan(model.transform(x)).any()


# -- uses -----------------------------------------------------------------------------------


def test_nothing_is_answered_before_fit(table):
    model = PCA()
    for call in (
        lambda: model.transform(table),
        lambda: model.inverse_transform(table),
        lambda: model.score(table),
        model.get_covariance,
        model.get_feature_names_out,
    ):
        with pytest.raises(NotFittedError):
            call()


def test_coordinates_of_the_wrong_width(table):
    with pytest.raises(InputError, match="must have 3 columns"):
        PCA(3).fit(table).inverse_transform(np.ones((2, 4)))


@pytest.mark.parametrize("options", [{}, {"standardize": True}, {"whiten": True}])
def test_axes_point_as_factominer_has_them(rng, options):
    X = rng.normal(size=(60, 5)) * [5, 4, 3, 2, 1]
    plain, turned = PCA(4, **options).fit(X), PCA(4, sign="factominer", **options).fit(X)
    assert np.all(turned.components_.sum(axis=1) > 0)
    signs = np.sign(np.sum(plain.components_ * turned.components_, axis=1))
    np.testing.assert_allclose(turned.components_, plain.components_ * signs[:, None])
    z, wanted = turned.transform(X), plain.transform(X) * signs
    np.testing.assert_allclose(z, wanted, rtol=0, atol=1e-12)
    back = plain.inverse_transform(plain.transform(X))[0]
    np.testing.assert_allclose(turned.inverse_transform(z)[0], back)
