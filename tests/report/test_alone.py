"""A model without its rows: what it knows, and what it does not."""

import re

import numpy as np
import pytest
from tests.report.family_tables import decathlon, groups_of_poison, hair, iris, poison, symptoms

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


@pytest.mark.parametrize(
    ("model", "table", "keys"),
    [
        (mercer.CorrespondenceAnalysis(2), hair(), ["axes", "points", "method"]),
        (mercer.MultipleCorrespondenceAnalysis(2), symptoms(), ["axes", "levels", "method"]),
        (mercer.FAMD(2), poison(), ["axes", "levels", "method"]),
        (mercer.MFA(groups_of_poison(), 2), poison(), ["axes", "levels", "method"]),
        (
            mercer.LinearDiscriminantAnalysis(),
            None,
            ["variables", "tests", "classes", "method"],
        ),
        (mercer.KernelDiscriminantAnalysis(), None, ["classes", "method"]),
        (mercer.FactorAnalysis(2), decathlon(), ["loadings", "method"]),
        (mercer.ProbabilisticPCA(2), decathlon(), ["components", "variables", "method"]),
        (mercer.TopicVectors(2), hair(), ["terms", "axes", "method"]),
        (mercer.ClassicalMDS(2), decathlon(), ["components", "method"]),
        (mercer.Isomap(2), decathlon(), ["components", "method"]),
        (mercer.LocallyLinearEmbedding(2), decathlon(), ["components", "method"]),
        (mercer.LaplacianEigenmaps(2), decathlon(), ["components", "method"]),
        (mercer.DiffusionMaps(2), decathlon(), ["components", "method"]),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_every_method_says_what_it_knows_by_itself(model, table, keys):
    fitted = model.fit(*iris()) if table is None else model.fit(table)
    made = report(fitted)
    assert [section.key for section in made.page.sections] == keys
    assert "No rows were given" in " ".join(made.page.verdict)
    ratio = fitted.explained_variance_ratio_
    if ratio is None:
        assert "has no meaning here" in made.page.verdict[0]
    else:
        share = 100 * float(np.sum(ratio))
        assert f"with {share:.1f} % of the" in made.page.verdict[0]
    assert not re.search(
        r"\b(nan|inf)\b", made.html.partition("<script")[0].partition("<main")[2]
    )


def test_no_certificate_is_no_bounds():
    page = report(mercer.LaplacianEigenmaps(2).fit(decathlon())).page
    table = page.sections[0].parts[-1]
    assert table.head[:2] == ("component", "value")
    assert "share %" not in table.head
