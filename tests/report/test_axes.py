"""Pages of all kinds of fits: the order of sections, the size, and numbers that agree."""

import re
import warnings

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from tests.report.family_tables import decathlon, groups_of_poison, hair, iris, poison, symptoms

import mercer
from mercer.report import report

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(120, 2)) @ RNG.normal(size=(2, 8)) + 0.3 * RNG.normal(size=(120, 8))
NOISE = RNG.normal(size=(100, 6))


def gaps():
    X = FACTORS.copy()
    X[RNG.random(X.shape) < 0.03] = np.nan
    return X


CASES = {
    "pca": (mercer.PCA("auto"), FACTORS),
    "standardised": (mercer.PCA(3, standardize=True), FACTORS * 10.0 ** np.arange(8)),
    "share": (mercer.PCA(0.9), FACTORS),
    "all": (mercer.PCA(), FACTORS),
    "noise": (mercer.PCA("auto"), NOISE),
    "far away": (mercer.PCA("auto"), FACTORS + 1e8),
    "float32": (mercer.PCA(2), FACTORS.astype(np.float32)),
    "frame": (mercer.PCA(2), pl.DataFrame(FACTORS, schema=list("abcdefgh"))),
    "sparse": (mercer.PCA(2), scipy.sparse.csr_array(np.maximum(FACTORS, 0))),
    "missing": (mercer.PCA(2, missing="em"), gaps()),
    "few rows": (mercer.PCA(2), FACTORS[:4]),
    "two rows": (mercer.PCA(1), FACTORS[:2]),
    "one column": (mercer.PCA(1), FACTORS[:, :1]),
    "constant column": (mercer.PCA(2), np.c_[FACTORS, np.full(120, 7.0)]),
    "wide": (mercer.PCA(3), RNG.normal(size=(20, 300))),
    "robust": (mercer.RobustPCA(2), FACTORS),
    "whitened": (mercer.PCA(2, whiten=True), FACTORS),
    "kernel": (mercer.KernelPCA(3, kernel="rbf"), FACTORS),
    "kernel auto": (mercer.KernelPCA("auto", kernel="rbf"), NOISE),
    "polynomial": (mercer.KernelPCA(2, kernel="poly"), FACTORS),
}


@pytest.fixture(scope="module", params=CASES, ids=str)
def made(request):
    model, X = CASES[request.param]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    return (
        model,
        X,
        report(
            model,
            X,
            colours={
                "half": np.repeat(["a", "b"], [X.shape[0] // 2, X.shape[0] - X.shape[0] // 2])
            },
        ),
    )


def test_a_page_is_small_and_in_reading_order(made):
    page = made[2].page
    assert len(made[2].html.encode()) < 1e6
    order = [
        "map",
        "variables",
        "components",
        "rows",
        "rebuilt",
        "along",
        "tuning",
        "data",
        "method",
    ]
    keys = [section.key for section in page.sections]
    assert keys[0] == "map"
    assert keys[-1] == "method"
    places = [
        order.index(key) for key in keys if key in ("map", "rows", "rebuilt", "data", "method")
    ]
    assert places == sorted(places)
    assert len(set(keys)) == len(keys)


def test_the_map_shows_the_coordinates_of_the_rows(made):
    model, X, found = made
    cloud = found.page.cloud
    assert len(cloud.Z) == X.shape[0]
    assert np.isfinite(np.asarray(cloud.Z, float)).all()
    if getattr(model, "whiten", False) or not model.n_components_:
        return
    Z = np.asarray(model.transform(X), float)
    shown = min(Z.shape[1], cloud.Z.shape[1], 2)
    assert np.allclose(cloud.Z[:, :shown], Z[:, :shown], atol=1e-5 * np.abs(Z).max())


def test_the_verdict_says_the_number_of_components(made):
    model, _, found = made
    first = found.page.verdict[0]
    choice = getattr(model, "choice_", None)
    k = model.n_components_ if choice is None else choice.k
    assert first.startswith("No ") if k == 0 else first.startswith(f"{k} ")
    assert all(sentence.rstrip()[-1] in ".)" for sentence in found.page.verdict)


def test_rows_have_their_names_and_the_fit_is_not_touched():
    names = [f"person {i}" for i in range(120)]
    X = FACTORS.copy()
    X[17] *= 20
    found = report(mercer.PCA(2).fit(X), X, row_names=names)
    assert "person 17" in " ".join(found.page.verdict)
    assert "person 17" in found.html
    model = mercer.PCA(1).fit(FACTORS)
    before = {name: repr(value) for name, value in vars(model).items()}
    report(model, FACTORS)
    assert {name: repr(value) for name, value in vars(model).items()} == before


# A model without its rows: what it knows, and what it does not.


DRAWS = np.random.default_rng(17)
X = DRAWS.normal(size=(60, 2)) @ DRAWS.normal(size=(2, 5)) * 3 + DRAWS.normal(size=(60, 5))


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


def test_what_a_model_alone_does_not_know():
    with pytest.warns(mercer.DataWarning):
        model = mercer.PCA("auto").fit(DRAWS.normal(size=(80, 6)))
    page = report(model).page
    assert [section.key for section in page.sections] == ["method"]
    assert page.verdict[0].startswith("No component")
    rows = DRAWS.normal(size=(40, 300))
    rows[:, 77] *= 30
    weights = report(mercer.PCA(2).fit(rows)).page.sections[1].parts[1]
    assert len(weights.rows) == 20
    assert weights.rows[0][0] == "column 77"
    page = report(mercer.LaplacianEigenmaps(2).fit(decathlon())).page
    table = page.sections[0].parts[-1]
    assert table.head[:2] == ("component", "value")
    assert "share %" not in table.head


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
