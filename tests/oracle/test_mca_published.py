"""Analyses of categories, of mixed columns and of groups as others have printed them."""

import csv

import numpy as np
import pandas as pd
import pytest
from printed import DATA, PUBLISHED, same_up_to_sign

from mercer import FAMD, MFA, LinearDiscriminantAnalysis, MultipleCorrespondenceAnalysis

WINES = PUBLISHED["burgundy_MCA"]  # Abdi & Valentin 2007, through the tests of esafak/mca


def wines():
    """Return six wines and ten questions from an indicator table with two lines of names."""
    with (DATA / "burgundies.csv").open(encoding="utf-8", newline="") as file:
        experts, questions, *rows = csv.reader(file)
    names = [f"{e} {q}" for e, q in zip(experts[2:], questions[2:], strict=True)]
    found = {}
    for name in dict.fromkeys(names):
        at = [i for i, other in enumerate(names) if other == name]
        found[name] = [str([int(row[2 + i]) for i in at].index(1)) for row in rows]
    return pd.DataFrame(found)


def poison():
    """Return 55 children at a school meal: numbers, kinds, symptoms and food."""
    return pd.read_csv(DATA / "poison.csv", index_col=0)


def test_the_table_has_the_printed_size():
    found = MultipleCorrespondenceAnalysis().fit(wines())
    assert len(found.variables_) == WINES["K"]
    assert len(found.column_names_) == WINES["J"]


def test_eigenvalues_of_the_wines():
    found = MultipleCorrespondenceAnalysis(4).fit(wines())
    np.testing.assert_allclose(found.eigenvalues_, WINES["eigenvalues"], atol=5.1e-5)
    shares = 100 * found.explained_variance_ratio_
    np.testing.assert_allclose(shares, WINES["percent"], atol=5.1e-4)


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_benzecri_and_greenacre_of_the_wines(kept):
    found = MultipleCorrespondenceAnalysis(kept, correction="benzecri").fit(wines())
    np.testing.assert_allclose(found.eigenvalues_, WINES["benzecri_eig"][:kept], atol=5.1e-5)
    shares = 100 * found.explained_variance_ratio_
    np.testing.assert_allclose(shares, WINES["benzecri_percent"][:kept], atol=5.1e-4)
    other = MultipleCorrespondenceAnalysis(kept, correction="greenacre").fit(wines())
    shares = 100 * other.explained_variance_ratio_
    np.testing.assert_allclose(shares, WINES["greenacre_percent"][:kept], atol=5.1e-4)


def test_places_of_the_wines():
    found = MultipleCorrespondenceAnalysis(2, correction="benzecri").fit(wines())
    printed = np.array(WINES["row_coords_benzecri"])
    for axis, wanted in zip(found.row_coordinates_.T, printed.T, strict=True):
        np.testing.assert_allclose(axis * np.sign(axis @ wanted), wanted, atol=5.1e-3)


# FactoMineR's MCA of poison[, 5:15], as the reference page of factoextra's get_mca prints it:
# the first six levels and the first six children, axes 1 to 3.
LEVELS = {
    "Nausea=Nausea_n": [0.2673909, 0.12139029, -0.265583253],
    "Nausea=Nausea_y": [-0.9581506, -0.43498187, 0.951673323],
    "Vomiting=Vomit_n": [0.4790279, -0.40919465, 0.084492799],
    "Vomiting=Vomit_y": [-0.7185419, 0.61379197, -0.126739198],
    "Abdominals=Abdo_n": [1.3180221, -0.03574501, -0.005094243],
    "Abdominals=Abdo_y": [-0.6411999, 0.01738946, 0.002478280],
}
LEVELS_COS2 = [[0.2562007, 0.0528025759, 2.527485e-01], [0.3442016, 0.2511603912, 1.070855e-02]]
LEVELS_PERCENT = [[1.515869, 0.81100008, 4.670018], [5.431862, 2.90608363, 16.73423]]
CHILDREN = [
    [-0.4525811, -0.26415072, 0.17151614],
    [0.8361700, -0.03193457, -0.07208249],
    [-0.4481892, 0.13538726, -0.22484048],
    [0.8803694, -0.08536230, -0.02052044],
    [-0.4481892, 0.13538726, -0.22484048],
    [-0.3594324, -0.43604390, -1.20932223],
]
CHILDREN_COS2 = [0.34652591, 0.1180447167, 0.0497683175]
CHILDREN_PERCENT = [1.110927, 0.98238297, 0.498254685]


def test_poison_as_factominer_prints_it():
    found = MultipleCorrespondenceAnalysis(3).fit(poison().iloc[:, 4:])
    assert found.column_names_[:6] == list(LEVELS)
    printed = np.array(list(LEVELS.values()))
    signs = np.sign(np.sum(found.column_coordinates_[:6] * printed, axis=0))
    places = found.column_coordinates_[:6] * signs
    np.testing.assert_allclose(places, printed, atol=5.1e-8)
    np.testing.assert_allclose(found.column_cos2_[[0, 2]], LEVELS_COS2, atol=5.1e-8)
    percent = 100 * found.column_contributions_[:2]
    np.testing.assert_allclose(percent, LEVELS_PERCENT, rtol=0, atol=5.1e-6)
    np.testing.assert_allclose(found.row_coordinates_[:6] * signs, CHILDREN, atol=5.1e-8)
    np.testing.assert_allclose(found.row_cos2_[0], CHILDREN_COS2, atol=5.1e-9)
    np.testing.assert_allclose(100 * found.row_contributions_[0], CHILDREN_PERCENT, atol=5.1e-7)


def test_poison_with_kinds_and_numbers_beside():
    table = poison()
    found = MultipleCorrespondenceAnalysis(2).fit(table.iloc[:, 4:])
    beside = found.supplementary(table.iloc[:, :4])
    assert beside.numbers == ["Age", "Time"]
    assert beside.levels == ["Sick=Sick_n", "Sick=Sick_y", "Sex=F", "Sex=M"]
    wanted = np.corrcoef(table["Time"], found.row_coordinates_.T)[0, 1:]
    np.testing.assert_allclose(beside.correlations[1], wanted, rtol=0, atol=1e-12)
    # The first axis is illness: who was ill lies far off the centre, and boys do not.
    assert abs(beside.v_tests[0, 0]) > 6
    assert abs(beside.v_tests[2, 0]) < 1.96
    sick = (table["Sick"] == "Sick_n").to_numpy()
    n, m = len(sick), int(sick.sum())
    f = found.row_coordinates_[:, 0]
    error = np.sqrt(f.var() * (n - m) / ((n - 1) * m))
    assert beside.v_tests[0, 0] == pytest.approx(f[sick].mean() / error)


MIXED = PUBLISHED["famd_wikipedia"]
TABLE = pd.DataFrame(MIXED["data_inline"])


def test_mixed_eigenvalues_as_factominer_prints_them():
    model = FAMD(None).fit(TABLE)
    assert "FactoMineR 2.11" in MIXED["source"]
    np.testing.assert_allclose(model.eigenvalues_, MIXED["eigenvalues"], atol=5.1e-10)
    np.testing.assert_allclose(model.total_inertia_, 8, rtol=1e-13)


def test_mixed_rows_as_factominer_prints_them():
    model = FAMD(5).fit(TABLE)
    found = np.abs(model.row_coordinates_)
    np.testing.assert_allclose(found, MIXED["abs_row_coords"], atol=5.1e-8)
    np.testing.assert_array_equal(model.transform(TABLE), model.row_coordinates_)


def test_one_group_for_each_column_is_famd():
    """MFA divides a single variable by 1, so that its axes are those printed for FAMD."""
    model = MFA({name: [name] for name in TABLE}, 5).fit(TABLE)
    np.testing.assert_allclose(model.eigenvalues_, MIXED["eigenvalues"], atol=5.1e-10)


@pytest.mark.slow
def test_prince_finds_the_same_factors_of_groups():
    """prince 0.23 divides groups of numbers as we do; its eigenvalues are ours."""
    prince = pytest.importorskip("prince")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 6)), columns=list("abcdef")) @ np.triu(
        np.ones((6, 6))
    )
    X.columns = list("abcdef")
    groups = {"one": ["a", "b"], "two": ["c", "d", "e"], "three": ["f"]}
    peer = prince.MFA(n_components=3, engine="scipy").fit(X, groups=groups)
    model = MFA(groups, 3).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, peer.eigenvalues_, rtol=1e-6)


IRIS = PUBLISHED["iris_MASS_lda"]


def iris():
    """Four measures as numbers, and the species as text."""
    lines = (DATA / IRIS["data"]).read_text(encoding="utf-8").splitlines()
    cells = [line.replace('"', "").split(",") for line in lines]
    at = next(i for i, name in enumerate(cells[0]) if "species" in name.lower())
    start = at - 4
    X = np.array([[float(c) for c in row[start:at]] for row in cells[1:]])
    return X, np.array([row[at] for row in cells[1:]])


def test_iris_as_mass_prints_it():
    """MASS::lda(Species ~ ., iris): coefficients of linear discriminants, to all digits."""
    X, y = iris()
    found = LinearDiscriminantAnalysis().fit(X, y)
    same_up_to_sign(found.scalings_, IRIS["scaling"], 5.1e-8)
    np.testing.assert_allclose(
        found.explained_variance_ratio_, IRIS["proportion_of_trace"], atol=5.1e-5
    )
    assert found.priors_.tolist() == [1 / 3] * 3
