import numpy as np
import pytest
from robust_data import table

import mercer

DEVIATIONS = np.array([5.0, 3.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0])


def average(model, n=400, repeats=15):
    """Return mean variances, noise and shares of fits to clean normal rows."""
    found = []
    for seed in range(repeats):
        X = np.random.default_rng(seed).normal(size=(n, 8)) * DEVIATIONS + 4
        model.fit(X)
        shares = model.explained_variance_ratio_
        found.append([*model.explained_variance_, model.noise_variance_, *shares])
    return np.mean(found, axis=0)


@pytest.mark.parametrize(
    "model",
    [
        mercer.RobustPCA(2),
        mercer.RobustPCA(2, level=0.95),
        mercer.RobustPCA(2, method="spherical"),
    ],
    ids=repr,
)
def test_variances_of_clean_normal_rows_are_not_biased(model):
    found = average(model)
    share = DEVIATIONS[:2] ** 2 / np.sum(DEVIATIONS**2)
    np.testing.assert_allclose(found[[0, 1, 3, 4]], [25, 9, *share], rtol=0.04)
    np.testing.assert_allclose(found[2], 9 / 6, rtol=0.08)


def test_nor_are_those_of_all_axes():
    model = mercer.RobustPCA()
    found = average(model, n=1000, repeats=10)
    np.testing.assert_allclose(found[:3], [25, 9, 4], rtol=0.06)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1)
    assert model.n_components_ == 8
    assert model.n_judging_ in (2, 3)  # 2 explain 79 %, 3 explain 88 %


def test_the_consistency_is_what_cutting_takes():
    X = np.random.default_rng(0).normal(size=(20_000, 3)) * [4, 2, 1]
    model = mercer.RobustPCA(3, level=0.9).fit(X)
    kept = X[model.weights_ > 0].var(axis=0)
    np.testing.assert_allclose(kept * model.consistency_, [16, 4, 1], rtol=0.03)
    assert model.consistency_ > 1.2


@pytest.mark.parametrize("method", ["reweighted", "spherical"])
def test_standardised_columns_have_robust_deviations(method):
    rng = np.random.default_rng(1)
    scales = np.array([1e-3, 1.0, 20.0, 1e5])
    mixed = rng.normal(size=(2000, 4)) @ np.array(
        [[1, 0.6, 0, 0], [0, 0.8, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]
    )
    X = mixed * scales + 1e3 * scales
    X[:200] += 1e3 * scales
    model = mercer.RobustPCA(2, method=method, standardize=True).fit(X)
    # A tenth of the rows widens a MAD by a seventh; the rounds leave them out.
    tolerance = 0.05 if method == "reweighted" else 0.2
    np.testing.assert_allclose(model.scale_, scales, rtol=tolerance)
    np.testing.assert_allclose(model.explained_variance_[0], 1.6, rtol=0.1)
    ratio = model.explained_variance_[0] / model.explained_variance_ratio_[0]
    np.testing.assert_allclose(ratio, 4, rtol=1e-6)  # the total is that of the columns
    assert np.abs(model.components_[0, :2]).min() > 0.6
    assert set(range(200)) <= set(model.outliers_.tolist())
    white = mercer.RobustPCA(2, method=method, standardize=True, whiten=True).fit(X)
    deviation = white.transform(X[200:]).std(axis=0)
    np.testing.assert_allclose(deviation, 1, rtol=tolerance)


def test_axes_of_the_signs_come_by_their_robust_variance():
    X, _, _ = table(3, 300, 6, 0.2, "cluster", k=3)
    model = mercer.RobustPCA(method="spherical").fit(X)
    assert np.all(np.diff(model.explained_variance_) <= 0)
    Z = np.abs(model.transform(X) - np.median(model.transform(X), axis=0))
    expected = (1.482602218505602 * np.median(Z, axis=0)) ** 2
    np.testing.assert_allclose(model.explained_variance_, expected, rtol=1e-9)
    np.testing.assert_allclose(
        model.components_ @ model.components_.T, np.eye(6), rtol=0, atol=1e-12
    )
    rows = np.arange(6)
    assert np.all(model.components_[rows, np.abs(model.components_).argmax(axis=1)] > 0)
    assert model.certificate_.upper.sum() == pytest.approx(1, rel=0.02)  # of the signs
    assert model.consistency_ == 1
    assert model.n_iter_ == 0
