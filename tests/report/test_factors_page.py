"""Pages of models with factors: likelihoods by hand, words, and what is not certified."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.stats import multivariate_normal
from sklearn.decomposition import FactorAnalysis as Rival
from tests.report.family_tables import decathlon, parts, said, section

import mercer
from mercer.report import report
from mercer.report.panels._factors_panels import how_many_section

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


def test_where_likelihoods_are_not_compared():
    rows = X.to_numpy(float).copy()
    rows[3, 4] = np.nan
    model = mercer.ProbabilisticPCA(2, missing="ppca", standardize=True).fit(rows)
    assert "likelihood" not in [s.key for s in report(model, rows).page.sections]
    weight = np.ones(41)
    model = mercer.ProbabilisticPCA(2).fit(X, sample_weight=weight)
    page = report(model, X, sample_weight=weight).page
    assert section(page, "likelihood").parts == ()
    assert "ln L" in page.verdict[1]
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 70)) + rng.normal(size=(100, 70))
    assert how_many_section(mercer.FactorAnalysis(2).fit(rows), rows) is None


def test_factor_scores_are_on_the_map():
    page, model = FACTORS, MODEL
    assert np.allclose(page.cloud.Z, model.transform(X))
    assert page.cloud.row_names[0] == X.index[0]
    assert [c.name for c in page.cloud.colours] == ["first", "none"]
    page = FACTORS
    assert f"(χ² = {model.chi2_:,.4g} with 26 degrees of freedom" in said(page)
    last = page.sections[-1]
    assert "Path taken: gram" in last.words[0]
    assert "No certificate: the likelihood was climbed" in last.words[0]
    assert "mercer.FactorAnalysis().fit(X)" in last.parts[-1].text
    few = X.iloc[:, :4]
    page = report(mercer.FactorAnalysis(1).fit(few), few).page
    assert page.cloud.names == ("factor 1", "nothing")
    assert page.verdict[0].startswith("1 common factor explains")


# Panels of factor analysis: communalities and likelihoods by hand.


PAGE = report(MODEL, X).page
Z = ((X - X.mean()) / X.std()).to_numpy()


def test_communalities_are_squared_loadings_over_the_variance():
    table = parts(PAGE, "loadings", "Table")[0]
    for row in table.rows:
        j = list(X.columns).index(row[0])
        known = 100 * np.sum(MODEL.loadings_[j] ** 2)
        assert np.isclose(row[3], known, atol=1e-6)
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
    rows[:, 1] = rows[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = (mercer.FactorAnalysis(k).fit(rows) for k in (1, 2))
    assert list(one.heywood_) == [0, 1]
    assert "Heywood" in said(report(one, rows).page)
    assert "2 factors are more than these columns can tell" in said(report(two, rows).page)


# The page of topics: terms by weight, documents by hand-made tf-idf.


TERMS = ["goal", "ball", "team", "bank", "loan", "rate", "rain", "wind"]
RNG = np.random.default_rng(0)
RATES = np.repeat([[4, 3, 3, 0, 0, 0, 1, 0], [0, 0, 0, 4, 3, 3, 0, 1]], 20, axis=0)
COUNTS = pd.DataFrame(RNG.poisson(RATES), columns=TERMS)
TOPICS = mercer.TopicVectors(2).fit(COUNTS)
TOPICS_PAGE = report(TOPICS, COUNTS, colours={"about": ["sport"] * 20 + ["money"] * 20}).page


def weighted(counts):
    """Return tf-idf rows of length one."""
    counts = np.asarray(counts, float)
    idf = np.log((1 + len(counts)) / (1 + (counts > 0).sum(axis=0))) + 1
    W = counts * idf
    return W / np.linalg.norm(W, axis=1, keepdims=True)


def test_documents_lie_where_tf_idf_puts_them():
    W = weighted(COUNTS)
    U, s, _ = np.linalg.svd(W - W.mean(axis=0), full_matrices=False)
    assert np.allclose(np.abs(TOPICS_PAGE.cloud.Z), np.abs(U[:, :2] * s[:2]))
    share = 100 * np.sum(s[:2] ** 2) / np.sum(s**2)
    assert (
        TOPICS_PAGE.verdict[0] == f"2 axes hold {share:.1f} % of the variance of the documents."
    )


def test_terms_of_an_axis_are_its_heaviest_at_both_ends():
    V = np.linalg.svd(weighted(COUNTS) - weighted(COUNTS).mean(axis=0))[2][0]
    table = parts(TOPICS_PAGE, "terms", "Table")[0]
    high = [row[0] for row in table.rows if row[0]]
    low = [row[2] for row in table.rows if row[2]]
    sides = [[TERMS[j] for j in np.argsort(-s * V) if s * V[j] > 0] for s in (1, -1)]
    assert sorted([high, low]) == sorted(sides)
    line = TOPICS_PAGE.verdict[1]
    assert {"goal", "ball", "team"} <= set(line.replace(",", "").split())
    assert f"sets {high[0]}" in line


def test_other_topics_and_documents_are_told():
    counts = scipy.sparse.csr_array(COUNTS.to_numpy())
    page = report(mercer.TopicVectors(1).fit(counts), counts).page
    assert page.cloud.names == ("axis 1", "nothing")
    assert "column 0" in said(page)
    assert "40 documents" in page.facts
    page = report(mercer.TopicVectors(2, centred=False).fit(COUNTS), COUNTS).page
    assert "mean document was left in" in said(page)
    assert "not centred" in page.facts[-1]
    page = report(TOPICS, COUNTS.iloc[:10]).page
    assert any("fitted to 40 documents" in fact for fact in page.facts)
    assert section(page, "map").parts[0].groups is False
