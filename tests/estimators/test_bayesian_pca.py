"""Bayesian PCA: the number of axes of tables that are known, and intervals that cover."""

import numpy as np
import pytest
from tests.claims import agree, hushed, refuses
from tests.selection.noise_families import TRUE, family

import mercer
from mercer import BayesianPCA, DataWarning, ProbabilisticPCA
from mercer.selection import Variances, axis_posterior


def table(n, p, seed=0, sizes=(8, 4, 2)):
    rng = np.random.default_rng(seed)
    W = np.linalg.qr(rng.standard_normal((p, len(sizes))))[0] * np.sqrt(
        np.array(sizes) * p / 20
    )
    return rng.standard_normal((n, len(sizes))) @ W.T + rng.standard_normal((n, p)), W


@pytest.mark.parametrize("name", TRUE)
@pytest.mark.parametrize("shape", [(100, 20), (300, 50)])
def test_the_number_is_right_in_every_family_of_noise(name, shape):
    found = []
    for seed in range(5):
        model = hushed(BayesianPCA().fit, family(name, seed, *shape), kind=DataWarning)
        found.append(model.n_components_)
        assert np.isclose(model.number_posterior_.sum(), 1)
        low, high = model.number_interval_
        assert low <= model.n_components_ <= high
    slack = 1 if TRUE[name] else 0
    assert np.max(np.abs(np.array(found) - TRUE[name])) <= slack


@pytest.mark.parametrize("prior", ["ard", "shrinkage", "flat"])
def test_intervals_cover(prior):
    held = []
    for seed in range(25):
        X, W = table(200, 20, seed)
        model = BayesianPCA(3, prior=prior, noise="even").fit(X)
        low, high = model.loadings_interval_
        true = W * np.sign(np.sum(W * model.loadings_, axis=0))
        held.append(np.mean((low <= true) & (true <= high)))
    assert 0.9 <= np.mean(held) <= 0.98


def test_a_flat_prior_is_probabilistic_pca():
    X, _ = table(150, 12)
    flat, ppca = BayesianPCA(3, prior="flat", noise="even").fit(X), ProbabilisticPCA(3).fit(X)
    agree(flat.loadings_, ppca.loadings_, 1e-12)
    assert abs(flat.score(X) - ppca.score(X)) <= 5 / 150
    agree(flat.get_covariance(), ppca.get_covariance(), 1e-9)
    agree(BayesianPCA(3, noise="even").fit(X).transform(X), ppca.transform(X), 1e-12)


def test_units_shifts_order_and_weights_change_nothing():
    X, _ = table(120, 10)
    X *= np.linspace(0.5, 2, 10)
    model = BayesianPCA().fit(X)
    moved = BayesianPCA().fit(1e3 * X[::-1] + 1e5)
    assert moved.n_components_ == model.n_components_
    agree(moved.number_posterior_, model.number_posterior_, 1e-6)
    agree(moved.column_noise_, 1e6 * model.column_noise_, 1e-2)
    twice = BayesianPCA(3).fit(X, sample_weight=np.full(120, 2.0))
    again = BayesianPCA(3).fit(np.repeat(X, 2, axis=0))
    agree(twice.loadings_interval_, again.loadings_interval_, 1e-8)


def test_missing_cells_files_and_how_many(tmp_path):
    X, _ = table(200, 12)
    gaps = X.copy()
    gaps[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    model = hushed(BayesianPCA(3, missing="ppca").fit, gaps, kind=DataWarning)
    whole = BayesianPCA(3).fit(X)
    assert np.mean(model.loadings_sd_) > np.mean(whole.loadings_sd_)
    assert np.isfinite(model.score_samples(gaps)).all()
    mercer.save(model, tmp_path / "bayes.mercer")
    again = mercer.load(tmp_path / "bayes.mercer")
    assert np.array_equal(again.loadings_interval_, model.loadings_interval_)
    rules = {rule.name: rule for rule in mercer.how_many(X).rules}
    assert rules["Bayes"].k == 3
    assert "95 %" in rules["Bayes"].about


def test_the_bound_is_that_of_an_iteration():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 8)) * 2 + rng.standard_normal(
        (60, 8)
    )
    X -= X.mean(axis=0)
    s = np.linalg.svd(X, compute_uv=False)
    known = Variances.of(s**2 / 59, rows=60, columns=8)
    found = axis_posterior(known)
    n, p, k, noise = 59, 8, 2, found.noise[2]
    mw, mz = np.sqrt(s[:k] / 5), np.sqrt(s[:k] * 5)
    vw = vz = np.full(k, 0.1)
    alpha = np.ones(k)
    for _ in range(3000):
        vz = noise / (mw**2 + p * vw + noise)
        mz = s[:k] * mw * vz / noise
        vw = noise / (mz**2 + n * vz + noise * alpha)
        mw = s[:k] * mz * vw / noise
        alpha = p / (mw**2 + p * vw)
    left = (
        np.sum(s**2) - np.sum(2 * s[:k] * mw * mz) + np.sum((mw**2 + p * vw) * (mz**2 + n * vz))
    )
    bound = -0.5 * (n * p * np.log(2 * np.pi * noise) + left / noise)
    bound += 0.5 * np.sum(p * np.log(alpha * vw)) + 0.5 * np.sum(
        n * np.log(vz) + n - (mz**2 + n * vz)
    )
    assert np.isclose(bound, found.evidence[2], rtol=1e-6)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.full((9, 3), np.nan), "missing|NaN"),
        (np.ones((1, 3)), "1|one"),
        ([["a", "b"], ["c", "d"]], ""),
    ],
)
def test_bad_rows_are_refused(given, words):
    refuses(words or "number|convert|text", BayesianPCA().fit, given, kind=ValueError)


def test_more_axes_than_columns_are_refused():
    refuses("between 1 and", BayesianPCA(9).fit, table(50, 5)[0])
