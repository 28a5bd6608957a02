import numpy as np
import pytest
import scipy.sparse
from scipy.stats import multivariate_normal

import mercer
from mercer import PCA
from mercer.errors import InputError

OPTIONS = [
    {},
    {"whiten": True},
    {"whiten": "zca"},
    {"standardize": True},
    {"feature_weight": np.linspace(0.5, 2, 8)},
    {"standardize": True, "whiten": True},
]


@pytest.mark.parametrize("k", [1, 3, 7, 8])
@pytest.mark.parametrize("options", OPTIONS)
def test_the_score_is_that_of_the_gaussian(table, k, options):
    model = PCA(k, **options).fit(table)
    law = multivariate_normal(model.mean_, model.get_covariance())
    np.testing.assert_allclose(model.score_samples(table), law.logpdf(table), rtol=1e-8)
    assert model.score(table) == pytest.approx(np.mean(law.logpdf(table)))


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("options", OPTIONS)
def test_precision_is_the_inverse_of_covariance(table, k, options):
    model = PCA(k, **options).fit(table)
    product = model.get_covariance() @ model.get_precision()
    np.testing.assert_allclose(product, np.eye(8), rtol=0, atol=1e-8)


@pytest.mark.parametrize("options", OPTIONS)
def test_all_components_give_the_covariance_of_the_data(table, options):
    model = PCA(**options).fit(table)
    np.testing.assert_allclose(model.get_covariance(), np.cov(table.T), rtol=1e-9, atol=1e-9)


def test_the_model_is_the_most_likely_of_its_kind(table):
    scores = [PCA(k).fit(table).score(table) for k in range(1, 9)]
    # Seven axes and isotropic noise along the eighth are the model of eight axes.
    assert np.all(np.diff(scores) >= -1e-10 * np.abs(scores[:-1]))
    assert scores[-1] == pytest.approx(scores[-2], rel=1e-10)
    model = PCA(3).fit(table)
    best = model.score(table)
    model.noise_variance_ *= 1.3
    assert model.score(table) < best


def test_sparse_rows_have_the_same_score(rng):
    x = rng.poisson(1, (80, 6)) * 1.0
    model = PCA(3).fit(x)
    np.testing.assert_allclose(
        model.score_samples(scipy.sparse.csr_array(x)), model.score_samples(x), rtol=1e-10
    )


def test_new_rows_far_away_are_unlikely(table):
    model = PCA(3).fit(table)
    assert model.score_samples(table[:3] + 1e3).max() < model.score_samples(table).min()


def test_float32_rows(table):
    model = PCA(3).fit(table.astype(np.float32))
    found = model.score_samples(table.astype(np.float32))
    assert found.dtype == np.float64
    np.testing.assert_allclose(
        found, PCA(3).fit(table).score_samples(table), rtol=1e-2, atol=0.1
    )


def test_far_from_the_origin_the_score_stays(table):
    base = PCA(3).fit(table).score(table)
    assert PCA(3).fit(table + 1e7).score(table + 1e7) == pytest.approx(base, rel=1e-5)


def test_a_singular_model_has_no_density(rng):
    x = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 5))
    for k in (2, 3, 5, None):
        model = PCA(k).fit(x)
        for call in (lambda m=model: m.score(x), model.get_precision):
            with pytest.raises(InputError, match="no density") as caught:
                call()
            assert len(str(caught.value).splitlines()) == 3
        covariance = model.get_covariance()
        np.testing.assert_allclose(covariance, np.cov(x.T), rtol=0, atol=1e-9)
    assert np.isfinite(PCA(1).fit(x).score(x))


def test_bad_rows_are_named(table):
    model = PCA(3).fit(table)
    bad = table.copy()
    bad[7, 2] = np.nan
    with pytest.raises(InputError, match="row 7, column 2"):
        model.score_samples(bad)


class TestFiles:
    @pytest.fixture(autouse=True)
    def small_blocks(self, monkeypatch):
        monkeypatch.setattr(PCA, "_block_bytes", lambda *_: 50 * 8 * 8.0)

    @pytest.mark.parametrize("options", [{}, {"standardize": True}, {"whiten": True}], ids=str)
    def test_rows_of_a_file_are_scored_block_by_block(self, table, tmp_path, options):
        np.save(tmp_path / "a.npy", table)
        model = PCA(3, **options).fit(table)
        found = model.score_samples(tmp_path / "a.npy")
        np.testing.assert_allclose(found, model.score_samples(table), rtol=1e-12)
        assert model.score(mercer.scan(tmp_path / "a.npy")) == np.mean(found)

    def test_a_bad_cell_is_named_where_it_stands(self, table, tmp_path):
        model = PCA(3).fit(table)
        table[70, 2] = np.inf
        np.save(tmp_path / "a.npy", table)
        with pytest.raises(InputError, match=r"a\.npy, row 70, column 2"):
            model.score(tmp_path / "a.npy")
