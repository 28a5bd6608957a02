import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mercer import PCA
from mercer.errors import DataWarning, InputError


def reference(x, k=None):
    """Return mean, variances, axes and total variance by a plain SVD."""
    mean = x.mean(axis=0)
    _, s, vt = np.linalg.svd(x - mean, full_matrices=False)
    variances = s**2 / (len(x) - 1)
    return mean, variances[:k], vt[:k], float(variances.sum())


def same_axes(a, b, tol=1e-8):
    """Compare spaces axis by axis, whatever the signs."""
    return np.all(np.abs(np.abs(np.sum(a * b, axis=1)) - 1) < tol)


class TestAttributes:
    def test_they_are_those_of_the_svd(self, table):
        mean, variances, axes, total = reference(table)
        model = PCA().fit(table)
        np.testing.assert_allclose(model.mean_, mean, rtol=1e-14)
        np.testing.assert_allclose(model.explained_variance_, variances, rtol=1e-9)
        np.testing.assert_allclose(
            model.explained_variance_ratio_, variances / total, rtol=1e-9
        )
        np.testing.assert_allclose(model.singular_values_, np.sqrt(119 * variances), rtol=1e-9)
        assert same_axes(model.components_, axes)
        assert model.n_components_ == model.n_features_in_ == model.rank_ == 8
        assert model.n_samples_ == 120
        assert model.scale_ is None

    def test_ratios_are_shares_of_the_total(self, table):
        whole, part = PCA().fit(table), PCA(3).fit(table)
        assert whole.explained_variance_ratio_.sum() == pytest.approx(1)
        np.testing.assert_allclose(
            part.explained_variance_ratio_, whole.explained_variance_ratio_[:3], rtol=1e-9
        )

    def test_noise_is_the_mean_of_what_is_left_out(self, table):
        variances = reference(table)[1]
        for k in (1, 3, 7):
            assert PCA(k).fit(table).noise_variance_ == pytest.approx(variances[k:].mean())
        assert PCA(8).fit(table).noise_variance_ == 0
        wide = table[:6]
        left = reference(wide)[1]
        assert PCA(2).fit(wide).noise_variance_ == pytest.approx(left[2:6].sum() / 4)

    def test_signs_follow_the_rule(self, table):
        v = PCA().fit(table).components_
        largest = np.argmax(np.abs(v), axis=1)
        assert np.all(v[np.arange(8), largest] > 0)


class TestIdentities:
    @pytest.mark.parametrize("k", [1, 3, 8])
    def test_coordinates_are_uncorrelated_with_the_variances_claimed(self, table, k):
        model = PCA(k).fit(table)
        z = model.transform(table)
        assert z.shape == (120, k)
        np.testing.assert_allclose(z.mean(axis=0), 0, rtol=0, atol=1e-12)
        np.testing.assert_allclose(
            z.T @ z / 119, np.diag(model.explained_variance_), rtol=0, atol=1e-10
        )

    @pytest.mark.parametrize("k", [1, 3, 8])
    def test_what_is_not_kept_is_the_reconstruction_error(self, table, k):
        model = PCA(k).fit(table)
        back = model.inverse_transform(model.transform(table))
        variances = reference(table)[1]
        lost = np.sum((table - back) ** 2) / 119
        assert lost == pytest.approx(variances[k:].sum(), abs=1e-9)

    def test_fit_transform_is_transform(self, table):
        np.testing.assert_array_equal(
            PCA(3).fit_transform(table), PCA(3).fit(table).transform(table)
        )

    def test_new_rows_take_the_training_mean(self, table):
        model = PCA(2).fit(table)
        new = table[:5] + 7
        truth = (new - table.mean(axis=0)) @ model.components_.T
        np.testing.assert_allclose(model.transform(new), truth, rtol=0, atol=1e-10)
        np.testing.assert_allclose(model.transform(new[:1]), truth[:1], rtol=0, atol=1e-10)

    def test_permuting_rows_and_columns_permutes_nothing_else(self, table, rng):
        rows, columns = rng.permutation(120), rng.permutation(8)
        model, other = PCA(3).fit(table), PCA(3).fit(table[rows][:, columns])
        np.testing.assert_allclose(other.explained_variance_, model.explained_variance_)
        assert same_axes(other.components_, model.components_[:, columns])


class TestNumberOfComponents:
    def test_none_keeps_all(self, table):
        assert PCA().fit(table).n_components_ == 8
        assert PCA().fit(table[:5]).n_components_ == 5

    @pytest.mark.parametrize("k", [1, 5, 8, np.int64(3)])
    def test_a_number(self, table, k):
        assert PCA(k).fit(table).n_components_ == k

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99, 0.99999, np.float64(0.5)])
    def test_a_share(self, table, share):
        ratios = PCA().fit(table).explained_variance_ratio_
        model = PCA(share).fit(table)
        k = model.n_components_
        assert model.explained_variance_ratio_.sum() >= share * (1 - 1e-9)
        assert k == 1 or ratios[: k - 1].sum() < share
        assert model.components_.shape == (k, 8)
        assert len(model.certificate_.lower) == k

    def test_mle(self, rng):
        x = rng.standard_normal((500, 3)) @ rng.standard_normal((3, 9)) * 3
        x += 0.1 * rng.standard_normal((500, 9))
        assert PCA("mle").fit(x).n_components_ == 3

    def test_mle_needs_enough_rows(self, table):
        with pytest.raises(InputError, match="mle"):
            PCA("mle").fit(table[:5])

    @pytest.mark.parametrize("wrong", [0, -1, 1.0, 0.0, 1.5, -0.5, "many", [3], True, np.nan])
    def test_what_is_refused(self, table, wrong):
        with pytest.raises(InputError, match="n_components") as caught:
            PCA(wrong).fit(table)
        assert len(str(caught.value).splitlines()) == 3

    def test_more_than_there_can_be(self, table):
        for x, most in ((table, 8), (table[:5], 5)):
            with pytest.raises(InputError, match="must be between 1 and") as caught:
                PCA(9).fit(x)
            assert f"at most {most}" in caught.value.fix


class TestRank:
    def test_axes_without_variance_are_zero_and_not_invented(self, rng):
        x = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 7)) + 5
        model = PCA().fit(x)
        assert model.rank_ == 3
        assert model.components_.shape == (7, 7)
        np.testing.assert_array_equal(model.components_[3:], 0)
        norms = np.linalg.norm(model.components_[:3], axis=1)
        np.testing.assert_allclose(norms, 1, rtol=0, atol=1e-12)
        back = model.inverse_transform(model.transform(x))
        np.testing.assert_allclose(back, x, rtol=0, atol=1e-10)

    def test_n_rows_have_n_minus_one_axes(self, rng):
        x = rng.standard_normal((5, 30))
        model = PCA().fit(x)
        assert model.n_components_ == 5
        assert model.rank_ == 4
        np.testing.assert_array_equal(model.components_[4], 0)
        assert model.explained_variance_ratio_[:4].sum() == pytest.approx(1)

    def test_two_rows(self):
        model = PCA().fit(np.array([[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]]))
        assert model.rank_ == 1
        np.testing.assert_allclose(model.components_[0], [0.6, 0.8, 0], rtol=0, atol=1e-15)
        assert model.explained_variance_[0] == pytest.approx(12.5)

    def test_small_axes_are_kept_while_they_can_be_seen(self, rng):
        x = rng.standard_normal((200, 4)) * [1.0, 1e-3, 1e-5, 1e-7]
        assert PCA().fit(x).rank_ == 4

    def test_data_without_variance_is_refused(self):
        for x in (np.full((10, 3), 0.1), np.zeros((10, 3)), np.full((9, 2), 7)):
            with pytest.raises(InputError, match="no variance"):
                PCA().fit(x)

    def test_a_constant_column_has_no_part(self, table):
        x = np.hstack([table, np.full((120, 1), 0.1)])
        model = PCA(3).fit(x)
        np.testing.assert_array_equal(model.components_[:, 8], 0)
        assert PCA().fit(x).rank_ == 8
        np.testing.assert_allclose(
            model.explained_variance_, PCA(3).fit(table).explained_variance_, rtol=1e-9
        )


class TestWhitening:
    def test_coordinates_have_variance_one(self, table):
        z = PCA(4, whiten=True).fit_transform(table)
        np.testing.assert_allclose(np.cov(z.T), np.eye(4), rtol=0, atol=1e-10)

    def test_zca_is_the_whitening_nearest_to_the_data(self, table):
        model = PCA(whiten="zca").fit(table)
        z = model.transform(table)
        assert z.shape == table.shape
        np.testing.assert_allclose(np.cov(z.T), np.eye(8), rtol=0, atol=1e-9)
        values, vectors = np.linalg.eigh(np.cov(table.T))
        root = (vectors / np.sqrt(values)) @ vectors.T
        np.testing.assert_allclose(z, (table - table.mean(axis=0)) @ root, rtol=0, atol=1e-8)

    @pytest.mark.parametrize("whiten", [False, True, "zca"])
    @pytest.mark.parametrize("k", [3, 8])
    def test_the_inverse_undoes_it(self, table, whiten, k):
        plain = PCA(k).fit(table)
        truth = plain.inverse_transform(plain.transform(table))
        model = PCA(k, whiten=whiten).fit(table)
        back = model.inverse_transform(model.transform(table))
        np.testing.assert_allclose(back, truth, rtol=0, atol=1e-9)

    @pytest.mark.parametrize("whiten", [True, "zca"])
    def test_axes_without_variance_are_set_to_zero(self, rng, whiten):
        x = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 6))
        model = PCA(whiten=whiten).fit(x)
        z = model.transform(x)
        assert np.isfinite(z).all()
        assert np.linalg.matrix_rank(z) == 3
        if whiten is True:
            np.testing.assert_array_equal(z[:, 3:], 0)
        np.testing.assert_allclose(model.inverse_transform(z), x, rtol=0, atol=1e-10)

    def test_names_of_the_columns_out(self, table):
        names = PCA(3).fit(table).get_feature_names_out()
        assert names.tolist() == ["pca0", "pca1", "pca2"]
        names = PCA(3, whiten="zca").fit(table).get_feature_names_out()
        assert names.tolist() == [f"x{i}" for i in range(8)]

    def test_other_words_are_refused(self, table):
        with pytest.raises(InputError, match="whiten"):
            PCA(whiten="pca").fit(table)


class TestScaling:
    def test_standardising_is_dividing_first(self, table):
        z = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
        model, plain = PCA(3, standardize=True).fit(table), PCA(3).fit(z)
        np.testing.assert_allclose(model.explained_variance_, plain.explained_variance_)
        np.testing.assert_allclose(model.scale_, table.std(axis=0, ddof=1))
        np.testing.assert_allclose(
            model.transform(table), plain.transform(z), rtol=0, atol=1e-10
        )

    def test_standardising_forgets_units(self, table, rng):
        units = 10 ** rng.uniform(-6, 6, 8)
        model, other = (PCA(3, standardize=True).fit(x) for x in (table, table * units))
        np.testing.assert_allclose(other.explained_variance_, model.explained_variance_)
        np.testing.assert_allclose(other.components_, model.components_, rtol=0, atol=1e-9)

    def test_the_inverse_returns_to_the_units_of_the_data(self, table):
        model = PCA(standardize=True, feature_weight=np.arange(1.0, 9.0)).fit(table)
        back = model.inverse_transform(model.transform(table))
        np.testing.assert_allclose(back, table, rtol=0, atol=1e-10)

    def test_constant_columns_are_named_and_only_centred(self, table):
        x = np.hstack([table, np.full((120, 2), 3.3)])
        with pytest.warns(DataWarning, match="8, 9") as caught:
            model = PCA(3, standardize=True).fit(x)
        assert caught[0].filename == __file__
        np.testing.assert_array_equal(model.components_[:, 8:], 0)
        np.testing.assert_allclose(model.scale_[8:], 1)
        assert np.isfinite(model.transform(x)).all()

    def test_weights_of_features_are_columns_times_their_roots(self, table):
        weight = np.linspace(0.1, 4, 8)
        model, plain = PCA(3, feature_weight=weight).fit(table), PCA(3).fit(table * weight**0.5)
        np.testing.assert_allclose(model.explained_variance_, plain.explained_variance_)
        assert same_axes(model.components_, plain.components_)
        scores = plain.transform(table * weight**0.5)
        np.testing.assert_allclose(model.transform(table), scores, rtol=0, atol=1e-10)

    @pytest.mark.parametrize(
        "wrong", [np.ones(7), np.zeros(8), -np.ones(8), np.full(8, np.nan), np.ones((8, 1))]
    )
    def test_weights_that_are_refused(self, table, wrong):
        with pytest.raises(InputError, match="feature_weight"):
            PCA(feature_weight=wrong).fit(table)


class TestRange:
    def test_variances_beyond_float64_are_said(self, table):
        with pytest.warns(DataWarning, match="leave the range") as caught:
            model = PCA(3).fit(np.ldexp(table, 700))
        assert caught[0].filename == __file__
        plain = PCA(3).fit(table)
        np.testing.assert_allclose(model.components_, plain.components_, rtol=0, atol=1e-12)
        np.testing.assert_allclose(
            model.explained_variance_ratio_, plain.explained_variance_ratio_
        )

    @pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
    def test_the_largest_numbers_give_no_nan(self):
        x = np.array([[1.7e308, 1.0], [-1.7e308, 2.0], [1e308, 5.0], [0.0, -3.0]])
        try:
            model = PCA(1).fit(x)
        except InputError:
            return  # refused in three lines, which is an answer too
        np.testing.assert_allclose(np.abs(model.components_), [[1, 0]], rtol=0, atol=1e-12)
        np.testing.assert_allclose(model.mean_ / 2.5e307, [1, 1.25 / 2.5e307], rtol=1e-12)
        assert np.isfinite(model.explained_variance_ratio_).all()
        assert not np.isnan(model.transform(x)).any()

    def test_an_outlier_beyond_the_sample(self, rng):
        x = rng.standard_normal((9000, 3))
        x[4001] = [1e200, -1e200, 5.0]
        with pytest.warns(DataWarning, match="leave the range"):
            model = PCA(1).fit(x)
        np.testing.assert_allclose(
            np.abs(model.components_[0]), [0.5**0.5, 0.5**0.5, 0], rtol=0, atol=1e-9
        )


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
    model = PCA(3).fit(table)
    with pytest.raises(InputError, match="must have 3 columns"):
        model.inverse_transform(np.ones((2, 4)))
    with pytest.raises(InputError, match="features"):
        model.transform(table[:, :5])


@pytest.mark.parametrize("options", [{}, {"standardize": True}, {"whiten": True}])
def test_axes_point_as_factominer_has_them(rng, options):
    X = rng.normal(size=(60, 5)) * [5, 4, 3, 2, 1]
    plain, turned = PCA(4, **options).fit(X), PCA(4, sign="factominer", **options).fit(X)
    assert np.all(turned.components_.sum(axis=1) > 0)
    signs = np.sign(np.sum(plain.components_ * turned.components_, axis=1))
    np.testing.assert_allclose(turned.components_, plain.components_ * signs[:, None])
    np.testing.assert_allclose(
        turned.transform(X), plain.transform(X) * signs, rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(
        turned.inverse_transform(turned.transform(X))[0],
        plain.inverse_transform(plain.transform(X))[0],
    )


def test_inertia_divides_by_the_number_of_rows(rng):
    X = rng.normal(size=(40, 3))
    np.testing.assert_allclose(
        PCA().fit(X).inertia_, np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    )
