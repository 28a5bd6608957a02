import numpy as np
import pytest
from scipy.stats import f as f_law
from scipy.stats import f_oneway, norm
from sklearn.datasets import load_iris

from mercer.diagnostics import wilks_tests


def roots_of(X, y):
    """Eigenvalues of scatter within by scatter between, written out."""
    mean = X.mean(axis=0)
    within, between = 0, 0
    for g in np.unique(y):
        rows = X[y == g]
        gone = rows - rows.mean(axis=0)
        within = within + gone.T @ gone
        apart = rows.mean(axis=0) - mean
        between = between + len(rows) * np.outer(apart, apart)
    return np.sort(np.linalg.eigvals(np.linalg.solve(within, between)).real)[::-1]


def test_manova_of_statsmodels():
    """The first test is Wilks' test of a one-way MANOVA."""
    manova = pytest.importorskip("statsmodels.multivariate.manova")
    X, y = load_iris(return_X_y=True)
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcd")).assign(g=[f"g{i}" for i in y])
    table = manova.MANOVA.from_formula("a + b + c + d ~ g", frame).mv_test()
    theirs = table.results["g"]["stat"].loc["Wilks' lambda"]
    found = wilks_tests(roots_of(X, y), 150, 4, 3)
    assert found.wilks[0] == pytest.approx(theirs["Value"], rel=1e-9)
    assert found.f[0] == pytest.approx(theirs["F Value"], rel=1e-9)
    assert (found.f_dof1[0], found.f_dof2[0]) == (theirs["Num DF"], theirs["Den DF"])


def test_iris_as_r_prints_it():
    """summary(manova(cbind(...) ~ Species, iris), test = "Wilks") of R."""
    found = wilks_tests(roots_of(*load_iris(return_X_y=True)), 150, 4, 3)
    assert round(found.wilks[0], 6) == 0.023439
    assert round(found.f[0], 2) == 199.15
    assert (found.f_dof1[0], found.f_dof2[0]) == (8, 288)


def test_one_column_is_the_analysis_of_variance():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 4
    x = rng.normal(size=60) + 0.3 * y
    found = wilks_tests(roots_of(x[:, None], y), 60, 1, 4)
    f, p = f_oneway(*(x[y == g] for g in range(4)))
    assert found.f[0] == pytest.approx(f, rel=1e-10)
    assert found.f_p[0] == pytest.approx(p, rel=1e-9)


def test_two_classes_are_hotellings_test():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    X[y == 1] += 0.5
    found = wilks_tests(roots_of(X, y), 40, 3, 2)
    apart = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    pooled = (np.cov(X[y == 0].T) + np.cov(X[y == 1].T)) / 2
    t2 = 10 * apart @ np.linalg.solve(pooled, apart)
    f = t2 * (38 - 3 + 1) / (38 * 3)
    assert found.f[0] == pytest.approx(f, rel=1e-10)
    assert found.f_p[0] == pytest.approx(f_law.sf(f, 3, 36), rel=1e-9)


def test_sequence_and_small_effects():
    found = wilks_tests(np.array([2.0, 1e-18]), 100, 3, 4)
    assert len(found.wilks) == 3
    np.testing.assert_allclose(found.wilks, [1 / 3, 1, 1])
    assert found.f[1] > 0  # not lost in a difference
    assert found.chi2_dof.tolist() == [9, 4, 1]
    np.testing.assert_allclose(found.correlations[0], np.sqrt(2 / 3))
    assert str(found).count("\n") == 3


def test_no_law_where_columns_exhaust_the_rows():
    assert wilks_tests(np.ones(2), 10, 8, 3) is None
    assert wilks_tests(np.ones(2), 10, 7, 3) is not None
    assert wilks_tests(np.zeros(0), 10, 0, 3) is None


def test_p_values_of_noise_are_even():
    rng = np.random.default_rng(2)
    y, p = np.arange(50) % 3, []
    for _ in range(300):
        p.append(wilks_tests(roots_of(rng.normal(size=(50, 4)), y), 50, 4, 3).f_p[0])
    assert abs(np.mean(p) - 0.5) < 4 * np.sqrt(1 / 12 / 300)
    low = np.mean(np.array(p) < 0.05)
    assert low < 0.05 + norm.isf(1e-4) * np.sqrt(0.05 * 0.95 / 300)
