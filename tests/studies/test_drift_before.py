import numpy as np
import pytest
from tests.studies.drift_tables import tables

import mercer
from mercer.errors import InputError
from mercer.studies.drifting._rows_before import before


def test_variances_and_rest_add_up_to_the_total_variance():
    X, _, _ = tables(200, 2)
    for model in (mercer.PCA(2), mercer.PCA(2, standardize=True), mercer.PCA()):
        known = before(model.fit(X))
        scaled = (X - known.mean) * known.factor
        assert known.total == pytest.approx(np.var(scaled, axis=0, ddof=1).sum())
        assert known.rows == 200
        assert np.allclose(np.var(scaled @ known.axes.T, axis=0, ddof=1), known.variances)


def test_known_deviations_are_exact_and_others_near():
    X, _, _ = tables(500, 2)
    true = X.std(axis=0, ddof=1)
    assert before(mercer.PCA(2).fit(X)).deviations is None
    assert np.allclose(before(mercer.PCA(2).fit(X)).nearly, true, rtol=0.1)
    assert np.allclose(before(mercer.PCA().fit(X)).deviations, true)
    weight = np.arange(1.0, 7.0)
    model = mercer.PCA(2, standardize=True, feature_weight=weight).fit(X)
    known = before(model)
    assert np.allclose(known.deviations, np.std(X * known.factor, axis=0, ddof=1))


@pytest.mark.parametrize(("n", "p"), [(100, 20), (100, 100), (200, 300)])
def test_expected_variances_are_those_of_new_rows(n, p):
    ratios, optimism = [], []
    for seed in range(20 if p > 100 else 80):
        values = np.ones(p)
        values[:2] = [40.0, 15.0]
        X, _, axes = tables(n, 2, p=p, seed=seed, variances=values)
        known = before(mercer.PCA(2).fit(X))
        covariance = (axes * values) @ axes.T
        true = np.einsum("ij,jk,ik->i", known.axes, covariance, known.axes)
        expected, least, most = known.expected(float(p - 2))
        ratios.append(expected / true)
        optimism.append(known.variances / true)
        assert np.all(least <= expected)
        assert np.all(expected <= most)
    # The chance of a variance of 100 rows is 3 % in the mean of 20 draws.
    assert np.allclose(np.mean(ratios, axis=0), 1, atol=0.08)
    assert p < n or np.mean(optimism) > 1 + p / n / 40


def test_axes_of_noise_have_a_range():
    X, _, _ = tables(100, 2, p=20, variances=np.ones(20))
    known = before(mercer.PCA(3).fit(X))
    _, least, most = known.expected(17.0)
    assert np.all(least < 1.2)
    assert np.array_equal(most, known.variances)


def test_rows_of_a_robust_fit_are_those_that_count():
    X, _, _ = tables(200, 2)
    X[:10] += 500
    assert before(mercer.RobustPCA(2).fit(X)).rows <= 190


def test_other_models_are_refused():
    with pytest.raises(InputError, match="drift needs a fitted"):
        before("model.mercer")
