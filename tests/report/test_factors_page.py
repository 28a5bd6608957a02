"""Pages of models with factors: likelihoods by hand, words, and what is not certified."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests.report.family_tables import decathlon, parts, said, section

import mercer
from mercer.report import report

X = decathlon()
MODEL = mercer.FactorAnalysis(2).fit(X)
FACTORS = report(MODEL, X, row_names=list(X.index), colours={"first": X["100m"]}).page


@pytest.mark.parametrize("standardize", [True, False])
def test_likelihoods_are_those_of_the_gaussian_of_every_size(standardize):
    model = mercer.ProbabilisticPCA(2, standardize=standardize).fit(X)
    page = report(model, X).page
    table = parts(page, "likelihood", "Table")[0]
    for k in (1, 2, 4):
        other = mercer.ProbabilisticPCA(k, standardize=standardize).fit(X)
        W = other.loadings_
        C = W @ W.T + other.noise_variance_ * np.eye(10)
        D = np.ones(10) if other.scale_ is None else other.scale_
        law = multivariate_normal(X.mean().to_numpy(), C * np.outer(D, D))
        logs = float(np.sum(law.logpdf(X.to_numpy())))
        row = table.rows[k]
        fitted = 10 + 1 + 10 * k - k * (k - 1) // 2
        assert row[0] == k
        assert row[2] == fitted
        assert np.isclose(row[1], logs, rtol=1e-8)
        assert np.isclose(row[3], 2 * fitted - 2 * logs)
        assert np.isclose(row[4], np.log(41) * fitted - 2 * logs)
    assert table.chosen == (2,)
    assert f"ln L = {model.log_likelihood_:,.1f}" in page.verdict[1]


def test_the_least_costs_are_named():
    page = report(mercer.ProbabilisticPCA("bic", standardize=True).fit(X), X).page
    rows = np.array(parts(page, "likelihood", "Table")[0].rows, float)
    aic, bic = (int(np.argmin(rows[:, i])) for i in (3, 4))
    assert f"AIC is least with {aic}, BIC with {bic}." in page.verdict[1]
    assert parts(page, "likelihood", "Picture")


def test_missing_cells_have_no_table_of_likelihoods():
    rows = X.to_numpy(float).copy()
    rows[3, 4] = np.nan
    model = mercer.ProbabilisticPCA(2, missing="ppca", standardize=True).fit(rows)
    assert "likelihood" not in [s.key for s in report(model, rows).page.sections]


def test_weights_leave_the_sentence_and_no_table():
    weight = np.ones(41)
    model = mercer.ProbabilisticPCA(2).fit(X, sample_weight=weight)
    page = report(model, X, sample_weight=weight).page
    assert section(page, "likelihood").parts == ()
    assert "ln L" in page.verdict[1]


def test_factor_scores_are_on_the_map():
    page, model = FACTORS, MODEL
    assert np.allclose(page.cloud.Z, model.transform(X))
    assert page.cloud.row_names[0] == X.index[0]
    assert [c.name for c in page.cloud.colours] == ["first", "none"]


def test_a_guest_says_that_nothing_is_certified():
    page = FACTORS
    assert "No certificate: a guest." in said(page)
    last = page.sections[-1]
    assert "No plan was made" in last.words[0]
    assert "No certificate" in last.words[0]
    assert "mercer.FactorAnalysis().fit(X)" in last.parts[-1].text


def test_one_factor_is_drawn_on_a_line():
    few = X.iloc[:, :4]
    page = report(mercer.FactorAnalysis(1).fit(few), few).page
    assert page.cloud.names == ("factor 1", "nothing")
    assert page.verdict[0].startswith("1 common factor explains")
