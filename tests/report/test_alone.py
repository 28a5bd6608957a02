"""A model without its rows: what it knows, and what it does not."""

import numpy as np
import pytest

import mercer
from mercer.report import report

RNG = np.random.default_rng(17)
X = RNG.normal(size=(60, 2)) @ RNG.normal(size=(2, 5)) * 3 + RNG.normal(size=(60, 5))


def test_the_numbers_are_those_of_the_rows():
    page = report(mercer.PCA(3).fit(X)).page
    spectrum, weights = page.sections[0].parts[1], page.sections[1].parts[1]
    values = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    cells = np.array([row[1:] for row in spectrum.rows])
    assert np.allclose(cells[:, 0], values[:3])
    assert np.allclose(cells[:, 3], 100 * values[:3] / values.sum())
    V = {row[0]: row[1:] for row in weights.rows}
    assert np.allclose(np.sum(np.square([V[f"column {j}"] for j in range(5)]), axis=0), 1)
    assert page.cloud is None


@pytest.mark.parametrize(
    "model",
    [mercer.PCA(2), mercer.RobustPCA(2), mercer.KernelPCA(2, kernel="rbf")],
    ids=["pca", "robust", "kernel"],
)
def test_it_says_what_is_missing(model):
    made = report(model.fit(X), title="</title><script>")
    assert "No rows were given" in " ".join(made.page.verdict)
    assert made.html.count("<script") == report(model, title="x").html.count("<script")


def test_no_component_leaves_how_it_was_computed():
    with pytest.warns(mercer.DataWarning):
        model = mercer.PCA("auto").fit(RNG.normal(size=(80, 6)))
    page = report(model).page
    assert [section.key for section in page.sections] == ["method"]
    assert page.verdict[0].startswith("No component")


def test_of_many_columns_the_heaviest_are_listed():
    rows = RNG.normal(size=(40, 300))
    rows[:, 77] *= 30
    weights = report(mercer.PCA(2).fit(rows)).page.sections[1].parts[1]
    assert len(weights.rows) == 20
    assert weights.rows[0][0] == "column 77"
