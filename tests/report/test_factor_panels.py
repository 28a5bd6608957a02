"""Panels of factor analysis: communalities and likelihoods by hand."""

import warnings

import numpy as np
from sklearn.decomposition import FactorAnalysis as Rival
from tests.report.family_tables import decathlon, parts, said, section

import mercer
from mercer.report import report
from mercer.report.panels._factors_panels import how_many_section

X = decathlon()
MODEL = mercer.FactorAnalysis(2).fit(X)
PAGE = report(MODEL, X).page
Z = ((X - X.mean()) / X.std()).to_numpy()


def test_communalities_are_squared_loadings_over_the_variance():
    table = parts(PAGE, "loadings", "Table")[0]
    spread = Z.var(axis=0)
    for row in table.rows:
        j = list(X.columns).index(row[0])
        known = 100 * np.sum(MODEL.loadings_[j] ** 2) / spread[j]
        assert np.isclose(row[3], known, atol=0.01)
        assert np.isclose(row[4], MODEL.noise_variance_[j])
    mean = np.mean([row[3] for row in table.rows])
    assert PAGE.verdict[0] == (
        f"2 common factors explain {mean:.1f} % of the variance of the columns."
    )
    poor = [row[0] for row in table.rows if row[3] < 20]
    line = next(line for line in PAGE.verdict if line.startswith("Hardly explained"))
    assert all(name in line for name in poor)


def test_likelihoods_by_number_are_those_of_another_fit():
    table = how_many_section(MODEL, X).parts[0]
    for row in table.rows[:2]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rival = Rival(row[0], tol=1e-6, max_iter=4000, svd_method="lapack").fit(Z)
        assert np.isclose(row[1], rival.score(Z) * 41, rtol=1e-4)
        fitted = 10 * row[0] - row[0] * (row[0] - 1) // 2 + 20
        assert np.isclose(row[3], np.log(41) * fitted - 2 * row[1])
    assert table.chosen == (1,)
    best = 1 + int(np.argmin([row[3] for row in table.rows]))
    assert f"BIC with {best}." in section(PAGE, "how_many").words[0]


def test_circle_for_plain_factors_and_bars_for_correlated_ones():
    assert parts(PAGE, "loadings", "Picture")[0].panel.axes.title == "Correlation circle"
    model = mercer.FactorAnalysis(2, rotation="promax").fit(X)
    page = report(model, X).page
    assert parts(page, "loadings", "Picture")[0].panel.axes.x_label == "loading"
    table = parts(page, "loadings", "Table")[1]
    assert np.isclose(table.rows[0][2], model.correlations_[0, 1])
    assert "promax rotation" in said(page)


def test_a_heywood_case_is_told():
    rng = np.random.default_rng(0)
    f = rng.normal(size=(80, 1))
    rows = f @ np.ones((1, 4)) + rng.normal(size=(80, 4))
    rows[:, 0] = f[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mercer.FactorAnalysis(2).fit(rows)
    if len(model.heywood_):
        assert "Heywood" in said(report(model, rows).page)


def test_many_columns_are_not_fitted_again():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 70)) + rng.normal(size=(100, 70))
    assert how_many_section(mercer.FactorAnalysis(2).fit(rows), rows) is None
