"""The page of topics: terms by weight, documents by hand-made tf-idf."""

import numpy as np
import pandas as pd
import scipy.sparse
from tests.report.family_tables import parts, said, section

import mercer
from mercer.report import report

TERMS = ["goal", "ball", "team", "bank", "loan", "rate", "rain", "wind"]
RNG = np.random.default_rng(0)
RATES = np.repeat([[4, 3, 3, 0, 0, 0, 1, 0], [0, 0, 0, 4, 3, 3, 0, 1]], 20, axis=0)
COUNTS = pd.DataFrame(RNG.poisson(RATES), columns=TERMS)
MODEL = mercer.TopicVectors(2).fit(COUNTS)
PAGE = report(MODEL, COUNTS, colours={"about": ["sport"] * 20 + ["money"] * 20}).page


def weighted(counts):
    """Return tf-idf rows of length one."""
    counts = np.asarray(counts, float)
    idf = np.log((1 + len(counts)) / (1 + (counts > 0).sum(axis=0))) + 1
    W = counts * idf
    return W / np.linalg.norm(W, axis=1, keepdims=True)


def test_documents_lie_where_tf_idf_puts_them():
    W = weighted(COUNTS)
    U, s, _ = np.linalg.svd(W - W.mean(axis=0), full_matrices=False)
    assert np.allclose(np.abs(PAGE.cloud.Z), np.abs(U[:, :2] * s[:2]))
    share = 100 * np.sum(s[:2] ** 2) / np.sum(s**2)
    assert PAGE.verdict[0] == f"2 axes hold {share:.1f} % of the variance of the documents."


def test_terms_of_an_axis_are_its_heaviest_at_both_ends():
    V = np.linalg.svd(weighted(COUNTS) - weighted(COUNTS).mean(axis=0))[2][0]
    table = parts(PAGE, "terms", "Table")[0]
    high = [row[0] for row in table.rows if row[0]]
    low = [row[2] for row in table.rows if row[2]]
    sides = [[TERMS[j] for j in np.argsort(-s * V) if s * V[j] > 0] for s in (1, -1)]
    assert sorted([high, low]) == sorted(sides)
    line = PAGE.verdict[1]
    assert {"goal", "ball", "team"} <= set(line.replace(",", "").split())
    assert f"sets {high[0]}" in line


def test_sparse_counts_without_names_have_numbers():
    counts = scipy.sparse.csr_array(COUNTS.to_numpy())
    page = report(mercer.TopicVectors(1).fit(counts), counts).page
    assert page.cloud.names == ("axis 1", "nothing")
    assert "column 0" in said(page)
    assert "40 documents" in page.facts


def test_uncentred_topics_say_what_axis_1_is():
    page = report(mercer.TopicVectors(2, centred=False).fit(COUNTS), COUNTS).page
    assert "mean document was left in" in said(page)
    assert "not centred" in page.facts[-1]


def test_other_documents_are_called_so():
    page = report(MODEL, COUNTS.iloc[:10]).page
    assert any("fitted to 40 documents" in fact for fact in page.facts)
    assert section(page, "map").parts[0].groups is False
