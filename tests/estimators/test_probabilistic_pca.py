"""Probabilistic PCA: its likelihood, what is drawn from it, and cells that are missing."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, load_wine
from tests.claims import agree, refuses, warned

import mercer
from mercer import PCA, ProbabilisticPCA
from mercer.errors import NotSupportedError

IRIS = load_iris().data
WINE = load_wine().data


def table(n=200, p=6, k=2, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, k)) @ rng.normal(size=(k, p)) + noise * rng.normal(size=(n, p))


@pytest.mark.parametrize("X", [IRIS, WINE, table(), table() + 1e6], ids=str)
@pytest.mark.parametrize("k", [1, 3])
def test_the_likelihood_of_scikit_learn(X, k):
    found = ProbabilisticPCA(k).fit(X)
    theirs = sklearn.decomposition.PCA(k, svd_solver="full").fit(X - X.mean(axis=0))
    assert found.noise_variance_ == pytest.approx(theirs.noise_variance_, rel=1e-6)
    there = X - X.mean(axis=0)
    assert found.score(X) == pytest.approx(theirs.score(there), rel=1e-6)
    np.testing.assert_allclose(found.score_samples(X), theirs.score_samples(there), rtol=1e-5)
    assert found.log_likelihood_ == pytest.approx(len(X) * found.score(X), rel=1e-8)


@pytest.mark.parametrize("standardize", [False, True])
def test_the_density_is_that_of_the_normal_law(standardize):
    X = WINE[:, :5]
    model = ProbabilisticPCA(2, standardize=standardize).fit(X)
    law = multivariate_normal(model.mean_, model.get_covariance())
    np.testing.assert_allclose(model.score_samples(X), law.logpdf(X), rtol=1e-9)
    assert model.log_likelihood_ == pytest.approx(law.logpdf(X).sum(), rel=1e-10)
    assert model.n_parameters_ == 5 + 1 + 5 * 2 - 1
    assert model.aic_ == pytest.approx(2 * 15 - 2 * model.log_likelihood_)
    assert model.bic_ == pytest.approx(15 * np.log(178) - 2 * model.log_likelihood_)


def test_no_other_model_is_likelier():
    """Up to n/(n - 1) in all variances it is the maximum: shaken, it falls."""
    X = table(60, 4, 2, 0.5)
    model, rng = ProbabilisticPCA(2).fit(X), np.random.default_rng(1)
    gone = X - X.mean(axis=0)

    def likelihood(w, noise):
        s = w @ w.T + noise * np.eye(4)
        s = s * 59 / 60
        return -30 * (
            np.linalg.slogdet(s)[1] + np.trace(np.linalg.solve(s, gone.T @ gone)) / 60
        )

    best = likelihood(model.loadings_, model.noise_variance_)
    for _ in range(200):
        w = model.loadings_ + 0.05 * rng.normal(size=(4, 2))
        noise = model.noise_variance_ * np.exp(0.1 * rng.normal())
        assert likelihood(w, noise) <= best + 1e-9


def test_more_columns_than_rows_count_their_zeros():
    X = table(20, 50, 3, 1.0)
    model, plain = ProbabilisticPCA(3).fit(X), PCA(3).fit(X)
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / 19
    assert model.noise_variance_ == pytest.approx(values[3:].sum() / 47, rel=1e-10)
    assert plain.noise_variance_ == pytest.approx(values[3:].sum() / 17, rel=1e-10)
    law = multivariate_normal(model.mean_, model.get_covariance())
    np.testing.assert_allclose(model.score_samples(X), law.logpdf(X), rtol=1e-8)
    refuses("more rows than columns", ProbabilisticPCA("evidence").fit, X)


@pytest.mark.parametrize("rule", ["evidence", "bic", "aic"])
def test_the_number_is_chosen(rule):
    model = ProbabilisticPCA(rule).fit(table(500, 8, 3, 0.2))
    assert model.n_components_ == 3 if rule != "aic" else model.n_components_ >= 3
    if rule == "evidence":
        same = sklearn.decomposition.PCA("mle", svd_solver="full").fit(table(500, 8, 3, 0.2))
        assert model.n_components_ == same.n_components_
        return
    costs = [
        getattr(ProbabilisticPCA(k).fit(table(500, 8, 3, 0.2)), f"{rule}_") for k in range(1, 8)
    ]
    assert model.n_components_ == 1 + int(np.argmin(costs))
    assert getattr(model, f"{rule}_") == pytest.approx(min(costs), rel=1e-10)


def test_noise_alone_has_no_axis(rng):
    X = np.random.default_rng(3).normal(size=(400, 5))
    model = ProbabilisticPCA("bic").fit(X)
    assert model.n_components_ == 0
    assert model.noise_variance_ == pytest.approx(1.0, abs=0.1)
    assert model.score(X) == pytest.approx(model.log_likelihood_ / 400, rel=1e-9)
    assert model.sample(4).shape == (4, 5)
    X = np.random.default_rng(0).standard_normal((20, 60))
    assert mercer.ProbabilisticPCA().fit(X).n_components_ == 0
    model = mercer.ProbabilisticPCA("evidence").fit(rng.standard_normal((20, 1)))
    assert model.n_components_ == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_model_without_axes_refuses_bad_rows_as_any_other(bad):
    X = np.random.default_rng(3).normal(size=(400, 5))
    rows = X[:4].copy()
    rows[2, 3] = bad
    none = warned("no component beyond noise", PCA("auto").fit, X)
    for model in (ProbabilisticPCA("bic").fit(X), none, PCA(2).fit(X)):
        for act in (model.transform, model.score_samples, model.score):
            refuses("row 2, column 3", act, rows)


@pytest.mark.parametrize("power", [-1000, -600, 600, 1000])
def test_loadings_have_the_unit_of_the_data(power):
    """√(λ - σ²) has a place in float64 where λ has none."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(90, 6))
    plain = ProbabilisticPCA(2).fit(X)
    found = warned("variances leave the range", ProbabilisticPCA(2).fit, np.ldexp(X, power))
    np.testing.assert_allclose(np.ldexp(found.loadings_, -power), plain.loadings_, rtol=1e-9)
    for act in (found.latent, found.score_samples):
        refuses("range of float64", act, np.ldexp(X, power))


def test_what_is_drawn_has_the_moments_and_what_is_latent_the_posterior():
    model = ProbabilisticPCA(2, standardize=True).fit(WINE[:, :4] + 1e4)
    rows = model.sample(200_000, seed=1)
    covariance = model.get_covariance()
    size = np.sqrt(np.outer(np.diagonal(covariance), np.diagonal(covariance)))
    assert np.abs((np.cov(rows.T) - covariance) / size).max() < 0.02
    agree(rows.mean(axis=0), model.mean_, 0.02 * size.max() ** 0.5)
    np.testing.assert_array_equal(model.sample(3, seed=5), model.sample(3, seed=5))
    refuses("at least one row", model.sample, 0)
    X = table(100, 5, 2, 0.4)
    model = ProbabilisticPCA(2).fit(X)
    mean, variances = model.latent(X)
    w, noise = model.loadings_, model.noise_variance_
    m = w.T @ w + noise * np.eye(2)
    wanted = np.linalg.solve(m, w.T @ (X - X.mean(axis=0)).T).T
    agree(mean, wanted, 1e-10)
    agree(np.diag(variances), noise * np.linalg.inv(m), 1e-10)


@pytest.mark.parametrize("standardize", [False, True])
def test_missing_cells(standardize):
    X = table(300, 6, 2, 0.1, 4)
    rng = np.random.default_rng(5)
    gaps = X.copy()
    gaps[rng.random(X.shape) < 0.15] = np.nan
    gaps[7] = np.nan
    model = ProbabilisticPCA(2, missing="ppca", standardize=standardize)
    with pytest.warns(mercer.DataWarning):
        model.fit(gaps)
    whole = ProbabilisticPCA(2, standardize=standardize).fit(X)
    assert model.noise_variance_ == pytest.approx(whole.noise_variance_, rel=0.15)
    assert model.log_likelihood_ is None
    assert model.score_samples(gaps)[7] == 0
    worse = ProbabilisticPCA(1, missing="ppca", standardize=standardize)
    with pytest.warns(mercer.DataWarning):
        worse.fit(gaps)
    assert model.score(gaps) > worse.score(gaps)


def test_weights_are_repeat_counts_and_what_it_does_not_do():
    X = table(60, 4, 1, 0.3)
    weights = np.random.default_rng(2).integers(0, 4, 60)
    one = ProbabilisticPCA("bic").fit(X, sample_weight=weights)
    other = ProbabilisticPCA("bic").fit(np.repeat(X, weights, axis=0))
    assert one.n_components_ == other.n_components_
    assert one.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=1e-10)
    assert one.bic_ == pytest.approx(other.bic_, rel=1e-10)
    assert not hasattr(ProbabilisticPCA(), "partial_fit")
    with pytest.raises(NotSupportedError, match="fitted to rows"):
        ProbabilisticPCA.from_covariance(np.eye(2), np.zeros(2), 5)
    flat = ProbabilisticPCA(2).fit(table(50, 4, 2, 0.0))
    assert flat.log_likelihood_ is None
    refuses("singular", flat.score, table(50, 4, 2, 0.0))


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("k", ["bic", 1, 3, 4])
def test_rows_with_gaps_have_the_marginals_of_the_normal_law(k, standardize):
    X = np.random.default_rng(9).normal(size=(300, 4)) * [1.0, 2.0, 0.5, 3.0]
    X = X if k == "bic" else X @ np.random.default_rng(3).normal(size=(4, 4)) + 5
    model = ProbabilisticPCA(k, missing="ppca", standardize=standardize or k == "bic").fit(X)
    assert model.n_components_ == (0 if k == "bic" else k)
    s, rows = model.get_covariance(), X[:12].copy()
    rows[np.random.default_rng(8).random(rows.shape) < 0.4] = np.nan
    rows[5] = np.nan
    found = model.score_samples(rows)
    for row, density in zip(rows, found, strict=True):
        seen = ~np.isnan(row)
        wanted = 0.0
        if seen.any():
            wanted = multivariate_normal(model.mean_[seen], s[np.ix_(seen, seen)]).logpdf(
                row[seen]
            )
        assert density == pytest.approx(wanted, abs=1e-10)
    if k != "bic":
        refuses("infinity at row 0, column 1", model.score_samples, [[0.0, np.inf, 0.0, 1.0]])


OPTIONS = [
    {}, {"whiten": True}, {"whiten": "zca"}, {"standardize": True},
    {"feature_weight": np.linspace(0.5, 2, 8)}, {"standardize": True, "whiten": True},
]  # fmt: skip


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
    agree(product, np.eye(8), 1e-8)


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


def test_the_score_of_far_narrow_and_sparse_rows(table):
    base = PCA(3).fit(table).score(table)
    assert PCA(3).fit(table + 1e7).score(table + 1e7) == pytest.approx(base, rel=1e-5)
    model, narrow = PCA(3).fit(table), table.astype(np.float32)
    wanted = model.score_samples(table)
    found = PCA(3).fit(narrow).score_samples(narrow)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, wanted, rtol=1e-2, atol=0.1)
    sparse = model.score_samples(scipy.sparse.csr_array(table))
    np.testing.assert_allclose(sparse, wanted, rtol=1e-10)


def test_a_singular_model_has_no_density_nor_have_bad_rows(rng, table):
    x = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 5))
    for k in (2, 3, 5, None):
        model = PCA(k).fit(x)
        for call in (lambda m=model: m.score(x), model.get_precision):
            refuses("no density", call)
        covariance = model.get_covariance()
        agree(covariance, np.cov(x.T), 1e-9)
    assert np.isfinite(PCA(1).fit(x).score(x))
    model = PCA(3).fit(table)
    bad = table.copy()
    bad[7, 2] = np.nan
    refuses("row 7, column 2", model.score_samples, bad)


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
        refuses(r"a\.npy, row 70, column 2", model.score, tmp_path / "a.npy")
